"""Reductions of ONNX, and what sorts. Order of accumulation: that of the operators of Relax."""

from collections.abc import Callable, Mapping

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT, UNSUPPORTED_OP
from refmlc.frontends.aten.nans import along, place_of
from refmlc.frontends.emitter import Emitter, Operand
from refmlc.frontends.onnx.elementwise import OnnxRule, is_half, wide
from refmlc.frontends.onnx.node import Node
from refmlc.frontends.onnx.shape_rules import axis_of, constant_of
from refmlc.lang.ir import relax

MOST_CHANNELS = 1 << 10
"""The widest window of `LRN`, each channel of which is a call."""
Map = Callable[[Emitter, relax.Expr], relax.Expr]


def reduce(name: str, before: Map | None = None, after: Map | None = None) -> OnnxRule:
    """A reduction of `before(x)`, then `after`. Without axes: along all, or along none where that is said."""

    def rule(node: Node) -> Operand:
        x = node.tensor(0)
        rank, keep = node.e.rank(x), bool(node.whole("keepdims", 1))
        axes = node.ints("axes") if node.has("axes") else None
        if axes is None and node.input(1) is not None:
            axes = node.integers(1)
        do_nothing = node.whole("noop_with_empty_axes", 0)
        if not axes and do_nothing:
            mapped = x if before is None else before(node.e, x)
            return mapped if after is None else after(node.e, mapped)
        places = tuple(range(rank)) if not axes else tuple(sorted(axis_of(axis, rank, node.op) for axis in axes))
        mapped = x if before is None else before(node.e, x)
        dtype = node.e.dtype(mapped)
        if places and name in ("sum", "mean") and is_half(dtype):
            wide = node.e.call(name, node.e.astype(mapped, "float32"), axis=places, keepdims=keep)
            mapped = node.e.astype(wide, dtype)
        elif places:
            mapped = _reduced(node.e, name, mapped, places, keep=keep)
        return mapped if after is None else after(node.e, mapped)

    return rule


def _reduced(e: Emitter, name: str, x: relax.Expr, axes: tuple[int, ...], *, keep: bool) -> relax.Expr:
    """A reduction; an extreme of elements with a NaN is NaN."""
    if name in ("max", "min"):
        return along(e, name, x, axes, keep=keep)
    plain: relax.Expr = e.call(name, x, axis=axes, keepdims=keep)
    return plain


def _square(e: Emitter, x: relax.Expr) -> relax.Expr:
    return e.call("multiply", x, x)


def _unary(name: str) -> Map:
    return lambda e, x: e.call(name, x)


def extreme(name: str) -> OnnxRule:
    """The greatest or least along axes; booleans are 0 and 1."""
    plain = reduce(name)

    def rule(node: Node) -> Operand:
        if node.e.dtype(node.tensor(0)) == "bool":
            return reduce(name, lambda e, x: e.astype(x, "uint8"), lambda e, x: e.astype(x, "bool"))(node)
        return plain(node)

    return rule


def log_sum_exp(node: Node) -> Operand:
    """The logarithm of the sum of powers of e, shifted by the greatest element so that nothing overflows."""
    e, x = node.e, node.tensor(0)
    rank, keep = e.rank(x), bool(node.whole("keepdims", 1))
    axes = node.ints("axes") if node.has("axes") else None
    if axes is None and node.input(1) is not None:
        axes = node.integers(1)
    if not axes and node.whole("noop_with_empty_axes", 0):
        return x
    node.take("noop_with_empty_axes")
    places = tuple(range(rank)) if not axes else tuple(sorted(axis_of(axis, rank, node.op) for axis in axes))
    if any(extent == 0 for extent in e.shape(x)):
        total = e.call("sum", e.call("exp", x), axis=places, keepdims=keep)
        return e.call("log", total)
    greatest = e.call("max", x, axis=places, keepdims=True)
    shift = e.call("where", e.call("isfinite", greatest), greatest, e.scalar(0, e.dtype(x)))
    total = e.call("sum", e.call("exp", e.call("subtract", x, shift)), axis=places, keepdims=True)
    result = e.call("add", e.call("log", total), shift)
    return result if keep else e.call("squeeze", result, axis=places)


