"""Tensors made from shapes and numbers, and conversions, by NumPy: every default, diagonal and length."""

import numpy as np
from op_scans import X
from op_several import several


def creations(book):
    book.witness = "numpy"
    for part in (filled, diagonals, ranges, lengths, triangles, converted):
        part(book)


def filled(book):
    rows = [
        ('zeros((2, 3), dtype="float32")', np.zeros((2, 3), np.float32)),
        ('ones((3, 2), dtype="int8")', np.ones((3, 2), np.int8)),
        ('ones((2, 0), dtype="float32")', np.ones((2, 0), np.float32)),
        ('zeros((4,), dtype="bool")', np.zeros(4, np.bool_)),
        ('ones((1, 2), dtype="bool")', np.ones((1, 2), np.bool_)),
        ('ones((), dtype="float16")', np.ones((), np.float16)),
    ]
    several(book, "op.zeros.and-ones", "LIB-301", [], rows)
    x = np.array([[1.5, np.nan, 3], [4, 5, 6]], np.float32)
    rows = [
        ("zeros_like(a)", np.zeros_like(x)),
        ("ones_like(a)", np.ones_like(x)),
        ('zeros_like(a, dtype="int64")', np.zeros((2, 3), np.int64)),
        ('ones_like(a, dtype="uint8")', np.ones((2, 3), np.uint8)),
        ('ones_like(a, dtype="bool")', np.ones((2, 3), np.bool_)),
    ]
    several(book, "op.zeros-like.and-ones-like", "LIB-301", [x], rows)
    for value in (np.float32(2.75), np.float32(-3.5)):
        one = np.asarray(value)
        rows = [
            ("full((2, 3), b)", np.full((2, 3), value)),
            ('full((3,), b, dtype="int32")', np.full(3, int(value), np.int32)),
            ('full((), b, dtype="float64")', np.full((), value, np.float64)),
            ("full_like(a, b)", np.full((2, 2), int(value), np.int32)),
            ('full_like(a, b, dtype="float16")', np.full((2, 2), value, np.float16)),
            ('full_like(a, b, dtype="float32")', np.full((2, 2), value, np.float32)),
            ("full((0, 2), b)", np.zeros((0, 2), np.float32)),
        ]
        name = "positive" if value > 0 else "negative"
        several(book, f"op.full.and-full-like-{name}", "LIB-301 LIB-305", [np.zeros((2, 2), np.int32), one], rows)


def diagonals(book):
    for rows_, columns in ((3, 5), (4, 2)):
        rows = [
            (f'eye({rows_}, {columns}, {k}, dtype="float32")', np.eye(rows_, columns, k, np.float32))
            for k in (-4, -3, -1, 0, 1, 4, 5)
        ]
        rows += [
            (f'eye({rows_}, {columns}, 1, dtype="int8")', np.eye(rows_, columns, 1, np.int8)),
            (f'eye({rows_}, {columns}, -1, dtype="bool")', np.eye(rows_, columns, -1, np.bool_)),
        ]
        several(book, f"op.eye.diagonals-{rows_}-{columns}", "LIB-302", [], rows)
        x = np.full((rows_, columns), -2, np.int32)
        rows = [(f"eye_like(a, {k})", np.eye(rows_, columns, k, np.int32)) for k in (-2, -1, 0, 1, 2)]
        several(book, f"op.eye-like.diagonals-{rows_}-{columns}", "LIB-302", [x], rows)
    rows = [(f'eye_like(a, {k}, dtype="{d}")', np.eye(4, 2, k, np.dtype(d))) for k, d in ((1, "float32"), (-1, "bool"))]
    several(book, "op.eye-like.dtypes", "LIB-302", [x], rows)


def ranges(book):
    whole = ((2, 7, 1), (2, 8, 3), (2, 9, 3), (-5, 6, 4), (7, 2, -1), (7, 1, -3), (7, 2, -3), (4, 4, 1), (4, 4, -1))
    large = 2**53
    whole = (
        *whole,
        (large, large + 3, 1),
        (large + 3, large - 2, -2),
        (5, 2, 1),
        (2, 5, -1),
        (-7, -2, 2),
        (-2, -7, -2),
        (0, 1, 9),
        (0, -1, -9),
        (1, 0, 9),
    )
    rows = [(f'arange({a}, {b}, {c}, dtype="int64")', np.arange(a, b, c, np.int64)) for a, b, c in whole]
    several(book, "op.arange.integers", "LIB-303", [], rows)
    rows = [(f'arange({a}, {b}, {c}, dtype="{d}")', np.arange(a, b, c).astype(d)) for a, b, c, d in (
        (-3, 6, 2, "float32"), (3, -6, -2, "int32"), (0, 5, 1, "float16"), (250, 262, 3, "uint8"), (1, 2, 1, "int8")
    )]  # fmt: skip
    several(book, "op.arange.dtypes", "LIB-303", [], rows)
    parts = ((0.5, 3.0, 0.5), (0.5, 3.25, 0.5), (3.0, 0.5, -0.75), (1.0, 1.0, 0.5), (2.0, 1.0, 0.5), (-1.5, 1.75, 0.25))
    parts = (*parts, (0.0, 15.000000000000002, 3.0))  # the quotient is rounded down to a whole number
    rows = []
    for dtype in ("float32", "float64"):
        for a, b, c in parts:
            numbers = ", ".join(f"R.prim_value({v})" for v in (a, b, c))
            rows.append((f'arange({numbers}, dtype="{dtype}")', np.arange(a, b, c).astype(dtype)))
    several(book, "op.arange.floats", "LIB-303", [], rows)
    numbers = [np.arange(count) for count in (6, 3)]
    found = [[v.astype(np.int64), v[1:].astype(np.float32), (v[:-1:2] + 2).astype(np.int64)] for v in numbers]
    forms = [
        'arange(R.prim_value(0), R.prim_value(n), R.prim_value(1), dtype="int64")',
        'arange(R.prim_value(1), R.prim_value(n), R.prim_value(1), dtype="float32")',
        'arange(R.prim_value(2), R.prim_value(n + 1), R.prim_value(2), dtype="int64")',
    ]
    inputs = [np.zeros(count, np.float32) for count in (6, 3)]
    rows = list(zip(forms, found[0], strict=True))
    types = ['R.Tensor(("n",), "float32")']
    symbolic(book, "op.arange.lengths-known-late", "LIB-303", inputs[:1], rows, (inputs[1:], found[1]), types=types)


