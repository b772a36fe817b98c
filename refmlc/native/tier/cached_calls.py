"""Cached calls: calls from Python whose arguments have the dtypes and shapes of an earlier call that did not fail.

| function  | has cached calls, if                                                                  |
|-----------|---------------------------------------------------------------------------------------|
| prim_func | its parameters are buffers, it updates none of them in place, and it returns nothing  |
| Relax     | its body is one run of bindings, which is in C, and its parameters are tensors        |

Everything that depends on dtypes and shapes is computed once, from NumPy arrays of an earlier call. An entry in C
(`rm_python.h`) does the rest: it checks that the arguments are such arrays, contiguous, aligned, and writable where
they are written. A cached call that is not applicable has done nothing that counts; the virtual machine then makes the
call in the general way.

Decision: nothing looks at the clock between cached calls, so under a limit of time there are none. Interrupts stop
them as every call (`refmlc.native.tier.watch`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

import numpy as np

from refmlc.lang.dtypes import DType
from refmlc.lang.ir import relax
from refmlc.lang.ir.types import TensorType
from refmlc.native.compile import CFunction
from refmlc.native.entries import has_entry, whole_function
from refmlc.native.fuse import Fused
from refmlc.native.tier.argument_binding import address_of
from refmlc.native.tier.fused_call import FusedCall, ResolvedPlan, origin_of, resolve
from refmlc.native.tier.layout import ALIGNED, CONTIGUOUS, WRITEABLE, structs
from refmlc.native.tier.native_call import LEAST_ROOM, NativeCall, State
from refmlc.native.tier.specialisation import FOREVER, WORTH, Dimensions
from refmlc.native.tier.tier_switch import NOT_APPLICABLE, CachedCall
from refmlc.native.tier.undo_log import UndoPlan
from refmlc.native.unit import BufferParam
from refmlc.run.dims import Dims, bind_dims
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.budget import FUEL_OF_A_STEP
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.storage import ALIGNMENT, Storage
from refmlc.run.memory.tensor import Tensor

BYTE: Final = np.dtype(np.uint8)
INTERRUPTED: Final = -2  # RM_INTERRUPTED of rm_python.h
Evict: TypeAlias = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Output:
    """A tensor that a call makes. Units: `size` in bytes."""

    dtype: DType
    shape: tuple[int, ...]
    size: int
    origin: str


@dataclass(frozen=True, slots=True)
class EntryData:
    """The content of an `rm_entry`, the same for all calls of one cached call.

    `arrays` are examples of the arguments, `written` marks those that C writes; `fixed` and `numbers` are the other
    arguments of the C function (`refmlc.native.entries`). A call costs `steps` besides its iterations.
    """

    arrays: Sequence[np.ndarray]
    written: Sequence[bool]
    fixed: Sequence[Any]
    numbers: Sequence[int]
    steps: int


@dataclass(frozen=True, slots=True)
class RespecialisePolicy:
    """After `steps`, a cached call runs `respecialise`: the next call compiles a specialisation, and caches that."""

    steps: int
    respecialise: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Target:
    """The entry that a cached call calls, on a machine."""

    machine: Machine
    state: State
    function: CFunction
    data: EntryData
    policy: RespecialisePolicy


# ------------------------------------------------------------------------------- functions with cached calls


def cached_prim_func(
    machine: Machine, state: State, call: NativeCall, arrays: Sequence[np.ndarray], evict: Evict
) -> CachedCall | None:
    """The cached call of a prim_func for arguments like `arrays`; None: it has none."""
    binding = call.arguments.bind(arrays)
    if binding is None or not has_entry(call.unit) or UndoPlan(call.unit).updates or state.budget.max_depth < 1:
        return None
    dims = tuple(binding.dims)
    specialised = call.profile.specialised(dims) if dims else None
    if specialised is not None:
        return cached_prim_func(machine, state, specialised, arrays, evict)
    written = [isinstance(param, BufferParam) and param.stored for param in call.unit.params]
    data = EntryData(arrays, written, binding.shadows, binding.dims, steps=1)
    entry = call.compiled.entry(call.unit.symbol)
    return call_in_place(Target(machine, state, entry, data, _policy(call, dims, evict)))


def cached_function(
    machine: Machine,
    state: State,
    call: FusedCall,
    function_and_arrays: tuple[relax.Function, Sequence[np.ndarray]],
    evict: Evict,
) -> CachedCall | None:
    """The cached call of a Relax function whose body is `call`, for arguments like the arrays; None: it has none."""
    (function, arrays), run = function_and_arrays, call.run
    sizes: Dims = {}
    for param, array in zip(function.params, arrays, strict=True):
        bind_dims(cast("TensorType", param.ty).shape, array.shape, sizes)
    dims = {var: sizes[var] for var in call.variables if var in sizes}
    plan = resolve(run, dims) if len(dims) == len(call.variables) else None
    if plan is None or state.budget.max_depth < 2:
        return None
    specialised = call.profile.specialised(plan.dims) if dims else None
    if specialised is not None:
        return cached_function(machine, state, specialised, function_and_arrays, evict)
    fixed = [*_constants(run), state.workspace(plan.workspace)]
    if None in fixed:
        return None
    steps = 1 + run.stop - run.start + len(run.calls)
    data = EntryData(arrays, [False] * len(arrays), fixed, plan.numbers, steps)
    entry = call.compiled.entry(run.symbol, len(run.outputs))
    target = Target(machine, state, entry, data, _policy(call, plan.dims, evict))
    outputs, result = _outputs(run, plan), _result(run, function)
    if result is None:
        return call_with_output(target, outputs[0], plan.allocated)
    return call_with_outputs(target, outputs, plan.allocated, result)


def _policy(call: NativeCall | FusedCall, dims: Dimensions, evict: Evict) -> RespecialisePolicy:
    """The policy of a cached call on `dims`."""

    def respecialise() -> None:
        call.profile.count(dims, WORTH)
        evict()

    return RespecialisePolicy(call.profile.left(dims) // FUEL_OF_A_STEP if dims else FOREVER, respecialise)


def _result(run: Fused, function: relax.Function) -> Callable[[list[Tensor]], object] | None:
    """The result of `function` from the outputs of `run`; None: it is the only output."""
    returned = cast("tuple[int, ...]", whole_function(run, function))
    if isinstance(function.body.body, relax.Tuple):
        return lambda outputs: tuple([outputs[number] for number in returned])
    (only,) = returned
    return (lambda outputs: outputs[only]) if len(run.outputs) > 1 else None


def _constants(run: Fused) -> list[object]:
    """Pointers to the constants, which the graph holds."""
    constants = [(operand.value, operand.dtype) for operand in run.inputs if isinstance(operand.value, relax.Constant)]
    return [address_of(Tensor.from_numpy(value.data, dtype)) for value, dtype in constants]


def _outputs(run: Fused, plan: ResolvedPlan) -> list[Output]:
    return [
        Output(operand.dtype, shape, size, origin_of(run, operand))
        for operand, shape, size in zip(run.outputs, plan.outputs, plan.sizes, strict=True)
    ]


# --------------------------------------------------------------------------------------- calls of an entry


def new_entry(data: EntryData, state: State) -> tuple[Any, list[object]]:
    """An `rm_entry`, and the objects that must live as long as it is used."""
    ffi = structs()
    rows = ffi.new("rm_parameter[]", max(1, len(data.arrays)))
    alive: list[object] = [rows, data.fixed]
    for row, array, writes in zip(rows, data.arrays, data.written, strict=False):
        shape = ffi.new("int64_t[]", list(array.shape) or 1)
        row.dtype, row.rank, row.shape = ffi.cast("void *", id(array.dtype)), array.ndim, shape
        row.flags = CONTIGUOUS | ALIGNED | (WRITEABLE if writes else 0)
        alive += [shape, array.dtype]
    pointers = ffi.new("void *[]", [ffi.cast("void *", pointer) for pointer in data.fixed] or 1)
    numbers = ffi.new("int64_t[]", list(data.numbers) or 1)
    entry = ffi.new("rm_entry *")
    entry.array_type, entry.parameters, entry.count = ffi.cast("void *", id(np.ndarray)), rows, len(data.arrays)
    entry.fixed, entry.numbers = pointers, numbers
    state.watch.begin(entry, state.budget.full_fuel - data.steps * FUEL_OF_A_STEP)
    return entry, [*alive, pointers, numbers]


def _not_done(state: State, steps: int) -> object:
    """The outcome of a call that C did not finish."""
    if steps == INTERRUPTED:
        raise state.watch.end()
    return NOT_APPLICABLE


class MemoryLimit:
    """The memory that the budget leaves to C, written into an `rm_entry` when it has become less."""

    __slots__ = ("_budget", "_entry", "_most")

    def __init__(self, entry: Any, state: State, call_bytes: int) -> None:  # noqa: ANN401 - cffi has no types
        """`call_bytes`: bytes that a call allocates."""
        self._entry = entry
        self._budget = state.budget
        self._most = state.budget.max_bytes - call_bytes - LEAST_ROOM

    def update(self) -> int:
        """Write the limit; returns the charged bytes up to which it holds, -1 where too little memory is left."""
        charged = self._budget.bytes
        self._entry.memory = self._budget.max_bytes - charged
        return charged if charged <= self._most else -1


def call_in_place(target: Target) -> CachedCall:
    """Calls that write into their arguments and return nothing."""
    machine, state, function, data = target.machine, target.state, target.function, target.data
    entry, alive = new_entry(data, state)
    budget, counts, own_steps = state.budget, state.counts, data.steps
    update, charged = MemoryLimit(entry, state, 0).update, -1
    left, respecialise = target.policy.steps, target.policy.respecialise

    def cached_call(args: tuple[object, ...], _alive: object = alive) -> object:
        nonlocal charged, left
        if machine.depth or (budget.bytes > charged and (charged := update()) < 0):
            return NOT_APPLICABLE
        steps = function(entry, id(args))
        if steps < 0:
            return _not_done(state, steps)
        budget.steps = steps + own_steps
        counts.native += 1
        left -= steps
        if left < 0:
            respecialise()
        return None

    return cached_call


def call_with_output(target: Target, output: Output, call_bytes: int) -> CachedCall:
    """Calls that return one tensor, and allocate `call_bytes` bytes in all."""
    machine, state, function, data = target.machine, target.state, target.function, target.data
    entry, alive = new_entry(data, state)
    budget, counts, own_steps = state.budget, state.counts, data.steps
    update, charged = MemoryLimit(entry, state, call_bytes).update, -1
    left, respecialise = target.policy.steps, target.policy.respecialise
    dtype, shape, size, origin, unit = output.dtype, output.shape, output.size, output.origin, cell_size(output.dtype)
    room_of, room_size, byte, storage, tensor = np.empty, size + ALIGNMENT, BYTE, Storage.filled, Tensor.filled

    def cached_call(args: tuple[object, ...], _alive: object = alive) -> object:
        nonlocal charged, left
        if machine.depth or (budget.bytes > charged and (charged := update()) < 0):
            return NOT_APPLICABLE
        room = room_of(room_size, byte)
        steps = function(entry, id(args), id(room))
        if steps < 0:
            return _not_done(state, steps)
        budget.steps = steps + own_steps
        counts.native += 1
        left -= steps
        if left < 0:
            respecialise()
        return tensor(storage(room, size, unit, budget, origin), dtype, shape)

    return cached_call


def call_with_outputs(
    target: Target, outputs: Sequence[Output], call_bytes: int, result: Callable[[list[Tensor]], object]
) -> CachedCall:
    """Calls that make several tensors; `result` picks what they return."""
    machine, state, function, data = target.machine, target.state, target.function, target.data
    entry, alive = new_entry(data, state)
    budget, counts, own_steps = state.budget, state.counts, data.steps
    update, charged = MemoryLimit(entry, state, call_bytes).update, -1
    left, respecialise = target.policy.steps, target.policy.respecialise
    units = [cell_size(output.dtype) for output in outputs]

    def cached_call(args: tuple[object, ...], _alive: object = alive) -> object:
        nonlocal charged, left
        if machine.depth or (budget.bytes > charged and (charged := update()) < 0):
            return NOT_APPLICABLE
        rooms = [np.empty(output.size + ALIGNMENT, BYTE) for output in outputs]
        steps = function(entry, id(args), *map(id, rooms))
        if steps < 0:
            return _not_done(state, steps)
        budget.steps = steps + own_steps
        counts.native += 1
        left -= steps
        if left < 0:
            respecialise()
        tensors = [
            Tensor.filled(Storage.filled(room, output.size, unit, budget, output.origin), output.dtype, output.shape)
            for room, output, unit in zip(rooms, outputs, units, strict=True)
        ]
        return result(tensors)

    return cached_call
