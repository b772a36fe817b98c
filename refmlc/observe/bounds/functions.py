"""Functions of floats on enclosures: the exact image, then the deviations that the contract permits.

The binary64 value of a row is within `Contract.ulps` of the exact one, as its tests show against mpmath; enclosures are
that value, widened by those ulps and one more. A result may be off by `Contract.bound` ulps of its dtype, and by
`Freedom.ulps` more.

| functions                                                    | image of an interval                                |
|--------------------------------------------------------------|-----------------------------------------------------|
| exp log tanh … (`MONOTONE`), rsqrt, cosh of |x|               | between the values at the ends, inside the domain   |
| sin, cos                                                     | the value at the centre ± the radius (slope <= 1)   |
| tan                                                          | the same with slope 1 / m**2, m the least |cos|     |
| pow of x > 0, hypot of |x|, |y|, atan2 off the cut            | between the values at the corners                   |
| ceil floor trunc round                                       | between the values at the ends, exact               |
| fmod, copysign, nextafter, ldexp, pow of x <= 0              | of single numbers their value; else a superset  |

Poles add ±inf; members outside of the domain add NaN.
"""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product

from refmlc.lang.dtypes import FLOAT64
from refmlc.lang.ops.contract import ScalarOp
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.observe.bounds.enclosure import (
    ANYTHING,
    NAN,
    NINF,
    PINF,
    ZERO,
    Enclosure,
    absolute,
    between,
    join,
    negate,
    point,
)
from refmlc.observe.bounds.freedom import Freedom
from refmlc.observe.bounds.roundoff import Grid
from refmlc.observe.bounds.upward import add_up, div_up, dyadic, magnitude, mul_up

Function = Callable[[float], float]

MONOTONE: Mapping[str, tuple[float, float, bool]] = {
    "exp": (-math.inf, math.inf, True),
    "exp2": (-math.inf, math.inf, True),
    "exp10": (-math.inf, math.inf, True),
    "log": (0.0, math.inf, True),
    "log2": (0.0, math.inf, True),
    "log10": (0.0, math.inf, True),
    "log1p": (-1.0, math.inf, True),
    "sinh": (-math.inf, math.inf, True),
    "tanh": (-math.inf, math.inf, True),
    "asin": (-1.0, 1.0, True),
    "acos": (-1.0, 1.0, False),
    "atan": (-math.inf, math.inf, True),
    "asinh": (-math.inf, math.inf, True),
    "acosh": (1.0, math.inf, True),
    "atanh": (-1.0, 1.0, True),
    "sigmoid": (-math.inf, math.inf, True),
    "erf": (-math.inf, math.inf, True),
    "rsqrt": (0.0, math.inf, False),
}
"""The domain of each function, and whether it grows."""

INTEGRAL: Mapping[str, Callable[[Fraction], int]] = {
    "ceil": math.ceil,
    "floor": math.floor,
    "trunc": math.trunc,
    "round": round,
    "nearbyint": round,
}


def unary(name: str, a: Enclosure, grid: Grid, freedom: Freedom) -> Enclosure | None:
    """Every value of function `name`; None if this file does not have it."""
    if name in INTEGRAL:
        return _integral(INTEGRAL[name], a, grid)
    row = SCALAR_OPS[name]
    if name == "cosh":
        image, (_, specials) = _monotone(row, absolute(a), 0.0, math.inf, grows=True), _poles(row, a)
    elif name in MONOTONE:
        low, high, grows = MONOTONE[name]
        image, (_, specials) = _monotone(row, a, low, high, grows=grows), _poles(row, a)
    elif name in ("sin", "cos", "tan"):
        image, specials = _periodic(name, row, a), _poles(row, a)[1]
    else:
        return None
    result = _permitted(row, image, grid, freedom) if image.finite else image
    if a.specials:
        for value in _poles(row, a)[0]:
            result = join(result, _permitted(row, point(value), grid, freedom))
    return result._replace(specials=result.specials | specials)


