"""Memory: arrays that lie on bytes, places in those bytes, and vectors as lists of lanes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from refmlc.diag.catalogue import ASSERT_FAILED, Code
from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.storage import itemsize, storage_dtype
from refmlc.oracle.implementations.loops.arithmetic import wrapped
from refmlc.oracle.implementations.loops.operators import loaded
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor


class Meaningless(Exception):
    """The program does what has no meaning, and it shows."""


class Trapped(Exception):
    """The program stops itself."""

    def __init__(self, message: str, code: Code = ASSERT_FAILED) -> None:
        """The place where it stops is unknown."""
        super().__init__(message)
        self.code = code


class Spent(Exception):
    """A limit is reached."""


@dataclass(frozen=True, slots=True)
class Pointer:
    """A place in memory. Units: bytes."""

    memory: np.ndarray
    at: int = 0

    def moved(self, count: int) -> "Pointer":
        """The place `count` bytes further on."""
        return Pointer(self.memory, self.at + count)


@dataclass(frozen=True, slots=True)
class Array:
    """A tensor: its memory and layout. Units: `strides` (None: compact) in elements."""

    pointer: Pointer
    dtype: DType
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None = None

    @property
    def steps(self) -> tuple[int, ...]:
        """The strides, also where it is compact. Units: elements."""
        return compact(self.shape) if self.strides is None else self.strides

    @property
    def offset(self) -> int:
        """The offset in elements of its dtype; None if it is not a whole number."""
        elements, rest = divmod(self.pointer.at, itemsize(self.dtype))
        return 0 if rest else elements

    @property
    def origin(self) -> Pointer:
        """The place from which `offset` counts."""
        return self.pointer.moved(-self.offset * itemsize(self.dtype))

    def numpy(self) -> np.ndarray:
        """The array; lanes are a last axis."""
        return view(self.pointer, self.dtype, self.shape, self.strides)


@dataclass(slots=True)
class Meter:
    """The remaining budget. Units: iterations and calls, bytes of one call of the implementation."""

    steps: int
    bytes: int

    def span(self, first: int, extent: int, step: int = 1) -> range:
        """The values of a loop, which are paid for before. Fails: `Meaningless`, `Spent`."""
        if extent < 0 or step <= 0:
            raise Meaningless(f"a loop of extent {extent}, step {step}")
        indices = range(first, first + extent, step)
        self.steps -= len(indices)
        if self.steps < 0:
            raise Spent("the limit of steps")
        return indices

    def tick(self) -> bool:
        """Pay for one step. Fails: `Spent`."""
        self.steps -= 1
        if self.steps < 0:
            raise Spent("the limit of steps")
        return True

    def fresh(self, kind: DType, shape: Sequence[int], strides: Sequence[int] = (), offset: int = 0) -> Pointer:
        """Memory for a buffer, as NumPy gives it. Fails: `Meaningless`, `Spent`."""
        if any(extent < 0 for extent in shape):
            raise Meaningless(f"a buffer of shape {tuple(shape)}")
        count = prod(shape) if not strides else reach(shape, strides)
        return self.allocated((count + offset) * itemsize(kind))

    def allocated(self, count: int) -> Pointer:
        """`count` bytes. Fails: `Spent`."""
        self.bytes -= count
        if self.bytes < 0:
            raise Spent("the limit of bytes")
        return Pointer(np.empty(count, np.uint8))


def compact(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides. Units: elements."""
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


def reach(shape: Sequence[int], strides: Sequence[int]) -> int:
    """The elements from the first to the last that the strides reach."""
    return 0 if 0 in shape else 1 + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))


