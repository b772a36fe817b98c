"""Operators of ONNX that make tensors."""

from collections.abc import Mapping

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_OP
from refmlc.frontends.arrays import constant
from refmlc.frontends.emitter import Operand
from refmlc.frontends.onnx.arrays import DTYPES
from refmlc.frontends.onnx.elementwise import OnnxRule
from refmlc.frontends.onnx.node import Node
from refmlc.lang.ir import relax


def constant_node(node: Node) -> Operand:
    """The tensor, number or list of numbers that an attribute holds."""
    for name, dtype in (
        ("value_int", "int64"),
        ("value_ints", "int64"),
        ("value_float", "float32"),
        ("value_floats", "float32"),
    ):
        if node.has(name):
            return constant(np.array(node.take(name), dtype))
    value = node.take("value")
    if isinstance(value, relax.Constant):
        return value
    raise fail(UNSUPPORTED_OP, "`Constant` of texts or a sparse tensor is not supported")


def constant_of_shape(node: Node) -> Operand:
    """One number everywhere; a float32 0 where none is said."""
    value = node.take("value")
    element = value if isinstance(value, relax.Constant) else constant(np.zeros(1, np.float32))
    filled = constant(element.data.reshape(()), element.dtype)
    return node.e.call("full", node.e.sizes(node.numbers(0)), filled, dtype=str(element.dtype))


def range_(node: Node) -> Operand:
    """The integers from the first to before the second, by steps."""
    start, end, step = (node.numbers(place)[0] for place in range(3))
    return node.e.call("arange", start, end, step, dtype=node.e.dtype(node.tensor(0)))


def eye_like(node: Node) -> Operand:
    """Ones on the k-th diagonal of a matrix of the input's shape."""
    e, x, k = node.e, node.tensor(0), node.whole("k", 0)
    number = node.whole("dtype", 0)
    if number and number not in DTYPES:
        raise fail(UNSUPPORTED_OP, f"the dtype number {number} of `EyeLike` is not supported")
    rows, columns = e.shape(x)
    dtype = DTYPES[number] if number else e.dtype(x)
    return e.call("eye", rows, columns, k, dtype=dtype)


CREATION: Mapping[str, OnnxRule] = {
    "Constant": constant_node,
    "ConstantOfShape": constant_of_shape,
    "Range": range_,
    "EyeLike": eye_like,
}
