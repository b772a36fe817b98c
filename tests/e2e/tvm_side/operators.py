"""Relax operators on small inputs: name, function of variables, inputs. Runs inside TVM's environment.

`build(case)` makes a module whose `main` applies the operator; `LegalizeOps` then lowers it to TensorIR.
"""

import numpy as np
from operator_case import Case, build, f32, of, prim
from operators_boxes import BOXES
from operators_further import FURTHER
from operators_sequences import SEQUENCES
from tvm.relax import op as R


def unary_cases():
    """One argument, several dtypes."""
    anywhere = "abs ceil cos erf exp floor negative round sigmoid sign sin sinh cosh square tan tanh trunc"
    anywhere += " isnan isinf isfinite"
    domain = {
        "acos": (-0.9, 0.9), "asin": (-0.9, 0.9), "atanh": (-0.9, 0.9), "acosh": (1.1, 4), "log": (0.1, 5),
        "sqrt": (0, 9), "rsqrt": (0.1, 9), "atan": (-3, 3), "asinh": (-3, 3),
    }  # fmt: skip
    for name in (*anywhere.split(), *domain):
        low, high = domain.get(name, (-2.5, 2.5))
        for dtype in ("float32", "float16", "float64"):
            yield Case(f"{name}/{dtype}", getattr(R, name), (of(dtype, 3, 4, low=low, high=high),))
    for name in ("abs", "negative", "sign", "square"):
        yield Case(f"{name}/int32", getattr(R, name), (of("int32", 3, 4),))
    for name in ("bitwise_not",):
        yield Case(f"{name}/int32", getattr(R, name), (of("int32", 3, 4),))
    yield Case("logical_not", R.logical_not, (of("bool", 3, 4),))
    for name in (
        "relu",
        "gelu",
        "gelu_tanh",
        "silu",
        "relu6",
        "selu",
        "softplus",
        "leakyrelu",
        "softmax",
        "log_softmax",
    ):
        if hasattr(R.nn, name):
            yield Case(f"nn.{name}", getattr(R.nn, name), (f32(3, 5),))
            yield Case(f"nn.{name}/float16", getattr(R.nn, name), (f32(3, 5).astype("float16"),))


def binary_cases():
    """Two arguments, broadcast, several dtypes."""
    comparisons = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
    for name in ("add", "subtract", "multiply", "maximum", "minimum", *comparisons):
        for dtype in ("float32", "float16", "int32", "int8", "uint8", "int64", "float64"):
            yield Case(f"{name}/{dtype}", getattr(R, name), (of(dtype, 2, 3, 4), of(dtype, 3, 1)))
    for name in ("divide", "floor_divide", "mod", "floor_mod", "power", "atan2"):
        if hasattr(R, name):
            yield Case(f"{name}/float32", getattr(R, name), (f32(3, 4, low=0.5), f32(4, low=0.5)))
    for name in ("floor_divide", "floor_mod", "mod"):
        for dtype in ("int32", "int64", "int8"):
            yield Case(f"{name}/{dtype}", getattr(R, name), (of(dtype, 3, 4), of(dtype, 4, low=1, high=5)))
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"):
        yield Case(f"{name}/int32", getattr(R, name), (of("int32", 3, 4, low=0), of("int32", 4, low=0, high=5)))
    for name in ("logical_and", "logical_or", "logical_xor"):
        yield Case(name, getattr(R, name), (of("bool", 3, 4), of("bool", 4)))


def reduction_cases():
    """Reductions over axes."""
    for name in ["sum", "mean", "max", "min", "prod", "variance", "std", "median"]:
        for axis, keep in ((None, False), (1, True), ([0, 2], False)):
            if name == "median" and isinstance(axis, list):
                continue
            yield Case(f"{name}/{axis}", lambda x, n=name, a=axis, k=keep: getattr(R, n)(x, a, k), (f32(2, 3, 4),))
    for name in ("argmax", "argmin"):
        yield Case(name, lambda x, n=name: getattr(R, n)(x, 1), (f32(2, 5, 3),))
    for name in ("sum", "max"):
        for dtype in ("int32", "float16", "int64"):
            yield Case(f"{name}/{dtype}", lambda x, n=name: getattr(R, n)(x, 1), (of(dtype, 3, 5),))
    for name in ("cumsum", "cumprod"):
        yield Case(name, lambda x, n=name: getattr(R, n)(x, 1), (f32(3, 4),))


