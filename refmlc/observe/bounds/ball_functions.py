"""Functions of floats on arrays of enclosures (`balls`).

| functions                                          | image of a ball                                                |
|----------------------------------------------------|----------------------------------------------------------------|
| exp log tanh … (`functions.MONOTONE`)              | between the values at the ends; outside of the domain anything |
| sqrt                                               | the same                                                       |
| sin, cos                                           | the value at the centre ± the radius (slope <= 1)              |
| ceil floor trunc round                             | between the values at the ends, exact                          |
| pow of a whole exponent, of x > 0                  | between the values at the ends, or at the corners              |

NumPy computes the values in binary64. They are taken to be off by `SLACK` of their size at most, which is more than a
hundred times what NumPy and the C library document; `tests/property/test_property_bounds_arrays.py` compares them with
mpmath. Functions that are not in the table are not computed here (`NotPlain`).
"""

import math
from collections.abc import Callable, Mapping

import numpy as np

from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.observe.bounds.balls import TINY, Balls, between, half_spacing, raised, settled
from refmlc.observe.bounds.freedom import Freedom
from refmlc.observe.bounds.functions import MONOTONE
from refmlc.observe.bounds.roundoff import Grid

SLACK = 2.0**-44
LARGEST_POWER = 64


class NotPlain(Exception):
    """A program, or a part of it, that is not executed on arrays; the message names it."""


def _erf(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.frompyfunc(math.erf, 1, 1)(x), np.float64)


VALUES: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "exp10": lambda x: np.power(10.0, x),
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sinh": np.sinh,
    "tanh": np.tanh,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "sigmoid": lambda x: 1.0 / (1.0 + np.exp(-x)),
    "erf": _erf,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
}
INTEGRAL: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "ceil": np.ceil,
    "floor": np.floor,
    "trunc": np.trunc,
    "round": np.rint,
    "nearbyint": np.rint,
}


def unary(name: str, a: Balls, grid: Grid, freedom: Freedom) -> Balls:
    """Every value of function `name`. Fails: `NotPlain`."""
    if name in INTEGRAL:
        low, high = a.ends()
        image = between(INTEGRAL[name](low), INTEGRAL[name](high))
        whole = settled(image.mid, image.rad, grid)
        return Balls(np.where(a.special, a.mid, whole.mid), np.where(a.special, a.rad, whole.rad))
    if name == "sqrt":
        return _by_ends(a, np.sqrt, 0.0, math.inf, lambda image: settled(image.mid, image.rad, grid))
    if name in ("sin", "cos"):
        value = (np.sin if name == "sin" else np.cos)(a.mid)
        image = Balls(value, raised(np.minimum(a.rad, 2.0) + SLACK, 2))
        return _or_anything(_permitted(name, image, grid, freedom), a.special, a)
    if name not in MONOTONE:
        raise NotPlain(f"the operator `{name}`")
    least, greatest, grows = MONOTONE[name]
    if name == "rsqrt":
        least = math.nextafter(0.0, 1.0)  # a zero has two signs, and so has its value

    def permitted(image: Balls) -> Balls:
        return _permitted(name, image, grid, freedom)

    return _by_ends(a, VALUES[name], least, greatest, permitted, grows=grows)


def _by_ends(
    a: Balls,
    function: Callable[[np.ndarray], np.ndarray],
    least: float,
    greatest: float,
    permitted: Callable[[Balls], Balls],
    *,
    grows: bool = True,
) -> Balls:
    """The image of a function that grows, or falls, from `least` to `greatest`; NaN stays NaN."""
    low, high = a.ends()
    with np.errstate(all="ignore"):
        ends = function(low), function(high)
        first, last = ends if grows else ends[::-1]
        image = _slack(first, last)
    spread = np.isfinite(image.mid)
    image = Balls(image.mid, np.where(spread & np.isfinite(image.rad), raised(image.rad + TINY, 2), image.rad))
    result = permitted(Balls(np.where(spread, image.mid, 0.0), image.rad))
    result = Balls(np.where(spread, result.mid, image.mid), np.where(spread, result.rad, image.rad))
    return _or_anything(result, ~((low >= least) & (high <= greatest)), a)


def _slack(low: np.ndarray, high: np.ndarray) -> Balls:
    """The numbers from `low` to `high`, each of which may be off by `SLACK` of its size."""
    below = np.where(np.isfinite(low), np.abs(low) * SLACK, 0.0)
    above = np.where(np.isfinite(high), np.abs(high) * SLACK, 0.0)
    return between(low - below, high + above)


def _or_anything(result: Balls, lost: np.ndarray, a: Balls) -> Balls:
    """`result`; anything where `lost`, but NaN where the operand is NaN."""
    nan = np.isnan(a.mid)
    lost = (lost | np.isinf(a.rad)) & ~nan
    mid = np.where(nan, np.nan, np.where(lost, 0.0, result.mid))
    return Balls(mid, np.where(nan, 0.0, np.where(lost, np.inf, result.rad)))


def _permitted(name: str, image: Balls, grid: Grid, freedom: Freedom) -> Balls:
    """The permitted results for an exact value in `image`."""
    ulps = max(SCALAR_OPS[name].contract.bound(grid.dtype) - 0.5, 0.0) + freedom.ulps
    error = ulps * 2.0 * half_spacing(grid.format, image.size)
    return settled(image.mid, raised(image.rad + error, 3), grid)


def power(a: Balls, b: Balls, grid: Grid, freedom: Freedom) -> Balls:
    """Every x ** y: of one whole y > 0, or of x > 0; else anything."""
    exponents = np.unique(b.mid)
    low, high = a.ends()
    with np.errstate(all="ignore"):
        if exponents.size == 1 and not b.rad.any() and exponents[0] in range(1, LARGEST_POWER + 1):
            exponent = int(exponents[0])
            ends = [low**exponent, high**exponent]
            least, greatest = np.minimum(*ends), np.maximum(*ends)
            if exponent % 2 == 0:
                least = np.where((low < 0.0) & (high > 0.0), 0.0, least)
            domain = np.isfinite(low)
        else:
            (low_b, high_b) = b.ends()
            corners = [np.power(x, y) for x in (low, high) for y in (low_b, high_b)]
            least, greatest = np.minimum.reduce(corners), np.maximum.reduce(corners)
            domain = (low > 0.0) & np.isfinite(low_b)
        image = _slack(least, greatest)
        image = Balls(image.mid, np.where(image.rad > 0.0, raised(image.rad + TINY, 2), image.rad))
        result = _permitted("pow", Balls(image.mid, image.rad), grid, freedom)
    lost = ~domain | a.special | b.special | ~np.isfinite(image.mid)
    return Balls(np.where(lost, 0.0, result.mid), np.where(lost, np.inf, result.rad))
