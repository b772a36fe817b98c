"""Area `op`: operators of Relax on edge values, by exact arithmetic, NumPy and PyTorch; models and graphs in `model`.

Elementwise operators are computed by the functions of `write_scalar`; reductions and movements by NumPy, whose results
have the bits of ours where the operator is exact and lie inside of the bound where terms are added up.
"""

import sys

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - its own name
from book import Book, Judged, given
from points import edges, pairs
from rounding import array, exact, rounded, stored
from transcendental import value
from write_scalar import COMPARE, FLOATING, INTEGER, NO, in_format

HEAD = "# from tvm.script import ir as I, tirx as T, relax as R\n"
BINARY = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "maximum": "max", "minimum": "min"}
RELATIONS = {"equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge"}
BITS = {
    "bitwise_and": "bitwise_and",
    "bitwise_or": "bitwise_or",
    "bitwise_xor": "bitwise_xor",
    "left_shift": "shift_left",
    "right_shift": "shift_right",
}
UNARY = {"abs": "abs", "ceil": "ceil", "floor": "floor", "round": "round", "trunc": "trunc"}
MATHS = (
    "exp",
    "log",
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "tanh",
    "asin",
    "acos",
    "atan",
    "asinh",
    "acosh",
    "atanh",
    "sqrt",
    "rsqrt",
    "sigmoid",
    "erf",
)
CLAUSE = {
    "add": "LIB-201",
    "subtract": "LIB-201",
    "multiply": "LIB-201",
    "divide": "LIB-202",
    "maximum": "LIB-207",
    "minimum": "LIB-207",
    **dict.fromkeys(RELATIONS, "LIB-208"),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), "LIB-210"),
    **dict.fromkeys(("left_shift", "right_shift"), "LIB-211"),
    **dict.fromkeys(UNARY, "LIB-101"),
    **dict.fromkeys(MATHS, "LIB-101"),
}
DTYPES = ("float32", "float16", "bfloat16", "float64", "int32", "int8", "uint8", "int64")


def type_of(x):
    return f'R.Tensor({tuple(x.shape)}, "{x.dtype}")'


def program(form, inputs, before=""):
    params = ", ".join(f"{name}: {type_of(x)}" for name, x in zip("abcdefgh", inputs, strict=False))
    lines = "".join(f"    {line}\n" for line in before.split("\n") if line)
    return f"{HEAD}@R.function\ndef main({params}):\n{lines}    y = R.{form}\n    return y\n"


def op(book, name, clauses, form, inputs, found, witness=""):
    """One call of an operator."""
    text = program(form, inputs)
    book.judged(name, clauses.split(), text, [Judged([given(x) for x in inputs], found)], witness=witness)


def elementwise(book):
    for name, kind in {**BINARY, **BITS}.items():
        for dtype in DTYPES:
            table = FLOATING if "float" in dtype else INTEGER
            if kind not in table:
                continue
            of = table[kind][2]
            points = pairs(dtype, 40)
            if "shift" in name:
                points = [(a, b % (8 * stored(dtype).itemsize)) for a, b in points]
            kept = [(p, of(*p, dtype) if "int" in dtype else in_format(of(*p, dtype), dtype)) for p in points]
            kept = [(p, v) for p, v in kept if v is not NO]
            a, b = (array([p[k] for p, _ in kept], dtype) for k in (0, 1))
            op(
                book,
                f"op.{name.replace('_', '-')}.edges-{dtype}",
                CLAUSE[name],
                f"{name}(a, b)",
                [a, b],
                array([v for _, v in kept], dtype),
            )
    for name, kind in RELATIONS.items():
        for dtype in ("float32", "bfloat16", "int32", "uint8"):
            points = pairs(dtype, 40)
            a, b = (array([p[k] for p in points], dtype) for k in (0, 1))
            op(
                book,
                f"op.{name.replace('_', '-')}.edges-{dtype}",
                CLAUSE[name],
                f"{name}(a, b)",
                [a, b],
                np.array([COMPARE[kind][1](*p) for p in points]),
            )
    for name, kind in UNARY.items():
        for dtype in ("float32", "float16", "bfloat16"):
            points = edges(dtype)
            found = [in_format(FLOATING[kind][2](p, dtype), dtype) for p in points]
            op(
                book,
                f"op.{name}.edges-{dtype}",
                CLAUSE[name],
                f"{name}(a)",
                [array(points, dtype)],
                array(found, dtype),
            )
    book.witness = "mpmath"
    for name in MATHS:
        for dtype in ("float32", "float16"):
            points = edges(dtype)
            found = [rounded(exact(value(name, (p,))), dtype) for p in points]
            op(
                book,
                f"op.{name}.edges-{dtype}",
                CLAUSE[name],
                f"{name}(a)",
                [array(points, dtype)],
                array(found, dtype),
            )


