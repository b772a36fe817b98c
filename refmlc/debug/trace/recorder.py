"""The client of the hooks. A unit is a statement that holds no other: with its loads it is kept or omitted as a whole.

| hook                           | becomes                                                             |
|--------------------------------|---------------------------------------------------------------------|
| `enter_function`, `leave_function` | `call`, `return`                                                 |
| `before_binding`, `binding`    | `bind`, `bound`                                                     |
| `around` the body of a loop     | `iter`; around a unit: the choice whether it is kept                 |
| `resume_thread`                | `iter` of the loop over threads                                     |
| `enter_block`                  | `block`                                                             |
| `allocated`                    | `alloc`                                                             |
| `read_element`, `load`         | `load`, one for each lane                                           |
| `write_element`, `store`       | `store`, or `forget`                                                |
| `after_destination`            | the outputs of a function from outside, whole                        |
"""

from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isinf, isnan

from refmlc.debug.places import Place, Places
from refmlc.debug.tensors import statistics
from refmlc.debug.trace.events import NOWHERE, Binding, Call, Contents, Kind, Site, Trace
from refmlc.debug.trace.memories import Allocated, Memories
from refmlc.interp.hooks import Hooks
from refmlc.interp.tensorir.access import is_undef
from refmlc.interp.tensorir.frame import ACTIVATION, Frame, Run
from refmlc.interp.tensorir.instances import BlockSite
from refmlc.interp.tensorir.scope import Scope
from refmlc.interp.tensorir.views import View
from refmlc.ir import IRModule, relax, tir
from refmlc.ir.node import Node
from refmlc.runtime.cells import cells, shadow
from refmlc.runtime.storage import Storage
from refmlc.runtime.tensor import Tensor
from refmlc.runtime.values import kind_of

MOST_BYTES = 64 << 20  # of whole memories
AROUND = (tir.For, tir.While, tir.SBlockRealize, tir.SeqStmt, tir.IfThenElse, tir.AttrStmt)
DEEPEST = 999  # of what ends nothing that is open


@dataclass(frozen=True, slots=True)
class Sampling:
    """Every `stride`-th unit is kept, and those of `units`."""

    stride: int = 1
    units: frozenset[int] = frozenset()


@dataclass(slots=True)
class Level:
    """A call that is being executed. `waiting`: loops and blocks entered and not written, by depth."""

    function: str
    row: int
    allocated: Allocated = field(default_factory=Allocated)
    waiting: dict[int, tuple[int, int, int, float]] = field(default_factory=dict)


