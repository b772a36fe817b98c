"""Operators of one tensor, element by element, and activations."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from refmlc.oracle.exact.definitions.arrays import Array, form_of, mapped, numbers
from refmlc.oracle.exact.definitions.definition import (
    FORMULA,
    INTEGER,
    NUMPY,
    PYTORCH,
    ROUNDED,
    SAME,
    ExactDefinition,
    of_function,
    rows,
)
from refmlc.oracle.exact.definitions.functions import function, pi
from refmlc.oracle.exact.definitions.numbers import UNKNOWN, ExactNumber, above, constant, greatest, is_nan, special

Scalar = Callable[[ExactNumber], ExactNumber]
HALF = Fraction(1, 2)
ZERO = ExactNumber(Fraction(0))
ONE = ExactNumber(Fraction(1))


def _each(scalar: Scalar) -> Callable[[Array], Array]:
    return lambda x: mapped(scalar, numbers(x))


def _called(name: str) -> Callable[[Array], Array]:
    return _each(lambda x: function(name, x))


def _rounding(integer: Callable[[Fraction], int]) -> Callable[[Array], Array]:
    def scalar(x: ExactNumber) -> ExactNumber:
        return x if special(x.value) else ExactNumber(Fraction(integer(x.rational)), 0.0, x.format)

    return _each(scalar)


def sign(x: ExactNumber) -> ExactNumber:
    """NaN is NaN, as `numpy.sign` has it."""
    return x if is_nan(x) else ExactNumber(Fraction((x.value > 0) - (x.value < 0)), 0.0, x.format)


def sigmoid(x: ExactNumber) -> ExactNumber:
    """1 / (1 + exp(-x)); where exp overflows, the formula gives 0."""
    power = function("exp", -x)
    if x.format is None or special(x.value) or power.rational <= x.format.greatest:
        return ONE / (power + ONE)
    return ExactNumber(1 / (power.rational + 1), above(1 / power.rational), x.format, fresh=True)


def tanh_gelu(x: ExactNumber) -> ExactNumber:
    """0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x³)))."""
    inner = (x + constant(Fraction("0.044715"), x.format) * x * x * x) * constant(_root_of_two_by_pi(), x.format)
    return _half_of(x, function("tanh", inner) + ONE) if not special(x.value) else _at_the_end(x)


def _root_of_two_by_pi() -> Fraction:
    return function("sqrt", ExactNumber(2 / pi())).rational


def _half_of(x: ExactNumber, factor: ExactNumber) -> ExactNumber:
    return x * HALF * factor


def _at_the_end(x: ExactNumber) -> ExactNumber:
    """What a rectifier is at infinity: the element; minus infinity times 0 has no definition."""
    return x if is_nan(x) or x.value > 0 else UNKNOWN


def gelu(x: ExactNumber) -> ExactNumber:
    """X times the distribution function of the normal distribution; the error is that of 0.5 x (1 + erf(x / √2))."""
    if special(x.value):
        return _at_the_end(x)
    place = x * constant(function("sqrt", ExactNumber(HALF)).rational, x.format)
    formula = _half_of(x, function("erf", place) + ONE)
    root = ExactNumber(place.value, 0.0, x.format)
    exact = ExactNumber(function("erfc", -root).rational, 0.0)
    return ExactNumber(x.rational * HALF * exact.rational, formula.error, x.format, fresh=True)


def silu(x: ExactNumber) -> ExactNumber:
    """X sigmoid(x)."""
    return _at_the_end(x) if special(x.value) else x * sigmoid(x)


SELU_ALPHA = Fraction("1.6732632423543772848170429916717")
SELU_SCALE = Fraction("1.0507009873554804934193349852946")


def selu(x: ExactNumber) -> ExactNumber:
    """Scale (max(0, x) + min(0, alpha (exp(x) - 1)))."""
    scale, alpha = (constant(value, x.format) for value in (SELU_SCALE, SELU_ALPHA))
    if is_nan(x) or x.value > 0:
        return x * scale
    return (function("exp", x) - ONE) * alpha * scale


def softplus(x: Array, *, beta: float = 1.0, threshold: float = 20.0) -> Array:
    """log(1 + exp(beta x)) / beta; x where beta x is above the threshold."""
    form = form_of(x)
    factor, limit = constant(float(beta), form), constant(float(threshold), form)

    def scalar(x: ExactNumber) -> ExactNumber:
        place = x * factor
        if is_nan(x) or place.value > limit.value:
            return x
        near = not special(place.value) and abs(place.rational - limit.rational) <= place.used() + limit.used()
        value = function("log1p", function("exp", place)) / factor
        if special(value.value):
            return value
        gap = abs(value.rational - x.rational) if near else Fraction(0)
        return ExactNumber(value.value, value.error + float(gap), form, fresh=True) if near else value

    return mapped(scalar, numbers(x))


def leaky(x: Array, *, alpha: float = 0.01) -> Array:
    """The element, times alpha where it is negative."""
    slope = constant(float(alpha), form_of(x))
    return mapped(lambda x: x * slope if x.value < 0 else x, numbers(x))


def prelu(x: Array, alpha: Array, *, axis: int = 1) -> Array:
    """The element, times the slope of its channel where it is negative."""
    shape = [1] * x.ndim
    shape[axis % x.ndim] = -1
    return mapped(
        lambda x, a: x * a if x.value < 0 else x, numbers(x), numbers(alpha).reshape(shape if alpha.ndim else [])
    )


def relu(x: Array) -> Array:
    """max(x, 0); NaN is NaN."""
    return mapped(lambda x: greatest((x, ZERO)), numbers(x))


def dropout(x: Array, *, rate: float = 0.5) -> tuple[Array, Array]:
    """In inference: the tensor, and a mask of ones."""
    del rate
    return x, np.ones(x.shape, x.dtype)


FLOATS = ("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh")
SCALARS = tuple(
    ExactDefinition(name, _called(name), f"{PYTORCH} torch.{name}; the value by mpmath", of_function(name))
    for name in (*FLOATS, "erf", "rsqrt")
)
TESTS: dict[str, Callable[..., object]] = {
    "isnan": lambda x: np.isnan(x.astype(np.float64)),
    "isinf": lambda x: np.isinf(x.astype(np.float64)),
    "isfinite": lambda x: np.isfinite(x.astype(np.float64)),
    "logical_not": np.logical_not,
    "bitwise_not": np.bitwise_not,
}
ELEMENTWISE = (
    *SCALARS,
    ExactDefinition("sqrt", _called("sqrt"), "IEEE 754-2019, 5.4.1 squareRoot", ROUNDED),
    *rows(
        {
            "abs": _each(abs),
            "negative": _each(lambda x: -x),
            "sign": _each(sign),
            "ceil": _rounding(math.ceil),
            "floor": _rounding(math.floor),
            "trunc": _rounding(math.trunc),
            "square": _each(lambda x: x * x),
        },
        f"{NUMPY} numpy.{{}}",
        ROUNDED,
    ),
    ExactDefinition("round", _rounding(round), f"{NUMPY} numpy.rint, ONNX Round: halves to even", ROUNDED),
    *rows(TESTS, f"{NUMPY} numpy.{{}}", INTEGER),
    ExactDefinition("sigmoid", _each(sigmoid), f"{PYTORCH} torch.sigmoid: 1 / (1 + exp(-x))", FORMULA),
    ExactDefinition("nn.relu", relu, f"{PYTORCH} torch.nn.ReLU", SAME),
    ExactDefinition("nn.leakyrelu", leaky, f"{PYTORCH} torch.nn.LeakyReLU", ROUNDED),
    ExactDefinition("nn.prelu", prelu, f"{PYTORCH} torch.nn.PReLU", ROUNDED),
    ExactDefinition("nn.gelu", _each(gelu), f"{PYTORCH} torch.nn.GELU: x * Phi(x)", FORMULA),
    ExactDefinition("nn.gelu_tanh", _each(tanh_gelu), f"{PYTORCH} torch.nn.GELU(approximate='tanh')", FORMULA),
    ExactDefinition("nn.silu", _each(silu), f"{PYTORCH} torch.nn.SiLU", FORMULA),
    ExactDefinition("nn.selu", _each(selu), f"{PYTORCH} torch.nn.SELU", FORMULA),
    ExactDefinition("nn.softplus", softplus, f"{PYTORCH} torch.nn.Softplus", FORMULA),
    ExactDefinition("nn.dropout", dropout, f"{PYTORCH} torch.nn.Dropout in inference", SAME),
)