SPECIAL = np.array(
    [[1, -2, 3.5, 0], [np.nan, 1, 2, 3], [np.inf, 1, -np.inf, 2], [-0.0, 0.0, -0.0, -0.0], [3e38, 3e38, -3e38, 1]],
    np.float32,
)
FINITE = np.array(
    [[1, -2, 3.5, 0], [0.1, 0.2, 0.3, 0.4], [1e8, 1, -1e8, 1], [-0.0, 0.0, -0.0, -0.0], [1e30, 1e-30, 2, 7]], np.float32
)


def ordered_max(x, axis):
    """A if a > b else b, from -inf on: NaN is taken where it comes, and given up where a number follows."""
    return ordered(x, axis, -np.inf, lambda a, b: max(b, a))


def ordered_min(x, axis):
    return ordered(x, axis, np.inf, lambda a, b: min(b, a))


def ordered_sum(x, axis):
    return ordered(x, axis, 0.0, lambda a, b: np.float32(a) + np.float32(b))


def ordered(x, axis, start, of):
    moved = np.moveaxis(x, axis, -1)
    found = np.empty(moved.shape[:-1], x.dtype)
    for at in np.ndindex(*found.shape):
        total = x.dtype.type(start)
        for item in moved[at]:
            with np.errstate(all="ignore"):
                total = x.dtype.type(of(total, item))
        found[at] = total
    return found


def reductions(book):
    book.witness = "numpy"
    for axis in (0, 1):
        op(
            book,
            f"op.max.special-{axis}",
            "LIB-602 NUM-106",
            f"max(a, axis=[{axis}])",
            [SPECIAL],
            ordered_max(SPECIAL, axis),
        )
        op(
            book,
            f"op.min.special-{axis}",
            "LIB-602 NUM-106",
            f"min(a, axis=[{axis}])",
            [SPECIAL],
            ordered_min(SPECIAL, axis),
        )
        op(book, f"op.sum.finite-{axis}", "LIB-601", f"sum(a, axis=[{axis}])", [FINITE], ordered_sum(FINITE, axis))
        op(
            book,
            f"op.argmax.ties-{axis}",
            "LIB-605",
            f"argmax(a, axis={axis})",
            [np.array([[1, 3, 3], [3, 1, 3]], np.int32)],
            np.argmax(np.array([[1, 3, 3], [3, 1, 3]]), axis),
        )
        op(
            book,
            f"op.argmin.ties-{axis}",
            "LIB-605",
            f"argmin(a, axis={axis})",
            [np.array([[1, 3, 1], [3, 1, 1]], np.int32)],
            np.argmin(np.array([[1, 3, 1], [3, 1, 1]]), axis),
        )
    op(book, "op.sum.special", "LIB-601", "sum(a, axis=[1])", [SPECIAL], ordered_sum(SPECIAL, 1))
    ints = np.array([[100, 27, 1], [-100, -28, -1]], np.int8)
    op(book, "op.sum.int8-wraps", "LIB-601 NUM-101", "sum(a, axis=[1])", [ints], ints.sum(1, dtype=np.int8))
    op(
        book,
        "op.prod.int32",
        "LIB-601",
        "prod(a, axis=[0])",
        [np.array([[3, -4], [5, 6]], np.int32)],
        np.array([15, -24], np.int32),
    )
    empty = np.zeros((3, 0), np.float32)
    op(book, "op.sum.empty", "LIB-601", "sum(a, axis=[1])", [empty], np.zeros(3, np.float32))
    op(book, "op.prod.empty", "LIB-601", "prod(a, axis=[1])", [empty], np.ones(3, np.float32))
    op(book, "op.max.empty", "LIB-602", "max(a, axis=[1])", [empty], np.full(3, -np.inf, np.float32))
    op(book, "op.min.empty", "LIB-602", "min(a, axis=[1])", [empty], np.full(3, np.inf, np.float32))
    op(
        book,
        "op.mean.int",
        "LIB-603",
        "mean(a, axis=[1])",
        [np.array([[1, 2, 4], [-1, -2, -4]], np.int32)],
        np.array([2, -2], np.int32),
    )
    op(
        book,
        "op.mean.float",
        "LIB-603",
        "mean(a, axis=[0])",
        [FINITE],
        FINITE.mean(0, dtype=np.float64).astype(np.float32),
    )
    small = FINITE[:2]
    op(
        book,
        "op.variance.float",
        "LIB-604",
        "variance(a, axis=[1])",
        [small],
        small.var(1, dtype=np.float64).astype(np.float32),
    )
    op(book, "op.std.float", "LIB-604", "std(a, axis=[1])", [small], small.std(1, dtype=np.float64).astype(np.float32))
    for axis in (None, 0, 1):
        x = np.array([[1, 2, 3], [4, 5, 6]], np.int64)
        text = "" if axis is None else f", axis={axis}"
        op(book, f"op.cumsum.int64-{axis}".lower(), "LIB-940", f"cumsum(a{text})", [x], np.cumsum(x, axis))
        op(book, f"op.cumprod.int64-{axis}".lower(), "LIB-940", f"cumprod(a{text})", [x], np.cumprod(x, axis))