def arg(name: str) -> OnnxRule:
    """The place of the greatest or least; of several equal ones the first, or the last."""

    def rule(node: Node) -> Operand:
        e, x = node.e, node.tensor(0)
        axis = axis_of(node.whole("axis", 0), e.rank(x), node.op)
        keep, last = bool(node.whole("keepdims", 1)), node.whole("select_last_index", 0)
        if last:
            extent = e.shape(x)[axis]
            result = place_of(e, name, e.call("flip", x, axis=axis), axis, keep=keep)
            if not isinstance(extent, int):
                raise fail(UNSUPPORTED_OP, f"the last index of `{node.op}` along a symbolic extent is not supported")
            return e.call("subtract", e.scalar(extent - 1, "int64"), result)
        return place_of(e, name, x, axis, keep=keep)

    return rule


def cumulative(name: str) -> OnnxRule:
    """Running sums or products, from the other end with `reverse`, without the own element with `exclusive`."""

    def rule(node: Node) -> Operand:
        e, x = node.e, node.tensor(0)
        axis = axis_of(node.one(1), e.rank(x), node.op)
        exclusive, reverse = node.whole("exclusive", 0), node.whole("reverse", 0)
        dtype = e.dtype(x)
        if reverse:
            x = e.call("flip", x, axis=axis)
        if exclusive:
            sizes = list(e.shape(x))
            extent = sizes[axis]
            if not isinstance(extent, int) or extent == 0:
                raise fail(
                    UNSUPPORTED_OP, f"an exclusive `{node.op}` along a symbolic or empty extent is not supported"
                )
            sizes[axis] = 1
            neutral = e.call("full", e.sizes(sizes), e.scalar(1 if name == "cumprod" else 0, dtype), dtype=dtype)
            body = e.call("strided_slice", x, [axis], [0], [extent - 1], [1])
            x = e.call("concat", relax.Tuple((neutral, body)), axis=axis)
        result = e.call(name, x, axis=axis, dtype=dtype)
        return e.call("flip", result, axis=axis) if reverse else result

    return rule


def softmax(name: str) -> OnnxRule:
    """`softmax` along an axis; of float16 and bfloat16 by ONNX's definition, which rounds after each of its nodes."""

    def rule(node: Node) -> Operand:
        if is_half(node.e.dtype(node.tensor(0))):
            return None
        return node.e.call(name, node.tensor(0), axis=node.whole("axis", -1))

    return rule


def hardmax(node: Node) -> Operand:
    """1 at the first greatest element along an axis, else 0."""
    e, x = node.e, node.tensor(0)
    axis = axis_of(node.whole("axis", -1), e.rank(x), "Hardmax")
    extent, dtype = e.shape(x)[axis], e.dtype(x)
    if not isinstance(extent, int):
        raise fail(UNSUPPORTED_OP, "`Hardmax` along a symbolic extent is not supported")
    place = place_of(e, "argmax", x, axis, keep=True)
    row = constant_of(np.arange(extent).reshape([extent if at == axis else 1 for at in range(e.rank(x))]))
    return e.astype(e.call("equal", place, row), dtype)


def top_k(node: Node) -> Operand:
    """The k greatest or least along an axis, sorted, and their places."""
    e, x, k = node.e, node.tensor(0), node.one(1)
    if k < 1:
        raise fail(BAD_INPUT, f"k of `TopK` is a positive number; this is {k}")
    axis = axis_of(node.whole("axis", -1), e.rank(x), "TopK")
    largest = bool(node.whole("largest", 1))
    node.whole("sorted", 1)  # a sorted result is one that may be unsorted
    both = e.call("topk", x, k=k, axis=axis, ret_type="both", largest=largest, dtype="int64")
    return e.item(both, 0), e.item(both, 1)


