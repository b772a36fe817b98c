"""A sample of each exact reference, with the same in NumPy or PyTorch, in float64 or exact.

A sample is an operator, arguments, attributes, and a witness, which takes the same arguments. These are arrays of
float64 (or of integers), so that NumPy and PyTorch, whose error is then below 1e-12, say whether a definition is right.
"""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

RNG = np.random.default_rng(20)


def reals(*shape: int, low: float = -2.0, high: float = 2.0) -> np.ndarray:
    """Floats of float64."""
    return RNG.uniform(low, high, shape)


def whole(*shape: int, low: int = -5, high: int = 6) -> np.ndarray:
    """Integers of int64."""
    return RNG.integers(low, high, shape)


def torch_of(function: Callable) -> Callable:
    """A witness in PyTorch: arrays become tensors, tensors become arrays."""

    def witness(*args: object) -> object:
        framework = importlib.import_module("torch")
        result = function(framework, *(framework.from_numpy(a) if isinstance(a, np.ndarray) else a for a in args))
        return tuple(part.numpy() for part in result) if isinstance(result, (tuple, list)) else result.numpy()

    return witness


@dataclass(frozen=True)
class Sample:
    """A call of a reference with its witness, which `needs` a package."""

    name: str
    args: Sequence[object]
    attrs: dict
    witness: Callable
    needs: str = ""


X, Y, V = reals(3, 4), reals(3, 4), reals(4)
P = reals(3, 4, low=0.1, high=3.0)
U = reals(3, 4, low=-0.95, high=0.95)
N, J = whole(3, 4), whole(3, 4, low=1)
B, C = N > 0, J > 2
TIES = np.array([[2.0, 7, 7, -1], [3, 3, -2, 3], [0, -5, 1, 1]])
SPECIAL = np.array([[np.nan, np.inf, -np.inf, 1.5], [0.0, -2.5, 2.5, 0.5]])
IMAGE = reals(2, 4, 5, 6)
LINE, BLOCK = reals(2, 4, 7), reals(2, 4, 3, 4, 5)
GAMMA, BETA = reals(4), reals(4)
PROBABILITIES = np.log(reals(5, 4, low=0.1, high=1.0))
TARGETS = np.array([0, 3, 1, 2, 1])
WEIGHTS = reals(4, low=0.5, high=2.0)


def numpy(name: str, *args: object, witness: Callable | None = None, **attrs: object) -> Sample:
    """A sample whose witness is NumPy."""
    return Sample(name, args, attrs, witness or getattr(np, name))


def torch(name: str, *args: object, witness: Callable, **attrs: object) -> Sample:
    """A sample whose witness is PyTorch."""
    return Sample(name, args, attrs, torch_of(witness), "torch")


