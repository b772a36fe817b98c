"""Loops that can be entered in their middle: which values are behind, which are to come.

| loop                                  | what it was entered with                                                  |
|---------------------------------------|---------------------------------------------------------------------------|
| over bounds that variables make        | is found again where one stands                                            |
| over bounds that memory makes          | is kept in the frame: the memory may be another one since                   |
| over a thread axis                    | is kept: also the views of private memory that are seen outside of the axis |
| over a thread axis that is bound already | is no loop                                                                |
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
    """What a loop was entered with: its values, and what is private to a thread axis as it is seen outside."""

    first: int
    stop: int
    stride: int
    outside: Outside = ()


@dataclass(frozen=True, slots=True)
class ResumableLoop:
    """A loop of one function. `kept`: where a frame holds what it was entered with, where that is kept."""

    scope: Scope
    body: tir.Stmt
    slot: Slot[int]
    first: IntEval
    extent: IntEval
    step: IntEval | None
    span: Span | None
    tag: str
    kept: Slot[LoopEntry | None] | None

    def entering(self, run: Run) -> Run:
        """`run`, which is the whole loop; what it is entered with is kept, where that is needed."""
        kept = self.kept
        if kept is None:
            return run

        def entered(frame: Frame) -> None:
            frame[kept] = self._now(frame)
            run(frame)

        return entered

    def entered(self, frame: Frame) -> LoopEntry:
        """What it was entered with."""
        held = None if self.kept is None else frame[self.kept]
        return self._now(frame) if held is None else held

    def held(self, frame: Frame) -> LoopEntry | None:
        """The same, where it is kept."""
        return None if self.kept is None else frame[self.kept]

    def hold(self, frame: Frame, entered: LoopEntry) -> None:
        """Keep what it was entered with."""
        if self.kept is not None:
            frame[self.kept] = entered

    def enter(self, frame: Frame, entered: LoopEntry) -> None:
        """Private memory is that of the index that the frame has now."""
        for memory, view in entered.outside:
            memory.enter(frame, frame, view)

    def _now(self, frame: Frame) -> LoopEntry:
        first, stride = self.first(frame), 1 if self.step is None else self.step(frame)
        private = outside(frame, self.scope.memories, self.tag) if is_thread(self.tag) else ()
        return LoopEntry(first, first + self.extent(frame), stride, private)


def iterations(scope: Scope, stmt: tir.Stmt) -> ResumableLoop | None:
    """A statement as the loop that it is, where it has been prepared; None: it is none."""
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
