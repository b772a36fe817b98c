"""Functions that have no rational values: by mpmath at many bits, as a rational. Nothing of refmlc.

| operand                | value                                                             |
|------------------------|-------------------------------------------------------------------|
| finite, in the domain  | mpmath                                                            |
| outside of the domain  | NaN                                                               |
| poles, zeros, infinite | C99 Annex F; of two operands, one of them 0, 1 or not finite: C's own functions |

The bounds are those of the table of operators, in units in the last place of binary64.
"""

import math
from fractions import Fraction

import mpmath
from rounding import exact

BOUNDS = {
    "sqrt": 0,
    "rsqrt": 2,
    **dict.fromkeys(("exp", "exp2", "exp10", "log", "log2", "sin", "cos", "tan", "asin", "acos", "atan"), 1),
    **dict.fromkeys(("log10", "log1p", "erf"), 2),
    **dict.fromkeys(("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sigmoid"), 3),
    **dict.fromkeys(("pow", "atan2"), 1),
    "hypot": 0,
}
FORMS = {
    "exp2": lambda x: mpmath.power(2, x),
    "exp10": lambda x: mpmath.power(10, x),
    "log2": lambda x: mpmath.log(x, 2),
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "pow": mpmath.power,
}
DOMAIN = {
    **dict.fromkeys(("sqrt", "rsqrt", "log", "log2", "log10"), (0, math.inf)),
    "log1p": (-1, math.inf),
    **dict.fromkeys(("asin", "acos", "atanh"), (-1, 1)),
    "acosh": (1, math.inf),
}
AT_INFINITY = {
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atanh"), (math.nan, math.nan)),
    **dict.fromkeys(("exp", "exp2", "exp10"), (math.inf, 0.0)),
    **dict.fromkeys(("sqrt", "log", "log2", "log10", "log1p", "acosh"), (math.inf, math.nan)),
    **dict.fromkeys(("sinh", "asinh"), (math.inf, -math.inf)),
    **dict.fromkeys(("tanh", "erf"), (1.0, -1.0)),
    "rsqrt": (0.0, math.nan),
    "cosh": (math.inf, math.inf),
    "sigmoid": (1.0, 0.0),
}
ODD = ("sqrt", "log1p", "sin", "tan", "sinh", "tanh", "asin", "atan", "asinh", "atanh", "erf")
GROWING = ("exp", "exp2", "exp10", "sinh", "cosh", "tanh", "sigmoid", "erf")
POLES = {"log1p": {-1.0: -math.inf}, "atanh": {1.0: math.inf, -1.0: -math.inf}}


def c_power(a, b):
    """C's pow: Python raises where C has a pole or leaves the domain."""
    try:
        return math.pow(a, b)
    except ValueError:
        if a:
            return math.nan
        return math.copysign(math.inf, a) if abs(b) < 2**53 and b % 2 == 1 else math.inf
    except OverflowError:
        return math.inf


TWO = {"pow": c_power, "atan2": math.atan2, "hypot": math.hypot}


def value(op, point):
    """The exact value as a rational or a special float."""
    if any(math.isnan(x) for x in point) and op not in TWO:
        return math.nan
    if op in TWO:
        return of_two(op, *point)
    (x,) = point
    if math.isinf(x):
        if op == "atan":
            return quotient(mpmath.pi / 2) * (1 if x > 0 else -1)
        return AT_INFINITY[op][x < 0]
    if x in POLES.get(op, {}):
        return POLES[op][x]
    if x == 0 and op in ("log", "log2", "log10", "rsqrt"):
        return math.copysign(math.inf, x) if op == "rsqrt" else -math.inf
    low, high = DOMAIN.get(op, (-math.inf, math.inf))
    if not low <= x <= high:
        return math.nan
    if x == 0 and op in ODD:
        return x
    if abs(x) > 1e5 and op in GROWING:
        return AT_INFINITY[op][x < 0]
    return computed(FORMS.get(op) or getattr(mpmath, op), x)


def computed(of, *point):
    """At enough bits that nothing cancels."""
    with mpmath.workprec(1400 if any(abs(x) > 1e15 or 0 < abs(x) < 1e-15 for x in point) else 300):
        found = of(*map(mpmath.mpf, point))
        return quotient(found) if found else 0.0


def quotient(x):
    """An mpf as the rational that it is."""
    x = mpmath.mpf(x)
    sign, mantissa, power, _ = x._mpf_
    return Fraction((-1) ** sign * int(mantissa)) * Fraction(2) ** int(power)


def of_two(op, a, b):
    plain = all(math.isfinite(x) and x != 0 for x in (a, b))
    if not plain or (op == "pow" and (a == 1 or (a < 0 and b != int(b)))):
        found = TWO[op](a, b)
        return angle(found) if op == "atan2" and math.isfinite(found) and found else exact(found)
    if op == "pow":
        return power(a, b)
    return computed(mpmath.atan2 if op == "atan2" else mpmath.hypot, a, b)


def angle(near):
    """The multiple of pi/4 that is meant."""
    with mpmath.workprec(300):
        return quotient(mpmath.pi * round(near / (math.pi / 4)) / 4)


def power(a, b):
    """As 2 ** (b * log2 |a|), where that is a number at all."""
    sign = -1 if a < 0 and int(b) % 2 else 1
    size = b * math.log2(abs(a))
    if abs(size) > 5000:
        return math.copysign(math.inf if size > 0 else 0.0, sign)
    return computed(mpmath.power, abs(a), b) * sign
