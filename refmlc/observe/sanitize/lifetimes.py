"""RM321: a thread reaches memory of another block of its cluster that may not have begun, or may have ended (TIX-034).

| such an access needs that                                       | or else              |
|-----------------------------------------------------------------|----------------------|
| it comes after something that a thread of that block has done   | it may not have begun |
| it comes before something that a thread of that block does      | it may have ended    |

Both follow from the clocks of threads (`clocks`); a barrier of the cluster before the first access and one after the
last access give both.
"""

from dataclasses import dataclass
from typing import cast

from refmlc.diag import Diagnostic, Related
from refmlc.diag.catalogue import RACE
from refmlc.lang.ir import tir
from refmlc.lang.ir.clusters import reaches_blocks
from refmlc.lang.ir.visit import walk
from refmlc.observe.sanitize.detector import Reach
from refmlc.observe.sanitize.elements import element
from refmlc.observe.sanitize.facts import FactTable
from refmlc.observe.sanitize.thread_clocks import ThreadClocks
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.interp.tensorir.views import View
from refmlc.run.interp.threads.launch import block_size


@dataclass(frozen=True, slots=True)
class RemoteAccess:
    """The last access of a thread to memory of a block."""

    node: tir.BufferLoad | tir.BufferStore
    name: str
    count: int


class Lifetimes(ThreadClocks):
    """Compares accesses to memory of other blocks with what is known of the threads of those blocks."""

    code = RACE
    reach = Reach.NOT_PLAIN

    def __init__(self, facts: FactTable) -> None:
        super().__init__(facts)
        self._block = 0
        self._remote: dict[tuple[int, int], RemoteAccess] = {}

    @classmethod
    def applies(cls, facts: FactTable) -> bool:
        """Whether a kernel reaches memory of other blocks."""
        functions = [func for func in facts.module.functions.values() if isinstance(func, tir.PrimFunc)]
        return any(reaches_blocks(node) for func in functions for node in walk(func.body))

    def begin(self, loop: tir.For) -> None:
        self._block = block_size(loop)
        self._remote.clear()

    def read_element(self, access: tir.BufferLoad, view: View, offset: int, frame: Frame) -> None:
        self._note(access, view, offset, frame)

    def write_element(self, access: tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        self._note(access, view, offset, frame)

    def touch_tile(self, access: tir.BufferLoad | tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        self._note(access, view, offset, frame)

    def through_proxy(self, access: tir.BufferLoad | tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        self._note(access, view, offset, frame)

    def _note(self, access: tir.BufferLoad | tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        thread, size = self._thread, self._block
        owner = view.data.storage.block if size and thread is not None else None
        if owner is None or thread is None or owner == thread // size:
            return
        clock = self._clocks.of(thread)
        name = element(access.buffer, view, offset)
        if not any(clock.get(other, 0) for other in self._threads_of(owner)):
            raise self.undefined(self._unordered(access, name, thread, owner, "the beginning"), access, frame)
        self._remote[thread, owner] = RemoteAccess(access, name, clock[thread])

    def end(self, frame: Frame) -> None:
        for (thread, owner), last in self._remote.items():
            if not any(self._clocks.shows(other, thread, last.count) for other in self._threads_of(owner)):
                raise self.undefined(self._unordered(last.node, last.name, thread, owner, "the end"), last.node, frame)

    def _threads_of(self, block: int) -> range:
        return range(block * self._block, (block + 1) * self._block)

    def _unordered(
        self, access: tir.BufferLoad | tir.BufferStore, name: str, thread: int, owner: int, what: str
    ) -> Diagnostic:
        verb = "reads" if isinstance(access, tir.BufferLoad) else "writes"
        who = f"thread {thread % self._block} of block {thread // self._block} of the cluster"
        order = "after" if what == "the beginning" else "before"
        message = f"{who} {verb} `{name}` of block {owner}, and nothing puts that {order} {what} of this block"
        loop = cast("tir.For", self._loop)
        related = (Related("the threads of the cluster begin here", loop.span),)
        return Diagnostic(RACE, message, access.span, "", (), related)
