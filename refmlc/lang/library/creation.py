"""Tensors made from shapes and numbers, and conversions.

| operator                                  | the elements                                                          |
|-------------------------------------------|-----------------------------------------------------------------------|
| `zeros`, `ones`, `full`, and `…_like`     | one number                                                            |
| `eye`, `eye_like`                         | 1 on diagonal `k`, else 0                                             |
| `arange`                                  | start, start + step …, below stop                                     |
| `tril`, `triu`                            | those of the argument up to, from diagonal `k`, else 0                |
| `hamming_window`                          | `alpha - beta * cos(2 * pi * i / (n - 1))`                            |
| `astype`, `wrap_param`                    | those of the argument, converted                                      |
"""

import math

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.lang import te
from refmlc.lang.dtypes import INT64
from refmlc.lang.library.definition import Operator, Shape, computed
from refmlc.lang.te import Tensor, Value


def _filled(shape: Shape, value: Value, name: str = "T_full") -> Tensor:
    return computed(shape, lambda *_i: value, name)


def _dtype(dtype: object, otherwise: str) -> str:
    """The dtype that an attribute names; TVM's text has None or "void" where it is left out."""
    return otherwise if dtype in (None, "", "void") else str(dtype)


def zeros(shape: Shape, *, dtype: str = "float32") -> Tensor:
    """The number 0 at each place of a shape."""
    return _filled(shape, te.const(0, str(dtype)))


def ones(shape: Shape, *, dtype: str = "float32") -> Tensor:
    """The number 1 at each place of a shape."""
    return _filled(shape, te.const(1, str(dtype)))


def full(shape: Shape, fill_value: Tensor, *, dtype: str | None = None) -> Tensor:
    """The element of a tensor without dimensions at each place of a shape, converted to `dtype`."""
    if fill_value.ndim:
        raise fail(BAD_ARGUMENTS, f"the value of `full` is a tensor without dimensions; this has {fill_value.ndim}")
    return _filled(shape, te.cast(fill_value(), _dtype(dtype, fill_value.dtype)))


def zeros_like(x: Tensor, *, dtype: str | None = None) -> Tensor:
    """The number 0 at each place of a tensor."""
    return _filled(x.shape, te.const(0, _dtype(dtype, x.dtype)))


def ones_like(x: Tensor, *, dtype: str | None = None) -> Tensor:
    """The number 1 at each place of a tensor."""
    return _filled(x.shape, te.const(1, _dtype(dtype, x.dtype)))


def full_like(x: Tensor, fill_value: Tensor, *, dtype: str | None = None) -> Tensor:
    """The element of a tensor without dimensions at each place of another tensor."""
    return full(x.shape, fill_value, dtype=_dtype(dtype, x.dtype))


def eye(n: Value, m: Value, k: Value, *, dtype: str = "float32") -> Tensor:
    """1 on diagonal `k` of an n by m matrix, else 0; positive `k` lies above the main diagonal."""
    one, zero = te.const(1, str(dtype)), te.const(0, str(dtype))
    return computed((n, m), lambda i, j: te.select(te.cast(j, "int64") == i + k, one, zero), "eye")


def eye_like(x: Tensor, k: Value, *, dtype: str | None = None) -> Tensor:
    """`eye` of the shape of a matrix."""
    if x.ndim != 2:
        raise fail(BAD_ARGUMENTS, f"`eye_like` takes a matrix; the argument has {x.ndim} dimensions")
    rows, columns = x.shape
    return eye(rows, columns, k, dtype=_dtype(dtype, x.dtype))


def arange(start: Value, stop: Value, step: Value, *, dtype: str = "float32") -> Tensor:
    """Start, start + step, …: as many as `ceil((stop - start) / step)`, none where that is negative.

    Dtypes: `start + i * step` is computed in the dtype of the numbers, then converted to `dtype`. Fails: RM105 for a
    step of 0, or for floats that are not known when the module is read.
    """
    numbers = [getattr(operand.expr, "value", None) for operand in (start, stop, step)]
    if all(isinstance(operand, int | float) for operand in numbers):
        first, last, by = (float(operand) if isinstance(operand, float) else int(operand or 0) for operand in numbers)
        extent: Value = te.const(_length(first, last, by), "int64")
    elif all(operand.expr.dtype.is_integer for operand in (start, stop, step)):
        extent = te.cast(te.maximum(_rounded_up(stop - start, step), 0), "int64")
    else:
        raise fail(BAD_ARGUMENTS, "`arange` over floats needs known numbers: its length depends on them")
    return computed((extent,), lambda i: te.cast(start + te.cast(i, start.dtype) * step, str(dtype)), "T_arange")