class Recorder(Hooks):
    """Watches one run; beyond `most` kept events it only counts (`over`)."""

    def __init__(self, module: IRModule, function: str, most: int, sampling: Sampling) -> None:
        """Nothing happened yet."""
        self.trace = Trace(function, stride=sampling.stride)
        self.memories = Memories()
        self.places = Places(module)
        self.over = False
        self.nan_unit = self.inf_unit = -1
        self.unit = -1
        self._module = module
        self._most = most
        self._sampling = sampling
        self._all = sampling.stride == 1
        self._keep = True
        self.steps = 0
        self._bytes = 0
        self._sites: dict[tuple[int, Kind], int] = {}
        self._nodes: list[Node] = []  # kept: sites know them by their ids
        self._seen: list[int] = []  # how often, by site
        self._levels: list[Level] = []
        self._address = self._lanes = self._memory = 0
        self._stale: dict[int, tuple[Storage, Tensor | View]] = {}
        self._written: dict[int, View] = {}

    # ------------------------------------------------------------------------------------------- writing events

    def _site(self, node: Node | None, kind: Kind, make: Callable[[], Site]) -> int:
        key = (id(node), kind)
        found = self._sites.get(key)
        if found is None:
            found = self._sites[key] = len(self.trace.sites)
            self.trace.sites.append(make())
            self._seen.append(0)
            if node is not None:
                self._nodes.append(node)
        return found

    def _write(self, step: int, site: int, at: int, value: float) -> None:
        trace = self.trace
        if len(trace.site) >= self._most and self._all:
            self.over = True
            return
        if not self._all:
            trace.steps.append(step)
        trace.site.append(site)
        trace.at.append(at)
        trace.value.append(value)

    def _always(self, site: int, at: int, value: float = 0.0) -> None:
        """An event that no sampling omits."""
        self._flush()
        self._seen[site] += 1
        self._write(self.steps, site, at, value)
        self.steps += 1

    def _opens(self, site: int, depth: int, at: int, value: float) -> None:
        """An event that is kept when something in it is."""
        self._seen[site] += 1
        if self._all:
            if not self.over:
                self._write(self.steps, site, at, value)
        else:
            waiting = self._levels[-1].waiting
            for deeper in [one for one in waiting if one >= depth]:
                del waiting[deeper]
            waiting[depth] = (self.steps, site, at, value)
        self.steps += 1

    def _flush(self) -> None:
        if self._all:
            return
        for level in self._levels:
            for _, event in sorted(level.waiting.items()):
                self._write(*event)
            level.waiting.clear()

    def _cell(self, site: int, address: int, value: float) -> None:
        """A load or a store."""
        self._seen[site] += 1
        if self._keep and not self.over:
            if not self._all:
                self._flush()
            self._write(self.steps, site, address, value)
        self.steps += 1

    # ------------------------------------------------------------------------------------------------- functions

    def enter_function(self, name: str, args: Sequence[object]) -> None:
        """A call begins."""
        call = Call(name)
        for label, arg in zip(self._labels(name, len(args)), args, strict=False):
            self._named(call, label, arg)
        row = len(self.trace.calls)
        self.trace.calls.append(call)
        func = self._module.functions.get(name)
        site = self._site(func, Kind.CALL, lambda: Site(Kind.CALL, name, name, 0, getattr(func, "span", None)))
        self._always(site, row)
        self._levels.append(Level(name, row))

    def _labels(self, name: str, count: int) -> list[str]:
        match self._module.functions.get(name):
            case tir.PrimFunc() as func:
                buffers = func.buffer_map
                return [buffers[var].name if var in buffers else var.name for var in func.params]
            case relax.Function() as func:
                return [var.name for var in func.params]
            case _:
                return [f"argument{number}" for number in range(count)]

    def _named(self, call: Call, label: str, value: object) -> None:
        match value:
            case Tensor():
                call.tensors.append((label, self._tensor(label, value)))
            case tuple() if any(isinstance(one, Tensor) for one in value):
                for number, one in enumerate(value):
                    self._named(call, f"{label}.{number}", one)
            case bool() | int() | float() | str() | tuple():
                call.values.append((label, repr(value)))
            case _:
                call.values.append((label, kind_of(value)))

    def _tensor(self, name: str, tensor: Tensor) -> int:
        """The row of a tensor, whose contents are taken when its memory is new."""
        memory, new = self.memories.of_storage(tensor.storage, tensor.dtype)
        if new:
            self._contents(memory, tensor.storage, tensor)
        return self.memories.tensor(name, tensor)

    def leave_function(self, name: str, result: object) -> None:
        """It is over."""
        del result
        self._refresh()
        level = self._levels.pop()
        self.memories.leave(level.allocated)
        func = self._module.functions.get(name)
        site = self._site(func, Kind.RETURN, lambda: Site(Kind.RETURN, name, name, 0, getattr(func, "span", None)))
        self._always(site, level.row)

    # -------------------------------------------------------------------------------------------------- contents

    def _contents(self, memory: int, storage: Storage, seen: Tensor | View) -> None:
        """All of a memory, as far as there is room for it."""
        row = self.trace, self.memories.rows[memory]
        trace, found = row
        if found.base == NOWHERE or self.over:
            return
        dtype = seen.dtype if isinstance(seen, Tensor) else seen.buffer.dtype
        self._bytes += 9 * found.cells
        if self._bytes > MOST_BYTES or dtype.kind == "handle":
            trace.contents.append(Contents(len(trace), memory, None))
            return
        inside, known = cells(storage, dtype.scalar, 0, found.cells), shadow(storage, dtype.scalar, 0, found.cells)
        mask = bytes(bool(known[cell]) for cell in range(found.cells))
        values = array("d", [float(inside[cell]) if mask[cell] else 0.0 for cell in range(found.cells)])
        trace.contents.append(Contents(len(trace), memory, values, mask))

    def _refresh(self) -> None:
        """Take whole the memories that omitted stores changed."""
        for memory, (storage, seen) in self._stale.items():
            self._contents(memory, storage, seen)
        self._stale.clear()

    def after_destination(
        self,
        call: relax.Call,
        function: Callable[[Sequence[object]], object],
        args: Sequence[object],
        outputs: Sequence[object],
    ) -> None:
        """What a function from outside wrote has no stores."""
        del args
        callee = call.args[0] if call.args else None
        if isinstance(callee, tir.GlobalVar) and isinstance(self._module.functions.get(callee.name), tir.PrimFunc):
            return
        del function
        for output in outputs:
            if isinstance(output, Tensor):
                memory, _ = self.memories.of_storage(output.storage, output.dtype)
                self._contents(memory, output.storage, output)

    # -------------------------------------------------------------------------------------------------- bindings

    def before_binding(self, binding: relax.Binding) -> None:
        """A binding begins."""
        self._always(self._binding_site(binding, Kind.BIND), self._levels[-1].row if self._levels else 0)

    def binding(self, binding: relax.Binding, value: object) -> None:
        """It has its value."""
        row = self._levels[-1].row if self._levels else 0
        name = binding.var.name
        call = self.trace.calls[row]
        before = len(call.tensors)
        self._named(call, name, value)
        tensors = tuple(tensor for _, tensor in call.tensors[before:])
        if isinstance(value, Tensor):
            found = statistics(value)
            numbers = (found.count, found.initialised, found.nan, found.inf, found.least, found.greatest, found.mean)
            self.trace.bindings.append(Binding(row, name, tensors, "", *numbers))
            if found.nan:
                self._special(nan=True)
        else:
            self.trace.bindings.append(Binding(row, name, tensors, "" if tensors else call.values[-1][1]))
        self._always(self._binding_site(binding, Kind.BOUND), len(self.trace.bindings) - 1)

    def _binding_site(self, binding: relax.Binding, kind: Kind) -> int:
        function = self._levels[-1].function if self._levels else ""
        span = binding.span or binding.var.span
        return self._site(binding, kind, lambda: Site(kind, binding.var.name, function, 1, span))

    def _special(self, *, nan: bool) -> None:
        """The first NaN or infinity."""
        trace = self.trace
        if nan and trace.first_nan is None:
            trace.first_nan, self.nan_unit = self.steps, self.unit
        elif not nan and trace.first_inf is None:
            trace.first_inf, self.inf_unit = self.steps, self.unit

    # ------------------------------------------------------------------------------------------------ statements

    def around(self, scope: Scope, stmt: tir.Stmt, run: Run) -> Run:
        """Tell of iterations; choose units."""
        if scope.func is None:
            return run
        place = self.places.at(scope.func, scope.function, stmt)
        if place is None:
            return run
        inner = run if isinstance(stmt, AROUND) else self._unit(run)
        above = None if place.above is None else place.above.node
        if isinstance(above, tir.For | tir.While):
            return self._iteration(scope, above, place.above, inner)
        return inner

    def _unit(self, run: Run) -> Run:
        stride, units = self._sampling.stride, self._sampling.units

        def unit(frame: Frame) -> None:
            self.unit += 1
            self._keep = stride == 1 or self.unit % stride == 0 or self.unit in units
            run(frame)

        return unit

    def _iteration(self, scope: Scope, loop: tir.For | tir.While, place: Place | None, run: Run) -> Run:
        depth = 1 if place is None else place.depth + 1
        name = loop.loop_var.name if isinstance(loop, tir.For) else "while"
        site = self._site(loop, Kind.ITER, lambda: Site(Kind.ITER, name, scope.function, depth, loop.span))
        if isinstance(loop, tir.While):

            def again(frame: Frame) -> None:
                self._opens(site, depth, 0, 0.0)
                run(frame)

            return again
        slot = scope.layout.slot(loop.loop_var)

        def iteration(frame: Frame) -> None:
            self._opens(site, depth, 0, frame[slot])  # type: ignore[arg-type]  # a loop variable is an int
            run(frame)

        return iteration

    def resume_thread(self, loop: tir.For, frame: Frame) -> None:
        """Another thread goes on."""
        layout = frame[ACTIVATION].layout
        if not layout.knows(loop.loop_var):
            return
        value = frame[layout.slot(loop.loop_var)]
        depth, function = self._depth(loop, frame) + 1, frame[ACTIVATION].function
        name = loop.loop_var.name
        site = self._site(loop, Kind.ITER, lambda: Site(Kind.ITER, name, function, depth, loop.span))
        self._opens(site, self.trace.sites[site].depth, 0, float(value) if isinstance(value, int) else 0.0)

    def enter_block(self, site: BlockSite, frame: Frame) -> None:
        """An instance of a block begins."""
        node, function = site.node, frame[ACTIVATION].function
        axes = tuple(axis.var.name for axis in node.block.iter_vars)
        number = self._sites.get((id(node), Kind.BLOCK))
        if number is None:
            depth = self._depth(node, frame) + 1
            made = Site(Kind.BLOCK, node.block.name, function, depth, node.span, axes)
            number = self._site(node, Kind.BLOCK, lambda: made)
        first = len(self.trace.ints)
        if not self.over:
            self.trace.ints.extend(site.values(frame))
        self._opens(number, self.trace.sites[number].depth, first, 0.0)

    def _depth(self, node: tir.Stmt, frame: Frame) -> int:
        func = frame[ACTIVATION].layout.func
        place = None if func is None else self.places.at(func, frame[ACTIVATION].function, node)
        return 0 if place is None else place.depth

    def allocated(self, buffer: tir.Buffer, view: View, frame: Frame) -> None:
        """A buffer has fresh storage, or storage that another thread has allocated."""
        level = self._levels[-1]
        storage = view.data.storage
        again = str(buffer.dtype.scalar) in self.memories._names(storage)  # noqa: SLF001 - of this package
        memory = self.memories.allocate(buffer, view, id(frame), level.allocated)
        if again:
            return
        self._stale.pop(memory, None)
        row = self.memories.view(view, memory)
        call = self.trace.calls[level.row]
        if (buffer.name, row) not in call.tensors:
            call.tensors.append((buffer.name, row))
        function = level.function
        site = self._site(buffer, Kind.ALLOC, lambda: Site(Kind.ALLOC, buffer.name, function, DEEPEST, buffer.span))
        self._always(site, row)

    # -------------------------------------------------------------------------------------------------- elements

    def read_element(self, access: tir.BufferLoad, view: View, offset: int, frame: Frame) -> None:  # noqa: ARG002 - hot
        """Remember where the load is that comes next."""
        first, lanes, self._memory = self.memories.place(view)
        self._lanes = lanes
        self._address = NOWHERE if first == NOWHERE else first + offset * lanes

    def load(self, access: tir.BufferLoad, indices: tuple[int, ...], value: object, frame: Frame) -> None:  # noqa: ARG002 - hot
        """It was read."""
        site = self._sites.get((id(access), Kind.LOAD))
        if site is None:
            site = self._access(access, Kind.LOAD, frame)
        self._lanes_of(site, value)

    def write_element(self, access: tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        """Remember where the store is that comes next."""
        first, self._lanes, self._memory = self.memories.place(view)
        self._address = NOWHERE if first == NOWHERE else first + offset * self._lanes
        if not self._keep:
            self._stale[self._memory] = (view.data.storage, view)
        if is_undef(access.value):
            site = self._access(access, Kind.FORGET, frame)
            for lane in range(self._lanes):
                self._cell(site, NOWHERE if self._address == NOWHERE else self._address + lane, 0.0)

    def store(self, access: tir.BufferStore, indices: tuple[int, ...], value: object, frame: Frame) -> None:  # noqa: ARG002 - hot
        """The value is known."""
        site = self._sites.get((id(access), Kind.STORE))
        if site is None:
            site = self._access(access, Kind.STORE, frame)
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, float) and (one != one or isinf(one)):  # noqa: PLR0124 - quick
                self._special(nan=isnan(one))
        self._lanes_of(site, value)

    def _lanes_of(self, site: int, value: object) -> None:
        if isinstance(value, float | int):
            self._cell(site, self._address, value)
            return
        for lane, one in enumerate(value if isinstance(value, tuple) else (0.0,)):
            address = NOWHERE if self._address == NOWHERE else self._address + lane
            self._cell(site, address, one if isinstance(one, float | int) else 0.0)

    def _access(self, access: tir.BufferLoad | tir.BufferStore, kind: Kind, frame: Frame) -> int:
        function, name = frame[ACTIVATION].function, access.buffer.name
        place = self.places.accessing(access)
        depth = DEEPEST if place is None else place.depth + 1
        return self._site(access, kind, lambda: Site(kind, name, function, depth, access.span))

    # -------------------------------------------------------------------------------------------------- the end

    def finish(self) -> Trace:
        """The trace, when the run is over."""
        trace, memories = self.trace, self.memories
        if trace.failure is not None:
            self._refresh()
            function = self._levels[-1].function if self._levels else ""
            name, span = trace.failure.code.id, trace.failure.span
            site = self._site(None, Kind.FAIL, lambda: Site(Kind.FAIL, name, function, DEEPEST, span))
            self._always(site, 0)
        trace.memories, trace.tensors = memories.rows, memories.tensors
        trace.total = self.steps
        counted: Counter[str] = Counter()
        for site_, times in zip(trace.sites, self._seen, strict=True):
            counted[site_.kind.value] += times
        trace.counts = dict(counted)
        if memories.missing:
            trace.notes.append(f"{memories.missing} tensors are too large to be shown; their events have no address")
        if any(one.values is None for one in trace.contents):
            trace.notes.append("some contents are too large to be kept: what no event of this trace wrote is not known")
        return trace
