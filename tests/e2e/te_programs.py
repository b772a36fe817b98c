"""Tensor expressions, for refmlc's `te` and for TVM's: each function gives the arguments of a prim_func."""


def matmul_relu(te):
    a, b = te.placeholder((128, 64), name="A", dtype="float32"), te.placeholder((64, 32), name="B", dtype="float32")
    k = te.reduce_axis((0, 64), name="k")
    c = te.compute((128, 32), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="matmul")
    d = te.compute(c.shape, lambda *i: te.max(c(*i), te.const(0, "float32")), name="relu")
    return [a, b, d]


def matmul_relu_kept(te):
    a, b, d = matmul_relu(te)
    return [a, b, d.op.input_tensors[0], d]


def symbolic_softmax(te):
    n = te.var("n", "int64")
    x = te.placeholder((n, 4), name="X", dtype="float16")
    k, q = te.reduce_axis((0, 4), name="k"), te.reduce_axis((0, 4), name="q")
    greatest = te.compute((n,), lambda i: te.max(x[i, k], axis=k), name="greatest")
    shifted = te.compute((n, 4), lambda i, j: te.exp(x[i, j] - greatest[i]), name="shifted")
    total = te.compute((n,), lambda i: te.sum(shifted[i, q], axis=q), name="total")
    return [x, te.compute((n, 4), lambda i, j: shifted[i, j] / total[i], name="softmax")]


def two_reductions(te):
    p, q = te.placeholder((3, 5), name="P", dtype="int32"), te.placeholder((3, 5), name="Q", dtype="float32")
    both = te.comm_reducer(
        lambda x, y: (x[0] + y[0], x[1] * y[1]), lambda t0, t1: (te.const(0, t0), te.const(1, t1)), name="both"
    )
    k = te.reduce_axis((0, 5), name="k")
    first, second = te.compute((3,), lambda i: both((p[i, k], q[i, k]), axis=k), name="T")
    return [p, q, first, second]


def two_values(te):
    p, q = te.placeholder((3, 5), name="P", dtype="int32"), te.placeholder((3, 5), name="Q", dtype="float32")
    first, second = te.compute((3, 5), lambda i, j: (p[i, j] + 1, q[i, j] * te.const(2, "float32")), name="two")
    return [p, q, first, second]


def no_axis(te):
    return [te.compute((), lambda: te.const(1, "int32"), name="one")]


def total(te):
    x = te.placeholder((3, 5), name="X", dtype="float64")
    i, j = te.reduce_axis((0, 3), name="i"), te.reduce_axis((0, 5), name="j")
    return [x, te.compute((), lambda: te.sum(x[i, j], axis=[i, j]), name="total")]


def padded(te):
    q = te.placeholder((3, 5), name="Q", dtype="float32")
    zero = te.const(0, "float32")
    return [q, te.compute((3, 5), lambda i, j: te.if_then_else(te.all(i > 0, j < 3), q[i - 1, j], zero), name="pad")]


def reshaped(te):
    q = te.placeholder((3, 5), name="Q", dtype="float32")
    return [q, te.compute((15,), lambda i: q[te.floordiv(i, 5), te.floormod(i, 5)], name="R")]


def neighbours(te):
    x = te.placeholder((9,), name="X", dtype="float32")
    return [x, te.compute((7,), lambda i: x[i] + x[i + 1] + x[i + 2], name="Y")]


def gathered(te):
    x, at = te.placeholder((9, 2), name="X", dtype="float32"), te.placeholder((4,), name="at", dtype="int32")
    return [x, at, te.compute((4, 2), lambda i, j: x[at[i], j], name="Y")]


def scalar_argument(te):
    x, s = te.placeholder((4,), name="X", dtype="float32"), te.var("s", "float32")
    return [x, s, te.compute((4,), lambda i: x[i] * s, name="Y")]


def mixed_dtypes(te):
    p, q = te.placeholder((3,), name="P", dtype="int8"), te.placeholder((3,), name="Q", dtype="float16")
    return [p, q, te.compute((3,), lambda i: p[i].astype("float16") * q[i] + te.const(1, "float16"), name="Y")]


def begins_later(te):
    x = te.placeholder((9,), name="X", dtype="int32")
    k = te.reduce_axis((2, 6), name="k")
    return [x, te.compute((2,), lambda i: te.min(x[k + i], axis=k), name="Y")]


def convolution(te):
    x, w = (
        te.placeholder((1, 3, 8, 8), name="X", dtype="float32"),
        te.placeholder((4, 3, 3, 3), name="W", dtype="float32"),
    )
    c, y, z = te.reduce_axis((0, 3), name="c"), te.reduce_axis((0, 3), name="y"), te.reduce_axis((0, 3), name="z")
    return [
        x,
        w,
        te.compute(
            (1, 4, 6, 6),
            lambda n, o, i, j: te.sum(x[n, c, i + y, j + z] * w[o, c, y, z], axis=[c, y, z]),
            name="conv",
        ),
    ]


PROGRAMS = {name: value for name, value in list(globals().items()) if callable(value)}
