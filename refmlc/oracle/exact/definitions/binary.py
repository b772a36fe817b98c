"""Operators of two tensors and of three, the shapes being broadcast; quantisation."""

import math
from collections.abc import Callable
from fractions import Fraction

import ml_dtypes
import numpy as np

from refmlc.oracle.exact.definitions.arrays import Array, form_of, mapped, numbers
from refmlc.oracle.exact.definitions.definition import (
    FORMULA,
    INTEGER,
    NUMPY,
    ONNX,
    PYTORCH,
    ROUNDED,
    SAME,
    ExactDefinition,
    NoDefinition,
    of_function,
    rows,
)
from refmlc.oracle.exact.definitions.functions import atan2, function, power
from refmlc.oracle.exact.definitions.numbers import (
    UNKNOWN,
    ExactNumber,
    constant,
    greatest,
    is_nan,
    least,
    quotient,
    special,
)

Scalar = Callable[[ExactNumber, ExactNumber], ExactNumber]


def _each(scalar: Scalar) -> Callable[[Array, Array], Array]:
    return lambda a, b: mapped(scalar, numbers(a), numbers(b))


def _at_special(name: str, a: ExactNumber, b: ExactNumber) -> ExactNumber:
    """What NumPy gives for classes of numbers: only sign, zero and infinity count."""
    with np.errstate(all="ignore"):
        return ExactNumber(float(getattr(np, name)(_class(a), _class(b))), 0.0, a.format or b.format)


def _class(x: ExactNumber) -> np.float64:
    return np.float64(x.value if isinstance(x.value, float) else float((x.value > 0) - (x.value < 0)))


def floor_divide(a: ExactNumber, b: ExactNumber) -> ExactNumber:
    """The floor of the exact quotient."""
    if special(a.value) or special(b.value) or not b.value:
        return _at_special("floor_divide", a, b)
    return ExactNumber(Fraction(math.floor(a.rational / b.rational)), 0.0, a.format or b.format)


def mod(a: ExactNumber, b: ExactNumber) -> ExactNumber:
    """A - trunc(a / b) b, exactly: C's fmod."""
    if special(a.value) or not b.value or is_nan(b):
        return _at_special("fmod", a, b)
    if special(b.value):
        return a
    return ExactNumber(a.rational - math.trunc(a.rational / b.rational) * b.rational, 0.0, a.format or b.format)


def floor_mod(a: ExactNumber, b: ExactNumber) -> ExactNumber:
    """A - floor(a / b) b, exactly; of an infinite divisor of the other sign that divisor, as `numpy.mod` has it."""
    if special(a.value) or not b.value or is_nan(b):
        return _at_special("mod", a, b)
    if special(b.value):
        return b if a.value and (a.value < 0) != (b.value < 0) else a
    return ExactNumber(a.rational - math.floor(a.rational / b.rational) * b.rational, 0.0, a.format or b.format)


def log_add_exp(a: ExactNumber, b: ExactNumber) -> ExactNumber:
    """Max + log(1 + exp(-distance)), which does not overflow (`numpy.logaddexp`)."""
    top, low = (a, b) if is_nan(a) or a.value >= b.value else (b, a)
    if special(top.value) or is_nan(low):
        return low if is_nan(low) else top
    if special(low.value):
        return top
    return top + function("log1p", function("exp", low - top))


def clip(x: Array, low: float, high: float) -> Array:
    """minimum(maximum(x, low), high), as `numpy.clip` has it: where the bounds cross, `high`."""
    form = form_of(x)
    if form is None and not (math.isfinite(low) and math.isfinite(high)):
        raise NoDefinition("an infinite bound for integers")
    bounds = [constant(Fraction(math.trunc(end)) if form is None else end, form) for end in (low, high)]
    return mapped(lambda x: least((greatest((x, bounds[0])), bounds[1])), numbers(x))


def fused(x1: Array, x2: Array, x3: Array) -> Array:
    """x1 * x2 + x3."""
    return mapped(lambda a, b, c: a * b + c, numbers(x1), numbers(x2), numbers(x3))


def _per_axis(parameter: Array, axis: int, rank: int) -> Array:
    """A parameter with a number for each place along an axis, so that it is broadcast to the data."""
    if not parameter.ndim:
        return numbers(parameter)
    shape = [1] * rank
    shape[axis % rank] = -1
    return numbers(parameter).reshape(shape)


