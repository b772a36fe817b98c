"""Area `op`: elements looked up and written at places that other tensors say, each by a loop over its definition.

Every dimension has an extent of its own, indices reach both ends, elements are repeated.
"""

import sys
from itertools import product

import numpy as np
from book import Book
from op_usual import op, several

NAN = np.nan


def floats(*shape, step=7):
    """Elements that are all different."""
    count = int(np.prod(shape))
    return ((np.arange(count) * step % (count or 1)) - count // 2 + 0.5).astype(np.float32).reshape(shape)


def ints(*values, dtype="int64"):
    return np.array(values, dtype)


# ------------------------------------------------------------------------------------------------ gathering

MODES = {
    "fast": lambda at, n: at,
    "clip": lambda at, n: min(max(at, 0), n - 1),
    "wrap": lambda at, n: at % n,
    "nan": lambda at, n: at if 0 <= at < n else None,
}


def take(x, at, axis, mode="fast"):
    moved = np.moveaxis(x, axis, 0)
    found = np.full([*at.shape, *moved.shape[1:]], NAN if x.dtype.kind == "f" else 0, x.dtype)
    for i in np.ndindex(*at.shape):
        place = MODES[mode](int(at[i]), len(moved))
        if place is not None:
            found[i] = moved[place]
    around = range(at.ndim, found.ndim)
    order = [*list(around)[:axis], *range(at.ndim), *list(around)[axis:]]
    return np.ascontiguousarray(found.transpose(order))


def gathering(book):
    x, wide = floats(2, 4, 3), ints([3, 0, 2], [1, 3, 0])
    for axis, at in (
        (0, ints(1, 0, 1)),
        (1, wide),
        (2, ints(2, dtype="int32")),
        (1, ints([[0]], [[3]], dtype="uint8")),
    ):
        name = f"op.take.pinned-{axis}-of-{'by'.join(map(str, at.shape)) or 'one'}"
        op(book, name, "LIB-920", f"take(a, b, axis={axis})", [x, at], take(x, at, axis))
    op(book, "op.take.pinned-from-the-end", "LIB-920", "take(a, b, axis=-2)", [x, wide], take(x, wide, 1))
    op(book, "op.take.pinned-vector", "LIB-920", "take(a, b)", [x[0, :, 0].copy(), wide], take(x[0, :, 0], wide, 0))
    at = np.array(3, np.int64)
    op(book, "op.take.pinned-no-dimensions", "LIB-920", "take(a, b, axis=1)", [x, at], take(x, at, 1))
    op(book, "op.take.pinned-number", "LIB-920", "take(a, R.prim_value(2), axis=1)", [x], x[:, 2])
    beyond = ints(-9, -5, -4, -1, 0, 3, 4, 5, 8)
    for mode, axis in product(("clip", "wrap", "nan"), (0, 1, 2)):
        form = f'take(a, b, axis={axis}, mode="{mode}")'
        op(book, f"op.take.pinned-{mode}-{axis}", "LIB-920", form, [x, beyond], take(x, beyond, axis, mode))
        narrow = beyond.astype(np.int8)
        form = f'take(a, b, axis={axis}, mode="{mode}")'
        op(book, f"op.take.pinned-{mode}-{axis}-int8", "LIB-920", form, [x, narrow], take(x, narrow, axis, mode))
    whole = np.arange(12, dtype=np.int32).reshape(3, 4)
    op(book, "op.take.pinned-wrap-int32", "LIB-920", 'take(a, b, axis=1, mode="wrap")', [whole, beyond],
       take(whole, beyond, 1, "wrap"))  # fmt: skip
    several(book, "op.take.pinned-symbolic", "LIB-920", 'a: R.Tensor((2, "n"), "float32"), b: R.Tensor(("m",), "int64")',
            'take(a, b, axis=1, mode="clip")',
            [([y, beyond], take(y, beyond, 1, "clip")) for y in (floats(2, 1), floats(2, 5))])  # fmt: skip
    gathered_elements(book)
    gathered_vectors(book)
    marks(book)
    buckets(book)
    collapsed(book)
    for shape in ((), (0,), (7,), (2, 3, 5)):
        name = f"op.size.pinned-{'by'.join(map(str, shape)) or 'none'}"
        op(book, name, "LIB-927", "size(a)", [floats(*shape)], np.array(int(np.prod(shape)), np.int64))
    several(book, "op.size.pinned-symbolic", "LIB-927", 'a: R.Tensor(("n", 3, "m"), "float32")', "size(a)",
            [([floats(*s)], np.array(int(np.prod(s)), np.int64)) for s in ((2, 3, 5), (1, 3, 0))])  # fmt: skip


def gathered_elements(book):
    x = floats(3, 4, 2)
    for axis, name, at in (
        (0, "longer", np.array([[[2, 0]], [[1, 1]], [[0, 2]], [[2, 2]], [[0, 0]]], np.int64)),
        (1, "shorter", np.array([[[3], [0]], [[1], [2]]], np.int32)),
        (2, "all", np.array([[[1, 0]] * 4, [[1, 1]] * 4, [[0, 1]] * 4], np.int64)),
    ):
        found = np.empty(at.shape, x.dtype)
        for i in np.ndindex(*at.shape):
            found[i] = x[(*i[:axis], at[i], *i[axis + 1 :])]
        for told in (axis, axis - 3):
            form = f"gather_elements(a, b, axis={told})"
            op(
                book,
                f"op.gather-elements.pinned-{name}{'' if told >= 0 else '-from-the-end'}",
                "LIB-921",
                form,
                [x, at],
                found,
            )
    at = ints([1, 0], [2, 2])
    y = floats(3, 2)
    found = np.array([[y[1, 0], y[0, 1]], [y[2, 0], y[2, 1]]])
    op(book, "op.gather-elements.pinned-default", "LIB-921", "gather_elements(a, b)", [y, at], found)
    several(book, "op.gather-elements.pinned-symbolic", "LIB-921",
            'a: R.Tensor((3, "n"), "float32"), b: R.Tensor(("m", 2), "int64")', "gather_elements(a, b, axis=0)",
            [([floats(3, 2), at], np.array([[floats(3, 2)[at[i, j], j] for j in (0, 1)] for i in (0, 1)]))])  # fmt: skip


def gather_nd(x, at, batch):
    outer, count = at.shape[:-1], at.shape[-1]
    found = np.empty([*outer, *x.shape[batch + count :]], x.dtype)
    for i in np.ndindex(*outer):
        found[i] = x[(*i[:batch], *at[i])]
    return found


def gathered_vectors(book):
    x = floats(2, 3, 4)
    for name, batch, at in (
        ("whole", 0, ints([1, 2, 3], [0, 0, 0], [1, 0, 3])),
        ("parts", 0, ints([[1, 2], [0, 1], [1, 0]])),
        ("rows", 0, ints([1], [0], [1], [1])),
        ("common", 1, ints([[2, 3], [0, 1], [1, 0]], [[0, 0], [2, 2], [1, 3]])),
        ("two-in-common", 2, ints([[3], [0], [1]], [[2], [2], [0]])),
        ("common-parts", 1, ints([2], [0])),
    ):
        form = f"gather_nd(a, b, batch_dims={batch})" if batch else "gather_nd(a, b)"
        op(book, f"op.gather-nd.pinned-{name}", "LIB-922", form, [x, at], gather_nd(x, at, batch))
    b, c, d = ints([1], [0]), ints(2, 0, 1), ints([[3, 0, 1], [2, 2, 3]], dtype="int32")
    for name, form, at in (
        ("one", "index_tensor(a, (b,))", [c % 2]),
        ("two", "index_tensor(a, (b, c))", [b, c]),
        ("three", "index_tensor(a, (b, c, d))", [b, c, d]),
        ("no-dimensions", "index_tensor(a, (b, c))", [np.array(1, np.int64), c]),
    ):
        found = np.ascontiguousarray(x[tuple(at)])
        op(book, f"op.index-tensor.pinned-{name}", "LIB-923", form, [x, *at], found)


def marks(book):
    at = ints([2, 0, -1], [3, 1, 4])
    for axis in (0, 1, 2, -1, -2, -3):
        found = np.full((2, 3, 4), -1.5, np.float32)
        for i in np.ndindex(2, 3):
            if 0 <= at[i] < 4:
                found[(*i, at[i])] = 5
        found = np.ascontiguousarray(np.moveaxis(found, -1, axis))
        form = f"one_hot(a, R.prim_value(T.float32(5)), R.prim_value(T.float32(-1.5)), depth=4, axis={axis})"
        name = f"op.one-hot.pinned-{axis if axis >= 0 else f'from-the-end-{-axis}'}"
        op(book, name, "LIB-924", form, [at], found)
    form = "one_hot(a, R.prim_value(7), R.prim_value(3), depth=1)"
    op(book, "op.one-hot.pinned-one-place", "LIB-924", form, [ints(1, 0, -1)], ints([3], [7], [3]))
    op(book, "op.one-hot.pinned-int8", "LIB-924", form.replace("depth=1", "depth=2"), [ints(1, 0, dtype="int8")],
       ints([3, 7], [7, 3]))  # fmt: skip


def buckets(book):
    edges = np.array([-1, 0, 2, 2, 5], np.float32)
    x = np.array([[-2, -1, -0.5, 0, 1], [2, 3, 5, 6, NAN]], np.float32)
    for right, small in product((False, True), (False, True)):
        found = [[sum(bool(e <= v if right else e < v) for e in edges) for v in row] for row in x]
        form = f"bucketize(a, b, out_int32={small}, right={right})"
        name = f"op.bucketize.pinned-{'right' if right else 'left'}-{'int32' if small else 'int64'}"
        op(book, name, "LIB-925", form, [x[:, :4].copy(), edges], np.array(found, "int32" if small else "int64")[:, :4])
        op(book, f"{name}-nan", "LIB-925", form, [x, edges], np.array(found, "int32" if small else "int64"))
    op(book, "op.bucketize.pinned-default", "LIB-925", "bucketize(a, b)", [ints(4, 5, 6, dtype="int32"),
       ints(5, 6, dtype="int32")], ints(0, 0, 1))  # fmt: skip
    several(book, "op.bucketize.pinned-symbolic", "LIB-925",
            'a: R.Tensor((3,), "int64"), b: R.Tensor(("n",), "int64")', "bucketize(a, b, right=True)",
            [([ints(1, 4, 9), ints(1, 2, 8)], ints(1, 2, 3)), ([ints(1, 4, 9), ints()], ints(0, 0, 0))])  # fmt: skip


def collapse(x, shape):
    new = x.ndim - len(shape)
    total = x.sum(axis=tuple(range(new)))
    gone = tuple(at for at, want in enumerate(shape) if want == 1)
    return total.sum(axis=gone, keepdims=True) if gone else total


def collapsed(book):
    x = np.arange(24, dtype=np.int32).reshape(2, 3, 4) ** 2 % 37
    for shape in ((2, 3, 4), (3, 4), (4,), (), (1, 3, 4), (2, 1, 4), (1, 3, 1), (3, 1), (1, 4), (1,), (1, 1, 1)):
        found = collapse(x, shape).astype(np.int32)
        name = "by".join(map(str, shape)) or "none"
        form = f"collapse_sum_to(a, R.shape({list(shape)}))"
        op(book, f"op.collapse-sum-to.pinned-{name}", "LIB-926", form, [x], found)
        like = np.zeros(shape, np.int32)
        op(book, f"op.collapse-sum-like.pinned-{name}", "LIB-926", "collapse_sum_like(a, b)", [x, like], found)
    row = np.arange(5, dtype=np.int32).reshape(1, 5)
    op(book, "op.collapse-sum-to.pinned-one-to-one", "LIB-926", "collapse_sum_to(a, R.shape([1, 1]))", [row],
       collapse(row, (1, 1)).astype(np.int32))  # fmt: skip
    several(book, "op.collapse-sum-to.pinned-symbolic", "LIB-926", 'a: R.Tensor(("n", 3, "m"), "int32")',
            "collapse_sum_to(a, R.shape([3, 1]))",
            [([y], collapse(y, (3, 1)).astype(np.int32)) for y in (x, x[:1, :, :1].copy(), x[:, :, :3].copy())])  # fmt: skip


# ------------------------------------------------------------------------------------------------ scattering

MEET = {
    "update": lambda old, new: new,
    "add": lambda old, new: old + new,
    "mul": lambda old, new: old * new,
    "mean": lambda old, new: (old + new) / 2,
    "max": max,
    "min": min,
}


def scattering(book):
    x = floats(3, 4, 2)
    at = np.array([[[2, 0], [-1, 1], [2, -3]], [[2, 2], [0, 0], [1, 2]]], np.int64)
    new = (floats(2, 3, 2, step=5) * 3).astype(np.float32)
    for axis, reduction in (
        (0, "update"),
        (0, "add"),
        (0, "mul"),
        (0, "mean"),
        (0, "max"),
        (0, "min"),
        (1, "add"),
        (-3, "min"),
        (2, "update"),
    ):
        own = axis % 3
        index = np.clip(at, -x.shape[own], x.shape[own] - 1)
        found = x.copy()
        for i in np.ndindex(*at.shape):
            to = (*i[:own], index[i], *i[own + 1 :])
            found[to] = MEET[reduction](found[to], new[i])
        form = f'scatter_elements(a, b, c, axis={axis}, reduction="{reduction}")'
        name = f"op.scatter-elements.pinned-{reduction}-{axis if axis >= 0 else 'from-the-end'}"
        op(book, name, "LIB-930", form, [x, index, new], found)
    small = ints(9, 8, 7, dtype="int32"), ints(1, -3, dtype="int32"), ints(5, 6, dtype="int32")
    op(
        book,
        "op.scatter-elements.pinned-default",
        "LIB-930",
        "scatter_elements(a, b, c)",
        [*small],
        ints(6, 5, 7, dtype="int32"),
    )
    rows = floats(3, 2), ints([2, 0], [1, -2]), floats(2, 2) * 4
    found = rows[0].copy()
    found[2, 0], found[0, 1], found[1, 0], found[1, 1] = rows[2].reshape(-1)
    op(book, "op.scatter-elements.pinned-default-rows", "LIB-930", "scatter_elements(a, b, c)", [*rows], found)
    several(book, "op.scatter-elements.pinned-symbolic", "LIB-930",
            'a: R.Tensor(("n",), "int32"), b: R.Tensor(("m",), "int64"), c: R.Tensor(("m",), "int32")',
            'scatter_elements(a, b, c, reduction="add")',
            [([small[0], ints(-1, 2, -3), ints(1, 2, 3, dtype="int32")], ints(12, 8, 10, dtype="int32")),
             ([small[0], ints(), ints(dtype="int32")], small[0])])  # fmt: skip
    vectors(book)
    puts(book)


def vectors(book):
    x = floats(2, 3, 4)
    for name, at in (
        ("elements", ints([1, 2, 3], [0, 0, 0], [1, 2, 3], [1, 0, 2])),
        ("rows", ints([[1, 2], [0, 1], [1, 2]], [[0, 0], [1, 2], [0, 2]])),
        ("parts", ints([1], [0], [1], dtype="int32")),
    ):
        count = at.shape[-1]
        new = (floats(*at.shape[:-1], *x.shape[count:], step=5) * 2 + 0.5).astype(np.float32)
        for reduction in ("update", "add", "mul", "max", "min"):
            found = x.copy()
            for i in np.ndindex(*new.shape):
                to = (*at[i[: at.ndim - 1]], *i[at.ndim - 1 :])
                found[to] = MEET[reduction](found[to], new[i])
            form = f'scatter_nd(a, b, c, reduction="{reduction}")'
            op(book, f"op.scatter-nd.pinned-{name}-{reduction}", "LIB-931", form, [x, at, new], found)
    at, new = ints([2], [0]), ints(5, 6, dtype="int32")
    op(book, "op.scatter-nd.pinned-default", "LIB-931", "scatter_nd(a, b, c)", [ints(9, 8, 7, dtype="int32"), at, new],
       ints(6, 8, 5, dtype="int32"))  # fmt: skip


def puts(book):
    x = np.arange(12, dtype=np.int32).reshape(3, 4) * 5 % 12
    b, c = ints([2], [-3]), ints(-1, 0, 3)
    for name, value in (
        ("all", ints([1, 2, 3], [4, 5, 6], dtype="int32")),
        ("row", ints(7, 8, 9, dtype="int32")),
        ("column", ints([7], [8], dtype="int32")),
        ("one", np.array(50, np.int32)),
    ):
        for accumulate in (False, True):
            found, wide = x.copy(), np.broadcast_to(value, (2, 3))
            for i in np.ndindex(2, 3):
                to = b[i[0], 0], c[i[1]]
                found[to] = found[to] * accumulate + wide[i]
            form = f"index_put(a, (b, c), d, accumulate={accumulate})"
            name_ = f"op.index-put.pinned-{name}{'-added' if accumulate else ''}"
            op(book, name_, "LIB-932", form, [x, b, c, value], found)
    op(book, "op.index-put.pinned-default", "LIB-932", "index_put(a, (b,), c)", [ints(3, 4, 5), ints(-2, 0, dtype="int32"),
       ints(8, 9)], ints(9, 8, 5))  # fmt: skip


if __name__ == "__main__":
    pages = Book("op", "numpy", strict=False)
    for part in (gathering, scattering):
        part(pages)
        stem = f"places-{part.__name__}"
        sys.stdout.write(f"{stem} {pages.write(stem, f'Places that elements are at: {part.__name__}.')}\n")
    sys.stdout.write("".join(f"{line}\n" for line in pages.disagreements))
