"""Area `op`: elements brought into an order, and counted, by what Python sorts and counts.

Equal elements stand apart, rows have every length up to where runs of three widths are merged.
"""

import sys
from itertools import product

import numpy as np
from book import Book
from op_usual import op, several

NAN, INF = np.nan, np.inf


def ints(*values, dtype="int64"):
    return np.array(values, dtype)


TIES = np.array(
    [[3, 1, 3, 2, 1, 3, 0, 2, 1], [9, 8, 7, 6, 5, 4, 3, 2, 1], [1, 2, 3, 4, 5, 6, 7, 8, 9], [5, 5, 5, 5, 5, 5, 5, 5, 5]]
)


def places(x, axis, *, descending=False):
    """Stable in both directions; NaN is above every number."""
    moved = np.moveaxis(x, axis, -1)
    found = np.empty(moved.shape, np.int64)
    for at in np.ndindex(*moved.shape[:-1]):
        row = [(bool(v != v), 0 if v != v else v) for v in moved[at].tolist()]
        found[at] = sorted(range(len(row)), key=row.__getitem__) if not descending else falling(row)
    return np.moveaxis(found, -1, axis)


def falling(row):
    found = []
    for value in sorted(set(row), reverse=True):
        found += [k for k, each in enumerate(row) if each == value]
    return found


def at_places(x, where, axis):
    return np.ascontiguousarray(np.take_along_axis(x, where, axis))