def _mean_of_parts(x: np.ndarray, size: int) -> np.ndarray:
    n = x.shape[-1]
    ends = [(i * n // size, -(-(i + 1) * n // size)) for i in range(size)]
    return np.stack([x[..., low:high].mean(-1) for low, high in ends], -1)


SCALARS = [
    *(
        numpy(name, X)
        for name in ("exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sign", "square", "ceil", "floor")
    ),
    *(numpy(name, SPECIAL) for name in ("abs", "isnan", "isinf", "isfinite", "trunc", "sign", "negative")),
    *(numpy(name, P) for name in ("log", "sqrt")),
    *(numpy(name, U, witness=getattr(np, f"arc{name[1:]}")) for name in ("asin", "acos", "atan", "atanh")),
    numpy("asinh", X, witness=np.arcsinh),
    numpy("acosh", P + 1, witness=np.arccosh),
    numpy("rsqrt", P, witness=lambda x: 1 / np.sqrt(x)),
    numpy("round", SPECIAL, witness=np.rint),
    numpy("sigmoid", X, witness=lambda x: 1 / (1 + np.exp(-x))),
    numpy("logical_not", B),
    numpy("bitwise_not", N),
    torch("erf", X, witness=lambda t, x: t.erf(x)),
    torch("nn.relu", SPECIAL, witness=lambda t, x: t.relu(x)),
    torch("nn.leakyrelu", X, alpha=0.125, witness=lambda t, x: t.nn.functional.leaky_relu(x, 0.125)),
    torch("nn.prelu", X, V, axis=1, witness=lambda t, x, a: t.nn.functional.prelu(x, a)),
    torch("nn.gelu", X, witness=lambda t, x: t.nn.functional.gelu(x)),
    torch("nn.gelu", 20 * X, witness=lambda t, x: x / 2 * t.special.erfc(-x / 2**0.5)),
    torch("nn.gelu_tanh", X, witness=lambda t, x: t.nn.functional.gelu(x, approximate="tanh")),
    torch("nn.silu", X, witness=lambda t, x: t.nn.functional.silu(x)),
    torch("nn.selu", X, witness=lambda t, x: t.nn.functional.selu(x)),
    torch("nn.softplus", 4 * X, beta=2.0, threshold=3.0, witness=lambda t, x: t.nn.functional.softplus(x, 2.0, 3.0)),
    torch("nn.dropout", X, witness=lambda t, x: (t.nn.functional.dropout(x, training=False), t.ones_like(x))),
]
PAIRS = [
    *(numpy(name, X, V) for name in ("add", "subtract", "multiply", "divide", "floor_divide", "maximum", "minimum")),
    *(numpy(name, N, J) for name in ("add", "subtract", "multiply", "floor_divide", "bitwise_and", "bitwise_or")),
    *(numpy(name, N, J) for name in ("bitwise_xor", "left_shift", "right_shift", "equal", "not_equal", "less")),
    *(numpy(name, N, J) for name in ("less_equal", "greater", "greater_equal")),
    *(numpy(name, B, C) for name in ("logical_and", "logical_or", "logical_xor")),
    *(numpy(name, SPECIAL, SPECIAL[::-1]) for name in ("maximum", "minimum")),
    numpy("divide", N, J, witness=lambda a, b: np.trunc(a / b).astype(np.int64)),
    numpy("mod", X, V, witness=np.fmod),
    numpy("mod", N, J, witness=np.fmod),
    numpy("floor_mod", X, V, witness=np.mod),
    numpy("floor_mod", SPECIAL, SPECIAL[::-1], witness=np.mod),
    numpy("floor_divide", SPECIAL, SPECIAL[::-1]),
    numpy("power", P, X),
    numpy("atan2", X, Y, witness=np.arctan2),
    numpy("where", B, X, V),
    numpy("clip", SPECIAL, -1.0, 2.0),
    numpy("clip", X, 1.0, -1.0),
    numpy("ewise_fma", X, Y, V, witness=lambda a, b, c: a * b + c),
    numpy("log_add_exp", 900 * X, Y, witness=np.logaddexp),
    numpy("quantize", X, P[0], N[0], witness=lambda x, s, z: np.clip(np.rint(x / s) + z, -128, 127).astype(np.int8)),
    numpy("dequantize", N, P[0], J[0], witness=lambda x, s, z: (x - z) * s),
]
CREATED = [
    numpy("zeros", (2, 3), dtype="int8", witness=lambda s: np.zeros(s, np.int8)),
    numpy("ones", (2, 3), dtype="int8", witness=lambda s: np.ones(s, np.int8)),
    numpy("full", (2, 3), np.asarray(2.5), witness=np.full),
    numpy("zeros_like", X),
    numpy("ones_like", X),
    numpy("full_like", X, np.asarray(2.5)),
    numpy("eye", 3, 4, 1, dtype="float64"),
    numpy("eye_like", X, -1, witness=lambda x, k: np.eye(3, 4, k)),
    numpy("arange", 1, 9, 3, dtype="int64"),
    numpy("tril", X, 1),
    numpy("triu", X, -1),
    torch("hamming_window", 7, 1, 0.54, 0.46, dtype="float64",
          witness=lambda t, n, p, a, b: t.hamming_window(n, bool(p), a, b, dtype=t.float64)),
    numpy("astype", X, dtype="int32", witness=lambda x: x.astype(np.int32)),
    numpy("wrap_param", X, dtype="float64", witness=lambda x: x),
]  # fmt: skip
REDUCED = [
    *(numpy(name, X, axis=[1], witness=lambda x, f=name: getattr(np, f)(x, 1)) for name in ("sum", "prod", "mean")),
    numpy("std", X, axis=[1], witness=lambda x: np.std(x, 1)),
    *(numpy(name, SPECIAL, axis=[1], witness=lambda x, f=name: getattr(np, f)(x, 1)) for name in ("max", "min", "sum")),
    *(numpy(name, SPECIAL, axis=1, witness=lambda x, f=name: getattr(np, f)(x, 1)) for name in ("argmax", "argmin")),
    numpy("argmax", TIES, axis=1, witness=lambda x: np.argmax(x, 1)),
    numpy("argmin", -TIES, witness=np.argmin),
    numpy("variance", X, axis=[1], keepdims=True, witness=lambda x: np.var(x, 1, keepdims=True)),
    numpy("sum", N, axis=[0], witness=lambda x: np.sum(x, 0)),
    numpy("cumsum", X, axis=1, witness=lambda x: np.cumsum(x, 1)),
    numpy("cumsum", N, exclusive=True, witness=lambda x: np.cumsum(x) - x.reshape(-1)),
    numpy("cumprod", X, axis=0, witness=lambda x: np.cumprod(x, 0)),
    numpy("collapse_sum_to", X, (1, 4), witness=lambda x, s: x.sum(0, keepdims=True)),
    numpy("collapse_sum_like", X, V, witness=lambda x, v: x.sum(0)),
    numpy("multinomial_from_uniform", np.array([[0.25, 0.25, 0.5]]), np.array([[0.3], [0.7]]), np.array([[0], [0]]),
          witness=lambda p, u, i: np.array([[1], [2]])),
]  # fmt: skip
NORMS = [
    torch("nn.softmax", X, axis=1, witness=lambda t, x: t.softmax(x, 1)),
    torch("nn.log_softmax", X, axis=0, witness=lambda t, x: t.log_softmax(x, 0)),
    torch("nn.layer_norm", X, GAMMA, BETA, axes=[1], epsilon=1e-3,
          witness=lambda t, x, g, b: t.nn.functional.layer_norm(x, (4,), g, b, 1e-3)),
    torch("nn.group_norm", LINE, GAMMA, BETA, num_groups=2, channel_axis=1, axes=[2], epsilon=1e-3,
          witness=lambda t, x, g, b: t.nn.functional.group_norm(x, 2, g, b, 1e-3)),
    torch("nn.instance_norm", LINE, GAMMA, BETA, channel_axis=1, axes=[2], epsilon=1e-3,
          witness=lambda t, x, g, b: t.nn.functional.instance_norm(x, weight=g, bias=b, eps=1e-3)),
    torch("nn.rms_norm", X, GAMMA, axes=[1], epsilon=1e-3,
          witness=lambda t, x, w: t.nn.functional.rms_norm(x, (4,), w, 1e-3)),
    numpy("nn.batch_norm", LINE, GAMMA, BETA, GAMMA, WEIGHTS, axis=1, epsilon=1e-3, momentum=0.25,
          witness=lambda x, g, b, m, v: (
              (x - x.mean((0, 2))[:, None]) / np.sqrt(x.var((0, 2))[:, None] + 1e-3) * g[:, None] + b[:, None],
              0.75 * m + 0.25 * x.mean((0, 2)),
              0.75 * v + 0.25 * x.var((0, 2)),
          )),
    torch("nn.batch_norm", LINE, GAMMA, BETA, GAMMA, WEIGHTS, axis=1, training=False,
          witness=lambda t, x, g, b, m, v: (t.nn.functional.batch_norm(x, m, v, g, b), m, v)),
]  # fmt: skip
LINEAR = [
    numpy("matmul", reals(2, 3, 4), reals(4, 5)),
    numpy("matmul", N, J.T),
    numpy("matmul", V, reals(4, 2)),
    numpy("outer", V, reals(3)),
    numpy("nn.dense", X, reals(2, 4), witness=lambda x, w: x @ w.T),
    numpy("einsum", [X, reals(4, 2)], subscripts="ij,jk->ki", witness=lambda xs: np.einsum("ij,jk->ki", *xs)),
    torch("nn.conv1d", LINE, reals(6, 2, 3), strides=[2], padding=[1], groups=2,
          witness=lambda t, x, w: t.nn.functional.conv1d(x, w, None, 2, 1, 1, 2)),
    torch("nn.conv2d", IMAGE, reals(3, 4, 2, 3), strides=[2, 1], padding=[1, 2], dilation=[2, 1],
          witness=lambda t, x, w: t.nn.functional.conv2d(x, w, None, (2, 1), (1, 2), (2, 1))),
    torch("nn.conv3d", BLOCK, reals(2, 4, 2, 2, 3), witness=lambda t, x, w: t.nn.functional.conv3d(x, w)),
    torch("nn.conv1d_transpose", LINE, reals(4, 3, 3), strides=[2], output_padding=[1],
          witness=lambda t, x, w: t.nn.functional.conv_transpose1d(x, w, None, 2, 0, 1)),
    torch("nn.conv2d_transpose", IMAGE, reals(4, 2, 2, 3), strides=[2, 1], padding=[1, 0], groups=2,
          witness=lambda t, x, w: t.nn.functional.conv_transpose2d(x, w, None, (2, 1), (1, 0), 0, 2)),
    torch("nn.conv3d_transpose", BLOCK, reals(4, 2, 1, 2, 2), dilation=[1, 2, 1],
          witness=lambda t, x, w: t.nn.functional.conv_transpose3d(x, w, dilation=(1, 2, 1))),
]  # fmt: skip


def _gradient(function: Callable) -> Callable:
    """A witness in PyTorch: the gradient of a function by its first argument."""

    def witness(t: object, slope: object, x: object, *rest: object) -> object:
        x = x.clone().requires_grad_()
        function(t, x, *rest).backward(slope)
        return x.grad

    return witness


POOLS = [
    torch("nn.max_pool1d", LINE, pool_size=[2], strides=[2], padding=[1],
          witness=lambda t, x: t.nn.functional.max_pool1d(x, 2, 2, 1)),
    torch("nn.max_pool2d", IMAGE, pool_size=[2, 3], strides=[2, 2], ceil_mode=True,
          witness=lambda t, x: t.nn.functional.max_pool2d(x, (2, 3), 2, ceil_mode=True)),
    torch("nn.max_pool3d", BLOCK, pool_size=[2, 1, 2], dilation=[1, 1, 2],
          witness=lambda t, x: t.nn.functional.max_pool3d(x, (2, 1, 2), 1, dilation=(1, 1, 2))),
    torch("nn.avg_pool1d", LINE, pool_size=[3], strides=[2], padding=[1], count_include_pad=True,
          witness=lambda t, x: t.nn.functional.avg_pool1d(x, 3, 2, 1)),
    torch("nn.avg_pool2d", IMAGE, pool_size=[2, 3], strides=[2, 2], padding=[1, 1], ceil_mode=True,
          witness=lambda t, x: t.nn.functional.avg_pool2d(x, (2, 3), 2, 1, ceil_mode=True, count_include_pad=False)),
    torch("nn.avg_pool2d", IMAGE, pool_size=[2, 3], strides=[2, 2], padding=[1, 1], ceil_mode=True,
          count_include_pad=True,
          witness=lambda t, x: t.nn.functional.avg_pool2d(x, (2, 3), 2, 1, ceil_mode=True)),
    torch("nn.avg_pool3d", BLOCK, pool_size=[2, 1, 2],
          witness=lambda t, x: t.nn.functional.avg_pool3d(x, (2, 1, 2), 1)),
    numpy("nn.adaptive_avg_pool1d", LINE, output_size=[3], witness=lambda x: _mean_of_parts(x, 3)),
    torch("nn.adaptive_avg_pool2d", IMAGE, output_size=[2, 4],
          witness=lambda t, x: t.nn.functional.adaptive_avg_pool2d(x, (2, 4))),
    torch("nn.adaptive_avg_pool3d", BLOCK, output_size=[2, 3, 1],
          witness=lambda t, x: t.nn.functional.adaptive_avg_pool3d(x, (2, 3, 1))),
    torch("grad.max_pool2d_backward", reals(2, 4, 2, 2), IMAGE, pool_size=[2, 3], strides=[2, 3],
          witness=_gradient(lambda t, x: t.nn.functional.max_pool2d(x, (2, 3), (2, 3)))),
    torch("grad.avg_pool2d_backward", reals(2, 4, 3, 4), IMAGE, pool_size=[2, 2], strides=[2, 2], padding=[1, 1],
          count_include_pad=True,
          witness=_gradient(lambda t, x: t.nn.functional.avg_pool2d(x, 2, 2, 1))),
]  # fmt: skip


class Transposed:
    """A map of indices: (i, j) to (j, i)."""

    extents = (4, 3)

    def __call__(self, i: int, j: int) -> tuple[int, int]:
        return j, i


MOVED = [
    numpy("permute_dims", LINE, axes=[2, 0, 1], witness=lambda x: x.transpose(2, 0, 1)),
    numpy("expand_dims", X, axis=[0, 3], witness=lambda x: x[None, :, :, None]),
    numpy("squeeze", reals(3, 1, 2), axis=[1], witness=lambda x: x[:, 0]),
    numpy("broadcast_to", V, (2, 4), witness=lambda v, s: np.stack([v, v])),
    numpy("concat", [X, Y], axis=1, witness=np.hstack),
    numpy("concat", [X, V], axis=None, witness=lambda xs: np.array([*xs[0].flat, *xs[1].flat])),
    numpy("stack", [X, Y], axis=1, witness=lambda xs: np.array(xs).transpose(1, 0, 2)),
    numpy("split", LINE, indices_or_sections=3, axis=2, witness=lambda x: (x[..., :3], x[..., 3:6], x[..., 6:])),
    numpy("split", X, indices_or_sections=[1, 3], axis=1, witness=lambda x: (x[:, :1], x[:, 1:3], x[:, 3:])),
    numpy("tile", X, repeats=[2, 1], witness=lambda x: np.vstack([x, x])),
    numpy("repeat", X, repeats=2, axis=0, witness=lambda x: x[[0, 0, 1, 1, 2, 2]]),
    numpy("flip", X, axis=1, witness=lambda x: x[:, ::-1]),
    numpy("meshgrid", [V, reals(3)], indexing="xy",
          witness=lambda vs: (np.array([vs[0]] * 3), np.array([vs[1]] * 4).T)),
    numpy("flatten", X, witness=lambda x: np.array(list(x.flat))),
    numpy("nn.batch_flatten", LINE, witness=lambda x: np.array([list(row.flat) for row in x])),
    numpy("layout_transform", X, index_map=Transposed(), witness=lambda x: x.T),
    numpy("nn.pad", X, pad_width=[1, 0, 0, 2], pad_value=5.0,
          witness=lambda x: np.vstack([np.full((1, 6), 5.0), np.hstack([x, np.full((3, 2), 5.0)])])),
    torch("nn.pad", LINE, pad_width=[0, 0, 0, 0, 2, 1], pad_mode="reflect",
          witness=lambda t, x: t.nn.functional.pad(x, (2, 1), mode="reflect")),
    torch("nn.pad", LINE, pad_width=[0, 0, 0, 0, 2, 1], pad_mode="replicate",
          witness=lambda t, x: t.nn.functional.pad(x, (2, 1), mode="replicate")),
    torch("nn.pad", LINE, pad_width=[0, 0, 0, 0, 2, 1], pad_mode="circular",
          witness=lambda t, x: t.nn.functional.pad(x, (2, 1), mode="circular")),
    torch("nn.pixel_shuffle", IMAGE, upscale_factor=2, witness=lambda t, x: t.nn.functional.pixel_shuffle(x, 2)),
    *(numpy(f"grad.{name}", X, witness=lambda x: x) for name in ("no_grad", "start_checkpoint", "end_checkpoint")),
]  # fmt: skip
AT = np.array([2, 0, -1, 2])
INDEXED = [
    numpy("strided_slice", X, [1], [3], [-5], [-2], witness=lambda x, a, b, e, s: x[:, [3, 1]]),
    numpy("dynamic_strided_slice", X, np.array([0, 3]), np.array([9, -9]), np.array([1, -2]),
          witness=lambda x, b, e, s: x[:, [3, 1]]),
    torch("slice_scatter", X, reals(3, 2), 1, 4, 2, axis=1,
          witness=lambda t, x, y, a, b, s: t.slice_scatter(x, y, 1, a, b, s)),
    numpy("reverse_sequence", X, np.array([2, 4, 1]), seq_axis=1, batch_axis=0,
          witness=lambda x, n: np.array([x[0, [1, 0, 2, 3]], x[1, ::-1], x[2]])),
    numpy("take", X, AT, axis=1, witness=lambda x, i: x[:, i]),
    numpy("take", X, np.array([-4, 9]), axis=1, mode="wrap", witness=lambda x, i: x[:, [0, 1]]),
    numpy("take", X, np.array([-4, 9]), axis=1, mode="clip", witness=lambda x, i: x[:, [0, 3]]),
    torch("gather_elements", X, np.abs(N) % 4, axis=1, witness=lambda t, x, i: t.gather(x, 1, i)),
    numpy("gather_nd", X, np.array([[0, 1], [2, 3]]), witness=lambda x, i: x[[0, 2], [1, 3]]),
    numpy("index_tensor", X, [np.array([0, 2]), np.array([[1], [3]])], witness=lambda x, i: x[[0, 2], [[1], [3]]]),
    numpy("one_hot", np.array([1, 0, 7]), np.asarray(5.0), np.asarray(0.0), depth=3,
          witness=lambda i, a, b: np.array([[0, 5.0, 0], [5, 0, 0], [0, 0, 0]])),
    torch("bucketize", TIES, np.array([-1.0, 1.0, 3.0]), right=True,
          witness=lambda t, x, b: t.bucketize(x, b, right=True)),
    torch("bucketize", SPECIAL, np.array([-1.0, 1.5, 3.0]), witness=lambda t, x, b: t.bucketize(x, b)),
    numpy("size", X, witness=lambda x: np.array(12)),
    torch("scatter_elements", X, np.array([[0, 3], [1, 2], [3, 0]]), reals(3, 2), axis=1, reduction="update",
          witness=lambda t, x, i, u: t.scatter(x, 1, i, u)),
    *(torch("scatter_elements", X, np.array([[0, 0, 3], [1, 2, 1], [3, 3, 3]]), reals(3, 3), axis=1, reduction=name,
            witness=lambda t, x, i, u, r=reduce: t.scatter_reduce(x, 1, i, u, reduce=r))
      for name, reduce in (("add", "sum"), ("mul", "prod"), ("max", "amax"), ("min", "amin"))),
    torch("scatter_nd", X, np.array([[1], [0], [1]]), reals(3, 4), reduction="add",
          witness=lambda t, x, i, u: t.index_add(x, 0, i[:, 0], u)),
    torch("index_put", X, [np.array([0, 2, 0]), np.array([1, 3, 1])], reals(3), accumulate=True,
          witness=lambda t, x, i, u: x.index_put([t.from_numpy(one) for one in i], u, accumulate=True)),
    torch("grad.take_backward", reals(3, 4), X, np.array([2, 0, 3, 2]), axis=1,
          witness=lambda t, g, x, i: t.zeros_like(x).index_add(1, i, g)),
]  # fmt: skip
ORDERED = [
    numpy("sort", TIES, axis=1, witness=lambda x: np.sort(x, 1)),
    torch("sort", SPECIAL, axis=1, descending=True, witness=lambda t, x: t.sort(x, 1, descending=True).values),
    numpy("argsort", TIES, axis=1, dtype="int64", witness=lambda x: np.argsort(x, 1, kind="stable")),
    torch("argsort", TIES, axis=1, descending=True, dtype="int64",
          witness=lambda t, x: t.sort(x, dim=1, descending=True, stable=True).indices),
    torch("topk", X, k=2, axis=1, dtype="int64", witness=lambda t, x: tuple(t.topk(x, 2, 1))),
    torch("median", X, axis=1, witness=lambda t, x: tuple(t.median(x, 1))),
    torch("median", SPECIAL, witness=lambda t, x: t.median(x)),
    numpy("nonzero", TIES, witness=lambda x: np.array(np.nonzero(x))),
    numpy("unique", TIES, 1, 1, 1, 1, witness=lambda x, *_flags: tuple(
        part.reshape(-1) for part in np.unique(x, return_index=True, return_inverse=True, return_counts=True))),
    torch("unique", TIES.astype(np.int64)[:, [1, 2, 1]], 1, 0, 0, 0, 1,
          witness=lambda t, x, *_flags: t.unique(x, dim=1)),
]  # fmt: skip
LOSSES = [
    numpy("nn.cross_entropy_with_logits", X, Y, witness=lambda x, y: np.array(-np.sum(x * y) / 3)),
    *(torch("nn.nll_loss", PROBABILITIES, TARGETS, WEIGHTS, reduction=how, ignore_index=3,
            witness=lambda t, x, y, w, h=how: t.nn.functional.nll_loss(x, y, w, ignore_index=3, reduction=h))
      for how in ("mean", "sum", "none")),
    torch("grad.nll_loss_backward", np.asarray(1.5), PROBABILITIES, TARGETS, WEIGHTS, reduction="mean",
          witness=_gradient(lambda t, x, y, w: t.nn.functional.nll_loss(x, y, w))),
]  # fmt: skip
Q, K, VALUES = reals(2, 3, 2, 4), reals(2, 5, 2, 4), reals(2, 5, 2, 3)


def _attention(t: object, q: object, k: object, v: object, bias: object = None, *, lower: bool = False) -> object:
    q, k, v = (part.transpose(1, 2) for part in (q, k, v))
    mask = t.ones(q.shape[2], k.shape[2], dtype=bool).tril(k.shape[2] - q.shape[2]) if lower else bias
    return t.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2)


ATTENTION = [
    torch("nn.attention", Q, K, VALUES, witness=_attention),
    torch("nn.attention", Q, K, VALUES, causal_mask="BottomRight",
          witness=lambda t, q, k, v: _attention(t, q, k, v, lower=True)),
    torch("nn.attention_bias", Q, K, VALUES, reals(1, 1, 3, 5), witness=_attention),
    torch("nn.attention_var_len", Q[:1], K[:1, :3], VALUES[:1, :3], np.array([0, 1, 3]), np.array(2), scale=0.5,
          witness=lambda t, q, k, v, s, n: t.cat(
              [_attention(t, q[:, part], k[:, part], v[:, part]) for part in (slice(0, 1), slice(1, 3))], 1)),
]  # fmt: skip


def _interpolated(**how: object) -> Callable:
    return lambda t, x, size: t.nn.functional.interpolate(x, size, **how)


def _sampled(t: object, x: object, grid: object, **how: object) -> object:
    """The grid has its coordinates first in Relax, last in PyTorch."""
    return t.nn.functional.grid_sample(x, grid.movedim(1, -1), **how)


GRID, DEEP = reals(2, 2, 3, 4, low=-1.3, high=1.3), reals(2, 3, 2, 2, 3, low=-1.2, high=1.2)
IMAGES = [
    torch("image.resize2d", IMAGE, (7, 4), witness=_interpolated(mode="bilinear", align_corners=False)),
    torch("image.resize2d", IMAGE, (7, 4), coordinate_transformation_mode="align_corners",
          witness=_interpolated(mode="bilinear", align_corners=True)),
    torch("image.resize2d", IMAGE, (7, 4), method="cubic", witness=_interpolated(mode="bicubic", align_corners=False)),
    torch("image.resize2d", IMAGE, (7, 4), method="nearest_neighbor", coordinate_transformation_mode="asymmetric",
          rounding_method="floor", witness=_interpolated(mode="nearest")),
    torch("image.resize3d", BLOCK, (2, 5, 7), witness=_interpolated(mode="trilinear", align_corners=False)),
    *(torch("image.grid_sample", IMAGE, GRID, method=method, padding_mode=padding, align_corners=align,
            witness=lambda t, x, g, m=method, p=padding, a=align: _sampled(
                t, x, g, mode=m, padding_mode=p, align_corners=a))
      for method in ("bilinear", "nearest", "bicubic") for padding in ("zeros", "border", "reflection")
      for align in (False, True)),
    torch("image.grid_sample", BLOCK, DEEP, layout="NCDHW",
          witness=lambda t, x, g: _sampled(t, x, g, mode="bilinear", padding_mode="zeros", align_corners=False)),
    *(torch("image.affine_grid", reals(2, 2, 3), (3, 4), align_corners=align,
            witness=lambda t, x, size, a=align: t.nn.functional.affine_grid(x, (2, 1, *size), a).movedim(-1, 1))
      for align in (False, True)),
    torch("image.affine_grid", reals(2, 3, 4), (2, 3, 4), align_corners=False,
          witness=lambda t, x, size: t.nn.functional.affine_grid(x, (2, 1, *size), False).movedim(-1, 1)),
]  # fmt: skip
ROIS = np.array([[0, 1.25, 0.5, 4.0, 3.75], [1, 0.0, 0.75, 5.5, 4.5], [1, -3.0, -2.0, -1.5, 9.0]])


def _in_onnx(kind: str, outputs: int, **attributes: object) -> Callable:
    """A witness in ONNX's reference evaluator, whose inputs are named by letters."""

    def witness(*args: np.ndarray) -> object:
        onnx = importlib.import_module("onnx")
        evaluator = importlib.import_module("onnx.reference").ReferenceEvaluator
        names, results = list("abcdefgh"[: len(args)]), list("xyz"[:outputs])
        node = onnx.helper.make_node(kind, names, results, **attributes)
        inputs = [
            onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(arg.dtype), arg.shape)
            for name, arg in zip(names, args, strict=True)
        ]
        given = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.UNDEFINED, None) for name in results]
        graph = onnx.helper.make_graph([node], "g", inputs, given)
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 16)])
        (result,) = evaluator(model).run(None, dict(zip(names, args, strict=True)))
        return result

    return witness


