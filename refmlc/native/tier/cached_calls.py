"""Cached calls: calls from Python whose arguments have the dtypes and shapes of an earlier call that did not fail.

| function  | has cached calls, if                                                                  |
|-----------|---------------------------------------------------------------------------------------|
| prim_func | its parameters are buffers without declared strides or offset, it updates none of     |
|           | them in place, and it returns nothing                                                 |
| Relax     | its body is one run of bindings, which is in C, and its parameters are tensors        |

Everything that depends on dtypes and shapes is computed once, from NumPy arrays of an earlier call. An entry in C
(`rm_python.h`) does the rest: it asks each argument whether it is such an array, contiguous, aligned, in native byte
order, and writable where it is written (`array_interface`). A cached call that is not applicable has done nothing that
counts; the virtual machine then makes the call in the general way.

Decision: nothing looks at the clock between cached calls, so under a limit of time there are none. Interrupts stop
them as every call (`refmlc.native.tier.watch`).
"""

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

import numpy as np

from refmlc.lang.dtypes import DType
from refmlc.lang.ir import relax
from refmlc.lang.ir.types import TensorType
from refmlc.native.entries import has_entry, returns_tuple, whole_function
from refmlc.native.fuse import Fused
from refmlc.native.tier.argument_binding import address_of
from refmlc.native.tier.array_interface import (
    ALIGNED,
    CONTIGUOUS,
    KINDS,
    NOT_SWAPPED,
    WRITEABLE,
    method,
    python_functions,
    structs,
)
from refmlc.native.tier.compiled_module import CompiledModule
from refmlc.native.tier.fused_call import FusedCall, PreparedFusedCall, ResolvedPlan, origin_of
from refmlc.native.tier.native_call import LEAST_ROOM, NativeCall, PreparedNativeCall, State
from refmlc.native.tier.prepared_calls import WORTH
from refmlc.native.tier.tier_switch import NOT_APPLICABLE, CachedCall
from refmlc.native.tier.undo_log import UndoPlan
from refmlc.native.unit import BufferParam
from refmlc.run.dims import Dims, bind_dims
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.array_memory import ByteArray
from refmlc.run.memory.budget import FUEL_OF_A_STEP, Budget
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.storage import ALIGNMENT, Storage
from refmlc.run.memory.tensor import Tensor

BYTE: Final = np.dtype(np.uint8)
INTERRUPTED: Final = -2  # RM_INTERRUPTED of rm_python.h
Evict: TypeAlias = Callable[[], None]
Result: TypeAlias = Callable[[Sequence[ByteArray]], object]


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
    compiled: CompiledModule
    symbol: str
    data: EntryData
    policy: RespecialisePolicy


# ------------------------------------------------------------------------------- functions with cached calls


def cached_prim_func(
    machine: Machine, state: State, call: NativeCall, arrays: Sequence[np.ndarray], evict: Evict
) -> CachedCall | None:
    """The cached call of a prim_func for arguments like `arrays`; None: it has none."""
    binding = call.arguments.bind(arrays)
    prepared = None if binding is None else call.prepare(binding)
    if binding is None or prepared is None or not has_entry(call.unit) or UndoPlan(call.unit).updates:
        return None
    if state.budget.max_depth < 1:
        return None
    if prepared.specialised is not None:
        return cached_prim_func(machine, state, prepared.specialised, arrays, evict)
    written = [isinstance(param, BufferParam) and param.stored for param in call.unit.params]
    data = EntryData(arrays, written, binding.shadows, prepared.dims, steps=1)
    target = Target(machine, state, call.compiled, call.unit.symbol, data, _policy(prepared, evict))
    return call_of(target, (), 0, nothing)


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
    prepared = call.prepare(tuple([sizes.get(var) for var in call.variables]))
    if prepared is None or state.budget.max_depth < 2 + run.levels:
        return None
    if prepared.specialised is not None:
        return cached_function(machine, state, prepared.specialised, function_and_arrays, evict)
    plan = prepared.plan
    fixed = [*_constants(run), state.cached_workspace.pointer(plan.workspace)]
    if None in fixed:
        return None
    data = EntryData(arrays, [False] * len(arrays), fixed, plan.numbers, 1 + run.steps)
    target = Target(machine, state, call.compiled, run.symbol, data, _policy(prepared, evict))
    outputs = _outputs(run, plan)
    return call_of(target, outputs, plan.allocated, _result(run, function, outputs, state.budget))