def sorting(book):
    cube = TIES[:3, :8].reshape(2, 3, 4).astype(np.float32)
    nan = np.array([[NAN, 1, -0.0, NAN, -INF, 0.0, INF]], np.float32)
    for dtype in ("int32", "float32"):
        x = TIES.astype(dtype)
        for axis, down in product((0, 1, -1), (False, True)):
            where = places(x, axis, descending=down)
            said = f"axis={axis}, descending={down}"
            name = f"pinned-{dtype}-{axis if axis >= 0 else 'last'}-{'down' if down else 'up'}"
            op(book, f"op.sort.{name}", "LIB-950", f"sort(a, {said})", [x], at_places(x, where, axis))
            form = f'argsort(a, {said}, dtype="int64")'
            op(book, f"op.argsort.{name}", "LIB-951", form, [x], np.ascontiguousarray(where))
    where = np.ascontiguousarray(places(TIES, 1).astype(np.int32))
    op(book, "op.argsort.pinned-default", "LIB-951", "argsort(a)", [TIES.astype(np.int32)], where)
    op(book, "op.sort.pinned-default", "LIB-950", "sort(a)", [TIES.astype(np.int32)], np.sort(TIES.astype(np.int32)))
    for axis in (0, 1, 2):
        where = places(cube, axis)
        op(
            book,
            f"op.sort.pinned-cube-{axis}",
            "LIB-950",
            f"sort(a, axis={axis})",
            [cube],
            at_places(cube, where, axis),
        )
    for down in (False, True):
        where = places(nan, 1, descending=down)
        name = "pinned-nan-down" if down else "pinned-nan-up"
        op(book, f"op.sort.{name}", "LIB-950", f"sort(a, descending={down})", [nan], at_places(nan, where, 1))
        op(book, f"op.argsort.{name}", "LIB-951", f"argsort(a, descending={down})", [nan], where.astype(np.int32))
    for n in (0, 1, 2, 3, 5, 17):
        row = (np.arange(n) * 7 % 17 // 3).astype(np.int32).reshape(1, n)
        where = places(row, 1)
        op(book, f"op.argsort.pinned-length-{n}", "LIB-951", "argsort(a)", [row], where.astype(np.int32))
    several(book, "op.argsort.pinned-symbolic", "LIB-951", 'a: R.Tensor(("n", "m"), "int32")', "argsort(a, axis=0)",
            [([x], np.ascontiguousarray(places(x, 0).astype(np.int32)))
             for x in (TIES.astype(np.int32), TIES.T.astype(np.int32).copy(), ints([4], dtype="int32"))])  # fmt: skip
    tops(book)
    medians(book)


def tops(book):
    x = TIES.astype(np.int32)
    for name, k, axis, largest, kind, dtype in (
        ("both", 3, 1, True, "both", "int64"),
        ("least", 2, 1, False, "both", "int32"),
        ("values", 4, -1, True, "values", "int32"),
        ("indices", 2, 0, True, "indices", "int64"),
        ("indices-least", 3, 0, False, "indices", "int32"),
        ("all", 0, 0, True, "both", "int64"),
        ("all-below", -1, 1, False, "both", "int32"),
        ("whole", 9, 1, True, "both", "int32"),
    ):
        where = places(x, axis, descending=largest)
        count = k if k > 0 else x.shape[axis]
        where = np.ascontiguousarray(np.take(where, range(count), axis))
        values, found = at_places(x, where, axis), where.astype(dtype)
        result = {"both": [values, found], "values": values, "indices": found}[kind]
        form = f'topk(a, k={k}, axis={axis}, ret_type="{kind}", largest={largest}, dtype="{dtype}")'
        op(book, f"op.topk.pinned-{name}", "LIB-952", form, [x], result)
    where = places(x, 1, descending=True)[:, :1].copy()
    found = [at_places(x, where, 1), where.astype(np.int32)]
    op(book, "op.topk.pinned-default", "LIB-952", "topk(a)", [x], found)


def median(x, axis):
    where = np.take(places(x, axis), [(x.shape[axis] - 1) // 2], axis)
    return at_places(x, where, axis), np.ascontiguousarray(where)


def medians(book):
    cube = TIES.reshape(4, 3, 3)[:, :2].astype(np.float32).copy()
    for axis, keep in product((0, 1, 2, -1), (False, True)):
        own = axis % 3
        found = [one if keep else np.ascontiguousarray(one.squeeze(own)) for one in median(cube, own)]
        name = f"op.median.pinned-{axis if axis >= 0 else 'last'}{'-kept' if keep else ''}"
        op(book, name, "LIB-953", f"median(a, axis=[{axis}], keepdims={keep})", [cube], found)
    middle = np.sort(cube.reshape(-1))[11]
    op(book, "op.median.pinned-all", "LIB-953", "median(a)", [cube], np.array(middle))
    op(book, "op.median.pinned-all-kept", "LIB-953", "median(a, keepdims=True)", [cube], np.full((1, 1, 1), middle))
    odd = np.array([NAN, 4, 1, 9, NAN], np.float32)
    op(book, "op.median.pinned-nan", "LIB-953", "median(a, axis=0)", [odd], [np.array(9, np.float32), np.array(3)])
    op(
        book,
        "op.median.pinned-one",
        "LIB-953",
        "median(a, axis=[0])",
        [odd[1:2].copy()],
        [np.array(4, np.float32), np.array(0)],
    )


# ------------------------------------------------------------------------------------------------ counting


def counting(book):
    cube = np.array(
        [[[0, 3, 0], [1, 0, 0]], [[0, 0, 0], [0, 7, -2]], [[5, 0, 0], [0, 0, 4]], [[0, 0, 0], [0, 0, 0]]], np.int32
    )
    for name, x in (
        ("cube", cube),
        ("vector", cube.reshape(-1)),
        ("matrix", cube.reshape(3, 8).astype(np.float32)),
        ("bool", cube[:2, 1] != 0),
        ("special", np.array([[0, -0.0, NAN, INF, 1e-45, 1]], np.float32)),
        ("none", np.zeros((2, 3), np.int64)),
    ):
        found = np.stack(np.nonzero(x)).astype(np.int64)
        op(book, f"op.nonzero.pinned-{name}", "LIB-970", "nonzero(a)", [np.ascontiguousarray(x)], found)
    for value in (0, 4):
        found = np.zeros((1, int(value != 0)), np.int64)
        op(
            book,
            f"op.nonzero.pinned-no-dimensions-{value}",
            "LIB-970",
            "nonzero(a)",
            [np.array(value, np.int32)],
            found,
        )
    uniques(book)


def unique(x, axis, *, is_sorted):
    """The slices once, where each is first, which one each is, how often it is there."""
    rows = np.moveaxis(x, axis, 0)
    keys = [tuple((bool(v != v), 0 if v != v else v) for v in row.reshape(-1).tolist()) for row in rows]
    groups = sorted(set(keys)) if is_sorted else sorted(set(keys), key=keys.index)
    first = [keys.index(group) for group in groups]
    kept = np.moveaxis(rows[first], 0, axis)
    which, times = [groups.index(key) for key in keys], [keys.count(group) for group in groups]
    return [np.ascontiguousarray(kept), *(np.array(each, np.int64) for each in (first, which, times))]


FLAGS = "sorted", "return_index", "return_inverse", "return_counts"


def uniques(book):
    row = np.array([5, 3, 5, 9, 3, 3, 1, 9], np.int32)
    for name, flags in (
        ("sorted", (True, True, True, True)),
        ("as-found", (False, True, True, True)),
        ("index", (True, True, False, False)),
        ("inverse", (True, False, True, False)),
        ("counts", (True, False, False, True)),
        ("index-as-found", (False, True, False, False)),
        ("inverse-as-found", (False, False, True, False)),
        ("counts-as-found", (False, False, False, True)),
        ("alone", (True, False, False, False)),
    ):
        found = unique(row, 0, is_sorted=flags[0])
        kept = [one for one, is_wanted in zip(found, (True, *flags[1:]), strict=True) if is_wanted]
        said = ", ".join(f"{flag}=R.prim_value({value})" for flag, value in zip(FLAGS, flags, strict=True))
        op(book, f"op.unique.pinned-{name}", "LIB-971", f"unique(a, {said})", [row], kept if len(kept) > 1 else kept[0])
    op(book, "op.unique.pinned-default", "LIB-971", "unique(a)", [row], unique(row, 0, is_sorted=True)[0])
    special = np.array([NAN, -0.0, 2, 0.0, NAN, -INF, 2], np.float32)
    every = ", ".join(f"{flag}=R.prim_value(True)" for flag in FLAGS)
    op(
        book,
        "op.unique.pinned-special",
        "LIB-971",
        f"unique(a, {every})",
        [special],
        unique(special, 0, is_sorted=True),
    )
    for is_sorted in (True, False):
        said = every if is_sorted else every.replace("True", "False", 1)
        for name, axis, x in slices():
            form = f"unique(a, {said}, axis=R.prim_value({axis}))"
            here = f"op.unique.pinned-{name}{'' if is_sorted else '-as-found'}"
            op(book, here, "LIB-971", form, [x], unique(x, axis % x.ndim, is_sorted=is_sorted))
        flat = np.array([[4, 4, 0], [2, 0, 4]], np.int32)
        name = f"op.unique.pinned-of-matrix{'' if is_sorted else '-as-found'}"
        op(book, name, "LIB-971", f"unique(a, {said})", [flat], unique(flat.reshape(-1), 0, is_sorted=is_sorted))


def slices():
    yield "rows", 0, np.array([[2, 1, 3], [1, 9, 0], [2, 1, 3], [1, 2, 7], [2, 0, 5], [1, 9, 0]], np.int32)
    yield "columns", 1, np.array([[2, 1, 2, 1, 2], [1, 9, 1, 2, 1]], np.int32)
    yield "from-the-end", -1, np.array([[7, 7, 0], [7, 7, 0], [1, 1, 5]], np.int32)
    cube = np.array([[[1, 0, 1, 1], [2, 2, 2, 3], [0, 1, 0, 0]], [[1, 1, 1, 1], [0, 5, 0, 0], [4, 4, 4, 4]]], np.int32)
    yield "inner", 2, cube
    yield "middle", 1, np.ascontiguousarray(cube.transpose(0, 2, 1))
    yield "outer", 0, np.ascontiguousarray(cube.transpose(2, 1, 0))


if __name__ == "__main__":
    pages = Book("op", "numpy", strict=False)
    for part in (sorting, counting):
        part(pages)
        stem = f"places-{part.__name__}"
        sys.stdout.write(f"{stem} {pages.write(stem, f'Places that elements are at: {part.__name__}.')}\n")
    sys.stdout.write("".join(f"{line}\n" for line in pages.disagreements))
