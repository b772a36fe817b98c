"""Products of matrices, vectors and stacks, and sums said by letters, of integers: NumPy's are exact."""

import numpy as np
from op_several import one, several


def ints(*shape, seed=0):
    """Numbers from -4 to 5 that repeat after 7, 9 or 11 places."""
    many = int(np.prod(shape))
    return ((np.arange(many) * (seed * 2 + 5) + seed) % (7 + 2 * (seed % 3)) - 4).astype(np.int32).reshape(shape)


PRODUCTS = (
    ("matrices", (2, 3), (3, 4)),
    ("row", (3,), (3, 4)),
    ("column", (2, 3), (3,)),
    ("vectors", (3,), (3,)),
    ("stacks", (2, 3, 4), (2, 4, 5)),
    ("stack-of-one", (1, 3, 4), (2, 4, 5)),
    ("stack-of-one-second", (2, 3, 4), (1, 4, 5)),
    ("stack-and-matrix", (2, 3, 4), (4, 5)),
    ("matrix-and-stack", (3, 4), (2, 4, 5)),
    ("stacks-both-broadcast", (2, 1, 3, 4), (3, 4, 2)),
    ("stacks-each-of-one", (3, 1, 2, 2), (1, 2, 2, 3)),
    ("row-and-stack", (4,), (2, 4, 3)),
    ("stack-and-column", (2, 3, 4), (4,)),
    ("rows-of-one", (1, 3), (3, 1)),
    ("inner-of-one", (2, 1), (1, 3)),
    ("no-term", (2, 0), (0, 3)),
    ("no-row", (0, 3), (3, 2)),
    ("no-stack", (0, 2, 3), (3, 2)),
)


def products(book):
    book.witness = "numpy"
    for name, left, right in PRODUCTS:
        a, b = ints(*left), ints(*right, seed=1)
        rows = [
            ("matmul(a, b)", np.matmul(a, b)),
            ('matmul(a, b, out_dtype="int64")', np.matmul(a.astype(np.int64), b)),
            ('matmul(a, b, out_dtype="float32")', np.matmul(a, b).astype(np.float32)),
        ]
        several(book, f"op.matmul.of-{name}", "LIB-801", [a, b], rows)
    a, b = (ints(*shape, seed=2).astype(np.int8) for shape in ((3, 9), (9, 2)))
    a, b = (a * np.int8(20)).astype(np.int8), (b * np.int8(3)).astype(np.int8)
    one(book, "op.matmul.wide", "LIB-801", [a, b], 'matmul(a, b, out_dtype="int32")', a.astype(np.int32) @ b)
    one(
        book,
        "op.matmul.int8-wraps",
        "LIB-801 NUM-101",
        [a, b],
        "matmul(a, b)",
        (a.astype(np.int32) @ b).astype(np.int8),
    )
    late(book)
    outer(book)
    dense(book)


def late(book):
    """Extents that are known only in the call, and none of them."""
    pairs = [(ints(r, k), ints(k, 2, seed=1)) for r, k in ((2, 3), (1, 1), (3, 0), (0, 2))]
    calls = [(list(pair), [np.matmul(*pair)]) for pair in pairs]
    types = ['R.Tensor(("n", "k"), "int32")', 'R.Tensor(("k", 2), "int32")']
    first, *rest = calls
    one(book, "op.matmul.extents-known-late", "LIB-801", first[0], "matmul(a, b)", first[1][0], *rest, types=types)
    pairs = [(ints(s, 2, 3), ints(t, 3, 2, seed=1)) for s, t in ((2, 2), (3, 3), (1, 1))]
    calls = [(list(pair), [np.matmul(*pair)]) for pair in pairs]
    types = ['R.Tensor(("s", 2, 3), "int32")', 'R.Tensor(("t", 3, 2), "int32")']
    first, *rest = calls
    one(book, "op.matmul.stacks-known-late", "LIB-801", first[0], "matmul(a, b)", first[1][0], *rest, types=types)


def outer(book):
    for name, many, more in (("two-and-three", 2, 3), ("one-and-four", 1, 4), ("none-and-two", 0, 2)):
        a, b = ints(many, seed=3), ints(more, seed=1)
        one(book, f"op.outer.{name}", "LIB-802", [a, b], "outer(a, b)", np.outer(a, b))
    a, b = np.array([np.nan, -0.0, np.inf], np.float32), np.array([1, -2], np.float32)
    one(book, "op.outer.special", "LIB-802", [a, b], "outer(a, b)", np.multiply.outer(a, b))


def dense(book):
    for rows, columns, inner in ((2, 3, 4), (1, 2, 1), (3, 1, 2), (2, 3, 0), (0, 2, 3)):
        a, b = ints(rows, inner), ints(columns, inner, seed=1)
        name = f"op.nn-dense.{rows}-{columns}-of-{inner}"
        one(book, name, "LIB-891", [a, b], "nn.dense(a, b)", a @ b.T, witness="numpy")


