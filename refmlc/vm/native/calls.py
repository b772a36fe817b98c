"""A call of one function: C where the arguments fit, and the interpreter where C declines or stops.

| C says           | then                                                                                        |
|------------------|---------------------------------------------------------------------------------------------|
| `DONE`           | fuel is charged, what was covered is initialised                                             |
| `CHECK_FAILED`   | memory is put back, the interpreter runs and tells; if it finds nothing, that is a false alarm |
| `OVERLAP`        | the interpreter runs: nothing was written yet                                                |
| `NO_MEMORY`      | memory is put back, the interpreter runs: it counts memory as the budget means it              |
| `FUEL_EXHAUSTED` | the run ends with RM601 (RM605): the interpreter would need more steps than there are          |

Decision: a unit without checks keeps no copies, so where it runs out of memory half way, the run ends with RM603.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from refmlc.codegen.build import CFunction, ffi
from refmlc.codegen.unit import BufferParam, Status, Unit
from refmlc.diag import fail
from refmlc.diag.catalogue import MEMORY_EXHAUSTED
from refmlc.diag.source import Span
from refmlc.dtypes import DType
from refmlc.interp.substitutes import Prepared
from refmlc.runtime.budget import Budget
from refmlc.runtime.storage import Storage
from refmlc.vm.native.fitting import Fit, Fitting, Ones
from refmlc.vm.native.keeping import Keeping

LEAST_ROOM: Final = 1 << 20
"""Bytes of budget below which the interpreter runs: C does not count what lies on its stack."""


@dataclass(slots=True)
class Counts:
    """Calls that C did, that did not fit, in which C stopped; and those where the interpreter saw no reason to."""

    native: int = 0
    declined: int = 0
    stopped: int = 0
    false_alarms: int = 0


@dataclass(frozen=True, slots=True)
class State:
    """What calls of one virtual machine share: its budget, the `rm_run` that C takes, memory, counts."""

    budget: Budget
    run: Any = field(default_factory=lambda: ffi().new("rm_run *"))
    ones: Ones = field(default_factory=Ones)
    workspaces: list[Storage] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)

    def provide(self) -> int:
        """Put fuel and memory of the budget into the `rm_run`; the fuel. 0: too little is left to begin."""
        fuel, memory = self.budget.fuel(), self.budget.max_bytes - self.budget.bytes
        if fuel <= 0 or memory < LEAST_ROOM:
            return 0
        self.run.fuel = fuel
        self.run.memory = memory
        return fuel

    def workspace(self, nbytes: int) -> object:
        """Memory of at least `nbytes` bytes, the same each time, on an address that 64 divides."""
        if not self.workspaces or self.workspaces[0].nbytes < nbytes:
            self.workspaces[:] = [Storage(nbytes, origin="a workspace")]
        return ffi().from_buffer(self.workspaces[0].array)


class NativeCall:
    """A prim_func as a callable on its arguments. Not for concurrent use."""

    def __init__(
        self, unit: Unit, function: CFunction, state: State, interpreted: Callable[[], Prepared], span: Span | None
    ) -> None:
        """`interpreted` prepares the interpreter's way; it is asked when it is needed first."""
        self._unit = unit
        self._function = function
        self._state = state
        self._prepare = interpreted
        self._interpreted: Prepared | None = None
        self._span = span
        self._fitting = Fitting(unit, state.ones)
        self._keeping = Keeping(unit)
        self._covers = [param.covered for param in unit.params if isinstance(param, BufferParam)]

    def __call__(self, args: Sequence[object]) -> object:
        """Call the function. Fails as the interpreter does."""
        state = self._state
        given = state.provide()
        fit = self._fitting.fit(args) if given else None
        if fit is None:
            state.counts.declined += 1
            return self._interpret(args)
        kept = self._keeping.keep(fit.tensors)
        status = self._function(state.run, *fit.passed)
        if status == Status.DONE:
            return self._done(fit, given)
        if status == Status.FUEL_EXHAUSTED:
            raise state.budget.out_of_fuel(self._span)
        if status == Status.NO_MEMORY and not self._keeping.may_stop:
            raise fail(MEMORY_EXHAUSTED, f"`{self._unit.name}` takes more memory than is left", self._span)
        kept.put_back()
        state.counts.stopped += 1
        result = self._interpret(args)
        state.counts.false_alarms += status == Status.CHECK_FAILED
        return result

    def _done(self, fit: Fit, given: int) -> object:
        state = self._state
        state.counts.native += 1
        for tensor, covered in zip(fit.tensors, self._covers, strict=True):
            if covered:
                tensor.mark_initialised()
        state.budget.charge_fuel(given - state.run.fuel, 1, self._span)
        return result_of(self._unit.result, state.run)

    def _interpret(self, args: Sequence[object]) -> object:
        if self._interpreted is None:
            self._interpreted = self._prepare()
        return self._interpreted(args)


def result_of(dtype: DType | None, run: Any) -> bool | int | float | None:  # noqa: ANN401 - cffi has no types
    """What the function returned."""
    if dtype is None:
        return None
    if dtype.is_float:
        return float(run.result_float)
    value = int(run.result_int)
    if dtype.kind == "bool":
        return bool(value)
    return value + (1 << 64) if dtype.kind == "uint" and value < 0 else value
