"""TensorIR by hand: functions."""

import numpy as np
from hand import K, ask, f64, i32, new, tir, undefined
from tir_usual import INTS, IOUT, IR, ONE

SYMBOLIC = """
@T.prim_func(s_tir=True)
def main(a: T.handle, b: T.handle):
    n = T.int64()
    m = T.int64()
    A = T.match_buffer(a, (n, m), "float32")
    B = T.match_buffer(b, (m * 2, n), "float32")
    for i, j in T.grid(n, m):
        B[j, i] = A[i, j]
        B[j + m, i] = A[i, j] + A[i, j]
"""
STRIDED = """
@T.prim_func(s_tir=True)
def main(a: T.handle, B: T.Buffer((2, 3), "float32")):
    s = T.int64()
    t = T.int64()
    A = T.match_buffer(a, (2, 3), "float32", strides=[s, t])
    for i, j in T.grid(2, 3):
        B[i, j] = A[i, j] + T.Cast("float32", s * 100 + t * 10)
"""
SCALARS = tir(
    'i: T.int8, u: T.uint8, x: T.float32, b: T.bool, R: T.Buffer((4,), "float64")',
    'R[0] = T.Cast("float64", i)\nR[1] = T.Cast("float64", u)\nR[2] = T.Cast("float64", x)\nR[3] = T.Cast("float64", b)',
)
TWO = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4,), "int32"), R: T.Buffer((4,), "int32")):
        for i in range(4):
            R[i] = A[i]
        Module.add(R.data, A[0])

    @T.prim_func(s_tir=True)
    def add(p: T.handle("int32"), n: T.int32):
        B = T.decl_buffer((4,), "int32", data=p)
        for i in range(4):
            B[i] = B[i] + n
"""
MISFIT = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4,), "int32"), R: T.Buffer((4,), "int32")):
        T.evaluate(T.call_packed("half", A))

    @T.prim_func(s_tir=True)
    def half(«A: T.Buffer((2,), "int32")):
        T.func_attr({"global_symbol": "half"})
        A[0] = 1
"""


def functions(book):
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    for n, m in ((2, 3), (1, 1), (4, 2)):
        x = np.arange(n * m, dtype=np.float32).reshape(n, m)
        ask(
            book,
            f"tir.function.symbolic-{n}-{m}",
            "TIR-004 TIR-003",
            SYMBOLIC,
            ([x, new([2 * m, n], "float32")], [K, np.concatenate([x.T, 2 * x.T])]),
        )
    ask(
        book,
        "tir.function.symbolic-empty",
        "TIR-004",
        SYMBOLIC,
        ([a[:0], new([6, 0], "float32")], [K, np.zeros((6, 0), np.float32)]),
    )
    strided = {
        "dtype": "float32",
        "shape": [2, 3],
        "values": [f"0x{v:x}p+0" for v in (0, 1, 2, 3, 4, 5)],
        "strides": [1, 2],
    }
    ask(book, "tir.function.strides", "TIR-004 TIR-005", STRIDED, ([strided, new([2, 3], "float32")], [K, a + 120]))
    ask(
        book,
        "tir.function.scalars",
        "TIR-002 TIR-001",
        SCALARS,
        ([-128, 255, 0.5, True, new([4], "float64")], f64(-128, 255, 0.5, 1)),
        ([0, 0, -2.0, False, new([4], "float64")], f64(0, 0, -2, 0)),
    )
    ask(book, "tir.function.called", "TIR-001 TIR-117 TIR-113", TWO, ([INTS, IOUT], [K, INTS + 10]))
    ask(
        book, "undefined.match.called-with-another-shape", "TIR-003 TIR-004", MISFIT, ([INTS, IOUT], undefined("RM314"))
    )
    aliased = tir(
        'A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")', "for i in range(3):\n    B[i + 1] = A[i] + 1"
    )
    ask(
        book,
        "tir.function.same-tensor-twice",
        "TIR-003 TIR-005",
        aliased,
        ([i32(1, 9, 9, 9), {"same": 0}], [i32(1, 2, 3, 4), i32(1, 2, 3, 4)]),
    )
    noalias = tir(
        'A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")',
        'T.func_attr({"tirx.noalias": True})\nfor i in range(4):\n    «B[i] = A[i] + 1',
    )
    ask(book, "undefined.noalias", "TIR-009", noalias, ([INTS, {"same": 0}], {"kind": "undefined", "code": "RM322"}))
    book.write("functions", "Functions, parameters and arguments.")


