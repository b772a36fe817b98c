"""RM326, a lint: a reduction without init begins with a value that the call did not write (TIR-224).

A block with a reduce axis and no init folds onto the value in memory. A block before it may have stored that value (a
decomposed reduction); if no store of the call did, the result depends on the memory of the caller.
"""

from collections.abc import Sequence
from typing import cast

from refmlc.diag import Diagnostic
from refmlc.diag.catalogue import STALE_START
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.observe.sanitize.detector import Detector, Reach
from refmlc.observe.sanitize.elements import Elements, element
from refmlc.observe.sanitize.facts import FactTable
from refmlc.run.interp.tensorir.block_sites import BlockSite
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.interp.tensorir.views import View


class StaleStart(Detector):
    """Keeps the elements that the current call wrote."""

    code = STALE_START
    is_lint = True
    reach = Reach.NOT_PLAIN

    def __init__(self, facts: FactTable) -> None:
        super().__init__(facts)
        self._written: list[Elements[bool]] = [Elements()]
        self._folding: list[BlockSite | None] = []

    def place(self) -> tuple[object, ...]:
        return (list(self._folding),)

    def go_to(self, place: tuple[object, ...]) -> None:
        self._folding = list(cast("list[BlockSite | None]", place[0]))

    def enter_function(self, name: str, args: Sequence[object]) -> None:
        del name, args
        self._written.append(Elements())

    def leave_function(self, name: str, result: object) -> None:
        del name, result
        self._written.pop()

    def enter_block(self, site: BlockSite, frame: Frame) -> None:
        del frame
        block = site.node.block
        folds = block.init is None and any(axis.kind is IterKind.REDUCE for axis in block.iter_vars)
        self._folding.append(site if folds else None)

    def leave_block(self, site: BlockSite, frame: Frame) -> None:
        del site, frame
        self._folding.pop()

    def read_element(self, access: tir.BufferLoad, view: View, offset: int, frame: Frame) -> None:
        site = self._folding[-1] if self._folding else None
        if site is None or not view.shadow[offset * view.buffer.dtype.lanes]:
            return
        facts = self.facts.at(frame)
        stores = facts.stores.get(facts.root(access.buffer), ())
        if not any(site.node in facts.around[store] for store in stores):
            return
        records, keys = self._written[-1].find(view, offset)
        if all(key in records for key in keys) or self.has(site):
            return
        block = site.node.block
        message = (
            f"block `{block.name}` folds onto `{element(access.buffer, view, offset)}`, which this call never wrote"
        )
        label = "the reduction has no init"
        self.lint(Diagnostic(STALE_START, message, access.span, label), site)

    def write_element(self, access: tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        del access, frame
        records, keys = self._written[-1].find(view, offset)
        records.update(dict.fromkeys(keys, True))
