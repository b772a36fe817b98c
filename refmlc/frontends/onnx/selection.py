"""Operators of ONNX that choose elements; where their number follows from data, the extent is a new symbolic one."""

from collections.abc import Mapping, Sequence

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT, UNSUPPORTED_OP
from refmlc.frontends.emitter import Operand, Size, same_sizes
from refmlc.frontends.onnx.constant_values import elements
from refmlc.frontends.onnx.elementwise import OnnxRule
from refmlc.frontends.onnx.node import Node
from refmlc.frontends.onnx.shape_rules import axis_of, constant_of
from refmlc.lang.dtypes import INT64, SCALARS
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.types import TensorType
from refmlc.lang.te import Value


def new_extent(node: Node) -> Value:
    """A symbolic extent that a value of the node defines."""
    return Value(tir.Var(f"{node.name}_count", INT64))


def shaped(node: Node, value: relax.Expr, sizes: Sequence[Size], dtype: str) -> relax.Expr:
    """A value whose type says no extents, with these, of which new ones are defined by it."""
    extents = tuple(size.expr if isinstance(size, Value) else tir.IntImm(INT64, size) for size in sizes)
    return node.e.builder.match_cast(value, TensorType(extents, SCALARS[dtype]))


def nonzero(node: Node) -> Operand:
    """The places of the elements that are not 0, a column for each; a place in a scalar has no rows."""
    e, x = node.e, node.tensor(0)
    places = shaped(node, e.call("nonzero", x), [max(e.rank(x), 1), new_extent(node)], "int64")
    return places if e.rank(x) else e.call("strided_slice", places, [0], [0], [0], [1])


def compress(node: Node) -> Operand:
    """The elements along an axis, or all of them in a row, for which a condition is true."""
    e, x = node.e, node.tensor(0)
    axis = node.take("axis")
    if axis is None:
        x, place = e.reshape(x, [-1]), 0
    elif isinstance(axis, int):
        place = axis_of(axis, e.rank(x), node.op)
    else:
        raise fail(BAD_INPUT, f"`axis` of `{node.op}` is an integer")
    condition, truths = node.tensor(1), elements(node.input(1))
    if e.rank(condition) != 1 or e.dtype(condition) != "bool":
        raise fail(BAD_INPUT, f"the condition of `{node.op}` is a vector of truth values")
    if truths is not None:
        places: relax.Expr = constant_of(np.flatnonzero(truths))
    else:
        count = new_extent(node)
        places = e.reshape(shaped(node, e.call("nonzero", condition), [1, count], "int64"), [count])
    return e.call("take", x, places, axis=place)


def unique(node: Node) -> Operand:
    """Each element, or slice along an axis, once; where it is first, which one each element is, how often it occurs."""
    e, x = node.e, node.tensor(0)
    axis, in_order = node.take("axis"), bool(node.whole("sorted", 1))
    if axis is not None and not isinstance(axis, int):
        raise fail(BAD_INPUT, f"`axis` of `{node.op}` is an integer")
    own, sizes, dtype = x, list(e.shape(x)), e.dtype(x)
    place = None if axis is None else axis_of(axis, len(sizes), node.op)
    if place is None:
        own = e.reshape(x, [-1])
        sizes = list(e.shape(own))
    count, along = new_extent(node), 0 if place is None else place
    every = e.call("unique", own, in_order, True, True, True, *([] if place is None else [place]))
    shapes: tuple[list[Size], ...] = (
        [count if at == along else size for at, size in enumerate(sizes)],
        [count],
        [sizes[along]],
        [count],
    )
    dtypes = (dtype, "int64", "int64", "int64")
    return tuple(shaped(node, e.item(every, at), shapes[at], dtypes[at]) for at in range(4))


def tensor_scatter(node: Node) -> Operand:
    """The cache with an update at the places from an index on, one index for each entry of the batch."""
    e, cache, update = node.e, node.tensor(0), node.tensor(1)
    mode, rank = node.text("mode", "linear"), e.rank(cache)
    axis = axis_of(node.whole("axis", -2), rank, node.op)
    if mode not in ("linear", "circular"):
        raise fail(UNSUPPORTED_OP, f"the mode `{mode}` of `{node.op}` is not supported")
    sizes, news = e.shape(cache), e.shape(update)
    most, count = sizes[axis], news[axis] if len(news) == rank else None
    if (
        axis == 0
        or count is None
        or not same_sizes([*sizes[:axis], *sizes[axis + 1 :]], [*news[:axis], *news[axis + 1 :]])
    ):
        raise fail(BAD_INPUT, f"`{node.op}` of an update of {list(news)} into {list(sizes)} along axis {axis}")
    if not isinstance(count, int) or not isinstance(most, int):
        raise fail(UNSUPPORTED_OP, f"`{node.op}` along a symbolic extent is not supported")
    if count > most:
        raise fail(BAD_INPUT, f"the update of `{node.op}` has {count} places, the cache {most}")
    first = node.optional(2)
    steps = e.reshape(constant_of(np.arange(count)), [count if at == axis else 1 for at in range(rank)])
    places: relax.Expr = steps
    if first is not None:
        places = e.call("add", steps, e.reshape(first, [e.shape(first)[0], *(1,) * (rank - 1)]))
    if mode == "circular":
        places = e.call("floor_mod", places, e.scalar(most, "int64"))
    places = e.call("broadcast_to", places, e.sizes(news))
    return e.call("scatter_elements", cache, places, update, axis=axis, reduction="update")


SELECTION: Mapping[str, OnnxRule] = {
    "NonZero": nonzero,
    "Compress": compress,
    "Unique": unique,
    "TensorScatter": tensor_scatter,
}