def movement_cases():
    """Data movement."""
    x, i = f32(2, 3, 4), np.array([[1, 0], [2, 1]], "int64")
    yield Case("permute_dims", lambda a: R.permute_dims(a, [2, 0, 1]), (x,))
    yield Case("reshape", lambda a: R.reshape(a, (4, 6)), (x,))
    yield Case("flatten", R.flatten, (x,))
    yield Case("expand_dims", lambda a: R.expand_dims(a, [0, 2]), (x,))
    yield Case("squeeze", lambda a: R.squeeze(a, 0), (f32(1, 4),))
    yield Case("concat", lambda a, b: R.concat([a, b], 1), (x, f32(2, 2, 4)))
    yield Case("split", lambda a: R.split(a, 3, 1), (x,))
    yield Case("stack", lambda a, b: R.stack([a, b], 1), (f32(3, 4), f32(3, 4)))
    yield Case("broadcast_to", lambda a: R.broadcast_to(a, (2, 3, 4)), (f32(3, 1),))
    yield Case("tile", lambda a: R.tile(a, (2, 1, 3)), (f32(2, 3),))
    yield Case("repeat", lambda a: R.repeat(a, 2, 1), (x,))
    yield Case("flip", lambda a: R.flip(a, 1), (x,))
    yield Case("take", lambda a, b: R.take(a, b, 1), (x, np.array([2, 0], "int64")))
    yield Case("gather_elements", lambda a, b: R.gather_elements(a, b, 1), (f32(2, 3), i))
    yield Case("gather_nd", lambda a, b: R.gather_nd(a, b), (f32(3, 3), i))
    yield Case("strided_slice", lambda a: R.strided_slice(a, [0, 2], [0, 3], [2, 0], [1, -1]), (x,))
    yield Case("where", R.where, (of("bool", 3, 4), f32(3, 4), f32(4)))
    yield Case("tril", lambda a: R.tril(a, 1), (f32(4, 5),))
    yield Case("triu", lambda a: R.triu(a, -1), (f32(4, 5),))
    yield Case("one_hot", lambda a: R.one_hot(a, prim(1.0), prim(0.0), 5), (np.array([1, 4, 0], "int64"),))
    yield Case("scatter_elements", lambda a, b, c: R.scatter_elements(a, b, c, 1), (f32(2, 3), i, f32(2, 2)))
    yield Case(
        "scatter_nd", lambda a, b, c: R.scatter_nd(a, b, c), (f32(4, 3), np.array([[1], [3]], "int64"), f32(2, 3))
    )
    yield Case("layout_transform", lambda a: R.layout_transform(a, lambda p, q: (q, p)), (f32(3, 4),))
    yield Case("collapse_sum_to", lambda a: R.collapse_sum_to(a, (3, 1)), (x[0],))
    yield Case("full", lambda a: R.full((2, 3), a, "float32"), (np.array(2.5, "float32"),))
    yield Case("zeros_like", R.zeros_like, (x,))
    yield Case("ones_like", R.ones_like, (x,))
    yield Case("sort", lambda a: R.sort(a, 1), (f32(3, 5),))
    yield Case("argsort", lambda a: R.argsort(a, 1), (f32(3, 5),))
    yield Case("topk", lambda a: R.topk(a, 2, 1), (f32(3, 5),))
    yield Case("index_tensor", lambda a, b: R.index_tensor(a, [b]), (f32(3, 4), np.array([2, 0], "int64")))
    yield Case("meshgrid", lambda a, b: R.meshgrid([a, b]), (f32(3), f32(4)))
    for source in ("float32", "int32", "float16", "bool", "uint8", "float64", "int64"):
        for target in ("float32", "int32", "float16", "int8", "float64", "bool", "bfloat16", "int64"):
            if source != target:
                yield Case(f"astype/{source}-{target}", lambda a, t=target: R.astype(a, t), (of(source, 3, 4),))
    yield Case("clip", lambda a: R.clip(a, -1, 1), (x,))


