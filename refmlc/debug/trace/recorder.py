"""The client of the hooks: the common part of both runs. `full_recorder` and `sampled_recorder` decide what to keep.

| hook                               | becomes                                                                |
|------------------------------------|------------------------------------------------------------------------|
| `enter_function`, `leave_function` | `call`, `return`                                                       |
| `before_binding`, `binding`        | `bind`, `bound`                                                        |
| `around` the body of a loop        | `iter`; around a unit: the choice between keeping and omitting it      |
| `resume_thread`                    | `iter` of the loop over threads                                        |
| `begin_threads`, `release`         | turns, waits and copies of `threads`; what a copy has written, whole   |
| `enter_block`                      | `block`                                                                |
| `allocated`                        | `alloc`                                                                |
| `read_element`                     | `load`, one for each lane                                              |
| `write_element`, `store`           | `store`, or `forget`                                                   |
| `after_destination`                | the outputs of a function from outside, whole                          |
"""

from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from refmlc.debug.places import PlaceIndex
from refmlc.debug.session_data import Statistics
from refmlc.debug.tensors import statistics
from refmlc.debug.trace.events import NOWHERE, Contents, EventKind, EventSite, Trace, TracedBinding, TracedCall
from refmlc.debug.trace.memories import CallAllocations, Memories
from refmlc.debug.trace.threads import MOST_TURNS, ThreadRecorder
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.run.interp.graph.call_site import DestinationCall
from refmlc.run.interp.graph.calls import is_from_outside
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.tensorir.block_sites import BlockSite
from refmlc.run.interp.tensorir.elements import is_undef
from refmlc.run.interp.tensorir.frame import ACTIVATION, Frame, Run, Slot
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.tensorir.views import View
from refmlc.run.interp.threads.group import Thread
from refmlc.run.memory.cells import cells, shadow
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import kind_of

MOST_BYTES = 64 << 20  # of whole memories
AROUND = (tir.For, tir.While, tir.SBlockRealize, tir.SeqStmt, tir.IfThenElse, tir.AttrStmt)
GRID = ("blockIdx.x", "blockIdx.y", "blockIdx.z")
DEEPEST = 999  # the depth of an event that ends nothing


@dataclass(slots=True)
class OpenCall:
    """An active call and its allocations."""

    function: str
    row: int
    allocated: CallAllocations = field(default_factory=CallAllocations)