def view(
    pointer: Pointer, kind: DType, shape: Sequence[int], strides: Sequence[int] | None = None, offset: int = 0
) -> np.ndarray:
    """The array of a buffer on memory; lanes are a last axis. Fails: `Meaningless` where it is not inside."""
    stored, size = storage_dtype(kind), itemsize(kind)
    extents = tuple(shape)
    steps = tuple(step * size for step in (strides or compact(extents)))
    if kind.is_vector:
        extents, steps = (*extents, kind.lanes), (*steps, stored.itemsize)
    if 0 in extents:
        return np.empty(extents, stored)
    try:
        return np.ndarray(extents, stored, pointer.memory.data, pointer.at + offset * size, steps)
    except (TypeError, ValueError) as problem:
        raise Meaningless(f"an array of shape {tuple(shape)} on {pointer.memory.size} bytes: {problem}") from None


def of_tensor(tensor: Tensor) -> Array:
    """The array on the memory of `tensor`."""
    return Array(Pointer(tensor.storage.array, tensor.byte_offset), tensor.dtype, tensor.shape, tensor.strides)


def to_tensor(array: Array) -> Tensor:
    """The tensor on the memory of `array`, all of it counting as written."""
    storage = Storage.from_array(array.pointer.memory, origin="")
    tensor = Tensor(storage, array.dtype, array.shape, array.strides, array.pointer.at)
    tensor.mark_initialised()
    return tensor


Load = Callable[..., list[object]]


def gatherer(kind: DType, zero: object) -> Load:
    """What loads the elements at the last indices `at`, `kind` being the buffer's; lanes that are off are `zero`."""
    load_element, wide = loaded(kind), kind.is_vector

    def gather(
        array: np.ndarray, before: tuple[int, ...], at: Sequence[int], on: Sequence[bool] | None = None
    ) -> list[object]:
        lanes: list[object] = []
        for number, place in enumerate(at):
            if on is not None and not on[number]:
                lanes += [zero] * kind.lanes
            elif wide:
                lanes += map(load_element, array[(*before, place)])
            else:
                lanes.append(load_element(array[(*before, place)]))
        return lanes

    return gather


def whole_loader(kind: DType) -> Callable[[np.ndarray], list[object]]:
    """What makes an element with lanes a list."""
    load_element = loaded(kind)
    return lambda element: [load_element(lane) for lane in element]


def scatter(
    array: np.ndarray, before: tuple[int, ...], at: Sequence[int], values: Sequence[object], on: Sequence[bool] | None
) -> None:
    """Store `values` at the last indices `at`, from lane 0 on, where `on` says so."""
    lanes = len(values) // len(at)
    for number, place in enumerate(at):
        if on is None or on[number]:
            part = values[number * lanes : (number + 1) * lanes]
            array[(*before, place)] = part[0] if lanes == 1 and array.ndim == len(before) + 1 else part


def selected_lanes(condition: Sequence[object] | bool, yes: Sequence[object], no: Sequence[object]) -> list[object]:
    """Lane by lane the one or the other."""
    on = [condition] * len(yes) if isinstance(condition, bool) else condition
    return [a if where else b for where, a, b in zip(on, yes, no, strict=True)]


def ramp(kind: DType) -> Callable[[int, int], list[int]]:
    """What makes the lanes base, base + stride and so on; wrapped where additions of the dtype wrap."""
    if kind.bits < 32:
        scalar = kind.scalar
        return lambda base, stride: [wrapped(base + stride * lane, scalar) for lane in range(kind.lanes)]
    return lambda base, stride: [base + stride * lane for lane in range(kind.lanes)]


def active(base: int, limit: int, lanes: int) -> list[bool]:
    """Whether base + lane is below the limit."""
    return [base + lane < limit for lane in range(lanes)]


def picked(vectors: Sequence[object], places: Sequence[int]) -> object:
    """The lanes of all `vectors` that `places` name; one place gives a scalar."""
    everything = [lane for vector in vectors for lane in (vector if isinstance(vector, list) else [vector])]
    lanes_picked = [everything[place] for place in places]
    return lanes_picked if len(lanes_picked) > 1 else lanes_picked[0]


def repeated(value: object, lanes: int) -> list[object]:
    """The same value, or lanes, again and again."""
    return (value if isinstance(value, list) else [value]) * lanes
