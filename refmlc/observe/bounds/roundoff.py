"""The effect of one rounding to a format: how far it moves a number, and when it overflows.

With p digits, least normal exponent m and e = floor(log2 |y|), rounding y to nearest moves it by at most half the
spacing of its binade,

    h(y) = 2 ** (max(e, m) - p),

which does not decrease with |y|, holds for subnormal results (the absolute term 2 ** (m - p)), and, where the wider
range of `Freedom.wide` is used, beyond the greatest value too. `Grid.error(x)` is h for every |y| <= x; with a
wider format W in between, y -> W -> format, it is h + h_W, since each rounding moves by at most its own h.
A number y that is rounded alone moves by |rounded(y) - y| exactly; by way of W by at most 2 * h_W more, because the
nearest number to W's is no farther from it than rounded(y) is.

| format                  | wider one |
|-------------------------|-----------|
| float32                 | float64   |
| narrower than float32   | float32   |
| float64                 | none      |

A narrower format (`Freedom.narrow`) adds its h, and overflows earlier; what it has exactly, it does not move.

| `special` | what a number of the format's overflow threshold or more becomes                        |
|-----------|-----------------------------------------------------------------------------------------|
| `ieee`    | ±inf                                                                                    |
| `fn`, `fnuz` | NaN                                                                                  |
| `finite`  | ± the maximum, which lies between 0 and the number: the radius grows to |centre| at most |
"""

import math
from fractions import Fraction

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_DTYPE
from refmlc.lang.dtypes import FLOAT32, FLOAT64, DType
from refmlc.lang.dtypes.formats import FloatFormat
from refmlc.lang.dtypes.rounding import round_fraction, rounder
from refmlc.observe.bounds.enclosure import NAN, NINF, PINF, ZERO, Enclosure, between, special_of
from refmlc.observe.bounds.freedom import Freedom
from refmlc.observe.bounds.upward import DIGITS, EXPONENTS, add_up, magnitude, mul_up, shorten


