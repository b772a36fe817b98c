"""Re-entry: a prim_func continues from a place in its middle, in a restored frame.

Execution goes from inside out: the place, then the rest of each statement around it.

| around                     | its rest                                               |
|----------------------------|--------------------------------------------------------|
| `SeqStmt`                  | the parts after it                                     |
| `For`, a launch of threads | the iterations after it; a jump ends one, or all       |
| `While`                    | the condition and the body, as long as it holds        |
| a block                    | the body, if the place is in the init; else nothing    |
| `IfThenElse`, `AttrStmt`   | nothing                                                |
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import cast

from refmlc.debug.clock import FailureListener
from refmlc.debug.iterations import LoopEntry, ResumableLoop, iterations
from refmlc.debug.places import StmtPlace
from refmlc.debug.snapshots import SavedCall, SavedMemory
from refmlc.diag import RefmlcError
from refmlc.lang.ir import tir
from refmlc.lang.ir.scopes import is_thread
from refmlc.run.interp.tensorir.frame import Eval, Frame, Run
from refmlc.run.interp.tensorir.jumps import Breaking, Continuing
from refmlc.run.interp.tensorir.loops import chunk
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.tensorir.views import View, view_on
from refmlc.run.interp.threads.private_memory import Outside, Private
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor


@dataclass(slots=True)
class Reentry:
    """The prepared parts of one function: its statements by node, its loops, the conditions of its `While`s.

    `on_failure`: is called for a failed statement that was entered in its middle.
    """

    scope: Scope
    budget: Budget
    on_failure: FailureListener
    runs: dict[int, Run] = field(default_factory=dict)
    loops: dict[int, ResumableLoop] = field(default_factory=dict)
    conditions: dict[int, Eval] = field(default_factory=dict)

    def prepare(self, stmt: tir.Stmt, run: Run) -> Run:
        """Prepare a loop for entering it in its middle; the statement to execute in place of `run`."""
        if isinstance(stmt, tir.While):
            self.conditions[id(stmt)] = self.scope.expr(stmt.condition)
            return run
        loop = iterations(self.scope, stmt)
        if loop is None:
            return run
        self.loops[id(stmt)] = loop
        return loop.saving_entry(run)

    # ------------------------------------------------------------------------------------------ the frame

    def save(self, frame: Frame, place: StmtPlace, args: tuple[object, ...]) -> SavedCall | None:
        """The frame as it is; None where threads take turns in it, each with a frame of its own."""
        if frame[self.scope.group] is not None:
            return None
        variables = {var: frame[slot] for var, slot in self.scope.layout.variables.items()}
        views = {buffer: cast("View | None", frame[slot.view]) for buffer, slot in self.scope.buffers.items()}
        axes = {tag: frame[slot] for tag, slot in self.scope.axes.items()}
        entered = {
            id(node): entry for node, loop in self._around(place) if (entry := loop.saved_entry(frame)) is not None
        }
        memories = {
            buffer: SavedMemory(memory, dict(memory.views), memory.block)
            if isinstance(memory, Private)
            else SavedMemory(memory)
            for buffer, memory in (frame[self.scope.memories] or {}).items()
        }
        slots = enumerate(cast("list[object]", frame))
        numbers = {slot: value for slot, value in slots if isinstance(value, int | float)}
        return SavedCall(
            args,
            numbers=numbers,
            place=place,
            variables=dict(variables),
            views=views,
            axes=axes,
            entered=entered,
            memories=memories,
        )

    def _around(self, place: StmtPlace) -> list[tuple[tir.Stmt, ResumableLoop]]:
        """The loops around a place, innermost first."""
        return [(outer.node, self.loops[id(outer.node)]) for outer in place.around() if id(outer.node) in self.loops]

    def restore(self, frame: Frame, saved: SavedCall, storages: Mapping[int, Storage]) -> None:
        """Make `frame`, which has its arguments, equal to the saved one. `storages`: storages replaced since."""
        func = self.scope.func
        slots = cast("list[object]", frame)
        for number, value in saved.numbers.items():
            slots[number] = value
        matched = set() if func is None else set(func.buffer_map)
        declared = set() if func is None else set(func.buffer_map.values())
        for var, slot in self.scope.layout.variables.items():
            if var not in matched and var in saved.variables:
                frame[slot] = _relocated(saved.variables[var], storages)
        for buffer, place in self.scope.buffers.items():
            view = saved.views.get(buffer)
            if buffer in declared:
                continue
            if view is None:
                place.drop(frame)
            else:
                place.put(frame, cast("View", _relocated(view, storages)))
        for tag, axis in self.scope.axes.items():
            frame[axis] = saved.axes[tag]
        for number, entered in saved.entered.items():
            self.loops[number].restore_entry(frame, entered)
        frame[self.scope.memories] = {buffer: owned.again() for buffer, owned in saved.memories.items()} or None
        frame[self.scope.outer] = None if saved.place is None else self._outside(frame, saved.place)

    def _outside(self, frame: Frame, place: StmtPlace) -> Outside | None:
        """The private memory seen outside of the innermost thread axis around `place`."""
        return next((loop.entry(frame).outside for _, loop in self._around(place) if is_thread(loop.tag)), None)

    # ------------------------------------------------------------------------------------------- the rest

    def continue_from(self, frame: Frame, place: StmtPlace) -> None:
        """Execute `place` and everything after it."""
        above = place.above
        if above is None:
            self.runs[id(place.node)](frame)
            return
        self._up(frame, place, lambda: self.runs[id(place.node)](frame))

    def _up(self, frame: Frame, place: StmtPlace, run: Callable[[], None]) -> None:
        """Execute `run`, which is `place`, then the rest of the statements around it."""
        chain = place.around()
        child = place
        for around in chain:
            run = self._reporting(frame, around, self._after(frame, around, child, run))
            child = around
        run()

    def _reporting(self, frame: Frame, around: StmtPlace, run: Callable[[], None]) -> Callable[[], None]:
        """`run`, reporting failures of the statement's own condition, bound or budget."""

        def reporting() -> None:
            try:
                run()
            except RefmlcError as failure:
                self.on_failure(around, frame, failure)
                raise

        return reporting if around.counted else run

    def _after(
        self, frame: Frame, around: StmtPlace, child: StmtPlace, inner: Callable[[], None]
    ) -> Callable[[], None]:
        node = around.node
        match node:
            case tir.SeqStmt(seq=seq):
                later = [self.runs[id(part)] for part in seq[child.number + 1 :]]

                def sequence() -> None:
                    inner()
                    for part in later:
                        part(frame)

                return sequence
            case tir.For() | tir.AttrStmt() if id(node) in self.loops:
                return lambda: self._loop(frame, around, inner)
            case tir.While():
                return lambda: self._while(frame, node, inner)
            case tir.SBlockRealize(block=block) if child.init:

                def block_of() -> None:
                    inner()
                    self.runs[id(block.body)](frame)

                return block_of
            case _:
                return inner

    def _loop(self, frame: Frame, around: StmtPlace, inner: Callable[[], None]) -> None:
        loop = self.loops[id(around.node)]
        entered = loop.entry(frame)
        with suppress(Breaking):
            self._iterations(frame, loop, entered, inner)
        if is_thread(loop.tag):
            self._leave(frame, around, entered)

    def _iterations(self, frame: Frame, loop: ResumableLoop, entered: LoopEntry, inner: Callable[[], None]) -> None:
        """Execute `inner` and the following iterations; steps are charged as in a run of the whole loop."""
        stride, slot, body, budget = entered.stride, loop.slot, self.runs[id(loop.body)], self.budget
        begin, is_first, chunk_size = frame[slot], True, chunk(loop.body) * stride
        start = begin - (begin - entered.first) % chunk_size
        while start < entered.stop:
            end = min(start + chunk_size, entered.stop)
            try:
                for value in range(begin, end, stride):
                    if not is_first:
                        frame[slot] = value
                        loop.enter(frame, entered)
                    with suppress(Continuing):
                        inner()
                    inner, is_first = partial(body, frame), False
            except BaseException:
                budget.steps += (frame[slot] - start) // stride + 1
                raise
            budget.charge_steps(-(-(end - start) // stride), loop.span)
            start = begin = start + chunk_size

    def _leave(self, frame: Frame, around: StmtPlace, entered: LoopEntry) -> None:
        """Restore the state outside of a thread axis after its last index."""
        frame[self.scope.axes[self.loops[id(around.node)].tag]] = None
        frame[self.scope.outer] = self._outside(frame, around)
        for memory, view in entered.outside:
            memory.leave(frame, view)

    def _while(self, frame: Frame, node: tir.While, inner: Callable[[], None]) -> None:
        condition, body = self.conditions[id(node)], self.runs[id(node.body)]
        with suppress(Breaking):
            with suppress(Continuing):
                inner()
            while condition(frame):
                self.budget.charge_steps(1, node.span)
                with suppress(Continuing):
                    body(frame)


def _relocated(value: object, storages: Mapping[int, Storage]) -> object:
    """A value moved to the storages in use now."""
    match value:
        case View():
            storage = storages.get(id(value.data.storage))
            if storage is None:
                return value
            data = Pointer(storage, value.data.byte_offset)
            return view_on(value.buffer, data, value.shape, value.strides, value.offset)
        case Pointer(storage=former, byte_offset=offset) if id(former) in storages:
            return Pointer(storages[id(former)], offset)
        case Tensor() if id(value.storage) in storages:
            return Tensor(storages[id(value.storage)], value.dtype, value.shape, value.strides, value.byte_offset)
        case _:
            return value
