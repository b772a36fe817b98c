"""Sums, means, extremes along axes; indices of extremes; running sums."""

import math
from collections.abc import Mapping

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_OP
from refmlc.frontends.arrays import dtype_name
from refmlc.frontends.aten.arithmetic import ARITHMETIC, kind_of
from refmlc.frontends.aten.nans import along, place_of
from refmlc.frontends.aten.sorting import comparable, with_axis, without_axis
from refmlc.frontends.emitter import Emitter, Operand, product
from refmlc.frontends.rule import Rule, whole
from refmlc.lang.ir import relax

FLOATS = kind_of("float32")


def axes_of(dim: Operand) -> tuple[int, ...] | None:
    """The axes that are named; None: all."""
    if dim is None or (isinstance(dim, list | tuple) and not dim):
        return None
    return tuple(int(item) for item in dim) if isinstance(dim, list | tuple) else (whole(dim),)


def reduced(name: str) -> Rule:
    """`R.name` along axes; integers are summed in int64."""

    def rule(
        e: Emitter, x: relax.Expr, dim: Operand = None, keepdim: Operand = False, *, dtype: Operand = None
    ) -> relax.Expr:
        target = dtype_name(dtype) if dtype is not None else e.dtype(x) if kind_of(e.dtype(x)) == FLOATS else "int64"
        line, added = with_axis(e, x)
        result = e.call(name, e.astype(line, target), axis=axes_of(dim), keepdims=bool(keepdim))
        return without_axis(e, result, added=added)

    return rule


def mean(
    e: Emitter, x: relax.Expr, dim: Operand = None, keepdim: Operand = False, *, dtype: Operand = None
) -> relax.Expr:
    """The mean along axes."""
    line, added = with_axis(e, x if dtype is None else e.astype(x, dtype_name(dtype)))
    return without_axis(e, e.call("mean", line, axis=axes_of(dim), keepdims=bool(keepdim)), added=added)


def variance(*, root: bool) -> Rule:
    """The variance along axes, or its root; divided by the number less `correction`."""

    def rule(
        e: Emitter,
        x: relax.Expr,
        dim: Operand = None,
        unbiased: Operand = True,
        keepdim: Operand = False,
        *,
        correction: Operand = None,
    ) -> relax.Expr:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        less = (1 if unbiased else 0) if correction is None else correction
        axes = axes_of(dim)
        x, added = with_axis(e, x)
        centre = e.call("mean", x, axis=axes, keepdims=True)
        distance = e.call("subtract", x, centre)
        total = e.call("sum", e.call("multiply", distance, distance), axis=axes, keepdims=bool(keepdim))
        shape = e.shape(x)
        count = product([shape[axis] for axis in (range(len(shape)) if axes is None else axes)])
        rest = count - less  # type: ignore[operator]
        rest = max(rest, 0) if isinstance(rest, int | float) else rest
        result = e.call("divide", total, e.scalar(rest, e.dtype(x)))
        return without_axis(e, e.call("sqrt", result) if root else result, added=added)

    return rule


def with_mean(rule: Rule) -> Rule:
    """The variance or its root, and the mean."""

    def both(
        e: Emitter,
        x: relax.Expr,
        dim: Operand = None,
        unbiased: Operand = True,
        keepdim: Operand = False,
        *,
        correction: Operand = None,
    ) -> Operand:
        spread = rule(e, x, dim, unbiased, keepdim, correction=correction)
        return (spread, mean(e, x, None if isinstance(dim, bool) else dim, keepdim))

    return both


def extreme(name: str, of_two: str) -> Rule:
    """The greatest or the smallest: of all; along an axis, with its place; of two tensors."""

    def rule(e: Emitter, x: relax.Expr, dim_or_other: Operand = None, keepdim: Operand = False) -> Operand:
        dim = dim_or_other
        if dim is not None and not isinstance(dim, int):
            return ARITHMETIC[of_two](e, x, dim)
        if dim is None:
            return along(e, name, comparable(e, x), None, keep=False) if e.dtype(x) != "bool" else _truth(e, name, x)
        line, added = with_axis(e, x)
        keys = comparable(e, line)
        result = along(e, name, keys, axes_of(dim), keep=bool(keepdim))
        places = place_of(e, f"arg{name}", keys, dim, keep=bool(keepdim))
        both = (e.astype(result, e.dtype(x)), places)
        return relax.Tuple(tuple(without_axis(e, item, added=added) for item in both))

    return rule


def _truth(e: Emitter, name: str, x: relax.Expr) -> relax.Expr:
    return e.astype(along(e, name, comparable(e, x), None, keep=False), "bool")