class TraceRecorder(Hooks, ABC):
    """Records one run. While `is_writing` holds, events of units are written, otherwise only counted."""

    def __init__(self, module: IRModule, function: str, only: frozenset[str] = frozenset()) -> None:
        """`only`: the functions and variables whose calls are watched; empty: all."""
        self.trace = Trace(function)
        self._only = only
        self._binding: list[str] = []  # what is being computed
        self.memories = Memories()
        self.places = PlaceIndex(module)
        self.is_writing = True
        self.unit = -1
        self._module = module
        self._bytes = 0
        self._sites: dict[tuple[int, EventKind], int] = {}
        self._loads: dict[int, int] = {}  # the sites of loads, of stores, by the node
        self._stores: dict[int, int] = {}
        self._blocks: dict[int, tuple[int, int]] = {}  # site and depth
        self._nodes: list[object] = []  # kept: sites know them by their ids
        self._levels: list[OpenCall] = []
        self.lanes = ThreadRecorder(lambda: self.step)
        self._target = (0, 0)  # address and lanes of the store that comes next

    # --------------------------------------------------------------------------------- the differences of the two runs

    @property
    @abstractmethod
    def step(self) -> int:
        """The number of the next event."""

    @property
    @abstractmethod
    def full(self) -> bool:
        """True when nothing is written any more."""

    @abstractmethod
    def _always(self, site: int, at: int) -> None:
        """Write an event that sampling never omits."""

    @abstractmethod
    def _cell(self, site: int, address: int, value: float) -> None:
        """Write a load or a store."""

    @abstractmethod
    def _omit(self, kind: EventKind, count: int) -> None:
        """Count `count` omitted events."""

    @abstractmethod
    def _opens(self, site: int, depth: int, slot: Slot[int] | None, block: BlockSite | None, frame: Frame) -> None:
        """Begin an iteration, with its variable in `slot`, or an instance of a block."""

    @abstractmethod
    def _unit(self, scope: Scope, stmt: tir.Stmt, run: Run) -> Run:
        """The run that replaces a unit."""

    @abstractmethod
    def _iteration(self, site: int, depth: int, slot: Slot[int] | None, run: Run) -> Run:
        """The run that replaces an iteration."""

    @abstractmethod
    def _fresh(self, site: int, depth: int, row: int) -> None:
        """Record the allocation of the buffer of row `row` of `tensors`."""

    @abstractmethod
    def _end_of_call(self) -> None:
        """Bring the tensors up to date: a call has ended."""

    @abstractmethod
    def _special(self, *, nan: bool) -> None:
        """The next event is a NaN or an infinity."""

    @abstractmethod
    def _changed(self, memory: int, storage: Storage, dtype: DType) -> None:
        """A store that is not kept changes this memory."""

    # ----------------------------------------------------------------------------------------------- sites

    def _site(self, node: object, kind: EventKind, make: Callable[[], EventSite]) -> int:
        key = (id(node), kind)
        number = self._sites.get(key)
        if number is None:
            number = self._sites[key] = len(self.trace.sites)
            self.trace.sites.append(make())
            self._nodes.append(node)
        return number

    def _depth(self, node: tir.Stmt, frame: Frame) -> int:
        func = frame[ACTIVATION].layout.func
        place = None if func is None else self.places.at(func, frame[ACTIVATION].function, node)
        return 0 if place is None else place.depth

    # ------------------------------------------------------------------------------------------------- functions

    def enter_function(self, name: str, args: Sequence[object]) -> None:
        """Record the call and its arguments."""
        row = len(self.trace.calls)
        if not self.full:
            call = TracedCall(name)
            for label, arg in zip(self._labels(name, len(args)), args, strict=False):
                self._add_value(call, label, arg, watched=not self.is_quiet(name, args))
            self.trace.calls.append(call)
        func = self._module.functions.get(name)
        site = self._site(
            func, EventKind.CALL, lambda: EventSite(EventKind.CALL, name, name, 0, getattr(func, "span", None))
        )
        self._always(site, row)
        self._levels.append(OpenCall(name, row))

    def is_quiet(self, name: str, args: Sequence[object]) -> bool:
        """True if the call is not selected by `only`: C may execute it."""
        del args
        names = self._only
        return bool(names) and name not in names and not (self._binding and self._binding[-1] in names)

    def _labels(self, name: str, count: int) -> list[str]:
        match self._module.functions.get(name):
            case tir.PrimFunc() as func:
                buffers = func.buffer_map
                return [buffers[var].name if var in buffers else var.name for var in func.params]
            case relax.Function() as func:
                return [var.name for var in func.params]
            case _:
                return [f"argument{number}" for number in range(count)]

    def _add_value(self, call: TracedCall, label: str, value: object, *, watched: bool) -> None:
        """Add a value to a call; tensors of an unwatched call get a text and no memory."""
        match value:
            case Tensor() if watched:
                call.tensors.append((label, self._tensor(label, value)))
            case tuple() if any(isinstance(part, Tensor) for part in value):
                for number, part in enumerate(value):
                    self._add_value(call, f"{label}.{number}", part, watched=watched)
            case bool() | int() | float() | str() | tuple():
                call.values.append((label, repr(value)))
            case _:
                call.values.append((label, kind_of(value)))

    def _tensor(self, name: str, tensor: Tensor) -> int:
        """The row of a tensor; the contents of a new memory are saved."""
        memory, new = self.memories.of_storage(tensor.storage, tensor.dtype)
        if new or self._only:  # what made it was not watched
            self._contents(memory, tensor.storage, tensor.dtype)
        return self.memories.tensor(name, tensor)

    def leave_function(self, name: str, result: object) -> None:
        """Record the end of the call."""
        del result
        self._end_of_call()
        level = self._levels.pop()
        self.memories.leave(level.allocated)
        func = self._module.functions.get(name)
        site = self._site(
            func, EventKind.RETURN, lambda: EventSite(EventKind.RETURN, name, name, 0, getattr(func, "span", None))
        )
        self._always(site, level.row)

    # -------------------------------------------------------------------------------------------------- contents

    def _contents(self, memory: int, storage: Storage, dtype: DType) -> None:
        """Save a whole memory, if there is room."""
        trace, row = self.trace, self.memories.rows[memory]
        if row.base == NOWHERE or self.full:
            return
        self._bytes += 9 * row.cells
        if self._bytes > MOST_BYTES or dtype.kind == "handle":
            trace.contents.append(Contents(len(trace), memory, None))
            return
        values, mask = _elements(storage, dtype.scalar, row.cells)
        trace.contents.append(Contents(len(trace), memory, values, mask))

    def after_destination(self, call: DestinationCall) -> None:
        """A function from outside has no stores: keep its outputs whole."""
        if self._only or not is_from_outside(self._module, call.call):
            return
        for output in call.outputs:
            if isinstance(output, Tensor):
                memory, _ = self.memories.of_storage(output.storage, output.dtype)
                self._contents(memory, output.storage, output.dtype)

    # -------------------------------------------------------------------------------------------------- bindings

    def before_binding(self, binding: relax.Binding) -> None:
        """Record the beginning of a binding."""
        self._binding.append(binding.var.name)
        self._always(self._binding_site(binding, EventKind.BIND), self._levels[-1].row if self._levels else 0)

    def binding(self, binding: relax.Binding, value: object) -> None:
        """The binding has its value."""
        numbers = statistics(value) if isinstance(value, Tensor) else None
        if not self.full:
            self.trace.bindings.append(self._bound(binding.var.name, value, numbers))
        if numbers is not None and numbers.nan:
            self._special(nan=True)
        self._always(self._binding_site(binding, EventKind.BOUND), len(self.trace.bindings) - 1)
        if self._binding:
            self._binding.pop()

    def _bound(self, name: str, value: object, counts: Statistics | None) -> TracedBinding:
        row = self._levels[-1].row if self._levels else 0
        call = self.trace.calls[row]
        before = len(call.tensors)
        self._add_value(call, name, value, watched=not self._only or name in self._only)
        tensors = tuple(tensor for _, tensor in call.tensors[before:])
        if counts is None:
            return TracedBinding(row, name, tensors, "" if tensors else call.values[-1][1])
        numbers = (counts.nan, counts.inf, counts.least, counts.greatest, counts.mean)
        return TracedBinding(row, name, tensors, "", counts.count, counts.initialised, *numbers)

    def _binding_site(self, binding: relax.Binding, kind: EventKind) -> int:
        function = self._levels[-1].function if self._levels else ""
        span = binding.span or binding.var.span
        return self._site(binding, kind, lambda: EventSite(kind, binding.var.name, function, 1, span))

    # ------------------------------------------------------------------------------------------------ statements

    def around(self, scope: Scope, stmt: tir.Stmt, run: Run) -> Run:
        """Report iterations; separate units."""
        if scope.func is None:
            return run
        place = self.places.at(scope.func, scope.function, stmt)
        if place is None:
            return run
        inner = run if isinstance(stmt, AROUND) else self._unit(scope, stmt, run)
        above = None if place.above is None else place.above.node
        if place.above is None or not isinstance(above, tir.For | tir.While):
            return inner
        loop, depth, function = above, place.above.depth + 1, scope.function
        name = loop.loop_var.name if isinstance(loop, tir.For) else "while"
        site = self._site(loop, EventKind.ITER, lambda: EventSite(EventKind.ITER, name, function, depth, loop.span))
        return self._iteration(site, depth, scope.slot(loop.loop_var) if isinstance(loop, tir.For) else None, inner)

    def begin_threads(self, loop: tir.For, threads: Sequence[Thread]) -> None:
        """Record the turns of the threads."""
        self.lanes.begin(loop, threads, self._indices(loop, threads))

    def _indices(self, loop: tir.For, threads: Sequence[Thread]) -> list[int]:
        """The indices of the block of these threads."""
        indices = dict.fromkeys(GRID, -1)
        frame = threads[0].frame if threads else None
        func = None if frame is None else frame[ACTIVATION].layout.func
        if frame is None or func is None:
            return list(indices.values())
        layout, place = frame[ACTIVATION].layout, self.places.at(func, frame[ACTIVATION].function, loop)
        for around in () if place is None else place.around():
            match around.node:
                case tir.For(thread=tir.ThreadVar(tag=tag), loop_var=var) if tag in indices and layout.knows(var):
                    index = frame[layout.slot(var)]
                    indices[tag] = index if isinstance(index, int) else -1
                case _:
                    pass
        return list(indices.values())

    def release(self, token: object, frame: Frame) -> None:
        """A thread arrives at a barrier."""
        del frame
        self.lanes.ends.signal(token, self.step)

    def _landed(self) -> None:
        """Save the memory that complete copies have written: they have no stores."""
        for copy in self.lanes.look():
            for move in copy.moves:
                storage = move.destination.storage
                for memory, dtype in self.memories.known(storage):
                    self._contents(memory, storage, dtype)

    def resume_thread(self, loop: tir.For, frame: Frame) -> None:
        """Record the iteration of the thread that continues."""
        layout = frame[ACTIVATION].layout
        if not layout.knows(loop.loop_var):
            return
        depth, function = self._depth(loop, frame) + 1, frame[ACTIVATION].function
        name = loop.loop_var.name
        site = self._site(loop, EventKind.ITER, lambda: EventSite(EventKind.ITER, name, function, depth, loop.span))
        slot: Slot[int] = layout.slot(loop.loop_var)  # type: ignore[assignment]  # a loop variable is an int
        self._opens(site, self.trace.sites[site].depth, slot, None, frame)

    def enter_block(self, site: BlockSite, frame: Frame) -> None:
        """An instance of a block begins."""
        entry = self._blocks.get(id(site)) or self._block(site, frame)
        self._opens(entry[0], entry[1], None, site, frame)

    def _block(self, site: BlockSite, frame: Frame) -> tuple[int, int]:
        node, function = site.node, frame[ACTIVATION].function
        axes = tuple(axis.var.name for axis in node.block.iter_vars)
        event_site = EventSite(
            EventKind.BLOCK, node.block.name, function, self._depth(node, frame) + 1, node.span, axes
        )
        number = self._site(node, EventKind.BLOCK, lambda: event_site)
        self._nodes.append(site)
        self._blocks[id(site)] = entry = (number, self.trace.sites[number].depth)
        return entry

    def allocated(self, buffer: tir.Buffer, view: View, frame: Frame) -> None:
        """A buffer gets storage, fresh or allocated by another thread."""
        level = self._levels[-1]
        memory, again = self.memories.allocate(buffer, view, id(frame), level.allocated)
        if again:
            return
        row = self.memories.view(view, memory)
        if not self.full and (buffer.name, row) not in self.trace.calls[level.row].tensors:
            self.trace.calls[level.row].tensors.append((buffer.name, row))
        depth = self._depth_of_buffer(buffer, frame)
        event_site = EventSite(EventKind.ALLOC, buffer.name, level.function, depth, buffer.span)
        self._fresh(self._site(buffer, EventKind.ALLOC, lambda: event_site), depth, row)

    def _depth_of_buffer(self, buffer: tir.Buffer, frame: Frame) -> int:
        """The depth beside the first statement that sees the buffer."""
        site = self._sites.get((id(buffer), EventKind.ALLOC))
        if site is not None:
            return self.trace.sites[site].depth
        func = frame[ACTIVATION].layout.func
        for place in () if func is None else self.places.of(func, frame[ACTIVATION].function):
            match place.node:
                case tir.SBlockRealize(block=block) if any(buffer is allocated for allocated in block.alloc_buffers):
                    return place.depth + 2
                case tir.AllocBuffer(buffer=allocated) | tir.DeclBuffer(buffer=allocated) if allocated is buffer:
                    return place.depth + 1
                case _:
                    pass
        return DEEPEST

    # -------------------------------------------------------------------------------------------------- elements

    def read_element(self, access: tir.BufferLoad, view: View, offset: int, frame: Frame) -> None:
        """Record the load, if the element is initialised."""
        if self.lanes.open:
            self._landed()
        address, lanes, _ = self.memories.place(view)
        first = offset * lanes
        try:
            if not view.shadow[first] or (lanes > 1 and not all(view.shadow[first + lane] for lane in range(lanes))):
                return
            value = view.cells[first]
        except IndexError:
            return
        site = self._loads.get(id(access))
        if site is None:
            site = self._loads[id(access)] = self._access(access, EventKind.LOAD, frame)
        if not self.is_writing:
            self._omit(EventKind.LOAD, lanes)
            return
        for lane in range(lanes):
            if lane:
                value = view.cells[first + lane]
            where = NOWHERE if address == NOWHERE else address + first + lane
            self._cell(site, where, value if isinstance(value, float | int) else 0.0)

    def write_element(self, access: tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        """Remember the place of the next store."""
        address, lanes, memory = self.memories.place(view)
        first = NOWHERE if address == NOWHERE else address + offset * lanes
        self._target = (first, lanes)
        if not self.is_writing:
            self._changed(memory, view.data.storage, view.buffer.dtype)
        if is_undef(access.value):
            self._write_lanes(self._access(access, EventKind.FORGET, frame), EventKind.FORGET, (0.0,) * lanes)

    def store(self, access: tir.BufferStore, indices: tuple[int, ...], value: object, frame: Frame) -> None:
        """Record the store with its value."""
        del indices
        site = self._stores.get(id(access))
        if site is None:
            site = self._stores[id(access)] = self._access(access, EventKind.STORE, frame)
        if isinstance(value, tuple):
            self._write_lanes(site, EventKind.STORE, value)
            return
        if isinstance(value, float) and value - value != 0:  # true for NaN and infinities
            self._special(nan=value != value)  # noqa: PLR0124 - quick
        if self.is_writing:
            self._cell(site, self._target[0], value if isinstance(value, float | int) else 0.0)
        else:
            self._omit(EventKind.STORE, 1)

    def _write_lanes(self, site: int, kind: EventKind, values: Sequence[object]) -> None:
        address = self._target[0]
        for lane, value in enumerate(values):
            if isinstance(value, float) and value - value != 0:  # true for NaN and infinities
                self._special(nan=value != value)  # noqa: PLR0124 - quick
            if self.is_writing:
                where = NOWHERE if address == NOWHERE else address + lane
                self._cell(site, where, value if isinstance(value, float | int) else 0.0)
            else:
                self._omit(kind, 1)

    def _access(self, access: tir.BufferLoad | tir.BufferStore, kind: EventKind, frame: Frame) -> int:
        function, name = frame[ACTIVATION].function, access.buffer.name
        place = self.places.of_access(access)
        depth = DEEPEST if place is None else place.depth + 1
        return self._site(access, kind, lambda: EventSite(kind, name, function, depth, access.span))

    # -------------------------------------------------------------------------------------------------- the end

    def finish(self) -> Trace:
        """The complete trace after the run."""
        trace, memories = self.trace, self.memories
        if trace.failure is not None:
            self._end_of_call()
            function = self._levels[-1].function if self._levels else ""
            name, span = trace.failure.code.id, trace.failure.span
            self._always(
                self._site(None, EventKind.FAIL, lambda: EventSite(EventKind.FAIL, name, function, DEEPEST, span)), 0
            )
        trace.memories, trace.tensors = memories.rows, memories.tensors
        self.lanes.finish()
        trace.threads = self.lanes.threads
        if trace.threads.cut:
            trace.notes.append(f"threads by time are shown for their first {MOST_TURNS:,} turns or copies")
        trace.total = self.step
        if self._only:
            names = ", ".join(f"`{name}`" for name in sorted(self._only))
            trace.notes.append(f"only calls of {names} are recorded; other calls have only results")
        if memories.without_address:
            trace.notes.append(
                f"{memories.without_address} tensors are too large to show; their events have no address"
            )
        if any(contents.values is None for contents in trace.contents):
            trace.notes.append(
                "some contents are too large to keep: cells that no event of this trace wrote are unknown"
            )
        return trace


def _elements(storage: Storage, dtype: DType, count: int) -> "tuple[array[float], bytes]":
    """All cells of a storage as numbers, 0 where uninitialised, and the mask of initialised ones."""
    content, marks = cells(storage, dtype, 0, count), shadow(storage, dtype, 0, count)
    values = array("d")
    if isinstance(content, memoryview) and isinstance(marks, memoryview | bytearray):
        mask = np.frombuffer(marks, np.uint8, count) != 0
        values.frombytes(np.where(mask, np.asarray(content).astype(np.float64), 0.0).tobytes())
        return values, mask.tobytes()
    flags = bytes(bool(marks[cell]) for cell in range(count))
    values.extend(float(content[cell]) if flags[cell] else 0.0 for cell in range(count))
    return values, flags
