"""Which calls can be quick ones, and what they are prepared with.

| function  | can be, where                                                                              |
|-----------|--------------------------------------------------------------------------------------------|
| prim_func | its parameters are buffers, none of which it changes in place, and it returns nothing     |
| Relax     | all it does is one run of bindings, which is in C, and its parameters are tensors          |

The arguments are NumPy arrays with which the function was called and did not fail.
"""

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np

from refmlc.codegen.entries import has_entry, whole_function
from refmlc.codegen.fuse.plan import Fused
from refmlc.codegen.unit import BufferParam, Unit
from refmlc.interp.machine import Machine
from refmlc.ir import IRModule, relax, tir
from refmlc.ir.types import TensorType
from refmlc.runtime.tensor import Tensor
from refmlc.vm.dims import Dims, bind_dims
from refmlc.vm.native.calls import State
from refmlc.vm.native.choosing import Quick
from refmlc.vm.native.compiled import Compiled
from refmlc.vm.native.fitting import Fitting, address_of
from refmlc.vm.native.fused import Resolved, origin_of, resolve
from refmlc.vm.native.keeping import Keeping
from refmlc.vm.native.layout import as_declared
from refmlc.vm.native.quick import Output, Target, Wanted, in_place, one_made, several_made


class Repeating:
    """Quick calls of one virtual machine."""

    def __init__(self, module: IRModule, compiled: Compiled, state: State) -> None:
        """Nothing is prepared yet."""
        self._module = module
        self._compiled = compiled
        self._state = state

    def quick(self, machine: Machine, name: str, args: Sequence[object]) -> Quick | None:
        """The quick call of `name` for arguments like `args`; None: there is none."""
        arrays = [arg for arg in args if isinstance(arg, np.ndarray)]
        if len(arrays) != len(args) or self._state.budget.max_seconds is not None or not as_declared():
            return None
        match self._module.functions[name]:
            case tir.PrimFunc():
                unit = self._compiled.unit(name)
                return None if unit is None else self._of_unit(machine, unit, arrays)
            case relax.Function() as function:
                for run in self._compiled.translation.fused:
                    returned = whole_function(run, function) if run.function == name else None
                    if returned is not None:
                        return self._of_run(machine, run, _chosen(run, function, returned), function.params, arrays)
        return None

    def _of_unit(self, machine: Machine, unit: Unit, arrays: Sequence[np.ndarray]) -> Quick | None:
        if not has_entry(unit) or Keeping(unit).changes or self._state.budget.max_depth < 1:
            return None
        fit = Fitting(unit, self._state.ones).fit(arrays)
        function = self._compiled.entry(unit.symbol)
        if fit is None or function is None:
            return None
        written = [isinstance(param, BufferParam) and param.stored for param in unit.params]
        wanted = Wanted(arrays, written, fit.shadows, fit.dims, steps=1)
        return in_place(Target(machine, self._state, function, wanted))

    def _of_run(
        self,
        machine: Machine,
        run: Fused,
        chosen: Callable[[list[Tensor]], object] | None,
        params: Sequence[relax.Var],
        arrays: Sequence[np.ndarray],
    ) -> Quick | None:
        dims: Dims = {}
        for param, array in zip(params, arrays, strict=True):
            bind_dims(cast("TensorType", param.ty).shape, array.shape, dims)
        resolved = resolve(run, dims)
        function = self._compiled.entry(run.symbol, len(run.outputs))
        if resolved is None or function is None or self._state.budget.max_depth < 2:
            return None
        fixed = [*_constants(run), self._state.workspace(resolved.workspace)]
        if None in fixed:
            return None
        steps = 1 + run.stop - run.start + len(run.calls)
        wanted = Wanted(arrays, [False] * len(arrays), fixed, resolved.numbers, steps)
        target, outputs = Target(machine, self._state, function, wanted), _outputs(run, resolved)
        if chosen is None:
            return one_made(target, outputs[0], resolved.allocated)
        return several_made(target, outputs, resolved.allocated, chosen)


def _chosen(run: Fused, function: relax.Function, returned: tuple[int, ...]) -> Callable[[list[Tensor]], object] | None:
    """What `function` returns of the outputs of `run`; None: the only one there is."""
    if isinstance(function.body.body, relax.Tuple):
        return lambda made: tuple([made[number] for number in returned])
    (only,) = returned
    return (lambda made: made[only]) if len(run.outputs) > 1 else None


def _constants(run: Fused) -> list[object]:
    """Pointers to the constants, which the graph holds."""
    constants = [(each.value, each.dtype) for each in run.inputs if isinstance(each.value, relax.Constant)]
    return [address_of(Tensor.from_numpy(value.data, dtype)) for value, dtype in constants]


def _outputs(run: Fused, resolved: Resolved) -> list[Output]:
    return [
        Output(operand.dtype, shape, size, origin_of(run, operand))
        for operand, shape, size in zip(run.outputs, resolved.outputs, resolved.sizes, strict=True)
    ]
