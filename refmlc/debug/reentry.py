"""Re-entry: a prim_func goes on from a place in its middle, in a frame that is what it was.

What follows the place is executed from inside out: the rest of each statement around it, then of the one around that.

| around       | its rest                                                             |
|--------------|----------------------------------------------------------------------|
| `SeqStmt`    | the parts behind                                                     |
| `For`        | the iterations behind; a jump ends one, or all                        |
| a block      | the body, where the place is in the init; else nothing                 |
| `IfThenElse`, `AttrStmt` | nothing                                                  |
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

from refmlc.debug.places import Place
from refmlc.debug.snapshots import SavedLevel
from refmlc.interp.tensorir.frame import Frame, IntEval, Run, Slot
from refmlc.interp.tensorir.loops import CHUNK, Breaking, Continuing
from refmlc.interp.tensorir.scope import Scope
from refmlc.interp.tensorir.views import View, view_on
from refmlc.ir import tir
from refmlc.runtime.budget import Budget
from refmlc.runtime.pointer import Pointer
from refmlc.runtime.storage import Storage
from refmlc.runtime.tensor import Tensor

Bounds = tuple[IntEval, IntEval, IntEval | None]


@dataclass(slots=True)
class Reentry:
    """What is prepared of one function: its statements by node, the bounds of its loops."""

    scope: Scope
    runs: dict[int, Run]
    bounds: dict[int, Bounds]
    budget: Budget

    def prepare(self, loop: tir.For) -> None:
        """Prepare the bounds of a loop."""
        step = None if loop.step is None else self.scope.int(loop.step)
        self.bounds[id(loop)] = (self.scope.int(loop.min), self.scope.int(loop.extent), step)

    # ------------------------------------------------------------------------------------------ the frame

    def save(self, frame: Frame, place: Place, args: tuple[object, ...]) -> SavedLevel | None:
        """The frame as it is; None: it has what cannot be entered again."""
        if frame[self.scope.memories] or frame[self.scope.group] is not None:
            return None
        variables = {var: frame[slot] for var, slot in self.scope.layout.variables.items()}
        views = {buffer: cast("View | None", frame[known.view]) for buffer, known in self.scope.buffers.items()}
        return SavedLevel(args, place=place, variables=dict(variables), views=views)

    def restore(self, frame: Frame, saved: SavedLevel, moved: Mapping[int, Storage]) -> None:
        """Make `frame`, which has its arguments, what was saved; `moved`: storages that are others now."""
        func = self.scope.func
        matched = set() if func is None else set(func.buffer_map)
        declared = set() if func is None else set(func.buffer_map.values())
        for var, slot in self.scope.layout.variables.items():
            if var not in matched and var in saved.variables:
                frame[slot] = _moved(saved.variables[var], moved)
        for buffer, place in self.scope.buffers.items():
            view = saved.views.get(buffer)
            if buffer in declared:
                continue
            if view is None:
                place.drop(frame)
            else:
                place.put(frame, cast("View", _moved(view, moved)))

    def behind(self, frame: Frame, place: Place) -> int:
        """The iterations of loops around `place` that ran, and that the budget has not counted yet."""
        total = 0
        for around in place.around():
            if isinstance(around.node, tir.For):
                first, _, step = self.bounds[id(around.node)]
                slot = cast("Slot[int]", self.scope.layout.slot(around.node.loop_var))
                total += ((frame[slot] - first(frame)) // (1 if step is None else step(frame))) % CHUNK
        return total

    # ------------------------------------------------------------------------------------------- the rest

    def go_on(self, frame: Frame, place: Place) -> None:
        """Execute `place` and everything behind it."""
        above = place.above
        if above is None:
            self.runs[id(place.node)](frame)
            return
        self._up(frame, place, lambda: self.runs[id(place.node)](frame))

    def _up(self, frame: Frame, place: Place, run: Callable[[], None]) -> None:
        """`run`, which executes `place`, then the rest of what is around it."""
        chain = place.around()
        child = place
        for around in chain:
            run = self._rest(frame, around, child, run)
            child = around
        run()

    def _rest(self, frame: Frame, around: Place, child: Place, inner: Callable[[], None]) -> Callable[[], None]:
        node = around.node
        match node:
            case tir.SeqStmt(seq=seq):
                later = [self.runs[id(part)] for part in seq[child.number + 1 :]]

                def sequence() -> None:
                    inner()
                    for part in later:
                        part(frame)

                return sequence
            case tir.For():
                return lambda: self._loop(frame, node, inner)
            case tir.SBlockRealize(block=block) if child.init:

                def block_of() -> None:
                    inner()
                    self.runs[id(block.body)](frame)

                return block_of
            case _:
                return inner

    def _loop(self, frame: Frame, node: tir.For, inner: Callable[[], None]) -> None:
        first, extent, step = self.bounds[id(node)]
        slot = cast("Slot[int]", self.scope.layout.slot(node.loop_var))
        stride = 1 if step is None else step(frame)
        stop = first(frame) + extent(frame)
        body = self.runs[id(node.body)]
        value = frame[slot]
        with suppress(Breaking):
            while value < stop:
                try:
                    with suppress(Continuing):
                        inner()
                except BaseException:
                    self.budget.steps += 1
                    raise
                self.budget.charge_steps(1, node.span)
                value += stride
                if value < stop:
                    frame[slot] = value
                inner = lambda: body(frame)  # noqa: E731 - the iterations behind run all of the body


def _moved(value: object, moved: Mapping[int, Storage]) -> object:
    """A value on the storages that it lies on now."""
    match value:
        case View():
            storage = moved.get(id(value.data.storage))
            if storage is None:
                return value
            data = Pointer(storage, value.data.byte_offset)
            return view_on(value.buffer, data, value.shape, value.strides, value.offset)
        case Pointer(storage=old, byte_offset=offset) if id(old) in moved:
            return Pointer(moved[id(old)], offset)
        case Tensor() if id(value.storage) in moved:
            return Tensor(moved[id(value.storage)], value.dtype, value.shape, value.strides, value.byte_offset)
        case _:
            return value
