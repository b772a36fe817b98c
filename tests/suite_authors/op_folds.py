"""Reductions over axes by NumPy: every axis and pair of axes of three different extents; what they begin from."""

import ml_dtypes
import numpy as np
from op_scans import FEW, X
from op_several import several

AXES = ((0,), (1,), (2,), (-1,), (0, 2), (2, 0), (-1, 0), (1, 2), (0, 1, 2))
SUMS = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min}


def text(axes):
    return "None" if axes is None else str(list(axes))


def folds(book):
    book.witness = "numpy"
    for name, of in SUMS.items():
        clause = "LIB-601" if name in ("sum", "prod") else "LIB-602"

        x = FEW if of is np.prod else X

        def found(axes, keepdims, of=of, name=name, x=x):
            kept = {} if name in ("max", "min") else {"dtype": np.int32}
            return np.asarray(of(x, axis=axes, keepdims=keepdims, **kept))

        for keepdims in (False, True):
            rows = [(f"{name}(a, axis={text(axes)}, keepdims={keepdims})", found(axes, keepdims)) for axes in AXES]
            rows.append((f"{name}(a, keepdims={keepdims})", found(None, keepdims)))
            several(book, f"op.{name}.all-axes{'-kept' * keepdims}", clause, [x], rows)
        rows = [(f"{name}(a, axis={axis})", found(axis, False)) for axis in (1, -3)]
        rows.append((f"{name}(a, axis=[])", x))
        several(book, f"op.{name}.one-axis-and-none", clause, [x], rows)


def integers_means(book):
    """Of integers, rounded to 0."""
    count = {axes: np.prod([X.shape[a] for a in axes]) for axes in AXES}
    for keepdims in (False, True):
        rows = []
        for axes in AXES:
            total = X.sum(axes, keepdims=keepdims, dtype=np.int32)
            rows.append((f"mean(a, axis={text(axes)}, keepdims={keepdims})", np.int32(np.trunc(total / count[axes]))))
        total = X.sum(keepdims=keepdims, dtype=np.int32)
        rows.append((f"mean(a, keepdims={keepdims})", np.asarray(np.trunc(total / 24), np.int32)))
        several(book, f"op.mean.all-axes{'-kept' * keepdims}", "LIB-603", [X], rows, witness="numpy")


def squares(book):
    """Means, variances, deviations of floats: exact ones, as extents and numbers are powers of two."""
    x = np.array([[[3, -1, 4, 2], [-5, 9, 2, -6]], [[9, 7, -9, 1], [2, 3, 8, -5]]], np.float32) * 0.5
    axes = ((0,), (1,), (2,), (-2,), (0, 2), (2, 1), (0, 1, 2))
    for name, of in (("mean", np.mean), ("variance", np.var), ("std", np.std)):
        clause = "LIB-603" if name == "mean" else "LIB-604"
        for keepdims in (False, True):

            def found(over, of=of, keepdims=keepdims):
                return np.asarray(of(x.astype(np.float64), axis=over, keepdims=keepdims), np.float32)

            rows = [(f"{name}(a, axis={text(over)}, keepdims={keepdims})", found(over)) for over in axes]
            rows.append((f"{name}(a, keepdims={keepdims})", found(None)))
            several(book, f"op.{name}.floats{'-kept' * keepdims}", clause, [x], rows)
        rows = [(f"{name}(a, axis=1)", np.asarray(of(x.astype(np.float64), axis=1), np.float32))]
        rows.append((f"{name}(a, axis=[])", x if name == "mean" else np.zeros_like(x)))
        several(book, f"op.{name}.one-axis-and-none", clause, [x], rows)


def beginnings(book):
    """What max and min begin from: nothing is beyond it."""
    for dtype in ("int8", "uint8", "int64", "uint32", "float32", "float16", "bfloat16", "float64"):
        if "int" in dtype:
            low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
            rows_of = np.array([[low, low, low], [high, high, high], [low, 0, high]], dtype)
        else:
            rows_of = np.array(
                [[-np.inf] * 3, [np.inf] * 3, [-1, 0, 2]], ml_dtypes.bfloat16 if dtype[0] == "b" else dtype
            )
            low, high = -np.inf, np.inf
        wide = rows_of.astype(np.float64) if "float" in dtype else rows_of
        rows = [
            ("max(a, axis=[1])", wide.max(1).astype(rows_of.dtype)),
            ("min(a, axis=[1])", wide.min(1).astype(rows_of.dtype)),
        ]
        several(book, f"op.max.limits-{dtype}", "LIB-602", [rows_of], rows)
        none = rows_of[:, :0]
        rows = [
            ("max(a, axis=[1])", np.array([low] * 3).astype(rows_of.dtype)),
            ("min(a, axis=[1])", np.array([high] * 3).astype(rows_of.dtype)),
            ("min(a, axis=[0])", none[0]),
        ]
        several(book, f"op.max.of-nothing-{dtype}", "LIB-602", [none], rows)


