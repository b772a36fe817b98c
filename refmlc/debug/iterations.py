"""Loops that can be entered in their middle, with the bounds they had at their entry.

| loop                                   | bounds                                                                      |
|----------------------------------------|-----------------------------------------------------------------------------|
| bounds computed from variables         | computed again                                                              |
| bounds read from memory                | kept in the frame, because the memory may have changed                      |
| over a thread axis                     | kept, with the views of private memory seen outside of the axis             |
| over a thread axis bound already       | not a loop                                                                  |
"""

from dataclasses import dataclass
from typing import cast

from refmlc.diag import Span
from refmlc.lang.ir import tir
from refmlc.lang.ir.scopes import is_thread
from refmlc.lang.ir.visit import walk
from refmlc.run.interp.tensorir.frame import Frame, IntEval, Run, Slot
from refmlc.run.interp.tensorir.loops import LAUNCHED, as_loop
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.threads.private_memory import Outside, outside


@dataclass(frozen=True, slots=True)
class LoopEntry:
    """The bounds with which a loop was entered, and the private memory seen outside of a thread axis."""

    first: int
    stop: int
    stride: int
    outside: Outside = ()


@dataclass(frozen=True, slots=True)
class ResumableLoop:
    """A loop that can be entered in its middle. `entry_slot`: the slot that keeps its entry, if needed."""

    scope: Scope
    body: tir.Stmt
    slot: Slot[int]
    first: IntEval
    extent: IntEval
    step: IntEval | None
    span: Span | None
    tag: str
    entry_slot: Slot[LoopEntry | None] | None

    def saving_entry(self, run: Run) -> Run:
        """`run`, the whole loop, after saving its entry if that is needed."""
        slot = self.entry_slot
        if slot is None:
            return run

        def entered(frame: Frame) -> None:
            frame[slot] = self._now(frame)
            run(frame)

        return entered

    def entry(self, frame: Frame) -> LoopEntry:
        """The entry of the loop that is being executed."""
        entry = None if self.entry_slot is None else frame[self.entry_slot]
        return self._now(frame) if entry is None else entry

    def saved_entry(self, frame: Frame) -> LoopEntry | None:
        """The kept entry; None where none is kept."""
        return None if self.entry_slot is None else frame[self.entry_slot]

    def restore_entry(self, frame: Frame, entered: LoopEntry) -> None:
        """Put a saved entry back into the frame."""
        if self.entry_slot is not None:
            frame[self.entry_slot] = entered

    def enter(self, frame: Frame, entered: LoopEntry) -> None:
        """Switch private memory to the index that the frame has now."""
        for memory, view in entered.outside:
            memory.enter(frame, frame, view)

    def _now(self, frame: Frame) -> LoopEntry:
        first, stride = self.first(frame), 1 if self.step is None else self.step(frame)
        outside_memory = outside(frame, self.scope.memories, self.tag) if is_thread(self.tag) else ()
        return LoopEntry(first, first + self.extent(frame), stride, outside_memory)


def iterations(scope: Scope, stmt: tir.Stmt) -> ResumableLoop | None:
    """A prepared statement as a resumable loop; None where it is no loop."""
    match stmt:
        case tir.For():
            loop = stmt
        case tir.AttrStmt(node=tir.ThreadVar()) if stmt.key in LAUNCHED:
            loop = as_loop(stmt)
        case _:
            return None
    tag = loop.tag
    if tag in scope.threads or not (is_thread(tag) or scope.layout.knows(loop.loop_var)):
        return None
    slot = scope.axes[tag] if is_thread(tag) else scope.layout.slot(loop.loop_var)
    bounds = (loop.min, loop.extent, *(() if loop.step is None else (loop.step,)))
    keeps = is_thread(tag) or any(isinstance(part, tir.BufferLoad) for bound in bounds for part in walk(bound))
    return ResumableLoop(
        scope, loop.body, cast("Slot[int]", slot), scope.int(loop.min), scope.int(loop.extent),
        None if loop.step is None else scope.int(loop.step), loop.span, tag,
        cast("Slot[LoopEntry | None]", scope.layout.new()) if keeps else None,
    )  # fmt: skip
