"""Transcendental functions in binary64: NumPy for what is special, C's library by way of `math` for the rest.

NumPy answers poles, domains and infinities without exceptions, but has implementations that are some ulp off on
machines with wide vectors; `math` is C's own. Neither is correctly rounded: the contracts' bounds hold for both.
"""

import math
from collections.abc import Callable, Mapping

import numpy as np

Unary = Callable[[float], float]


def _either(plain: Unary, special: Callable[[np.float64], np.float64]) -> Unary:
    """`plain` where argument and result are ordinary numbers, else `special`."""

    def function(x: float) -> float:
        result = float(special(np.float64(x)))
        return plain(x) if math.isfinite(result) and math.isfinite(x) and result != 0 else result

    return function


def _sigmoid(x: float) -> float:
    if x >= 0 or math.isnan(x):
        return 1 / (1 + UNARY["exp"](-x))
    small = UNARY["exp"](x)
    return small / (1 + small)


def power(a: float, b: float) -> float:
    """C's pow. NumPy's takes a square root for b = 0.5, which of a negative zero is a negative zero."""
    try:
        return math.pow(a, b)
    except (ValueError, OverflowError):
        return float(np.power(np.float64(a), np.float64(b)))


UNARY: Mapping[str, Unary] = {
    "exp": _either(math.exp, np.exp),
    "exp2": _either(math.exp2, np.exp2),
    "exp10": lambda x: power(10.0, x),
    "log": _either(math.log, np.log),
    "log2": _either(math.log2, np.log2),
    "log10": _either(math.log10, np.log10),
    "log1p": _either(math.log1p, np.log1p),
    "sin": _either(math.sin, np.sin),
    "cos": _either(math.cos, np.cos),
    "tan": _either(math.tan, np.tan),
    "sinh": _either(math.sinh, np.sinh),
    "cosh": _either(math.cosh, np.cosh),
    "tanh": _either(math.tanh, np.tanh),
    "asin": _either(math.asin, np.arcsin),
    "acos": _either(math.acos, np.arccos),
    "atan": _either(math.atan, np.arctan),
    "asinh": _either(math.asinh, np.arcsinh),
    "acosh": _either(math.acosh, np.arccosh),
    "atanh": _either(math.atanh, np.arctanh),
    "erf": math.erf,
    "sigmoid": _sigmoid,
    "sqrt": lambda x: float(np.sqrt(np.float64(x))),
    "rsqrt": lambda x: float(np.float64(1) / np.sqrt(np.float64(x))),
    "ceil": lambda x: float(np.ceil(np.float64(x))),
    "floor": lambda x: float(np.floor(np.float64(x))),
    "trunc": lambda x: float(np.trunc(np.float64(x))),
    "round": lambda x: float(np.rint(np.float64(x))),
    "nearbyint": lambda x: float(np.rint(np.float64(x))),
}
"""Functions of one float in binary64; those of `EXACT` are rounded once by the dtype."""

BINARY: Mapping[str, Callable[[float, float], float]] = {
    "pow": power,
    "atan2": math.atan2,
    "fmod": lambda a, b: float(np.fmod(np.float64(a), np.float64(b))),
    "truncmod": lambda a, b: float(np.fmod(np.float64(a), np.float64(b))),
}
