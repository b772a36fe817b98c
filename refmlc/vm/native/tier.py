"""The native tier of one virtual machine: functions and runs of bindings of a compiled module, ready to be called."""

from collections.abc import Callable, Sequence

from refmlc.interp.machine import Machine
from refmlc.interp.substitutes import Prepared
from refmlc.ir import IRModule, relax
from refmlc.runtime.budget import Budget
from refmlc.vm.native.calls import Counts, NativeCall, State
from refmlc.vm.native.choosing import Quick
from refmlc.vm.native.compiled import Compiled
from refmlc.vm.native.fused import FusedCall
from refmlc.vm.native.repeating import Repeating


class NativeTier:
    """What is compiled of a module, for calls that use up `budget`. Not for concurrent use."""

    def __init__(self, module: IRModule, compiled: Compiled, budget: Budget) -> None:
        """Nothing is looked up in the library yet."""
        self._module = module
        self._compiled = compiled
        self._state = State(budget)
        self._repeating = Repeating(module, compiled, self._state)

    @property
    def counts(self) -> Counts:
        """What happened so far."""
        return self._state.counts

    def function(self, name: str, interpreted: Callable[[], Prepared]) -> Prepared:
        """The prim_func `name` in C, or as it is `interpreted` where it is not in C."""
        unit = self._compiled.unit(name)
        function = None if unit is None else self._compiled.function(unit)
        if unit is None or function is None:
            return interpreted()
        return NativeCall(unit, function, self._state, interpreted, self._module.functions[name].span)

    def quick(self, machine: Machine, name: str, args: Sequence[object]) -> Quick | None:
        """The quick call of the function `name` on `machine` for arguments like `args`; None: there is none."""
        return self._repeating.quick(machine, name, args)

    def block(self, block: relax.DataflowBlock) -> dict[int, FusedCall]:
        """The runs of bindings of `block` in C, by the number of the first binding."""
        runs = [run for run in self._compiled.translation.fused if run.block is block]
        functions = [(run, self._compiled.fused_function(run)) for run in runs]
        return {run.start: FusedCall(run, function, self._state) for run, function in functions if function is not None}
