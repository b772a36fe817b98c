"""Operators of ONNX that make tensors."""

from collections.abc import Mapping
from math import isfinite

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT, UNSUPPORTED_OP
from refmlc.frontends.arrays import constant
from refmlc.frontends.emitter import Operand, Size
from refmlc.frontends.onnx.arrays import DTYPES
from refmlc.frontends.onnx.elementwise import OnnxRule, is_half
from refmlc.frontends.onnx.limits import check_extents
from refmlc.frontends.onnx.node import Node
from refmlc.frontends.onnx.shape_rules import is_number
from refmlc.lang.dtypes import SCALARS
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
    if element.data.size != 1:
        raise fail(BAD_INPUT, f"the value of `ConstantOfShape` has {element.data.size} elements, one is needed")
    filled = constant(element.data.reshape(()), element.dtype)
    sizes = node.numbers(0)
    if any(isinstance(size, int) and size < 0 for size in sizes):
        raise fail(BAD_INPUT, f"`ConstantOfShape` of the shape {list(sizes)[:8]}")
    check_extents("ConstantOfShape", sizes)
    return node.e.call("full", node.e.sizes(sizes), filled, dtype=str(element.dtype))


def range_(node: Node) -> Operand:
    """The integers from the first to before the second, by steps."""
    e, dtype, number = node.e, node.e.dtype(node.tensor(0)), node.whole("stash_type", 1)
    if number not in (1, 11):
        raise fail(UNSUPPORTED_OP, f"`Range` computed in the dtype number {number} is not supported")
    if SCALARS[dtype].is_integer:
        start, end, step = (_one(node, place) for place in range(3))
        if is_number(step, 0):
            raise fail(BAD_INPUT, "the step of `Range` is 0")
        return e.call("arange", start, end, step, dtype=dtype)
    first, limit, delta = (float(node.number(place) or 0.0) for place in range(3))
    if not delta or not all(map(isfinite, (first, limit, delta))):
        raise fail(BAD_INPUT, f"`Range` from {first} to {limit} by {delta}")
    wide = DTYPES[number] if is_half(dtype) else dtype
    return e.astype(e.call("arange", first, limit, delta, dtype=wide), dtype)


def _one(node: Node, place: int) -> Size:
    """One number, which may be a symbolic extent. Fails: RM111."""
    numbers = node.numbers(place)
    if len(numbers) != 1:
        raise fail(BAD_INPUT, f"input {place} of `{node.op}` is one number; these are {len(numbers)}")
    return numbers[0]


def eye_like(node: Node) -> Operand:
    """Ones on the k-th diagonal of a matrix of the input's shape."""
    e, x, k = node.e, node.tensor(0), node.whole("k", 0)
    number = node.whole("dtype", 0)
    if number and number not in DTYPES:
        raise fail(UNSUPPORTED_OP, f"the dtype number {number} of `EyeLike` is not supported")
    if e.rank(x) != 2:
        raise fail(BAD_INPUT, f"`EyeLike` takes a matrix; this has {e.rank(x)} dimensions")
    rows, columns = e.shape(x)
    dtype = DTYPES[number] if number else e.dtype(x)
    return e.call("eye", rows, columns, k, dtype=dtype)


CREATION: Mapping[str, OnnxRule] = {
    "Constant": constant_node,
    "ConstantOfShape": constant_of_shape,
    "Range": range_,
    "EyeLike": eye_like,
}
