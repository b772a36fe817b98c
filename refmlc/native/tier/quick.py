"""Quick calls from Python: arguments whose dtypes and shapes are those of a call that went well before.

What depends on dtypes and shapes was looked at then. What is left is done by an entry in C (`rm_python.h`): whether the
arguments are such arrays, contiguous, aligned, and writable where they are written. A quick call that declines has done
nothing that counts; the call is then made as every other.

Decision: nothing looks at the clock between quick calls, so under a limit of time there are none. Interrupts are heard
in them as in every call (`refmlc.native.tier.watch`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from refmlc.lang.dtypes import DType
from refmlc.native.compile import CFunction
from refmlc.native.tier.calls import LEAST_ROOM, State
from refmlc.native.tier.choosing import DECLINED, Quick
from refmlc.native.tier.layout import ALIGNED, CONTIGUOUS, WRITEABLE, structs
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.budget import FUEL_OF_A_STEP
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.storage import ALIGNMENT, Storage
from refmlc.run.memory.tensor import Tensor

BYTE: Final = np.dtype(np.uint8)
INTERRUPTED: Final = -2  # RM_INTERRUPTED of rm_python.h


@dataclass(frozen=True, slots=True)
class Output:
    """A tensor that a call makes. Units: `size` in bytes."""

    dtype: DType
    shape: tuple[int, ...]
    size: int
    origin: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the calls of one quick call have in common.

    `arrays` are arguments as they will be, `written` says which are written; `fixed` and `numbers` are what the entry
    passes besides (`refmlc.native.entries`). `steps` is what a call costs besides the iterations in it.
    """

    arrays: Sequence[np.ndarray]
    written: Sequence[bool]
    fixed: Sequence[Any]
    numbers: Sequence[int]
    steps: int


@dataclass(frozen=True, slots=True)
class Tiring:
    """After how many steps a quick call is to be replaced by a better one, and whom it tells then."""

    steps: int
    tired: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Target:
    """What a quick call calls, and on which machine."""

    machine: Machine
    state: State
    function: CFunction
    wanted: Wanted
    tiring: Tiring


def prepared(wanted: Wanted, state: State) -> tuple[Any, list[object]]:
    """An `rm_entry`, and what must be held as long as it is used."""
    ffi = structs()
    rows = ffi.new("rm_wanted[]", max(1, len(wanted.arrays)))
    held: list[object] = [rows, wanted.fixed]
    for row, array, writes in zip(rows, wanted.arrays, wanted.written, strict=False):
        shape = ffi.new("int64_t[]", list(array.shape) or 1)
        row.dtype, row.rank, row.shape = ffi.cast("void *", id(array.dtype)), array.ndim, shape
        row.flags = CONTIGUOUS | ALIGNED | (WRITEABLE if writes else 0)
        held += [shape, array.dtype]
    pointers = ffi.new("void *[]", [ffi.cast("void *", pointer) for pointer in wanted.fixed] or 1)
    numbers = ffi.new("int64_t[]", list(wanted.numbers) or 1)
    entry = ffi.new("rm_entry *")
    entry.array_type, entry.wanted, entry.count = ffi.cast("void *", id(np.ndarray)), rows, len(wanted.arrays)
    entry.fixed, entry.numbers = pointers, numbers
    state.watch.begin(entry, state.budget.full_fuel - wanted.steps * FUEL_OF_A_STEP)
    return entry, [*held, pointers, numbers]


def _ended(state: State, steps: int) -> object:
    """What a call comes to that did not do all of it."""
    if steps == INTERRUPTED:
        raise state.watch.end()
    return DECLINED


class Memory:
    """What the budget leaves to C, written into an `rm_entry` when it has become less."""

    __slots__ = ("_budget", "_entry", "_most")

    def __init__(self, entry: Any, state: State, needed: int) -> None:  # noqa: ANN401 - cffi has no types
        """`needed`: bytes that a call allocates."""
        self._entry = entry
        self._budget = state.budget
        self._most = state.budget.max_bytes - needed - LEAST_ROOM

    def enough(self) -> int:
        """Tell C what is left; the charged bytes up to which that is so, and -1 where too little is left."""
        charged = self._budget.bytes
        self._entry.memory = self._budget.max_bytes - charged
        return charged if charged <= self._most else -1


def in_place(target: Target) -> Quick:
    """Calls that write into their arguments and return nothing."""
    machine, state, function, wanted = target.machine, target.state, target.function, target.wanted
    entry, held = prepared(wanted, state)
    budget, counts, own_steps = state.budget, state.counts, wanted.steps
    enough, charged = Memory(entry, state, 0).enough, -1
    left, tired = target.tiring.steps, target.tiring.tired

    def quick(args: tuple[object, ...], _held: object = held) -> object:
        nonlocal charged, left
        if machine.depth or (budget.bytes > charged and (charged := enough()) < 0):
            return DECLINED
        steps = function(entry, id(args))
        if steps < 0:
            return _ended(state, steps)
        budget.steps = steps + own_steps
        counts.native += 1
        left -= steps
        if left < 0:
            tired()
        return None

    return quick


def one_made(target: Target, output: Output, needed: int) -> Quick:
    """Calls that return one tensor, and allocate `needed` bytes in all."""
    machine, state, function, wanted = target.machine, target.state, target.function, target.wanted
    entry, held = prepared(wanted, state)
    budget, counts, own_steps = state.budget, state.counts, wanted.steps
    enough, charged = Memory(entry, state, needed).enough, -1
    left, tired = target.tiring.steps, target.tiring.tired
    dtype, shape, size, origin, unit = output.dtype, output.shape, output.size, output.origin, cell_size(output.dtype)
    room_of, room_size, byte, storage, tensor = np.empty, size + ALIGNMENT, BYTE, Storage.filled, Tensor.filled

    def quick(args: tuple[object, ...], _held: object = held) -> object:
        nonlocal charged, left
        if machine.depth or (budget.bytes > charged and (charged := enough()) < 0):
            return DECLINED
        room = room_of(room_size, byte)
        steps = function(entry, id(args), id(room))
        if steps < 0:
            return _ended(state, steps)
        budget.steps = steps + own_steps
        counts.native += 1
        left -= steps
        if left < 0:
            tired()
        return tensor(storage(room, size, unit, budget, origin), dtype, shape)

    return quick


def several_made(
    target: Target, outputs: Sequence[Output], needed: int, result: Callable[[list[Tensor]], object]
) -> Quick:
    """Calls that make several tensors; `result` says what of them is returned."""
    machine, state, function, wanted = target.machine, target.state, target.function, target.wanted
    entry, held = prepared(wanted, state)
    budget, counts = state.budget, state.counts
    enough, charged = Memory(entry, state, needed).enough, -1
    left, tired = target.tiring.steps, target.tiring.tired
    units = [cell_size(output.dtype) for output in outputs]

    def quick(args: tuple[object, ...], _held: object = held) -> object:
        nonlocal charged, left
        if machine.depth or (budget.bytes > charged and (charged := enough()) < 0):
            return DECLINED
        rooms = [np.empty(output.size + ALIGNMENT, BYTE) for output in outputs]
        steps = function(entry, id(args), *map(id, rooms))
        if steps < 0:
            return _ended(state, steps)
        budget.steps = steps + wanted.steps
        counts.native += 1
        left -= steps
        if left < 0:
            tired()
        made = [
            Tensor.filled(Storage.filled(room, each.size, unit, budget, each.origin), each.dtype, each.shape)
            for room, each, unit in zip(rooms, outputs, units, strict=True)
        ]
        return result(made)

    return quick
