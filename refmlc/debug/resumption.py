"""The return of a run from its beginning to a snapshot, without executing anything before the snapshot again.

| on the way                          | the run                                                                   |
|-------------------------------------|---------------------------------------------------------------------------|
| a binding before the one of the snapshot | skips it                                                              |
| the binding of the snapshot          | restores the variables, and evaluates it                                  |
| the prim_func of the snapshot        | restores memory and the frame, and continues from the place of the snapshot |
"""

from refmlc.debug.places import BindingPlace
from refmlc.debug.position import ActiveCall, Position
from refmlc.debug.program_output import ProgramOutput
from refmlc.debug.reentry import Reentry
from refmlc.debug.session_data import BEGINNING
from refmlc.debug.snapshots import Snapshot
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor


class Resumption:
    """The snapshot to which the run is returning, if any."""

    def __init__(self, position: Position, budget: Budget, output: ProgramOutput) -> None:
        self._position, self._budget, self._output = position, budget, output
        self._base: Snapshot | None = None

    @property
    def active(self) -> bool:
        """True until the run reaches the snapshot."""
        return self._base is not None

    def begin(self, base: Snapshot) -> None:
        """Begin a run that continues from `base`, with the memory of the snapshot."""
        for saved in base.storages:
            saved.restore(saved.storage)
        self._output.rewind(base.printed)
        self._base = base if base.levels and base.moment != BEGINNING else None

    def evaluates(self, place: BindingPlace, call: ActiveCall) -> bool:
        """[run] True for a binding to evaluate: it leads to the snapshot, or stands after it."""
        base, number = self._base, self._position.depth - 1
        if base is None:
            return True
        saved = base.levels[number] if number < len(base.levels) else None
        if saved is None or call.env is None:  # a call made by a binding that leads to the snapshot
            return True
        depth = len(call.bindings)
        if depth >= len(saved.bindings) or saved.bindings[depth].node is not place.node:
            return False
        call.env.values.clear()
        call.env.values.update(saved.values)
        call.env.dims.clear()
        call.env.dims.update(saved.dims)  # type: ignore[arg-type]  # they were copied from there
        if number == len(base.levels) - 1 and depth == len(saved.bindings) - 1:
            self._finish(base)
            self._position.jump(base.moment.event - 1, 0)
        return True

    def is_in(self) -> bool:
        """[run] True if the snapshot was taken in the body of the innermost call."""
        return self._base is not None and self._position.depth == len(self._base.levels)

    def land(self, reentry: Reentry, frame: Frame) -> Snapshot:
        """[run] Restore memory and the frame of the innermost call; returns the snapshot."""
        base, call = self._base, self._position.innermost
        assert base is not None  # noqa: S101 - `is_in` says so
        saved = base.levels[-1]
        storages: dict[int, Storage] = {}
        for before, now in zip(saved.args, call.args, strict=True):
            if isinstance(before, Tensor) and isinstance(now, Tensor) and before.storage is not now.storage:
                storages[id(before.storage)] = now.storage
        reentry.restore(frame, saved, storages)
        for storage in base.storages:
            if id(storage.storage) in storages:
                storage.restore(storages[id(storage.storage)])
        self._finish(base)
        self._position.jump(base.moment.event, base.moment.step - 1)
        return base

    def _finish(self, base: Snapshot) -> None:
        self._base = None
        self._budget.steps = base.steps
        self._output.rewind(base.printed)
