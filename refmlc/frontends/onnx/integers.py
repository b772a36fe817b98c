"""Products of quantised integers in ONNX: sums in int32, brought back to 8 bits by scales.

| operator                        | gives                                                                     |
|---------------------------------|---------------------------------------------------------------------------|
| `MatMulInteger`, `ConvInteger`  | the product of `a - zero` and `b - zero` in int32                         |
| `QLinearMatMul`, `QLinearConv`  | `clip(round(product * (a_scale * b_scale / y_scale)) + y_zero)`           |

Decision: the ratio of the scales is made in their dtype and the product in float64, which holds int32 exactly, as
ONNX's evaluator does. It is rounded to even before the zero point is added, as ONNX's text says.
"""

from collections.abc import Callable, Mapping

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT, UNSUPPORTED_OP
from refmlc.frontends.emitter import Operand
from refmlc.frontends.onnx.elementwise import OnnxRule
from refmlc.frontends.onnx.node import Node
from refmlc.frontends.onnx.quantization import RANGES, clipped
from refmlc.frontends.onnx.windows import convolution
from refmlc.lang.ir import relax

SMALL = ("int8", "uint8")
Shape = Callable[[Node, relax.Expr], relax.Expr]
"""Brings a scale or a zero point into a shape that meets its tensor."""


def _shifted(node: Node, place: int, zero: int, shape: Shape) -> relax.Expr:
    """An input without its zero point, in int32. Fails: RM501, RM111."""
    e, x, shift = node.e, node.tensor(place), node.optional(zero)
    if e.dtype(x) not in SMALL:
        raise fail(UNSUPPORTED_OP, f"`{node.op}` of {e.dtype(x)} is not supported")
    wide = e.astype(x, "int32")
    if shift is None:
        return wide
    if e.dtype(shift) != e.dtype(x):
        raise fail(BAD_INPUT, f"input {zero} of `{node.op}` is {e.dtype(shift)}, its tensor is {e.dtype(x)}")
    return e.call("subtract", wide, e.astype(shape(node, shift), "int32"))


def _row(node: Node, value: relax.Expr) -> relax.Expr:
    """One number for each row of a matrix; a number, or a tensor of more dimensions, as it is."""
    shape = node.e.shape(value)
    return node.e.reshape(value, [-1, 1]) if len(shape) == 1 and shape != (1,) else value


def _column(node: Node, value: relax.Expr) -> relax.Expr:
    """One number for each column of a matrix, which broadcasts as it is."""
    del node
    return value


def _channel(node: Node, value: relax.Expr) -> relax.Expr:
    """One number for each output channel of a weight."""
    rank = node.e.rank(node.tensor(1 if node.op == "ConvInteger" else 3))
    shape = node.e.shape(value)
    return node.e.reshape(value, [-1, *(1,) * (rank - 1)]) if len(shape) == 1 and shape != (1,) else value


def _of_channel(node: Node, value: relax.Expr) -> relax.Expr:
    """One number for each channel of a result."""
    rank = node.e.rank(node.tensor(3))
    shape = node.e.shape(value)
    return node.e.reshape(value, [1, -1, *(1,) * (rank - 2)]) if len(shape) == 1 and shape != (1,) else value


def matmul_integer(node: Node) -> Operand:
    """See the docstring of the module."""
    return node.e.call("matmul", _shifted(node, 0, 2, _row), _shifted(node, 1, 3, _column))


def conv_integer(node: Node) -> Operand:
    """See the docstring of the module. What is added at the edges is the zero point."""
    return convolution(node, _shifted(node, 0, 2, _column), _shifted(node, 1, 3, _channel))


def qlinear_matmul(node: Node) -> Operand:
    """See the docstring of the module."""
    product = node.e.call("matmul", _shifted(node, 0, 2, _row), _shifted(node, 3, 5, _column))
    return _requantized(node, product, (_row, _column, _row))


def qlinear_conv(node: Node) -> Operand:
    """See the docstring of the module; the bias is one of int32, added to the product."""
    e, bias = node.e, node.optional(8)
    product = convolution(node, _shifted(node, 0, 2, _column), _shifted(node, 3, 5, _channel))
    if bias is not None:
        product = e.call("add", product, e.reshape(bias, [1, -1, *(1,) * (e.rank(product) - 2)]))
    return _requantized(node, product, (_column, _of_channel, _column))


def _requantized(node: Node, product: relax.Expr, shapes: tuple[Shape, Shape, Shape]) -> relax.Expr:
    """The product by the scales of inputs 1, 4 and 6, plus the zero point of input 7, in its dtype."""
    e, zero = node.e, node.tensor(7)
    dtype = e.dtype(zero)
    if dtype not in SMALL:
        raise fail(UNSUPPORTED_OP, f"`{node.op}` to {dtype} is not supported")
    a, b, y = (shape(node, node.tensor(place)) for place, shape in zip((1, 4, 6), shapes, strict=True))
    ratio = e.call("divide", e.call("multiply", a, b), y)
    scaled = e.call("multiply", e.astype(product, "float64"), e.astype(ratio, "float64"))
    whole = e.call("add", e.call("round", scaled), e.astype(shapes[2](node, zero), "float64"))
    return e.astype(clipped(e, whole, *RANGES[dtype]), dtype)


INTEGERS: Mapping[str, OnnxRule] = {
    "MatMulInteger": matmul_integer,
    "ConvInteger": conv_integer,
    "QLinearMatMul": qlinear_matmul,
    "QLinearConv": qlinear_conv,
}
