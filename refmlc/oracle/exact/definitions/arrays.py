"""Arrays of exact numbers: elementwise, along axes, as integers."""

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from refmlc.oracle.exact.definitions.numbers import ExactNumber, Format, format_of, wide as wide_dtype

Array: TypeAlias = np.ndarray[Any, Any]


def numbers(x: Array, *, wide: bool = False) -> Array:
    """The elements as exact numbers. `wide`: narrow floats are computed in float32 (`at::opmath_type` of PyTorch)."""
    form = format_of(wide_dtype(x.dtype) if wide else x.dtype)
    if x.dtype.kind in "biu" or form is None:
        return filled(x.shape, (ExactNumber(Fraction(int(item))) for item in x.reshape(-1)))
    exact = x.astype(np.float64)
    return filled(x.shape, (ExactNumber(_real(item), 0.0, form) for item in exact.reshape(-1).tolist()))


def _real(value: float) -> Fraction | float:
    """A float as a rational; -0, NaN and infinities stay floats."""
    if not math.isfinite(value) or (not value and math.copysign(1.0, value) < 0):
        return value
    return Fraction(value)


def filled(shape: Sequence[int], items: Iterable[object]) -> Array:
    """An array of objects in row-major order."""
    result = np.empty(math.prod(shape), object)
    for place, item in enumerate(items):
        result[place] = item
    return result.reshape(tuple(shape))


def mapped(function: Callable[..., object], *arrays: Array) -> Array:
    """A function of the elements, the arrays being broadcast to each other."""
    together = np.broadcast_arrays(*arrays)
    flat = zip(*(array.reshape(-1) for array in together), strict=True)
    return filled(together[0].shape, (function(*items) for items in flat))


def axes_of(axis: int | Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """Axes as numbers from 0, all where there is none."""
    if axis is None:
        return tuple(range(rank))
    several = (axis,) if isinstance(axis, int) else tuple(axis)
    return tuple(each % rank for each in several)


def reduced(
    function: Callable[[list[ExactNumber]], object], x: Array, axes: Sequence[int], *, keepdims: bool = False
) -> Array:
    """A function of the elements over `axes`, in row-major order of these."""
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    turned = x.transpose([*kept, *axes])
    shape = tuple(x.shape[axis] for axis in kept)
    groups = turned.reshape(math.prod(shape), math.prod(x.shape[axis] for axis in axes))
    result = filled(shape, (function(list(group)) for group in groups))
    return np.expand_dims(result, tuple(axes)) if keepdims else result


def along(function: Callable[[list[ExactNumber]], Sequence[object]], x: Array, axis: int) -> Array:
    """A function from the elements along an axis to as many."""
    turned = np.moveaxis(x, axis, -1)
    rows = [function(list(row)) for row in turned.reshape(-1, turned.shape[-1])] if turned.size else []
    return np.moveaxis(filled(turned.shape, (item for row in rows for item in row)), -1, axis)


def form_of(x: Array, *, wide: bool = False) -> Format | None:
    """The format in which the elements of an array of NumPy are computed."""
    return format_of(wide_dtype(x.dtype) if wide else x.dtype)
