"""RM305, the origin of an uninitialised value: more details than the interpreter gives (TIR-007).

The interpreter names the allocation. This adds how much of the buffer was written, and the store that should have
written the element: the nearest one to the buffer in the text, the last before the read or else the first after it,
with its block; or that no store in the function writes the buffer.
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
    """Keeps the last read, and explains it if it fails."""

    code = UNINITIALISED
    reach = Reach.NOT_PLAIN

    def __init__(self, facts: FactTable) -> None:
        super().__init__(facts)
        self._last: tuple[tir.BufferLoad, View, Frame] | None = None

    def read_element(self, access: tir.BufferLoad, view: View, offset: int, frame: Frame) -> None:
        del offset
        self._last = (access, view, frame)

    def explain(self, failure: RefmlcError) -> RefmlcError:
        """Add notes to `failure` if it is of the last read."""
        diagnostic = failure.diagnostic
        if failure.code is not UNINITIALISED or self._last is None or self._last[0].span != diagnostic.span:
            return failure
        access, view, frame = self._last
        count = sum(1 for number in range(len(view.shadow)) if view.shadow[number])
        facts, function = self.facts.at(frame), frame[ACTIVATION].function
        notes = [f"{count} of the {len(view.shadow)} elements of `{access.buffer.name}` were written"]
        store = _nearest(facts, access)
        related: tuple[Related, ...] = ()
        if store is None and _is_handed_on(facts, facts.root(access.buffer)):
            pass  # an operator that is no store may have written it
        elif store is None:
            notes.append(f"nothing in `{function}` writes to `{access.buffer.name}`")
        else:
            related = (
                Related(f"the nearest store to `{access.buffer.name}` is here{_block(facts, store)}", store.span),
            )
        failure.diagnostic = replace(
            diagnostic, notes=(*diagnostic.notes, *notes), related=(*diagnostic.related, *related)
        )
        return failure


def _nearest(facts: Facts, access: tir.BufferLoad) -> tir.BufferStore | None:
    """The last store before the read in the text, or else the first one after it."""
    stores = sorted(facts.stores.get(facts.root(access.buffer), ()), key=lambda store: _place(store.span))
    before = [store for store in stores if _place(store.span) < _place(access.span) and not _holds(store, access)]
    after = [store for store in stores if store not in before]
    return before[-1] if before else next(iter(after), None)


def _is_handed_on(facts: Facts, buffer: tir.Buffer) -> bool:
    """True if a call or a tile primitive gets the address of the memory."""
    for node in facts.around:
        match node:
            case tir.BufferData(buffer=other) | tir.BufferRegion(buffer=other):
                pass
            case tir.Call(callee="address_of", args=(tir.BufferLoad(buffer=other), *_)):
                pass
            case _:
                continue
        if facts.root(other) is buffer:
            return True
    return False


def _holds(store: tir.BufferStore, access: tir.BufferLoad) -> bool:
    """True if the read is part of the store, and so evaluated before it."""
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
    """The block of a store, in words."""
    blocks = [place.block.name for place in facts.around[store] if isinstance(place, tir.SBlockRealize)]
    return f", in block `{blocks[-1]}`" if blocks else ""
