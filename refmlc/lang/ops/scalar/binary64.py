"""Functions on binary64 numbers as C99 Annex F says, on top of Python's `math` (the platform's libm).

Python raises where C returns a special value; here the special value comes back:

| where             | C99 (Annex F)                  | Python's `math`        |
|-------------------|--------------------------------|------------------------|
| pole              | ±inf                           | ValueError             |
| outside of domain | NaN                            | ValueError             |
| too large         | ±inf                           | OverflowError          |

These are the definitions that any second implementation must reach on its own: for a result dtype narrower than
float64 the value here, rounded once. `sigmoid`, `rsqrt`, `exp10` are spelled out, as libm does not have them.

`math` is libm's bit for bit in all of them but one: CPython's hypot has an algorithm of its own. Decision: hypot is
the nearest number, found in whole numbers; CPython's and glibc's are 1 ulp off at different operands.
"""

import math
from collections.abc import Callable

Function = Callable[[float], float]


def divide(a: float, b: float) -> float:
    """The quotient a / b, with ±inf and NaN for b = 0."""
    if b:
        return a / b
    if a != a or a == 0.0 or b != b:  # noqa: PLR0124 - the test for NaN
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def fmod(a: float, b: float) -> float:
    """The remainder a - b * trunc(a / b), exact, with the sign of a; NaN for infinite a and b = 0."""
    try:
        return math.fmod(a, b)
    except ValueError:
        return math.nan


def sqrt(x: float) -> float:
    """The square root; NaN below 0, -0 of -0."""
    return math.nan if x < 0.0 else math.sqrt(x)


def rsqrt(x: float) -> float:
    """1 / sqrt(x); ±inf of ±0."""
    if x > 0.0:
        return 1.0 / math.sqrt(x)
    return math.copysign(math.inf, x) if x == 0.0 else math.nan


def exp(x: float) -> float:
    """The power e ** x."""
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def exp2(x: float) -> float:
    """The power 2 ** x."""
    try:
        return math.exp2(x)
    except OverflowError:
        return math.inf


def exp10(x: float) -> float:
    """The power 10 ** x."""
    try:
        return math.pow(10.0, x)
    except OverflowError:
        return math.inf


def _logarithm(function: Function, pole: float) -> Function:
    def logarithm(x: float) -> float:
        if x > pole:
            return function(x)
        return -math.inf if x == pole else math.nan

    return logarithm


log = _logarithm(math.log, 0.0)
log2 = _logarithm(math.log2, 0.0)
log10 = _logarithm(math.log10, 0.0)
log1p = _logarithm(math.log1p, -1.0)


def _bounded(function: Function, limit: float) -> Function:
    """`function` on |x| <= limit, else NaN."""
    return lambda x: function(x) if -limit <= x <= limit else math.nan


_GREATEST = math.ldexp((1 << 53) - 1, 971)

sin = _bounded(math.sin, _GREATEST)
cos = _bounded(math.cos, _GREATEST)
tan = _bounded(math.tan, _GREATEST)
asin = _bounded(math.asin, 1.0)
acos = _bounded(math.acos, 1.0)
atan: Function = math.atan
asinh: Function = math.asinh
tanh: Function = math.tanh
erf: Function = math.erf


def atanh(x: float) -> float:
    """The inverse of tanh; ±inf of ±1."""
    if -1.0 < x < 1.0:
        return math.atanh(x)
    return math.copysign(math.inf, x) if abs(x) == 1.0 else math.nan


def acosh(x: float) -> float:
    """The inverse of cosh, not negative; NaN below 1."""
    return math.acosh(x) if x >= 1.0 else math.nan


def sinh(x: float) -> float:
    """The hyperbolic sine."""
    try:
        return math.sinh(x)
    except OverflowError:
        return math.copysign(math.inf, x)


def cosh(x: float) -> float:
    """The hyperbolic cosine."""
    try:
        return math.cosh(x)
    except OverflowError:
        return math.inf


def sigmoid(x: float) -> float:
    """1 / (1 + exp(-x)), written so that exp never overflows."""
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    grown = math.exp(x)
    return grown / (1.0 + grown)


def power(x: float, y: float) -> float:
    """The power x ** y as C's pow: 1 for y = 0 and for x = 1 even of NaN; NaN of a negative x with a fractional y."""
    try:
        return math.pow(x, y)
    except OverflowError:
        return math.copysign(math.inf, x) if _is_odd(y) else math.inf
    except ValueError:  # x is 0 and y < 0, or x < 0 and y has a fraction
        if x != 0.0:
            return math.nan
        return math.copysign(math.inf, x) if _is_odd(y) else math.inf


def hypot(x: float, y: float) -> float:
    """The binary64 number nearest to sqrt(x * x + y * y)."""
    a, b = max(abs(x), abs(y)), min(abs(x), abs(y))
    if math.isinf(x) or math.isinf(y):
        return math.inf
    if x != x or y != y:  # noqa: PLR0124 - the test for NaN
        return math.nan
    (great, top), (small, bottom) = math.frexp(a), math.frexp(b)
    if b == 0.0 or top - bottom >= _NEGLIGIBLE:
        return a
    # In units of 2**bottom * 2**-57 a, b and the root have 57 bits or more: rounding the root to odd loses nothing.
    scaled = int(math.ldexp(great, 57)) << (top - bottom), int(math.ldexp(small, 57))
    square = scaled[0] * scaled[0] + scaled[1] * scaled[1]
    root = math.isqrt(square)
    root |= root * root != square
    return _times_power_of_two(root, bottom - 57)


_NEGLIGIBLE = 28  # b < 2**-27 * a adds less than a / 2**55, a quarter of an ulp


def _times_power_of_two(number: int, exponent: int) -> float:
    """The product number * 2 ** exponent, rounded once: Python rounds a quotient of integers once."""
    try:
        return number / (1 << -exponent) if exponent < 0 else float(number << exponent)
    except OverflowError:
        return math.inf


def ldexp(x: float, exponent: int) -> float:
    """The product x * 2 ** exponent, rounded once."""
    try:
        return math.ldexp(x, exponent)
    except OverflowError:
        return math.copysign(math.inf, x)


def copysign(x: float, y: float) -> float:
    """The number x with the sign of y; a NaN counts as positive."""
    return abs(x) if y != y else math.copysign(x, y)  # noqa: PLR0124 - the test for NaN


def _is_odd(y: float) -> bool:
    return math.fmod(y, 2.0) in (1.0, -1.0)
