"""Kernels as TVMScript, each with the loop over array elements that one writes by hand: low-level NumPy, unchecked.

| kernel         | innermost statements | what it exercises                                               |
|----------------|----------------------|-----------------------------------------------------------------|
| linear0        | 1·128·784            | the course's own: sums of products, rank 2                      |
| conv2d         | 1·8·10·10·8·3·3      | rank 4, indices that are sums                                   |
| depthwise      | 16·16·16·3·3         | the same, one filter for each channel                           |
| max pooling    | 16·16·16·3·3         | a maximum over windows                                          |
| softmax        | 4·64·64              | four blocks, exp, division                                      |
| layernorm      | 3·64·64              | two sums over rows, a square root, division                     |
| attention      | 2·(2·16·16·16 + 4·16·16) | two products with a softmax between                         |
| transpose      | 8·64·64              | data movement, rank 3                                           |
| gather         | 300·64               | an index that is data                                           |
| scan           | 128·128              | a running sum: each element needs the one before                |
| int8 matmul    | 32·32·64             | casts, int32 arithmetic                                         |

Both give the same bits: float32 is rounded after each operation, `math.exp` is rounded once.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

HEAD = """
@T.prim_func
def kernel({params}):
    T.func_attr({{"global_symbol": "kernel", "tir.noalias": True}})
"""


@dataclass(frozen=True, slots=True)
class LowLevelKernel:
    """A kernel. `by_hand` takes the `inputs` and the output, which has this `shape` and `dtype`."""

    name: str
    params: str
    body: str
    inputs: tuple[np.ndarray, ...]
    shape: tuple[int, ...]
    by_hand: Callable[..., None]
    innermost: int
    dtype: str = "float32"

    @property
    def text(self) -> str:
        """The module."""
        lines = "\n".join(f"    {line}" if line else "" for line in self.body.strip("\n").split("\n"))
        return f"{HEAD.format(params=self.params)}{lines}\n"

    def output(self) -> np.ndarray:
        """A new output."""
        return np.zeros(self.shape, self.dtype)


def normal(*shapes: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    """Arrays of normal float32 numbers, always the same."""
    generator = np.random.default_rng(0)
    return tuple(generator.normal(size=shape).astype("float32") for shape in shapes)


def linear0(x: np.ndarray, w: np.ndarray, b: np.ndarray, z: np.ndarray) -> None:
    y = np.empty((1, 128), dtype="float32")
    for i in range(1):
        for j in range(128):
            for k in range(784):
                if k == 0:
                    y[i, j] = 0
                y[i, j] = y[i, j] + x[i, k] * w[j, k]
    for i in range(1):
        for j in range(128):
            z[i, j] = y[i, j] + b[j]


LINEAR0 = LowLevelKernel(
    "linear0",
    'X: T.Buffer((1, 784), "float32"), W: T.Buffer((128, 784), "float32"), B: T.Buffer((128,), "float32"), '
    'Z: T.Buffer((1, 128), "float32")',
    """
Y = T.alloc_buffer((1, 128), "float32")
for i, j, k in T.grid(1, 128, 784):
    with T.block("Y"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            Y[vi, vj] = T.float32(0)
        Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vj, vk]
for i, j in T.grid(1, 128):
    with T.block("Z"):
        vi, vj = T.axis.remap("SS", [i, j])
        Z[vi, vj] = Y[vi, vj] + B[vj]
""",
    normal((1, 784), (128, 784), (128,)),
    (1, 128),
    linear0,
    128 * 784,
)


def conv2d(x: np.ndarray, w: np.ndarray, y: np.ndarray) -> None:
    for n in range(1):
        for f in range(8):
            for i in range(10):
                for j in range(10):
                    y[n, f, i, j] = 0
                    for c in range(8):
                        for r in range(3):
                            for s in range(3):
                                y[n, f, i, j] = y[n, f, i, j] + x[n, c, i + r, j + s] * w[f, c, r, s]


CONV2D = LowLevelKernel(
    "conv2d",
    'X: T.Buffer((1, 8, 12, 12), "float32"), W: T.Buffer((8, 8, 3, 3), "float32"), '
    'Y: T.Buffer((1, 8, 10, 10), "float32")',
    """
for n, f, i, j, c, r, s in T.grid(1, 8, 10, 10, 8, 3, 3):
    with T.block("Y"):
        vn, vf, vi, vj, vc, vr, vs = T.axis.remap("SSSSRRR", [n, f, i, j, c, r, s])
        with T.init():
            Y[vn, vf, vi, vj] = T.float32(0)
        Y[vn, vf, vi, vj] = Y[vn, vf, vi, vj] + X[vn, vc, vi + vr, vj + vs] * W[vf, vc, vr, vs]
