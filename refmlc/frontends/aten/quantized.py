"""`quantized_decomposed`: integers for floats, by a scale and a zero point of the tensor, or of each place of an axis.

quantize:   clamp(round(x * (1 / scale)) + zero_point, quant_min, quant_max), rounded half to even
dequantize: (x - zero_point) * scale
"""

from collections.abc import Mapping

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_OP
from refmlc.frontends.arrays import dtype_name
from refmlc.frontends.emitter import Emitter, Operand
from refmlc.frontends.rule import Rule
from refmlc.lang.ir import relax

Tensor = relax.Expr


def _number(e: Emitter, value: Operand, shape: list[int]) -> Tensor:
    """A scale or a zero point in float32, in a shape that goes with the tensor."""
    if isinstance(value, relax.Expr):
        return e.astype(e.reshape(value, shape), "float32")
    return e.scalar(value, "float32")


def _around(e: Emitter, x: Tensor, axis: Operand) -> list[int]:
    """The shape of a vector along an axis; of a number where there is none."""
    if axis is None:
        return []
    if not isinstance(axis, int):
        raise fail(UNSUPPORTED_OP, "the axis of a quantisation is a known number")
    return [-1 if place == axis % e.rank(x) else 1 for place in range(e.rank(x))]


def quantize(
    e: Emitter,
    x: Tensor,
    scales: Operand,
    zero_points: Operand,
    axis: Operand,
    quant_min: int,
    quant_max: int,
    dtype: Operand,
) -> Tensor:
    """The integers for floats, by the scales of the places of an axis."""
    around = _around(e, x, axis)
    wide = e.astype(x, "float32")
    share = e.call("divide", e.scalar(1.0, "float32"), _number(e, scales, around))
    steps = e.call("round", e.call("multiply", wide, share))
    shifted = e.call("add", steps, _number(e, zero_points, around))
    low, high = e.scalar(quant_min, "float32"), e.scalar(quant_max, "float32")
    return e.astype(e.call("minimum", e.call("maximum", shifted, low), high), dtype_name(dtype))


def quantize_tensor(
    e: Emitter, x: Tensor, scale: Operand, zero_point: Operand, quant_min: int, quant_max: int, dtype: Operand
) -> Tensor:
    """The integers for floats, by one scale."""
    return quantize(e, x, scale, zero_point, None, quant_min, quant_max, dtype)


def dequantize(  # noqa: PLR0913 - PyTorch's arguments
    e: Emitter,
    x: Tensor,
    scales: Operand,
    zero_points: Operand,
    axis: Operand,
    quant_min: int,
    quant_max: int,
    dtype: Operand,
    *,
    out_dtype: Operand = None,
) -> Tensor:
    """The floats for integers, by the scales of the places of an axis."""
    del quant_min, quant_max, dtype  # they say what the integers are
    around = _around(e, x, axis)
    shifted = e.astype(x, "float32")
    if zero_points is not None:
        shifted = e.call("subtract", shifted, _number(e, zero_points, around))
    result = e.call("multiply", shifted, _number(e, scales, around))
    return e.astype(result, "float32" if out_dtype is None else dtype_name(out_dtype))


def dequantize_tensor(
    e: Emitter,
    x: Tensor,
    scale: Operand,
    zero_point: Operand,
    quant_min: int,
    quant_max: int,
    dtype: Operand,
    *,
    out_dtype: Operand = None,
) -> Tensor:
    """The floats for integers, by one scale."""
    return dequantize(e, x, scale, zero_point, None, quant_min, quant_max, dtype, out_dtype=out_dtype)


QUANTIZED: Mapping[str, Rule] = {
    "quantized_decomposed.quantize_per_tensor": quantize_tensor,
    "quantized_decomposed.quantize_per_channel": quantize,
    "quantized_decomposed.dequantize_per_tensor": dequantize_tensor,
    "quantized_decomposed.dequantize_per_channel": dequantize,
}
