"""The programs of the table, with their inputs, what they must give, and how NumPy does them.

| workload      | inputs                                     | TVM's result                      |
|---------------|--------------------------------------------|-----------------------------------|
| `matmul`      | normal numbers; integers of the whole range | the same bits                    |
| `conv2d`, `elementwise`, `mlp` | normal numbers             | the same bits                     |
| `softmax`, `exp` | normal numbers; of variance 100         | within a bound: its exp is the platform's |
| `layernorm`   | normal numbers                             | within a bound: 1 / sqrt, rounded twice   |

bfloat16 is summed by TVM in float32 where the specification rounds each step: within a bound as well.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from refmlc.tools.bench import numpy_peer, witness
from refmlc.tools.bench.texts import program
from refmlc.tools.bench.witness import Array

SUM_BOUND = 1e-5  # of float32 sums in another order, of the greatest element
MATH_BOUND = 1e-6  # of float32 transcendentals, of the greatest element


@dataclass(frozen=True, eq=False, slots=True)
class Workload:
    """A program with its arguments.

    `output` has the shape and dtype of the result; `expected` gives its bits; `numpy` makes NumPy's way of it, given
    memory for the result. `tvm_bound` and `numpy_bound` say how far those may be from it, as a share of the greatest
    element; 0: not at all.
    """

    name: str
    text: str
    func: str
    inputs: tuple[Array, ...]
    output: Array
    expected: Callable[[], Array]
    numpy: Callable[[Array], numpy_peer.Run]
    operations: int
    tvm_bound: float = 0
    numpy_bound: float = SUM_BOUND


def normal(*shapes: Sequence[int], scale: float = 1, dtype: str = "float32") -> tuple[Array, ...]:
    """Normal numbers, the same in every run."""
    generator = np.random.default_rng(0)
    kind = np.dtype(getattr(ml_dtypes, dtype, None) or dtype)
    return tuple((generator.normal(size=tuple(shape)) * scale).astype(kind) for shape in shapes)


def matmul(m: int, n: int, k: int, dtype: str = "float32") -> Workload:
    """A product of matrices of a float dtype."""
    a, b = normal((m, k), (k, n), dtype=dtype)
    return Workload(
        f"matmul {extents(m, n, k)} {dtype}",
        program("matmul", m=m, n=n, k=k, dtype=dtype),
        "main",
        (a, b),
        np.zeros((m, n), a.dtype),
        lambda: witness.matmul(a, b, a.dtype),
        lambda out: numpy_peer.matmul(a, b, out),
        2 * m * n * k,
        tvm_bound=0 if dtype != "bfloat16" else 2.0**-4,
        numpy_bound=SUM_BOUND if dtype == "float32" else 2.0**-5,
    )


def matmul_int8(m: int, n: int, k: int) -> Workload:
    """A product of int8 matrices, summed in int32."""
    generator = np.random.default_rng(0)
    a, b = (generator.integers(-128, 128, shape, np.int8) for shape in ((m, k), (k, n)))
    return Workload(
        f"matmul {extents(m, n, k)} int8→int32",
        program("matmul_int8", m=m, n=n, k=k),
        "main",
        (a, b),
        np.zeros((m, n), np.int32),
        lambda: witness.matmul(a, b, np.dtype(np.int32)),
        lambda out: lambda: np.matmul(a, b, out=out, dtype=np.int32),
        2 * m * n * k,
        numpy_bound=0,
    )


def conv2d(channels: int, filters: int, height: int, width: int) -> Workload:
    """A convolution 3x3 with padding 1."""
    x, w = normal((1, channels, height, width), (filters, channels, 3, 3))
    sizes = {"height": height, "width": width, "height1": height + 1, "width1": width + 1}
    wide = {"height2": height + 2, "width2": width + 2}
    return Workload(
        f"conv2d 3x3 {channels}→{filters} {extents(height, width)}",
        program("conv2d", channels=channels, filters=filters, **sizes, **wide),
        "conv2d",
        (x, w),
        np.zeros((1, filters, height, width), np.float32),
        lambda: witness.conv2d(x, w),
        lambda out: numpy_peer.conv2d(x, w, out),
        18 * channels * filters * height * width,
    )


def softmax(rows: int, cols: int) -> Workload:
    """Softmax of each row."""
    (x,) = normal((rows, cols))
    return Workload(
        f"softmax {extents(rows, cols)}",
        program("softmax", rows=rows, cols=cols),
        "softmax",
        (x,),
        np.zeros_like(x),
        lambda: witness.softmax(x),
        lambda out: numpy_peer.softmax(x, out),
        5 * rows * cols,
        tvm_bound=MATH_BOUND,
    )


def layernorm(rows: int, cols: int) -> Workload:
    """Each row to mean 0 and variance 1, then scaled."""
    x, gamma, beta = normal((rows, cols), (cols,), (cols,))
    return Workload(
        f"layernorm {extents(rows, cols)}",
        program("layernorm", rows=rows, cols=cols),
        "layer_norm",
        (x, gamma, beta),
        np.zeros_like(x),
        lambda: witness.layernorm(x, gamma, beta),
        lambda out: numpy_peer.layernorm(x, gamma, beta, out),
        8 * rows * cols,
        tvm_bound=MATH_BOUND,
    )


def elementwise(count: int) -> Workload:
    """Multiply, add, relu, multiply."""
    (x,) = normal((count,))
    return Workload(
        f"mul-add-relu-mul {count:,}",
        program("elementwise", count=count),
        "main",
        (x,),
        np.zeros_like(x),
        lambda: witness.elementwise(x),
        lambda out: numpy_peer.elementwise(x, out),
        4 * count,
        numpy_bound=0,
    )


def exp(count: int) -> Workload:
    """The exponential of each element."""
    (x,) = normal((count,), scale=10)
    return Workload(
        f"exp {count:,}",
        program("exp", count=count),
        "tir_exp",
        (x,),
        np.zeros_like(x),
        lambda: witness.exp(x),
        lambda out: numpy_peer.exp(x, out),
        count,
        tvm_bound=MATH_BOUND,
        numpy_bound=MATH_BOUND,
    )


def mlp(width: int, hidden: int, classes: int) -> Workload:
    """The course's network on one input, a Relax function with open dimensions."""
    x, w0, b0, w1, b1 = normal((1, width), (hidden, width), (hidden,), (classes, hidden), (classes,), scale=0.1)
    return Workload(
        f"MLP {width}-{hidden}-{classes}",
        program("mlp"),
        "main",
        (x, w0, b0, w1, b1),
        np.zeros((1, classes), np.float32),
        lambda: witness.mlp(x, w0, b0, w1, b1),
        lambda out: numpy_peer.mlp(x, w0, b0, w1, b1, out),
        2 * hidden * (width + classes),
    )


def extents(*sizes: int) -> str:
    """Sizes in short: `512³`, `3x5`."""
    if len(set(sizes)) == 1 and len(sizes) in (2, 3):
        return f"{sizes[0]}{'²³'[len(sizes) - 2]}"
    return "x".join(map(str, sizes))
