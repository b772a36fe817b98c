"""Tensors from shapes and numbers, and conversions."""

import math
from collections.abc import Callable
from fractions import Fraction

import ml_dtypes
import numpy as np

from refmlc.oracle.exact.definitions.arrays import Array, filled, form_of, mapped, numbers
from refmlc.oracle.exact.definitions.definition import (
    FORMULA,
    NUMPY,
    PYTORCH,
    ROUNDED,
    SAME,
    ExactDefinition,
    NoDefinition,
)
from refmlc.oracle.exact.definitions.functions import function, pi
from refmlc.oracle.exact.definitions.numbers import UNKNOWN, ExactNumber, constant, format_of, special

Shape = tuple[int, ...]


def dtype_named(name: object, otherwise: np.dtype | None = None) -> np.dtype:
    """NumPy's dtype of a name; `otherwise` where there is none."""
    if name in (None, "", "void"):
        if otherwise is None:
            raise NoDefinition("a call without a dtype")
        return otherwise
    return np.dtype(getattr(ml_dtypes, str(name), str(name)))


def _filled(value: int) -> Callable[..., Array]:
    return lambda shape, *, dtype="float32": np.full(shape, value).astype(dtype_named(dtype))


def _filled_like(value: int) -> Callable[..., Array]:
    return lambda x, *, dtype=None: np.full(x.shape, value).astype(dtype_named(dtype, x.dtype))


def full(shape: Shape, fill_value: Array, *, dtype: str | None = None) -> Array:
    """The value everywhere."""
    return np.broadcast_to(converted(fill_value, dtype_named(dtype, fill_value.dtype)), shape)


def full_like(x: Array, fill_value: Array, *, dtype: str | None = None) -> Array:
    """The value everywhere."""
    return np.broadcast_to(converted(fill_value, dtype_named(dtype, x.dtype)), x.shape)


def eye(n: int, m: int, k: int, *, dtype: str = "float32") -> Array:
    """Ones on a diagonal."""
    return np.eye(n, m, k).astype(dtype_named(dtype))


def eye_like(x: Array, k: int, *, dtype: str | None = None) -> Array:
    """Ones on a diagonal."""
    return np.eye(x.shape[0], x.shape[1], k).astype(dtype_named(dtype, x.dtype))


def arange(start: float, stop: float, step: float, *, dtype: str = "float32") -> Array:
    """Start + i step: as many as ceil((stop - start) / step). Numbers that are no integers are those of float32."""
    written = any(isinstance(number, float) for number in (start, stop, step))
    form, (first, last, by) = format_of(dtype_named(dtype)), map(Fraction, (start, stop, step))
    if written and form is None:
        raise NoDefinition("a range of floats in integers")
    count = max(0, math.ceil((last - first) / by))
    if not written:
        return filled((count,), (ExactNumber(first + place * by, 0.0, form) for place in range(count)))
    single = format_of(np.dtype("float32"))
    return filled((count,), (constant(first, single) + constant(by, single) * place for place in range(count)))


def converted(x: Array, dtype: np.dtype) -> Array:
    """The elements in another dtype: rounded to nearest, to 0 for integers; anything where it does not fit one."""
    form, source = format_of(dtype), form_of(x)
    if dtype == np.dtype(bool):
        return x.astype(np.float64) != 0 if source is not None else x != 0
    if form is not None or source is None:
        return mapped(lambda number: ExactNumber(number.value, 0.0, form), numbers(x))
    low, high = (int(end) for end in (ml_dtypes.iinfo(dtype).min, ml_dtypes.iinfo(dtype).max))

    def integer(number: ExactNumber) -> ExactNumber:
        if special(number.value) or not low <= math.trunc(number.rational) <= high:
            return UNKNOWN
        return ExactNumber(Fraction(math.trunc(number.rational)))

    return mapped(integer, numbers(x))


def astype(x: Array, *, dtype: str) -> Array:
    """The elements in another dtype."""
    return converted(x, dtype_named(dtype))


def wrap_param(x: Array, *, dtype: str = "float32") -> Array:
    """The elements in another dtype."""
    return converted(x, dtype_named(dtype))


def hamming_window(size: int, periodic: int, alpha: float, beta: float, *, dtype: str = "float32") -> Array:
    """Alpha - beta cos(2 pi i / n), n being the size, one less where the window is not periodic."""
    form = format_of(dtype_named(dtype))
    if size == 1:
        return np.ones(1).astype(dtype_named(dtype))
    last = size if periodic else size - 1

    def number(place: int) -> ExactNumber:
        angle = constant(2 * pi(), form) * place / last
        return constant(float(alpha), form) - constant(float(beta), form) * function("cos", angle)

    return filled((size,), map(number, range(size)))


def _triangle(cut: Callable[[Array, int], Array]) -> Callable[[Array, int], Array]:
    def triangle(x: Array, k: int) -> Array:
        inside = cut(np.ones(x.shape[-2:], bool), k)
        return np.where(inside, x, np.zeros((), x.dtype))

    return triangle


CREATION = (
    ExactDefinition("zeros", _filled(0), f"{NUMPY} numpy.zeros", SAME),
    ExactDefinition("ones", _filled(1), f"{NUMPY} numpy.ones", SAME),
    ExactDefinition("zeros_like", _filled_like(0), f"{NUMPY} numpy.zeros_like", SAME),
    ExactDefinition("ones_like", _filled_like(1), f"{NUMPY} numpy.ones_like", SAME),
    ExactDefinition("full", full, f"{NUMPY} numpy.full", ROUNDED),
    ExactDefinition("full_like", full_like, f"{NUMPY} numpy.full_like", ROUNDED),
    ExactDefinition("eye", eye, f"{NUMPY} numpy.eye", SAME),
    ExactDefinition("eye_like", eye_like, f"{NUMPY} numpy.eye", SAME),
    ExactDefinition("arange", arange, f"{NUMPY} numpy.arange: start + i * step", FORMULA),
    ExactDefinition("tril", _triangle(np.tril), f"{NUMPY} numpy.tril", SAME),
    ExactDefinition("triu", _triangle(np.triu), f"{NUMPY} numpy.triu", SAME),
    ExactDefinition("hamming_window", hamming_window, f"{PYTORCH} torch.hamming_window", FORMULA),
    ExactDefinition("astype", astype, f"IEEE 754-2019, 5.4.2; {NUMPY} numpy.ndarray.astype", ROUNDED),
    ExactDefinition("wrap_param", wrap_param, f"IEEE 754-2019, 5.4.2; {NUMPY} numpy.ndarray.astype", ROUNDED),
)
