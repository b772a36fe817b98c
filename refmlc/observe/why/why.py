"""`why`: the slice of one element, by running the program again and again.

A run logs nothing but stores to watched cells. The first run with the element watched gives the stores that made it,
and the cells they loaded; these are watched in the next run; and so on, until nothing is left that any store wrote.
So there are as many runs as there are steps from buffer to buffer, however many elements the program has, and memory
holds the slice only. Programs that are given the same arguments do the same each time; where a function from outside
does not, a load and the store it saw disagree, and the slice ends there.
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
from refmlc.observe.why import chains
from refmlc.observe.why.copies import copies
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
    """What ends a slice: `depth` runs, `writes` stores in all, `chain` stores of one element.

    Of a chain of more than `width` stores, the loads of the first, the last and the biggest term alone are followed.
    `max_steps` is for each run (None: the budget's own).
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
    held: tuple[ArgumentTensor, ...] = ()
    origins: list[str] = field(default_factory=list)
    written: set[int] = field(default_factory=set)
    known: dict[Reading, tuple[Event, ...]] = field(default_factory=dict)
    runs: int = 0

    def find(self, asked: ElementQuery) -> ElementPlace:
        """The first run: where the element is. Fails: RM112, and as the program does."""
        recorder = Finder(self.module, self.sites, self._budget(), self._guessed(asked), self.limits.chain)
        recorder.asked = asked
        value = self.run(recorder)
        self.known = recorder.answers()
        return locate(recorder, asked, self.held, value)

    def _guessed(self, asked: ElementQuery) -> dict[Cell, set[int]]:
        """The cell, where it is an argument's: then the first run watches it already."""
        storages = Storages()
        for held in named_tensors(self.module, self.func, copies(self.args), storages):
            if held.name == asked.name and len(asked.index) == held.tensor.ndim:
                return {cell_of(storages, held.tensor, asked.index): {FOREVER}}
        return {}

    def _budget(self) -> Budget:
        return Budget(max_steps=self.limits.max_steps) if self.limits.max_steps else Budget()

    def run(self, recorder: Recorder) -> object:
        """One run, on copies of the arguments; its value. Fails as the program does."""
        self.runs += 1
        given = copies(self.args)
        self.held = tuple(named_tensors(self.module, self.func, given, recorder.storages))
        executable = build(self.module, "interp", registry=self.registry, budget=recorder.budget)
        hooks = recorder if self.companion is None else Relay([recorder, self.companion()])
        value: object = None
        with suppress(Enough):
            value = VirtualMachine(executable, hooks=hooks)[self.func](*given)
        self.origins = recorder.storages.origins
        self.written |= recorder.written
        return value

    def follow(self, first: Reading) -> str:
        """Run until no element is left to explain; the reason for the end, in words."""
        wanted: dict[Cell, set[int]] = {first[0]: {first[1]}}
        for _ in range(self.limits.depth):
            if not wanted:
                return ""
            if len(self.writes) > self.limits.writes:
                return f"more than {self.limits.writes} stores"
            answers, self.known = self.known, {}
            if first not in answers:
                recorder = Recorder(self.module, self.sites, self._budget(), wanted, self.limits.chain)
                self.run(recorder)
                answers = recorder.answers()
            wanted = {}
            for (cell, time), events in answers.items():
                for load in self._take(cell, time, events):
                    if load.cell is not None:
                        wanted.setdefault(load.cell, set()).add(load.time)
        return f"more than {self.limits.depth} steps from buffer to buffer" if wanted else ""

    def _take(self, cell: Cell, time: int, events: tuple[Event, ...]) -> Iterable[Value]:
        """Keep the stores that made the value of `cell` at `time`; return the loads to follow."""
        made = [self.writes.get(event.number) or chains.write_of(event, cell) for event in events]
        for write in made:
            self.writes[write.number] = write
        if not made:
            self.sources[cell, time] = self._origin(cell)
            return
        self.sources[cell, time] = made[-1].number
        followed = chains.followed(made, self.limits.width)
        for place, write in enumerate(made):
            for load in write.value.loads():
                assert load.cell is not None  # noqa: S101 - a load has one
                reading = (load.cell, load.time)
                if reading in self.sources:
                    continue
                if load.cell == cell and place and made[place - 1].number <= load.time < write.number:
                    self.sources[reading] = self._seen(load, made[place - 1])
                elif load.cell.storage not in self.written:
                    self.sources[reading] = self._origin(load.cell)
                elif place in followed:
                    yield load

    def _seen(self, load: Value, write: Write) -> int | Origin:
        if write.value.value is not None and not same(load.value, write.value.value):
            return Origin(Source.UNWATCHED, "changed by code that cannot be watched")
        return write.number

    def _origin(self, cell: Cell) -> Origin:
        """The name of a cell that no store wrote."""
        for held in self.held:
            index = index_in(held.tensor, cell.start) if held.storage == cell.storage else None
            if index is not None:
                return Origin(Source.ARGUMENT, element_name(held.name, index))
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

    `output`: a parameter, `result` (`result.0` of a tuple), a variable of Relax, or a buffer inside; empty: the only
    result. `companion` makes hooks that watch each run beside the recorder; they may end it by `Enough`. Fails: RM112
    if the element does not exist, RM111, and the failures of the program.
    """
    if func not in module.functions:
        raise fail(
            BAD_USAGE, f"the module has no function `{func}`", None, f"its functions: {', '.join(module.functions)}"
        )
    search = Search(module, func, args, limits, registry, Sites(module), companion)
    asked = search.find(ElementQuery(output, tuple(index)))
    cut = search.follow(asked.reading)
    name = element_name(asked.name, asked.index)
    origin = search.sources.get(asked.reading)
    if isinstance(origin, Origin) and asked.value is None:
        search.sources[asked.reading] = Origin(Source.UNINITIALISED, "never written")
    return Slice(func, name, asked.value, asked.dtype, asked.reading, search.writes, search.sources, cut, search.runs)


def same(a: Scalar | None, b: Scalar | None) -> bool:
    """The same number, every NaN being one."""
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