def _permitted(row: ScalarOp, image: Enclosure, grid: Grid, freedom: Freedom) -> Enclosure:
    """The permitted results for an exact value in `image`, which is finite."""
    ulps = max(row.contract.bound(grid.dtype) - 0.5, 0.0) + freedom.ulps
    error = mul_up(ulps, grid.ulp(image.size)) if image.size else 0.0
    result = grid.settle(image.centre, add_up(image.radius, error))
    return result._replace(specials=result.specials | image.specials)


def _poles(row: ScalarOp, a: Enclosure) -> tuple[list[float], int]:
    """Values at the special members: the finite ones, and the bits of the special ones."""
    function = row.value((FLOAT64,), FLOAT64)
    finite, specials = [], 0
    for x in a.signs():
        if not math.isfinite(x):
            value = function(x)
            specials |= point(value).specials
            if math.isfinite(value):
                finite.append(float(value))
    return finite, specials


def _monotone(row: ScalarOp, a: Enclosure, low: float, high: float, *, grows: bool) -> Enclosure:
    """The image of the finite members, those outside of [low, high] giving NaN."""
    empty = Enclosure(ZERO, 0.0, 0, finite=False)
    if not a.finite:
        return empty
    specials = NAN if a.low < low or a.high > high else 0
    first, last = max(a.low, low), min(a.high, high)
    if first > last:
        return empty._replace(specials=specials)
    function = row.value((FLOAT64,), FLOAT64)
    ends = function(_down(first)), function(_up(last))
    if row.contract.name == "rsqrt" and first == 0:
        ends, specials = (math.inf, ends[1]), specials | NINF
    image = _range(*(ends if grows else ends[::-1]), row.contract.ulps)
    return image._replace(specials=image.specials | specials)


def _range(low: float, high: float, ulps: float) -> Enclosure:
    """From `low` to `high`, each off by `ulps` of binary64; an infinite end (overflow, a pole) is a member."""
    if low == math.inf:
        return Enclosure(ZERO, 0.0, PINF, finite=False)
    if high == -math.inf:
        return Enclosure(ZERO, 0.0, NINF, finite=False)
    specials = (NINF if low == -math.inf else 0) | (PINF if high == math.inf else 0)
    if specials:
        return Enclosure(ZERO, math.inf, specials)
    return between(_widen(low, ulps, -math.inf), _widen(high, ulps, math.inf))


def _widen(x: float, ulps: float, toward: float) -> float:
    for _ in range(math.ceil(ulps) + 1):
        x = math.nextafter(x, toward)
    return max(-FLOAT64.format.maximum, min(x, FLOAT64.format.maximum))


def _down(x: Fraction | float) -> float:
    """The greatest float that is not above `x`, or its neighbour."""
    try:
        near = float(x)
    except OverflowError:
        return FLOAT64.format.maximum if x > 0 else -math.inf
    return near if near <= x else math.nextafter(near, -math.inf)


def _up(x: Fraction | float) -> float:
    return -_down(-x)


def _periodic(name: str, row: ScalarOp, a: Enclosure) -> Enclosure:
    if not a.finite:
        return Enclosure(ZERO, 0.0, 0, finite=False)
    try:
        x = float(a.centre)
    except OverflowError:
        x, a = 0.0, ANYTHING
    reach = add_up(a.radius, magnitude(Fraction(x) - a.centre))
    value = row.value((FLOAT64,), FLOAT64)(x)
    slope = 1.0
    if name == "tan":
        cosine = abs(math.cos(x)) * (1 - 1e-9) - reach
        slope = div_up(1.0, math.nextafter(cosine * cosine, 0.0)) if cosine > 0.0 else math.inf
    elif reach >= 2.0:
        return between(Fraction(-1), Fraction(1))
    image = _range(value, value, row.contract.ulps)
    return image._replace(radius=add_up(image.radius, mul_up(reach, slope)))


def _integral(round_: Callable[[Fraction], int], a: Enclosure, grid: Grid) -> Enclosure:
    if not a.finite or a.radius == math.inf:
        return a
    image = between(Fraction(round_(Fraction(a.low))), Fraction(round_(Fraction(a.high))))
    result = grid.settle(image.centre, image.radius)
    return result._replace(specials=result.specials | a.specials)


# ------------------------------------------------------------------------------------------------ of two floats