def movements(book):
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    nan = np.array([[np.nan, -0.0], [np.inf, 1]], np.float32)
    rows = [
        ("permute-dims.reverse", "LIB-901", "permute_dims(a)", [x], x.transpose()),
        ("permute-dims.axes", "LIB-901", "permute_dims(a, axes=[1, 2, 0])", [x], x.transpose(1, 2, 0)),
        ("expand-dims.ends", "LIB-902", "expand_dims(a, axis=[0, 4])", [x], x.reshape(1, 2, 3, 4, 1)),
        ("squeeze.all", "LIB-902", "squeeze(a)", [x[:1, :, :1]], x[0, :, 0]),
        ("flatten.bits-kept", "LIB-903", "flatten(a)", [nan], nan.reshape(-1)),
        ("broadcast-to.new-axis", "LIB-904", "broadcast_to(a, (2, 2, 2))", [nan], np.broadcast_to(nan, (2, 2, 2))),
        ("concat.empty-part", "LIB-905", "concat((a, b), axis=0)", [x, x[:0]], x),
        ("concat.negative-axis", "LIB-905", "concat((a, b), axis=-1)", [x, x], np.concatenate([x, x], -1)),
        (
            "split.indices",
            "LIB-906",
            "split(a, [1, 3], axis=2)",
            [x],
            [np.ascontiguousarray(p) for p in np.split(x, [1, 3], 2)],
        ),
        ("tile.more-dimensions", "LIB-907", "tile(a, [2, 1, 2])", [nan], np.tile(nan, (2, 1, 2))),
        ("repeat.axis", "LIB-907", "repeat(a, repeats=3, axis=1)", [nan], np.repeat(nan, 3, 1)),
        ("flip.axis", "LIB-908", "flip(a, axis=1)", [x], np.flip(x, 1)),
        ("tril.above", "LIB-304", "tril(a, 1)", [x], np.tril(x, 1)),
        ("triu.below", "LIB-304", "triu(a, -1)", [x], np.triu(x, -1)),
        (
            "where.nan",
            "LIB-401",
            "where(a, b, c)",
            [np.array([[True, False], [False, True]]), nan, -nan],
            np.where([[True, False], [False, True]], nan, -nan),
        ),
        (
            "clip.nan",
            "LIB-402",
            "clip(a, R.prim_value(-1), R.prim_value(1))",
            [np.array([-5, -0.0, 0.5, 7], np.float32)],
            np.array([-1, -0.0, 0.5, 1], np.float32),
        ),
        (
            "take.repeated",
            "LIB-920",
            "take(a, b, axis=1)",
            [x, np.array([2, 0, 2], np.int64)],
            np.take(x, [2, 0, 2], 1),
        ),
        (
            "strided-slice.negative-step",
            "LIB-910",
            "strided_slice(a, axes=[2], begin=[3], end=[-5], strides=[-1])",
            [x],
            x[:, :, ::-1],
        ),
        (
            "sort.descending",
            "LIB-950",
            "sort(a, axis=1, descending=True)",
            [np.array([[3, 1, 2], [5, 5, 4]], np.int32)],
            np.array([[3, 2, 1], [5, 5, 4]], np.int32),
        ),
        (
            "argsort.stable",
            "LIB-951",
            'argsort(a, axis=1, descending=False, dtype="int64")',
            [np.array([[3, 1, 3, 1]], np.int32)],
            np.array([[1, 3, 0, 2]], np.int64),
        ),
        (
            "one-hot",
            "LIB-924",
            "one_hot(a, R.prim_value(T.float32(5)), R.prim_value(T.float32(-1)), depth=3, axis=-1)",
            [np.array([2, 0], np.int64)],
            np.array([[-1, -1, 5], [5, -1, -1]], np.float32),
        ),
        (
            "pad.constant",
            "LIB-030",
            'nn.pad(a, pad_width=[1, 0, 0, 2], pad_value=7, pad_mode="constant")',
            [nan],
            np.pad(nan, ((1, 0), (0, 2)), constant_values=7),
        ),
    ]
    book.witness = "numpy"
    for name, clause, form, inputs, found in rows:
        results = [np.ascontiguousarray(f) for f in found] if isinstance(found, list) else np.ascontiguousarray(found)
        op(book, f"op.{name}", clause, form, [np.ascontiguousarray(i) for i in inputs], results)