def bounds(book):
    points = {"low": -1, "high": 4, "far": 1000, "far-below": -1000}
    for name, value in points.items():
        number = {"number": "int64", "value": value}
        ask(
            book,
            f"undefined.bounds.load-{name}",
            "TIR-006",
            tir('A: T.Buffer((4,), "int32"), n: T.int32, R: T.Buffer((1,), "int32")', "R[0] = «A[n]»"),
            ([INTS, number, new([1], "int32")], undefined("RM304")),
        )
        ask(
            book,
            f"undefined.bounds.store-{name}",
            "TIR-006 TIR-205",
            tir('A: T.Buffer((4,), "int32"), n: T.int32', "«A[n] = 1»"),
            ([INTS, number], undefined("RM304")),
        )
    ask(
        book,
        "undefined.bounds.second-axis",
        "TIR-006",
        tir('A: T.Buffer((2, 2), "int32"), R: T.Buffer((1,), "int32")', "for i in range(3):\n    R[0] = «A[0, i]»"),
        ([INTS.reshape(2, 2), new([1], "int32")], undefined("RM304")),
    )
    ask(
        book,
        "undefined.bounds.vector",
        "TIR-006 TIR-114",
        tir(IR, "R[0:4] = «A[T.Ramp(1, 1, 4)]»"),
        ([INTS, IOUT], undefined("RM304")),
    )
    ask(
        book,
        "undefined.bounds.empty",
        "TIR-006",
        tir('A: T.Buffer((0,), "int32"), R: T.Buffer((1,), "int32")', "R[0] = «A[0]»"),
        ([np.zeros(0, np.int32), new([1], "int32")], undefined("RM304")),
    )
    ask(
        book,
        "undefined.initial.alloc",
        "TIR-007",
        tir('R: T.Buffer((1,), "int32")', 'B = T.alloc_buffer((2,), "int32")\nB[0] = 1\nR[0] = «B[1]»'),
        ([new([1], "int32")], undefined("RM305")),
    )
    ask(
        book,
        "undefined.initial.copy",
        "TIR-007",
        tir(
            'R: T.Buffer((1,), "int32")',
            'B = T.alloc_buffer((2,), "int32")\nC = T.alloc_buffer((2,), "int32")\nC[0] = «B[0]»\nR[0] = 1',
        ),
        ([new([1], "int32")], undefined("RM305")),
    )
    ask(
        book,
        "undefined.initial.half-written-bytes",
        "TIR-005 TIR-007",
        tir(
            'R: T.Buffer((1,), "int32")',
            'B = T.alloc_buffer((2,), "int16")\nC = T.decl_buffer((1,), "int32", data=B.data)\nB[0] = T.int16(1)\nR[0] = «C[0]»',
        ),
        ([new([1], "int32")], undefined("RM305")),
    )
    ask(
        book,
        "tir.initial.byte-by-byte",
        "TIR-005 TIR-007",
        tir(
            'R: T.Buffer((1,), "int32")',
            'B = T.alloc_buffer((2,), "int16")\nC = T.decl_buffer((1,), "int32", data=B.data)\nB[0] = T.int16(1)\nB[1] = T.int16(2)\nR[0] = C[0]',
        ),
        ([new([1], "int32")], i32(0x20001)),
    )
    ask(
        book,
        "undefined.ramp.overflow",
        "TIR-114",
        tir(
            'n: T.int32, R: T.Buffer((1,), "int32")',
            'B = T.alloc_buffer((4,), "int32")\nB[0:4] = «T.Ramp(n, 1, 4)»\nR[0] = B[0]',
        ),
        ([2**31 - 2, new([1], "int32")], undefined("RM306")),
    )
    ask(
        book,
        "undefined.order.left-operand-first",
        "TIR-008",
        tir(ONE, "R[0] = «A[0] // 0» + A[7]" if False else "R[0] = «T.truncdiv(A[0], A[0] - A[0])» + A[7]"),
        ([i32(3), new([1], "int32")], undefined("RM307")),
    )
    ask(
        book,
        "undefined.order.value-before-index",
        "TIR-008",
        tir(ONE, "R[A[0]] = «T.truncdiv(A[0], A[0] - A[0])»"),
        ([i32(3), new([1], "int32")], undefined("RM307")),
    )
    book.write("bounds", "Bounds, and memory that holds no value.")
