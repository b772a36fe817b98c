"""NumPy's best way to do what the programs do: one thread, results into memory that exists, BLAS where it helps.

| program    | in NumPy                                                          |
|------------|-------------------------------------------------------------------|
| matmul     | `np.matmul` into the result                                       |
| conv2d     | the windows copied into a matrix that exists (im2col), one matmul |
| the others | ufuncs in place                                                   |
"""

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from refmlc.tools.bench.witness import Array

Run = Callable[[], object]

EXTRA = "threadpoolctl"


def blas() -> str | None:
    """The BLAS that NumPy loaded and its kernels, held to one thread from here on; None where nobody can tell."""
    if find_spec(EXTRA) is None:
        return None
    from threadpoolctl import threadpool_info, threadpool_limits  # noqa: PLC0415 - of the extra `bench`

    threadpool_limits(1)
    libraries = [entry for entry in threadpool_info() if entry.get("user_api") == "blas"]
    return ", ".join(f"{e.get('internal_api')} {e.get('version')} {e.get('architecture')}" for e in libraries) or None


def matmul(a: Array, b: Array, out: Array) -> Run:
    """The product by BLAS."""
    return lambda: np.matmul(a, b, out=out)


def conv2d(x: Array, w: Array, out: Array) -> Run:
    """The windows of x as a matrix, times the filters as one."""
    _, channels, height, width = x.shape
    padded = np.zeros((channels, height + 2, width + 2), x.dtype)
    windows = sliding_window_view(padded, (3, 3), axis=(1, 2)).transpose(0, 3, 4, 1, 2)
    columns = np.empty((channels, 3, 3, height, width), x.dtype)
    filters, product = w.reshape(w.shape[0], -1), out.reshape(w.shape[0], -1)

    def run() -> None:
        padded[:, 1:-1, 1:-1] = x[0]
        np.copyto(columns, windows)
        np.matmul(filters, columns.reshape(channels * 9, -1), out=product)

    return run


def softmax(x: Array, out: Array) -> Run:
    """Row by row as a whole."""

    def run() -> None:
        np.subtract(x, x.max(axis=1, keepdims=True), out=out)
        np.exp(out, out=out)
        np.divide(out, out.sum(axis=1, keepdims=True), out=out)

    return run


def layernorm(x: Array, gamma: Array, beta: Array, out: Array) -> Run:
    """Row by row as a whole."""

    def run() -> None:
        np.subtract(x, x.mean(axis=1, keepdims=True), out=out)
        variance = np.einsum("ij,ij->i", out, out) / np.float32(x.shape[1])
        np.multiply(out, (1 / np.sqrt(variance + np.float32(1e-5)))[:, None], out=out)
        np.multiply(out, gamma, out=out)
        np.add(out, beta, out=out)

    return run


def elementwise(x: Array, out: Array) -> Run:
    """Four ufuncs."""

    def run() -> None:
        np.multiply(x, np.float32(1.5), out=out)
        np.add(out, np.float32(0.25), out=out)
        np.maximum(out, np.float32(0), out=out)
        np.multiply(out, np.float32(0.75), out=out)

    return run


def exp(x: Array, out: Array) -> Run:
    """One ufunc."""
    return lambda: np.exp(x, out=out)


def mlp(x: Array, w0: Array, b0: Array, w1: Array, b1: Array, out: Array) -> Run:
    """The model as one writes it."""

    def run() -> None:
        out[...] = np.maximum(x @ w0.T + b0, 0) @ w1.T + b1

    return run