def _aligned(x: np.ndarray, rois: np.ndarray) -> object:
    how = {"output_height": 2, "output_width": 3, "sampling_ratio": 2, "spatial_scale": 0.5}
    aligned = _in_onnx("RoiAlign", 1, coordinate_transformation_mode="output_half_pixel", **how)
    return aligned(x, rois[:, 1:], rois[:, 0].astype(np.int64))


def _kept(boxes: np.ndarray, scores: np.ndarray, most: np.ndarray, *limits: np.ndarray) -> object:
    """The rows that ONNX gives, then rows that are not defined; how many there are."""
    narrow = [part.astype(np.float32) for part in (boxes, scores)]
    rows = _in_onnx("NonMaxSuppression", 1)(*narrow, most, *(part.astype(np.float32) for part in limits))
    whole = np.full((scores.size, 3), np.nan)
    whole[: len(rows)] = rows
    return whole, np.array([len(rows)])


def _decoded(scores: np.ndarray, moves: np.ndarray, anchors: np.ndarray) -> object:
    left, top, right, bottom = anchors[0].T
    x, y, w, h = moves.reshape(len(moves), -1, 4).transpose(2, 0, 1)
    middle, centre = x * 0.5 * (right - left) + (left + right) / 2, y * (bottom - top) + (top + bottom) / 2
    wide, high = np.exp(w * 0.25) * (right - left) / 2, np.exp(h) * (bottom - top) / 2
    powers = np.exp(scores - scores.max(1, keepdims=True))
    powers /= powers.sum(1, keepdims=True)
    return np.stack([centre - high, middle - wide, centre + high, middle + wide], -1), powers * (powers >= 0.3)


