"""Enclosures: what a float may be, as a ball of real numbers and a set of special values.

    Enclosure(centre, radius, specials, finite)  holds
        every real x with |x - centre| <= radius, where `finite`,
        and each of +inf, -inf, NaN whose bit is in `specials`.

The theorem behind the oracle, by induction over the program: the enclosure of a value holds the exact result
(nothing rounded but casts) and the result of every permitted evaluation (`refmlc.observe.bounds.freedom`). Each
operation keeps that: it encloses the exact image of its operands' enclosures, then every rounding of it
(`Grid.settle`). Zeros of both signs are the one real 0: an operation that distinguishes them (1 / x)
gets both; `zeros` says of which programs the sign is known.

Relations between enclosures are sets: `LT | EQ` says that some pair is less, some pair equal, none greater, and none
unordered.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from refmlc.observe.bounds.upward import add_up, dyadic, magnitude

PINF, NINF, NAN = 1, 2, 4
LT, EQ, GT, UN = 1, 2, 4, 8
ZERO = Fraction(0)


class Enclosure(NamedTuple):
    """A set of floats; `centre` is dyadic, `radius` a float >= 0 (inf: any number)."""

    centre: Fraction
    radius: float = 0.0
    specials: int = 0
    finite: bool = True

    @property
    def exact(self) -> bool:
        """Whether this is one finite number."""
        return self.radius == 0.0 and self.finite and not self.specials

    @property
    def low(self) -> Fraction | float:
        """The least finite member; -inf without a bound."""
        return -math.inf if self.radius == math.inf else self.centre - Fraction(self.radius)

    @property
    def high(self) -> Fraction | float:
        """The greatest finite member; inf without a bound."""
        return math.inf if self.radius == math.inf else self.centre + Fraction(self.radius)

    @property
    def size(self) -> float:
        """At least |x| for every finite member."""
        return add_up(magnitude(self.centre), self.radius)

    def contains(self, x: float) -> bool:
        """Whether the float `x` is a member."""
        if math.isnan(x):
            return bool(self.specials & NAN)
        if math.isinf(x):
            return bool(self.specials & (PINF if x > 0 else NINF))
        return self.finite and (self.radius == math.inf or abs(Fraction(x) - self.centre) <= self.radius)

    def special_members(self) -> list[float]:
        """The infinities and NaN that are members."""
        return [x for bit, x in ((PINF, math.inf), (NINF, -math.inf), (NAN, math.nan)) if self.specials & bit]

    def signs(self) -> tuple[float, ...]:
        """One float for each class of members: -inf, -1, -0, 0, 1, inf, NaN."""
        classes = self.special_members()
        if self.finite:
            classes += [-1.0] if self.low < 0 else []
            classes += [-0.0, 0.0] if self.low <= 0 <= self.high else []
            classes += [1.0] if self.high > 0 else []
        return tuple(classes)


ANYTHING = Enclosure(ZERO, math.inf, PINF | NINF | NAN)


def point(x: float) -> Enclosure:
    """The float `x` alone."""
    if math.isfinite(x):
        return Enclosure(Fraction(x))
    return Enclosure(ZERO, 0.0, special_of(x), finite=False)


def special_of(x: float) -> int:
    """The bit of `x`; 0 where it is finite."""
    if math.isnan(x):
        return NAN
    return 0 if math.isfinite(x) else PINF if x > 0 else NINF


def between(low: Fraction | float, high: Fraction | float, specials: int = 0) -> Enclosure:
    """The numbers from `low` to `high`; an infinite end means any number. The centre is rounded to a dyadic one."""
    if math.inf in (abs(low), abs(high)):
        return Enclosure(ZERO, math.inf, specials)
    centre, error = dyadic((Fraction(low) + Fraction(high)) / 2)
    return Enclosure(centre, add_up(magnitude((Fraction(high) - Fraction(low)) / 2), error), specials)


def join(a: Enclosure, b: Enclosure) -> Enclosure:
    """A set that holds both."""
    specials = a.specials | b.specials
    if not a.finite or not b.finite:
        finite_operand = b if not a.finite else a
        return finite_operand._replace(specials=specials)
    if a.centre == b.centre:
        return Enclosure(a.centre, max(a.radius, b.radius), specials)
    if math.inf in (a.radius, b.radius):
        return Enclosure(ZERO, math.inf, specials)
    return between(min(a.low, b.low), max(a.high, b.high), specials)


def relation(a: Enclosure, b: Enclosure) -> int:
    """The relations that occur between members of `a` and of `b`."""
    relations = 0
    if a.finite and b.finite:
        relations |= _finite_relation(a, b)
    if a.specials or b.specials:
        for x in _representatives(a):
            for y in _representatives(b):
                if not (math.isfinite(x) and math.isfinite(y)):
                    relations |= LT if x < y else EQ if x == y else GT if x > y else UN
    return relations


def _finite_relation(a: Enclosure, b: Enclosure) -> int:
    reach = add_up(a.radius, b.radius)
    if reach == 0.0:
        return LT if a.centre < b.centre else EQ if a.centre == b.centre else GT
    if reach == math.inf:
        return LT | EQ | GT
    gap = a.centre - b.centre
    if gap > reach:
        return GT
    if gap < -reach:
        return LT
    return LT | EQ | GT


def _representatives(a: Enclosure) -> tuple[float, ...]:
    return (*a.special_members(), 0.0) if a.finite else tuple(a.special_members())


def greater(a: Enclosure, b: Enclosure) -> Enclosure:
    """The operator max: a where a > b, else b."""
    return _extreme(a, b, GT, max)


def smaller(a: Enclosure, b: Enclosure) -> Enclosure:
    """The operator min: a where a < b, else b."""
    return _extreme(a, b, LT, min)


def _extreme(
    a: Enclosure, b: Enclosure, wins: int, pick: Callable[[Fraction | float, Fraction | float], Fraction | float]
) -> Enclosure:
    relations = relation(a, b)
    if relations == wins:
        return a
    if not relations & wins:
        return b
    if a.specials or b.specials:
        return join(a, b)
    return between(pick(a.low, b.low), pick(a.high, b.high))


def negate(a: Enclosure) -> Enclosure:
    """Every member with the other sign."""
    specials = (a.specials & NAN) | (PINF if a.specials & NINF else 0) | (NINF if a.specials & PINF else 0)
    return Enclosure(-a.centre, a.radius, specials, a.finite)


def absolute(a: Enclosure) -> Enclosure:
    """Every member without its sign."""
    specials = (a.specials & NAN) | (PINF if a.specials & (PINF | NINF) else 0)
    if not a.finite or a.radius == math.inf:
        return a._replace(specials=specials)
    if a.low >= 0:
        return a._replace(specials=specials)
    if a.high <= 0:
        return negate(a)._replace(specials=specials)
    return between(ZERO, max(-a.low, a.high), specials)
