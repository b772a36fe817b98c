"""Where an uninitialised value comes from: more on RM305 than the interpreter says (TIR-007).

To the allocation, which the interpreter names, come: how much of the buffer was written, and who should have written
the element: the nearest store to the buffer in the text, the last before the read or else the first after it, with
the block that it stands in; or that nothing in the function writes it.
"""

from dataclasses import replace

from refmlc.diag import Related
from refmlc.diag.catalogue import UNINITIALISED
from refmlc.diag.errors import RefmlcError
from refmlc.diag.source import Span
from refmlc.lang.ir import tir
from refmlc.observe.sanitize.detector import Detector, Reach
from refmlc.observe.sanitize.facts import Facts, FactTable
from refmlc.run.interp.tensorir.frame import ACTIVATION, Frame
from refmlc.run.interp.tensorir.views import View


class Origin(Detector):
    """Remembers the last read; explains it when it failed."""

    code = UNINITIALISED
    reach = Reach.NOT_PLAIN

    def __init__(self, facts: FactTable) -> None:
        super().__init__(facts)
        self._last: tuple[tir.BufferLoad, View, Frame] | None = None

    def read_element(self, access: tir.BufferLoad, view: View, offset: int, frame: Frame) -> None:
        """Remember where this is."""
        del offset
        self._last = (access, view, frame)

    def explain(self, failure: RefmlcError) -> RefmlcError:
        """Say more where `failure` is the read that was seen last."""
        found = failure.diagnostic
        if failure.code is not UNINITIALISED or self._last is None or self._last[0].span != found.span:
            return failure
        access, view, frame = self._last
        written = sum(1 for number in range(len(view.shadow)) if view.shadow[number])
        facts, function = self.facts.at(frame), frame[ACTIVATION].function
        notes = [f"{written} of the {len(view.shadow)} elements of `{access.buffer.name}` were written"]
        store = _nearest(facts, access)
        related: tuple[Related, ...] = ()
        if store is None:
            notes.append(f"nothing in `{function}` writes to `{access.buffer.name}`")
        else:
            related = (
                Related(f"the nearest store to `{access.buffer.name}` is here{_block(facts, store)}", store.span),
            )
        failure.diagnostic = replace(found, notes=(*found.notes, *notes), related=(*found.related, *related))
        return failure


def _nearest(facts: Facts, access: tir.BufferLoad) -> tir.BufferStore | None:
    """The last store before the read in the text, or else the first one after it."""
    stores = sorted(facts.stores.get(facts.root(access.buffer), ()), key=lambda store: _place(store.span))
    before = [store for store in stores if _place(store.span) < _place(access.span) and not _holds(store, access)]
    after = [store for store in stores if store not in before]
    return before[-1] if before else next(iter(after), None)


def _holds(store: tir.BufferStore, access: tir.BufferLoad) -> bool:
    """Whether the read stands in the store: it is evaluated first."""
    outer, inner = store.span, access.span
    if outer is None or inner is None:
        return False
    return (outer.line, outer.column) <= (inner.line, inner.column) and (inner.end_line, inner.end_column) <= (
        outer.end_line,
        outer.end_column,
    )


def _place(span: Span | None) -> tuple[int, int]:
    return (0, 0) if span is None else (span.line, span.column)


def _block(facts: Facts, store: tir.BufferStore) -> str:
    """The block that a store stands in, in words."""
    blocks = [place.block.name for place in facts.around[store] if isinstance(place, tir.SBlockRealize)]
    return f", in block `{blocks[-1]}`" if blocks else ""
