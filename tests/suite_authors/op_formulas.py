"""Activations, choices and quantisation: each operator of a formula rounded to the dtype, by NumPy in binary64."""

import math

import numpy as np
from hand import K, ask
from op_scans import X
from op_several import one, several

POINTS = (-np.inf, -21, -8, -3.5, -1, -0.375, -0.0, 0.0, 1e-3, 0.25, 0.625, 1, 2.5, 9, 19.5, 20, 20.5, np.inf, np.nan)
erf = np.vectorize(math.erf)


def steps(dtype):
    """Rounds to `dtype`; numbers stay in binary64 meanwhile."""
    return lambda value: np.asarray(value, np.float64).astype(dtype).astype(np.float64)


def points(dtype):
    return np.array(POINTS).astype(dtype)


def selu(x, r):
    scale, alpha = r(1.0507009873554805), r(1.6732632423543772)
    below = r(alpha * r(r(np.exp(x)) - 1))
    return r(scale * r(np.where(x > 0, x, np.where(x == x, 0, x)) + np.where(below < 0, below, 0)))


def gelu(x, r, dtype):
    scaled = r(x * r(0.5**0.5))
    wide = r(steps(np.float32)(erf(scaled))) if dtype == np.float16 else r(erf(scaled))
    return r(x * r(0.5 + r(wide * 0.5)))


def gelu_tanh(x, r):
    inner = r(1 + r(r(r(0.044715) * x) * x))
    tangent = r(np.tanh(r(r(r(0.79788456080286541) * x) * inner)))
    return r(r(0.5 * x) * r(1 + tangent))


def softplus(x, r, beta=1.0, threshold=20.0):
    scaled = x if beta == 1 else r(x * r(beta))
    smooth = r(np.log(r(1 + r(np.exp(scaled)))))
    return np.where(scaled > r(threshold), x, smooth if beta == 1 else r(smooth / r(beta)))


def silu(x, r):
    return r(x * r(1 / (1 + np.exp(-x))))


def activations(book):
    book.witness = "numpy"
    for dtype in (np.float32, np.float16, np.float64):
        x, r, word = points(dtype), steps(dtype), np.dtype(dtype)
        wide = x.astype(np.float64)
        with np.errstate(all="ignore"):
            rows = [
                ("nn.relu(a)", np.where(wide > 0, wide, 0.0)),
                ("nn.silu(a)", silu(wide, r)),
                ("nn.gelu(a)", gelu(wide, r, dtype)),
                ("nn.gelu_tanh(a)", gelu_tanh(wide, r)),
                ("nn.selu(a)", selu(wide, r)),
            ]
            for form, found in rows:
                name = form.removesuffix("(a)").replace(".", "-").replace("_", "-")
                clause = {"nn-relu": "501", "nn-silu": "504", "nn-selu": "505"}.get(name, "503")
                one(book, f"op.{name}.points-{word}", f"LIB-{clause}", [x], form, found.astype(dtype))
            rows = [
                ("nn.softplus(a)", softplus(wide, r)),
                ("nn.softplus(a, beta=2.0, threshold=5.0)", softplus(wide, r, 2.0, 5.0)),
                ("nn.softplus(a, beta=0.5, threshold=10.0)", softplus(wide, r, 0.5, 10.0)),
                ("nn.softplus(a, beta=1.0, threshold=1.0)", softplus(wide, r, 1.0, 1.0)),
                ("nn.softplus(a, beta=4.0)", softplus(wide, r, 4.0)),
            ]
            rows = [(form, found.astype(dtype)) for form, found in rows]
            several(book, f"op.nn-softplus.points-{word}", "LIB-506", [x], rows)
    leaky(book)
    prelu(book)
    dropout(book)
    i = np.array([-128, -1, 0, 1, 127], np.int8)
    one(book, "op.nn-relu.int8", "LIB-501", [i], "nn.relu(a)", np.maximum(i, 0))


def sloped(x, slope, dtype):
    with np.errstate(all="ignore"):
        return np.where(x > 0, x, (x.astype(np.float64) * slope.astype(np.float64)).astype(dtype))


def leaky(book):
    for dtype in (np.float32, np.float16):
        x = np.array([np.nan, -np.inf, -2.5, -0.0, 0.0, 1e-3, 3, np.inf], dtype)
        rows = []
        for alpha in (None, 0.25, 1.5, -2.0):
            form = "nn.leakyrelu(a)" if alpha is None else f"nn.leakyrelu(a, alpha={alpha})"
            rows.append((form, sloped(x, np.array(0.01 if alpha is None else alpha).astype(dtype), dtype)))
        several(book, f"op.nn-leakyrelu.slopes-{np.dtype(dtype)}", "LIB-502", [x], rows)


