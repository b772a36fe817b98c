"""The kinds of nests that the tile generator is tested on: each gives a nest and the sizes of its buffers."""

import math

from nest_kit import Making, buffer, cast, const, op, var

from refmlc.lang.ir import tir


def _wide(kind):
    return {"int8": "int32", "uint8": "int32"}.get(kind, kind)


def matmul(m, n, k, kind="float32", *, transposed=False, init=0.0, started=True):
    """C[i, j] += A[i, k] * B[k, j], or B[j, k]; of int8 into int32."""
    made, (i, j, r), out = Making(), (var("i"), var("j"), var("k")), _wide(kind)
    a, b, c = buffer("A", kind), buffer("B", kind), buffer("C", out)
    x, y = made.load(a, {i: k, r: 1}), made.load(b, {j: k, r: 1} if transposed else {r: n, j: 1})
    if out != kind:
        x, y = cast(out, x), cast(out, y)
    if started:
        made.start(c, {i: n, j: 1}, const(out, init))
    made.store(c, {i: n, j: 1}, op("add", made.load(c, {i: n, j: 1}), op("mul", x, y)))
    return made.nest([(i, m), (j, n)], [(r, k)]), {"A": (kind, m * k), "B": (kind, n * k), "C": (out, m * n)}


def left_transposed(m, n, k, kind="float32"):
    """C[i, j] += A[k, i] * B[k, j]."""
    made, (i, j, r) = Making(), (var("i"), var("j"), var("k"))
    a, b, c = buffer("A", kind), buffer("B", kind), buffer("C", kind)
    made.start(c, {i: n, j: 1}, const(kind, 0))
    product = op("mul", made.load(a, {r: m, i: 1}), made.load(b, {r: n, j: 1}))
    made.store(c, {i: n, j: 1}, op("add", made.load(c, {i: n, j: 1}), product))
    return made.nest([(i, m), (j, n)], [(r, k)]), {"A": (kind, m * k), "B": (kind, n * k), "C": (kind, m * n)}


def batched(b, m, n, k, kind="float32", *, shared=False):
    """C[b, i, j] += A[b, i, k] * B[b, k, j]; or one B for all b."""
    made, (s, i, j, r) = Making(), (var("b"), var("i"), var("j"), var("k"))
    one, two, c = buffer("A", kind), buffer("B", kind), buffer("C", kind)
    at = {s: m * n, i: n, j: 1}
    made.start(c, at, const(kind, 0))
    right = {r: n, j: 1} if shared else {s: k * n, r: n, j: 1}
    product = op("mul", made.load(one, {s: m * k, i: k, r: 1}), made.load(two, right))
    made.store(c, at, op("add", made.load(c, at), product))
    sizes = {"A": (kind, b * m * k), "B": (kind, k * n * (1 if shared else b)), "C": (kind, b * m * n)}
    return made.nest([(s, b), (i, m), (j, n)], [(r, k)]), sizes


def conv2d(f, c, y, x, k, kind="float32", stride=1):
    """Y[f, y, x] += P[c, s y + ry, s x + rx] * W[f, c, ry, rx]."""
    made = Making()
    vf, vy, vx, vc, ry, rx = (var(name) for name in ("f", "y", "x", "c", "ry", "rx"))
    p, w, out = buffer("P", kind), buffer("W", kind), buffer("Y", kind)
    h, v = stride * (y - 1) + k, stride * (x - 1) + k
    at = {vf: y * x, vy: x, vx: 1}
    made.start(out, at, const(kind, 0))
    product = op(
        "mul",
        made.load(p, {vc: h * v, vy: stride * v, ry: v, vx: stride, rx: 1}),
        made.load(w, {vf: c * k * k, vc: k * k, ry: k, rx: 1}),
    )
    made.store(out, at, op("add", made.load(out, at), product))
    nest = made.nest([(vf, f), (vy, y), (vx, x)], [(vc, c), (ry, k), (rx, k)])
    return nest, {"P": (kind, c * h * v), "W": (kind, f * c * k * k), "Y": (kind, f * y * x)}


def depthwise(c, y, x, k, kind="float32"):
    """Y[c, y, x] += P[c, y + ry, x + rx] * W[c, ry, rx]."""
    made = Making()
    vc, vy, vx, ry, rx = (var(name) for name in ("c", "y", "x", "ry", "rx"))
    p, w, out = buffer("P", kind), buffer("W", kind), buffer("Y", kind)
    h, v = y + k - 1, x + k - 1
    at = {vc: y * x, vy: x, vx: 1}
    made.start(out, at, const(kind, 0))
    where = {vc: h * v, vy: v, ry: v, vx: 1, rx: 1}
    product = op("mul", made.load(p, where), made.load(w, {vc: k * k, ry: k, rx: 1}))
    made.store(out, at, op("add", made.load(out, at), product))
    nest = made.nest([(vc, c), (vy, y), (vx, x)], [(ry, k), (rx, k)])
    return nest, {"P": (kind, c * h * v), "W": (kind, c * k * k), "Y": (kind, c * y * x)}


