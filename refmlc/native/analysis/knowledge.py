"""What is known of variables at a place, and the bounds of polynomials that follow from it.

| known of                 | as                                                                           |
|--------------------------|------------------------------------------------------------------------------|
| a loop variable, an axis | polynomials below and above it, of variables bound before it                 |
| a bound variable (`let`) | the polynomial that it is, else its range                                    |
| a condition              | a polynomial that is not negative: kept as it is, and as a range of its form |
| an element of a buffer   | the range of its dtype, or what someone proved of that load                  |

A lower bound of a polynomial is the greatest of: the sum of the ranges of its terms; the range of its form; what is
left when one atom, the one bound last, is replaced by what it is at least (its factor not negative) or at most (its
factor not positive), again and again; the bound of it minus something that is not negative. An upper bound is a lower
bound of the negative.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from refmlc.lang.arith.interval import ANY, Interval
from refmlc.lang.arith.polynomial import Atom, Monomial, Opaque, Poly, atoms, single, variables
from refmlc.lang.ir import tir

DEPTH = 8  # replacements in a row
CONDITIONS = 8  # the conditions that are tried, the last ones


@dataclass(frozen=True, slots=True)
class Range:
    """What a variable is at least and at most: each of `lows` is below or equal, each of `highs` above or equal."""

    lows: tuple[Poly, ...] = ()
    highs: tuple[Poly, ...] = ()
    numbers: Interval = ANY

    def without(self, var: tir.Var) -> "Range":
        """What is left when nothing is known that names `var`."""
        lows = tuple(bound for bound in self.lows if not mentions(bound, var))
        return Range(lows, tuple(bound for bound in self.highs if not mentions(bound, var)), self.numbers)


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known at a place. `order` says when a variable was bound: ranges name earlier ones only."""

    ranges: Mapping[tir.Var, Range] = field(default_factory=dict)
    values: Mapping[tir.Var, Poly] = field(default_factory=dict)
    order: Mapping[tir.Var, int] = field(default_factory=dict)
    forms: Mapping[Poly, Interval] = field(default_factory=dict)
    conditions: tuple[Poly, ...] = ()
    tests: Mapping[tir.Var, tir.Expr] = field(default_factory=dict)
    loads: Mapping[tir.BufferLoad, Interval] = field(default_factory=dict)
    bound: int = 0

    def declare(self, var: tir.Var, earlier: Iterable[tir.Var] = ()) -> "Knowledge":
        """`var` as the variable bound last, of which nothing is known; `earlier` are bound before it."""
        knowledge = self.forget(var) if var in self.order else self
        order, bound = dict(knowledge.order), knowledge.bound
        for each in (*(each for each in earlier if each not in order), var):
            order[each] = bound
            bound += 1
        return replace(knowledge, order=order, bound=bound)

    def equal(self, var: tir.Var, value: Poly) -> "Knowledge":
        """The knowledge where `var` is `value`."""
        return replace(self, values={**self.values, var: value})

    def between(self, var: tir.Var, limits: Range) -> "Knowledge":
        """The knowledge where `var` is between `limits`."""
        return replace(self, ranges={**self.ranges, var: limits})

    def forget(self, var: tir.Var) -> "Knowledge":
        """Without all that names `var`: it is about to mean something else."""
        ranges = {key: limits.without(var) for key, limits in self.ranges.items() if key is not var}
        return Knowledge(
            {
                **ranges,
                **{key: Range() for key, value in self.values.items() if key is not var and mentions(value, var)},
            },
            {key: value for key, value in self.values.items() if key is not var and not mentions(value, var)},
            {key: order for key, order in self.order.items() if key is not var},
            {form: limits for form, limits in self.forms.items() if not mentions(form, var)},
            tuple(condition for condition in self.conditions if not mentions(condition, var)),
            {},
            self.loads,
            self.bound,
        )


