"""Sums, products, quotients and roots of enclosures, rounded to a grid.

With |x - a| <= r and |y - b| <= s:

| operation | centre  | how far the exact result is from the centre at most                              |
|-----------|---------|----------------------------------------------------------------------------------|
| x ± y     | a ± b   | r + s                                                                            |
| x * y     | a * b   | |a| * s + |b| * r + r * s                                                        |
| x / y     | a / b   | (r + |a / b| * s) / (|b| - s), where |b| > s; else anything, ±inf and NaN as signs say |
| sqrt(x)   | sqrt(a) | r / sqrt(a), where a > r; else all from 0 to sqrt(a + r), NaN where x < 0 is possible |
| x * y + z | a * b + c | of the product, plus the radius of z (FMA)                                     |

The enclosure of a product holds the unrounded product, so the sum of a product holds the result of FMA.
"""

import math
from collections.abc import Callable
from fractions import Fraction

from refmlc.lang.ops.scalar import binary64
from refmlc.observe.bounds.enclosure import NAN, NINF, ZERO, Enclosure, between, join, negate, special_of
from refmlc.observe.bounds.roundoff import Grid
from refmlc.observe.bounds.upward import (
    KEPT,
    add_up,
    div_up,
    dyadic,
    magnitude,
    magnitude_down,
    mul_up,
    shorten,
    sub_down,
)


def add(a: Enclosure, b: Enclosure, grid: Grid) -> Enclosure:
    """Every x + y."""
    return _with_specials(a, b, lambda x, y: x + y, grid, _sum)


def subtract(a: Enclosure, b: Enclosure, grid: Grid) -> Enclosure:
    """Every x - y."""
    return add(a, negate(b), grid)


def multiply(a: Enclosure, b: Enclosure, grid: Grid) -> Enclosure:
    """Every x * y."""
    return _with_specials(a, b, lambda x, y: x * y, grid, _product)


def divide(a: Enclosure, b: Enclosure, grid: Grid) -> Enclosure:
    """Every x / y."""
    quotient = _with_specials(a, b, binary64.divide, grid, _quotient)
    if b.finite and a.finite and b.low <= 0 <= b.high:
        specials = 0
        for x in a.signs():
            for y in (-0.0, 0.0):
                specials |= special_of(binary64.divide(x, y))
        finite = quotient.finite and not (b.exact and not b.centre)
        quotient = quotient._replace(specials=quotient.specials | specials, finite=finite)
    return quotient


def multiply_add(a: Enclosure, b: Enclosure, c: Enclosure, grid: Grid) -> Enclosure:
    """Every x * y + z, rounded once."""
    if a.specials or b.specials or c.specials:
        return add(multiply(a, b, grid), c, grid)
    centre, radius = _product(a, b)
    return grid.settle(centre + c.centre, add_up(radius, c.radius))


def square_root(a: Enclosure, grid: Grid) -> Enclosure:
    """Every sqrt(x)."""
    specials = a.specials & ~NINF
    if a.specials & NINF or (a.finite and a.low < 0):
        specials |= NAN
    if not a.finite or a.high < 0:
        return Enclosure(ZERO, 0.0, specials, finite=False)
    if a.radius == math.inf:
        return Enclosure(ZERO, math.inf, specials)
    root, root_error = _root(a.centre) if a.centre > 0 else (ZERO, 0.0)
    if a.radius == 0.0:
        result = grid.settle(root, root_error)
    elif a.low > 0:
        result = grid.settle(root, add_up(root_error, div_up(a.radius, magnitude_down(root))))
    else:
        top, top_error = _root(Fraction(a.high))
        span = between(ZERO, top + Fraction(top_error))
        result = grid.settle(span.centre, span.radius)
    return result._replace(specials=result.specials | specials)


# ----------------------------------------------------------------------------------------------- the finite parts

Part = tuple[Fraction, float]


def _sum(a: Enclosure, b: Enclosure) -> Part:
    return a.centre + b.centre, add_up(a.radius, b.radius)


def _product(a: Enclosure, b: Enclosure) -> Part:
    if not a.radius and not b.radius:
        return shorten(a.centre * b.centre, 0.0)
    across = add_up(mul_up(magnitude(a.centre), b.radius), mul_up(magnitude(b.centre), a.radius))
    return a.centre * b.centre, add_up(across, mul_up(a.radius, b.radius))


def _quotient(a: Enclosure, b: Enclosure) -> Part:
    size = sub_down(magnitude_down(b.centre), b.radius) if b.radius else magnitude_down(b.centre)
    if not b.centre or (b.radius and size <= 0.0) or a.radius == math.inf:
        return ZERO, math.inf
    centre, error = dyadic(a.centre / b.centre)
    if not a.radius and not b.radius:
        return centre, error
    shift = add_up(a.radius, mul_up(add_up(magnitude(centre), error), b.radius))
    return centre, add_up(error, div_up(shift, size))


def _root(x: Fraction) -> Part:
    """The square root of x >= 0 to `KEPT` bits, and a bound of the difference; exact roots are exact."""
    top, bottom = x.numerator, x.denominator
    shift = max(0, 2 * KEPT - top.bit_length() + bottom.bit_length())
    shift += shift & 1
    quotient = (top << shift) // bottom
    root = math.isqrt(quotient)
    result = Fraction(root, 1 << (shift // 2))
    return result, 0.0 if result * result == x else max(math.ldexp(2.0, -(shift // 2)), math.ulp(0.0))


def _with_specials(
    a: Enclosure,
    b: Enclosure,
    on_floats: Callable[[float, float], float],
    grid: Grid,
    on_parts: Callable[[Enclosure, Enclosure], Part],
) -> Enclosure:
    """Every result of an operator: finite parts by the table, special values by one representative of each class."""
    if not (a.specials or b.specials):
        return grid.settle(*on_parts(a, b))
    specials, zero = 0, False
    for x in a.signs():
        for y in b.signs():
            if not (math.isfinite(x) and math.isfinite(y)):
                value = on_floats(x, y)
                specials |= special_of(value)
                zero = zero or value == 0.0
    if a.finite and b.finite:
        enclosure = grid.settle(*on_parts(a, b))
        enclosure = enclosure._replace(specials=enclosure.specials | specials)
        return join(enclosure, Enclosure(ZERO)) if zero else enclosure
    return Enclosure(ZERO, 0.0, specials, finite=zero)
