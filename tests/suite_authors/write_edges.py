"""Areas `op`, `scalar`, `tir`, `undefined`: the last value before a condition holds and the first after, worked by hand.

Powers by Annex F of C; fixed-point products as rationals, floor(x * y * 2**(s - q) + 1/2).
"""

import math
import sys
from fractions import Fraction

import numpy as np
from book import Book
from hand import K, ask, f64, i32, new, tir, undefined
from op_usual import op

POWERS = [
    (-10.0, 309.0, -math.inf),
    (-10.0, 310.0, math.inf),
    (10.0, 309.0, math.inf),
    (-1e200, 3.0, -math.inf),
    (-1e200, 2.0, math.inf),
    (-0.0, -1.0, -math.inf),
    (-0.0, -3.0, -math.inf),
    (-0.0, -2.0, math.inf),
    (-0.0, -0.5, math.inf),
    (0.0, -1.0, math.inf),
    (-0.0, 3.0, -0.0),
    (-0.0, 2.0, 0.0),
    (-8.0, 1.5, math.nan),
    (-math.inf, 3.0, -math.inf),
    (-math.inf, 2.0, math.inf),
    (-math.inf, -3.0, -0.0),
    (-1.0, math.inf, 1.0),
    (1.0, math.nan, 1.0),
    (math.nan, 0.0, 1.0),
]
LARGEST = 2**31 - 1
PRODUCTS = [
    (2**30, LARGEST, 30, 0),
    (-(2**30), LARGEST, 30, 0),
    (3, 1, 1, 0),
    (-3, 1, 1, 0),
    (LARGEST, LARGEST, 63, 0),
    (LARGEST, LARGEST, 32, -31),
    (LARGEST, LARGEST, 62, 0),
    (0, 5, 1, 63),
    (12345, 3, 5, 5),
    (-7, 11, 4, 9),
]


def nearest(x, y, power):
    """What x * y * 2**power is to the nearest integer, of two the greater."""
    return math.floor(Fraction(x * y) * Fraction(2) ** power + Fraction(1, 2))


def powers(book):
    n = len(POWERS)
    a, b, r = (f64(*(row[k] for row in POWERS)) for k in range(3))
    params = ", ".join(f'{name}: T.Buffer(({n},), "float64")' for name in "ABR")
    text = tir(params, f"for i in range({n}):\n        R[i] = T.pow(A[i], B[i])")
    ask(book, "scalar.pow.edges-float64", "NUM-503 NUM-506", text, ([a, b, new([n], "float64")], [K, K, r]))


def products(book):
    one = 'A: T.Buffer((1,), "int32"), R: T.Buffer((1,), "int32")'
    for number, (x, y, q, s) in enumerate(PRODUCTS, 1):
        text = tir(one, f"R[0] = T.q_multiply_shift(A[0], {y}, {q}, {s})")
        call = ([i32(x), new([1], "int32")], [K, i32(nearest(x, y, s - q))])
        ask(book, f"scalar.q-multiply-shift.edge-{number}", "NUM-601", text, call)
    for number, (x, y, ls, rs, q, left) in enumerate([(0, 5, 63, 0, 31, True), (LARGEST, 2**30, 1, 0, 31, True)], 1):
        form = f"T.q_multiply_shift_per_axis(A[0], {y}, {ls}, {rs}, {q}, T.bool({left}), T.bool(True))"
        call = ([i32(x), new([1], "int32")], [K, i32(nearest(x, y, (ls if left else 0) - rs - q))])
        ask(book, f"scalar.q-multiply-shift-per-axis.edge-{number}", "NUM-601", tir(one, f"R[0] = {form}"), call)


def no_products(book):
    one = 'A: T.Buffer((1,), "int32"), R: T.Buffer((1,), "int32")'
    for number, (q, s) in enumerate([(0, 0), (64, 0), (32, -32), (1, 64)], 1):
        text = tir(one, f"R[0] = «T.q_multiply_shift(A[0], 5, {q}, {s})»")
        call = ([i32(5), new([1], "int32")], undefined("RM311"))
        ask(book, f"undefined.fixed.edge-{number}", "NUM-601", text, call)
    for number, (ls, rs, q, left) in enumerate(
        [(0, 0, 0, True), (0, 33, 31, True), (0, -1, 31, True), (64, 0, 31, True), (-1, 0, 31, True)], 1
    ):
        form = f"T.q_multiply_shift_per_axis(A[0], 5, {ls}, {rs}, {q}, T.bool({left}), T.bool(True))"
        call = ([i32(5), new([1], "int32")], undefined("RM311"))
        ask(book, f"undefined.fixed.per-axis-edge-{number}", "NUM-601", tir(one, f"R[0] = «{form}»"), call)


