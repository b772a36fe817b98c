"""Operators of ONNX that take or put elements at places, which may count from the end."""

from collections.abc import Mapping

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT, UNSUPPORTED_OP
from refmlc.frontends.emitter import Operand, Size
from refmlc.frontends.onnx.constant_values import SymbolicArray, elements, known
from refmlc.frontends.onnx.elementwise import OnnxRule
from refmlc.frontends.onnx.node import Node
from refmlc.frontends.onnx.shape_rules import axis_of, constant_of
from refmlc.lang.ir import relax


def _from_front(node: Node, place: int, extent: Size) -> relax.Expr:
    """Places that an input holds, which may count from the end of an axis, counted from its beginning."""
    e, value, places = node.e, elements(node.input(place)), node.tensor(place)
    if value is not None and not (value < 0).any():
        return places
    if isinstance(places, relax.Constant) and isinstance(extent, int):
        return constant_of(np.where(places.data < 0, places.data + extent, places.data))
    dtype = e.dtype(places)
    shifted = e.call("add", places, e.scalar(extent, dtype))
    return e.call("where", e.call("less", places, e.scalar(0, dtype)), shifted, places)


def gather(node: Node) -> Operand:
    """The slices at places along an axis."""
    axis, value, places = node.whole("axis", 0), node.input(0), known(node.input(1))
    if isinstance(value, SymbolicArray) and places is not None:
        return SymbolicArray(np.asarray(value.items[places.astype(np.int64)], object), value.dtype)
    x = node.tensor(0)
    at = axis_of(axis, node.e.rank(x), "Gather")
    return node.e.call("take", x, _from_front(node, 1, node.e.shape(x)[at]), axis=at)


def gather_elements(node: Node) -> Operand:
    """Element by element, that of the place along an axis."""
    x = node.tensor(0)
    axis = axis_of(node.whole("axis", 0), node.e.rank(x), "GatherElements")
    return node.e.call("gather_elements", x, _from_front(node, 1, node.e.shape(x)[axis]), axis=axis)


def gather_nd(node: Node) -> Operand:
    """The slices at tuples of places."""
    batch, x, places = node.whole("batch_dims", 0), node.tensor(0), node.tensor(1)
    return node.e.call("gather_nd", x, _tuples_from_front(node, x, places, batch), batch_dims=batch)


def _tuples_from_front(node: Node, x: relax.Expr, places: relax.Expr, batch: int = 0) -> relax.Expr:
    """Tuples of places, each counted from the beginning of its axis."""
    e = node.e
    sizes, depth = e.shape(x), (e.shape(places) or (0,))[-1]
    if not e.rank(places) or (isinstance(depth, int) and not 0 <= batch <= batch + depth <= len(sizes)):
        raise fail(BAD_INPUT, f"`{node.op}` of {len(sizes)} dimensions by places of {list(e.shape(places))}")
    if not isinstance(depth, int) or not all(isinstance(size, int) for size in sizes):
        raise fail(UNSUPPORTED_OP, f"`{node.op}` of symbolic extents is not supported")
    extents = constant_of(np.array(sizes[batch : batch + depth], np.int64))
    extents_like = extents if e.dtype(places) == "int64" else e.astype(extents, e.dtype(places))
    negative = e.call("less", places, e.scalar(0, e.dtype(places)))
    return e.call("where", negative, e.call("add", places, extents_like), places)


REDUCTIONS = {"none": "update", "add": "add", "mul": "mul", "max": "max", "min": "min"}


def _reduction(node: Node) -> str:
    name = node.text("reduction", "none")
    if name not in REDUCTIONS:
        raise fail(UNSUPPORTED_OP, f"the reduction `{name}` of `{node.op}` is not supported")
    return REDUCTIONS[name]


def scatter_elements(node: Node) -> Operand:
    """The tensor with elements put, or combined, at places along an axis."""
    x = node.tensor(0)
    axis = axis_of(node.whole("axis", 0), node.e.rank(x), node.op)
    places = _from_front(node, 1, node.e.shape(x)[axis])
    return node.e.call("scatter_elements", x, places, node.tensor(2), axis=axis, reduction=_reduction(node))


def scatter_nd(node: Node) -> Operand:
    """The tensor with slices put, or combined, at tuples of places."""
    x = node.tensor(0)
    places = _tuples_from_front(node, x, node.tensor(1))
    return node.e.call("scatter_nd", x, places, node.tensor(2), reduction=_reduction(node))


def one_hot(node: Node) -> Operand:
    """The second of two values at each place, the first elsewhere; places outside give none."""
    e, places = node.e, node.tensor(0)
    depth, values = node.number(1), node.tensor(2)
    axis = axis_of(node.whole("axis", -1), e.rank(places) + 1, "OneHot")
    if depth is None:
        raise fail(UNSUPPORTED_OP, "`OneHot` without a depth is not supported")
    count, dtype = int(depth), e.dtype(places)
    sizes = list(e.shape(places))
    sizes.insert(axis, 1)
    apart = e.reshape(places, sizes)
    if not dtype.startswith("uint"):
        below = e.call("less", apart, e.scalar(0, dtype))
        apart = e.call("where", below, e.call("add", apart, e.scalar(count, dtype)), apart)
    row = constant_of(np.arange(count).reshape([count if at == axis else 1 for at in range(len(sizes))]))
    hit = e.call("equal", apart, e.astype(row, dtype))
    off, on = (e.call("strided_slice", values, [0], [at], [at + 1], [1]) for at in range(2))
    return e.call("where", hit, on, off)


INDEXING: Mapping[str, OnnxRule] = {
    "Gather": gather,
    "GatherElements": gather_elements,
    "GatherND": gather_nd,
    "ScatterElements": scatter_elements,
    "Scatter": scatter_elements,
    "ScatterND": scatter_nd,
    "OneHot": one_hot,
}
