"""Orders of elements, and elements counted. NaN is above every number; equal elements keep their order."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cmp_to_key

import numpy as np

from refmlc.oracle.exact.definitions.arrays import Array, along, filled, form_of, numbers, reduced
from refmlc.oracle.exact.definitions.creation import dtype_named
from refmlc.oracle.exact.definitions.definition import INTEGER, NUMPY, ONNX, PYTORCH, SAME, ExactDefinition
from refmlc.oracle.exact.definitions.numbers import UNKNOWN, ExactNumber, is_nan


def _before(a: ExactNumber, b: ExactNumber) -> int:
    """-1 where `a` stands before `b` in ascending order, 1 after it, 0 where they are equal."""
    if is_nan(a) or is_nan(b):
        return is_nan(a) - is_nan(b)
    return (a.value > b.value) - (a.value < b.value)


def _places(row: list[ExactNumber], *, descending: bool) -> list[int]:
    sign = -1 if descending else 1

    def compare(i: int, j: int) -> int:
        return sign * _before(row[i], row[j])

    return sorted(range(len(row)), key=cmp_to_key(compare))


def _ordered(x: Array, axis: int, *, descending: bool) -> Array:
    return along(lambda row: _places(row, descending=descending), numbers(x), axis).astype(np.int64)


def sort(x: Array, *, axis: int = -1, descending: bool = False) -> Array:
    """The elements in order."""
    return np.take_along_axis(x, _ordered(x, axis, descending=descending), axis)


def argsort(x: Array, *, axis: int = -1, descending: bool = False, dtype: str = "int32") -> Array:
    """Their places, equal ones in their order."""
    return _ordered(x, axis, descending=descending).astype(dtype_named(dtype))


def topk(
    x: Array, *, k: int = 1, axis: int = -1, ret_type: str = "both", largest: bool = True, dtype: str = "int32"
) -> object:
    """The first k of both; all where k is below 1."""
    places = _ordered(x, axis, descending=largest)
    places = places if k < 1 else np.take(places, range(k), axis)
    values, indices = np.take_along_axis(x, places, axis), places.astype(dtype_named(dtype))
    return {"both": (values, indices), "values": values, "indices": indices}[ret_type]


def median(x: Array, *, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> object:
    """The lower middle element, NaN where one is NaN (`torch.median`); its place where only one element equals it."""
    own = 0 if axis is None else axis if isinstance(axis, int) else axis[0]
    items = numbers(x) if axis is not None else numbers(x).reshape(-1)

    def middle(row: list[ExactNumber]) -> tuple[ExactNumber, ExactNumber]:
        broken = next((item for item in row if is_nan(item)), None)
        if broken is not None or not row:
            return broken or UNKNOWN, UNKNOWN
        at = _places(row, descending=False)[(len(row) - 1) // 2]
        alone = sum(item.value == row[at].value for item in row) == 1
        return row[at], ExactNumber(Fraction(at)) if alone else UNKNOWN

    both = reduced(middle, items, [own % items.ndim])
    values, places = (filled(both.shape, (pair[which] for pair in both.reshape(-1))) for which in (0, 1))
    if axis is None:
        return values.reshape([1] * x.ndim) if keepdims else values
    return tuple(np.expand_dims(part, own) if keepdims else part for part in (values, places))


def nonzero(x: Array) -> Array:
    """The indices of the elements that are not 0; a row for each dimension."""
    there = x.astype(np.float64) != 0 if form_of(x) is not None else x != 0
    return np.stack(np.nonzero(np.atleast_1d(there))).astype(np.int64)


def unique(
    x: Array,
    ordered: int | None = None,
    return_index: int | None = None,
    return_inverse: int | None = None,
    return_counts: int | None = None,
    axis: int | None = None,
) -> object:
    """Each slice once, ascending or in the order of the first ones; its first place, which one each is, how often."""
    data, own = (x.reshape(-1), 0) if axis is None else (x, axis % x.ndim)
    slices = [list(numbers(np.take(data, at, own)).reshape(-1)) for at in range(data.shape[own])]

    def compare(i: int, j: int) -> int:
        return next((sign for a, b in zip(slices[i], slices[j], strict=True) if (sign := _before(a, b))), 0)

    order = sorted(range(len(slices)), key=cmp_to_key(compare))
    groups: list[list[int]] = []
    for at in order:
        if groups and not compare(groups[-1][0], at):
            groups[-1].append(at)
        else:
            groups.append([at])
    if ordered is not None and not ordered:
        groups.sort(key=lambda group: group[0])
    which = {at: number for number, group in enumerate(groups) for at in group}
    results: list[Array] = [np.take(data, [group[0] for group in groups], own)]
    if return_index:
        results.append(np.array([group[0] for group in groups], np.int64))
    if return_inverse:
        results.append(np.array([which[at] for at in range(len(slices))], np.int64))
    if return_counts:
        results.append(np.array([len(group) for group in groups], np.int64))
    return results[0] if len(results) == 1 else tuple(results)


ORDERING = (
    ExactDefinition("sort", sort, f"{NUMPY} numpy.sort, {PYTORCH} torch.sort(stable=True)", SAME),
    ExactDefinition("argsort", argsort, f"{NUMPY} numpy.argsort(kind='stable')", INTEGER),
    ExactDefinition("topk", topk, f"{ONNX} TopK: of equal elements the lower index", INTEGER),
    ExactDefinition("median", median, f"{PYTORCH} torch.median", SAME),
    ExactDefinition("nonzero", nonzero, f"{NUMPY} numpy.nonzero, {ONNX} NonZero", INTEGER),
    ExactDefinition("unique", unique, f"{NUMPY} numpy.unique, {ONNX} Unique", INTEGER),
)
