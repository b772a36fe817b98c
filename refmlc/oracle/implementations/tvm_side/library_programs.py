"""Runs where TVM is: operators as tensor expressions, with extents drawn from those at which schedules break.

Primes leave a rest behind every split, 1 makes loops that TVM drops, and large extents would only take time.
"""

import tvm
from tvm import te, tirx, topi

EXTENTS = (1, 2, 3, 4, 5, 6, 7, 8, 11, 13)


def tensor(name, *shape, dtype="float32"):
    """An input."""
    return te.placeholder(shape, name=name, dtype=dtype)


def axis(extent, name="k"):
    """A reduced axis."""
    return te.reduce_axis((0, extent), name=name)


def matmul(n, m, r, dtype):
    a, b, k = tensor("A", n, r, dtype=dtype), tensor("B", r, m, dtype=dtype), axis(r)
    return a, b, te.compute((n, m), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")


def dense_relu(n, m, r, dtype):
    a, b, bias, k = (
        tensor("A", n, r, dtype=dtype),
        tensor("B", m, r, dtype=dtype),
        tensor("bias", m, dtype=dtype),
        axis(r),
    )
    product = te.compute((n, m), lambda i, j: te.sum(a[i, k] * b[j, k], axis=k), name="product")
    shifted = te.compute((n, m), lambda i, j: product[i, j] + bias[j], name="shifted")
    return a, b, bias, te.compute((n, m), lambda i, j: te.max(shifted[i, j], tirx.const(0, dtype)), name="relu")


def two_matmuls(n, m, r, dtype):
    a, b, c, k, h = (
        tensor("A", n, r, dtype=dtype),
        tensor("B", r, m, dtype=dtype),
        tensor("D", m, 3, dtype=dtype),
        axis(r),
        axis(m, "h"),
    )
    first = te.compute((n, m), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="first")
    return a, b, c, te.compute((n, 3), lambda i, j: te.sum(first[i, h] * c[h, j], axis=h), name="second")


def conv1d(n, m, r, dtype):
    x, w, c, d = tensor("X", m, n + 2, dtype=dtype), tensor("W", r, m, 3, dtype=dtype), axis(m, "c"), axis(3, "d")
    padded = te.compute(
        (m, n + 4),
        lambda i, j: tirx.if_then_else(tirx.all(j >= 1, j < n + 3), x[i, j - 1], tirx.const(0, dtype)),
        name="padded",
    )
    return x, w, te.compute((r, n + 2), lambda o, i: te.sum(padded[c, i + d] * w[o, c, d], axis=[c, d]), name="Y")


def row_extreme(n, m, _r, dtype):
    x, k = tensor("X", n, m, dtype=dtype), axis(m)
    return x, te.compute((n,), lambda i: te.max(x[i, k], axis=k), name="M")


def softmax_parts(n, m, _r, dtype):
    x, k, h = tensor("X", n, m, dtype=dtype), axis(m), axis(m, "h")
    top = te.compute((n,), lambda i: te.max(x[i, k], axis=k), name="top")
    shifted = te.compute((n, m), lambda i, j: x[i, j] - top[i], name="shifted")
    total = te.compute((n,), lambda i: te.sum(shifted[i, h], axis=h), name="total")
    return x, te.compute((n, m), lambda i, j: shifted[i, j] + total[i], name="result")


def argmax(n, m, _r, dtype):
    x = tensor("X", n, m, dtype=dtype)
    return x, topi.argmax(x, axis=1)


def transpose_sum(n, m, _r, dtype):
    x, y = tensor("X", n, m, dtype=dtype), tensor("Y", m, n, dtype=dtype)
    turned = te.compute((m, n), lambda i, j: x[j, i], name="turned")
    return x, y, te.compute((m, n), lambda i, j: turned[i, j] + y[i, j], name="sum")


def concatenate(n, m, r, dtype):
    x, y = tensor("X", n, m, dtype=dtype), tensor("Y", r, m, dtype=dtype)
    return x, y, topi.concatenate((x, y), axis=0)


def gather(n, m, r, dtype):
    x, rows = tensor("X", n, m, dtype=dtype), tensor("rows", r, dtype="int32")
    return x, rows, topi.take(x, rows, axis=0, mode="clip")


def pad_scale(n, m, _r, dtype):
    x = tensor("X", n, m, dtype=dtype)
    padded = topi.nn.pad(x, (1, 0), (0, 2))
    return x, te.compute((n + 1, m + 2), lambda i, j: padded[i, j] * tirx.const(3, dtype), name="scaled")


def strided_rows(n, m, _r, dtype):
    x = tensor("X", 2 * n, m, dtype=dtype)
    return x, te.compute((n, m), lambda i, j: x[i * 2, j] + x[i * 2 + 1, j], name="pairs")


def window_sum(n, m, _r, dtype):
    x, k = tensor("X", n + 2, m, dtype=dtype), axis(3)
    doubled = te.compute((n + 2, m), lambda i, j: x[i, j] + x[i, j], name="doubled")
    return x, te.compute((n, m), lambda i, j: te.sum(doubled[i + k, j], axis=k), name="window")


def two_uses(n, m, _r, dtype):
    x = tensor("X", n, m, dtype=dtype)
    base = te.compute((n, m), lambda i, j: x[i, j] * tirx.const(2, dtype), name="base")
    left = te.compute((n, m), lambda i, j: base[i, j] + x[i, j], name="left")
    return x, te.compute((n, m), lambda i, j: left[i, j] + base[i, m - 1 - j], name="right")


def upsampled(n, m, _r, dtype):
    x = tensor("X", n, m, dtype=dtype)
    wide = te.compute((2 * n, m), lambda i, j: x[i // 2, j], name="wide")
    return x, te.compute((2 * n, m), lambda i, j: wide[i, j] + tirx.const(1, dtype), name="shifted")


PROGRAMS = (
    *(matmul, dense_relu, two_matmuls, conv1d, row_extreme, softmax_parts, argmax, transpose_sum, concatenate, gather),
    *(pad_scale, strided_rows, window_sum, two_uses, upsampled),
)
DTYPES = ("float32", "int32", "int32", "int64", "int8")


def library_program(rng):
    """An operator with drawn extents, as a module of TVM whose function is `main`."""
    build, extents = rng.choice(PROGRAMS), [rng.choice(EXTENTS) for _ in range(3)]
    func = te.create_prim_func(list(build(*extents, rng.choice(DTYPES)))).with_attr("global_symbol", "main")
    return tvm.IRModule({"main": func})
