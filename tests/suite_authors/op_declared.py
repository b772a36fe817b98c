"""Results whose types are declared, with extents that are formulas: they follow from the attributes."""

import numpy as np
from op_attention import attended, heads
from op_matrices import ints
from op_several import several

HUGE = 2**63 - 1
WITHIN = ", assume_inbound=True"


def tensors(*shapes):
    return [f'R.Tensor(({shape},), "int32")' for shape in shapes]


def slices(book):
    """`strided_slice` of a vector of `n`: begin, end and stride are numbers and formulas of `n`."""
    book.witness = "numpy"
    forms = {
        "within": [
            (f"(2,), (n,){WITHIN}", slice(2, None), "n - 2"),
            (f"(0,), (n - 1,){WITHIN}", slice(0, -1), "n - 1"),
            (f"(n - 4,), (n - 1,){WITHIN}", slice(-4, -1), "3"),
            (f"(1,), (n - 2,), (2,){WITHIN}", slice(1, -2, 2), "(n - 2) // 2"),
        ],
        "down": [
            (f"(n - 1,), (-1,), (-2,){WITHIN}", slice(None, None, -2), "(n + 1) // 2"),
            (f"(n - 2,), (0,), (-3,){WITHIN}", slice(-2, 0, -3), "n // 3"),
        ],
        "down-by-one": [
            (f"(n - 1,), (0,), (-1,){WITHIN}", slice(None, 0, -1), "n - 1"),
            (f"(n - 3,), (-1,), (-1,){WITHIN}", slice(-3, None, -1), "n - 2"),
        ],
        "brought": [
            ("(0,), (n,)", slice(None), "n"),
            (f"(0,), ({HUGE},)", slice(None), "n"),
            (f"(0,), ({HUGE},), (2,)", slice(None, None, 2), "(n + 1) // 2"),
            ("(0,), (n,), (3,)", slice(None, None, 3), "(n + 2) // 3"),
        ],
    }
    for name, rows in forms.items():
        calls = [[ints(n, seed=1)] for n in (5, 8)]
        found = [[x[places] for _, places, _ in rows] for (x,) in calls]
        said = [(f"strided_slice(a, (0,), {form})", value) for (form, _, _), value in zip(rows, found[0], strict=True)]
        several(
            book,
            f"op.strided-slice.declared-{name}",
            "LIB-910",
            calls[0],
            said,
            (calls[1], found[1]),
            types=['R.Tensor(("n",), "int32")'],
            before="n = T.int64()",
            declared=tensors(*(extent for _, _, extent in rows)),
        )


def axes(book):
    """`strided_slice` of a matrix of 6 and `n`: the axis that is not cut keeps its name."""
    book.witness = "numpy"
    rows = [
        ("(0,), (-4,), (-1,)", np.s_[-4:-1], "3, n"),
        ("(0,), (1,), (9,)", np.s_[1:9], "5, n"),
        ("(0,), (4,), (-7,), (-1,)", np.s_[4::-1], "5, n"),
        ("(0, 1), (1, 0), (6, n), (2, 1)", np.s_[1:6:2, :], "3, n"),
        (f"(0, 1), (0, 1), (2, n), (1, 1){WITHIN}", np.s_[0:2, 1:], "2, n - 1"),
    ]
    _along(book, "declared-axes", rows)
    rows = [
        ("(-2, -1), (1, 0), (6, n), (2, 1)", np.s_[1:6:2, :], "3, n"),
        (f"(-2,), (1,), (4,), (1,){WITHIN}", np.s_[1:4], "3, n"),
    ]
    _along(book, "declared-axes-from-the-end", rows)


def _along(book, name, rows):
    calls = [[ints(6, n, seed=1)] for n in (3, 4)]
    found = [[x[places] for _, places, _ in rows] for (x,) in calls]
    said = [(f"strided_slice(a, {form})", value) for (form, _, _), value in zip(rows, found[0], strict=True)]
    several(
        book,
        f"op.strided-slice.{name}",
        "LIB-910",
        calls[0],
        said,
        (calls[1], found[1]),
        types=['R.Tensor((6, "n"), "int32")'],
        before="n = T.int64()",
        declared=tensors(*(extent for _, _, extent in rows)),
    )


def keys(book):
    """Queries of a number that is known, keys of one that is not, and the other way round."""
    book.witness = "numpy"
    for name, types in (
        ("keys", ("(1, 3, 3, 2)", '(1, "m", 3, 2)', '(1, "m", 3, 1)')),
        ("queries", ('(1, "n", 3, 2)', "(1, 4, 3, 2)", "(1, 4, 3, 1)")),
    ):
        q, k, v = heads(3, 4, batch=1)
        rows = [
            (f"nn.attention(a, b, c, causal_mask={mask!r})", attended(q, k, v, mask=mask))
            for mask in ("BottomRight", "TopLeft")
        ]
        params = [f'R.Tensor({shape}, "float32")' for shape in types]
        several(book, f"op.nn-attention.{name}-of-a-name", "LIB-041", [q, k, v], rows, types=params)


def declared(book):
    slices(book)
    axes(book)
    keys(book)