BOXES = np.array([[[0, 0, 2, 2], [0, 0.25, 2, 2], [3, 3, 5, 4], [3, 3, 5, 4.125], [9, 9, 8, 8]]])
VISION = [
    Sample("vision.roi_align", (IMAGE, ROIS), {"pooled_size": [2, 3], "spatial_scale": 0.5, "sample_ratio": 2},
           _aligned, "onnx"),
    # boxes of 0 … 4 by 1 … 3: parts of rows 1 … 2 and 2 … 3, all columns
    numpy("vision.roi_pool", IMAGE, np.array([[1.0, 0, 1, 4, 3]]), pooled_size=[2, 1], spatial_scale=1.0,
          witness=lambda x, _r: np.stack([x[1, :, k : k + 2, :5].max((1, 2)) for k in (1, 2)], -1)[None, ..., None]),
    numpy("vision.multibox_transform_loc", reals(2, 3, 4), reals(2, 16), reals(1, 4, 4), threshold=0.3,
          variances=(0.5, 1.0, 0.25, 1.0), witness=_decoded),
    Sample("vision.all_class_non_max_suppression",
           (BOXES, reals(1, 2, 5, low=0.0, high=1.0), np.array([3]), np.array([0.5]), np.array([0.125])), {},
           _kept, "onnx"),
]  # fmt: skip
SAMPLES = [
    *SCALARS, *PAIRS, *CREATED, *REDUCED, *NORMS, *LINEAR, *POOLS, *MOVED, *INDEXED, *ORDERED, *LOSSES,
    *ATTENTION, *IMAGES, *VISION,
]  # fmt: skip
