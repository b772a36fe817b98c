"""Running sums and products, and sampling by them, by NumPy, whose sums are added one by one too."""

import ml_dtypes
import numpy as np
from op_several import several

X = np.array([[[3, -1, 4, 1], [-5, 9, 2, -6], [5, 3, -5, 8]], [[9, 7, -9, 3], [2, 3, 8, -4], [6, 2, 6, 4]]], np.int32)
FEW = np.sign(X) * (abs(X) % 3 + 1)  # their product is in range


def exclusive(x, axis, of, start):
    """Each place has what stood before it."""
    if axis is None:
        x, axis = x.reshape(-1), 0
    moved = np.moveaxis(of(x, axis), axis, 0)
    first = np.full((1, *moved.shape[1:]), start, moved.dtype)
    return np.moveaxis(np.concatenate([first, moved[:-1]]), 0, axis)


def sums(x, axis):
    with np.errstate(all="ignore"):
        return np.add.accumulate(x, axis, x.dtype)


def products(x, axis):
    with np.errstate(all="ignore"):
        return np.multiply.accumulate(x, axis, x.dtype)


def one_by_one(x, of):
    """The scan of a vector, each step rounded to its dtype."""
    found = [x[0]]
    for item in x[1:]:
        with np.errstate(all="ignore"):
            found.append(x.dtype.type(of(float(found[-1]), float(item))))
    return np.array(found, x.dtype)


def scans(book):
    book.witness = "numpy"
    for name, of, start in (("cumsum", sums, 0), ("cumprod", products, 1)):
        axes = (0, 1, 2, -1, -3)
        x = X if of is sums else FEW
        rows = [(f"{name}(a, axis={axis})", of(x, axis)) for axis in axes]
        several(book, f"op.{name}.axes", "LIB-940", [x], [*rows, (f"{name}(a)", of(x.reshape(-1), 0))])
        rows = [(f"{name}(a, axis={axis}, exclusive=True)", exclusive(x, axis, of, start)) for axis in (*axes, None)]
        several(book, f"op.{name}.exclusive-axes", "LIB-940", [x], rows)
        rows = [(f'{name}(a, axis=2, dtype="{d}")', of(x.astype(d), 2)) for d in ("int8", "int64", "uint8", "float32")]
        rows.append((f'{name}(a, axis=1, dtype="int16", exclusive=True)', exclusive(x.astype("int16"), 1, of, start)))
        several(book, f"op.{name}.dtypes", "LIB-940 NUM-101", [x], rows)
        flags = np.array([[True, False, True], [True, True, True]])
        rows = [(f'{name}(a, axis={axis}, dtype="int32")', of(flags.astype(np.int32), axis)) for axis in (0, 1)]
        several(book, f"op.{name}.of-bool", "LIB-940", [flags], rows)
        none = np.zeros((2, 0, 3), np.float32)
        rows = [(f"{name}(a, axis={axis})", none) for axis in (0, 1)]
        rows.append((f"{name}(a, exclusive=True)", none.reshape(-1)))
        several(book, f"op.{name}.empty", "LIB-940", [none], rows)
        number = np.array(-7, np.int32)
        several(book, f"op.{name}.no-dimensions", "LIB-940", [number], [(f"{name}(a)", number.reshape(1))])
    each_step_rounded(book)


def each_step_rounded(book):
    f = np.array([-0.0, -0.0, 16777216, 1, 1, -16777216, 3e38, 3e38, -np.inf], np.float32)
    rows = [("cumsum(a)", sums(f, 0)), ("cumsum(a, exclusive=True)", exclusive(f, 0, sums, 0))]
    several(book, "op.cumsum.each-step-rounded", "LIB-940", [f], rows)
    p = np.array([-0.0, 5, np.inf, 3, 1e-30, 1e-30, 1e38], np.float32)
    q = np.array([3, 1e-30, 1e-30, 1e38, -1e38, 0.1, np.inf], np.float32)
    calls = [([each], [products(each, 0), exclusive(each, 0, products, 1)]) for each in (p, q)]
    rows = [("cumprod(a)", calls[0][1][0]), ("cumprod(a, exclusive=True)", calls[0][1][1])]
    several(book, "op.cumprod.each-step-rounded", "LIB-940", [p], rows, calls[1])
    for dtype in (np.float16, ml_dtypes.bfloat16):
        small = np.array([256, 0.75, 0.75, 1.5, 2049, -1], dtype)
        rows = [
            ("cumsum(a, axis=0)", one_by_one(small, lambda a, b: a + b)),
            ("cumprod(a, axis=0)", one_by_one(small, lambda a, b: a * b)),
        ]
        several(book, f"op.cumsum.cumprod-{np.dtype(dtype)}", "LIB-940", [small], rows)


def places(prob, uniform, index, dtype):
    """The first place whose running sum is above the number, else the last."""
    found = []
    for number, row in zip(uniform[:, 0], index[:, 0], strict=True):
        above = np.flatnonzero(sums(prob[row], 0) > number)
        found.append([above[0] if above.size else prob.shape[1] - 1])
    return np.array(found, dtype).reshape(index.shape)


def multinomial(book):
    book.witness = "numpy"
    form = "multinomial_from_uniform(a, b, c{})"
    prob = np.array([[0, 0.5, 0.125, 0.375], [0.25, 0.25, 0, 0.5], [0.125, 0.125, 0.125, 0.125]], np.float32)
    numbers = np.array([[0], [0.5], [0.625], [0.99], [1], [0.25], [0.5], [-1], [0.4375], [0.5]], np.float32)
    index = np.array([[0], [0], [0], [0], [0], [1], [1], [2], [2], [2]], np.int64)
    other = (prob[::-1], numbers[::-1], index[::-1])
    for dtype in ("int64", "int32"):
        rows = [(form.format("" if dtype == "int64" else f', dtype="{dtype}"'), places(prob, numbers, index, dtype))]
        several(
            book,
            f"op.multinomial-from-uniform.places-{dtype}",
            "LIB-941",
            [prob, numbers, index],
            rows,
            (other, [places(*other, dtype)]),
        )
    wide, narrow = prob.astype(np.float64), index.astype(np.int32)
    rows = [(form.format(""), places(wide, numbers.astype(np.float64), narrow, "int64"))]
    several(book, "op.multinomial-from-uniform.float64", "LIB-941", [wide, numbers.astype(np.float64), narrow], rows)
    tenths = np.array([[0.1] * 10], np.float32)
    total = sums(tenths[0], 0)
    near = np.array([[v] for t in total for v in (np.nextafter(t, np.float32(0)), t)], np.float32)
    first = np.zeros((20, 1), np.int64)
    rows = [(form.format(""), places(tenths, near, first, "int64"))]
    several(book, "op.multinomial-from-uniform.sums-are-rounded", "LIB-941", [tenths, near, first], rows)
    one = np.array([[0.25]], np.float32)
    rows = [(form.format(""), np.zeros((2, 1), np.int64))]
    two = np.array([[0.1], [0.9]], np.float32)
    several(book, "op.multinomial-from-uniform.one-place", "LIB-941", [one, two, np.zeros((2, 1), np.int64)], rows)
    none = (prob, np.zeros((0, 1), np.float32), np.zeros((0, 1), np.int64))
    several(book, "op.multinomial-from-uniform.no-samples", "LIB-941", none, [(form.format(""), none[2])])