def lengths(book):
    """The length of an `arange` is not known before the call, and need not be the one that it is beside."""
    row = np.int64([[5, -2, 7, 1]])
    forms = [
        ('add(b, R.arange(R.prim_value(0), R.prim_value(n), R.prim_value(1), dtype="int64"))', row + np.arange(4)),
        (
            'add(R.arange(R.prim_value(1), R.prim_value(n + 1), R.prim_value(1), dtype="int64"), b)',
            row + np.arange(1, 5),
        ),
    ]
    types = ['R.Tensor(("n",), "float32")']
    symbolic(
        book,
        "op.arange.beside-a-row",
        "LIB-303",
        [np.zeros(4, np.float32), row[0]],
        [(f, v[0]) for f, v in forms],
        types=types,
    )


def symbolic(book, name, clauses, inputs, rows, *more, types):
    """The same with `n`, an extent of the first argument."""
    several(book, name, clauses, inputs, rows, *more, types=types, before="n = T.int64()")


def triangles(book):
    x = X.copy()
    ks = (-3, -2, -1, 0, 1, 2, 3, 4)
    for name, of in (("tril", np.tril), ("triu", np.triu)):
        several(book, f"op.{name}.diagonals", "LIB-304", [x], [(f"{name}(a, {k})", of(x, k)) for k in ks])
        flags = x[0] > 0
        nan = np.array([[np.nan, -0.0], [np.inf, np.nan], [-0.0, np.nan]], np.float32)
        rows = [(f"{name}(a, {k})", of(flags, k)) for k in (-1, 1)]
        rows += [(f"{name}(b, {k})", of(nan, k)) for k in (-1, 0, 1)]
        several(book, f"op.{name}.kinds", "LIB-304", [flags, nan], rows)


def converted(book):
    x = np.array([[-1.75, -0.5, 0.5], [1.5, 2.5, 100.25]], np.float32)
    rows = [(f'astype(a, dtype="{d}")', x.astype(d)) for d in ("int32", "float64", "int8", "float16", "bool")]
    several(book, "op.astype.of-floats", "LIB-305", [x], rows)
    i = np.array([[300, -129, 0], [255, 128, -1]], np.int32)
    rows = [(f'astype(a, dtype="{d}")', i.astype(d)) for d in ("int8", "uint8", "float32", "bool", "int64")]
    several(book, "op.astype.of-integers", "LIB-305", [i], rows)
    rows = [("wrap_param(a)", i.astype(np.float32)), ('wrap_param(a, dtype="int8")', i.astype(np.int8))]
    several(book, "op.wrap-param.dtypes", "LIB-305", [i], rows)


def windows(book):
    """Angle, cosine in the dtype of the result; product and difference in binary64."""
    for dtype in ("float32", "float64"):
        r = np.dtype(dtype).type
        rows = []
        for size, periodic, alpha, beta in (
            (1, True, 0.5, 0.25), (1, False, 0.5, 0.25), (2, True, 0.54, 0.46), (2, False, 0.54, 0.46),
            (3, False, 0.25, 0.75), (5, True, 0.54, 0.46), (6, False, 0.625, 1.5)
        ):  # fmt: skip
            i = np.arange(size).astype(dtype)
            last = size if periodic else size - 1
            angle = (r(2 * np.pi) * i / r(last or 1)).astype(dtype)
            values = (alpha - beta * np.cos(angle.astype(np.float64)).astype(dtype).astype(np.float64)).astype(dtype)
            found = values if size > 1 else np.ones(1, dtype)
            numbers = f"R.prim_value({size}), R.prim_value({periodic}), R.prim_value({alpha}), R.prim_value({beta})"
            rows.append((f'hamming_window({numbers}, dtype="{dtype}")', found))
        several(book, f"op.hamming-window.sizes-{dtype}", "LIB-306", [], rows, witness="numpy")
