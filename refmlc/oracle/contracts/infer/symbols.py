"""Integers and conditions of TensorIR as polynomials over sizes, elements of parameters, loop variables and the rest.

| atom                               | stands for                                                             |
|------------------------------------|------------------------------------------------------------------------|
| a variable                         | a size, a loop, a number that is an argument, or what nobody knows     |
| `load(index, …)` of a buffer       | an element of a parameter that the function never writes               |
| `floordiv`, `floormod`, `min`, `max` | the operator; divisors are positive where it is defined               |
| `select(condition, a, b)`          | a choice                                                               |
| `ge(p)`, `ne(p)`, `and`, `or`, `not` | conditions: p >= 0, p != 0                                            |

Rounding toward zero counts as rounding down: the result is a proposal, which calls then test.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from refmlc.lang.arith.polynomial import Atom, Opaque, Poly, constant, monomial, single
from refmlc.lang.ir import tir

DIVISIONS = {"floordiv": "floordiv", "truncdiv": "floordiv", "div": "floordiv"}
REMAINDERS = {"floormod": "floormod", "truncmod": "floormod"}
CONDITIONS = frozenset(("ge", "ne", "and", "or", "not"))
MOST_WAYS = 6


class KnownBound(NamedTuple):
    """`poly` >= 0, or with `differs` that it is not 0."""

    poly: Poly
    differs: bool = False


def atom_of(op: str, *args: Poly, whole: tir.Expr | None = None) -> Poly:
    """An operation as a polynomial."""
    return single(Opaque(op, args, whole))


def unknown(name: str = "unknown") -> Poly:
    """A number of which nothing is known."""
    from refmlc.lang.dtypes import INT64  # noqa: PLC0415 - only here

    return single(tir.Var(name, INT64))


def floordiv(a: Poly, b: Poly) -> Poly:
    """A quotient rounded down; terms that the divisor divides leave it."""
    if a.only is not None and b.only:
        return constant(a.only // b.only)
    if b.only == 1:
        return a
    whole, rest = _divided(a, b)
    if rest.only == -1:
        return whole.plus(-1)
    if rest.only is not None and (rest.only == 0 or (b.only and 0 <= rest.only < b.only)):
        return whole
    inner = rest.atom
    if isinstance(inner, Opaque) and inner.op == "floordiv" and b.only and inner.args[1].only:
        return whole + floordiv(inner.args[0], constant(b.only * inner.args[1].only))
    return whole + atom_of("floordiv", rest, b)


def floormod(a: Poly, b: Poly) -> Poly:
    """A remainder; terms that the divisor divides leave it."""
    if a.only is not None and b.only:
        return constant(a.only % b.only)
    if b.only == 1:
        return constant(0)
    _, rest = _divided(a, b)
    if rest.only is not None and (rest.only == 0 or (b.only and 0 <= rest.only < b.only)):
        return rest
    return atom_of("floormod", rest, b)


def _divided(a: Poly, b: Poly) -> tuple[Poly, Poly]:
    """`(whole, rest)` with a = whole * b + rest, for a divisor of one term."""
    if len(b.terms) != 1:
        return (constant(1), constant(0)) if a == b else (constant(0), a)
    ((divisor, factor),) = b.terms.items()
    whole: dict[tuple[Atom, ...], int] = {}
    rest: dict[tuple[Atom, ...], int] = {}
    for key, value in a.terms.items():
        remaining = list(key)
        divides = True
        for atom in divisor:
            divides = divides and atom in remaining
            if divides:
                remaining.remove(atom)
        if divides and factor and (value % factor == 0 or not key):
            quotient, left = divmod(value, factor)
            if quotient:
                whole[monomial(remaining)] = quotient
            if left:
                rest[key] = left
        else:
            rest[key] = value
    return Poly(whole), Poly(rest)


def extreme(op: str, a: Poly, b: Poly) -> Poly:
    """`min` or `max`."""
    difference = (a - b).only
    if difference is None:
        return atom_of(op, a, b)
    return a if (difference <= 0) == (op == "min") else b


def select(condition: Poly, a: Poly, b: Poly) -> Poly:
    """A choice."""
    if condition.only is not None:
        return a if condition.only else b
    return a if a == b else atom_of("select", condition, a, b)


def rebuilt(op: str, args: Sequence[Poly], whole: tir.Expr | None = None) -> Poly:
    """The operation, simplified."""
    match op:
        case "floordiv":
            return floordiv(args[0], args[1])
        case "floormod":
            return floormod(args[0], args[1])
        case "min" | "max":
            return extreme(op, args[0], args[1])
        case "select":
            return select(args[0], args[1], args[2])
        case _:
            return atom_of(op, *args, whole=whole)


def replaced(poly: Poly, atom: Atom, by: Poly) -> Poly:
    """The polynomial with an atom replaced, inside other atoms too."""
    if not mentions(poly, atom):
        return poly
    result = constant(0)
    for key, factor in poly.terms.items():
        product = constant(factor)
        for part in key:
            if part == atom:
                product = product * by
            elif isinstance(part, Opaque) and part.args:
                product = product * rebuilt(part.op, [replaced(arg, atom, by) for arg in part.args], part.whole)
            else:
                product = product * single(part)
        result = result + product
    return result


def all_atoms(poly: Poly) -> Iterator[Atom]:
    """The atoms of a polynomial, those inside others too."""
    for key in poly.terms:
        for atom in key:
            yield atom
            if isinstance(atom, Opaque):
                for arg in atom.args:
                    yield from all_atoms(arg)


def mentions(poly: Poly, atom: Atom) -> bool:
    """Whether an atom occurs anywhere in the polynomial."""
    return any(each == atom for each in all_atoms(poly))


def depends(poly: Poly, atom: Atom) -> bool:
    """Whether an atom occurs outside of loads: an element is any number, wherever it stands."""
    for key in poly.terms:
        for each in key:
            if each == atom:
                return True
            if isinstance(each, Opaque) and each.op != "load" and any(depends(arg, atom) for arg in each.args):
                return True
    return False


def ways(condition: Poly, *, true: bool = True) -> list[list[KnownBound]]:
    """The ways in which a condition holds, or not: each a list of facts that hold together."""
    if condition.only is not None:
        return [[]] if bool(condition.only) == true else []
    atom = condition.atom
    if not isinstance(atom, Opaque) or atom.op not in CONDITIONS:
        return [[]]
    match atom.op:
        case "not":
            return ways(atom.args[0], true=not true)
        case "ge":
            return [[KnownBound(atom.args[0] if true else (-atom.args[0]).plus(-1))]]
        case "ne" if true:
            return [[KnownBound(atom.args[0], differs=True)]]
        case "ne":
            return [[KnownBound(atom.args[0]), KnownBound(-atom.args[0])]]
    first, second = (ways(arg, true=true) for arg in atom.args)
    if (atom.op == "and") == true:
        together = [one + other for one in first for other in second]
        return together if len(together) <= MOST_WAYS else [[]]
    return first + second if len(first) + len(second) <= MOST_WAYS else [[]]
