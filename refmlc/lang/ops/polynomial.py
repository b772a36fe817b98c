"""When two symbolic dimensions are certainly different: polynomials over shape variables.

`n + 1` and `n` differ by 1 for every `n`: certainly different. `n` and `m` may be equal: nothing is said. What is no
polynomial (`n // 2`, `min(n, 4)`) counts as one unknown, the same one wherever operator and operands agree.
"""

from collections.abc import Hashable, Mapping
from typing import TypeAlias

from refmlc.lang.ir import tir

Monomial: TypeAlias = tuple[Hashable, ...]
Polynomial: TypeAlias = dict[Monomial, int]

MOST_TERMS = 64
ONE: Monomial = ()


def polynomial(expr: tir.Expr, known: Mapping[tir.Var, Polynomial]) -> Polynomial:
    """`expr` as a sum of products, variables in `known` replaced by what they are."""
    match expr:
        case tir.IntImm():
            return {ONE: expr.value} if expr.value else {}
        case tir.Var():
            return known.get(expr, {(expr,): 1})
        case tir.Cast(_, value):
            return polynomial(value, known)
        case tir.Apply(op, args):
            return _applied(op, [polynomial(arg, known) for arg in args])
        case _:
            return {(expr,): 1}


def difference(a: Polynomial, b: Polynomial) -> Polynomial:
    """The polynomial a - b."""
    result = dict(a)
    for monomial, factor in b.items():
        result[monomial] = result.get(monomial, 0) - factor
    return {monomial: factor for monomial, factor in result.items() if factor}


def certainly_different(a: Polynomial, b: Polynomial) -> bool:
    """Whether no values of the variables make them equal."""
    return set(difference(a, b)) == {ONE}


def _applied(op: str, args: list[Polynomial]) -> Polynomial:
    """An operator applied to polynomials."""
    match op, args:
        case "add", (a, b):
            return difference(a, difference({}, b))
        case "sub", (a, b):
            return difference(a, b)
        case "mul", (a, b) if len(a) * len(b) <= MOST_TERMS:
            return _product(a, b)
        case (("floordiv" | "floormod" | "truncdiv" | "truncmod" | "min" | "max"), (a, b)):
            folded = _folded(op, a, b)
            return {(_unknown(op, args),): 1} if folded is None else folded
        case _:
            return {(_unknown(op, args),): 1}


def _product(a: Polynomial, b: Polynomial) -> Polynomial:
    """The polynomial a · b."""
    result: Polynomial = {}
    for left, x in a.items():
        for right, y in b.items():
            monomial = tuple(sorted((*left, *right), key=hash))
            result[monomial] = result.get(monomial, 0) + x * y
    return {monomial: factor for monomial, factor in result.items() if factor}


def _folded(op: str, a: Polynomial, b: Polynomial) -> Polynomial | None:
    """The constant result of constants."""
    if not set(a) | set(b) <= {ONE}:
        return None
    x, y = a.get(ONE, 0), b.get(ONE, 0)
    if op in ("min", "max"):
        value = min(x, y) if op == "min" else max(x, y)
    elif x < 0 or y <= 0:
        return None
    else:
        value = x // y if op.endswith("div") else x % y
    return {ONE: value} if value else {}


def _unknown(op: str, args: list[Polynomial]) -> Hashable:
    """The unknown that stands for an operator applied to operands."""
    return (op, *(frozenset(arg.items()) for arg in args))