def _policy(prepared: PreparedNativeCall | PreparedFusedCall, evict: Evict) -> RespecialisePolicy:
    """The policy of a cached call in place of `prepared`."""

    def respecialise() -> None:
        prepared.count(WORTH)
        evict()

    return RespecialisePolicy(prepared.left // FUEL_OF_A_STEP, respecialise)


def _result(run: Fused, function: relax.Function, outputs: Sequence[Output], budget: Budget) -> Result:
    """What makes the result of `function` of the memory of the outputs of `run`."""
    returned = cast("tuple[int, ...]", whole_function(run, function))
    makers = [tensor_maker(number, output, budget) for number, output in enumerate(outputs)]
    if returns_tuple(run, function):

        def fields(rooms: Sequence[ByteArray]) -> tuple[Tensor, ...]:
            tensors = [make(rooms) for make in makers]
            return tuple([tensors[number] for number in returned])

        return fields
    (only,) = returned
    return makers[only]


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


def new_entry(data: EntryData, state: State, rooms: Sequence[int]) -> tuple[Any, list[object]]:
    """An `rm_entry` for the arguments and `rooms` bytes of fresh memory, and what must live as long as it is used."""
    interface = structs()
    parameters = [*zip(data.arrays, data.written, strict=True), *((np.empty(size, BYTE), True) for size in rooms)]
    rows = interface.new("rm_parameter[]", max(1, len(parameters)))
    alive: list[object] = [rows, data.fixed]
    for row, (array, writes) in zip(rows, parameters, strict=False):
        shape = interface.new("int64_t[]", list(array.shape) or 1)
        row.shape, row.rank = shape, array.ndim
        row.kind, row.itemsize = ord(array.dtype.kind), array.itemsize
        row.flags = CONTIGUOUS | ALIGNED | NOT_SWAPPED | (WRITEABLE if writes else 0)
        alive.append(shape)
    pointers = interface.new("void *[]", [interface.cast("void *", pointer) for pointer in data.fixed] or 1)
    numbers = interface.new("int64_t[]", list(data.numbers) or 1)
    entry = interface.new("rm_entry *")
    entry.parameters, entry.count = rows, len(parameters)
    entry.fixed, entry.numbers, entry.busy = pointers, numbers, interface.cast("int64_t *", state.busy)
    state.watch.begin(entry, state.budget.full_fuel - data.steps * FUEL_OF_A_STEP)
    return entry, [*alive, pointers, numbers]


def call_of(target: Target, outputs: Sequence[Output], call_bytes: int, result: Result) -> CachedCall | None:
    """Calls of the entry on the arguments and fresh memory for `outputs`, of which `result` makes what they return.

    They allocate `call_bytes` bytes in all. None: there is no way to ask for the memory of these arrays.
    """
    python, data = python_functions(), target.data
    if python is None or any(array.dtype.kind not in KINDS for array in data.arrays):
        return None
    machine, state = target.machine, target.state
    sizes = [output.size + ALIGNMENT for output in outputs]
    entry, parts = new_entry(data, state, sizes)
    target.compiled.give_functions(ctypes.addressof(python))
    function, held = method(target.compiled.entry(target.symbol), entry)
    alive = [*parts, *held]
    budget, counts, own_steps = state.budget, state.counts, data.steps
    most, limit = budget.max_bytes - call_bytes - LEAST_ROOM, budget.max_bytes
    charged, left, respecialise = -1, target.policy.steps, target.policy.respecialise
    fresh = _fresh_memory(sizes)

    def cached_call(args: tuple[object, ...], _alive: object = alive) -> object:
        nonlocal charged, left
        if machine.depth:
            return NOT_APPLICABLE
        if budget.bytes > charged:  # less memory is left than C knows of
            if budget.bytes > most:
                return NOT_APPLICABLE
            charged = budget.bytes
            entry.memory = limit - charged
        rooms = fresh() if sizes else ()
        steps = function(*args, *rooms)
        if steps < 0:
            if steps == INTERRUPTED:
                raise state.watch.end()
            return NOT_APPLICABLE
        if not machine.depth:  # else another thread's call has begun, which counts its own
            budget.steps = steps + own_steps
        counts.native += 1
        left -= steps
        if left < 0:
            respecialise()
        return result(rooms)

    return cached_call


def nothing(_rooms: Sequence[ByteArray]) -> None:
    """The result of a prim_func."""


def tensor_maker(number: int, output: Output, budget: Budget) -> Callable[[Sequence[ByteArray]], Tensor]:
    """What makes the tensor of `output`, which is number `number`, of the memory that a call has filled."""
    dtype, shape, size, origin, unit = output.dtype, output.shape, output.size, output.origin, cell_size(output.dtype)
    storage, tensor = Storage.filled, Tensor.filled
    return lambda rooms: tensor(storage(rooms[number], size, unit, budget, origin), dtype, shape)


def _fresh_memory(sizes: Sequence[int]) -> Callable[[], Sequence[ByteArray]]:
    """What allocates an array for each size."""
    empty, byte = np.empty, BYTE
    if len(sizes) != 1:
        return lambda: [empty(size, byte) for size in sizes]
    (only,) = sizes
    return lambda: (empty(only, byte),)  # without a loop, which takes as long
