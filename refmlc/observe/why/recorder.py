"""The client of the hooks: counts the stores of a run and records those to watched cells (`records`).

| hook                          | effect                                                                           |
|-------------------------------|----------------------------------------------------------------------------------|
| `enter_function`, `allocated` | storages get their numbers                                                       |
| `before_stmt`                 | the capture of a store or a bind begins; the previous bind is complete           |
| `read_element`, `load`        | the load joins the capture, with the time                                        |
| `called`                      | the value of a call joins the capture                                            |
| `write_element`, `store`      | the store is counted, and recorded if the cell is watched                        |
| `before_binding` / `binding`  | the Relax variables that are being computed                                      |
| `after_destination`           | the outputs of an external function count as one store to all of them            |

A run ends early, by `Enough`, after the last time that a demand names.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from refmlc.lang.ir import IRModule, relax, tir
from refmlc.observe.addresses import element_size, first_byte
from refmlc.observe.why.memory import Storages
from refmlc.observe.why.records import (
    Capture,
    Event,
    ExecutedBind,
    ExternalWrite,
    LoadRecord,
    StoreRecord,
    WatchedCell,
    all_loads,
)
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
    """Every demanded time is past."""


@dataclass(slots=True)
class Level:
    """A call of a function: the capture of the statement being executed, the binds so far.

    Binds are by frame: each thread of a group has its own. `pending` is a bind whose capture is not complete.
    """

    capture: Capture | None = None
    pending: tuple[tir.Bind, Frame] | None = None
    binds: dict[tuple[int, tir.Var], ExecutedBind] = field(default_factory=dict)


class Recorder(Hooks):
    """Watches one run; of one chain the last `chain_limit` stores are kept."""

    def __init__(self, module: IRModule, sites: Sites, budget: Budget, demands: Demands, chain_limit: int) -> None:
        self.storages = Storages()
        self.sites = sites
        self.count = 0
        self.written: set[int] = set()
        self.cells = {cell: WatchedCell(cell, sorted(times)) for cell, times in demands.items()}
        self._module = module
        self.budget = budget
        self._chain_limit = chain_limit
        self._levels: list[Level] = [Level()]
        self._bindings: list[str] = []
        self._view: View | None = None
        self._offset = 0
        self._storage = 0
        self._open: StoreRecord | None = None
        self.place: tuple[View, int] | None = None
        self._last = max((watch.times[-1] for watch in self.cells.values()), default=FOREVER)
        self._at: dict[int, dict[int, WatchedCell]] = {}
        for cell, watch in self.cells.items():
            places = self._at.setdefault(cell.storage, {})
            places.update((byte, watch) for byte in range(cell.start, cell.start + cell.size))

    def answers(self) -> dict[tuple[Cell, int], tuple[Event, ...]]:
        """For each demanded cell and time the stores that made the value, in order; empty: not written before."""
        for watch in self.cells.values():
            watch.reach(FOREVER + 1)
        return {(cell, time): events for cell, watch in self.cells.items() for time, events in watch.answers.items()}

    # -------------------------------------------------------------------------------- functions, statements

    def enter_function(self, name: str, args: Sequence[object]) -> None:
        """Number the storages of the arguments."""
        del name
        self._levels.append(Level())
        for arg in args:
            if isinstance(arg, Tensor):
                self.storages.number(arg.storage)

    def leave_function(self, name: str, result: object) -> None:
        """Drop the state of the call."""
        del name, result
        self._levels.pop()

    def before_stmt(self, stmt: tir.Stmt, frame: Frame) -> None:
        """Begin a capture; a pending bind is complete now."""
        level = self._levels[-1]
        if level.pending is not None:
            self._finish_bind(level, *level.pending)
        kind = type(stmt)
        if kind is tir.BufferStore:
            level.capture = Capture([], [])
        elif isinstance(stmt, tir.Bind):
            level.capture = Capture([], [])
            level.pending = (stmt, frame)
        else:
            level.capture = None

    def _finish_bind(self, level: Level, stmt: tir.Bind, frame: Frame) -> None:
        """Keep the capture of a bind that was executed."""
        level.pending = None
        site = self.sites.find(stmt, frame)
        variables, binds = self._variables(site.names, frame)
        level.binds[id(frame), stmt.var] = ExecutedBind(site, level.capture or NOTHING, variables, binds)

    def allocated(self, buffer: tir.Buffer, view: View, frame: Frame) -> None:
        """Number the storage."""
        del buffer, frame
        self.storages.number(view.data.storage)

    def _variables(
        self, names: tuple[tir.Var, ...], frame: Frame
    ) -> tuple[dict[tir.Var, object], dict[tir.Var, ExecutedBind]]:
        layout, binds = frame[ACTIVATION].layout, self._levels[-1].binds
        variables = {var: frame[layout.slot(var)] for var in names if layout.knows(var)}
        return variables, {var: binds[key] for var in names if (key := (id(frame), var)) in binds}

    # ------------------------------------------------------------------------------------------------ loads

    def read_element(self, access: tir.BufferLoad, view: View, offset: int, frame: Frame) -> None:  # noqa: ARG002 - hot
        """Remember the place of the next load."""
        self._view, self._offset = view, offset

    def load(self, access: tir.BufferLoad, indices: tuple[int, ...], value: object, frame: Frame) -> None:  # noqa: ARG002 - hot
        """Add the load to the capture."""
        capture, view = self._levels[-1].capture, self._view
        if capture is not None and view is not None:
            capture.loads.append(LoadRecord(access, indices, value, view, self._offset, self.count))

    def called(self, call: tir.Call, value: object, frame: Frame) -> None:
        """Add the value of a call to the capture."""
        del frame
        capture = self._levels[-1].capture
        if capture is not None:
            capture.calls.append((call, value))

    # ----------------------------------------------------------------------------------------------- stores

    def write_element(self, access: tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        """Count the store; record it if it writes a watched cell."""
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
        hits = {id(watch): watch for byte in range(start, start + size) if (watch := places.get(byte)) is not None}
        if hits:
            self._open = record = self._record_store(access, frame, capture, position, storage, start, size)
            for watch in hits.values():
                watch.reach(self.count)
                watch.add(record, self._chain_limit)

    def _record_store(
        self,
        access: tir.BufferStore,
        frame: Frame,
        capture: Capture,
        position: int,
        storage: int,
        start: int,
        size: int,
    ) -> StoreRecord:
        site = self.sites.find(access, frame)
        variables, binds = self._variables(site.names, frame)
        record = StoreRecord(
            self.count,
            site,
            frame[ACTIVATION].function,
            capture,
            variables,
            binds,
            position,
            storage,
            start,
            size,
            site.loops(frame),
            site.axes(frame),
            tuple(self._bindings),
        )
        for load in all_loads(capture, binds):
            load.storage = self.storages.existing_number(load.view.data.storage)
        record.reads_itself = any(
            load.storage == storage
            and first_byte(load.view, load.offset) < start + size
            and start < first_byte(load.view, load.offset) + element_size(load.view)
            for load in all_loads(capture, binds)
        )
        return record

    def store(self, access: tir.BufferStore, indices: tuple[int, ...], value: object, frame: Frame) -> None:
        """Add the value to the store that was just recorded."""
        del access, frame
        if self._open is not None:
            self._open.indices = indices
            self._open.value = value if isinstance(value, (bool, int, float, tuple)) else None

    # ------------------------------------------------------------------------------------------------ Relax

    def before_binding(self, binding: relax.Binding) -> None:
        """Enter the computation of a Relax variable."""
        self._bindings.append(binding.var.name)

    def binding(self, binding: relax.Binding, value: object) -> None:
        """Leave it: the variable has its value."""
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
        for watch in {id(watch): watch for watch in self._at.get(storage, {}).values()}.values():
            cell = watch.cell
            if first <= cell.start < last:
                event = ExternalWrite(self.count, symbol, storage, cell.start, cell.size, tuple(self._bindings))
                watch.reach(self.count)
                watch.add(event, self._chain_limit)