def steps(book):
    """A loop that threads go through together, by a step that is none."""
    params = 'A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")'
    for step in (0, -1):
        text = tir(
            f"n: T.int32, {params}",
            'S = T.alloc_buffer((2,), "float32", scope="shared")\n'
            'for t in T.thread_binding(2, thread="threadIdx.x"):\n'
            "    S[t] = A[t]\n"
            "    for k in T.serial(1, 6, step=n):\n"
            "        B[t] = S[t]\n"
            '        T.tvm_storage_sync("shared")',
        )
        array = {"dtype": "float32", "shape": [2], "values": ["0x1p+0", "0x1p+1"]}
        args = [{"number": "int32", "value": step}, array, new([2], "float32")]
        name = f"undefined.threads.step-{'zero' if step == 0 else 'below'}"
        ask(book, name, "TIR-203 TIR-227", text, (args, undefined("RM315")))


def turns(book):
    """Threads that meet in the arm of an `if` that is not taken by the first."""
    text = tir(
        'n: T.int32, A: T.Buffer((2,), "int32"), B: T.Buffer((2,), "int32")',
        'S = T.alloc_buffer((2,), "int32", scope="shared")\n'
        'for t in T.thread_binding(2, thread="threadIdx.x"):\n'
        "    S[t] = A[t]\n"
        "    if n > 0:\n"
        '        T.tvm_storage_sync("shared")\n'
        "        B[t] = S[1 - t]\n"
        "    else:\n"
        '        T.tvm_storage_sync("shared")\n'
        "        B[t] = S[1 - t] + 10",
    )
    for n, found in ((1, i32(4, 3)), (0, i32(14, 13))):
        args = [{"number": "int32", "value": n}, i32(3, 4), new([2], "int32")]
        ask(book, f"tir.threads.arm-{n}", "TIR-227", text, (args, [K, found]))


def places(book):
    """The first index that is outside, of three axes and more, where strides are said and where they are not."""
    for name, form in (("compact", '(2, 3, 4), "int32"'), ("strided", '(2, 3, 4), "int32", strides=(40, 8, 1)')):
        for axis, extent in enumerate((2, 3, 4)):
            at = ", ".join("n" if each == axis else "0" for each in range(3))
            text = tir(f'n: T.int32, A: T.Buffer({form}), R: T.Buffer((1,), "int32")', f"R[0] = «A[{at}]»")
            tensor = {"dtype": "int32", "shape": [2, 3, 4], "generator": "fill", "value": 1}
            tensor |= {"strides": [40, 8, 1]} if name == "strided" else {}
            args = [{"number": "int32", "value": extent}, tensor, new([1], "int32")]
            ask(book, f"undefined.place.{name}-{axis}", "TIR-006", text, (args, undefined("RM304")))


def scans(book):
    """Sums and products of the elements before each, by NumPy."""
    x = np.array([[3, -2, 5], [7, 11, -4]], np.int32)
    for name, of, first in (("cumsum", np.cumsum, 0), ("cumprod", np.cumprod, 1)):
        for axis in (0, 1):
            before = np.full_like(x, first)
            rest = tuple(slice(None, -1) if at == axis else slice(None) for at in (0, 1))
            into = tuple(slice(1, None) if at == axis else slice(None) for at in (0, 1))
            before[into] = of(x, axis)[rest]
            form = f"{name}(a, axis={axis}, exclusive=True)"
            op(book, f"op.{name}.exclusive-{axis}", "LIB-940", form, [x], before.astype(np.int32), witness="numpy")


if __name__ == "__main__":
    graphs = Book("op", "numpy", strict=False)
    scans(graphs)
    scalar, stops = Book("scalar", "hand", strict=False), Book("undefined", "hand", strict=False)
    powers(scalar)
    products(scalar)
    no_products(stops)
    steps(stops)
    places(stops)
    threads = Book("tir", "hand", strict=False)
    turns(threads)
    for pages in (graphs, scalar, stops, threads):
        sys.stdout.write("".join(f"{line}\n" for line in pages.disagreements))
        sys.stdout.write(f"{pages.area} {pages.write('boundaries', 'The last before a condition, and the first.')}\n")