def prelu(book):
    for axis in (None, 1, 0, 2, -1, -2, -3):
        at = 1 if axis is None else axis
        x = (X * 0.5).astype(np.float32)
        x[0, 1, 2], x[1, 2, 3], x[0, 0, 1], x[1, 1, 0] = np.nan, -np.inf, -0.0, 0.0
        slope = np.array([0.25, -3, 1.5, -0.125][: x.shape[at]], np.float32)
        shape = [1, 1, 1]
        shape[at] = len(slope)
        form = "nn.prelu(a, b)" if axis is None else f"nn.prelu(a, b, axis={axis})"
        name = f"op.nn-prelu.axis-{'left-out' if axis is None else axis}".replace("--", "-minus-")
        one(book, name, "LIB-502", [x, slope], form, sloped(x, slope.reshape(shape), np.float32))


def dropout(book):
    x = np.array([[1, -2, np.nan], [0.5, -0.0, np.inf]], np.float32)
    rows = [(f"nn.dropout(a{rate})", [x, np.ones_like(x)]) for rate in ("", ", rate=0.0", ", rate=0.9")]
    several(book, "op.nn-dropout.rates", "LIB-507", [x], rows)


def choices(book):
    book.witness = "numpy"
    flags = np.array([[True], [False], [True]])
    a, b = np.array([[1, 2, 3, 4]], np.int32), np.array([[[-1]], [[-2]]], np.int32)
    whole = np.arange(12, dtype=np.int32).reshape(3, 4)
    for name, inputs in (
        ("all-broadcast", [flags, a, b]),
        ("condition-whole", [whole % 5 < 2, np.int32([7]), a]),
        ("values-whole", [np.array(True), whole, -whole]),
        ("values-whole-false", [np.array(False), whole, -whole]),
        ("second-whole", [flags, np.array(5, np.int32), whole]),
        ("first-whole", [np.array([True, False, False, True]), whole, np.array(5, np.int32)]),
        ("one-and-one", [np.array([[True]]), np.int32([[3]]), np.int32([[4]])]),
        ("none", [flags[:0], a, a]),
    ):
        one(book, f"op.where.{name}", "LIB-401", inputs, "where(a, b, c)", np.where(*inputs))
    limits(book)
    combinations(book)


def limits(book):
    x = np.array([np.nan, -np.inf, -3, -2, -0.0, 0.0, 1.5, 2, 7, np.inf], np.float32)

    def clipped(least, greatest):
        with np.errstate(all="ignore"):
            low = np.where(np.isnan(x), x, np.minimum(x, np.float32(greatest)))
            return np.where(np.isnan(x), x, np.maximum(low, np.float32(least)))

    pairs = ((-2, 2), (-2.5, 1.5), (0.5, 0.5), (1, 6), (-7, -2))
    rows = [(f"clip(a, R.prim_value({p}), R.prim_value({q}))", clipped(p, q)) for p, q in pairs]
    several(book, "op.clip.floats", "LIB-402", [x[1:]], [(form, found[1:]) for form, found in rows])
    rows = [(f"clip(a, R.prim_value({p}), R.prim_value({q}))", np.float32([p] * 9)) for p, q in ((3, -1), (2.5, 2))]
    several(book, "op.clip.crossed", "LIB-402", [x[1:]], rows)
    # By the clause: of NaN, min and max take their second operand, and of two zeros as well.
    odd = np.float32([np.nan, -0.0, 0.0, -1])
    rows = [
        ("clip(a, R.prim_value(-2.0), R.prim_value(3.0))", np.float32([3, -0.0, 0, -1])),
        ("clip(a, R.prim_value(0.0), R.prim_value(3.0))", np.float32([3, 0, 0, 0])),
        ("clip(a, R.prim_value(-2.0), R.prim_value(0.0))", np.float32([0, 0, 0, -1])),
    ]
    lines = "".join(f"    y{at} = R.{form}\n" for at, (form, _) in enumerate(rows))
    text = f'@R.function\ndef main(a: R.Tensor((4,), "float32")):\n{lines}    return (y0, y1, y2)\n'
    found = [each for _, each in rows]
    ask(book, "op.clip.nan-and-zeros", "LIB-402 NUM-106", text, ([odd], [*found, K]), witness="hand")
    for dtype in ("int8", "int64", "float16"):
        i = np.array([-128, -5, -4, 0, 3, 4, 127], dtype)
        pairs = ((-4, 3), (0, 0), (-128, 127), (3, 100), (-100, -5))
        rows = [(f"clip(a, {p}, {q})", np.clip(i, np.array(p, dtype), np.array(q, dtype))) for p, q in pairs]
        several(book, f"op.clip.{dtype}", "LIB-402", [i], rows)