LETTERS = (
    ("turned", "ij->ji", (2, 3)),
    ("diagonal", "ii->i", (3, 3)),
    ("trace", "ii", (3, 3)),
    ("trace-arrow", "ii->", (3, 3)),
    ("sum", "ij->", (2, 3)),
    ("sum-of-rows", "ij->i", (2, 3)),
    ("sum-of-columns", "ij->j", (2, 3)),
    ("alphabet", "ba", (2, 3)),
    ("alphabet-of-two", "cb,ba", (2, 3), (3, 4)),
    ("capitals", "aB,BA", (2, 3), (3, 4)),
    ("spaces", " i j , j k -> k i ", (2, 3), (3, 4)),
    ("three", "ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
    ("three-vectors", "i,ij,j->", (2,), (2, 3), (3,)),
    ("outer", "i,j->ij", (2,), (3,)),
    ("outer-turned", "i,j->ji", (2,), (3,)),
    ("same-letters", "ij,ij->ij", (2, 3), (2, 3)),
    ("ones-broadcast", "ij,ij->ij", (1, 3), (2, 1)),
    ("ones-broadcast-back", "ij,ij->ij", (2, 1), (1, 3)),
    ("ones-summed", "ij,ij->i", (2, 1), (2, 3)),
    ("ones-first-summed", "ij,ij->j", (1, 3), (2, 3)),
    ("all-of-one", "ij,jk->ik", (1, 1), (1, 1)),
    ("dots-turned", "...ij->...ji", (2, 3, 4)),
    ("dots-of-none", "...ij->...ji", (2, 3)),
    ("dots-of-two", "...i->i...", (2, 3, 4)),
    ("dots-behind", "i...->...i", (2, 3, 4)),
    ("dots-between", "i...j->j...i", (2, 3, 4, 2)),
    ("dots-products", "...ij,...jk->...ik", (2, 3, 4), (2, 4, 2)),
    ("dots-one-side", "...ij,jk->...ik", (2, 3, 4), (4, 2)),
    ("dots-other-side", "ij,...jk->...ik", (3, 4), (2, 4, 2)),
    ("dots-of-different", "...i,...i->...", (3, 2, 4), (2, 4)),
    ("dots-of-different-back", "...i,...i->...", (2, 4), (3, 2, 4)),
    ("dots-broadcast", "...i,...i->...i", (3, 1, 2), (1, 4, 2)),
    ("dots-alone", "...,...->...", (2, 3), (3,)),
    ("dots-no-arrow", "...ij,...jk", (2, 2, 3), (2, 3, 4)),
    ("dots-no-arrow-alphabet", "b...a", (2, 3, 4)),
    ("no-term", "ij,jk->ik", (2, 0), (0, 3)),
    ("no-term-beside", "ij->i", (2, 0)),
    ("no-result", "ij->ij", (0, 3)),
    ("number", "->", ()),
    ("number-times", ",ij->ji", (), (2, 3)),
    ("summed-order", "kij->j", (2, 3, 4)),
)


def letters(book):
    book.witness = "numpy"
    for name, subscripts, *shapes in LETTERS:
        inputs = [ints(*shape, seed=at) for at, shape in enumerate(shapes)]
        form = f'einsum(({", ".join("abc"[: len(inputs)])},), subscripts="{subscripts}")'
        one(book, f"op.einsum.{name}", "LIB-960", inputs, form, np.asarray(np.einsum(subscripts, *inputs), np.int32))
    # Terms are added one by one over the letters in the order in which they come up, the last innermost.
    x = np.array([[1, 16777216, -16777216], [1, 1e8, -1e8]], np.float32)
    rows = [('einsum((a,), subscripts="ij->")', one_by_one(x)), ('einsum((b,), subscripts="ij->")', one_by_one(x.T))]
    several(book, "op.einsum.order-of-terms", "LIB-960", [x, np.ascontiguousarray(x.T)], rows)
    calls = [(ints(r, k), ints(k, 2, seed=1)) for r, k in ((2, 3), (1, 1), (3, 0), (0, 2))]
    calls = [(list(pair), [np.matmul(*pair)]) for pair in calls]
    types = ['R.Tensor(("n", "k"), "int32")', 'R.Tensor(("k", 2), "int32")']
    first, *rest = calls
    form = 'einsum((a, b), subscripts="ij,jk->ik")'
    one(book, "op.einsum.extents-known-late", "LIB-960", first[0], form, first[1][0], *rest, types=types)


def one_by_one(x):
    total = np.float32(0)
    for item in x.reshape(-1):
        total = np.float32(total + item)
    return np.asarray(total)
