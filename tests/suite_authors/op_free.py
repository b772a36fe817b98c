"""What the text leaves to TVM's functions, and what the extents of a call decide."""

import numpy as np
from op_matrices import ints
from op_several import one, several

I32 = '"int32"'


def free(book):
    book.witness = "numpy"
    kept(book)
    parts(book)
    decided(book)
    filled(book)


def kept(book):
    """An extent of 0 in the shape of a reshape."""
    a = ints(2, 3, 4, seed=1)
    forms = [
        ("reshape(a, (0, 0, 2, -1))", a.reshape(2, 3, 2, 2)),
        ("reshape(a, R.shape([0, -1]))", a.reshape(2, 12)),
        ("reshape(a, (-1, 0, 1))", a.reshape(8, 3, 1)),
        ("reshape(a, (6, 4, 1))", a.reshape(6, 4, 1)),
    ]
    several(book, "op.reshape.kept-extents", "RLX-241", [a], forms)
    types = [f'R.Tensor(("n", 3, "m"), {I32})']
    calls = []
    for extents in ((2, 3, 4), (1, 3, 2), (4, 3, 6)):
        b = ints(*extents, seed=2)
        calls.append(([b], [b.reshape(extents[0], 3, extents[2] // 2, 2), b.reshape(extents[0], -1)]))
    rows = list(zip(("reshape(a, (0, 0, -1, 2))", "reshape(a, (0, -1))"), calls[0][1], strict=True))
    several(book, "op.reshape.kept-extents-symbolic", "RLX-241", calls[0][0], rows, *calls[1:], types=types)
    for extents, form, wanted in (
        ((0, 3), "(0, -1, 1)", (0, 0, 1)),
        ((3, 0), "(0, 0)", (3, 0)),
        ((0, 3), "(-1, 0)", (0, 3)),
    ):
        name = f"op.reshape.kept-extents-{extents[0]}-{len(wanted)}-{wanted[0]}"
        one(book, name, "RLX-241", [ints(*extents, seed=1)], f"reshape(a, {form})", np.zeros(wanted, np.int32))


def parts(book):
    """Parts of an axis whose extent only the call has; places past its end."""
    forms = ("split(a, 2)", "split(a, 3)", "split(a, 4)")

    def cut(a):
        found = []
        for count in (2, 3, 4):
            size = -(-len(a) // count)
            found.append([a[min(at * size, len(a)) : (at + 1) * size] for at in range(count)])
        return found

    calls = [([a], cut(a)) for a in (ints(n, 2, seed=n) for n in (7, 6, 5, 1, 0))]
    rows = list(zip(forms, calls[0][1], strict=True))
    types = [f'R.Tensor(("n", 2), {I32})']
    several(book, "op.split.parts-of-the-call", "LIB-906", calls[0][0], rows, *calls[1:], types=types)
    calls = [
        ([a], [np.split(a, [2, 8]), np.split(a, [8, 9]), np.split(a, [0, 3])])
        for a in (ints(5, seed=1), ints(1, seed=2), ints(9, seed=3))
    ]
    rows = list(zip((f"split(a, {at})" for at in ([2, 8], [8, 9], [0, 3])), calls[0][1], strict=True))
    several(book, "op.split.past-the-end", "LIB-906", calls[0][0], rows)
    several(
        book,
        "op.split.past-the-end-symbolic",
        "LIB-906",
        calls[0][0],
        rows,
        *calls[1:],
        types=[f'R.Tensor(("n",), {I32})'],
    )


def decided(book):
    """Extents that are 1, or not, as the call has them."""
    types = [f'R.Tensor(("n", 3, "m"), {I32})']
    calls = [
        ([a], [a.squeeze(), a.squeeze() + a.squeeze()])
        for a in (ints(*s, seed=1) for s in ((1, 3, 1), (2, 3, 1), (1, 3, 2), (2, 3, 2)))
    ]
    rows = list(zip(("squeeze(a)", "add(R.squeeze(a), R.squeeze(a))"), calls[0][1], strict=True))
    several(book, "op.squeeze.extents-of-the-call", "LIB-902 RLX-135", calls[0][0], rows, *calls[1:], types=types)
    types = [f'R.Tensor(("n", "m"), {I32})', f'R.Tensor(("k", "l"), {I32})']
    calls = []
    for first, second in (((2, 1), (3, 4)), ((2, 3), (3, 4)), ((2, 3), (1, 4)), ((2, 0), (1, 2))):
        a, b = ints(*first, seed=1), ints(*second, seed=2)
        wide = (2, max(first[1], second[0]) if 0 not in first else 0)
        calls.append(([a, b], [np.broadcast_to(a, wide) @ np.broadcast_to(b, (wide[1], second[1]))]))
    rows = [('einsum((a, b), subscripts="ij,jk->ik")', calls[0][1][0])]
    several(book, "op.einsum.extents-of-the-call", "LIB-960 RLX-135", calls[0][0], rows, *calls[1:], types=types)
    a = ints(2, 3, 4, seed=3)
    forms = [
        ('einsum((a,), subscripts="i...->i")', a.sum((1, 2), dtype=np.int32)),
        ('einsum((a,), subscripts="...i->i")', a.sum((0, 1), dtype=np.int32)),
    ]
    several(book, "op.einsum.dots-that-the-result-has-not", "LIB-960", [a], forms)
    types = [f"R.Tensor((2, 3), {I32})", f'R.Tensor(("n", 3), {I32})']
    calls = [
        (
            [a[:, :, 0].copy(), ints(n, 3, seed=5)],
            [a[:, :, 0].sum(0, keepdims=True, dtype=np.int32) if n == 1 else a[:, :, 0]],
        )
        for n in (1, 2)
    ]
    rows = [("collapse_sum_like(a, b)", calls[0][1][0])]
    several(
        book, "op.collapse-sum-like.extents-of-the-call", "LIB-926 RLX-135", calls[0][0], rows, *calls[1:], types=types
    )


def filled(book):
    """Arguments that are left out."""
    a = ints(2, 3, seed=1)
    i64 = np.int64
    forms = [
        ("arange(5)", np.arange(5, dtype=i64)),
        ("arange(2, 5)", np.arange(2, 5, dtype=i64)),
        ("arange(2, 9, 3)", np.arange(2, 9, 3, dtype=i64)),
        ("arange(1, end=8, step=3)", np.arange(1, 8, 3, dtype=i64)),
        ("arange(T.int32(4))", np.arange(4, dtype=i64)),
        ('arange(3, dtype="int8")', np.arange(3, dtype=np.int8)),
        ("arange(1.0, 4)", np.arange(1, 4, dtype=np.float32)),
        ("arange(T.float32(3))", np.arange(3, dtype=np.float32)),
    ]
    several(book, "op.arange.left-out", "LIB-303", [a], forms)
    v = np.array([3, 1, 3, 2, 1, 1], np.int32)
    forms = [
        ("unique(a, axis=0)", np.unique(v)),
        ("unique(a, axis=None)", np.unique(v)),
        ("unique(a, return_counts=True)", list(np.unique(v, return_counts=True))),
        ("unique(a, True, return_inverse=True)", list(np.unique(v, return_inverse=True))),
    ]
    several(book, "op.unique.left-out", "LIB-971", [v], forms)
    w, b = ints(4, 3, seed=2), ints(4, seed=3)
    forms = [
        ("linear(a, b, c)", a @ w.T + b),
        ("linear(a, b)", a @ w.T),
        ("linear(a, b, bias=c)", a @ w.T + b),
        ('linear(a, b, out_dtype="int64")', (a.astype(i64) @ w.T.astype(i64))),
    ]
    several(book, "op.linear.plain", "LIB-801 LIB-201", [a, w, b], forms)
