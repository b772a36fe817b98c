"""Arrays of enclosures, for programs that are too long to certify number by number.

    Balls(mid, rad)  holds at each place

| `rad`  | `mid`       | the set                                            |
|--------|-------------|----------------------------------------------------|
| finite | finite      | every real x with |x - mid| <= rad                 |
| 0      | ±inf or NaN | that value alone                                   |
| inf    | 0           | anything: any number, ±inf, NaN (`anything`)       |

Both are binary64. The operations are those of `arithmetic` with two differences, each of which makes the sets wider:
a rounding to the format moves a number by half of its spacing, whatever the number is, and what may overflow, or be
inf or NaN without being certain, is anything.

A centre is computed in binary64, so that the radius also holds the rounding of the centre: at most |mid| * 2**-53 and
`TINY`. Radii are computed to nearest, and `raised` makes up for it: n operations on numbers >= 0 lose a factor of at
most (1 - 2**-53)**n, and n * 2**-1075 where they are subnormal.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from refmlc.lang.dtypes.formats import FloatFormat
from refmlc.observe.bounds.roundoff import Grid

UNIT = 2.0**-53
TINY = 2.0**-1060


@dataclass(frozen=True, slots=True)
class Balls:
    """Enclosures. Shapes: of `mid` and `rad` are alike. Dtypes: float64."""

    mid: np.ndarray
    rad: np.ndarray

    @property
    def plain(self) -> bool:
        """Whether every set is finite."""
        return bool(np.isfinite(self.mid).all() and np.isfinite(self.rad).all())

    @property
    def special(self) -> np.ndarray:
        """Where a set is not a ball of real numbers."""
        return np.asarray(~(np.isfinite(self.mid) & np.isfinite(self.rad)))

    @property
    def size(self) -> np.ndarray:
        """At least |x| for every x of the set; inf or NaN where it is no ball."""
        return raised(np.abs(self.mid) + self.rad, 1)

    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """At most the least, at least the greatest member; of anything -inf and inf, of NaN NaN."""
        low = np.where(self.rad == 0.0, self.mid, np.nextafter(self.mid - self.rad, -np.inf))
        high = np.where(self.rad == 0.0, self.mid, np.nextafter(self.mid + self.rad, np.inf))
        return low, high


def exactly(values: np.ndarray) -> Balls:
    """The numbers alone; a NaN or an infinity is itself."""
    mid = np.asarray(values, np.float64)
    return Balls(mid, np.zeros(mid.shape))


def raised(bound: np.ndarray, operations: int) -> np.ndarray:
    """At least what `bound`, of that many operations on numbers >= 0, stands for; 0 stays 0."""
    return np.where(bound > 0.0, bound * (1.0 + (operations + 2) * 2.0 * UNIT) + operations * TINY, bound)


def half_spacing(row: FloatFormat, size: np.ndarray) -> np.ndarray:
    """How far rounding moves a number of this size or less: `roundoff.Grid.error` of one format."""
    _, exponent = np.frexp(np.where(np.isfinite(size), size, 1.0))
    spacing = np.ldexp(1.0, np.maximum(exponent - 1, row.minimum_exponent) - row.precision)
    return np.where(size > 0.0, np.where(np.isfinite(size), np.maximum(spacing, 2.0**-1074), np.inf), 0.0)


def settled(mid: np.ndarray, rad: np.ndarray, grid: Grid, *, wide: bool = True) -> Balls:
    """The numbers within `rad` of `mid`, rounded. `wide`: perhaps by way of the wider format, or to that alone."""
    size = raised(np.abs(mid) + rad, 1)
    error = half_spacing(grid.format, size)
    if wide and grid.wide is not None:
        error = error + half_spacing(grid.wide, size)
    return bounded(mid, raised(rad + error, 3), size, grid)


def bounded(mid: np.ndarray, rad: np.ndarray, size: np.ndarray, grid: Grid) -> Balls:
    """The balls; anything where a number of `size` may overflow."""
    lost = ~(size < grid.threshold)
    return Balls(np.where(lost, 0.0, mid), np.where(lost, np.inf, rad))


def between(low: np.ndarray, high: np.ndarray) -> Balls:
    """The numbers from `low` to `high`; the same infinity at both ends is itself, NaN or one infinity anything."""
    with np.errstate(all="ignore"):
        mid = np.where(low == high, low, low / 2 + high / 2)
        rad = np.where(low == high, 0.0, raised(np.maximum(high - mid, mid - low), 2))
    lost = np.isnan(rad) | np.isnan(mid) | np.isinf(rad)
    return Balls(np.where(lost, 0.0, mid), np.where(lost, np.inf, rad))


def _with_specials(a: Balls, b: Balls, result: Balls, values: np.ndarray, unknown: np.ndarray) -> Balls:
    """`result`, corrected where an operand is no ball: `values` is the operator on the centres, NaN stays NaN."""
    special = a.special | b.special
    nan = np.isnan(a.mid) | np.isnan(b.mid)
    lost = special & ~nan & (np.isinf(a.rad) | np.isinf(b.rad) | unknown)
    mid = np.where(nan, np.nan, np.where(lost, 0.0, np.where(special, values, result.mid)))
    rad = np.where(nan, 0.0, np.where(lost, np.inf, np.where(special, 0.0, result.rad)))
    return Balls(mid, rad)


def add(a: Balls, b: Balls, grid: Grid) -> Balls:
    """Every x + y."""
    mid = a.mid + b.mid
    result = settled(mid, raised(a.rad + b.rad + np.abs(mid) * UNIT, 3), grid)
    return result if a.plain and b.plain else _with_specials(a, b, result, mid, np.zeros((), bool))


def subtract(a: Balls, b: Balls, grid: Grid) -> Balls:
    """Every x - y."""
    return add(a, Balls(-b.mid, b.rad), grid)


def multiply(a: Balls, b: Balls, grid: Grid) -> Balls:
    """Every x * y."""
    mid = a.mid * b.mid
    across = np.abs(a.mid) * b.rad + a.rad * np.abs(b.mid) + a.rad * b.rad
    lost = np.where((a.mid != 0.0) & (b.mid != 0.0), np.abs(mid) * UNIT + TINY, 0.0)
    spread = np.where((a.rad > 0.0) | (b.rad > 0.0), across + TINY, 0.0)
    result = settled(mid, raised(spread + lost, 7), grid)
    if a.plain and b.plain:
        return result
    return _with_specials(a, b, result, mid, _no_sign(a) | _no_sign(b))


def divide(a: Balls, b: Balls, grid: Grid) -> Balls:
    """Every x / y; anything where y may be 0."""
    least = np.nextafter(np.abs(b.mid) - b.rad, 0.0)
    mid = a.mid / b.mid
    shift = (a.rad + (np.abs(mid) * (1.0 + 4 * UNIT) + TINY) * b.rad + TINY) / np.where(least > 0.0, least, 1.0)
    lost = np.where(a.mid != 0.0, np.abs(mid) * UNIT + TINY, 0.0)
    spread = np.where((a.rad > 0.0) | (b.rad > 0.0), shift + TINY, 0.0)
    result = settled(mid, raised(spread + lost, 8), grid)
    zero = ~(least > 0.0) & ~np.isnan(b.mid)
    result = Balls(np.where(zero, 0.0, result.mid), np.where(zero, np.inf, result.rad))
    if a.plain and b.plain:
        return result
    return _with_specials(a, b, result, mid, zero | _no_sign(b))


def _no_sign(a: Balls) -> np.ndarray:
    """Where the sign of a set is uncertain."""
    return np.asarray(np.isfinite(a.mid) & (a.rad > 0.0) & (np.abs(a.mid) <= a.rad))


def greater(a: Balls, b: Balls) -> Balls:
    """The operator max: a where a > b, else b; so a NaN on the left is lost, one on the right stays."""
    return _extreme(a, b, np.maximum)


def smaller(a: Balls, b: Balls) -> Balls:
    """The operator min: a where a < b, else b."""
    return _extreme(a, b, np.minimum)


def _extreme(a: Balls, b: Balls, pick: Callable[..., np.ndarray]) -> Balls:
    (low_a, high_a), (low_b, high_b) = a.ends(), b.ends()
    result = between(pick(low_a, low_b), pick(high_a, high_b))
    if a.plain and b.plain:
        return result
    nan = np.isnan(a.mid) | np.isnan(b.mid)
    lost = ~nan & (np.isinf(a.rad) | np.isinf(b.rad))
    mid = np.where(nan, b.mid, np.where(lost, 0.0, result.mid))
    return Balls(mid, np.where(nan, b.rad, np.where(lost, np.inf, result.rad)))


def absolute(a: Balls) -> Balls:
    """Every |x|."""
    low, high = a.ends()
    span = between(np.where(low > 0.0, low, np.where(high < 0.0, -high, 0.0)), np.maximum(-low, high))
    special = a.special
    return Balls(np.where(special, np.abs(a.mid), span.mid), np.where(special, a.rad, span.rad))


def join(a: Balls, b: Balls) -> Balls:
    """Sets that hold both."""
    (low_a, high_a), (low_b, high_b) = a.ends(), b.ends()
    result = between(np.minimum(low_a, low_b), np.maximum(high_a, high_b))
    both_nan = np.isnan(a.mid) & np.isnan(b.mid)
    return Balls(np.where(both_nan, np.nan, result.mid), np.where(both_nan, 0.0, result.rad))


def choose(condition: np.ndarray, certain: np.ndarray, a: Balls, b: Balls) -> Balls:
    """`a` where the condition holds, `b` where it does not, both where that is uncertain."""
    mid, rad = np.where(condition, a.mid, b.mid), np.where(condition, a.rad, b.rad)
    if certain.all():
        return Balls(mid, rad)
    either = join(a, b)
    return Balls(np.where(certain, mid, either.mid), np.where(certain, rad, either.rad))