def lp_normalization(node: Node) -> Operand:
    """The elements divided by the norm along an axis; 0 where it is 0."""
    e, x, p = node.e, node.tensor(0), node.whole("p", 2)
    axis = axis_of(node.whole("axis", -1), e.rank(x), node.op)
    if p not in (1, 2):
        raise fail(UNSUPPORTED_OP, f"the {p}-norm of `LpNormalization` is not supported")
    parts = e.call("abs", x) if p == 1 else e.call("multiply", x, x)
    norm = e.call("sum", parts, axis=(axis,), keepdims=True)
    norm = norm if p == 1 else e.call("sqrt", norm)
    zero = e.scalar(0, e.dtype(x))
    return e.call("where", e.call("equal", norm, zero), zero, e.call("divide", x, norm))


def local_response(node: Node) -> Operand:
    """Each element divided by a power of the mean of squares of the channels around it."""
    e, x, width = node.e, node.tensor(0), node.whole("size", 1)
    alpha, beta, bias = node.real("alpha", 1e-4), node.real("beta", 0.75), node.real("bias", 1.0)
    dtype, sizes = e.dtype(x), list(e.shape(x))
    if len(sizes) < 2 or not 1 <= width <= MOST_CHANNELS:
        raise fail(BAD_INPUT, f"`LRN` of {len(sizes)} dimensions over {width} channels")
    before, channels = (width - 1) // 2, sizes[1]
    if not isinstance(channels, int):
        raise fail(UNSUPPORTED_OP, "`LRN` of symbolic channels is not supported")
    squares = e.call("multiply", x, x)
    parts = []
    for count in (before, width - 1 - before):
        part = [*sizes]
        part[1] = count
        parts.append(e.call("full", e.sizes(part), e.scalar(0, dtype), dtype=dtype) if count else None)
    padded = [item for item in (parts[0], squares, parts[1]) if item is not None]
    whole = padded[0] if len(padded) == 1 else e.call("concat", relax.Tuple(tuple(padded)), axis=1)
    total = e.call("strided_slice", whole, [1], [0], [channels], [1])
    for offset in range(1, width):
        total = e.call("add", total, e.call("strided_slice", whole, [1], [offset], [offset + channels], [1]))
    scaled = e.call("add", e.scalar(bias, dtype), e.call("multiply", e.scalar(alpha / width, dtype), total))
    return e.call("divide", x, e.call("power", scaled, e.scalar(beta, dtype)))


def einsum(node: Node) -> Operand:
    """Products summed as the equation says."""
    equation = node.text("equation", "")
    return node.e.call("einsum", relax.Tuple(tuple(node.tensors())), subscripts=equation.replace(" ", ""))


def global_pool(name: str) -> OnnxRule:
    """A reduction of all axes behind the channels, which stay."""

    def rule(node: Node) -> Operand:
        x = node.tensor(0)
        return _reduced(node.e, name, x, tuple(range(2, node.e.rank(x))), keep=True)

    return rule


REDUCTION: Mapping[str, OnnxRule] = {
    "ReduceSum": reduce("sum"),
    "ReduceMean": reduce("mean"),
    "ReduceProd": reduce("prod"),
    "ReduceMax": extreme("max"),
    "ReduceMin": extreme("min"),
    "ReduceL1": reduce("sum", _unary("abs")),
    "ReduceL2": reduce("sum", _square, _unary("sqrt")),
    "ReduceSumSquare": reduce("sum", _square),
    "ReduceLogSum": reduce("sum", None, _unary("log")),
    "ReduceLogSumExp": log_sum_exp,
    "ArgMax": arg("argmax"),
    "ArgMin": arg("argmin"),
    "CumSum": cumulative("cumsum"),
    "CumProd": cumulative("cumprod"),
    "Softmax": softmax("nn.softmax"),
    "LogSoftmax": softmax("nn.log_softmax"),
    "Hardmax": hardmax,
    "TopK": top_k,
    "LpNormalization": wide(lp_normalization),
    "LRN": wide(local_response),
    "Einsum": einsum,
    "GlobalAveragePool": global_pool("mean"),
    "GlobalMaxPool": global_pool("max"),
}
