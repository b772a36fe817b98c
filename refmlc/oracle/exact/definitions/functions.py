"""Functions of exact numbers: roots by integers alone, transcendental ones by mpmath (the extra `reference`).

A function of an inexact argument moves by what it does at the ends of the argument's interval (monotone functions), or
by the slope 1 (sine and cosine). Its own error is what the OpenCL 3.0 environment specification permits (relative error
as ulps, full profile), a norm for the math libraries of several vendors. Units: ulp of the format; the last column is
that of float16, and is used for narrower formats too.

| function                                                       | ulp | float16 |
|----------------------------------------------------------------|-----|---------|
| `sqrt` (IEEE 754)                                              | ½   | ½       |
| `rsqrt`                                                        | 2   | 1       |
| `log1p`                                                        | 2   | 2       |
| `exp`, `log`, `expm1`                                          | 3   | 2       |
| `sin`, `cos`, `asin`, `acos`, `sinh`, `cosh`, `asinh`, `acosh` | 4   | 2       |
| `tan`, `atan`, `tanh`, `atanh`                                 | 5   | 2       |
| `atan2`                                                        | 6   | 2       |
| `erf`, `erfc`, `power`                                         | 16  | 4       |
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from importlib import import_module
from types import ModuleType

import numpy as np

from refmlc.oracle.exact.definitions.numbers import UNKNOWN, UP, ExactNumber, Format, Real, above, is_nan, special

ACCURACY = {
    "sqrt": 0.5,
    **dict.fromkeys(("rsqrt", "log1p"), 2.0),
    **dict.fromkeys(("exp", "log", "expm1"), 3.0),
    **dict.fromkeys(("sin", "cos", "asin", "acos", "sinh", "cosh", "asinh", "acosh"), 4.0),
    **dict.fromkeys(("tan", "atan", "tanh", "atanh"), 5.0),
    "atan2": 6.0,
    **dict.fromkeys(("erf", "erfc", "power"), 16.0),
}
FLOAT16_BITS = 11
BITS = 320
BITS_OF_FLOAT64 = 1400
ROOT_BITS = 400
SMALL = Fraction(1, 1024)
MISSING = "pip install 'refmlc[reference]'"


class MissingMpmath(Exception):
    """A function needs mpmath, which is not installed."""

    def __init__(self) -> None:
        super().__init__(MISSING)


@cache
def _mpmath() -> ModuleType:
    try:
        return import_module("mpmath")
    except ImportError:
        raise MissingMpmath from None


def accuracy(name: str, form: Format) -> float:
    """How many ulp of a format a function may be away."""
    widest = ACCURACY[name]
    if form.bits > FLOAT16_BITS or name == "sqrt":
        return widest
    return 1.0 if name == "rsqrt" else 4.0 if widest > 6 else 2.0


def _own(name: str, size: Fraction, form: Format) -> float:
    """The error of a function without the half ulp of its rounding."""
    return above((Fraction(accuracy(name, form)) - Fraction(1, 2)) * form.ulp(size))


def root(value: Fraction) -> Fraction:
    """The square root, exact where it is rational with few bits, else to `ROOT_BITS` bits."""
    numerator, denominator = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if numerator**2 == value.numerator and denominator**2 == value.denominator:
        return Fraction(numerator, denominator)
    shift = max(0, ROOT_BITS - (value.numerator.bit_length() - value.denominator.bit_length()) // 2)
    return Fraction(math.isqrt((value.numerator << 2 * shift) // value.denominator), 1 << shift)


def pi() -> Fraction:
    """The circle constant."""
    return _evaluated(lambda mp: +mp.pi, BITS_OF_FLOAT64)


def _evaluated(work: Callable[[ModuleType], object], bits: int) -> Fraction:
    mp = _mpmath()
    with mp.workprec(bits):
        return _fraction(work(mp))


def _fraction(value: object) -> Fraction:
    sign, mantissa, exponent, _bits = value._mpf_  # type: ignore[attr-defined]
    size: Fraction = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -size if sign else +size


def _operand(mp: ModuleType, value: Fraction) -> object:
    return mp.mpf(value.numerator) / value.denominator


def _value(name: str, x: Fraction, bits: int) -> Real:
    """The function at a finite place; NaN outside of its domain, an infinity at a pole."""
    if name == "sqrt":
        return root(x) if x >= 0 else math.nan
    if name == "rsqrt":
        return math.nan if x < 0 else math.inf if not x else 1 / root(x)
    if outside(name, x):
        return _by_numpy(name, float(x) if abs(x) <= 1 else math.copysign(2.0, x))
    if name in ("exp", "sinh", "cosh", "expm1") and abs(x) > 1 << 11:
        return _far(name, x)
    if name in ("tanh", "erf", "erfc") and abs(x) > 1 << 10:
        return Fraction(1 if x > 0 else -1) if name != "erfc" else Fraction(0 if x > 0 else 2)
    if name == "log" and abs(x - 1) < SMALL:
        return _evaluated(lambda mp: mp.log1p(_operand(mp, x - 1)), bits)
    return _evaluated(lambda mp: getattr(mp, name)(_operand(mp, x)), bits)


def outside(name: str, x: Fraction) -> bool:
    """Whether a place is outside of the domain, or a pole: what stands there is NumPy's."""
    return (
        (name == "log" and x <= 0)
        or (name in ("asin", "acos") and abs(x) > 1)
        or (name == "atanh" and abs(x) >= 1)
        or (name == "acosh" and x < 1)
        or (name == "log1p" and x <= -1)
    )


