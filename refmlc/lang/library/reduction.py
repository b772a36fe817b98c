"""Reductions over axes.

| operator              | the element                                                                     |
|-----------------------|---------------------------------------------------------------------------------|
| `sum`, `prod`         | terms added, multiplied, from 0, from 1                                         |
| `max`, `min`          | the greatest, the least; -inf and inf where there is none                       |
| `mean`                | the sum divided by the number of terms                                          |
| `variance`, `std`     | the mean of squared distances to the mean; its square root                      |
| `argmax`, `argmin`    | the place of the greatest, the least: of equal ones the first                   |

Axes: all where `axis` is None; negative ones count from the end. `keepdims` leaves extents of 1 in their place. Order:
terms are combined one after the other, the last axis innermost, in the dtype of the argument; every step is rounded.
"""

import math
from collections.abc import Callable, Sequence

from refmlc.lang import te
from refmlc.lang.library.definition import Operator, computed
from refmlc.lang.library.elementwise import mapped
from refmlc.lang.library.shapes import axes_of, known
from refmlc.lang.te import Axis, Tensor, Value

Axes = int | Sequence[int] | None
ONE = te.const(1, "int64")


def least(dtype: str) -> Value:
    """The lower bound of the dtype: -inf if it has that, else its least value."""
    row = te.const(0, dtype).expr.dtype
    return te.const(-math.inf, dtype) if row.is_float and row.format.has_infinity else te.min_value(dtype)


def greatest(dtype: str) -> Value:
    """The upper bound of the dtype."""
    row = te.const(0, dtype).expr.dtype
    return te.const(math.inf, dtype) if row.is_float and row.format.has_infinity else te.max_value(dtype)


MAX = te.comm_reducer(te.maximum, least, "max")
MIN = te.comm_reducer(te.minimum, greatest, "min")


def kept_shape(shape: Sequence[Value], axes: Sequence[int], *, keepdims: bool) -> tuple[Value, ...]:
    """The shape after a reduction over `axes`."""
    if keepdims:
        return tuple(ONE if place in axes else extent for place, extent in enumerate(shape))
    return tuple(extent for place, extent in enumerate(shape) if place not in axes)


def place_of(
    rank: int, axes: Sequence[int], over: Sequence[Value], i: Sequence[Value], *, keepdims: bool
) -> list[Value]:
    """The indices of a term: those of the result, with the variables of the reduction in place of `axes`."""
    rest = [index for place, index in enumerate(i) if not keepdims or place not in axes]
    outer, inner = iter(rest), iter(over)
    return [next(inner) if place in axes else next(outer) for place in range(rank)]


def over(x: Tensor, axes: Sequence[int]) -> tuple[list[Axis], Value | None]:
    """Variables of a reduction over `axes`, and the condition that a term is there; None: all are."""
    return over_extents([x.shape[axis] for axis in axes], [f"k{axis}" for axis in axes])


def over_extents(extents: Sequence[Value], names: Sequence[str]) -> tuple[list[Axis], Value | None]:
    """Variables of a reduction over these extents, and the condition that a term is there; None: all are.

    A block without instances has no init either. So an extent that may be 0 counts as 1, and its term is left out.
    """
    inner: list[Axis] = []
    conditions: list[Value] = []
    for extent, name in zip(extents, names, strict=True):
        size = known(extent)
        sure = size is not None and size > 0
        inner.append(te.reduce_axis((0, extent if sure else te.maximum(extent, 1)), name))
        if not sure:
            conditions.append(inner[-1] < extent)
    return inner, te.all(*conditions) if conditions else None


def reduced(
    x: Tensor, axis: Axes, reducer: Callable[..., object], *, keepdims: bool = False, name: str = "red"
) -> Tensor:
    """The terms of `x` combined over `axis`; the tensor itself over no axis."""
    axes = axes_of(axis, x.ndim)
    if not axes:
        return mapped(x, lambda value: value, name)
    inner, there = over(x, axes)
    shape = kept_shape(x.shape, axes, keepdims=keepdims)

    def element(*i: Value) -> object:
        return reducer(x(*place_of(x.ndim, axes, inner, i, keepdims=keepdims)), axis=inner, where=there)

    return computed(shape, element, name)


def count_of(x: Tensor, axes: Sequence[int], dtype: str) -> Value:
    """The number of terms, in `dtype`."""
    count: Value = ONE
    for axis in axes:
        count = count * x.shape[axis]
    number = getattr(count.expr, "value", None)
    return te.const(number, dtype) if isinstance(number, int) else te.cast(count, dtype)


