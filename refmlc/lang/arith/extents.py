"""When two symbolic dimensions are certainly different: their polynomials over shape variables.

`n + 1` and `n` differ by 1 for every `n`: certainly different. `n` and `m` may be equal: nothing is said. What is no
polynomial (`n // 2`, `min(n, 4)`) counts as one unknown, the same one wherever operator and operands agree.
"""

from collections.abc import Mapping

from refmlc.lang.arith.polynomial import Opaque, Poly, constant, single
from refmlc.lang.ir import tir

MOST_TERMS = 64


def polynomial(expr: tir.Expr, known: Mapping[tir.Var, Poly]) -> Poly:
    """`expr` as a sum of products, variables in `known` replaced by what they are."""
    match expr:
        case tir.IntImm():
            return constant(expr.value)
        case tir.Var():
            return known[expr] if expr in known else single(expr)
        case tir.Cast(_, value):
            return polynomial(value, known)
        case tir.Apply(op, args):
            return _applied(op, tuple(polynomial(arg, known) for arg in args))
        case _:
            return single(Opaque("", (), expr))


def certainly_different(a: Poly, b: Poly) -> bool:
    """Whether no values of the variables make them equal."""
    return (a - b).only not in (None, 0)


def _applied(op: str, args: tuple[Poly, ...]) -> Poly:
    """An operator applied to polynomials."""
    match op, args:
        case "add", (a, b):
            return a + b
        case "sub", (a, b):
            return a - b
        case "mul", (a, b) if len(a.terms) * len(b.terms) <= MOST_TERMS:
            return a * b
        case (("floordiv" | "floormod" | "truncdiv" | "truncmod" | "min" | "max"), (a, b)):
            value = None if a.only is None or b.only is None else _folded(op, a.only, b.only)
            return single(Opaque(op, args)) if value is None else constant(value)
        case _:
            return single(Opaque(op, args))


def _folded(op: str, x: int, y: int) -> int | None:
    """The result for constants; None where the rounding or the sign would matter."""
    if op in ("min", "max"):
        return min(x, y) if op == "min" else max(x, y)
    if x < 0 or y <= 0:
        return None
    return x // y if op.endswith("div") else x % y
