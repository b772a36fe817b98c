"""Which calls can be quick ones, and what they are prepared with.

| function  | can be, where                                                                         |
|-----------|---------------------------------------------------------------------------------------|
| prim_func | its parameters are buffers, none of which it changes in place, and it returns nothing |
| Relax     | all it does is one run of bindings, which is in C, and its parameters are tensors     |

The arguments are NumPy arrays with which the function was called and did not fail.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias, cast

import numpy as np

from refmlc.lang.ir import relax
from refmlc.lang.ir.types import TensorType
from refmlc.native.entries import has_entry, whole_function
from refmlc.native.fuse import Fused
from refmlc.native.tier.calls import NativeCall, State
from refmlc.native.tier.choosing import Quick
from refmlc.native.tier.fitting import address_of
from refmlc.native.tier.fused import FusedCall, Resolved, origin_of, resolve
from refmlc.native.tier.keeping import Keeping
from refmlc.native.tier.quick import Output, Target, Tiring, Wanted, in_place, one_made, several_made
from refmlc.native.tier.special import FOREVER, WORTH, Dimensions
from refmlc.native.unit import BufferParam
from refmlc.run.dims import Dims, bind_dims
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.budget import FUEL_OF_A_STEP
from refmlc.run.memory.tensor import Tensor

Forget: TypeAlias = Callable[[], None]


def quick_prim_func(
    machine: Machine, state: State, call: NativeCall, arrays: Sequence[np.ndarray], forget: Forget
) -> Quick | None:
    """The quick call of a prim_func for arguments like `arrays`; None: there is none."""
    fit = call.fitting.fit(arrays)
    if fit is None or not has_entry(call.unit) or Keeping(call.unit).changes or state.budget.max_depth < 1:
        return None
    dims = tuple(fit.dims)
    better = call.spending.better(dims) if dims else None
    if better is not None:
        return quick_prim_func(machine, state, better, arrays, forget)
    written = [isinstance(param, BufferParam) and param.stored for param in call.unit.params]
    wanted = Wanted(arrays, written, fit.shadows, fit.dims, steps=1)
    return in_place(Target(machine, state, call.compiled.entry(call.unit.symbol), wanted, _tiring(call, dims, forget)))


def quick_function(
    machine: Machine,
    state: State,
    call: FusedCall,
    given: tuple[relax.Function, Sequence[np.ndarray]],
    forget: Forget,
) -> Quick | None:
    """The quick call of a Relax function, which `call` is the whole of, for arguments like the arrays given."""
    (function, arrays), run = given, call.run
    found: Dims = {}
    for param, array in zip(function.params, arrays, strict=True):
        bind_dims(cast("TensorType", param.ty).shape, array.shape, found)
    dims = {var: found[var] for var in call.variables if var in found}
    resolved = resolve(run, dims) if len(dims) == len(call.variables) else None
    if resolved is None or state.budget.max_depth < 2:
        return None
    better = call.spending.better(resolved.dims) if dims else None
    if better is not None:
        return quick_function(machine, state, better, given, forget)
    fixed = [*_constants(run), state.workspace(resolved.workspace)]
    if None in fixed:
        return None
    steps = 1 + run.stop - run.start + len(run.calls)
    wanted = Wanted(arrays, [False] * len(arrays), fixed, resolved.numbers, steps)
    entry = call.compiled.entry(run.symbol, len(run.outputs))
    target = Target(machine, state, entry, wanted, _tiring(call, resolved.dims, forget))
    outputs, chosen = _outputs(run, resolved), _chosen(run, function)
    if chosen is None:
        return one_made(target, outputs[0], resolved.allocated)
    return several_made(target, outputs, resolved.allocated, chosen)


def _tiring(call: NativeCall | FusedCall, dims: Dimensions, forget: Forget) -> Tiring:
    """When a quick call is to be replaced by one for its dimensions."""

    def tired() -> None:
        call.spending.spend(dims, WORTH)
        forget()

    return Tiring(call.spending.left(dims) // FUEL_OF_A_STEP if dims else FOREVER, tired)


def _chosen(run: Fused, function: relax.Function) -> Callable[[list[Tensor]], object] | None:
    """What `function` returns of the outputs of `run`; None: the only one there is."""
    returned = cast("tuple[int, ...]", whole_function(run, function))
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
