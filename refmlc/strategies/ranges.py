"""Expressions with the ranges of their values, and the buffers of a program under construction.

Ranges of integers are exact where that is cheap: they show where arithmetic could be undefined. Floats have no range.
"""

from dataclasses import dataclass
from functools import lru_cache

from refmlc.lang.dtypes import SCALARS, DType
from refmlc.lang.dtypes.rounding import rounder
from refmlc.lang.ir import tir
from refmlc.lang.ops.scalar import SCALAR_OPS

KINDS = tuple(row for row in SCALARS.values() if row.kind not in ("handle", "void"))
INTEGERS = tuple(row for row in KINDS if row.is_integer)
FLOATS = tuple(row for row in KINDS if row.is_float)
# Operators without a NaN among the results of operands that are not NaN.
NEVER_NAN = (
    *("add", "sub", "mul", "max", "min", "abs", "ceil", "floor", "trunc", "round", "nearbyint", "copysign"),
    *("exp", "exp2", "tanh", "sigmoid", "erf", "sin", "cos", "atan", "likely"),
)


@dataclass(frozen=True)
class RangedExpr:
    """An expression, and the range of its values if they are integers (bool: 0 or 1)."""

    expr: tir.Expr
    low: int = 0
    high: int = 0

    @property
    def dtype(self) -> DType:
        """The dtype of the expression."""
        return self.expr.dtype


@dataclass
class RangedBuffer:
    """A buffer: its extents in this call, the range of its values; `ready`: all of it is written."""

    buffer: tir.Buffer
    shape: tuple[int, ...]
    low: int = 0
    high: int = 0
    ready: bool = True


@lru_cache(maxsize=64)
def operators(kind: DType) -> tuple[str, ...]:
    """The operators of one or two operands of `kind` whose result is of that dtype."""
    rows = (row.contract for row in SCALAR_OPS.values())
    names = [row.name for row in rows if row.arity <= 2 and row.result == "same" and row.rest is None]
    names = [name for name in names if SCALAR_OPS[name].contract.accepts_dtype(kind)]
    if kind.kind != "bool":  # as TVMScript writes them: integers divide by `truncdiv`, likely is a condition
        names = [name for name in names if name != "likely" and not (name == "div" and kind.is_integer)]
    if kind.is_float and not kind.format.has_nan:
        names = [name for name in names if name in NEVER_NAN]
    return tuple(names)


def limits(kind: DType) -> tuple[int, int]:
    """The least and the greatest value; (0, 0) for floats."""
    if kind.kind == "bool":
        return 0, 1
    return (kind.minimum, kind.maximum) if kind.is_integer else (0, 0)


def fits(kind: DType, low: int, high: int) -> bool:
    """True if `kind` has all of low … high."""
    lowest, highest = limits(kind)
    return lowest <= low and high <= highest


def number(kind: DType, value: float) -> tir.IntImm | tir.FloatImm:
    """The constant `value`, rounded to `kind`."""
    if kind.is_float:
        return tir.FloatImm(kind, rounder(kind)(float(value)))
    return tir.IntImm(kind, int(value))


def exact(node: tir.IntImm | tir.FloatImm) -> RangedExpr:
    """A constant with its range."""
    return RangedExpr(node) if isinstance(node, tir.FloatImm) else RangedExpr(node, node.value, node.value)


def with_range(kind: DType, expr: tir.Expr, low: int, high: int) -> RangedExpr:
    """`expr` with its range; all of `kind` if it may wrap."""
    return RangedExpr(expr, low, high) if fits(kind, low, high) else RangedExpr(expr, *limits(kind))


def integer_range(op: str, kind: DType, a: RangedExpr, b: RangedExpr) -> tuple[int, int] | None:
    """A range with all exact results of an operator on ranges; None: the operator wraps by definition."""
    most = max(abs(a.low), abs(a.high))
    match op:
        case "add":
            return a.low + b.low, a.high + b.high
        case "sub":
            return a.low - b.high, a.high - b.low
        case "mul":
            corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
            return min(corners), max(corners)
        case "max":
            return max(a.low, b.low), max(a.high, b.high)
        case "min":
            return min(a.low, b.low), min(a.high, b.high)
        case "abs":
            return 0, most
        case "div" | "truncdiv" | "floordiv" | "truncmod":
            return (0 if a.low >= 0 and b.low >= 0 else -most), most
        case "floormod":
            return (0, b.high - 1) if b.low > 0 else (min(b.low, 0), max(b.high, 0))
        case "ceildiv":
            bound = most + max(abs(b.low), abs(b.high)) + 1
            return -bound, bound
        case "likely":
            return a.low, a.high
        case "shift_right":
            return min(a.low, 0), max(a.high, 0)
        case "popcount":
            return 0, kind.bits
        case _:
            return None