def extremes(name: str) -> Rule:
    """The greatest or the smallest along axes."""

    def rule(e: Emitter, x: relax.Expr, dim: Operand = None, keepdim: Operand = False) -> relax.Expr:
        line, added = with_axis(e, x)
        result = along(e, name, comparable(e, line), axes_of(dim), keep=bool(keepdim))
        return without_axis(e, e.astype(result, e.dtype(x)), added=added)

    return rule


def place(name: str) -> Rule:
    """The place of the greatest or the smallest; of all in row-major order where no axis is given."""

    def rule(e: Emitter, x: relax.Expr, dim: int | None = None, keepdim: Operand = False) -> relax.Expr:
        line, added = with_axis(e, x)
        return without_axis(e, place_of(e, name, comparable(e, line), dim, keep=bool(keepdim)), added=added)

    return rule


def truth(name: str) -> Rule:
    """Whether one of the elements is not 0, or all are: a bool, of uint8 a number, as PyTorch has it."""

    def rule(e: Emitter, x: relax.Expr, dim: Operand = None, keepdim: Operand = False) -> relax.Expr:
        line, added = with_axis(e, x)
        ints = e.astype(e.astype(line, "bool"), "int32")
        result = e.call(name, ints, axis=axes_of(dim), keepdims=bool(keepdim))
        target = "uint8" if e.dtype(x) == "uint8" else "bool"
        return without_axis(e, e.astype(result, target), added=added)

    return rule


def running(name: str) -> Rule:
    """Sums or products of what is before and at each place; of floats of 16 bits in float32, as PyTorch adds them."""

    def rule(e: Emitter, x: relax.Expr, dim: int, *, dtype: Operand = None) -> relax.Expr:
        target = dtype_name(dtype) if dtype is not None else e.dtype(x) if kind_of(e.dtype(x)) == FLOATS else "int64"
        line, added = with_axis(e, x)
        inner = "float32" if target in ("float16", "bfloat16") else target
        result = e.call(name, e.astype(e.astype(line, target), inner), axis=int(dim))
        return without_axis(e, e.astype(result, target), added=added)

    return rule


def norm(
    e: Emitter,
    x: relax.Expr,
    p: Operand = 2,
    dim: Operand = None,
    keepdim: Operand = False,
    *,
    dtype: Operand = None,
) -> relax.Expr:
    """The p-th root of the sum of p-th powers of absolute values; p may be 0 (how many are not 0), inf and -inf."""
    x, added = with_axis(e, x if dtype is None else e.astype(x, dtype_name(dtype)))
    return without_axis(e, _norm(e, x, p, axes_of(dim), keep=bool(keepdim)), added=added)


def _norm(e: Emitter, x: relax.Expr, p: Operand, axes: tuple[int, ...] | None, *, keep: bool) -> relax.Expr:
    order = 2.0 if p is None or p == "fro" else _order(p)

    def total(terms: relax.Expr) -> relax.Expr:
        return e.call("sum", terms, axis=axes, keepdims=keep)

    if order == 0:
        return total(e.astype(e.call("not_equal", x, e.scalar(0, e.dtype(x))), e.dtype(x)))
    if order == 2:
        return e.call("sqrt", total(e.call("multiply", x, x)))
    sizes = e.call("abs", x)
    if math.isinf(order):
        return along(e, "max" if order > 0 else "min", sizes, axes, keep=keep)
    if order == 1:
        return total(sizes)
    powers = e.call("power", sizes, e.scalar(order, e.dtype(x)))
    return e.call("power", total(powers), e.scalar(1 / order, e.dtype(x)))


def _order(p: Operand) -> float:
    if isinstance(p, str) and p not in {"inf", "-inf"}:
        raise fail(UNSUPPORTED_OP, f'the norm "{p}" is not supported')
    if not isinstance(p, int | float | str) or math.isnan(float(p)):
        raise fail(UNSUPPORTED_OP, "the order of a norm is a known number")
    return float(p)


REDUCTION: Mapping[str, Rule] = {
    "sum": reduced("sum"),
    "prod": reduced("prod"),
    "mean": mean,
    "var": variance(root=False),
    "std": variance(root=True),
    "var_mean": with_mean(variance(root=False)),
    "std_mean": with_mean(variance(root=True)),
    "max": extreme("max", "maximum"),
    "min": extreme("min", "minimum"),
    "amax": extremes("max"),
    "amin": extremes("min"),
    "argmax": place("argmax"),
    "argmin": place("argmin"),
    "any": truth("max"),
    "all": truth("min"),
    "cumsum": running("cumsum"),
    "cumprod": running("cumprod"),
    "linalg_vector_norm": norm,
    "norm": norm,
}
