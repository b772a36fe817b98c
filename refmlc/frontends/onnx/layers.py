"""Layers of ONNX: linear maps and normalisations."""

from collections.abc import Mapping

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT, UNSUPPORTED_OP
from refmlc.frontends.aten import RULES as ATEN
from refmlc.frontends.emitter import Emitter, Operand
from refmlc.frontends.onnx.elementwise import OnnxRule, is_half
from refmlc.frontends.onnx.node import Node
from refmlc.lang.ir import relax

STASHED = 1
"""ONNX's number of float32, in which `LayerNormalization` computes."""


def product(e: Emitter, left: relax.Expr, right: relax.Expr) -> relax.Expr:
    """The matrix product.

    Decision: sums of float16 and bfloat16 are made in float32 and rounded once, as NumPy and every runtime of ONNX do;
    ONNX does not say.
    """
    dtype = e.dtype(left)
    if is_half(dtype):
        return e.astype(e.call("matmul", left, right, out_dtype="float32"), dtype)
    return e.call("matmul", left, right)


def gemm(node: Node) -> Operand:
    """`alpha * a @ b + beta * c`, a and b transposed where it is said."""
    e = node.e
    left, right = (
        e.call("permute_dims", node.tensor(place), axes=(1, 0)) if node.whole(name, 0) else node.tensor(place)
        for place, name in ((0, "transA"), (1, "transB"))
    )
    alpha, beta, c = node.real("alpha", 1.0), node.real("beta", 1.0), node.optional(2)
    result = product(e, left, right)
    dtype = e.dtype(result)
    result = result if alpha == 1.0 else e.call("multiply", result, e.scalar(alpha, dtype))
    if c is None:
        return result
    return e.call("add", result, c if beta == 1.0 else e.call("multiply", c, e.scalar(beta, dtype)))


def batch_norm(node: Node) -> Operand:
    """Batch normalisation at inference."""
    epsilon, momentum = node.real("epsilon", 1e-5), node.real("momentum", 0.9)
    if node.whole("training_mode", 0):
        return _training(node, epsilon, momentum)
    return ATEN["batch_norm"](node.e, *(node.tensor(place) for place in range(5)), False, 0.1, epsilon)


def _training(node: Node, epsilon: float, momentum: float) -> Operand:
    """Normalised by the mean and the variance of the batch, and the running ones moved toward these."""
    e, x = node.e, node.tensor(0)
    axes = tuple(axis for axis in range(e.rank(x)) if axis != 1)
    if e.rank(x) < 2:
        raise fail(BAD_INPUT, "`BatchNormalization` takes a batch of channels")
    wide = e.astype(x, "float32") if is_half(e.dtype(x)) else x
    saved = [e.call(name, wide, axis=axes, keepdims=False) for name in ("mean", "variance")]
    result = ATEN["batch_norm"](
        e,
        x,
        node.tensor(1),
        node.tensor(2),
        *(e.astype(item, e.dtype(node.tensor(place))) for place, item in enumerate(saved, 3)),
        False,
        0.1,
        epsilon,
    )
    running = []
    for place, now in enumerate(saved, 3):
        before = node.tensor(place)
        remaining = e.call("multiply", e.astype(before, e.dtype(now)), e.scalar(momentum, e.dtype(now)))
        shifted = e.call("add", remaining, e.call("multiply", now, e.scalar(1 - momentum, e.dtype(now))))
        running.append(e.astype(shifted, e.dtype(before)))
    return (result, *running)


def instance_norm(node: Node) -> Operand:
    """Each channel of each sample normalised over the axes behind it."""
    e, x = node.e, node.tensor(0)
    axes = tuple(range(2, e.rank(x)))
    return e.call(
        "nn.instance_norm",
        x,
        node.tensor(1),
        node.tensor(2),
        channel_axis=1,
        axes=axes,
        epsilon=node.real("epsilon", 1e-5),
        center=True,
        scale=True,
    )


def layer_norm(node: Node) -> Operand:
    """Normalised over `axis` and the axes behind it, scaled and shifted; beside it the mean, and 1 / the deviation.

    `Scale` and `B` broadcast to x. ONNX's own function, which flattens them, takes those of the normalised shape alone.
    """
    e, x, scale, bias = node.e, node.tensor(0), node.tensor(1), node.optional(2)
    rank, stash = e.rank(x), node.whole("stash_type", STASHED)
    axis, epsilon = node.whole("axis", -1), node.real("epsilon", 1e-5)
    if stash != STASHED or not -rank <= axis < rank:
        raise fail(UNSUPPORTED_OP, f"`{node.op}` with the axis {axis} and `stash_type` {stash} is not supported")
    axes, dtype = tuple(range(axis % rank, rank)), e.dtype(x)
    wide = x if dtype == "float32" else e.astype(x, "float32")
    mean, variance = (e.call(name, wide, axis=axes, keepdims=True) for name in ("mean", "variance"))
    one, shifted = e.scalar(1.0, "float32"), e.call("add", variance, e.scalar(epsilon, "float32"))
    inverse = e.call("divide", one, e.call("sqrt", shifted))
    normal = e.astype(e.call("multiply", e.call("subtract", wide, mean), inverse), dtype)
    result = e.call("multiply", normal, scale)
    return (result if bias is None else e.call("add", result, bias)), mean, inverse


LAYERS: Mapping[str, OnnxRule] = {
    "Gemm": gemm,
    "MatMul": lambda node: product(node.e, node.tensor(0), node.tensor(1)),
    "BatchNormalization": batch_norm,
    "InstanceNormalization": instance_norm,
    "LayerNormalization": layer_norm,
}