def network(book):
    book.witness = "torch"
    draw = np.random.default_rng(3)

    def normal(*shape):
        return draw.standard_normal(shape).astype(np.float32)

    def t(x):
        return torch.tensor(x.astype(np.float64))

    def out(x):
        return x.numpy().astype(np.float32)

    x = normal(2, 5)
    big = np.array([[1000, 1000, -1000, 0, 3], [-88, -90, 100, 1e-3, 0]], np.float32)
    for name, given_ in (("normal", x), ("large", big)):
        op(book, f"op.nn-softmax.{name}", "LIB-701", "nn.softmax(a, axis=-1)", [given_], out(F.softmax(t(given_), -1)))
        op(
            book,
            f"op.nn-log-softmax.{name}",
            "LIB-701",
            "nn.log_softmax(a, axis=-1)",
            [given_],
            out(F.log_softmax(t(given_), -1)),
        )
    for name, form, of in (
        ("relu", "nn.relu(a)", F.relu),
        ("leakyrelu", "nn.leakyrelu(a, alpha=0.25)", lambda v: F.leaky_relu(v, 0.25)),
        ("gelu", "nn.gelu(a)", F.gelu),
        ("gelu-tanh", "nn.gelu_tanh(a)", lambda v: F.gelu(v, approximate="tanh")),
        ("silu", "nn.silu(a)", F.silu),
        ("softplus", "nn.softplus(a)", F.softplus),
        ("selu", "nn.selu(a)", F.selu),
    ):
        clause = {
            "relu": "LIB-501",
            "leakyrelu": "LIB-502",
            "gelu": "LIB-503",
            "gelu-tanh": "LIB-503",
            "silu": "LIB-504",
            "softplus": "LIB-506",
            "selu": "LIB-505",
        }[name]
        op(book, f"op.nn-{name}.torch", clause, form, [x], out(of(t(x))))
    g, b = normal(5), normal(5)
    op(
        book,
        "op.nn-layer-norm.torch",
        "LIB-702",
        "nn.layer_norm(a, b, c, axes=[-1], epsilon=1e-5)",
        [x, g, b],
        out(F.layer_norm(t(x), (5,), t(g), t(b))),
    )
    op(
        book,
        "op.nn-rms-norm.torch",
        "LIB-703",
        "nn.rms_norm(a, b, axes=[-1], epsilon=1e-5)",
        [x, g],
        out(t(x) / torch.sqrt((t(x) ** 2).mean(-1, keepdim=True) + 1e-5) * t(g)),
    )
    img, ker = normal(1, 2, 5, 5), normal(3, 2, 3, 3)
    op(book, "op.nn-conv2d.torch", "LIB-010", "nn.conv2d(a, b)", [img, ker], out(F.conv2d(t(img), t(ker))))
    op(
        book,
        "op.nn-conv2d.strided-padded-torch",
        "LIB-010",
        "nn.conv2d(a, b, strides=[2, 2], padding=[1, 1, 1, 1])",
        [img, ker],
        out(F.conv2d(t(img), t(ker), stride=2, padding=1)),
    )
    op(
        book,
        "op.nn-conv2d.dilated-torch",
        "LIB-010",
        "nn.conv2d(a, b, dilation=[2, 2])",
        [img, ker],
        out(F.conv2d(t(img), t(ker), dilation=2)),
    )
    dep = normal(2, 1, 3, 3)
    op(
        book,
        "op.nn-conv2d.groups-torch",
        "LIB-010",
        "nn.conv2d(a, b, groups=2)",
        [img, dep],
        out(F.conv2d(t(img), t(dep), groups=2)),
    )
    tr = normal(2, 3, 3, 3)
    op(
        book,
        "op.nn-conv2d-transpose.torch",
        "LIB-011",
        "nn.conv2d_transpose(a, b, strides=[2, 2])",
        [img, tr],
        out(F.conv_transpose2d(t(img), t(tr), stride=2)),
    )
    op(
        book,
        "op.nn-max-pool2d.torch",
        "LIB-020",
        "nn.max_pool2d(a, pool_size=[2, 2], strides=[2, 2])",
        [img],
        out(F.max_pool2d(t(img), 2)),
    )
    op(
        book,
        "op.nn-avg-pool2d.torch",
        "LIB-021",
        "nn.avg_pool2d(a, pool_size=[3, 3], strides=[1, 1])",
        [img],
        out(F.avg_pool2d(t(img), 3, 1)),
    )
    op(
        book,
        "op.nn-adaptive-avg-pool2d.torch",
        "LIB-022",
        "nn.adaptive_avg_pool2d(a, output_size=[2, 3])",
        [img],
        out(F.adaptive_avg_pool2d(t(img), (2, 3))),
    )
    shuffled = normal(1, 8, 2, 3)
    op(
        book,
        "op.nn-pixel-shuffle.torch",
        "LIB-031",
        "nn.pixel_shuffle(a, upscale_factor=2)",
        [shuffled],
        F.pixel_shuffle(torch.tensor(shuffled), 2).numpy(),
    )
    w = normal(4, 5)
    op(book, "op.nn-dense.torch", "LIB-891", "nn.dense(a, b)", [x, w], out(t(x) @ t(w).T))
    op(book, "op.matmul.torch", "LIB-801", "matmul(a, b)", [x, np.ascontiguousarray(w.T)], out(t(x) @ t(w).T))
    stack, other = normal(2, 1, 3, 4), normal(5, 4, 2)
    op(book, "op.matmul.broadcast", "LIB-801", "matmul(a, b)", [stack, other], out(t(stack) @ t(other)))
    op(book, "op.matmul.empty", "LIB-801", "matmul(a, b)", [normal(2, 0), normal(0, 3)], np.zeros((2, 3), np.float32))
    op(book, "op.ewise-fma.numpy", "LIB-403", "ewise_fma(a, b, c)", [x, x + 1, x - 2], x * (x + 1) + (x - 2), "numpy")
    op(book, "op.log-add-exp.torch", "LIB-404", "log_add_exp(a, b)", [x, -x], out(torch.logaddexp(t(x), t(-x))))
    op(book, "op.outer.torch", "LIB-802", "outer(a, b)", [g, b], np.outer(g, b))
    q, k, v = normal(1, 3, 2, 4), normal(1, 5, 2, 4), normal(1, 5, 2, 4)
    moved = [t(each).permute(0, 2, 1, 3) for each in (q, k, v)]
    op(
        book,
        "op.nn-attention.torch",
        "LIB-041",
        "nn.attention(a, b, c)",
        [q, k, v],
        out(F.scaled_dot_product_attention(*moved).permute(0, 2, 1, 3).contiguous()),
    )
    starts = np.array([0, 2, 3], np.int32), np.array([0, 3, 5], np.int32)
    parts_ = [
        F.scaled_dot_product_attention(moved[0][:, :, a:b], moved[1][:, :, c:d], moved[2][:, :, c:d])
        for a, b, c, d in ((0, 2, 0, 3), (2, 3, 3, 5))
    ]
    whole = torch.cat(parts_, 2).permute(0, 2, 1, 3).contiguous()
    longest = [np.array(2, np.int32), np.array(3, np.int32)]
    op(
        book,
        "op.nn-attention-var-len.torch",
        "LIB-042",
        "nn.attention_var_len(a, b, c, d, e, f, g)",
        [q, k, v, starts[0], starts[1], *longest],
        out(whole),
    )


