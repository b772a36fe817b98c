"""Folding while an expression is built: constants, and neutral elements of addition and multiplication.

| expression                        | becomes                             |
|-----------------------------------|-------------------------------------|
| an operator on integer constants  | its value, where it is defined      |
| `x + 0`, `0 + x`, `x - 0`         | `x`, for integers                   |
| `x * 1`, `1 * x`, `x // 1`        | `x`, for integers                   |
| `x * 0`, `0 * x`, `x % 1`         | 0, for integers                     |
| `true and x`, `false or x`        | `x`                                 |
| `false and x`, `true or x`        | the constant                        |
| `a > b`, `a >= b`                 | `b < a`, `b <= a`                   |

Every rule keeps the value of every float, the sign of zero included: floats are left as they are.
"""

from collections.abc import Callable

from refmlc.lang.ir import tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ops.evaluate import known
from refmlc.lang.ops.promote import constant

FLIPPED = {"gt": "lt", "ge": "le"}


def folded(expr: tir.Expr) -> tir.Expr:
    """`expr`, whose operands are folded, made simpler."""
    match expr:
        case tir.Apply(args=args) if all(isinstance(arg, tir.IntImm) for arg in args):
            return _value(expr)
        case tir.Apply(op, (a, b)) if op in FLIPPED:
            return tir.Apply(FLIPPED[op], (b, a), expr.dtype, span=expr.span)
        case tir.Apply(op, (a, b)) if op in IDENTITIES and not a.dtype.is_float:
            return IDENTITIES[op](a, b) or expr
        case tir.Apply(("min" | "max"), (a, b)) if not a.dtype.is_float and structural_equal(a, b):
            return a
        case tir.And(a, b):
            return _lazy(expr, a, b, neutral=1)
        case tir.Or(a, b):
            return _lazy(expr, a, b, neutral=0)
        case tir.Cast(dtype, tir.IntImm(value=value)) if dtype.is_integer and dtype.minimum <= value <= dtype.maximum:
            return tir.IntImm(dtype, value, span=expr.span)
        case _:
            return expr


def _value(expr: tir.Apply) -> tir.Expr:
    value = None if expr.dtype.is_float else known(expr)
    return expr if value is None else constant(value, expr.dtype, expr.span)


def _lazy(expr: tir.Expr, a: tir.Expr, b: tir.Expr, neutral: int) -> tir.Expr:
    match a, b:
        case tir.IntImm(value=value), _:
            return b if value == neutral else a
        case _, tir.IntImm(value=value) if value == neutral:
            return a
        case _:
            return expr


def _is(expr: tir.Expr, value: int) -> bool:
    return isinstance(expr, tir.IntImm) and expr.value == value


def _sum(a: tir.Expr, b: tir.Expr) -> tir.Expr | None:
    return b if _is(a, 0) else a if _is(b, 0) else None


def _difference(a: tir.Expr, b: tir.Expr) -> tir.Expr | None:
    return a if _is(b, 0) else tir.IntImm(a.dtype, 0) if _same(a, b) else None


def _same(a: tir.Expr, b: tir.Expr) -> bool:
    return isinstance(a, tir.Var) and a is b


def _product(a: tir.Expr, b: tir.Expr) -> tir.Expr | None:
    for first, other in ((a, b), (b, a)):
        if _is(first, 1):
            return other
        if _is(first, 0):
            return first
    return None


def _quotient(a: tir.Expr, b: tir.Expr) -> tir.Expr | None:
    return a if _is(b, 1) or (_is(a, 0) and isinstance(b, tir.IntImm) and b.value > 0) else None


def _rest(a: tir.Expr, b: tir.Expr) -> tir.Expr | None:
    return tir.IntImm(a.dtype, 0) if _is(b, 1) else None


IDENTITIES: dict[str, Callable[[tir.Expr, tir.Expr], tir.Expr | None]] = {
    "add": _sum,
    "sub": _difference,
    "mul": _product,
    "floordiv": _quotient,
    "truncdiv": _quotient,
    "floormod": _rest,
    "truncmod": _rest,
}