""",
    normal((1, 8, 12, 12), (8, 8, 3, 3)),
    (1, 8, 10, 10),
    conv2d,
    8 * 10 * 10 * 8 * 3 * 3,
)


def depthwise(x: np.ndarray, w: np.ndarray, y: np.ndarray) -> None:
    for c in range(16):
        for i in range(16):
            for j in range(16):
                y[0, c, i, j] = 0
                for r in range(3):
                    for s in range(3):
                        y[0, c, i, j] = y[0, c, i, j] + x[0, c, i + r, j + s] * w[c, 0, r, s]


DEPTHWISE = LowLevelKernel(
    "depthwise",
    'X: T.Buffer((1, 16, 18, 18), "float32"), W: T.Buffer((16, 1, 3, 3), "float32"), '
    'Y: T.Buffer((1, 16, 16, 16), "float32")',
    """
for c, i, j, r, s in T.grid(16, 16, 16, 3, 3):
    with T.block("Y"):
        vc, vi, vj, vr, vs = T.axis.remap("SSSRR", [c, i, j, r, s])
        with T.init():
            Y[0, vc, vi, vj] = T.float32(0)
        Y[0, vc, vi, vj] = Y[0, vc, vi, vj] + X[0, vc, vi + vr, vj + vs] * W[vc, 0, vr, vs]
""",
    normal((1, 16, 18, 18), (16, 1, 3, 3)),
    (1, 16, 16, 16),
    depthwise,
    16 * 16 * 16 * 9,
)


def max_pooling(x: np.ndarray, y: np.ndarray) -> None:
    for c in range(16):
        for i in range(16):
            for j in range(16):
                y[0, c, i, j] = -math.inf
                for r in range(3):
                    for s in range(3):
                        y[0, c, i, j] = max(y[0, c, i, j], x[0, c, i + r, j + s])


MAX_POOLING = LowLevelKernel(
    "max pooling",
    'X: T.Buffer((1, 16, 18, 18), "float32"), Y: T.Buffer((1, 16, 16, 16), "float32")',
    """
for c, i, j, r, s in T.grid(16, 16, 16, 3, 3):
    with T.block("Y"):
        vc, vi, vj, vr, vs = T.axis.remap("SSSRR", [c, i, j, r, s])
        with T.init():
            Y[0, vc, vi, vj] = T.float32("-inf")
        Y[0, vc, vi, vj] = T.max(Y[0, vc, vi, vj], X[0, vc, vi + vr, vj + vs])
""",
    normal((1, 16, 18, 18)),
    (1, 16, 16, 16),
    max_pooling,
    16 * 16 * 16 * 9,
)


def softmax(x: np.ndarray, y: np.ndarray) -> None:
    greatest, total = np.empty(64, "float32"), np.empty(64, "float32")
    powers = np.empty((64, 64), "float32")
    for i in range(64):
        greatest[i] = -math.inf
        for k in range(64):
            greatest[i] = max(greatest[i], x[i, k])
    for i in range(64):
        for j in range(64):
            powers[i, j] = math.exp(x[i, j] - greatest[i])
    for i in range(64):
        total[i] = 0
        for k in range(64):
            total[i] = total[i] + powers[i, k]
    for i in range(64):
        for j in range(64):
            y[i, j] = powers[i, j] / total[i]


SOFTMAX = LowLevelKernel(
    "softmax",
    'X: T.Buffer((64, 64), "float32"), Y: T.Buffer((64, 64), "float32")',
    """