def pool(c, y, x, k, stride, kind="float32"):
    """Y[c, y, x] = max(Y, P[c, s y + ry, s x + rx])."""
    made = Making()
    vc, vy, vx, ry, rx = (var(name) for name in ("c", "y", "x", "ry", "rx"))
    p, out = buffer("P", kind), buffer("Y", kind)
    h, v = stride * (y - 1) + k, stride * (x - 1) + k
    at = {vc: y * x, vy: x, vx: 1}
    made.start(out, at, const(kind, -math.inf if kind.startswith(("float", "bfloat")) else -100))
    where = {vc: h * v, vy: stride * v, ry: v, vx: stride, rx: 1}
    made.store(out, at, op("max", made.load(out, at), made.load(p, where)))
    return made.nest([(vc, c), (vy, y), (vx, x)], [(ry, k), (rx, k)]), {"P": (kind, c * h * v), "Y": (kind, c * y * x)}


def row_reduction(m, n, kind="float32", name="add", init=0.0):
    """Y[i] = name(Y[i], A[i, k])."""
    made, (i, r) = Making(), (var("i"), var("k"))
    a, y = buffer("A", kind), buffer("Y", kind)
    made.start(y, {i: 1}, const(kind, init))
    made.store(y, {i: 1}, op(name, made.load(y, {i: 1}), made.load(a, {i: n, r: 1})))
    return made.nest([(i, m)], [(r, n)]), {"A": (kind, m * n), "Y": (kind, m)}


def column_reduction(m, n, kind="float32"):
    """Y[j] += A[k, j]."""
    made, (j, r) = Making(), (var("j"), var("k"))
    a, y = buffer("A", kind), buffer("Y", kind)
    made.start(y, {j: 1}, const(kind, 0))
    made.store(y, {j: 1}, op("add", made.load(y, {j: 1}), made.load(a, {r: n, j: 1})))
    return made.nest([(j, n)], [(r, m)]), {"A": (kind, m * n), "Y": (kind, n)}


def moments(m, n, kind="float32"):
    """The two sums of a layer norm, by bindings: S[i] += A[i, k], Q[i] += A[i, k] * A[i, k]."""
    made, (i, r) = Making(), (var("i"), var("k"))
    a, s, q = buffer("A", kind), buffer("S", kind), buffer("Q", kind)
    for each in (s, q):
        made.start(each, {i: 1}, const(kind, 0))
    x = made.load(a, {i: n, r: 1})
    first = made.let("v_s", op("add", made.load(s, {i: 1}), x))
    other = made.load(a, {i: n, r: 1})
    second = made.let("v_q", op("add", made.load(q, {i: 1}), op("mul", x, other)))
    made.store(s, {i: 1}, first)
    made.store(q, {i: 1}, second)
    return made.nest([(i, m)], [(r, n)]), {"A": (kind, m * n), "S": (kind, m), "Q": (kind, m)}


def normalised(m, n, kind="float32"):
    """(A[i, j] - S[i] * c) * rsqrt(Q[i] * c - (S[i] * c) ** 2 + e) * G[j] + B[j]."""
    made, (i, j) = Making(), (var("i"), var("j"))
    a, s, q, g, b, y = (buffer(name, kind) for name in ("A", "S", "Q", "G", "B", "Y"))
    c, e = const(kind, 1 / 1024), const(kind, 1 / 65536)
    mean = op("mul", made.load(s, {i: 1}), c)
    spread = op("add", op("sub", op("mul", made.load(q, {i: 1}), c), op("mul", mean, mean)), e)
    centred = op("mul", op("sub", made.load(a, {i: n, j: 1}), mean), op("rsqrt", spread))
    value = op("add", op("mul", centred, made.load(g, {j: 1})), made.load(b, {j: 1}))
    made.store(y, {i: n, j: 1}, value)
    sizes = {"A": (kind, m * n), "S": (kind, m), "Q": (kind, m), "G": (kind, n), "B": (kind, n), "Y": (kind, m * n)}
    return made.nest([(i, m), (j, n)]), sizes


def softmax_exp(m, n, kind="float32"):
    """Y[i, j] = exp(A[i, j] - M[i])."""
    made, (i, j) = Making(), (var("i"), var("j"))
    a, s, y = (buffer(name, kind) for name in ("A", "M", "Y"))
    made.store(y, {i: n, j: 1}, op("exp", op("sub", made.load(a, {i: n, j: 1}), made.load(s, {i: 1}))))
    return made.nest([(i, m), (j, n)]), {"A": (kind, m * n), "M": (kind, m), "Y": (kind, m * n)}