def network_cases():
    """Matrix products, convolutions, pooling, normalisation, attention."""
    image, kernel = f32(1, 3, 7, 6), f32(4, 3, 3, 3)
    yield Case("matmul", R.matmul, (f32(4, 6), f32(6, 5)))
    yield Case("matmul/batch", R.matmul, (f32(2, 3, 4), f32(4, 5)))
    yield Case(
        "matmul/float16",
        lambda a, b: R.matmul(a, b, "float32"),
        (f32(4, 6).astype("float16"), f32(6, 5).astype("float16")),
    )
    yield Case("matmul/int8", lambda a, b: R.matmul(a, b, "int32"), (of("int8", 4, 6), of("int8", 6, 5)))
    yield Case("linear", R.linear, (f32(2, 6), f32(5, 6), f32(5)))
    yield Case("einsum", lambda a, b: R.einsum([a, b], "ij,kj->ik"), (f32(3, 4), f32(5, 4)))
    yield Case("outer", R.outer, (f32(3), f32(4)))
    yield Case("nn.conv1d", lambda a, b: R.nn.conv1d(a, b, padding=1), (f32(1, 3, 8), f32(4, 3, 3)))
    yield Case("nn.conv2d", lambda a, b: R.nn.conv2d(a, b, padding=1, strides=2), (image, kernel))
    yield Case("nn.conv2d/dilated", lambda a, b: R.nn.conv2d(a, b, dilation=2), (image, kernel))
    yield Case("nn.conv2d/groups", lambda a, b: R.nn.conv2d(a, b, groups=2), (f32(1, 4, 5, 5), f32(4, 2, 3, 3)))
    yield Case(
        "nn.conv2d/nhwc",
        lambda a, b: R.nn.conv2d(a, b, data_layout="NHWC", kernel_layout="OHWI"),
        (f32(1, 5, 5, 3), f32(2, 3, 3, 3)),
    )
    yield Case("nn.conv3d", lambda a, b: R.nn.conv3d(a, b), (f32(1, 2, 4, 4, 4), f32(2, 2, 3, 3, 3)))
    yield Case("nn.conv1d_transpose", lambda a, b: R.nn.conv1d_transpose(a, b, strides=2), (f32(1, 3, 5), f32(3, 2, 3)))
    yield Case(
        "nn.conv2d_transpose", lambda a, b: R.nn.conv2d_transpose(a, b, strides=2), (f32(1, 3, 4, 4), f32(3, 2, 3, 3))
    )
    for name in ("max_pool1d", "avg_pool1d"):
        yield Case(f"nn.{name}", lambda a, n=name: getattr(R.nn, n)(a, 3, 2, 1), (f32(1, 2, 9),))
    for name in ("max_pool2d", "avg_pool2d"):
        yield Case(f"nn.{name}", lambda a, n=name: getattr(R.nn, n)(a, (3, 3), (2, 2), (1, 1)), (image,))
        yield Case(f"nn.{name}/ceil", lambda a, n=name: getattr(R.nn, n)(a, (2, 2), (2, 2), ceil_mode=True), (image,))
    for name in ("max_pool3d", "avg_pool3d"):
        yield Case(f"nn.{name}", lambda a, n=name: getattr(R.nn, n)(a, (2, 2, 2), (2, 2, 2)), (f32(1, 2, 4, 4, 4),))
    yield Case("nn.adaptive_avg_pool2d", lambda a: R.nn.adaptive_avg_pool2d(a, (3, 2)), (image,))
    yield Case("nn.pad", lambda a: R.nn.pad(a, (1, 1, 0, 2), pad_value=0.5), (f32(3, 4),))
    yield Case("nn.pad/reflect", lambda a: R.nn.pad(a, (1, 1, 1, 2), "reflect"), (f32(3, 4),))
    yield Case("nn.layer_norm", lambda a, b, c: R.nn.layer_norm(a, b, c, [-1]), (f32(3, 6), f32(6), f32(6)))
    yield Case("nn.rms_norm", lambda a, b: R.nn.rms_norm(a, b, [-1]), (f32(3, 6), f32(6)))
    yield Case(
        "nn.group_norm", lambda a, b, c: R.nn.group_norm(a, b, c, 2, 1, [2, 3]), (f32(1, 4, 3, 3), f32(4), f32(4))
    )
    yield Case(
        "nn.instance_norm", lambda a, b, c: R.nn.instance_norm(a, b, c, 1, [2, 3]), (f32(1, 4, 3, 3), f32(4), f32(4))
    )
    yield Case(
        "nn.batch_norm",
        lambda a, b, c, d, e: R.nn.batch_norm(a, b, c, d, e, 1),
        (f32(2, 4, 3), f32(4), f32(4), f32(4), f32(4, low=0.5)),
    )
    yield Case("nn.prelu", lambda a, b: R.nn.prelu(a, b, 1), (f32(2, 3, 4), f32(3)))
    yield Case("nn.dropout", lambda a: R.nn.dropout(a, 0.5), (f32(3, 4),))
    yield Case(
        "nn.attention", lambda q, k, v: R.nn.attention(q, k, v), (f32(1, 3, 2, 4), f32(1, 3, 2, 4), f32(1, 3, 2, 4))
    )
    yield Case(
        "nn.attention/causal", lambda q, k, v: R.nn.attention(q, k, v, causal_mask="TopLeft"), (f32(1, 3, 2, 4),) * 3
    )
    yield Case("nn.cross_entropy_with_logits", R.nn.cross_entropy_with_logits, (f32(3, 4), f32(3, 4)))
    yield Case(
        "nn.nll_loss", lambda a, b: R.nn.nll_loss(a, b, reduction="mean"), (f32(3, 4), np.array([1, 0, 3], "int64"))
    )
    yield Case("nn.batch_flatten", R.nn.batch_flatten, (f32(2, 3, 4),))
    yield Case("nn.pixel_shuffle", lambda a: R.nn.pixel_shuffle(a, 2), (f32(1, 4, 2, 3),))
    for method in ("nearest_neighbor", "linear", "cubic"):
        yield Case(
            f"image.resize2d/{method}", lambda a, m=method: R.image.resize2d(a, (5, 7), method=m), (f32(1, 2, 4, 4),)
        )
    yield Case("image.affine_grid", lambda a: R.image.affine_grid(a, (3, 4)), (f32(1, 2, 3),))
    yield Case(
        "image.grid_sample", lambda a, b: R.image.grid_sample(a, b), (f32(1, 2, 4, 4), f32(1, 2, 3, 3, low=-1, high=1))
    )
    yield Case(
        "vision.roi_align",
        lambda a, b: R.vision.roi_align(a, b, (2, 2), 1.0),
        (f32(1, 2, 6, 6), np.array([[0, 1, 1, 4, 5]], "float32")),
    )
    yield Case(
        "quantize",
        lambda a, s, z: R.quantize(a, s, z, -1, "int8"),
        (f32(3, 4), f32(4, low=0.1, high=0.2), of("int8", 4)),
    )
    yield Case(
        "dequantize",
        lambda a, s, z: R.dequantize(a, s, z, -1, "float32"),
        (of("int8", 3, 4), f32(4, low=0.1, high=0.2), of("int8", 4)),
    )
    yield Case("bucketize", lambda a, b: R.bucketize(a, b), (f32(3, 4), np.array([-1, 0, 1], "float32")))
    yield Case("ewise_fma", R.ewise_fma, (f32(3, 4), f32(3, 4), f32(3, 4)))
    yield Case(
        "reverse_sequence", lambda a, b: R.reverse_sequence(a, b, 1, 0), (f32(3, 4), np.array([1, 3, 4], "int64"))
    )


SAMPLE = (unary_cases, binary_cases, reduction_cases, movement_cases, network_cases)
"""The families of which `make_sample` takes modules: TVM lowers and prints every one of them."""


def sample_cases():
    """Those of the sample."""
    for family in SAMPLE:
        yield from family()


def cases():
    """All of them."""
    for family in (*SAMPLE, *FURTHER, *BOXES, *SEQUENCES):
        yield from family()


__all__ = ["Case", "build", "cases", "sample_cases"]
