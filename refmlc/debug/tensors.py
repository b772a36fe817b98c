"""Views of tensors: pages, statistics, single elements. Order: row-major, whatever the strides."""

from collections.abc import Iterator, Sequence
from math import isinf, isnan, prod

import numpy as np

from refmlc.debug.session_data import Statistics, TensorPage
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lang.dtypes import DType
from refmlc.lang.ops.contract import Scalar
from refmlc.observe.why.outline import number
from refmlc.run.memory.tensor import Tensor

PAGE = 100
BYTE = 8


def offset_of(tensor: Tensor, index: Sequence[int]) -> int:
    """The cell number of an element. Fails: RM112 for an index out of bounds."""
    if len(index) != tensor.ndim or not all(0 <= at < extent for at, extent in zip(index, tensor.shape, strict=True)):
        indices = ", ".join(map(str, index))
        raise fail(BAD_USAGE, f"index [{indices}] is out of bounds: the shape is {shape_of(tensor)}")
    return sum(at * step for at, step in zip(index, tensor.element_strides, strict=True)) * tensor.dtype.lanes


def shape_of(tensor: Tensor) -> str:
    """The shape as text: `4x8`, or `scalar`."""
    return "x".join(map(str, tensor.shape)) or "scalar"


def dtype_of(value: object) -> str:
    """The dtype of a tensor as text; "" for any other value."""
    return str(value.dtype) if isinstance(value, Tensor) else ""


def element(tensor: Tensor, index: Sequence[int]) -> object:
    """An element, for vectors a tuple of lanes; None: not initialised."""
    first, lanes = offset_of(tensor, index), tensor.dtype.lanes
    if not all(tensor.shadow[first + lane] for lane in range(lanes)):
        return None
    values = tuple(tensor.cells[first + lane] for lane in range(lanes))
    return values[0] if lanes == 1 else values


def put(tensor: Tensor, index: Sequence[int], value: Scalar) -> None:
    """Write an element and mark it as initialised. Fails: RM112."""
    first = offset_of(tensor, index)
    try:
        for lane in range(first, first + tensor.dtype.lanes):
            tensor.cells[lane] = value
            tensor.shadow[lane] = 1
    except (TypeError, ValueError, OverflowError) as problem:
        raise fail(BAD_USAGE, f"{value} cannot be an element of {tensor.dtype}: {problem}") from None


def region(tensor: Tensor, axes: Sequence[int | slice]) -> tuple[Tensor, tuple[int | range, ...]]:
    """The part of a tensor that `axes` select, in the same memory, with the indices of each axis.

    Missing axes are taken whole; bounds beyond an extent end there, as in Python. Fails: RM112 for too many axes, an
    index out of bounds, a negative bound, and a step below 1.
    """
    if len(axes) > tensor.ndim:
        raise fail(BAD_USAGE, f"{len(axes)} indices are given, the tensor has {tensor.ndim} axes")
    missing_axes = [slice(None)] * (tensor.ndim - len(axes))
    ranges = tuple(_axis_range(axis, extent) for axis, extent in zip((*axes, *missing_axes), tensor.shape, strict=True))
    steps = tensor.element_strides
    empty = any(isinstance(axis, range) and not axis for axis in ranges)
    starts = (axis.start if isinstance(axis, range) else axis for axis in ranges)
    first = 0 if empty else sum(start * step for start, step in zip(starts, steps, strict=True))
    remaining = [
        (len(axis), axis.step * step) for axis, step in zip(ranges, steps, strict=True) if isinstance(axis, range)
    ]
    shape, strides = tuple(extent for extent, _ in remaining), tuple(step for _, step in remaining)
    offset = tensor.byte_offset + first * tensor.itemsize
    return Tensor(tensor.storage, tensor.dtype, shape, strides, offset), ranges


def _axis_range(axis: int | slice, extent: int) -> int | range:
    if isinstance(axis, int):
        if not 0 <= axis < extent:
            raise fail(BAD_USAGE, f"index {axis} is out of bounds: the extent is {extent}")
        return axis
    if min(axis.start or 0, axis.stop or 0) < 0 or (axis.step is not None and axis.step < 1):
        raise fail(BAD_USAGE, "the bounds of a region must not be negative, and its step must be at least 1")
    return range(*axis.indices(extent))


def page(tensor: Tensor, start: int = 0, count: int = PAGE) -> TensorPage:
    """`count` elements from number `start` on."""
    start = max(0, start)
    numbers = range(start, min(prod(tensor.shape), start + count))
    indices = tuple(_unravel(number, tensor.shape) for number in numbers)
    return TensorPage(start, indices, tuple(element(tensor, index) for index in indices))


def _unravel(number: int, shape: Sequence[int]) -> tuple[int, ...]:
    index = []
    for extent in reversed(shape):
        number, at = divmod(number, extent)
        index.append(at)
    return tuple(reversed(index))


def initialised(tensor: Tensor) -> np.ndarray:
    """The mask of written elements (with all lanes), in the shape of the tensor."""
    mask = tensor.written
    return mask if not tensor.dtype.is_vector else np.asarray(mask.all(axis=-1))


def statistics(tensor: Tensor) -> Statistics:
    """The statistics of a tensor."""
    mask = initialised(tensor)
    count, initialised_count = int(mask.size), int(mask.sum())
    if tensor.dtype.kind not in ("float", "int", "uint", "bool") or tensor.dtype.lanes > 1 or not initialised_count:
        return Statistics(count, initialised_count, 0, 0, None, None, None)
    with np.errstate(all="ignore"):
        values = (
            np.array([float(value) for value in _values(tensor, mask)])
            if tensor.dtype.bits < BYTE  # NumPy has no such dtype
            else (np.asarray(tensor.array)[mask].astype(np.float64))
        )
        finite = values[np.isfinite(values)]
        least, greatest, mean = (
            (None, None, None) if not finite.size else (float(finite.min()), float(finite.max()), float(finite.mean()))
        )
    return Statistics(
        count, initialised_count, int(np.isnan(values).sum()), int(np.isinf(values).sum()), least, greatest, mean
    )


def _values(tensor: Tensor, mask: np.ndarray) -> Iterator[Scalar]:
    for index in np.ndindex(*tensor.shape):
        if mask[index]:
            yield tensor.cells[offset_of(tensor, index)]


def digits(value: object, dtype: DType | None) -> str:
    """A number with as few digits as its dtype needs; a vector lane by lane."""
    if isinstance(value, tuple):
        return f"({', '.join(digits(lane, dtype) for lane in value)})"
    if isinstance(value, bool | int | float) and dtype is not None:
        return number(value, dtype.scalar)
    return repr(value)


def is_special(value: object) -> str:
    """`nan` or `inf` for such a number, else ""."""
    if not isinstance(value, float):
        return ""
    return "nan" if isnan(value) else "inf" if isinf(value) else ""
