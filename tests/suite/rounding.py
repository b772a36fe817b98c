"""Exact arithmetic on the values of a dtype: rationals, rounded once. Nothing here comes from refmlc.

The formats are read off ml_dtypes' and NumPy's tables of limits; `CONTINUES` says what lies beyond the greatest value.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import ml_dtypes
import numpy as np

INTS = tuple(f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u"))
SMALL_INTS = ("int4", "uint4", "int2", "uint2")
WIDE = ("float16", "bfloat16", "float32", "float64")
_KINDS = ("e3m4", "e4m3", "e4m3b11fnuz", "e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0fnu")
FLOAT8 = tuple(f"float8_{kind}" for kind in _KINDS)
FINITE = ("float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn")
FLOATS = (*WIDE, *FLOAT8, *FINITE)
INFINITE = (*WIDE, "float8_e5m2", "float8_e4m3", "float8_e3m4")
Exact = Fraction | float
"""A rational, or an infinity, NaN or zero with its sign as a float."""


@dataclass(frozen=True)
class Format:
    """Digits of the significand, the exponents of the least normal and of the greatest value, the greatest value."""

    name: str
    digits: int
    low: int
    top: Fraction

    @property
    def has_negative_zero(self) -> bool:
        return not self.name.endswith("fnuz") and self.name != "float8_e8m0fnu"


def stored(name):
    return np.dtype(np.bool_) if name == "bool" else np.dtype(getattr(ml_dtypes, name, None) or name)


@cache
def format_of(name):
    limits = ml_dtypes.finfo(stored(name))
    return Format(name, limits.nmant + 1, int(limits.minexp), Fraction(float(limits.max)))


def exact(value):
    """A finite float as a rational; zeros, infinities and NaN as they are."""
    return Fraction(value) if isinstance(value, float) and math.isfinite(value) and value != 0 else value


def rounded(x, name):
    """An exact value in the dtype, as a float of Python; None: there is none (NaN of a format without)."""
    row = format_of(name)
    if name == "float8_e8m0fnu":
        return power_of_two(x)
    if isinstance(x, float):
        return special(x, row)
    if x == 0:
        return 0.0
    sign, size = (1 if x > 0 else -1), abs(x)
    exponent = max(exponent_of(size), row.low)
    step = Fraction(2) ** (exponent - row.digits + 1)
    near = round(size / step) * step  # Python rounds a Fraction half to even
    if near > row.top:
        return special(math.inf * sign, row)
    return float(near) * sign if near else (math.copysign(0.0, sign) if row.has_negative_zero else 0.0)


def special(x, row):
    if math.isnan(x):
        return None if row.name in FINITE else math.nan
    if math.isinf(x):
        return x if row.name in INFINITE else math.copysign(float(row.top), x) if row.name in FINITE else math.nan
    if x == 0:
        return x if row.has_negative_zero else 0.0
    raise AssertionError(x)


def power_of_two(x):
    if isinstance(x, float) or x <= 0:
        return math.nan
    exponent = exponent_of(x)
    exponent += x / Fraction(2) ** exponent >= Fraction(3, 2)
    return math.nan if exponent > 127 else 2.0 ** max(exponent, -127)


def exponent_of(size):
    """The greatest n with 2**n not above a positive rational."""
    n = size.numerator.bit_length() - size.denominator.bit_length()
    return n if Fraction(2) ** n <= size else n - 1


def limits(name):
    """The least and the greatest integer of a dtype."""
    bits = int(name.lstrip("uint"))
    return (0, 2**bits - 1) if name.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def bits_of(name):
    return int(name.lstrip("uint"))


def is_int(name):
    return "int" in name


def wrapped(x, name):
    """Modulo 2**bits."""
    low, _ = limits(name)
    return (x - low) % 2 ** bits_of(name) + low


def array(values, name):
    """Values of a dtype as it is stored; each must be one."""
    with np.errstate(all="ignore"):
        made = np.array(values, np.float64 if "float" in name else object).astype(stored(name))
    if "float" in name:
        back = made.astype(np.float64)
        same = (back == np.array(values, np.float64)) | (np.isnan(back) & np.isnan(np.array(values, np.float64)))
        assert same.all(), (name, [v for v, ok in zip(values, same, strict=True) if not ok])
    return made
