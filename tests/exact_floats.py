"""An independent rounding: the nearest of ml_dtypes' own values of a dtype, of two equally near the even code.

Nothing here comes from refmlc. Arguments are binary64 numbers, taken as exact.
"""

from functools import cache

import ml_dtypes
import numpy as np

SATURATING = ("float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn")
INFINITE = ("float16", "bfloat16", "float8_e5m2", "float8_e4m3", "float8_e3m4")
_KINDS = ("e3m4", "e4m3", "e4m3b11fnuz", "e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0fnu")
FLOAT8 = tuple(f"float8_{kind}" for kind in _KINDS)
SMALL = (*FLOAT8, *SATURATING)
BITS = {**dict.fromkeys(FLOAT8, 8), "float6_e2m3fn": 6, "float6_e3m2fn": 6, "float4_e2m1fn": 4}
BITS |= {"float16": 16, "bfloat16": 16}


def stored(name):
    return np.dtype(np.float16) if name == "float16" else np.dtype(getattr(ml_dtypes, name))


@cache
def values(name):
    """The binary64 value of every code."""
    codes = np.arange(1 << BITS[name], dtype=np.uint16 if BITS[name] == 16 else np.uint8)
    with np.errstate(invalid="ignore"):
        table = codes.view(stored(name)).astype(np.float64)
    return np.where(np.isnan(table), np.nan, table)  # no signalling ones: NumPy warns of them


@cache
def _ordered(name):
    table = values(name)
    codes = np.arange(len(table))
    keep = np.isfinite(table) & ~((table == 0) & np.signbit(table))
    order = np.argsort(table[keep], kind="stable")
    return table[keep][order], codes[keep][order]


def nearest(name, x):
    """The array `x` rounded once to dtype `name`."""
    x = np.asarray(x, dtype=np.float64)
    table, codes = _ordered(name)
    above = np.clip(np.searchsorted(table, x), 1, len(table) - 1)
    low, high = table[above - 1], table[above]
    middle = low + (high - low) / 2
    up = (x > middle) | ((x == middle) & ((codes[above] % 2 == 0) | (name == "float8_e8m0fnu")))
    result = np.where(up, high, low)
    result = np.where(x >= table[-1], table[-1], np.where(x <= table[0], table[0], result))
    result = _beyond(name, x, result)
    if name.endswith("fnuz"):
        return result + 0.0
    if name == "float8_e8m0fnu":
        return np.where(x > 0, result, np.nan)
    return np.where(result == 0, np.copysign(0.0, x), result)


def _beyond(name, x, result):
    table, codes = _ordered(name)
    top = table[-1]
    half = top / 2 if name == "float8_e8m0fnu" else (top - table[-2]) / 2
    stays_at_half = codes[-1] % 2 == 0 and name != "float8_e8m0fnu"
    size = np.abs(x)
    out = (size > top + half) | ((size == top + half) & (not stays_at_half))
    if name in SATURATING:
        return np.where(np.isnan(x), np.nan, result)
    return np.where(np.isnan(x), np.nan, np.where(out, np.copysign(np.inf if name in INFINITE else np.nan, x), result))


def same(a, b):
    """Equal as values: all NaN are one, 0 and -0 are two."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    return (np.isnan(a) & np.isnan(b)) | ((a == b) & (np.signbit(a) == np.signbit(b)))


def assert_same(actual, expected, *where):
    """Show the first few places where the arrays differ."""
    wrong = np.flatnonzero(~same(actual, expected))
    shown = [(*(np.asarray(w)[i] for w in where), np.asarray(actual)[i], np.asarray(expected)[i]) for i in wrong[:5]]
    assert not len(wrong), f"{len(wrong)} differ: (operands, actual, expected) = {shown}"