def quantize(data: Array, scale: Array, zero_point: Array, *, out_dtype: str = "int8", axis: int = -1) -> Array:
    """saturate(round(data / scale) + zero_point); where the rounded quotient may be either integer, both are right."""
    dtype = np.dtype(getattr(ml_dtypes, out_dtype, out_dtype))
    if form_of(np.empty(0, dtype)) is not None:
        raise NoDefinition("quantisation to floats")
    if form_of(data) is None:
        raise NoDefinition("quantisation of integers")
    low, high = int(ml_dtypes.iinfo(dtype).min), int(ml_dtypes.iinfo(dtype).max)

    def scalar(x: ExactNumber, s: ExactNumber, z: ExactNumber) -> ExactNumber:
        steps = x / s
        if is_nan(steps) or special(z.value) or steps.error == math.inf:
            return UNKNOWN
        if special(steps.value):
            return ExactNumber(Fraction(high if steps.value > 0 else low))
        shifted = steps + ExactNumber(Fraction(0))  # rounded before it is rounded to an integer
        if shifted.error == math.inf:
            return UNKNOWN
        ends = [round(steps.rational + side * Fraction(shifted.error)) + z.rational for side in (-1, 1)]
        first, last = (max(Fraction(low), min(Fraction(high), end)) for end in ends)
        middle = (first + last) / 2
        return ExactNumber(middle, float(last - middle))

    rank = data.ndim
    return mapped(scalar, numbers(data), _per_axis(scale, axis, rank), _per_axis(zero_point, axis, rank))


def dequantize(data: Array, scale: Array, zero_point: Array, *, out_dtype: str = "float32", axis: int = -1) -> Array:
    """(data - zero_point) scale."""
    del out_dtype
    if form_of(data) is not None or form_of(zero_point) is not None:
        raise NoDefinition("dequantisation of floats")
    form, rank = form_of(scale), data.ndim

    def scalar(x: ExactNumber, s: ExactNumber, z: ExactNumber) -> ExactNumber:
        return ExactNumber((x - z).rational, 0.0, form, fresh=True) * s

    return mapped(scalar, numbers(data), _per_axis(scale, axis, rank), _per_axis(zero_point, axis, rank))


ARITHMETIC: dict[str, Callable[..., object]] = {
    "add": _each(lambda a, b: a + b),
    "subtract": _each(lambda a, b: a - b),
    "multiply": _each(lambda a, b: a * b),
}
EXACT: dict[str, Callable[..., object]] = {
    "floor_divide": _each(floor_divide),
    "mod": _each(mod),
    "floor_mod": _each(floor_mod),
    "maximum": _each(lambda a, b: greatest((a, b))),
    "minimum": _each(lambda a, b: least((a, b))),
}
SPELLED = {"mod": "fmod", "floor_mod": "mod"}
COMPARED = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
LOGIC = ("logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor")
BINARY = (
    *rows(ARITHMETIC, f"IEEE 754-2019, 5.4.1; {NUMPY} numpy.{{}}: integers wrap", ROUNDED),
    ExactDefinition("divide", _each(quotient), "IEEE 754-2019, 5.4.1; C11 6.5.5 for integers", ROUNDED),
    *(
        ExactDefinition(name, compute, f"{NUMPY} numpy.{SPELLED.get(name, name)}, of the exact quotient", ROUNDED)
        for name, compute in EXACT.items()
    ),
    ExactDefinition("power", _each(power), f"C11 Annex F pow; {NUMPY} numpy.power", of_function("power")),
    ExactDefinition("atan2", _each(atan2), f"C11 Annex F atan2; {NUMPY} numpy.arctan2", of_function("atan2")),
    *rows({name: getattr(np, name) for name in COMPARED}, f"{NUMPY} numpy.{{}}", INTEGER),
    *rows({name: getattr(np, name) for name in (*LOGIC, "left_shift", "right_shift")}, f"{NUMPY} numpy.{{}}", INTEGER),
    ExactDefinition("where", np.where, f"{NUMPY} numpy.where", SAME),
    ExactDefinition("clip", clip, f"{NUMPY} numpy.clip, {ONNX} Clip", SAME),
    ExactDefinition("ewise_fma", fused, f"{PYTORCH} torch.addcmul: x1 * x2 + x3", FORMULA),
    ExactDefinition("log_add_exp", _each(log_add_exp), f"{NUMPY} numpy.logaddexp", FORMULA),
    ExactDefinition("quantize", quantize, f"{ONNX} QuantizeLinear", "either integer at a half: x / scale is rounded"),
    ExactDefinition("dequantize", dequantize, f"{ONNX} DequantizeLinear", FORMULA),
)