def _length(first: float, last: float, by: float) -> int:
    """How many numbers there are. Fails: RM105 for a step of 0, and where they are not as many as an int64 counts."""
    if not by:
        raise fail(BAD_ARGUMENTS, "the step of `arange` is 0")
    if all(isinstance(number, int) for number in (first, last, by)):
        count: float = max(0, -((first - last) // by))
    else:
        quotient = (last - first) / by
        count = max(0, math.ceil(quotient)) if math.isfinite(quotient) else -1
    if not 0 <= count <= INT64.maximum:
        raise fail(BAD_ARGUMENTS, f"`arange` from {first} to {last} by {by} has no length")
    return int(count)


def _rounded_up(distance: Value, step: Value) -> Value:
    """The quotient rounded up, whichever sign the step has; `te.ceildiv` is for positive ones."""
    by = getattr(step.expr, "value", None)
    return te.ceildiv(distance, step) if isinstance(by, int) and by > 0 else -(distance // -step)


def _triangle(x: Tensor, k: Value, *, upper: bool) -> Tensor:
    if x.ndim < 2:
        raise fail(BAD_ARGUMENTS, f"a triangle needs a matrix; the argument has {x.ndim} dimensions")
    zero = te.const(0, x.dtype)

    def element(*i: Value) -> Value:
        row, column = i[-2] + k, i[-1]
        return te.select(row <= column if upper else column <= row, x(*i), zero)

    return computed(x.shape, element, "trilu")


def tril(x: Tensor, k: Value) -> Tensor:
    """The elements of matrices on and below diagonal `k`, else 0."""
    return _triangle(x, k, upper=False)


def triu(x: Tensor, k: Value) -> Tensor:
    """The elements of matrices on and above diagonal `k`, else 0."""
    return _triangle(x, k, upper=True)


def hamming_window(window_size: Value, periodic: Value, alpha: Value, beta: Value, *, dtype: str = "float32") -> Tensor:
    """`alpha - beta * cos(2 * pi * i / (n - 1))`; a periodic window is the one of n + 1 without its last element.

    Order: the angle and its cosine in `dtype`; the product and the difference in the dtype of `alpha` and `beta`, then
    converted. Fails: RM105 unless the size and `periodic` are known, and the size is at least 1: TVM's type rule.
    """
    size, whole = (getattr(operand.expr, "value", None) for operand in (window_size, periodic))
    if not isinstance(size, int) or not isinstance(whole, int):
        raise fail(BAD_ARGUMENTS, "`hamming_window` takes a size and a bool that are known")
    if size < 1:
        raise fail(BAD_ARGUMENTS, f"`hamming_window` takes a size of at least 1, not {size}")
    if size == 1:
        return _filled((te.const(1, "int64"),), te.const(1, str(dtype)), "hamming_window")
    last = size if whole else size - 1

    def element(i: Value) -> Value:
        angle = te.const(2 * math.pi, str(dtype)) * te.cast(i, str(dtype)) / te.const(last, str(dtype))
        return te.cast(alpha - beta * te.cast(te.cos(angle), beta.dtype), str(dtype))

    return computed((te.const(size, "int64"),), element, "hamming_window")


def astype(x: Tensor, *, dtype: str) -> Tensor:
    """The elements converted, as the scalar conversion does."""
    return computed(x.shape, lambda *i: te.cast(x(*i), str(dtype)), "compute")


def wrap_param(data: Tensor, *, dtype: str = "float32") -> Tensor:
    """The same as `astype`, with a hint that the argument is a parameter."""
    return astype(data, dtype=dtype)


CREATION = (
    Operator("zeros", zeros, "LIB-301"),
    Operator("ones", ones, "LIB-301"),
    Operator("full", full, "LIB-301", ("full",)),
    Operator("zeros_like", zeros_like, "LIB-301"),
    Operator("ones_like", ones_like, "LIB-301"),
    Operator("full_like", full_like, "LIB-301", ("full_like",)),
    Operator("eye", eye, "LIB-302", ("eye",)),
    Operator("eye_like", eye_like, "LIB-302"),
    Operator("arange", arange, "LIB-303", ("arange",)),
    Operator("tril", tril, "LIB-304"),
    Operator("triu", triu, "LIB-304"),
    Operator("hamming_window", hamming_window, "LIB-306"),
    Operator("astype", astype, "LIB-305", ("cast",)),
    Operator("wrap_param", wrap_param, "LIB-305"),
)
