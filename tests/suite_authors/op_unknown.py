"""Arguments whose types do not say their shape, dtype or value: the operator is chosen when it is called."""

import numpy as np
from book import number
from op_matrices import ints
from op_several import one, several


def unknown(book):
    book.witness = "numpy"
    a, b = ints(2, 3, seed=1), ints(2, 3, seed=2)
    known = 'R.Tensor((2, 3), "int32")'
    forms = [
        ("subtract(a, b)", a - b),
        ("subtract(b, a)", b - a),
        ("concat((a, b), axis=0)", np.concatenate([a, b], 0)),
        ("concat((b, a), axis=1)", np.concatenate([b, a], 1)),
        ('einsum((a, b), subscripts="ij,kj->ik")', a @ b.T),
        ("sum(b, axis=[0])", b.sum(0, dtype=np.int32)),
        ("ewise_fma(a, b, a)", a * b + a),
    ]
    for name, types in (
        ("shape-of-the-second", [known, 'R.Tensor("int32", ndim=2)']),
        ("shape-of-the-first", ['R.Tensor("int32", ndim=2)', known]),
        ("shapes", ['R.Tensor("int32", ndim=2)'] * 2),
        ("dimensions", ['R.Tensor("int32")', known]),
    ):
        several(book, f"op.subtract.unknown-{name}", "LIB-201 RLX-135", [a, b], forms, types=types)
    for name, types in (
        ("dtype-of-the-second", [known, "R.Tensor((2, 3))"]),
        ("dtype-of-the-first", ["R.Tensor((2, 3))", known]),
        ("dtypes", ["R.Tensor(ndim=2)", "R.Tensor((2, 3))"]),
    ):
        several(book, f"op.subtract.unknown-{name}", "LIB-201 RLX-135", [a, b], forms[:3], types=types)
    shapes(book)
    extents(book)
    numbers(book)
    counted(book)


def extents(book):
    """Extents of which one may be 1: which, is known in the call."""
    sizes = ((1, 3), (3, 1), (3, 3), (1, 1), (1, 2))
    for name, types in (
        ("two", ['R.Tensor(("n",), "int32")', 'R.Tensor(("m",), "int32")']),
        ("one-more", ['R.Tensor(("n",), "int32")', 'R.Tensor(("n + 1",), "int32")']),
        ("a-number", ['R.Tensor(("n",), "int32")', 'R.Tensor((3,), "int32")']),
    ):
        calls = []
        for n, m in sizes:
            if (name == "one-more" and m != n + 1) or (name == "a-number" and m != 3):
                continue
            a, b = ints(n, seed=1), ints(m, seed=2)
            calls.append(([a, b], [a - b, b - a, np.where(a > b, a, b)]))
        forms = ["subtract(a, b)", "subtract(b, a)", "maximum(a, b)"]
        rows = list(zip(forms, calls[0][1], strict=True))
        several(book, f"op.subtract.extents-{name}", "LIB-201", calls[0][0], rows, *calls[1:], types=types)


def shapes(book):
    """A shape whose values, or whose length, only the call has."""
    row = ints(3, seed=1)
    for name, kind in (("values", "R.Shape(ndim=2)"), ("length", "R.Shape")):
        calls = []
        for extents in ((2, 3), (4, 3), (0, 3)):
            found = [np.zeros(extents, np.int32), np.broadcast_to(row, extents), np.full(extents, row[0])]
            calls.append(([{"extents": list(extents)}, row, np.asarray(row[0])], found))
        forms = ['zeros(a, dtype="int32")', "broadcast_to(b, a)", "full(a, c)"]
        rows = list(zip(forms, calls[0][1], strict=True))
        types = [kind, 'R.Tensor((3,), "int32")', 'R.Tensor((), "int32")']
        several(book, f"op.zeros.unknown-{name}", "LIB-301 RLX-135", calls[0][0], rows, *calls[1:], types=types)


def numbers(book):
    """A number that the call has."""
    x = ints(3, 4, seed=1).astype(np.int64)
    calls = []
    for k in (-1, 0, 2):
        found = [np.tril(x, k), np.triu(x, k), np.eye(3, 4, k, np.float32), x - k, k - x, np.minimum(x, k)]
        calls.append(
            (
                [number(k, "int64"), x],
                [np.asarray(f, np.float32 if at == 2 else np.int64) for at, f in enumerate(found)],
            )
        )
    forms = [
        "tril(b, a)",
        "triu(b, a)",
        'eye(3, 4, a, dtype="float32")',
        "subtract(b, a)",
        "subtract(a, b)",
        "minimum(b, a)",
    ]
    rows = list(zip(forms, calls[0][1], strict=True))
    types = ['R.Prim("int64")', 'R.Tensor((3, 4), "int64")']
    several(book, "op.tril.unknown-diagonal", "LIB-304 LIB-302 RLX-135", calls[0][0], rows, *calls[1:], types=types)
    calls = [([number(k, "int64")], np.arange(2, k, 3)) for k in (9, 2, 12)]
    form = 'arange(R.prim_value(2), a, R.prim_value(3), dtype="int64")'
    calls = [(args, [found]) for args, found in calls]
    one(
        book,
        "op.arange.unknown-end",
        "LIB-303 RLX-135",
        calls[0][0],
        form,
        calls[0][1][0],
        *calls[1:],
        types=['R.Prim("int64")'],
    )


def counted(book):
    """How many places are not 0 is counted in the call: 1 beside 2 is broadcast."""
    flags, more = np.array([[False, False, False], [False, True, False]]), np.int64([[5], [7]])
    places = np.array(np.nonzero(flags), np.int64)
    form = "add(places, R.concat((places, b), axis=1))"
    found = places + np.concatenate([places, more], 1)
    before = "places = R.nonzero(a)"
    one(book, "op.nonzero.beside-one-more", "LIB-970 RLX-135", [flags, more], form, found, before=before)
    x = np.int32([7, 3, 7, 3])
    form = "add(groups[1], b)"
    before = "groups = R.unique(a, R.prim_value(True), R.prim_value(False), R.prim_value(True), R.prim_value(False))"
    found = np.int64([1, 0, 1, 0]) + np.int64([5, 1, 2, 3])
    one(book, "op.unique.inverse-beside", "LIB-971 RLX-135", [x, np.int64([5, 1, 2, 3])], form, found, before=before)
