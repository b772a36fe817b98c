"""Ranges of integers, and what the integer operators make of them. The numbers are mathematical: nothing wraps here.

| operation            | range of the result                                                                |
|----------------------|------------------------------------------------------------------------------------|
| `+ - *`, min, max    | from the ends                                                                      |
| quotients            | from the ends, for the negative and the positive divisors apart; 0 is no divisor   |
| remainders           | the dividend itself where it is smaller than each divisor; else from the divisor   |
| `&` with a number ≥ 0 | 0 … that number                                                                   |

An interval whose `low` is above its `high` is empty: the place is never reached.
"""

from collections.abc import Iterable
from math import inf
from typing import NamedTuple

_End = int | float  # an int, or ± infinity


class Interval(NamedTuple):
    """The integers from `low` to `high`, both included; None: no end on that side is known."""

    low: int | None = None
    high: int | None = None

    def __str__(self) -> str:
        low, high = ("?" if end is None else str(end) for end in self)
        return low if low == high and self.low is not None else f"{low} … {high}"

    @property
    def is_empty(self) -> bool:
        """Whether it holds no integer."""
        return self.low is not None and self.high is not None and self.low > self.high

    @property
    def only(self) -> int | None:
        """The one integer that it holds; None: it holds more, or is empty."""
        return self.low if self.low == self.high else None

    def inside(self, low: int, high: int) -> bool:
        """Whether it holds nothing outside low … high."""
        return self.is_empty or (
            self.low is not None and low <= self.low and self.high is not None and self.high <= high
        )

    def without(self, number: int) -> bool:
        """Whether `number` is certainly not in it."""
        return (self.low is not None and self.low > number) or (self.high is not None and self.high < number)

    def meet(self, other: "Interval") -> "Interval":
        """What both hold."""
        low = self.low if other.low is None or (self.low is not None and self.low >= other.low) else other.low
        high = self.high if other.high is None or (self.high is not None and self.high <= other.high) else other.high
        return Interval(low, high)

    def join(self, other: "Interval") -> "Interval":
        """The least interval that holds both."""
        if self.is_empty or other.is_empty:
            return other if self.is_empty else self
        low = None if self.low is None or other.low is None else min(self.low, other.low)
        high = None if self.high is None or other.high is None else max(self.high, other.high)
        return Interval(low, high)

    def negate(self) -> "Interval":
        """The negatives."""
        return Interval(None if self.high is None else -self.high, None if self.low is None else -self.low)

    def plus(self, other: "Interval") -> "Interval":
        """The sums x + y."""
        low = None if self.low is None or other.low is None else self.low + other.low
        high = None if self.high is None or other.high is None else self.high + other.high
        return Interval(low, high)

    def minus(self, other: "Interval") -> "Interval":
        """The differences x - y."""
        return self.plus(other.negate())

    def times(self, other: "Interval") -> "Interval":
        """The products x * y."""
        return _spanning(_product(x, y) for x in _ends(self) for y in _ends(other))

    def scaled(self, factor: int) -> "Interval":
        """The products x * factor."""
        ends = (None if end is None else end * factor for end in self)
        low, high = ends
        if factor == 0:
            return Interval(0, 0)
        return Interval(low, high) if factor > 0 else Interval(high, low)

    def smaller(self, other: "Interval") -> "Interval":
        """The smaller ones, min(x, y)."""
        low = None if self.low is None or other.low is None else min(self.low, other.low)
        highs = [end for end in (self.high, other.high) if end is not None]
        return Interval(low, min(highs, default=None))

    def greater(self, other: "Interval") -> "Interval":
        """The greater ones, max(x, y)."""
        return self.negate().smaller(other.negate()).negate()

    def floordiv(self, other: "Interval") -> "Interval":
        """The quotients x / y rounded down, for the y that are not 0."""
        positive = _floor_quotients(self, other.meet(Interval(1, None)))
        return positive.join(_floor_quotients(self.negate(), other.negate().meet(Interval(1, None))))

    def truncdiv(self, other: "Interval") -> "Interval":
        """The quotients x / y rounded toward zero, for the y that are not 0."""
        above, below = self.meet(Interval(0, None)), self.negate().meet(Interval(0, None))
        positive, negative = other.meet(Interval(1, None)), other.negate().meet(Interval(1, None))
        same = _floor_quotients(above, positive).join(_floor_quotients(below, negative))
        return same.join(_floor_quotients(above, negative).join(_floor_quotients(below, positive)).negate())

    def floormod(self, other: "Interval") -> "Interval":
        """The remainders x - y * (x // y), for the y that are not 0: it has the sign of y."""
        positive = _floor_remainders(self, other.meet(Interval(1, None)))
        return positive.join(_floor_remainders(self.negate(), other.negate().meet(Interval(1, None))).negate())

    def truncmod(self, other: "Interval") -> "Interval":
        """The remainders x - y * trunc(x / y), for the y that are not 0: it has the sign of x."""
        divisors = other.meet(Interval(1, None)).join(other.negate().meet(Interval(1, None)))
        above = _floor_remainders(self.meet(Interval(0, None)), divisors)
        return above.join(_floor_remainders(self.negate().meet(Interval(0, None)), divisors).negate())


ANY = Interval()
EMPTY = Interval(1, 0)


def _ends(interval: Interval) -> tuple[_End, _End]:
    return (-inf if interval.low is None else interval.low, inf if interval.high is None else interval.high)


def _product(x: _End, y: _End) -> _End:
    return 0 if x == 0 or y == 0 else x * y


def _spanning(ends: Iterable[_End]) -> Interval:
    """From the least to the greatest of `ends`."""
    all_ends = tuple(ends)
    low, high = min(all_ends), max(all_ends)
    return Interval(low if isinstance(low, int) else None, high if isinstance(high, int) else None)


def _quotient(x: _End, y: _End) -> _End:
    """The quotient where y > 0 and both may be infinite."""
    if isinstance(x, float):
        return x
    return (0 if x >= 0 else -1) if isinstance(y, float) else x // y


def _floor_quotients(x: Interval, y: Interval) -> Interval:
    """The quotients for y > 0."""
    if x.is_empty or y.is_empty:
        return EMPTY
    return _spanning(_quotient(a, b) for a in _ends(x) for b in _ends(y))


def _floor_remainders(x: Interval, y: Interval) -> Interval:
    """The remainders for y > 0."""
    if x.is_empty or y.is_empty:
        return EMPTY
    if x.low is not None and x.low >= 0 and x.high is not None and y.low is not None and x.high < y.low:
        return x
    if y.only is not None and x.low is not None and x.high is not None and x.low // y.only == x.high // y.only:
        return Interval(x.low % y.only, x.high % y.only)
    below = Interval(0, None if y.high is None else y.high - 1)
    return below if x.low is None or x.low < 0 else below.meet(Interval(0, x.high))
