"""The functions TVM's default `llvm` build computes: the platform's `expf` and the like, and TVM's own formulas.

Source: SEMANTICS measured on TVM 0.27; see the decisions in the clauses of `conformance/spec/num-*.toml`.
"""

import ctypes
import ctypes.util
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

import numpy as np

from refmlc.dtypes import DType
from refmlc.dtypes.rounding import rounder
from refmlc.interp.tensorir import arith

PLATFORM = ctypes.CDLL(ctypes.util.find_library("m") or "libm.so.6")
OWN = "exp exp2 log log2 log10 log1p sin cos sinh cosh asin acos atan asinh acosh erf".split()  # noqa: SIM905
TWO = "pow atan2 hypot fmod".split()  # noqa: SIM905


def single(name: str, arity: int) -> Callable[..., float]:
    """The platform's float32 function."""
    function = getattr(PLATFORM, f"{name}f")
    function.restype, function.argtypes = ctypes.c_float, [ctypes.c_float] * arity
    return function


def double(name: str, arity: int) -> Callable[..., float]:
    """The platform's float64 function."""
    function = getattr(PLATFORM, name)
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double] * arity
    return function


def formula(name: str, kind: type[np.floating], wide: Callable[[str, int], Callable[..., float]]):
    """TVM's own expansion, every step in `kind`."""
    exp, log, sin, cos = (wide(n, 1) for n in ("exp", "log", "sin", "cos"))
    one = kind(1)

    def tanh(x: np.floating) -> np.floating:
        e = kind(exp(float(kind(-2) * abs(x))))
        return (one - e) / (one + e) if x >= 0 else (e - one) / (e + one)

    steps = {
        "tanh": tanh,
        "sigmoid": lambda x: one / (one + kind(exp(float(-x)))),
        "tan": lambda x: kind(sin(float(x))) / kind(cos(float(x))),
        "rsqrt": lambda x: one / np.sqrt(x),
        "exp10": lambda x: kind(exp(float(x * kind(2.302585092994045684)))),
        "atanh": lambda x: (kind(log(float(one + x))) - kind(log(float(one - x)))) * kind(0.5),
    }

    def call(x: float) -> float:
        with np.errstate(all="ignore"):
            return float(steps[name](kind(x)))

    return call


KINDS = {"float64": (double, np.float64), "float32": (single, np.float32), "float16": (single, np.float16)}


def value_of(name: str, arity: int) -> Callable[[tuple[DType, ...], DType], Callable[..., float]]:
    """The value function of an operator row, computed TVM's way."""

    def value(operands: tuple[DType, ...], result: DType) -> Callable[..., float]:
        wide, kind = KINDS[result.element]
        function = wide(name, arity) if name in (*OWN, *TWO) else formula(name, kind, wide)
        rounded = rounder(result.scalar)
        return lambda *args: rounded(float(function(*args)))

    return value


TVM: Mapping[str, Callable[[tuple[DType, ...], DType], Callable[..., float]]] = {
    **{name: value_of(name, 1) for name in (*OWN, "tanh", "sigmoid", "tan", "rsqrt", "exp10", "atanh")},
    **{name: value_of(name, 2) for name in TWO},
}


@contextmanager
def replaced(functions: Mapping[str, Callable] | None) -> Iterator[None]:
    """The interpreter's transcendentals replaced for a while (None: left alone)."""
    table = dict(arith.SCALAR_OPS)
    table.update({name: replace(table[name], value=value) for name, value in (functions or {}).items()})
    with patch.object(arith, "SCALAR_OPS", table):
        yield