class Bounds:
    """Bounds of polynomials from one `Knowledge`."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.known = knowledge
        self._atoms: dict[Atom, Interval] = {}
        self._lows: dict[tuple[Poly, int], int | None] = {}

    def interval(self, poly: Poly) -> Interval:
        """The range of `poly`."""
        number = poly.only
        if number is not None:
            return Interval(number, number)
        return Interval(self.low(poly), self.high(poly))

    def high(self, poly: Poly) -> int | None:
        """A number that `poly` is certainly not above."""
        low = self.low(-poly)
        return None if low is None else -low

    def not_negative(self, poly: Poly) -> bool:
        """Whether `poly` is certainly 0 or more."""
        low = self.low(poly)
        return low is not None and low >= 0

    def low(self, poly: Poly, depth: int = DEPTH) -> int | None:
        """A number that `poly` is certainly not below."""
        key = (poly, depth)
        if key not in self._lows:
            self._lows[key] = None  # not known while it is computed: a bound that needs itself has none
            ends = [end for end in self._candidates(poly, depth) if end is not None]
            self._lows[key] = max(ends) if ends else None
        return self._lows[key]

    def _candidates(self, poly: Poly, depth: int) -> Iterator[int | None]:
        yield self.numeric(poly).low
        if poly.only is not None:
            return
        form, factor = poly.form()
        form_low = self.known.forms.get(form, ANY).low
        yield None if form_low is None else form_low * factor + poly.constant
        if depth:
            yield self._replaced(poly, depth)
        if depth == DEPTH:
            poly_atoms = set(atoms(poly))
            for condition in self.known.conditions[-CONDITIONS:]:
                if not poly_atoms.isdisjoint(atoms(condition)):
                    yield self.low(poly - condition, DEPTH - 2)

    def _replaced(self, poly: Poly, depth: int) -> int | None:
        """The bound after one atom is replaced by what bounds it: the atom bound last that can be."""
        symbolic = [atom for atom in dict.fromkeys(atoms(poly)) if self._is_symbolic(atom)]
        for atom in sorted(symbolic, key=self._rank, reverse=True):
            factor, remainder = poly.split(atom)
            sign = self.numeric(factor)
            if sign.low is not None and sign.low >= 0:
                lows = [self._with(factor, remainder, atom, bound, depth) for bound in self._lower(atom)]
            elif sign.high is not None and sign.high <= 0:
                lows = [self._with(factor, remainder, atom, bound, depth) for bound in self._upper(atom)]
            else:
                continue
            numbers = [end for end in lows if end is not None]
            if numbers:
                return max(numbers)
        return None

    def _with(self, factor: Poly, remainder: Poly, atom: Atom, bound: Poly, depth: int) -> int | None:
        """A bound of factor * atom + rest, where `bound` stands for the atom; of a quotient it bounds the multiple."""
        divisor = _divisor(atom)
        if divisor is None:
            return self.low(factor * bound + remainder, depth - 1)
        if all(value % divisor == 0 for value in factor.terms.values()):
            part = Poly({key: value // divisor for key, value in factor.terms.items()})
            return self.low(part * bound + remainder, depth - 1)
        low = self.low(factor * bound + remainder.scaled(divisor), depth - 1)
        return None if low is None else -(-low // divisor)

    def _lower(self, atom: Atom) -> tuple[Poly, ...]:
        """What `atom` is at least; of a quotient x // c: what c * (x // c) is at least."""
        if isinstance(atom, tir.Var):
            return self.known.ranges.get(atom, Range()).lows
        first, second = atom.args
        match atom.op:
            case "floordiv" if (divisor := _divisor(atom)) is not None:
                return (first.plus(1 - divisor),)
            case "max":
                return (first, second)
            case _:
                return ()

    def _upper(self, atom: Atom) -> tuple[Poly, ...]:
        """What `atom` is at most; of a quotient x // c: what c * (x // c) is at most."""
        if isinstance(atom, tir.Var):
            return self.known.ranges.get(atom, Range()).highs
        first, second = atom.args
        match atom.op:
            case "floordiv" if _divisor(atom) is not None:
                return (first,)
            case "floordiv" if self._is_positive(second) and self.not_negative(first):
                return (first,)
            case "floormod" if self._is_positive(second):
                return (second.plus(-1), first) if self.not_negative(first) else (second.plus(-1),)
            case "min":
                return (first, second)
            case _:
                return ()

    def _is_positive(self, poly: Poly) -> bool:
        return self.not_negative(poly.plus(-1))

    def _is_symbolic(self, atom: Atom) -> bool:
        """Whether a bound of `atom` is more than a number, so that replacing it may say more than its range."""
        if isinstance(atom, Opaque):
            return True
        limits = self.known.ranges.get(atom, Range())
        return any(bound.only is None for bound in (*limits.lows, *limits.highs))

    def _rank(self, atom: Atom) -> tuple[int, int, str]:
        """Greater: bound later. An operation comes after what is in it."""
        if isinstance(atom, tir.Var):
            return (self.known.order.get(atom, -1), 0, atom.name)
        inner = [self._rank(part) for arg in atom.args for part in atoms(arg)]
        last = max((order for order, _, _ in inner), default=-1)
        return (last, 1 + max((depth for _, depth, _ in inner), default=0), atom.op)

    # ----------------------------------------------------------------------------------------- ranges

    def numeric(self, poly: Poly) -> Interval:
        """The sum of the ranges of the terms."""
        low: int | None = 0
        high: int | None = 0
        for key, factor in poly.terms.items():
            term = self._product(key).scaled(factor)
            low = None if low is None or term.low is None else low + term.low
            high = None if high is None or term.high is None else high + term.high
        return Interval(low, high)

    def _product(self, key: Monomial) -> Interval:
        result = Interval(1, 1)
        for atom in key:
            result = self.of_atom(atom) if result == (1, 1) else result.times(self.of_atom(atom))
        return result

    def of_atom(self, atom: Atom) -> Interval:
        """The range of an atom."""
        if atom not in self._atoms:
            self._atoms[atom] = ANY  # not known while it is computed: a bound that needs itself has none
            interval = self._of_var(atom) if isinstance(atom, tir.Var) else self._of_opaque(atom)
            self._atoms[atom] = interval.meet(self._of_form(single(atom)))
        return self._atoms[atom]

    def _of_form(self, form: Poly) -> Interval:
        low, high = self.known.forms.get(form, ANY).low, self.known.forms.get(-form, ANY).low
        return Interval(low, None if high is None else -high)

    def _of_var(self, var: tir.Var) -> Interval:
        limits = self.known.ranges.get(var)
        if limits is None:
            return of_dtype(var)
        result = limits.numbers
        for bound in limits.lows:
            result = result.meet(Interval(self.low(bound), None))
        for bound in limits.highs:
            result = result.meet(Interval(None, self.high(bound)))
        return result

    def _of_opaque(self, atom: Opaque) -> Interval:
        first, second = (self.interval(arg) for arg in atom.args)
        match atom.op:
            case "floordiv":
                return first.floordiv(second)
            case "floormod":
                return first.floormod(second)
            case "min":
                return first.smaller(second)
            case _:
                return first.greater(second)


def of_dtype(expr: tir.Expr) -> Interval:
    """The range of the dtype of `expr`; of what is neither an integer nor a bool nothing is known."""
    dtype = expr.dtype
    if dtype.kind == "bool":
        return Interval(0, 1)
    return Interval(dtype.minimum, dtype.maximum) if dtype.is_integer else ANY


def _divisor(atom: Atom) -> int | None:
    """The constant divisor of a quotient, which is positive; None: it is no such quotient."""
    if isinstance(atom, tir.Var) or atom.op != "floordiv":
        return None
    divisor = atom.args[1].only
    return divisor if divisor is not None and divisor > 0 else None


def mentions(poly: Poly, var: tir.Var) -> bool:
    """Whether `var` is in `poly`."""
    return any(each is var for each in variables(poly))
