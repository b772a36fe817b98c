"""Reductions: how terms are combined, and from what they start.

| reducer | combines         | starts from                                                      |
|---------|------------------|------------------------------------------------------------------|
| `sum`   | `acc + term`     | 0                                                                |
| `prod`  | `acc * term`     | 1                                                                |
| `max`   | `max(acc, term)` | the least value of the dtype; of floats the least finite one     |
| `min`   | `min(acc, term)` | the greatest value; of floats the greatest finite one            |
| `any`   | `acc or term`    | false                                                            |
| `all`   | `acc and term`   | true                                                             |

The finite start of `max` is what TVM has: the greatest of only -inf is the least finite number. Terms are combined one
after the other, the last axis innermost, in the dtype of the terms.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.diag.entry import entry_point
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.lang.ops import promote
from refmlc.lang.te import functions
from refmlc.lang.te.tensor import Axis
from refmlc.lang.te.value import Operand, Value, const, expr_of, operand

Combine: TypeAlias = Callable[[tuple[Value, ...], tuple[Value, ...]], tuple[Value, ...]]


@dataclass(frozen=True, eq=False)
class Reduce:
    """Terms combined over axes; result `value_index` of several. It may only be the whole body of a computation."""

    combine: Combine
    start: tuple[tir.Expr, ...]
    terms: tuple[tir.Expr, ...]
    axis: tuple[Axis, ...]
    condition: tir.Expr | None
    value_index: int = 0

    @property
    def dtype(self) -> str:
        """The name of the dtype of this result."""
        return str(self.terms[self.value_index].dtype)


@entry_point
def reduce_axis(dom: Sequence[Operand], name: str = "rv") -> Axis:
    """An axis from `dom[0]` on, below `dom[1]`, whose terms are combined. Fails: RM105."""
    if len(dom) != 2:
        raise fail(BAD_ARGUMENTS, "a reduce axis has a begin and an end")
    begin, end = promote.matched(operand(dom[0]), operand(dom[1]), None)
    return Axis(tir.Var(name, end.dtype), Value(begin), Value(end) - Value(begin), reduce=True)


def _axes(axis: "Axis | Sequence[Axis]") -> tuple[Axis, ...]:
    axes = (axis,) if isinstance(axis, Axis) else tuple(axis)
    for item in axes:
        if not isinstance(item, Axis) or not item.reduce:
            raise fail(BAD_ARGUMENTS, "a reduction needs axes of te.reduce_axis")
    return axes


@entry_point
def comm_reducer(
    fcombine: Callable[..., object], fidentity: Callable[..., object], name: str = "reduce"
) -> Callable[..., object]:
    """A reducer of your own. `fcombine(acc, term)` and `fidentity(dtype …)` take and give one value, or tuples of them.

    The result is called as `te.sum` is; of several terms it gives a tuple of results, for `te.compute` to return.
    """

    def reducer(
        expr: "Operand | Sequence[Operand]",
        axis: object,
        where: Operand | None = None,
        init: object = None,
        *more: Operand,
    ) -> object:
        if not isinstance(axis, Axis | tuple | list):
            return _direct(fcombine, (expr, axis, where, init, *more))
        several = isinstance(expr, tuple | list)
        terms = tuple(expr_of(value) for value in (expr if isinstance(expr, tuple | list) else (expr,)))
        start = fidentity(*(str(term.dtype) for term in terms)) if init is None else init
        starts = tuple(start) if isinstance(start, tuple | list) else (start,)
        if len(starts) != len(terms):
            raise fail(BAD_ARGUMENTS, f"`{name}` combines {len(terms)} terms and starts from {len(starts)}")
        initial = tuple(_start(value, term.dtype) for value, term in zip(starts, terms, strict=True))
        condition = None if where is None else promote.condition(expr_of(where), None)
        combine = _combine(fcombine, several=several)
        _try(combine, terms)
        results = tuple(Reduce(combine, initial, terms, _axes(axis), condition, place) for place in range(len(terms)))
        return results if several else results[0]

    reducer.__name__ = reducer.__qualname__ = name
    return reducer


def _direct(fcombine: Callable[..., object], operands: Sequence[object]) -> object:
    """Operands combined one after the other, where no axis is given: `te.max(a, b)`."""
    result, *others = (operand for operand in operands if operand is not None)
    for other in others:
        result = fcombine(result, other)
    return result


def _combine(fcombine: Callable[..., object], *, several: bool) -> Combine:
    def combine(acc: tuple[Value, ...], term: tuple[Value, ...]) -> tuple[Value, ...]:
        result = fcombine(acc, term) if several else (fcombine(acc[0], term[0]),)
        return tuple(Value(expr_of(value)) for value in (result if isinstance(result, tuple | list) else (result,)))

    return combine


def _try(combine: Combine, terms: Sequence[tir.Expr]) -> None:
    """Fails: as the combination of terms of these dtypes does, which is otherwise made when it has its place."""
    accumulated, term = (tuple(Value(tir.Var(name, value.dtype)) for value in terms) for name in ("acc", "term"))
    combine(accumulated, term)


def _start(value: object, dtype: DType) -> tir.Expr:
    start = expr_of(value)
    if isinstance(start, tir.IntImm | tir.FloatImm):
        return promote.constant(start.value, dtype, None)
    return promote.converted(start, dtype, None)


def min_value(dtype: str) -> Value:
    """The least value; of a float the least finite one."""
    row = const(0, dtype).expr.dtype
    return const(-row.format.maximum if row.is_float else int(row.minimum), row)


def max_value(dtype: str) -> Value:
    """The greatest value; of a float the greatest finite one."""
    row = const(0, dtype).expr.dtype
    if row.kind == "bool":
        return const(True)
    return const(row.format.maximum if row.is_float else int(row.maximum), row)


def _named(reducer: Callable[..., object], name: str) -> Callable[..., object]:
    reducer.__doc__ = f"The {name} of a term over axes, where a condition holds; of operands, where no axis is given."
    return reducer


sum_ = _named(comm_reducer(lambda acc, term: acc + term, lambda dtype: const(0, dtype), "sum"), "sum")
prod = _named(comm_reducer(lambda acc, term: acc * term, lambda dtype: const(1, dtype), "prod"), "prod")
max_ = _named(comm_reducer(functions.maximum, min_value, "max"), "max")
min_ = _named(comm_reducer(functions.minimum, max_value, "min"), "min")
any_ = _named(comm_reducer(functions.any_, lambda _dtype: const(False), "any"), "any")
all_ = _named(comm_reducer(functions.all_, lambda _dtype: const(True), "all"), "all")
