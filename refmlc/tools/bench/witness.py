"""The meaning of the programs in NumPy, in the order of the specification: the witness for every number in the table.

Each operation is one NumPy operation on whole arrays of the dtype, which rounds once per element; sums run over the
reduction in order. So every bit of a result is known without the interpreter and without the generated C. The
exponential is `math.exp` of the platform, rounded to float32 (correctly rounded for all arguments).

A result must have the same bits, NaN as one class; a peer's may differ within its declared bound.
"""

import math
from typing import TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray

CHUNK = 1 << 20
EPSILON = np.float32(1e-5)


def matmul(a: Array, b: Array, dtype: np.dtype) -> Array:
    """The sum over k, ascending, of a[i, k] * b[k, j], both cast to `dtype` first. Shapes: (m, k), (k, n) → (m, n)."""
    left, right = a.astype(dtype), b.astype(dtype)
    total = np.zeros((a.shape[0], b.shape[1]), dtype)
    for k in range(a.shape[1]):
        total = total + left[:, k, None] * right[None, k, :]
    return total


def conv2d(x: Array, w: Array) -> Array:
    """Convolution 3x3 with one row of zeros around. Shapes: (1, c, h, w), (f, c, 3, 3) → (1, f, h, w)."""
    _, channels, height, width = x.shape
    padded = np.zeros((channels, height + 2, width + 2), x.dtype)
    padded[:, 1:-1, 1:-1] = x[0]
    total = np.zeros((w.shape[0], height, width), x.dtype)
    for rc in range(channels):
        for ry in range(3):
            for rx in range(3):
                window = padded[rc, ry : ry + height, rx : rx + width]
                total = total + window[None] * w[:, rc, ry, rx, None, None]
    return total[None]


def exp(x: Array) -> Array:
    """The exponential of each element, correctly rounded to float32."""
    result = np.empty(x.size, np.float32)
    flat = x.reshape(-1)
    for start in range(0, x.size, CHUNK):
        values = [_exp(value) for value in flat[start : start + CHUNK].tolist()]
        with np.errstate(over="ignore"):
            result[start : start + CHUNK] = np.asarray(values, np.float64)  # rounds to float32
    return result.reshape(x.shape)


def _exp(value: float) -> float:
    return math.exp(value) if value < 100 else math.inf


def row_sums(x: Array) -> Array:
    """The sum of each row, from the left. Shapes: (rows, cols) → (rows,)."""
    total = np.zeros(x.shape[0], x.dtype)
    for k in range(x.shape[1]):
        total = total + x[:, k]
    return total


def softmax(x: Array) -> Array:
    """exp(x - max of the row) over its sum. Shapes: (rows, cols) → the same."""
    e = exp(x - x.max(axis=1, keepdims=True))
    result: Array = e / row_sums(e)[:, None]
    return result


def layernorm(x: Array, gamma: Array, beta: Array) -> Array:
    """(x - mean) * rsqrt(variance + 1e-5) * gamma + beta, row by row. Shapes: (rows, cols), (cols,), (cols,)."""
    count = np.float32(x.shape[1])
    mean = row_sums(x) / count
    centred = x - mean[:, None]
    variance = row_sums(centred * centred) / count + EPSILON
    inverse = (1 / np.sqrt(variance.astype(np.float64))).astype(np.float32)
    result: Array = centred * inverse[:, None] * gamma + beta
    return result


def elementwise(x: Array) -> Array:
    """max(x * 1.5 + 0.25, 0) * 0.75."""
    positive: Array = np.maximum(x * np.float32(1.5) + np.float32(0.25), np.float32(0))
    return positive * np.float32(0.75)


def mlp(x: Array, w0: Array, b0: Array, w1: Array, b1: Array) -> Array:
    """Two dense layers with relu between. Shapes: (1, m), (n, m), (n,), (k, n), (k,) → (1, k)."""
    hidden = np.maximum(row_sums(w0 * x) + b0, np.float32(0))
    scores: Array = row_sums(w1 * hidden) + b1
    return scores[None]


def differences(actual: Array, expected: Array) -> int:
    """How many elements differ in their bits; NaN equals NaN. All of them where shapes or dtypes differ."""
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return max(actual.size, expected.size, 1)
    kind = np.dtype(f"u{actual.dtype.itemsize}")
    bits = np.ascontiguousarray(actual).view(kind) == np.ascontiguousarray(expected).view(kind)
    if actual.dtype.kind not in "iub":
        bits |= (actual != actual) & (expected != expected)  # noqa: PLR0124 - of all dtypes that have a NaN
    return int(np.count_nonzero(~bits))


def difference(actual: Array, expected: Array) -> float:
    """The greatest distance of two elements, as a share of the greatest element expected."""
    far = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
    greatest = float(np.abs(expected.astype(np.float64)).max(initial=0))
    return float(far.max(initial=0)) / greatest if greatest else float(far.max(initial=0))


def complaint(who: str, actual: Array, expected: Array, bound: float = 0) -> str:
    """The error in `got`; empty if there is none. `bound`: of `difference`; 0: equal bits."""
    count = differences(actual, expected)
    if not count or (bound and actual.shape == expected.shape and difference(actual, expected) <= bound):
        return ""
    return f"{who}: {count} of {expected.size} elements differ" + (f" by more than {bound:g}" if bound else "")