def combinations(book):
    r = steps(np.float32)
    a, b, c = np.float32([[1.1, -2.3, 16777216], [3.3, 1, -0.7], [0.1, 5.5, 1]])
    wide = [v.astype(np.float64) for v in (a, b, c)]
    found = r(r(wide[0] * wide[1]) + wide[2]).astype(np.float32)
    one(book, "op.ewise-fma.two-roundings", "LIB-403", [a, b, c], "ewise_fma(a, b, c)", found)
    i = np.int32([[2, -3, 4], [5, 7, 11], [13, -1, 0]])
    one(book, "op.ewise-fma.integers", "LIB-403", list(i), "ewise_fma(a, b, c)", i[0] * i[1] + i[2])
    x, y = np.array([[0.5], [-80], [3]], np.float32), np.array([0.25, -81, 2, -np.inf], np.float32)
    found = r(np.log(r(r(np.exp(x.astype(np.float64))) + r(np.exp(y.astype(np.float64)))))).astype(np.float32)
    one(book, "op.log-add-exp.broadcast", "LIB-404", [x, y], "log_add_exp(a, b)", found)


def along(v, axis):
    if not v.ndim:
        return v
    shape = [1, 1, 1]
    shape[axis] = len(v)
    return v.reshape(shape)


def scales(book):
    """One number, or one for each place along an axis; ties, both ends of the range."""
    book.witness = "numpy"
    r = steps(np.float32)
    x = (X * 7.25).astype(np.float32)
    x[0, 0, :] = [0.5, 1.5, -0.5, 2.5]
    x[1, 0, :2] = 1e6, -1e6
    for axis in (None, 0, 1, 2, -2, -3):
        for out in ("int8", "uint8"):
            at = -1 if axis is None else axis
            scale = np.array([0.5, 2, 0.25, 1][: x.shape[at]], np.float32)
            zero = np.array([3, -7 if out == "int8" else 7, 0, 100][: x.shape[at]], out)
            info = np.iinfo(out)
            moved = r(np.round(r(x.astype(np.float64) / along(scale, at))) + along(zero, at))
            found = np.clip(moved, info.min, info.max).astype(out)
            more = "" if axis is None else f", axis={axis}"
            word = "left-out" if axis is None else f"{'minus-' * (axis < 0)}{abs(axis)}"
            rows = [(f'quantize(a, b, c, out_dtype="{out}"{more})', found)]
            several(book, f"op.quantize.axis-{word}-{out}", "LIB-405", [x, scale, zero], rows)
            back = r((found.astype(np.int64) - along(zero, at).astype(np.int64)) * along(scale, at).astype(np.float64))
            rows = [(f'dequantize(a, b, c, out_dtype="float32"{more})', back.astype(np.float32))]
            several(book, f"op.dequantize.axis-{word}-{out}", "LIB-405", [found, scale, zero], rows)
    number, zero = np.array(1.25, np.float32), np.array(-5, np.int8)
    moved = r(np.round(r(x.astype(np.float64) / number)) + zero)
    rows = [("quantize(a, b, c)", np.clip(moved, -128, 127).astype(np.int8))]
    several(book, "op.quantize.one-scale", "LIB-405", [x, number, zero], rows)
    odd = np.float32([np.nan, np.inf, -np.inf, -0.0])
    found = np.int8([127, 127, -128, -5])  # min and max take their second operand where there is a NaN
    one(book, "op.quantize.special", "LIB-405", [odd, number, zero], "quantize(a, b, c, axis=0)", found, witness="hand")
    back = r((rows[0][1].astype(np.int64) + 5) * np.float64(1.25)).astype(np.float32)
    one(book, "op.dequantize.one-scale", "LIB-405", [rows[0][1], number, zero], "dequantize(a, b, c)", back)


def formulas(book):
    for part in (activations, choices, scales):
        part(book)
