"""Which numbers the place of an element determines, where indices are digits of a sum: loops that are fused and split.

    A[f // 12, f % 12 // 4, f % 4]   with   f = o * 256 + i

If two iterations touch the same element, they agree on `f // 12`, `f % 12 // 4` and `f % 4`. From a quotient and the
remainder by the same number they agree on what is divided: on `f % 12`, since `f % 4` is also `f % 12 % 4`, then on
`f`. A sum on which they agree tells iterations of `o` apart, if what varies in it otherwise is less than the factor of
`o`.

Only dimensions count in which all accesses have one and the same index.
"""

from collections.abc import Iterator, Mapping, Sequence

from refmlc.lang.arith.interval import ANY, Interval
from refmlc.lang.arith.polynomial import Opaque, Poly, constant, single, variables
from refmlc.lang.dtypes import INT32
from refmlc.lang.ir import tir

QUOTIENT, REMAINDER = "floordiv", "floormod"


def digits_tell_apart(
    loop: tir.Var,
    accesses: Sequence[Sequence[tir.Expr]],
    axes: Mapping[tir.Var, tir.Expr],
    varying: Mapping[tir.Var, Interval],
) -> bool:
    """Whether iterations of `loop` that differ touch different elements; `accesses`: the indices of each access."""
    columns = [{polynomial_of(index, axes) for index in column} for column in zip(*accesses, strict=True)]
    agreed = {index for column in columns if len(column) == 1 for index in column if index is not None}
    moving = {loop, *varying}
    while more := {*_parts(agreed, moving), *_wholes(agreed)} - agreed:
        agreed |= more
    return any(_tells_apart(loop, index, varying) for index in agreed)


def polynomial_of(expr: tir.Expr, axes: Mapping[tir.Var, tir.Expr]) -> Poly | None:
    """A signed integer expression as a sum of multiples of variables, quotients and remainders; None for others."""
    match expr:
        case tir.IntImm(_, value):
            return constant(value)
        case tir.Var():
            return polynomial_of(axes[expr], axes) if expr in axes else single(expr)
        case tir.Cast(dtype, value) if dtype.is_integer and value.dtype.is_integer and dtype.bits >= value.dtype.bits:
            return polynomial_of(value, axes)
        case tir.Apply(op, (a, b), dtype) if dtype.kind == "int" and not dtype.is_vector and dtype.bits >= INT32.bits:
            return _applied(op, polynomial_of(a, axes), polynomial_of(b, axes))
        case _:
            return None


def _applied(op: str, a: Poly | None, b: Poly | None) -> Poly | None:
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
            return single(Opaque(op, (a, b)))
        case _:
            return None


def _parts(agreed: set[Poly], moving: set[tir.Var]) -> Iterator[Poly]:
    """The one moving atom of a sum, the rest of which is the same in all iterations."""
    for index in agreed:
        terms = [key for key in index.terms if any(var in moving for var in variables(Poly({key: 1})))]
        if len(terms) == 1:
            yield Poly({terms[0]: 1})


def _wholes(agreed: set[Poly]) -> Iterator[Poly]:
    """What is divided, from its quotient and its remainder."""
    digits = [atom for index in agreed if isinstance(atom := index.atom, Opaque) and len(atom.args) == 2]
    for op, (divided, by), _ in digits:
        if op == QUOTIENT and any(
            other == REMAINDER and by == by_other and _has_remainder(divided, of, by)
            for other, (of, by_other), _ in digits
        ):
            yield divided


def _has_remainder(divided: Poly, of: Poly, by: Poly) -> bool:
    """Whether `of % by` is `divided % by`."""
    atom = divided.atom
    if divided == of:
        return True
    match atom:
        case Opaque("floormod", (inner, outer_by), _) if inner == of and outer_by.only and by.only:
            return outer_by.only % by.only == 0
        case _:
            return False


def _tells_apart(loop: tir.Var, index: Poly, varying: Mapping[tir.Var, Interval]) -> bool:
    """Whether a sum has different values in different iterations."""
    factor, rest = 0, Interval(0, 0)
    for key, times in index.terms.items():
        inside = {var for var in variables(Poly({key: 1})) if var is loop or var in varying}
        if not inside:
            continue
        if len(key) != 1 or not isinstance(key[0], tir.Var):
            return False
        if key[0] is loop:
            factor = times
        elif varying[key[0]] == ANY:
            return False
        else:
            rest = rest.plus(varying[key[0]].scaled(times))
    return factor != 0 and rest.low is not None and rest.high is not None and rest.high - rest.low < abs(factor)
