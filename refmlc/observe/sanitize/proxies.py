"""RM344: the async proxy accesses what a thread wrote, and no fence between proxies is between (TIA-032).

Threads access memory through the generic proxy, bulk copies and products of warpgroups through the async one. The last
writer of each element of shared and global memory is kept, with its clock; a fence between proxies shows what comes
before it to what comes after it (`clocks`).

| a bulk copy or product            | of what a thread wrote | needs between                                  |
|-----------------------------------|------------------------|------------------------------------------------|
| reads or writes                   | by a statement         | `fence.proxy.async`, for this or all memory     |
| signals, issued by another thread | by `mbarrier.init`     | the same, or `fence.mbarrier_init`             |

What a copy has written is visible to threads when it is complete. An access that does not come after the write at all
is a race (RM321), and not judged here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from refmlc.diag import Diagnostic, Related
from refmlc.diag.catalogue import MISSING_FENCE
from refmlc.lang.ir import tir
from refmlc.lang.ir.asynchronous import is_asynchronous
from refmlc.lang.ir.matrix_units import TENSOR_MEMORY
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.ptx import PtxCall, operator_of
from refmlc.lang.ir.visit import walk
from refmlc.observe.sanitize.elements import Elements, element
from refmlc.observe.sanitize.facts import FactTable
from refmlc.observe.sanitize.register_fences import uses_warpgroups
from refmlc.observe.sanitize.thread_clocks import ThreadClocks
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.interp.tensorir.views import View

ASYNC, INIT = "async", "mbarrier_init"
SPACES = ("shared", "global")


@dataclass(frozen=True, slots=True)
class GenericWrite:
    """The last write of a thread to an element."""

    thread: int
    count: int
    node: tir.BufferStore


class Proxies(ThreadClocks):
    """Compares the accesses of bulk copies with those of threads."""

    code = MISSING_FENCE

    def __init__(self, facts: FactTable) -> None:
        super().__init__(facts)
        self._atomic = False
        self._writes: Elements[GenericWrite | None] = Elements()

    @classmethod
    def applies(cls, facts: FactTable) -> bool:
        """Whether the module has bulk copies, products of warpgroups, or uses tensor memory."""
        functions = [func for func in facts.module.functions.values() if isinstance(func, tir.PrimFunc)]
        return any(any(map(_is_bulk, walk(func.body))) or uses_warpgroups(func) for func in functions)

    def begin(self, loop: tir.For) -> None:
        del loop
        self._writes.clear()

    def fence(self, words: tuple[str, ...], frame: Frame) -> None:
        if self._thread is None:
            return
        if words[0] == "proxy":
            for space in _spaces(words):
                self._clocks.show(self._thread, space)
        elif words[0] == INIT:
            self._clocks.show(self._thread, INIT)
        else:
            super().fence(words, frame)

    # ---------------------------------------------------------------------------------------------------- accesses

    def before_atomic(self, call: tir.Call, scope: str, frame: Frame) -> None:
        del scope, frame
        self._atomic = is_asynchronous(call)

    def after_atomic(self, call: tir.Call, frame: Frame) -> None:
        del call, frame
        self._atomic = False

    def write_element(self, access: tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        del frame
        self._note(access, view, offset)

    def touch_tile(self, access: tir.BufferLoad | tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        del frame
        if isinstance(access, tir.BufferStore) and not self._atomic:
            self._note(access, view, offset)

    def _note(self, access: tir.BufferStore, view: View, offset: int) -> None:
        if self._thread is None or _space(view) is None:
            return
        write = GenericWrite(self._thread, self._clocks.of(self._thread)[self._thread], access)
        records, keys = self._writes.find(view, offset)
        for key in keys:
            records[key] = write

    def through_proxy(self, access: tir.BufferLoad | tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        space = _space(view)
        if self._thread is None or space is None:
            return
        records, keys = self._writes.find(view, offset)
        for key in keys:
            write = records.get(key)
            if write is not None and self._is_hidden(write, space):
                raise self.undefined(
                    self._missing(write, space, access, element(access.buffer, view, offset)), access, frame
                )
            if isinstance(access, tir.BufferStore) and not self._atomic:
                records[key] = None

    def landed(self, token: object, access: tir.BufferStore, view: View, offset: int) -> None:
        del token, access
        records, keys = self._writes.find(view, offset)
        records.update(dict.fromkeys(keys, None))

    def _is_hidden(self, write: GenericWrite, space: str) -> bool:
        """Whether a write comes before the access of a copy that this thread issues, which does not see it."""
        thread, clocks = cast("int", self._thread), self._clocks
        if not clocks.shows(thread, write.thread, write.count):
            return False  # a race
        if self._atomic and (write.thread == thread or clocks.shows(thread, write.thread, write.count, INIT)):
            return False
        return not clocks.shows(thread, write.thread, write.count, space)

    def _missing(
        self, write: GenericWrite, space: str, access: tir.BufferLoad | tir.BufferStore, name: str
    ) -> Diagnostic:
        verb = "signals" if self._atomic else "reads" if isinstance(access, tir.BufferLoad) else "writes"
        how = "fence.mbarrier_init or fence.proxy.async" if self._atomic else f"fence.proxy.async for {space} memory"
        message = f"the async proxy {verb} `{name}`, which thread {write.thread} wrote, with no {how} between"
        related = (Related(f"thread {write.thread} writes it here", write.node.span),)
        return Diagnostic(MISSING_FENCE, message, access.span, "", (), related)


def _is_bulk(node: Node) -> bool:
    if isinstance(node, tir.Call) and operator_of(node.callee) in TENSOR_MEMORY:
        return True
    ptx = PtxCall.of(node) if is_asynchronous(node) else None
    return ptx is not None and ptx.one_of("bulk", "bulk_group") != ""


def _spaces(words: Sequence[str]) -> Sequence[str]:
    """The kinds of memory that a fence between the generic and the async proxy is for; none: another fence."""
    if not any(word.split("::")[0] == ASYNC for word in words):
        return ()
    of = [space for space in SPACES if any(word.split("::")[0] == space for word in words)]
    return of or SPACES


def _space(view: View) -> str | None:
    scope = view.buffer.scope
    return next((space for space in SPACES if scope.startswith(space)), None)
