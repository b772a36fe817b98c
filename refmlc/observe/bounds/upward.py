"""Bounds as binary64 numbers, every operation rounded up; centres as dyadic fractions of bounded length.

A bound is a float >= 0 that is at least the real number it stands for; inf is always right. Each operation rounds to
nearest and then takes the next number, so the result is never too small, underflow included. Zero stays exact: the
sum of zeros and the product with zero are zero.

A centre is a `Fraction` whose denominator is a power of two. A centre of more than `LONGEST` bits is cut to `KEPT`
bits, and the cut is added to the bound.
"""

import math
from fractions import Fraction

LONGEST = 640
KEPT = 256
LEAST = math.ulp(0.0)
DIGITS, EXPONENTS = 53, 1000  # a dyadic fraction with no more of them is a normal binary64 number


def add_up(a: float, b: float) -> float:
    """At least a + b, for a and b >= 0."""
    return math.nextafter(a + b, math.inf) if a and b else a + b


def mul_up(a: float, b: float) -> float:
    """At least a * b, for a and b >= 0; 0 for a zero, also with inf."""
    return math.nextafter(a * b, math.inf) if a and b else 0.0


def div_up(a: float, b: float) -> float:
    """At least a / b, for a >= 0; inf for b <= 0."""
    if not a:
        return 0.0
    return math.nextafter(a / b, math.inf) if b > 0.0 else math.inf


def sub_down(a: float, b: float) -> float:
    """At most a - b."""
    return math.nextafter(a - b, -math.inf) if b else a


def magnitude(x: Fraction) -> float:
    """At least |x|; inf beyond binary64. Exact where |x| is a binary64 number of few digits."""
    top, bottom = abs(x.numerator), x.denominator
    try:
        near = top / bottom
    except OverflowError:
        return math.inf
    if top.bit_length() <= DIGITS and bottom.bit_length() <= EXPONENTS and not bottom & (bottom - 1):
        return near
    return math.nextafter(near, math.inf)


def magnitude_down(x: Fraction) -> float:
    """At most |x|, and finite."""
    near = magnitude(x)
    return math.nextafter(math.nextafter(near, 0.0), 0.0)


def shorten(centre: Fraction, bound: float) -> tuple[Fraction, float]:
    """The same enclosure with a centre of bounded length. Dyadic fractions only."""
    top, bottom = centre.numerator, centre.denominator
    excess = top.bit_length() - KEPT
    if top.bit_length() <= LONGEST and bottom.bit_length() <= 4 * LONGEST:
        return centre, bound
    if excess <= 0:
        return centre, bound
    cut = (top >> excess) << excess
    error = math.ldexp(1.0, excess - (bottom.bit_length() - 1)) if excess < bottom.bit_length() + 1000 else math.inf
    return Fraction(cut, bottom), add_up(bound, max(error, LEAST))


def dyadic(x: Fraction) -> tuple[Fraction, float]:
    """A dyadic fraction next to `x`, with `KEPT` bits, and a bound of the difference."""
    top, bottom = x.numerator, x.denominator
    if bottom & (bottom - 1) == 0:
        return x, 0.0
    shift = max(0, KEPT + bottom.bit_length() - abs(top).bit_length())
    quotient = (top << shift) // bottom
    return Fraction(quotient, 1 << shift), max(math.ldexp(1.0, -shift), LEAST)
