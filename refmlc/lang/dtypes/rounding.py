"""Rounding to a float dtype, and wrapping to an integer dtype: to nearest, ties to even, in one step.

`x` lies between two neighbours of the format, continued beyond its greatest value as if there were no end; the
nearer one is the result, of two equally near the one with the even significand. What then is too large becomes:

| `special` | beyond the maximum, and ±inf | NaN | -0           | NUM clause |
|-----------|------------------------------|-----|--------------|------------|
| `ieee`    | ±inf                         | NaN | -0           | NUM-001    |
| `fn`      | NaN                          | NaN | -0           | NUM-002    |
| `fnuz`    | NaN                          | NaN | 0            | NUM-003    |
| `finite`  | ± the maximum                | NaN | -0           | NUM-004    |
| `e8m0`    | NaN, as 0 and x < 0          | NaN | NaN          | NUM-005    |

A `finite` format has no code for NaN: NaN is handed through here, and the operators report it
(`refmlc.lang.ops.scalar`).

The fast way: with `quantum` the spacing of the format at x, `(x + 1.5 * 2**52 * quantum) - 1.5 * 2**52 * quantum`
rounds x to a multiple of `quantum` in binary64's own round-to-nearest-even, exactly once.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from refmlc.lang.dtypes.dtype import DType
from refmlc.lang.dtypes.formats import FloatFormat

Rounder = Callable[[float], float]

_EXPONENTS = 1100  # beyond every exponent that math.frexp returns
_EXACT_INT = 1 << 53


def rounder(target: DType) -> Rounder:
    """The function that rounds a binary64 number to the float dtype `target`, as a Python float.

    Each call gives a function of its own. It is not for two threads at once: float32 goes through one cell.
    """
    match target.element:
        case "float64":
            return float
        case "float32":
            return _float32_rounder()
        case "float8_e8m0fnu":
            return _e8m0_rounder(target.format)
        case _:
            return _small_rounder(target.format)


def round_fraction(exact: Fraction, target: DType) -> float:
    """The exact number `exact` rounded to `target`: the definition that `rounder` reaches the fast way."""
    row = target.format
    if row.special == "e8m0" and exact <= 0:
        return math.nan
    if exact == 0:
        return 0.0
    spacing = _spacing(exact, row)
    nearest = round(exact / spacing) * spacing  # of a Fraction, to nearest, ties to even
    if row.special == "e8m0":
        nearest = max(nearest, Fraction(row.smallest))
    if abs(nearest) > Fraction(row.maximum):
        return _beyond(row)(math.inf if exact > 0 else -math.inf)
    if nearest == 0:
        return -0.0 if exact < 0 and row.has_negative_zero else 0.0
    return float(nearest)


def int_rounder(target: DType) -> Callable[[int], float]:
    """The function that rounds an integer of any size to the float dtype `target`, once."""
    rounded = rounder(target)

    def from_int(number: int) -> float:
        if -_EXACT_INT <= number <= _EXACT_INT:
            return rounded(number)
        return round_fraction(Fraction(number), target)

    return from_int


def round_int(number: int, target: DType) -> float:
    """The integer `number` rounded once to the float dtype `target`."""
    return int_rounder(target)(number)


def wrap(target: DType, number: int) -> int:
    """`number` modulo 2**bits, as the value of the integer dtype `target` (two's complement)."""
    low = number & ((1 << target.bits) - 1)
    return low - (1 << target.bits) if target.kind == "int" and low > target.maximum else low


def _float32_rounder() -> Rounder:
    cell = memoryview(bytearray(4)).cast("f")

    def to_float32(x: float) -> float:
        cell[0] = x  # C's conversion of double to float: rounds once, to inf when too large
        return cell[0]

    return to_float32


def _small_rounder(row: FloatFormat) -> Rounder:
    magics = _magics(row)
    maximum = row.maximum
    beyond = _beyond(row)
    negative_zero = row.has_negative_zero
    exponent, copysign = math.frexp, math.copysign

    def to_small(x: float) -> float:
        magic = magics[exponent(x)[1]]
        nearest = (x + magic) - magic
        if -maximum <= nearest <= maximum:
            return nearest or (copysign(0.0, x) if negative_zero else 0.0)
        return beyond(nearest)

    return to_small


def _e8m0_rounder(row: FloatFormat) -> Rounder:
    to_small = _small_rounder(row)
    smallest = row.smallest

    def to_e8m0(x: float) -> float:
        return max(to_small(x), smallest) if x > 0.0 else math.nan

    return to_e8m0


@lru_cache(maxsize=32)
def _magics(row: FloatFormat) -> tuple[float, ...]:
    """At index e (negative ones from the end), for x in [2**(e-1), 2**e): 1.5 * 2**52 * spacing; 0 beyond the top."""
    top = math.frexp(row.maximum)[1] + 1

    def magic(e: int) -> float:
        return 0.0 if e > top else math.ldexp(1.5, 52 + max(e - 1, row.minimum_exponent) - row.fraction_bits)

    return tuple(magic(e) for e in (*range(_EXPONENTS), *range(-_EXPONENTS, 0)))


def _beyond(row: FloatFormat) -> Rounder:
    """What a number that is not finite, or rounds to more than the maximum, becomes."""
    match row.special:
        case "ieee":
            return _to_infinity
        case "finite":
            maximum = row.maximum
            return lambda x: x if x != x else math.copysign(maximum, x)  # noqa: PLR0124 - the test for NaN
        case _:
            return _to_nan


def _to_infinity(x: float) -> float:
    return x * math.inf


def _to_nan(_: float) -> float:
    return math.nan


def _spacing(exact: Fraction, row: FloatFormat) -> Fraction:
    """The distance of neighbours of the format at `exact`, as if it had no greatest value."""
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if size < Fraction(2) ** exponent:
        exponent -= 1
    return Fraction(2) ** (max(exponent, row.minimum_exponent) - row.fraction_bits)
