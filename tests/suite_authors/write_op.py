"""Area `op`: operators of Relax on edge values, by exact arithmetic, NumPy and PyTorch; models and graphs in `model`.

Elementwise operators are computed by the functions of `write_scalar`; reductions and movements by NumPy, whose results
have the bits of ours where the operator is exact and lie inside of the bound where terms are added up.
"""

import sys

import numpy as np
from book import Book
from op_network import network, suppression
from op_usual import BINARY, BITS, CLAUSE, DTYPES, MATHS, RELATIONS, UNARY, op
from points import edges, pairs
from rounding import array, exact, rounded, stored
from transcendental import value
from write_scalar import COMPARE, FLOATING, INTEGER, NO, in_format


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