def suppression(book):
    """Two classes, three boxes: the second overlaps the first by 0.9, the third stands apart. By hand."""
    book.witness = "hand"
    boxes = np.array([[[0, 0, 1, 1], [0, 0, 1, 0.9], [2, 2, 3, 3]]], np.float32)
    scores = np.array([[[0.9, 0.8, 0.7], [0.1, 0.6, 0.5]]], np.float32)
    rows = np.zeros((6, 3), np.int64)
    rows[:4] = [[0, 0, 0], [0, 0, 2], [0, 1, 1], [0, 1, 2]]
    inputs = [boxes, scores, np.array(3, np.int64), np.array(0.5, np.float32), np.array(0.3, np.float32)]
    op(
        book,
        "op.vision-all-class-nms.hand",
        "LIB-075",
        "vision.all_class_non_max_suppression(a, b, c, d, e)",
        inputs,
        [rows, np.array([4], np.int64)],
    )


if __name__ == "__main__":
    pages = Book("op", "exact arithmetic", strict=False)
    told = []
    for part, stem in (
        (elementwise, "edges"),
        (reductions, "reductions"),
        (movements, "movements"),
        (network, "network"),
        (suppression, "suppression"),
    ):
        part(pages)
        pages.write(stem, f"Operators of Relax: {stem}.")
    sys.stdout.write("".join(f"{line}\n" for line in pages.disagreements))