def nothing(book):
    """Sums, products over an extent of 0, also where it is known only in the call, or beside another extent."""
    none = np.zeros((2, 0, 3), np.int32)
    rows = [
        ("sum(a, axis=[1])", none.sum(1, dtype=np.int32)),
        ("sum(a)", np.asarray(0, np.int32)),
        ("sum(a, axis=[0, 1], keepdims=True)", np.zeros((1, 1, 3), np.int32)),
        ("sum(a, axis=[0])", none[0]),
        ("prod(a, axis=[2, 1])", np.ones(2, np.int32)),
        ("prod(a, axis=[1], keepdims=True)", np.ones((2, 1, 3), np.int32)),
    ]
    several(book, "op.sum.of-nothing", "LIB-601", [none], rows)
    forms = {
        "sum(a, axis=[0])": lambda v: v.sum(0, dtype=v.dtype),
        "prod(a, axis=[0])": lambda v: v.prod(0, dtype=v.dtype),
        "max(a, axis=[0])": lambda v: v.max(0, initial=np.iinfo(np.int32).min),
        "min(a, axis=[0, 1])": lambda v: np.asarray(v.min(initial=np.iinfo(np.int32).max)),
        "argmax(a, axis=0)": lambda v: arg(v, np.argmax),
        "argmin(a, axis=0)": lambda v: arg(v, np.argmin),
    }
    inputs = [X[0], X[0][:1], X[0][:0], X[0][1:]]
    calls = [([v], [np.asarray(of(v)) for of in forms.values()]) for v in inputs]
    rows = list(zip(forms, calls[0][1], strict=True))
    types = ['R.Tensor(("n", 4), "int32")']
    several(book, "op.sum.extents-known-late", "LIB-601 LIB-602 LIB-605", inputs[0:1], rows, *calls[1:], types=types)


def arg(v, of):
    return of(v, 0) if len(v) else np.full(v.shape[1], np.iinfo(np.int64).max)


def places(book):
    """Where the greatest and the least are: all axes, ties, only what they begin from."""
    ties = np.array([[[2, 7, 7, 1], [7, 1, 1, 7], [2, 2, 7, 1]], [[1, 7, 2, 7], [7, 7, 1, 1], [1, 2, 7, 2]]], np.int32)
    for name, of in (("argmax", np.argmax), ("argmin", np.argmin)):
        for keepdims in (False, True):
            calls = []
            for x in (ties, X):
                found = [of(x, axis, keepdims=keepdims) for axis in (0, 1, 2, -1, -2)]
                calls.append(([x], [*found, np.asarray(of(x, keepdims=keepdims))]))
            forms = [f"{name}(a, axis={axis}, keepdims={keepdims})" for axis in (0, 1, 2, -1, -2)]
            rows = list(zip([*forms, f"{name}(a, keepdims={keepdims})"], calls[0][1], strict=True))
            several(book, f"op.{name}.all-axes{'-kept' * keepdims}", "LIB-605", [ties], rows, calls[1])
    for dtype in ("int8", "uint8", "float32", "float16"):
        low, high = (-np.inf, np.inf) if "float" in dtype else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        x = np.array([[low, low, low], [high, high, high], [low, high, low], [high, low, high], [1, high, low]], dtype)
        rows = [
            ("argmax(a, axis=1)", np.argmax(x, 1)),
            ("argmin(a, axis=1)", np.argmin(x, 1)),
            ("argmax(a, axis=0)", np.argmax(x, 0)),
            ("argmin(a, axis=0, keepdims=True)", np.argmin(x, 0, keepdims=True)),
            ("argmax(a)", np.asarray(np.argmax(x))),
            ("argmin(a)", np.asarray(np.argmin(x))),
        ]
        several(book, f"op.argmax.limits-{dtype}", "LIB-605", [x], rows)
    none = np.zeros((2, 0), np.float32)
    most = np.iinfo(np.int64).max
    rows = [
        ("argmax(a, axis=1)", np.full(2, most)),
        ("argmin(a, axis=1, keepdims=True)", np.full((2, 1), most)),
        ("argmin(a)", np.asarray(most)),
        ("argmax(a, axis=0)", np.zeros(0, np.int64)),
    ]
    several(book, "op.argmax.of-nothing", "LIB-605", [none], rows, witness="hand")
    nan, inf = np.nan, np.inf
    x = np.array([[1, nan, 0, 2], [nan, nan, 3, 1], [nan, 2, 1, nan], [-inf, -0.0, 0.0, nan]], np.float32)
    rows = [("argmax(a, axis=1)", np.array([3, 2, 3, 3])), ("argmin(a, axis=1)", np.array([2, 3, 3, 3]))]
    several(book, "op.argmax.after-nan", "LIB-605", [x], rows, witness="hand")


def reducing(book):
    book.witness = "numpy"
    for part in (folds, integers_means, squares, beginnings, nothing, places):
        part(book)
