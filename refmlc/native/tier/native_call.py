"""A call of one function: C where it takes the arguments, the interpreter where it does not, or stops.

| C says           | then                                                                                           |
|------------------|------------------------------------------------------------------------------------------------|
| `DONE`           | fuel is charged, what was covered is initialised                                               |
| `CHECK_FAILED`   | memory is restored, the interpreter runs and reports; no failure there is a false alarm        |
| `OVERLAP`        | the interpreter runs: nothing was written yet                                                  |
| `NO_MEMORY`      | memory is restored, the interpreter runs: it counts memory as the budget does                  |
| `FUEL_EXHAUSTED` | the run ends with RM601: the interpreter would need more steps than there are                  |
| `STOPPED`        | the run ends with its cause: RM605, an interrupt (`refmlc.native.tier.watch`)                  |

Decision: a unit without checks has an empty undo log, so where it runs out of memory half way, the run ends with RM603.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from refmlc.diag import fail
from refmlc.diag.catalogue import MEMORY_EXHAUSTED
from refmlc.diag.source import Span
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.native.compile import ffi
from refmlc.native.tier.argument_binding import ArgumentBinder, ArgumentBinding, Ones
from refmlc.native.tier.compiled_module import CompiledModule, c_type
from refmlc.native.tier.prepared_calls import FOREVER, Dimensions, PreparedCall, PreparedCalls
from refmlc.native.tier.undo_log import UndoPlan
from refmlc.native.tier.watch import Watch, fuel_left
from refmlc.native.tier.work import Work
from refmlc.native.unit import BufferParam, Status
from refmlc.run.interp.substitutes import Prepared
from refmlc.run.memory.budget import FUEL_OF_A_STEP, Budget
from refmlc.run.memory.storage import Storage

LEAST_ROOM: Final = 1 << 20
"""Bytes of budget below which the interpreter runs: C does not count what lies on its stack."""


@dataclass(slots=True)
class Counts:
    """Calls in C, calls that C did not take, calls in which it stopped, and those of them without a failure."""

    native: int = 0
    declined: int = 0
    stopped: int = 0
    false_alarms: int = 0


class Workspace:
    """Memory for calls that follow each other."""

    def __init__(self) -> None:
        self._storage = Storage(0)

    def pointer(self, nbytes: int) -> object:
        """At least `nbytes` bytes, on an address that 64 divides; what it points to lives as long as the pointer."""
        if self._storage.nbytes < nbytes:
            self._storage = Storage(nbytes, origin="a workspace")
        return ffi().from_buffer(self._storage.array)


@dataclass(frozen=True, slots=True)
class State:
    """The state that calls of one virtual machine share: its budget, the `rm_run` that C takes, memory, counts.

    A cached call may begin while another thread's call is in C. It shares with that neither an `rm_run` nor memory,
    and only one cached call is in C at a time: `busy` is 1 then.
    """

    budget: Budget
    run: Any = field(default_factory=lambda: ffi().new("rm_run *"))
    ones: Ones = field(default_factory=Ones)
    workspace: Workspace = field(default_factory=Workspace)
    cached_workspace: Workspace = field(default_factory=Workspace)
    busy: Any = field(default_factory=lambda: ffi().new("int64_t *"))
    counts: Counts = field(default_factory=Counts)
    watch: Watch = field(init=False)

    def __post_init__(self) -> None:
        """Watch the clock of the budget."""
        object.__setattr__(self, "watch", Watch(self.budget))

    def provide(self, calls: int, span: Span | None) -> int:
        """Put fuel and memory of the budget into the `rm_run`; returns the fuel. 0: too little is left to begin.

        `calls` are steps that will be charged besides the fuel; `span` is the place of the call.
        """
        fuel, memory = self.budget.fuel() - calls * FUEL_OF_A_STEP, self.budget.max_bytes - self.budget.bytes
        if fuel <= 0 or memory < LEAST_ROOM:
            return 0
        self.run.memory = memory
        self.run.looks = 0
        self.watch.span = span
        self.watch.begin(self.run, fuel)
        return fuel


class NativeCall:
    """A prim_func as a callable on its arguments. Not for concurrent use."""

    def __init__(
        self, name: str, func: tir.PrimFunc, compiled: CompiledModule, state: State, interpreted: Callable[[], Prepared]
    ) -> None:
        """`interpreted` prepares the interpreter's function, when the call first needs it."""
        self.compiled = compiled
        self.unit = compiled.translation.units[name]
        self.arguments = ArgumentBinder(self.unit, state.ones)
        self._prepared: PreparedCalls[PreparedNativeCall | None] = PreparedCalls()
        self._func = func
        self._function = compiled.function(self.unit.symbol, c_type(self.unit))
        self._state = state
        self._prepare = interpreted
        self._interpreted: Prepared | None = None
        self._work = Work(func)
        self._undo = UndoPlan(self.unit)
        self._covers = [param.covered for param in self.unit.params if isinstance(param, BufferParam)]

    def __call__(self, args: Sequence[object]) -> object:
        """Call the function. Fails as the interpreter does."""
        state = self._state
        fuel = state.provide(1, self._func.span)
        binding = self.arguments.bind(args) if fuel else None
        prepared = None if binding is None else self.prepare(binding)
        if binding is None or prepared is None:
            state.counts.declined += 1
            return self._interpret(args)
        if prepared.left < FOREVER:
            prepared.count(prepared.plan)
        if prepared.specialised is not None:
            return prepared.specialised(args)
        log = self._undo.record(binding.tensors)
        status = self._function(state.run, *binding.passed, *prepared.dims)
        if status == Status.DONE:
            return self._done(binding, fuel)
        if status == Status.FUEL_EXHAUSTED:
            raise state.budget.out_of_fuel(self._func.span)
        if status == Status.STOPPED:
            raise state.watch.end()
        if status == Status.NO_MEMORY and not self._undo.may_stop:
            raise fail(MEMORY_EXHAUSTED, f"`{self.unit.name}` takes more memory than is left", self._func.span)
        log.restore()
        state.counts.stopped += 1
        result = self._interpret(args)
        state.counts.false_alarms += status == Status.CHECK_FAILED
        return result

    def _done(self, binding: ArgumentBinding, fuel: int) -> object:
        state = self._state
        state.counts.native += 1
        for tensor, covered in zip(binding.tensors, self._covers, strict=True):
            if covered:
                tensor.mark_initialised()
        state.budget.charge_fuel(fuel - fuel_left(state.run), 1, self._func.span)
        return result_of(self.unit.result, state.run)

    def prepare(self, binding: ArgumentBinding) -> "PreparedNativeCall | None":
        """The prepared call for arguments of these sizes; None: the sizes are not as declared."""
        return self._prepared.find(binding.sizes, lambda: self._prepared_call(binding))

    def _prepared_call(self, binding: ArgumentBinding) -> "PreparedNativeCall | None":
        dims = self.arguments.dims(binding)
        if dims is None:
            return None
        iterations = self._work.iterations_of(dict(zip(self.unit.dims, dims, strict=True))) if dims else 0
        return PreparedCall(dims, iterations, self._specialise)

    def _specialise(self, dims: Dimensions) -> "NativeCall | None":
        specialisations = self.compiled.specialisations
        compiled = None if specialisations is None else specialisations.function(self.unit.name, dims)
        if compiled is None:
            return None
        return NativeCall(self.unit.name, self._func, compiled, self._state, self._in_the_interpreter)

    def _in_the_interpreter(self) -> Prepared:
        if self._interpreted is None:
            self._interpreted = self._prepare()
        return self._interpreted

    def _interpret(self, args: Sequence[object]) -> object:
        return self._in_the_interpreter()(args)


PreparedNativeCall: TypeAlias = PreparedCall[int, NativeCall]
"""Its plan is the number of iterations."""


def result_of(dtype: DType | None, run: Any) -> bool | int | float | None:  # noqa: ANN401 - cffi has no types
    """The result of the function, in the `rm_run`."""
    if dtype is None:
        return None
    if dtype.is_float:
        return float(run.result_float)
    value = int(run.result_int)
    if dtype.kind == "bool":
        return bool(value)
    return value + (1 << 64) if dtype.kind == "uint" and value < 0 else value
