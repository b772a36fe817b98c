"""Sums, means, extremes along axes; indices of extremes; running sums."""

from collections.abc import Mapping

from refmlc.frontends.arrays import dtype_name
from refmlc.frontends.aten.arithmetic import ARITHMETIC, kind_of
from refmlc.frontends.emitter import Emitter, Operand, product
from refmlc.frontends.rule import Rule, whole
from refmlc.ir import relax

FLOATS = kind_of("float32")


def axes_of(dim: Operand) -> tuple[int, ...] | None:
    """The axes that are named; None: all."""
    if dim is None or (isinstance(dim, list | tuple) and not dim):
        return None
    return tuple(int(one) for one in dim) if isinstance(dim, list | tuple) else (whole(dim),)


def reduced(name: str) -> Rule:
    """`R.name` along axes; integers are summed in int64."""

    def rule(
        e: Emitter, x: relax.Expr, dim: Operand = None, keepdim: Operand = False, *, dtype: Operand = None
    ) -> relax.Expr:
        wanted = dtype_name(dtype) if dtype is not None else e.dtype(x) if kind_of(e.dtype(x)) == FLOATS else "int64"
        return e.call(name, e.astype(x, wanted), axis=axes_of(dim), keepdims=bool(keepdim))

    return rule


def mean(
    e: Emitter, x: relax.Expr, dim: Operand = None, keepdim: Operand = False, *, dtype: Operand = None
) -> relax.Expr:
    """The mean along axes."""
    found = x if dtype is None else e.astype(x, dtype_name(dtype))
    return e.call("mean", found, axis=axes_of(dim), keepdims=bool(keepdim))


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
        centre = e.call("mean", x, axis=axes, keepdims=True)
        distance = e.call("subtract", x, centre)
        total = e.call("sum", e.call("multiply", distance, distance), axis=axes, keepdims=bool(keepdim))
        shape = e.shape(x)
        count = product([shape[axis] for axis in (range(len(shape)) if axes is None else axes)])
        found = e.call("divide", total, e.scalar(count - less, e.dtype(x)))  # type: ignore[operator]
        return e.call("sqrt", found) if root else found

    return rule


def extreme(name: str, of_two: str) -> Rule:
    """The greatest or the smallest: of all; along an axis, with its place; of two tensors."""

    def rule(e: Emitter, x: relax.Expr, dim: Operand = None, keepdim: Operand = False) -> Operand:
        if dim is not None and not isinstance(dim, int):
            return ARITHMETIC[of_two](e, x, dim)
        found = e.call(name, x, axis=axes_of(dim), keepdims=bool(keepdim))
        if dim is None:
            return found
        return relax.Tuple((found, e.call(f"arg{name}", x, axis=dim, keepdims=bool(keepdim))))

    return rule


def extremes(name: str) -> Rule:
    """The greatest or the smallest along axes."""
    return lambda e, x, dim=None, keepdim=False: e.call(name, x, axis=axes_of(dim), keepdims=bool(keepdim))


def place(name: str) -> Rule:
    """The place of the greatest or the smallest; of all in row-major order where no axis is given."""

    def rule(e: Emitter, x: relax.Expr, dim: int | None = None, keepdim: Operand = False) -> relax.Expr:
        return e.call(name, x, axis=dim, keepdims=bool(keepdim))

    return rule


def truth(name: str) -> Rule:
    """Whether one of the elements is not 0, or all are."""

    def rule(e: Emitter, x: relax.Expr, dim: Operand = None, keepdim: Operand = False) -> relax.Expr:
        ints = e.astype(x if e.dtype(x) == "bool" else e.astype(x, "bool"), "int32")
        found = e.call(name, ints, axis=axes_of(dim), keepdims=bool(keepdim))
        return e.astype(found, "bool")

    return rule


def running(name: str) -> Rule:
    """Sums or products of what is before and at each place."""

    def rule(e: Emitter, x: relax.Expr, dim: int, *, dtype: Operand = None) -> relax.Expr:
        wanted = dtype_name(dtype) if dtype is not None else e.dtype(x) if kind_of(e.dtype(x)) == FLOATS else "int64"
        return e.call(name, e.astype(x, wanted), axis=int(dim))

    return rule


def norm(e: Emitter, x: relax.Expr, p: Operand = 2, dim: Operand = None, keepdim: Operand = False) -> relax.Expr:
    """The root of the sum of squares along axes; or the sum of absolute values."""
    if p == 1:
        return e.call("sum", e.call("abs", x), axis=axes_of(dim), keepdims=bool(keepdim))
    total = e.call("sum", e.call("multiply", x, x), axis=axes_of(dim), keepdims=bool(keepdim))
    return e.call("sqrt", total)


REDUCTION: Mapping[str, Rule] = {
    "sum": reduced("sum"),
    "prod": reduced("prod"),
    "mean": mean,
    "var": variance(root=False),
    "std": variance(root=True),
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
}
