"""The client of the hooks: counts the stores of a run and notes those to watched cells (`records`).

| hook                          | what is done                                                                     |
|-------------------------------|----------------------------------------------------------------------------------|
| `enter_function`, `allocated` | storages get their numbers                                                       |
| `before_stmt`                 | a store or a bind begins to be captured; the bind before it is kept              |
| `read_element`, `load`        | the load joins the capture, with the time                                        |
| `called`                      | the value of a call joins the capture                                            |
| `write_element`, `store`      | the store is counted, and noted where the cell is watched                        |
| `before_binding` / `binding`  | what variables of Relax are being computed                                       |
| `after_destination`           | what a function from outside was given to write counts as one store to all of it |

A run ends early, by `Enough`, when no wanted time is ahead any more.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from refmlc.lang.ir import IRModule, relax, tir
from refmlc.observe.why.memory import Storages, element_size, first_byte
from refmlc.observe.why.records import Capture, Event, ExecutedBind, Foreign, Loaded, Noted, WatchedCell, all_loads
from refmlc.observe.why.sites import Sites
from refmlc.observe.why.values import Cell
from refmlc.run.interp.graph.call_site import DestinationCall
from refmlc.run.interp.graph.calls import is_from_outside
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.tensorir.frame import ACTIVATION, Frame
from refmlc.run.interp.tensorir.views import View
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.tensor import Tensor

NOTHING = Capture([], [])
FOREVER = 1 << 62
Demands: TypeAlias = "Mapping[Cell, Iterable[int]]"


class Enough(Exception):
    """Every wanted time is past."""


@dataclass(slots=True)
class Level:
    """A call of a function: the capture of the statement being executed, the binds so far.

    Binds are by frame: each thread of a group has its own. `pending` is a bind whose capture is not kept yet.
    """

    capture: Capture | None = None
    pending: tuple[tir.Bind, Frame] | None = None
    bound: dict[tuple[int, tir.Var], ExecutedBind] = field(default_factory=dict)


class Recorder(Hooks):
    """Watches one run. `most` stores of one chain are kept."""

    def __init__(self, module: IRModule, sites: Sites, budget: Budget, demands: Demands, most: int) -> None:
        self.storages = Storages()
        self.sites = sites
        self.count = 0
        self.written: set[int] = set()
        self.watched = {cell: WatchedCell(cell, sorted(times)) for cell, times in demands.items()}
        self._module = module
        self.budget = budget
        self._most = most
        self._levels: list[Level] = [Level()]
        self._bindings: list[str] = []
        self._view: View | None = None
        self._offset = 0
        self._storage = 0
        self._open: Noted | None = None
        self.place: tuple[View, int] | None = None
        self._last = max((watched.times[-1] for watched in self.watched.values()), default=FOREVER)
        self._at: dict[int, dict[int, WatchedCell]] = {}
        for cell, watched in self.watched.items():
            places = self._at.setdefault(cell.storage, {})
            places.update((byte, watched) for byte in range(cell.start, cell.start + cell.size))

    def answers(self) -> dict[tuple[Cell, int], tuple[Event, ...]]:
        """For each wanted cell and time the stores that made it, first to last; none: it was not written before."""
        for watched in self.watched.values():
            watched.reach(FOREVER + 1)
        return {
            (cell, time): found for cell, watched in self.watched.items() for time, found in watched.answers.items()
        }

    # -------------------------------------------------------------------------------- functions, statements

    def enter_function(self, name: str, args: Sequence[object]) -> None:
        """A call begins."""
        del name
        self._levels.append(Level())
        for arg in args:
            if isinstance(arg, Tensor):
                self.storages.number(arg.storage)

    def leave_function(self, name: str, result: object) -> None:
        """It is over."""
        del name, result
        self._levels.pop()

    def before_stmt(self, stmt: tir.Stmt, frame: Frame) -> None:
        """A capture begins."""
        level = self._levels[-1]
        if level.pending is not None:
            self._keep(level, *level.pending)
        kind = type(stmt)
        if kind is tir.BufferStore:
            level.capture = Capture([], [])
        elif isinstance(stmt, tir.Bind):
            level.capture = Capture([], [])
            level.pending = (stmt, frame)
        else:
            level.capture = None

    def _keep(self, level: Level, stmt: tir.Bind, frame: Frame) -> None:
        """A bind was executed: nothing else was since."""
        level.pending = None
        site = self.sites.find(stmt, frame)
        variables, bound = self._variables(site.names, frame)
        level.bound[id(frame), stmt.var] = ExecutedBind(site, level.capture or NOTHING, variables, bound)

    def allocated(self, buffer: tir.Buffer, view: View, frame: Frame) -> None:
        """A storage gets its number."""
        del buffer, frame
        self.storages.number(view.data.storage)

    def _variables(
        self, names: tuple[tir.Var, ...], frame: Frame
    ) -> tuple[dict[tir.Var, object], dict[tir.Var, ExecutedBind]]:
        layout, bound = frame[ACTIVATION].layout, self._levels[-1].bound
        variables = {var: frame[layout.slot(var)] for var in names if layout.knows(var)}
        return variables, {var: bound[key] for var in names if (key := (id(frame), var)) in bound}

    # ------------------------------------------------------------------------------------------------ loads

    def read_element(self, access: tir.BufferLoad, view: View, offset: int, frame: Frame) -> None:  # noqa: ARG002 - hot
        """Remember where the load is that comes next."""
        self._view, self._offset = view, offset

    def load(self, access: tir.BufferLoad, indices: tuple[int, ...], value: object, frame: Frame) -> None:  # noqa: ARG002 - hot
        """Note the load."""
        capture, view = self._levels[-1].capture, self._view
        if capture is not None and view is not None:
            capture.loads.append(Loaded(access, indices, value, view, self._offset, self.count))

    def called(self, call: tir.Call, value: object, frame: Frame) -> None:
        """Note the value of a call."""
        del frame
        capture = self._levels[-1].capture
        if capture is not None:
            capture.calls.append((call, value))

    # ----------------------------------------------------------------------------------------------- stores

    def write_element(self, access: tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        """Count the store; note it where a wanted cell is written."""
        self.count += 1
        if self.place is None or self.place[0] is not view:
            self._storage = self.storages.number(view.data.storage)
            self.written.add(self._storage)
        storage = self._storage
        self.place = (view, offset)
        capture = self._levels[-1].capture or NOTHING
        position = capture.stored
        capture.stored += 1
        self._open = None
        if self.count > self._last:
            raise Enough
        places = self._at.get(storage)
        if places is None:
            return
        start, size = first_byte(view, offset), element_size(view)
        hit = {id(found): found for byte in range(start, start + size) if (found := places.get(byte)) is not None}
        if hit:
            self._open = noted = self._noted(access, frame, capture, position, storage, start, size)
            for watched in hit.values():
                watched.reach(self.count)
                watched.add(noted, self._most)

    def _noted(
        self,
        access: tir.BufferStore,
        frame: Frame,
        capture: Capture,
        position: int,
        storage: int,
        start: int,
        size: int,
    ) -> Noted:
        site = self.sites.find(access, frame)
        variables, bound = self._variables(site.names, frame)
        noted = Noted(
            self.count,
            site,
            frame[ACTIVATION].function,
            capture,
            variables,
            bound,
            position,
            storage,
            start,
            size,
            site.loops(frame),
            site.axes(frame),
            tuple(self._bindings),
        )
        for load in all_loads(capture, bound):
            load.storage = self.storages.known(load.view.data.storage)
        noted.reads_itself = any(
            load.storage == storage
            and first_byte(load.view, load.offset) < start + size
            and start < first_byte(load.view, load.offset) + element_size(load.view)
            for load in all_loads(capture, bound)
        )
        return noted

    def store(self, access: tir.BufferStore, indices: tuple[int, ...], value: object, frame: Frame) -> None:
        """The value of the store that was just noted."""
        del access, frame
        if self._open is not None:
            self._open.indices = indices
            self._open.value = value if isinstance(value, (bool, int, float, tuple)) else None

    # ------------------------------------------------------------------------------------------------ Relax

    def before_binding(self, binding: relax.Binding) -> None:
        """A variable begins to be computed."""
        self._bindings.append(binding.var.name)

    def binding(self, binding: relax.Binding, value: object) -> None:
        """It has its value."""
        del binding, value
        self._bindings.pop()

    def after_destination(self, call: DestinationCall) -> None:
        """Record that an external function has written all its outputs."""
        callee = call.call.args[0]
        if not isinstance(callee, relax.ExternFunc) or not is_from_outside(self._module, call.call):
            return
        self.count += 1
        for tensor in call.outputs:
            if isinstance(tensor, Tensor):
                self._foreign(callee.symbol, tensor)

    def _foreign(self, symbol: str, tensor: Tensor) -> None:
        storage = self.storages.number(tensor.storage)
        self.written.add(storage)
        first, last = tensor.byte_offset, tensor.byte_offset + tensor.reach * tensor.itemsize
        for watched in {id(found): found for found in self._at.get(storage, {}).values()}.values():
            cell = watched.cell
            if first <= cell.start < last:
                event = Foreign(self.count, symbol, storage, cell.start, cell.size, tuple(self._bindings))
                watched.reach(self.count)
                watched.add(event, self._most)