def _far(name: str, x: Fraction) -> Real:
    """Beyond every format: the sign of what is there, with a size that every format rounds to infinity, or to 0."""
    beyond, nothing = Fraction(2) ** 20000, Fraction(1, 2**20000)
    if name == "exp":
        return beyond if x > 0 else nothing
    if name == "expm1":
        return beyond if x > 0 else Fraction(-1)
    return beyond if x > 0 or name == "cosh" else -beyond


NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
NUMPY |= {"asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"}


def _by_numpy(name: str, x: float) -> float:
    """The value of IEEE 754 and C Annex F at a special place, which NumPy gives."""
    if name == "erf":
        return math.erf(x)
    if name == "erfc":
        return math.erfc(x)
    with np.errstate(all="ignore"):
        if name == "rsqrt":
            return float(1 / np.sqrt(np.float64(x)))
        return float(getattr(np, NUMPY.get(name, name))(np.float64(x)))


def function(name: str, x: ExactNumber, *, positive: bool = False) -> ExactNumber:
    """A function of one number. `positive`: the computed argument is not below 0, as a sum of squares is not."""
    form, error = x.format, x.used()
    if special(x.value) or (isinstance(x.value, float) and name == "rsqrt"):
        return ExactNumber(_by_numpy(name, float(x.value)), 0.0 if x.is_sure() else math.inf, form)
    if error == math.inf:
        return UNKNOWN
    bits = BITS_OF_FLOAT64 if form is not None and form.bits > 24 else BITS
    place = x.rational
    value = _value(name, place, bits)
    moved = 0.0 if not error or special(value) else _moved(name, place, Fraction(value), error, bits, positive=positive)
    if special(value):
        return ExactNumber(value, 0.0 if not error else math.inf, form)
    if form is None:
        return ExactNumber(value, moved, form)
    own = _own(name, abs(Fraction(value)) + Fraction(moved), form) if moved < math.inf else math.inf
    return ExactNumber(value, (moved + own) * UP if moved or own else 0.0, form, fresh=True)


def _moved(name: str, x: Fraction, value: Fraction, error: float, bits: int, *, positive: bool) -> float:
    """How far the function moves where its argument moves by `error`."""
    if name in ("sin", "cos"):
        return min(error, 2.0)
    low, high = x - Fraction(error), x + Fraction(error)
    low = max(low, Fraction(0)) if positive else low
    if name == "tan" or (name == "cosh" and low < 0 < high):
        return (
            math.inf if name == "tan" else max(_gap(_value(name, end, bits), value) for end in (low, high, Fraction(0)))
        )
    return max(_gap(_value(name, end, bits), value) for end in (low, high))


def _gap(a: Real, b: Fraction) -> float:
    return math.inf if special(a) else above(abs(Fraction(a) - b))


def power(a: ExactNumber, b: ExactNumber) -> ExactNumber:
    """`a` to the power of `b`, both exact; C Annex F says what stands at special places."""
    form = a.format or b.format
    if a.used() or b.used():
        return UNKNOWN
    if special(a.value) or special(b.value) or not a.value or not b.value:
        with np.errstate(all="ignore"):
            return ExactNumber(float(np.power(_class(a), _class(b))), 0.0, form)
    x, y = a.rational, b.rational
    if x < 0 and y.denominator != 1:
        return ExactNumber(math.nan, 0.0, form)
    sign = -1 if x < 0 and y.numerator % 2 else 1
    size = abs(x)
    bits = BITS_OF_FLOAT64
    exponent = y * Fraction(_value("log", size, bits)) if size != 1 else Fraction(0)
    value = sign * Fraction(_value("exp", exponent, bits)) if exponent else Fraction(sign)
    own = _own("power", abs(value), form) if form is not None else 0.0
    return ExactNumber(value, own, form, fresh=True)


def _class(x: ExactNumber) -> np.float64:
    """A float that has the class of a number where a power is special: its sign, parity, and side of 1.

    NumPy takes a root for an exponent of 0.5, whose infinities differ: 0.25 has the class.
    """
    value = x.value
    if special(value) or not value:
        return np.float64(value)
    exact = Fraction(value)
    if exact.denominator == 1:
        return np.float64(math.copysign(1 if abs(exact) == 1 else 2 + exact.numerator % 2, exact))
    return np.float64(math.copysign(0.25 if abs(exact) < 1 else 1.25, exact))


def atan2(y: ExactNumber, x: ExactNumber) -> ExactNumber:
    """The angle of the point (x, y); C Annex F says what stands at special places."""
    form = y.format or x.format
    if y.used() or x.used():
        return UNKNOWN
    special_place = special(y.value) or special(x.value) or not y.value or not x.value
    if special_place and (is_nan(x) or is_nan(y)):
        return ExactNumber(math.nan, 0.0, form)
    if special_place:
        value: Real = _eighths(math.atan2(_side(y.value), _side(x.value)))
    else:
        value = _evaluated(lambda mp: mp.atan2(_operand(mp, y.rational), _operand(mp, x.rational)), BITS_OF_FLOAT64)
    own = _own("atan2", abs(Fraction(value)), form) if form is not None else 0.0
    return ExactNumber(value, own, form, fresh=True)


def _side(value: Real) -> float:
    return float(value) if isinstance(value, float) else math.copysign(1.0, value) if value else 0.0


def _eighths(angle: float) -> Fraction:
    """The multiple of a quarter of pi that an angle is near."""
    return round(angle / (math.pi / 4)) * pi() / 4
