"""Extremes as PyTorch has them: a NaN wins, where Relax's operators drop it (`max(a, b)` of TIR keeps the second).

| of                | written as                                                                              |
|-------------------|-----------------------------------------------------------------------------------------|
| two operands      | the first or the second where it is NaN, else `R.maximum`, `R.minimum`                  |
| relu              | the element where it is NaN, else `R.nn.relu`                                           |
| axes, windows     | NaN where one of the elements is NaN, else `R.max`, `R.min`, `R.nn.max_pool2d`, …       |
| the place of one  | the first NaN where there is one, else `R.argmax`, `R.argmin`                           |

Numbers known at the import that are no NaN, and dtypes without NaN, cost nothing.
"""

import math
from collections.abc import Callable

from refmlc.frontends.emitter import Emitter
from refmlc.lang.dtypes import SCALARS
from refmlc.lang.ir import relax

Tensor = relax.Expr


def has_nan(e: Emitter, x: Tensor) -> bool:
    """Whether elements of the tensor can be NaN."""
    return SCALARS[e.dtype(x)].is_float


def own_nan(e: Emitter, x: Tensor, otherwise: Tensor) -> Tensor:
    """The element where it is NaN."""
    return e.call("where", e.call("isnan", x), x, otherwise) if has_nan(e, x) else otherwise


def of_two(e: Emitter, name: str, a: Tensor, b: Tensor) -> Tensor:
    """`R.maximum` or `R.minimum` (`name`) of two tensors of one dtype; NaN where one of them is."""
    result: Tensor = e.call(name, a, b)
    for item in (a, b):
        if not _is_number(item) and has_nan(e, item):
            result = e.call("where", e.call("isnan", item), item, result)
    return result


def _is_number(x: Tensor) -> bool:
    """Whether it is one number that is known, and no NaN."""
    return isinstance(x, relax.Constant) and x.data.ndim == 0 and not math.isnan(float(x.data))


def along(e: Emitter, name: str, x: Tensor, axes: tuple[int, ...] | None, *, keep: bool) -> Tensor:
    """`R.max` or `R.min` (`name`) along axes; NaN where one of the elements is."""
    return where_holes(e, x, e.call(name, x, axis=axes, keepdims=keep), lambda holes: any_of(e, holes, axes, keep=keep))


def any_of(e: Emitter, truth: Tensor, axes: tuple[int, ...] | None, *, keep: bool) -> Tensor:
    """Whether one of the elements along axes is true; of no elements none is."""
    greatest = e.call("max", e.astype(truth, "int32"), axis=axes, keepdims=keep)
    return e.call("greater", greatest, e.scalar(0, "int32"))


def place_of(e: Emitter, name: str, x: Tensor, dim: int | None, *, keep: bool) -> Tensor:
    """`R.argmax` or `R.argmin` (`name`); the first NaN where there is one."""
    result: Tensor = e.call(name, x, axis=dim, keepdims=keep)
    if not has_nan(e, x):
        return result
    holes = e.call("isnan", x)
    first = e.call("argmax", e.astype(holes, "int32"), axis=dim, keepdims=keep)
    return e.call("where", any_of(e, holes, None if dim is None else (dim,), keep=keep), first, result)


def windows(e: Emitter, x: Tensor, pooled: Callable[[Tensor], Tensor]) -> Tensor:
    """The greatest element of each window (`pooled`); NaN where one of them is."""

    def seen(holes: Tensor) -> Tensor:
        return e.call("greater", pooled(e.astype(holes, e.dtype(x))), e.scalar(0, e.dtype(x)))

    return where_holes(e, x, pooled(x), seen)


def where_holes(e: Emitter, x: Tensor, result: Tensor, visited: Callable[[Tensor], Tensor]) -> Tensor:
    """NaN where `visited`, called with which elements are NaN, is true; else the result."""
    if not has_nan(e, x):
        return result
    return e.call("where", visited(e.call("isnan", x)), e.scalar(math.nan, e.dtype(x)), result)