def sum_(x: Tensor, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The sum of the elements over axes; 0 where there is none.

    Order: from 0 on, the last axis innermost, each step rounded in the dtype of the argument. Fails: RM105.
    """
    return reduced(x, axis, te.sum, keepdims=keepdims)


def prod(x: Tensor, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The product of the elements over axes; 1 where there is none.

    Order: from 1 on, the last axis innermost, each step rounded in the dtype of the argument. Fails: RM105.
    """
    return reduced(x, axis, te.prod, keepdims=keepdims)


def max_(x: Tensor, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The greatest element over axes; -inf, or the least integer, where there is none."""
    return reduced(x, axis, MAX, keepdims=keepdims)


def min_(x: Tensor, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The least element over axes; inf, or the greatest integer, where there is none."""
    return reduced(x, axis, MIN, keepdims=keepdims)


def mean(x: Tensor, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The sum divided by the number of terms; of integers rounded to 0.

    Order: that of `sum`, then one division. Fails: RM105.
    """
    total = reduced(x, axis, te.sum, keepdims=keepdims)
    count = count_of(x, axes_of(axis, x.ndim), x.dtype)
    return mapped(total, lambda value: te.div(value, count), "T_divide")


def variance(x: Tensor, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The mean of the squared distances to the mean, over as many terms as there are (not one less).

    Order: the mean, each distance and its square rounded, then their mean. Fails: RM105.
    """
    axes = axes_of(axis, x.ndim)
    middle = mean(x, axis=axes, keepdims=True)

    def distance(*i: Value) -> Value:
        return x(*i) - middle(*(index * 0 if place in axes else index for place, index in enumerate(i)))

    squares = computed(x.shape, lambda *i: distance(*i) * distance(*i), "T_multiply")
    return mean(squares, axis=axes, keepdims=keepdims)


def std(x: Tensor, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The square root of the variance."""
    return mapped(variance(x, axis=axis, keepdims=keepdims), te.sqrt, "compute")


def _extreme(name: str, start: Callable[[str], Value], *, upwards: bool) -> Callable[..., object]:
    """The reducer of (place, element) that keeps the best element, of equal ones the first place.

    It starts behind every place, from what no element is worse than, so that the first element always counts.
    """

    def better(a: Sequence[Value], b: Sequence[Value]) -> tuple[Value, Value]:
        ahead = a[1] > b[1] if upwards else a[1] < b[1]
        keeps = te.any(ahead, te.all(a[1] == b[1], a[0] < b[0]))
        return te.select(keeps, a[0], b[0]), te.select(ahead, a[1], b[1])

    return te.comm_reducer(better, lambda place, value: (te.max_value(place), start(value)), name)


ARGMAX = _extreme("argmax", least, upwards=True)
ARGMIN = _extreme("argmin", greatest, upwards=False)


def _arg(x: Tensor, axis: int | None, reducer: Callable[..., object], *, keepdims: bool, name: str) -> Tensor:
    axes = axes_of(axis, x.ndim)
    inner, there = over(x, axes)
    shape = kept_shape(x.shape, axes, keepdims=keepdims)
    place: Value = te.const(0, "int64")
    for each_axis, along in zip(axes, inner, strict=True):
        place = place * x.shape[each_axis] + along

    def element(*i: Value) -> object:
        return reducer((place, x(*place_of(x.ndim, axes, inner, i, keepdims=keepdims))), axis=inner, where=there)

    both = te.compute(shape, element, name=name)
    index = both[0] if isinstance(both, tuple) else both
    return computed(shape, index, f"{name}_place")


def argmax(x: Tensor, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The place of the greatest element along an axis, or in row-major order; of equal ones the first. int64."""
    return _arg(x, axis, ARGMAX, keepdims=keepdims, name="argmax")


def argmin(x: Tensor, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The place of the least element along an axis, or in row-major order; of equal ones the first. int64."""
    return _arg(x, axis, ARGMIN, keepdims=keepdims, name="argmin")


REDUCTION = (
    Operator("sum", sum_, "LIB-601", ("sum",)),
    Operator("prod", prod, "LIB-601", ("prod",)),
    Operator("max", max_, "LIB-602", ("max",)),
    Operator("min", min_, "LIB-602", ("min",)),
    Operator("mean", mean, "LIB-603"),
    Operator("variance", variance, "LIB-604"),
    Operator("std", std, "LIB-604"),
    Operator("argmax", argmax, "LIB-605", ("argmax",)),
    Operator("argmin", argmin, "LIB-605", ("argmin",)),
)