def softmax_divided(m, n, kind="float32"):
    """Y[i, j] = A[i, j] / S[i]."""
    made, (i, j) = Making(), (var("i"), var("j"))
    a, s, y = (buffer(name, kind) for name in ("A", "S", "Y"))
    made.store(y, {i: n, j: 1}, op("div", made.load(a, {i: n, j: 1}), made.load(s, {i: 1})))
    return made.nest([(i, m), (j, n)]), {"A": (kind, m * n), "S": (kind, m), "Y": (kind, m * n)}


def chain(n, kind="float32"):
    """Y[i] = max(A[i] * 2 + 1, 0) * 3."""
    made, i = Making(), var("i")
    a, y = buffer("A", kind), buffer("Y", kind)
    scaled = op("add", op("mul", made.load(a, {i: 1}), const(kind, 2)), const(kind, 1))
    made.store(y, {i: 1}, op("mul", op("max", scaled, const(kind, 0)), const(kind, 3)))
    return made.nest([(i, n)]), {"A": (kind, n), "Y": (kind, n)}


def in_place(m, n, kind="float32"):
    """Y[i, j] = Y[i, j] - B[j]."""
    made, (i, j) = Making(), (var("i"), var("j"))
    y, b = buffer("Y", kind), buffer("B", kind)
    made.store(y, {i: n, j: 1}, op("sub", made.load(y, {i: n, j: 1}), made.load(b, {j: 1})))
    return made.nest([(i, m), (j, n)]), {"Y": (kind, m * n), "B": (kind, n)}


def transpose(m, n, kind="float32"):
    """Y[i, j] = A[j, i]."""
    made, (i, j) = Making(), (var("i"), var("j"))
    a, y = buffer("A", kind), buffer("Y", kind)
    made.store(y, {i: n, j: 1}, made.load(a, {j: m, i: 1}))
    return made.nest([(i, m), (j, n)]), {"A": (kind, m * n), "Y": (kind, m * n)}


def padded(c, y, x, p, kind="float32"):
    """P[c, y, x] = A[c, y - p, x - p] inside, else 0."""
    made = Making()
    vc, vy, vx = (var(name) for name in ("c", "y", "x"))
    a, out = buffer("A", kind), buffer("P", kind)
    h, v = y + 2 * p, x + 2 * p

    def number(value):
        return const("int32", value)

    inside = tir.And(
        tir.And(op("le", number(p), vy), op("lt", vy, number(y + p))),
        tir.And(op("le", number(p), vx), op("lt", vx, number(x + p))),
    )
    load = made.load(a, {vc: y * x, vy: x, vx: 1}, -p * x - p, guarded=True)
    made.store(out, {vc: h * v, vy: v, vx: 1}, tir.IfThenElseExpr(inside, load, const(kind, 0)))
    return made.nest([(vc, c), (vy, h), (vx, v)]), {"A": (kind, c * y * x), "P": (kind, c * h * v)}


def mask_of(m, n, kind="float32"):
    """Y[i, j] = A[i, j] where j <= i, else -1; the axes are values too."""
    made, (i, j) = Making(), (var("i"), var("j"))
    a, y = buffer("A", kind), buffer("Y", kind)
    value = tir.Select(op("le", j, i), made.load(a, {i: n, j: 1}), const(kind, -1))
    made.store(y, {i: n, j: 1}, op("add", value, cast(kind, j)))
    return made.nest([(i, m), (j, n)]), {"A": (kind, m * n), "Y": (kind, m * n)}


def converted(n, source, target):
    """Y[i] = cast(A[i])."""
    made, i = Making(), var("i")
    a, y = buffer("A", source), buffer("Y", target)
    made.store(y, {i: 1}, cast(target, made.load(a, {i: 1})))
    return made.nest([(i, n)]), {"A": (source, n), "Y": (target, n)}


def greatest(m, n, kind="float32"):
    """The index of the greatest of each row and its value: two accumulators that depend on each other."""
    made, (i, r) = Making(), (var("i"), var("k"))
    a, p, v = buffer("A", kind), buffer("P", "int32"), buffer("V", kind)
    made.start(p, {i: 1}, const("int32", -1))
    made.start(v, {i: 1}, const(kind, -math.inf))
    old, best, x = made.load(p, {i: 1}), made.load(v, {i: 1}), made.load(a, {i: n, r: 1})
    keeps = op("ge", best, x)
    place = made.let("v_p", tir.Select(keeps, old, r))
    value = made.let("v_v", tir.Select(keeps, best, x))
    made.store(p, {i: 1}, place)
    made.store(v, {i: 1}, value)
    return made.nest([(i, m)], [(r, n)]), {"A": (kind, m * n), "P": ("int32", m), "V": (kind, m)}