def binary(name: str, a: Enclosure, b: Enclosure, grid: Grid, freedom: Freedom) -> Enclosure | None:
    """Every value of function `name` of two floats; None if this file does not have it."""
    row = SCALAR_OPS[name]
    match name:
        case "copysign":
            return _copysign(a, b)
        case "fmod" | "truncmod":
            return _of_points(row, a, b, grid) or _remainder(a, b)
        case "nextafter":
            return _of_points(row, a, b, grid) or ANYTHING
        case "pow" | "hypot" | "atan2":
            return _from_corners(row, a, b, grid, freedom)
        case _:
            return None


def ldexp(a: Enclosure, exponent: int, grid: Grid) -> Enclosure:
    """Every x * 2 ** exponent."""
    exponent = max(-5000, min(exponent, 5000))  # beyond the exponents of every format
    factor = Fraction(2) ** exponent
    result = grid.settle(a.centre * factor, mul_up(a.radius, magnitude(factor)))
    return result._replace(specials=result.specials | a.specials, finite=a.finite)


def _single(a: Enclosure) -> float | None:
    """The only member as a binary64 number; None for more members, and for zero, which has two signs."""
    if a.exact:
        near = float(a.centre) if a.size < math.inf else math.inf
        return near if near and near == a.centre else None
    if not a.finite and a.specials in (PINF, NINF, NAN):
        return a.special_members()[0]
    return None


def _of_points(row: ScalarOp, a: Enclosure, b: Enclosure, grid: Grid) -> Enclosure | None:
    x, y = _single(a), _single(b)
    if x is None or y is None:
        return None
    value = float(row.value((grid.dtype, grid.dtype), grid.dtype)(x, y))
    return point(value)


def _remainder(a: Enclosure, b: Enclosure) -> Enclosure:
    if a.specials or b.specials or not a.finite or not b.finite:
        return ANYTHING
    return Enclosure(ZERO, min(a.size, b.size), NAN if b.low <= 0 <= b.high else 0)


def _copysign(a: Enclosure, b: Enclosure) -> Enclosure:
    size = absolute(a)
    signs = {math.copysign(1.0, x) for x in b.signs() if not math.isnan(x)} | ({1.0} if b.specials & NAN else set())
    if signs == {1.0}:
        return size
    return negate(size) if signs == {-1.0} else join(size, negate(size))


def _from_corners(row: ScalarOp, a: Enclosure, b: Enclosure, grid: Grid, freedom: Freedom) -> Enclosure:
    x, y = _single(a), _single(b)
    function = row.value((FLOAT64, FLOAT64), FLOAT64)
    if x is not None and y is not None:
        value = float(function(x, y))
        if not math.isfinite(value):
            return point(value)
        return _permitted(row, _range(value, value, row.contract.ulps), grid, freedom)
    if a.specials or b.specials or not a.finite or not b.finite or math.inf in (a.radius, b.radius):
        return ANYTHING
    name = row.contract.name
    if name == "hypot":
        a, b = absolute(a), absolute(b)
    elif name == "pow" and not a.low > 0:
        is_power = b.exact and b.centre.denominator == 1 and b.centre > 0
        return _whole_power(row, a, int(b.centre), grid, freedom) if is_power else ANYTHING
    elif name == "atan2" and not (b.low > 0 or a.low > 0 or a.high < 0):
        return Enclosure(ZERO, 3.15)
    corners = product((_down(a.low), _up(a.high)), (_down(b.low), _up(b.high)))
    values = [float(function(*corner)) for corner in corners]
    image = _range(min(values), max(values), row.contract.ulps)
    return _permitted(row, image, grid, freedom) if image.finite else image


def _whole_power(row: ScalarOp, a: Enclosure, exponent: int, grid: Grid, freedom: Freedom) -> Enclosure:
    """X ** n for a whole n > 0: between the powers of the ends; from 0 if n is even and 0 is a member."""
    if exponent > 64:  # the exact power is too long
        return ANYTHING
    ends = [Fraction(a.low) ** exponent, Fraction(a.high) ** exponent]
    if exponent % 2 == 0 and a.low < 0 < a.high:
        ends.append(ZERO)
    image = between(dyadic(min(ends))[0], dyadic(max(ends))[0])
    return _permitted(row, image, grid, freedom)
