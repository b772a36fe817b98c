"""Quantisation of ONNX: floats as integers or small floats with a scale, and back.

| operator           | gives                                                                               |
|--------------------|-------------------------------------------------------------------------------------|
| `QuantizeLinear`   | `clip(round(x / scale) + zero)`, ties to even; of small floats `clip(x / scale)`    |
| `DequantizeLinear` | `(x - zero) * scale`                                                                |

A scale is one number, one for each place along `axis`, or one for each block of `block_size` places.
"""

from collections.abc import Mapping

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT, UNSUPPORTED_OP
from refmlc.frontends.emitter import Emitter, Operand, same_sizes
from refmlc.frontends.onnx.arrays import dtype_named
from refmlc.frontends.onnx.constant_values import elements, late
from refmlc.frontends.onnx.elementwise import OnnxRule, is_half
from refmlc.frontends.onnx.node import Node
from refmlc.frontends.onnx.shape_rules import axis_of
from refmlc.lang.ir import relax

RANGES = {
    "uint8": (0.0, 255.0),
    "int8": (-128.0, 127.0),
    "uint16": (0.0, 65535.0),
    "int16": (-32768.0, 32767.0),
    "uint4": (0.0, 15.0),
    "int4": (-8.0, 7.0),
    "uint2": (0.0, 3.0),
    "int2": (-2.0, 1.0),
}
FLOAT32 = 1
"""ONNX's number of the dtype."""
GREATEST = {
    "float8_e4m3fn": 448.0,
    "float8_e4m3fnuz": 240.0,
    "float8_e5m2": 57344.0,
    "float8_e5m2fnuz": 57344.0,
    "float4_e2m1fn": 6.0,
}


def quantize(node: Node) -> Operand:
    """See the docstring of the module. Fails: RM501, RM111."""
    e, x = node.e, node.tensor(0)
    axis, block = node.whole("axis", 1), node.whole("block_size", 0)
    number = node.whole("output_dtype", 0)
    zero = node.optional(2)
    named = str(dtype_named(number, "`output_dtype`")) if number else ""
    dtype = named or ("uint8" if zero is None else e.dtype(zero))
    if zero is not None and e.dtype(zero) != dtype:
        raise fail(BAD_INPUT, f"`output_dtype` is {dtype}, the zero point is {e.dtype(zero)}")
    precision = node.whole("precision", 0)
    if precision not in (0, FLOAT32):
        raise fail(UNSUPPORTED_OP, "`QuantizeLinear` in another precision than float32 is not supported")
    saturates = node.whole("saturate", 1)
    scale = _spread(node, node.tensor(1), x, axis, block)
    if e.dtype(scale) != e.dtype(x) or e.dtype(x) not in ("float32", "float16", "bfloat16"):
        raise fail(UNSUPPORTED_OP, f"`QuantizeLinear` of {e.dtype(x)} by {e.dtype(scale)} is not supported")
    if precision == FLOAT32:
        x, scale = e.astype(x, "float32"), e.astype(scale, "float32")
    quotient = e.call("divide", x, scale)
    ratio = e.astype(quotient, "float32") if is_half(e.dtype(x)) else quotient
    if dtype in GREATEST:
        if zero is not None and not _is_zero(elements(node.input(2))):
            raise late(node.input(2), f"`QuantizeLinear` to {dtype} with a zero point that is not known to be 0")
        if not saturates and dtype != "float4_e2m1fn":
            return e.astype(ratio, dtype)
        return e.astype(clipped(e, ratio, -GREATEST[dtype], GREATEST[dtype]), dtype)
    if dtype not in RANGES:
        raise fail(UNSUPPORTED_OP, f"`QuantizeLinear` to {dtype} is not supported")
    whole = e.call("round", ratio)
    if zero is not None:
        whole = e.call("add", whole, e.astype(_spread(node, zero, x, axis, block), "float32"))
    return e.astype(clipped(e, whole, *RANGES[dtype]), dtype)


def dequantize(node: Node) -> Operand:
    """See the docstring of the module. Fails: RM501.

    Decision: the product is made in float32 and rounded once to the dtype of the result, as ONNX's evaluator does.
    """
    e, x = node.e, node.tensor(0)
    axis, block = node.whole("axis", 1), node.whole("block_size", 0)
    number = node.whole("output_dtype", 0)
    scale = node.tensor(1)
    dtype = str(dtype_named(number, "`output_dtype`")) if number else e.dtype(scale)
    zero = node.optional(2)
    kind = e.dtype(x)
    wide = e.astype(x, "int32" if kind == "int32" else "float32")
    if zero is not None:
        if e.dtype(zero) != kind:
            raise fail(BAD_INPUT, f"the zero point is {e.dtype(zero)}, the tensor is {kind}")
        wide = e.call("subtract", wide, e.astype(_spread(node, zero, x, axis, block), e.dtype(wide)))
    factor = e.astype(_spread(node, scale, x, axis, block), "float32")
    return e.astype(e.call("multiply", e.astype(wide, "float32"), factor), dtype)


def _is_zero(value: np.ndarray | None) -> bool:
    return value is not None and not np.any(value.astype(np.float64))


def clipped(e: Emitter, x: relax.Expr, low: float, high: float) -> relax.Expr:
    """The elements brought between two numbers."""
    dtype = e.dtype(x)
    return e.call("minimum", e.call("maximum", x, e.scalar(low, dtype)), e.scalar(high, dtype))


def _spread(node: Node, value: relax.Expr, x: relax.Expr, axis: int, block: int) -> relax.Expr:
    """A scale or zero point in a shape that meets that of `x`. Fails: RM111, RM501."""
    e, rank = node.e, node.e.rank(x)
    shape = e.shape(value)
    if not shape or shape == (1,):
        return e.reshape(value, [])
    place = axis_of(axis, rank, node.op)
    extent = e.shape(x)[place]
    if block == 0:
        if not same_sizes(shape, [extent]):
            needed = f"({extent},) is needed along axis {axis}"
            raise fail(BAD_INPUT, f"the scale or zero point of `{node.op}` has the shape {shape}: {needed}")
        return e.reshape(value, [-1 if at == place else 1 for at in range(rank)])
    if block < 0 or len(shape) != rank or not isinstance(extent, int):
        raise fail(UNSUPPORTED_OP, f"`{node.op}` in blocks of symbolic extents, or of another rank, is not supported")
    blocks = [-(-extent // block) if at == place else item for at, item in enumerate(e.shape(x))]
    if not same_sizes(shape, blocks):
        raise fail(BAD_INPUT, f"the scale of `{node.op}` has the shape {shape}, blocks of {block} need {tuple(blocks)}")
    wide = e.call("repeat", value, repeats=block, axis=place)
    return e.call("strided_slice", wide, [place], [0], [extent], [1])


QUANTIZATION: Mapping[str, OnnxRule] = {"QuantizeLinear": quantize, "DequantizeLinear": dequantize}
