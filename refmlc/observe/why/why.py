"""`why`: the slice of one element, by running the program again and again.

A run records only the stores to watched cells. The first run watches the element and gives the stores that made it and
the cells that these loaded; the next run watches those cells; and so on, until no cell is left that a store wrote. So
the number of runs is the number of steps from buffer to buffer, whatever the size of the program, and memory holds only
the slice. A program does the same on the same arguments; if an external function does not, a load and its store
disagree, and the slice ends there.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import isnan

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.entry import entry_point
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ops.contract import Scalar
from refmlc.observe.copies import copies
from refmlc.observe.why import chains
from refmlc.observe.why.memory import ArgumentTensor, Storages, cell_of, element_name, index_in
from refmlc.observe.why.query import ElementPlace, ElementQuery, Finder, locate, tensors_in
from refmlc.observe.why.recorder import FOREVER, Enough, Recorder
from refmlc.observe.why.records import Event
from refmlc.observe.why.sites import Sites
from refmlc.observe.why.values import Cell, Origin, Reading, Slice, Source, Value, Write
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.relay import Relay
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.registry import DEFAULT, FunctionRegistry
from refmlc.vm import VirtualMachine, build


@dataclass(frozen=True, slots=True)
class SliceLimits:
    """Limits of a slice: `depth` runs, `writes` stores in all, `chain` stores of one element.

    In a chain of more than `width` stores, only the loads of the first, the last and the biggest term are followed.
    `max_steps` is the limit of each run (None: the default of `Budget`).
    """

    depth: int = 24
    writes: int = 50_000
    chain: int = 20_000
    width: int = 64
    max_steps: int | None = None


LIMITS = SliceLimits()


@dataclass(slots=True)
class Search:
    """The state of one `why`."""

    module: IRModule
    func: str
    args: Sequence[object]
    limits: SliceLimits
    registry: FunctionRegistry
    sites: Sites
    companion: Callable[[], Hooks] | None = None
    writes: dict[int, Write] = field(default_factory=dict)
    sources: dict[Reading, int | Origin] = field(default_factory=dict)
    tensors: tuple[ArgumentTensor, ...] = ()
    origins: list[str] = field(default_factory=list)
    written: set[int] = field(default_factory=set)
    answers: dict[Reading, tuple[Event, ...]] = field(default_factory=dict)
    runs: int = 0

    def find(self, query: ElementQuery) -> ElementPlace:
        """Locate the element in the first run. Fails: RM112, and as the program does."""
        recorder = Finder(self.module, self.sites, self._budget(), self._argument_demand(query), self.limits.chain)
        recorder.query = query
        value = self.run(recorder)
        self.answers = recorder.answers()
        return locate(recorder, query, self.tensors, value)

    def _argument_demand(self, query: ElementQuery) -> dict[Cell, set[int]]:
        """The queried cell if it is in an argument, so that the first run already watches it."""
        storages = Storages()
        for argument in named_tensors(self.module, self.func, copies(self.args), storages):
            if argument.name == query.name and len(query.index) == argument.tensor.ndim:
                return {cell_of(storages, argument.tensor, query.index): {FOREVER}}
        return {}

    def _budget(self) -> Budget:
        return Budget(max_steps=self.limits.max_steps) if self.limits.max_steps else Budget()

    def run(self, recorder: Recorder) -> object:
        """Run once on copies of the arguments; the result. Fails: as the program does."""
        self.runs += 1
        arguments = copies(self.args)
        self.tensors = tuple(named_tensors(self.module, self.func, arguments, recorder.storages))
        executable = build(self.module, "interp", registry=self.registry, budget=recorder.budget)
        hooks = recorder if self.companion is None else Relay([recorder, self.companion()])
        value: object = None
        with suppress(Enough):
            value = VirtualMachine(executable, hooks=hooks)[self.func](*arguments)
        self.origins = recorder.storages.origins
        self.written |= recorder.written
        return value

    def follow(self, first: Reading) -> str:
        """Run until every element is explained; the limit that ended it, in words, or empty."""
        demands: dict[Cell, set[int]] = {first[0]: {first[1]}}
        for _ in range(self.limits.depth):
            if not demands:
                return ""
            if len(self.writes) > self.limits.writes:
                return f"more than {self.limits.writes} stores"
            answers, self.answers = self.answers, {}
            if first not in answers:
                recorder = Recorder(self.module, self.sites, self._budget(), demands, self.limits.chain)
                self.run(recorder)
                answers = recorder.answers()
            demands = {}
            for (cell, time), events in answers.items():
                for load in self._take(cell, time, events):
                    if load.cell is not None:
                        demands.setdefault(load.cell, set()).add(load.time)
        return f"more than {self.limits.depth} steps from buffer to buffer" if demands else ""

    def _take(self, cell: Cell, time: int, events: tuple[Event, ...]) -> Iterable[Value]:
        """Keep the stores that made the value of `cell` at `time`; return the loads to follow."""
        writes = [self.writes.get(event.number) or chains.write_of(event, cell) for event in events]
        for write in writes:
            self.writes[write.number] = write
        if not writes:
            self.sources[cell, time] = self._origin(cell)
            return
        self.sources[cell, time] = writes[-1].number
        positions = chains.followed_positions(writes, self.limits.width)
        for place, write in enumerate(writes):
            for load in write.value.loads():
                assert load.cell is not None  # noqa: S101 - a load has one
                reading = (load.cell, load.time)
                if reading in self.sources:
                    continue
                if load.cell == cell and place and writes[place - 1].number <= load.time < write.number:
                    self.sources[reading] = self._source_of(load, writes[place - 1])
                elif load.cell.storage not in self.written:
                    self.sources[reading] = self._origin(load.cell)
                elif place in positions:
                    yield load

    def _source_of(self, load: Value, write: Write) -> int | Origin:
        if write.value.value is not None and not same_value(load.value, write.value.value):
            return Origin(Source.UNWATCHED, "changed by code that cannot be watched")
        return write.number

    def _origin(self, cell: Cell) -> Origin:
        """The origin of a cell that no store wrote."""
        for argument in self.tensors:
            index = index_in(argument.tensor, cell.start) if argument.storage == cell.storage else None
            if index is not None:
                return Origin(Source.ARGUMENT, element_name(argument.name, index))
        origin = self.origins[cell.storage] if 0 <= cell.storage < len(self.origins) else ""
        if origin == "a constant":
            return Origin(Source.CONSTANT, f"{origin}, element {cell.start // cell.size}")
        return Origin(Source.UNWATCHED, f"{origin or 'memory'}, element {cell.start // cell.size}")


@entry_point
def why(
    module: IRModule,
    func: str,
    args: Sequence[object],
    output: str = "",
    index: Sequence[int] = (),
    *,
    limits: SliceLimits = LIMITS,
    registry: FunctionRegistry = DEFAULT,
    companion: Callable[[], Hooks] | None = None,
) -> Slice:
    """Why element `index` of `output` has its value after `func` ran on `args`, which are not written to.

    `output`: a parameter, `result` (`result.0` of a tuple), a Relax variable, or an inner buffer; empty: the only
    result. `companion` makes further hooks for each run, which may end it by `Enough`. Fails: RM112 if the element does
    not exist, RM111, and as the program does.
    """
    if func not in module.functions:
        raise fail(
            BAD_USAGE, f"the module has no function `{func}`", None, f"its functions: {', '.join(module.functions)}"
        )
    search = Search(module, func, args, limits, registry, Sites(module), companion)
    place = search.find(ElementQuery(output, tuple(index)))
    cut = search.follow(place.reading)
    name = element_name(place.name, place.index)
    origin = search.sources.get(place.reading)
    if isinstance(origin, Origin) and place.value is None:
        search.sources[place.reading] = Origin(Source.UNINITIALISED, "never written")
    return Slice(func, name, place.value, place.dtype, place.reading, search.writes, search.sources, cut, search.runs)


def same_value(a: Scalar | None, b: Scalar | None) -> bool:
    """True for equal numbers and for two NaNs."""
    return a == b or (isinstance(a, float) and isinstance(b, float) and isnan(a) and isnan(b))


def named_tensors(module: IRModule, func: str, args: Sequence[object], storages: Storages) -> Iterable[ArgumentTensor]:
    """The tensors among the arguments, tuples flattened, numbered in their order."""
    function = module.functions[func]
    names: list[str] = []
    if isinstance(function, tir.PrimFunc):
        names = [function.buffer_map[var].name if var in function.buffer_map else var.name for var in function.params]
    elif isinstance(function, relax.Function):
        names = [var.name for var in function.params]
    for name, value in zip(names, args, strict=False):
        for part, tensor in tensors_in(name, value):
            yield ArgumentTensor(part, storages.number(tensor.storage), tensor)