class Grid:
    """The roundings to one float dtype. Fails: RM503 for float8_e8m0fnu, which has neither signs nor zero."""

    def __init__(self, dtype: DType, freedom: Freedom) -> None:
        self.dtype = dtype.scalar
        self.format = row = dtype.format
        if row.special == "e8m0":
            raise fail(UNSUPPORTED_DTYPE, f"bounds for {dtype} are not computed")
        self._rounded = rounder(self.dtype)
        self.wide: FloatFormat | None = None
        if freedom.wide and dtype.bits < FLOAT64.bits:
            self.wide = (FLOAT64 if dtype.element == FLOAT32.element else FLOAT32).format
        self.threshold = _threshold(row)
        self.narrow: FloatFormat | None = None
        if freedom.narrow is not None and freedom.narrow.bits < dtype.bits:
            self.narrow = freedom.narrow.format
            self._rounded_narrow = rounder(freedom.narrow.scalar)
            self.threshold = min(self.threshold, _threshold(self.narrow))
        self.least = math.ldexp(1.0, row.minimum_exponent - row.precision)

    def error(self, x: float) -> float:
        """The greatest distance that a rounding moves a number of size `x` or less."""
        error = add_up(_half_spacing(self.format, x), self.narrow_error(x))
        return error if self.wide is None else add_up(error, _half_spacing(self.wide, x))

    def wide_error(self, x: float) -> float:
        """The same for the rounding to the wider format; 0 without one."""
        return 0.0 if self.wide is None else _half_spacing(self.wide, x)

    def narrow_error(self, x: float) -> float:
        """The same for the rounding to the narrower format; 0 without one."""
        return 0.0 if self.narrow is None else _half_spacing(self.narrow, x)

    def narrowed(self, enclosure: Enclosure) -> Enclosure:
        """Numbers that nothing computes, and what they are once rounded to the narrower format, where there is one."""
        centre, radius, specials, finite = enclosure
        if self.narrow is None or not finite or (radius == 0.0 and self._is_narrow(centre)):
            return enclosure
        rounded = self.settle(centre, radius)
        return rounded._replace(specials=rounded.specials | specials)

    def _is_narrow(self, centre: Fraction) -> bool:
        """Whether the narrower format, where there is one, has the number."""
        if self.narrow is None:
            return True
        return abs(centre) < self.threshold and self._rounded_narrow(float(centre)) == centre

    def overflow(self, top: float, bottom: float) -> int:
        """The special values that numbers in -bottom … top may overflow to."""
        if top < self.threshold and bottom < self.threshold:
            return 0
        match self.format.special:
            case "ieee":
                return (PINF if top >= self.threshold else 0) | (NINF if bottom >= self.threshold else 0)
            case "finite":
                return 0
            case _:
                return NAN

    def settle(self, centre: Fraction, radius: float) -> Enclosure:
        """All numbers within `radius` of `centre`, rounded."""
        if radius == 0.0 and self._is_narrow(centre):
            return self._exact(centre)
        centre, radius = shorten(centre, radius)
        size = magnitude(centre)
        reach = add_up(size, radius)
        specials = 0
        wider = add_up(radius, self.error(reach))
        if reach >= self.threshold:
            specials = self.overflow(reach if centre >= 0 else radius, reach if centre <= 0 else radius)
            if self.format.special == "finite":
                wider = max(wider, size)
        return Enclosure(centre, wider, specials)

    def _exact(self, centre: Fraction) -> Enclosure:
        """The one number `centre`, rounded."""
        top, bottom = centre.numerator, centre.denominator
        if top.bit_length() <= DIGITS and bottom.bit_length() <= EXPONENTS:
            x = top / bottom  # exact, and so is the distance to the rounded number
            nearest = self._rounded(x)
            if math.isfinite(nearest):
                return Enclosure(centre, self._via_wider(abs(x - nearest), abs(x)))
        else:
            nearest = round_fraction(centre, self.dtype)
            if math.isfinite(nearest):
                distance = magnitude(Fraction(nearest) - centre)
                return Enclosure(*shorten(centre, self._via_wider(distance, magnitude(centre))))
        size = magnitude(centre)
        specials = self.overflow(size if centre > 0 else 0.0, 0.0 if centre > 0 else size)
        return Enclosure(*shorten(centre, self.error(size)), specials)

    def image(self, enclosure: Enclosure) -> Enclosure:
        """Every member rounded once to this format: a cast, which has no freedom (NUM-704)."""
        specials = self.fit(enclosure).specials
        if not enclosure.finite:
            return self.fit(enclosure)
        least, greatest = self._nearest(enclosure.low), self._nearest(enclosure.high)  # rounding keeps the order
        specials |= special_of(least) | special_of(greatest)
        overflows = (enclosure.low > 0 and not math.isfinite(least)) or (
            enclosure.high < 0 and not math.isfinite(greatest)
        )
        if overflows:
            return Enclosure(ZERO, 0.0, specials, finite=False)
        top = self.format.maximum
        low, high = least if math.isfinite(least) else -top, greatest if math.isfinite(greatest) else top
        return self.narrowed(between(Fraction(low), Fraction(high), specials))

    def _nearest(self, x: Fraction | float) -> float:
        """`x` rounded to the format."""
        if isinstance(x, float):
            return self._rounded(x)
        top, bottom = x.numerator, x.denominator
        if top.bit_length() <= DIGITS and bottom.bit_length() <= EXPONENTS:
            return self._rounded(top / bottom)
        return round_fraction(x, self.dtype)

    def _via_wider(self, distance: float, size: float) -> float:
        """The greatest move of a number of this size by way of the wider format; `distance`: to its nearest number."""
        return add_up(distance, mul_up(2.0, self.wide_error(size))) if distance else 0.0

    def fit(self, enclosure: Enclosure) -> Enclosure:
        """`enclosure` with the format's values in place of the infinities that it does not have."""
        if not enclosure.specials & (PINF | NINF) or self.format.special == "ieee":
            return enclosure
        if self.format.special == "finite":
            return Enclosure(Fraction(0), self.format.maximum, enclosure.specials & NAN)
        return enclosure._replace(specials=NAN)

    def ulp(self, x: float) -> float:
        """The spacing of the format at size `x`, rounded to its binade."""
        return mul_up(2.0, _half_spacing(self.narrow or self.format, x))


def _threshold(row: FloatFormat) -> float:
    """The least number that overflows."""
    return row.maximum + _half_spacing(row, row.maximum) if row.name != "float64" else row.maximum


def _half_spacing(row: FloatFormat, x: float) -> float:
    """At least h(y) for every |y| <= x. Half the least positive binary64 number is rounded up to it."""
    if x == math.inf:
        return math.inf
    if x == 0.0:
        return 0.0
    exponent = max(math.frexp(x)[1] - 1, row.minimum_exponent) - row.precision
    return max(math.ldexp(1.0, exponent), math.ulp(0.0))
