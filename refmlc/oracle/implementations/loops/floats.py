"""Operators of floats that are exact, or rounded once. They take and give NumPy's scalars, or binary64 where said."""

import math
from fractions import Fraction

import numpy as np

from refmlc.oracle.implementations.loops.rounding import odd_float64

SMALLEST = 5e-324


def greater(a: float, b: float) -> float:
    """`a` if it is greater, else `b`: so `b` where one is NaN.

    Python's own `max` gives `a` where neither is greater.
    """
    if a > b:
        return a
    return b


def less(a: float, b: float) -> float:
    """`a` if it is less, else `b`."""
    if a < b:
        return a
    return b


def signed_as(a: float, b: float) -> float:
    """`a` with the sign of `b`, a NaN counting as positive. In binary64."""
    return math.copysign(a, 1.0 if math.isnan(b) else b)


def neighbour(a: np.generic, b: np.generic) -> object:
    """The value of the dtype next to `a` on the side of `b`; `b` where they are equal."""
    return b if a == b else np.nextafter(a, b)


def scaled_by(a: float, power: int) -> float:
    """`a` times a power of two, rounded once to binary64."""
    return float(np.ldexp(np.float64(a), max(-5000, min(5000, power))))


def scaled_odd(a: float, power: int) -> float:
    """The same to odd (`rounding`) for narrower formats: what is too small for binary64 is not 0."""
    plain = scaled_by(a, power)
    return math.copysign(SMALLEST, a) if plain == 0 and a != 0 else plain


def fused(a: float, b: float, c: float) -> float:
    """A * b + c, to odd in binary64 (`rounding`) for formats narrower than that."""
    return _fused(a, b, c, odd_float64)


def fused_wide(a: float, b: float, c: float) -> float:
    """A * b + c, rounded once to binary64."""
    return _fused(a, b, c, _nearest)


def _fused(a: float, b: float, c: float, rounded: "object") -> float:
    plain = np.float64(a) * np.float64(b) + np.float64(c)
    if not all(map(math.isfinite, (a, b, c))):
        return float(plain)
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return float(plain)
    try:
        return float(rounded(exact))  # type: ignore[operator]  # one of the two above
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def _nearest(exact: Fraction) -> float:
    return exact.numerator / exact.denominator


def hypotenuse(a: float, b: float) -> float:
    """sqrt(a * a + b * b) in binary64, rounded once: by the integer square root of the exact sum."""
    if not (math.isfinite(a) and math.isfinite(b)) or a == 0 or b == 0:
        return float(np.hypot(a, b))
    square = Fraction(a) ** 2 + Fraction(b) ** 2
    scale = 2 * (((square.denominator.bit_length() - square.numerator.bit_length()) // 2) + 64)
    shifted = square * (Fraction(2) ** scale)
    floor = shifted.numerator // shifted.denominator
    root = math.isqrt(floor)
    sticky = root * root != floor or shifted.denominator != 1
    exact = Fraction(2 * root + sticky, 2) / (Fraction(2) ** (scale // 2))
    try:
        return exact.numerator / exact.denominator
    except OverflowError:
        return math.inf