M = T.alloc_buffer((64,), "float32")
P = T.alloc_buffer((64, 64), "float32")
S = T.alloc_buffer((64,), "float32")
for i, k in T.grid(64, 64):
    with T.block("M"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            M[vi] = T.float32("-inf")
        M[vi] = T.max(M[vi], X[vi, vk])
for i, j in T.grid(64, 64):
    with T.block("P"):
        vi, vj = T.axis.remap("SS", [i, j])
        P[vi, vj] = T.exp(X[vi, vj] - M[vi])
for i, k in T.grid(64, 64):
    with T.block("S"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            S[vi] = T.float32(0)
        S[vi] = S[vi] + P[vi, vk]
for i, j in T.grid(64, 64):
    with T.block("Y"):
        vi, vj = T.axis.remap("SS", [i, j])
        Y[vi, vj] = P[vi, vj] / S[vi]
""",
    normal((64, 64)),
    (64, 64),
    softmax,
    4 * 64 * 64,
)


def layernorm(x: np.ndarray, g: np.ndarray, b: np.ndarray, y: np.ndarray) -> None:
    mean, variance = np.empty(64, "float32"), np.empty(64, "float32")
    for i in range(64):
        mean[i] = 0
        for k in range(64):
            mean[i] = mean[i] + x[i, k] * np.float32(1 / 64)
    for i in range(64):
        variance[i] = 0
        for k in range(64):
            variance[i] = variance[i] + (x[i, k] - mean[i]) * (x[i, k] - mean[i])
    for i in range(64):
        for j in range(64):
            root = np.sqrt(variance[i] * np.float32(1 / 64) + np.float32(1e-5))
            y[i, j] = (x[i, j] - mean[i]) / root * g[j] + b[j]


LAYERNORM = LowLevelKernel(
    "layernorm",
    'X: T.Buffer((64, 64), "float32"), G: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), '
    'Y: T.Buffer((64, 64), "float32")',
    """
M = T.alloc_buffer((64,), "float32")
V = T.alloc_buffer((64,), "float32")
for i, k in T.grid(64, 64):
    with T.block("M"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            M[vi] = T.float32(0)
        M[vi] = M[vi] + X[vi, vk] * T.float32(0.015625)
for i, k in T.grid(64, 64):
    with T.block("V"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            V[vi] = T.float32(0)
        V[vi] = V[vi] + (X[vi, vk] - M[vi]) * (X[vi, vk] - M[vi])
for i, j in T.grid(64, 64):
    with T.block("Y"):
        vi, vj = T.axis.remap("SS", [i, j])
        Y[vi, vj] = (X[vi, vj] - M[vi]) / T.sqrt(V[vi] * T.float32(0.015625) + T.float32(1e-5)) * G[vj] + B[vj]
""",
    normal((64, 64), (64,), (64,)),
    (64, 64),
    layernorm,
    3 * 64 * 64,
)


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, y: np.ndarray) -> None:
    score, greatest = np.empty((2, 16, 16), "float32"), np.empty((2, 16), "float32")
    power, total = np.empty((2, 16, 16), "float32"), np.empty((2, 16), "float32")
    for h in range(2):
        for i in range(16):
            for j in range(16):
                score[h, i, j] = 0
                for d in range(16):
                    score[h, i, j] = score[h, i, j] + q[h, i, d] * k[h, j, d]
    for h in range(2):
        for i in range(16):
            greatest[h, i] = -math.inf
            for j in range(16):
                greatest[h, i] = max(greatest[h, i], score[h, i, j] * np.float32(0.25))
    for h in range(2):
        for i in range(16):
            for j in range(16):
                power[h, i, j] = math.exp(score[h, i, j] * np.float32(0.25) - greatest[h, i])
    for h in range(2):
        for i in range(16):
            total[h, i] = 0
            for j in range(16):
                total[h, i] = total[h, i] + power[h, i, j]
    for h in range(2):
        for i in range(16):
            for j in range(16):
                power[h, i, j] = power[h, i, j] / total[h, i]
    for h in range(2):
        for i in range(16):
            for d in range(16):
                y[h, i, d] = 0
                for j in range(16):
                    y[h, i, d] = y[h, i, d] + power[h, i, j] * v[h, j, d]


ATTENTION = LowLevelKernel(
    "attention",
    'Q: T.Buffer((2, 16, 16), "float32"), K: T.Buffer((2, 16, 16), "float32"), V: T.Buffer((2, 16, 16), "float32"), '
    'Y: T.Buffer((2, 16, 16), "float32")',
    """
S = T.alloc_buffer((2, 16, 16), "float32")
M = T.alloc_buffer((2, 16), "float32")
P = T.alloc_buffer((2, 16, 16), "float32")
Z = T.alloc_buffer((2, 16), "float32")
N = T.alloc_buffer((2, 16, 16), "float32")
for h, i, j, d in T.grid(2, 16, 16, 16):
    with T.block("S"):
        vh, vi, vj, vd = T.axis.remap("SSSR", [h, i, j, d])
        with T.init():
            S[vh, vi, vj] = T.float32(0)
        S[vh, vi, vj] = S[vh, vi, vj] + Q[vh, vi, vd] * K[vh, vj, vd]
for h, i, j in T.grid(2, 16, 16):
    with T.block("M"):
        vh, vi, vj = T.axis.remap("SSR", [h, i, j])
        with T.init():
            M[vh, vi] = T.float32("-inf")
        M[vh, vi] = T.max(M[vh, vi], S[vh, vi, vj] * T.float32(0.25))
for h, i, j in T.grid(2, 16, 16):
    with T.block("P"):
        vh, vi, vj = T.axis.remap("SSS", [h, i, j])
        P[vh, vi, vj] = T.exp(S[vh, vi, vj] * T.float32(0.25) - M[vh, vi])
for h, i, j in T.grid(2, 16, 16):
    with T.block("Z"):
        vh, vi, vj = T.axis.remap("SSR", [h, i, j])
        with T.init():
            Z[vh, vi] = T.float32(0)
        Z[vh, vi] = Z[vh, vi] + P[vh, vi, vj]
for h, i, j in T.grid(2, 16, 16):
    with T.block("N"):
        vh, vi, vj = T.axis.remap("SSS", [h, i, j])
        N[vh, vi, vj] = P[vh, vi, vj] / Z[vh, vi]
for h, i, d, j in T.grid(2, 16, 16, 16):
    with T.block("Y"):
        vh, vi, vd, vj = T.axis.remap("SSSR", [h, i, d, j])
        with T.init():
            Y[vh, vi, vd] = T.float32(0)
        Y[vh, vi, vd] = Y[vh, vi, vd] + N[vh, vi, vj] * V[vh, vj, vd]
""",
    normal((2, 16, 16), (2, 16, 16), (2, 16, 16)),
    (2, 16, 16),
    attention,
    2 * (2 * 16 * 16 * 16 + 4 * 16 * 16),
)


def transpose(x: np.ndarray, y: np.ndarray) -> None:
    for i in range(64):
        for j in range(8):
            for k in range(64):
                y[i, j, k] = x[j, i, k]


TRANSPOSE = LowLevelKernel(
    "transpose",
    'X: T.Buffer((8, 64, 64), "float32"), Y: T.Buffer((64, 8, 64), "float32")',
    """
for i, j, k in T.grid(64, 8, 64):
    with T.block("Y"):
        vi, vj, vk = T.axis.remap("SSS", [i, j, k])
        Y[vi, vj, vk] = X[vj, vi, vk]
""",
    normal((8, 64, 64)),
    (64, 8, 64),
    transpose,
    8 * 64 * 64,
)


def gather(x: np.ndarray, rows: np.ndarray, y: np.ndarray) -> None:
    for i in range(300):
        for j in range(64):
            y[i, j] = x[rows[i], j]


GATHER = LowLevelKernel(
    "gather",
    'X: T.Buffer((200, 64), "float32"), I: T.Buffer((300,), "int64"), Y: T.Buffer((300, 64), "float32")',
    """
for i, j in T.grid(300, 64):
    with T.block("Y"):
        vi, vj = T.axis.remap("SS", [i, j])
        Y[vi, vj] = X[I[vi], vj]
""",
    (*normal((200, 64)), np.random.default_rng(1).integers(0, 200, 300)),
    (300, 64),
    gather,
    300 * 64,
)


def scan(x: np.ndarray, y: np.ndarray) -> None:
    for i in range(128):
        for j in range(128):
            if j == 0:
                y[i, j] = x[i, j]
            else:
                y[i, j] = y[i, j - 1] + x[i, j]


SCAN = LowLevelKernel(
    "scan",
    'X: T.Buffer((128, 128), "float32"), Y: T.Buffer((128, 128), "float32")',
    """
for i, j in T.grid(128, 128):
    if j == 0:
        Y[i, j] = X[i, j]
    else:
        Y[i, j] = Y[i, j - 1] + X[i, j]
""",
    normal((128, 128)),
    (128, 128),
    scan,
    128 * 128,
)


def int8_matmul(a: np.ndarray, b: np.ndarray, y: np.ndarray) -> None:
    for i in range(32):
        for j in range(32):
            y[i, j] = 0
            for k in range(64):
                y[i, j] = y[i, j] + np.int32(a[i, k]) * np.int32(b[k, j])


INT8_MATMUL = LowLevelKernel(
    "int8 matmul",
    'A: T.Buffer((32, 64), "int8"), B: T.Buffer((64, 32), "int8"), Y: T.Buffer((32, 32), "int32")',
    """
for i, j, k in T.grid(32, 32, 64):
    with T.block("Y"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            Y[vi, vj] = 0
        Y[vi, vj] = Y[vi, vj] + T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vk, vj])
""",
    tuple(np.random.default_rng(2).integers(-128, 128, shape).astype("int8") for shape in ((32, 64), (64, 32))),
    (32, 32),
    int8_matmul,
    32 * 32 * 64,
    "int32",
)

KERNELS = (
    *(LINEAR0, CONV2D, DEPTHWISE, MAX_POOLING, SOFTMAX, LAYERNORM, ATTENTION, TRANSPOSE, GATHER, SCAN),
    INT8_MATMUL,
)
