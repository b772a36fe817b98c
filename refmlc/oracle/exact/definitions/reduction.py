"""Sums, products, extremes, moments; running sums and products."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from refmlc.oracle.exact.definitions.arrays import Array, along, axes_of, filled, form_of, numbers, reduced
from refmlc.oracle.exact.definitions.creation import dtype_named
from refmlc.oracle.exact.definitions.definition import (
    INTEGER,
    NUMPY,
    ONNX,
    PYTORCH,
    SAME,
    SUM,
    WIDE_SUM,
    ExactDefinition,
    NoDefinition,
)
from refmlc.oracle.exact.definitions.functions import function
from refmlc.oracle.exact.definitions.numbers import (
    UNKNOWN,
    UP,
    ExactNumber,
    Format,
    above,
    format_of,
    greatest,
    is_nan,
    least,
    product,
    quotient,
    special,
    total,
)

Axes = int | Sequence[int] | None
PRODUCT = "(n - 1) * u of the product of n terms in any order; none where a part of it may leave the range"


def _over(function: Callable[[list[ExactNumber], Format | None], ExactNumber]) -> Callable[..., Array]:
    def operator(x: Array, *, axis: Axes = None, keepdims: bool = False) -> Array:
        form = form_of(x)
        return reduced(lambda terms: function(terms, form), numbers(x), axes_of(axis, x.ndim), keepdims=keepdims)

    return operator


def count(terms: Sequence[ExactNumber], form: Format | None) -> ExactNumber:
    """How many terms there are."""
    return ExactNumber(Fraction(len(terms)), 0.0, form)


def mean_of(terms: Sequence[ExactNumber], form: Format | None) -> ExactNumber:
    """The sum by the number of terms, without its fraction for integers; without a definition where there is none."""
    return quotient(total(terms, form), count(terms, form)) if terms else UNKNOWN


def moments(terms: Sequence[ExactNumber], form: Format | None) -> tuple[ExactNumber, ExactNumber]:
    """The mean, and the mean of the squared distances to it: two passes.

    With an error d of the mean the sum of squares grows by n d², and its terms and their sum are rounded n + 3 times
    (Chan, Golub and LeVeque 1983, 2.3), so the variance has the error (n + 3) u (v + d²) + d².
    """
    if form is None:
        raise NoDefinition("the variance of integers")
    mean = mean_of(terms, form)
    if special(mean.value) or mean.error == math.inf:
        known = mean.error == 0
        return mean, ExactNumber(math.nan, 0.0, form) if known else UNKNOWN
    squares = sum(((term.rational - mean.rational) ** 2 for term in terms), Fraction(0))
    variance = squares / len(terms)
    away = mean.used() + sum(term.used() for term in terms)
    steps = (len(terms) + 3) * form.unit
    if above(squares) * UP + len(terms) * away**2 > form.greatest or steps >= 1:
        return mean, UNKNOWN
    error = (steps / (1 - steps) * (above(variance) + away**2) + away**2 + 2 * above(form.least)) * UP
    return mean, ExactNumber(variance, error, form, fresh=True)


def variance_of(terms: Sequence[ExactNumber], form: Format | None) -> ExactNumber:
    """The mean of the squared distances to the mean, by as many as there are."""
    return moments(terms, form)[1] if terms else UNKNOWN


def deviation_of(terms: Sequence[ExactNumber], form: Format | None) -> ExactNumber:
    """The root of the variance."""
    variance = variance_of(terms, form)
    return variance if variance.error == math.inf else function("sqrt", variance, positive=True)


def _wide_over(function: Callable[[list[ExactNumber], Format | None], ExactNumber]) -> Callable[..., Array]:
    def operator(x: Array, *, axis: Axes = None, keepdims: bool = False) -> Array:
        form = form_of(x, wide=True)
        items = numbers(x, wide=True)
        return reduced(lambda terms: function(terms, form), items, axes_of(axis, x.ndim), keepdims=keepdims)

    return operator


def _place(upwards: bool) -> Callable[..., Array]:
    """The first place of the extreme; of the first NaN where there is one."""

    def place(terms: list[ExactNumber]) -> int:
        for at, term in enumerate(terms):
            if is_nan(term):
                return at
        order = [term.value for term in terms]
        return order.index(max(order) if upwards else min(order))

    def operator(x: Array, *, axis: int | None = None, keepdims: bool = False) -> Array:
        axes = axes_of(axis, x.ndim)
        if not all(x.shape[each] for each in axes):
            raise NoDefinition("the place of an extreme of no elements")
        return reduced(place, numbers(x), axes, keepdims=keepdims).astype(np.int64)

    return operator


def _running(step: Callable[[list[ExactNumber], Format | None], ExactNumber]) -> Callable[..., Array]:
    def operator(x: Array, *, axis: int | None = None, dtype: str | None = None, exclusive: bool = False) -> Array:
        kind = dtype_named(dtype, x.dtype)
        form = format_of(kind)
        items = numbers(x) if axis is not None else numbers(x).reshape(-1)
        if form is None and form_of(x) is not None:
            raise NoDefinition("a running sum of floats in integers")
        items = filled(
            items.shape, (ExactNumber(item.value, 0.0, form, fresh=kind != x.dtype) for item in items.reshape(-1))
        )

        def scanned(row: list[ExactNumber]) -> list[ExactNumber]:
            return [step(row[: at if exclusive else at + 1], form) for at in range(len(row))]

        return along(scanned, items, 0 if axis is None else axis)

    return operator


def _collapsed(x: Array, shape: Sequence[int]) -> Array:
    form, missing = form_of(x), x.ndim - len(shape)
    axes = [*range(missing), *(missing + at for at, n in enumerate(shape) if n == 1 and x.shape[missing + at] != 1)]
    return reduced(lambda terms: total(terms, form), numbers(x), axes).reshape(tuple(shape))


def collapse_sum_like(x: Array, target: Array) -> Array:
    """The sum over the axes that broadcasting adds or repeats."""
    return _collapsed(x, target.shape)


def multinomial(prob: Array, uniform: Array, indices: Array, *, dtype: str = "int64") -> Array:
    """The first place whose running sum is above the number, else the last; several where the sums may be on a side."""
    del dtype
    form, items, samples = form_of(prob), numbers(prob), numbers(uniform)

    def place(at: int) -> ExactNumber:
        row, number = items[int(indices[at, 0])], samples[at, 0]
        if any(special(term.value) or term.value < 0 for term in (*row, number)):
            return UNKNOWN  # these are no probabilities
        sums = [total(list(row[: end + 1]), form) for end in range(len(row))]
        ends = []
        for side in (1, -1):
            above_it = (k for k, s in enumerate(sums) if s.rational + side * Fraction(s.used()) > number.rational)
            ends.append(Fraction(next(above_it, len(row) - 1)))
        middle = (ends[0] + ends[1]) / 2
        return ExactNumber(middle, float(ends[1] - middle))

    return filled((len(indices), 1), map(place, range(len(indices))))


REDUCTION = (
    ExactDefinition("sum", _over(total), f"{NUMPY} numpy.sum; integers wrap", SUM),
    ExactDefinition("prod", _over(product), f"{NUMPY} numpy.prod; integers wrap", PRODUCT),
    ExactDefinition("max", _over(lambda terms, _form: greatest(terms)), f"{NUMPY} numpy.max: NaN is kept", SAME),
    ExactDefinition("min", _over(lambda terms, _form: least(terms)), f"{NUMPY} numpy.min: NaN is kept", SAME),
    ExactDefinition("mean", _wide_over(mean_of), f"{NUMPY} numpy.mean: float16 by float32", WIDE_SUM),
    ExactDefinition("variance", _wide_over(variance_of), f"{NUMPY} numpy.var: float16 by float32", WIDE_SUM),
    ExactDefinition("std", _wide_over(deviation_of), f"{NUMPY} numpy.std: float16 by float32", WIDE_SUM),
    ExactDefinition("argmax", _place(upwards=True), f"{NUMPY} numpy.argmax: the first NaN, else the first", INTEGER),
    ExactDefinition("argmin", _place(upwards=False), f"{NUMPY} numpy.argmin: the first NaN, else the first", INTEGER),
    ExactDefinition("cumsum", _running(total), f"{NUMPY} numpy.cumsum, {ONNX} CumSum (exclusive)", SUM),
    ExactDefinition("cumprod", _running(product), f"{NUMPY} numpy.cumprod", PRODUCT),
    ExactDefinition("collapse_sum_to", _collapsed, f"{PYTORCH} torch.Tensor.sum_to_size", SUM),
    ExactDefinition("collapse_sum_like", collapse_sum_like, f"{PYTORCH} torch.Tensor.sum_to_size", SUM),
    ExactDefinition(
        "multinomial_from_uniform", multinomial, f"{PYTORCH} torch.multinomial by inversion (Devroye 1986, III.2)", SUM
    ),
)
