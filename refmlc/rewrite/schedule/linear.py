"""Indices as sums: a constant and multiples of atoms, which are variables or quotients and remainders of one.

| expression                         | sum                            |
|------------------------------------|--------------------------------|
| `i * 4 + j - 1`                    | 4 i + 1 j − 1                  |
| axis of a block inside             | the sum of what it is bound to |
| `f // 3`, `f % 3`                  | one atom each                  |
| anything else (`A[i]`, `i * j`, …) | none (None)                    |

The arithmetic is that of `lang.arith`; which expressions are sums, and what follows from them, is decided here, apart
from `native.analysis.values`: each can be checked against the other.

Only of signed integers of 32 bits or more: others wrap.

Decision: a conversion to a wider integer is left out, a narrower one is no sum. Index arithmetic that overflows is
undefined (RM306), so that sums are exact where the function is.
"""

from collections.abc import Mapping
from typing import TypeAlias

from refmlc.lang.arith.polynomial import Monomial, Opaque, Poly, constant, single
from refmlc.lang.dtypes import INT32
from refmlc.lang.ir import tir

Sum: TypeAlias = Poly
Atom: TypeAlias = "tuple[tir.Var, str, int]"  # a variable, an operator (empty: itself) and the divisor of that


def atoms(total: Sum) -> dict[Atom, int]:
    """The atoms of a sum, each with its factor; the constant is left out."""
    return {_atom(key[0]): factor for key, factor in total.terms.items() if key}


def sum_from(factors: Mapping[Atom, int], number: int = 0) -> Sum:
    """The number plus Σ factor · atom, for factors that are not 0."""
    terms: dict[Monomial, int] = {
        (Opaque(op, (single(var), constant(divisor))) if op else var,): factor
        for (var, op, divisor), factor in factors.items()
    }
    return Poly({**terms, (): number} if number else terms)


def sum_of(expr: tir.Expr, axes: Mapping[tir.Var, tir.Expr]) -> Sum | None:
    """The sum that an integer expression is; `axes` are variables that stand for expressions. None: it is none."""
    match expr:
        case tir.IntImm(_, value):
            return constant(value)
        case tir.Var() if expr in axes:
            return sum_of(axes[expr], axes)
        case tir.Var():
            return single(expr)
        case tir.Cast(dtype, value) if dtype.is_integer and value.dtype.is_integer and dtype.bits >= value.dtype.bits:
            return sum_of(value, axes)
        case tir.Apply(op, (a, b), dtype) if dtype.kind == "int" and not dtype.is_vector and dtype.bits >= INT32.bits:
            return _applied(op, sum_of(a, axes), sum_of(b, axes))
        case _:
            return None


def _atom(atom: tir.Var | Opaque) -> Atom:
    if isinstance(atom, tir.Var):
        return atom, "", 0
    var, divisor = atom.args[0].atom, atom.args[1].only
    assert isinstance(var, tir.Var)  # noqa: S101 - `_divided` makes no other ones
    assert divisor is not None  # noqa: S101 - the same
    return var, atom.op, divisor


def _applied(op: str, a: Sum | None, b: Sum | None) -> Sum | None:
    if a is None or b is None:
        return None
    match op:
        case "add":
            return a + b
        case "sub":
            return a - b
        case "mul" if a.only is not None or b.only is not None:
            return a * b
        case "floordiv" | "floormod" if b.only is not None and b.only > 0:
            return single(Opaque(op, (a, b))) if isinstance(a.atom, tir.Var) else None  # of a single variable
        case _:
            return None
