"""Indices as sums: a constant and multiples of atoms, which are variables or quotients and remainders of one.

| expression                         | sum                            |
|------------------------------------|--------------------------------|
| `i * 4 + j - 1`                    | 4 i + 1 j − 1                  |
| axis of a block inside             | the sum of what it is bound to |
| `f // 3`, `f % 3`                  | one atom each                  |
| anything else (`A[i]`, `i * j`, …) | none (None)                    |

Only of signed integers of 32 bits or more: others wrap.

Decision: a conversion to a wider integer is left out, a narrower one is no sum. Index arithmetic that overflows is
undefined (RM306), so that sums are exact where the function is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from refmlc.lang.dtypes import INT32
from refmlc.lang.ir import tir

Atom: TypeAlias = "tuple[tir.Var, str, int]"
DIVISIONS = ("floordiv", "floormod")


@dataclass(frozen=True)
class Sum:
    """constant + Σ factor · atom. An atom is a variable, an operator (empty: itself) and the divisor of that."""

    terms: Mapping[Atom, int]
    constant: int = 0

    def plus(self, other: "Sum", factor: int = 1) -> "Sum":
        """This and `factor` times the other."""
        terms = dict(self.terms)
        for atom, one in other.terms.items():
            terms[atom] = terms.get(atom, 0) + factor * one
        return Sum({atom: one for atom, one in terms.items() if one}, self.constant + factor * other.constant)


def sum_of(expr: tir.Expr, axes: Mapping[tir.Var, tir.Expr]) -> Sum | None:
    """The sum that an integer expression is; `axes` are variables that stand for expressions. None: it is none."""
    match expr:
        case tir.IntImm(_, value):
            return Sum({}, value)
        case tir.Var() if expr in axes:
            return sum_of(axes[expr], axes)
        case tir.Var():
            return Sum({(expr, "", 0): 1})
        case tir.Cast(dtype, value) if dtype.is_integer and value.dtype.is_integer and dtype.bits >= value.dtype.bits:
            return sum_of(value, axes)
        case tir.Apply(op, (a, b), dtype) if dtype.kind == "int" and not dtype.is_vector and dtype.bits >= INT32.bits:
            return _applied(op, sum_of(a, axes), sum_of(b, axes))
        case _:
            return None


def _applied(op: str, a: Sum | None, b: Sum | None) -> Sum | None:
    if a is None or b is None:
        return None
    match op:
        case "add":
            return a.plus(b)
        case "sub":
            return a.plus(b, -1)
        case "mul" if not b.terms:
            return Sum({}).plus(a, b.constant)
        case "mul" if not a.terms:
            return Sum({}).plus(b, a.constant)
        case "floordiv" | "floormod" if not b.terms and b.constant > 0:
            return _divided(op, a, b.constant)
        case _:
            return None


def _divided(op: str, a: Sum, divisor: int) -> Sum | None:
    """The quotient or remainder of a single variable."""
    if len(a.terms) != 1 or a.constant:
        return None
    ((var, inner, _), factor), *_ = a.terms.items()
    return Sum({(var, op, divisor): 1}) if factor == 1 and not inner else None
