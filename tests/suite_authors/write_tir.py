"""Areas `tir`, `undefined`, `trap`: TensorIR clause by clause, worked by hand."""

import sys

import numpy as np
from book import Book
from hand import HEAD, K, ask, f32, f64, i32, new, reject, tir, trap, undefined

AR = 'A: T.Buffer((4,), "float32"), R: T.Buffer((4,), "float32")'
IR = 'A: T.Buffer((4,), "int32"), R: T.Buffer((4,), "int32")'
ONE = 'A: T.Buffer((1,), "int32"), R: T.Buffer((1,), "int32")'
FOUR = f32(1, 2, 3, 4)
INTS = i32(10, 20, 30, 40)
OUT, IOUT = new([4], "float32"), new([4], "int32")


def simple(book, name, clauses, body, expected, params=IR, given=INTS, out=IOUT, **more):
    """One input, one output."""
    ask(book, name, clauses, tir(params, body), ([given, out], [K, expected]), **more)


def expressions(book):
    simple(book, "tir.var.loop", "TIR-101 TIR-203", "for i in range(4):\n    R[i] = A[i] + i", i32(10, 21, 32, 43))
    simple(
        book,
        "tir.int-imm.dtypes",
        "TIR-102",
        'R[0] = 7\nR[1] = -2147483648\nR[2] = T.Cast("int32", T.int8(-5))\nR[3] = T.Cast("int32", T.bool(True))',
        i32(7, -(2**31), -5, 1),
    )
    simple(
        book,
        "tir.float-imm.rounded",
        "TIR-103 NUM-001",
        'R[0] = T.float32(0.1)\nR[1] = T.Cast("float32", T.float16(0.1))\nR[2] = T.Cast("float32", T.float64(0.1))\nR[3] = T.float32(16777217)',
        f32(0.1, 0.0999755859375, 0.1, 16777216),
        AR,
        FOUR,
        OUT,
    )
    simple(
        book,
        "tir.float-imm.special",
        "TIR-103",
        'R[0] = T.float32("inf")\nR[1] = T.float32("-inf")\nR[2] = T.float32("nan")\nR[3] = T.float32(-0.0)',
        f32(np.inf, -np.inf, np.nan, -0.0),
        AR,
        FOUR,
        OUT,
    )
    simple(
        book,
        "tir.string-imm.in-a-call",
        "TIR-104 TIR-117",
        'T.evaluate(T.call_extern("int32", "abs", 3))\nR[0] = A[0]'
        if False
        else 'R[0] = T.Cast("float32", T.call_pure_extern("float32", "sqrtf", T.float32(9)))\nR[1] = A[1]\nR[2] = A[2]\nR[3] = A[3]',
        f32(3, 2, 3, 4),
        AR,
        FOUR,
        OUT,
    )
    simple(
        book,
        "tir.apply.no-contraction",
        "TIR-105 NUM-101",
        "R[0] = A[0] * A[0] + A[1]\nR[1] = A[2] + A[3] - A[3]\nR[2] = (A[0] * T.float32(3)) / T.float32(3)\nR[3] = A[1]",
        f32(0.0, 0.0, 1 + 2.0**-12, -(1 + 2.0**-11)),
        AR,
        f32(1 + 2.0**-12, -(1 + 2.0**-11), 1e-10, 1),
        OUT,
    )
    simple(
        book,
        "tir.apply.left-first",
        "TIR-105 TIR-008",
        "R[0] = A[0] - A[1] - A[2]\nR[1] = A[0] - (A[1] - A[2])\nR[2] = A[3] // A[0] * A[0]\nR[3] = A[3] - A[2] * A[1]",
        i32(-40, 20, 40, -560),
    )
    simple(
        book,
        "tir.cast.chain",
        "TIR-106 NUM-701",
        'R[0] = T.Cast("int32", T.Cast("int8", A[0] * 30))\nR[1] = T.Cast("int32", T.Cast("uint8", A[0] * 30))\nR[2] = T.Cast("int32", T.Cast("bool", A[2]))\nR[3] = T.Cast("int32", T.Cast("float32", A[3]) / T.float32(3))',
        i32(44, 44, 1, 13),
    )
    lazy = "for i in range(4):\n    R[i] = T.if_then_else({}, T.int32(1), T.int32(0))"
    simple(book, "tir.and.lazy", "TIR-107", lazy.format("T.And(i < 3, A[i + 1] > 20)"), i32(0, 1, 1, 0))
    simple(book, "tir.or.lazy", "TIR-108", lazy.format("T.Or(i >= 3, A[i + 1] > 20)"), i32(0, 1, 1, 1))
    simple(
        book,
        "tir.and.truth",
        "TIR-107 TIR-108",
        'R[0] = T.Cast("int32", T.And(A[0] > 0, A[1] > 100))\nR[1] = T.Cast("int32", T.Or(A[0] < 0, A[1] > 0))\nR[2] = T.Cast("int32", T.Or(A[0] < 0, A[1] < 0))\nR[3] = T.Cast("int32", T.And(A[0] > 0, A[1] > 0))',
        i32(0, 1, 0, 1),
    )
    simple(
        book,
        "tir.select.values",
        "TIR-109",
        "for i in range(4):\n    R[i] = T.Select(A[i] > 20, A[i], 0 - A[i])",
        i32(-10, -20, 30, 40),
    )
    ask(
        book,
        "undefined.select.eager",
        "TIR-109 NUM-104",
        tir(IR, "for i in range(4):\n    R[i] = T.Select(i > 0, «A[0] // i», 0)"),
        ([INTS, IOUT], undefined("RM307")),
    )
    simple(
        book,
        "tir.if-then-else.lazy",
        "TIR-110",
        "for i in range(4):\n    R[i] = T.if_then_else(i > 0, A[0] // T.max(i, 0), -1)",
        i32(-1, 10, 5, 3),
    )
    simple(
        book,
        "tir.if-then-else.out-of-bounds-not-taken",
        "TIR-110 TIR-006",
        "for i in range(4):\n    R[i] = T.if_then_else(i < 3, A[i + 1], 0)",
        i32(20, 30, 40, 0),
    )
    simple(
        book,
        "tir.let.once",
        "TIR-111",
        "x = T.int32()\nfor i in range(4):\n    R[i] = T.Let(x * x + x, where={x: A[i] + 1})",
        i32(132, 462, 992, 1722),
    )
    simple(book, "tir.load.reversed", "TIR-112", "for i in range(4):\n    R[i] = A[3 - i]", i32(40, 30, 20, 10))
    simple(
        book,
        "tir.load.two-dimensions",
        "TIR-112 TIR-005",
        "for i, j in T.grid(2, 3):\n    R[j, i] = A[i, j]",
        i32(1, 4, 2, 5, 3, 6).reshape(3, 2),
        'A: T.Buffer((2, 3), "int32"), R: T.Buffer((3, 2), "int32")',
        i32(1, 2, 3, 4, 5, 6).reshape(2, 3),
        new([3, 2], "int32"),
    )
    simple(
        book,
        "tir.data.shared",
        "TIR-113 TIR-207 TIR-005",
        'B = T.decl_buffer((2, 2), "int32", data=A.data)\nfor i in range(4):\n    R[i] = B[i % 2, i // 2]',
        i32(10, 30, 20, 40),
    )
    simple(
        book,
        "tir.data.bytes-as-another-dtype",
        "TIR-005 TIR-113",
        'B = T.decl_buffer((4,), "int32", data=A.data)\nfor i in range(4):\n    R[i] = B[i]',
        i32(0x3F800000, -2147483648, 0x40490FDB, 0x7F800000),
        'A: T.Buffer((4,), "float32"), R: T.Buffer((4,), "int32")',
        f32(1, -0.0, np.pi, np.inf),
    )
    simple(book, "tir.ramp.load-and-store", "TIR-114 TIR-112 TIR-205", "R[0:4] = A[0:4]", INTS)
    simple(
        book,
        "tir.ramp.stride",
        "TIR-114",
        "R[T.Ramp(0, 2, 2)] = A[T.Ramp(1, 2, 2)]\nR[T.Ramp(1, 2, 2)] = A[T.Ramp(3, -2, 2)]",
        i32(20, 40, 40, 20),
    )
    simple(book, "tir.broadcast", "TIR-115", "R[0:4] = A[0:4] + T.Broadcast(A[1], 4)", i32(30, 40, 50, 60))
    simple(book, "tir.broadcast.index", "TIR-115 TIR-112", "R[0:4] = A[T.Broadcast(2, 4)]", i32(30, 30, 30, 30))
    simple(book, "tir.shuffle", "TIR-116", "R[0:4] = T.Shuffle([A[0:2], A[2:4]], [3, 0, 2, 1])", i32(40, 10, 30, 20))
    simple(
        book,
        "tir.shuffle.one",
        "TIR-116",
        "for i in range(4):\n    R[i] = T.Shuffle([A[0:4]], [2])",
        i32(30, 30, 30, 30),
    )
    simple(
        book,
        "tir.vector.compare-and-select",
        "TIR-109 TIR-107",
        "R[0:4] = T.Select(A[0:4] > T.Broadcast(20, 4), A[0:4], T.Ramp(0, 1, 4))",
        i32(0, 1, 30, 40),
    )
    simple(
        book,
        "tir.store.order",
        "TIR-008 TIR-205",
        "R[0] = A[0]\nR[1] = R[0] + A[1]\nR[2] = R[1] + A[2]\nR[3] = R[2] + A[3]",
        i32(10, 30, 60, 100),
    )
    book.write("expressions", "Expressions of TensorIR.")


def statements(book):
    simple(
        book,
        "tir.bind.once",
        "TIR-201",
        "for i in range(4):\n    x: T.let[T.int32] = A[i] * 2\n    R[i] = x + x",
        i32(40, 80, 120, 160),
    )
    simple(
        book,
        "tir.assert.holds",
        "TIR-202",
        'for i in range(4):\n    assert A[i] > 0, "positive"\n    R[i] = A[i]',
        INTS,
    )
    ask(
        book,
        "trap.assert.false",
        "TIR-202",
        tir(ONE, '«assert A[0] > 0, "positive"»\nR[0] = A[0]'),
        ([i32(0), new([1], "int32")], trap("RM401")),
        ([i32(-5), new([1], "int32")], trap("RM401")),
    )
    for kind in ("serial", "parallel", "vectorized", "unroll"):
        simple(book, f"tir.for.{kind}", "TIR-203", f"for i in T.{kind}(4):\n    R[i] = A[i] * 3", i32(30, 60, 90, 120))
    simple(
        book,
        "tir.for.start",
        "TIR-203",
        "R[0] = 0\nfor i in range(1, 4):\n    R[i] = A[i] + R[i - 1]",
        i32(0, 20, 50, 90),
    )
    simple(
        book,
        "tir.for.step",
        "TIR-203",
        "for i in range(4):\n    R[i] = 0\nfor i in T.serial(0, 4, step=2):\n    R[i] = A[i]",
        i32(10, 0, 30, 0),
    )
    simple(
        book,
        "tir.for.empty",
        "TIR-203",
        "for i in range(4):\n    R[i] = 1\nfor i in range(0):\n    R[i] = 9\nfor i in range(3, 3):\n    R[i] = 9",
        i32(1, 1, 1, 1),
    )
    simple(
        book,
        "tir.for.bounds-once",
        "TIR-203",
        "R[0] = 2\nR[1] = 0\nR[2] = 0\nR[3] = 0\nfor i in range(R[0]):\n    R[0] = 4\n    R[3] = R[3] + 1",
        i32(4, 0, 0, 2),
    )
    simple(
        book,
        "tir.for.grid",
        "TIR-203",
        "for i in range(4):\n    R[i] = 0\nfor i, j in T.grid(4, 3):\n    R[i] = R[i] + j + i",
        i32(3, 6, 9, 12),
    )
    simple(
        book,
        "tir.for.dependent",
        "TIR-203",
        "for i in range(4):\n    R[i] = 0\n    for j in range(i + 1):\n        R[i] = R[i] + A[j]",
        i32(10, 30, 60, 100),
    )
    ask(
        book,
        "undefined.extent.negative",
        "TIR-203",
        tir('n: T.int32, R: T.Buffer((1,), "int32")', "«for i in range(n):\n        R[0] = i"),
        ([{"number": "int64", "value": -1}, new([1], "int32")], undefined("RM315")),
    )
    simple(
        book,
        "tir.while",
        "TIR-204",
        "for i in range(4):\n    R[i] = 0\nwhile R[0] < 7:\n    R[0] = R[0] + 3\nwhile R[1] > 0:\n    R[1] = 5",
        i32(9, 0, 0, 0),
    )
    simple(
        book,
        "tir.store.predicate",
        "TIR-205 TIR-112",
        'for i in range(4):\n    R[i] = 0\nR.vstore([T.Ramp(0, 1, 4)], A.vload([T.Ramp(0, 1, 4)], predicate=T.get_active_lane_mask("uint1x4", 0, 3)), predicate=T.get_active_lane_mask("uint1x4", 0, 2))',
        i32(10, 20, 0, 0),
    )
    simple(
        book,
        "tir.alloc.fresh-each-time",
        "TIR-206",
        'for i in range(4):\n    B = T.alloc_buffer((1,), "int32")\n    B[0] = A[i]\n    R[i] = B[0] + 1',
        i32(11, 21, 31, 41),
    )
    ask(
        book,
        "undefined.alloc.not-kept",
        "TIR-206 TIR-007",
        tir(
            IR,
            'for i in range(4):\n    B = T.alloc_buffer((1,), "int32")\n    if i == 0:\n        B[0] = A[i]\n    R[i] = «B[0]»',
        ),
        ([INTS, IOUT], undefined("RM305")),
    )
    simple(
        book,
        "tir.decl.offset",
        "TIR-207 TIR-005",
        'B = T.decl_buffer((2,), "int32", data=A.data, elem_offset=2)\nfor i in range(4):\n    R[i] = B[i % 2]',
        i32(30, 40, 30, 40),
    )
    simple(
        book,
        "tir.decl.strides",
        "TIR-207 TIR-005",
        'B = T.decl_buffer((2, 2), "int32", data=A.data, strides=[1, 2])\nfor i in range(4):\n    R[i] = B[i // 2, i % 2]',
        i32(10, 30, 20, 40),
    )
    ask(
        book,
        "undefined.decl.larger-than-its-storage",
        "TIR-207 TIR-006",
        tir(IR, 'B = T.decl_buffer((8,), "int32", data=A.data)\nfor i in range(4):\n    R[i] = «B[i + 3]»'),
        ([INTS, IOUT], undefined("RM304")),
    )
    simple(
        book,
        "tir.launch-thread",
        "TIR-208",
        'bx = T.launch_thread("blockIdx.x", 2)\ntx = T.launch_thread("threadIdx.x", 2)\nR[bx * 2 + tx] = A[bx * 2 + tx] + bx',
        i32(10, 20, 31, 41),
    )
    simple(
        book,
        "tir.thread-binding",
        "TIR-208 TIR-203",
        'for b in T.thread_binding(2, thread="blockIdx.x"):\n    for t in T.thread_binding(2, thread="threadIdx.x"):\n        R[b * 2 + t] = A[b * 2 + t] * (t + 1)',
        i32(10, 40, 30, 80),
    )
    simple(
        book,
        "tir.attr",
        "TIR-209",
        'with T.attr(0, "pragma_unroll", 1):\n    for i in range(4):\n        R[i] = A[i]',
        INTS,
    )
    simple(
        book,
        "tir.if.else",
        "TIR-211",
        "for i in range(4):\n    if A[i] > 20:\n        R[i] = 1\n    else:\n        R[i] = 0",
        i32(0, 0, 1, 1),
    )
    simple(
        book,
        "tir.if.without-else",
        "TIR-211 TIR-210",
        "for i in range(4):\n    R[i] = 0\n    if i % 2 == 0:\n        R[i] = A[i]",
        i32(10, 0, 30, 0),
    )
    simple(
        book,
        "tir.evaluate.value-dropped",
        "TIR-212",
        "for i in range(4):\n    T.evaluate(A[i] + 1)\n    R[i] = A[i]",
        INTS,
    )
    ask(
        book,
        "undefined.evaluate",
        "TIR-212 NUM-104",
        tir(ONE, "T.evaluate(«T.truncdiv(1, A[0])»)\nR[0] = 1"),
        ([i32(0), new([1], "int32")], undefined("RM307")),
    )
    simple(
        book,
        "tir.break.for",
        "TIR-213",
        "for i in range(4):\n    R[i] = 0\nfor i in range(4):\n    if A[i] > 20:\n        break\n    R[i] = A[i]",
        i32(10, 20, 0, 0),
    )
    simple(
        book,
        "tir.break.innermost",
        "TIR-213",
        "for i in range(4):\n    R[i] = 0\n    for j in range(4):\n        if j > i:\n            break\n        R[i] = R[i] + 1",
        i32(1, 2, 3, 4),
    )
    simple(
        book,
        "tir.break.while",
        "TIR-213 TIR-204",
        "for i in range(4):\n    R[i] = 0\nwhile R[0] < 100:\n    R[0] = R[0] + 1\n    if R[0] == 7:\n        break",
        i32(7, 0, 0, 0),
    )
    simple(
        book,
        "tir.continue.for",
        "TIR-214",
        "for i in range(4):\n    R[i] = 0\nfor i in range(4):\n    if i == 1:\n        continue\n    R[i] = A[i]",
        i32(10, 0, 30, 40),
    )
    simple(
        book,
        "tir.continue.while",
        "TIR-214 TIR-204",
        "for i in range(4):\n    R[i] = 0\nwhile R[0] < 6:\n    R[0] = R[0] + 1\n    if R[0] % 2 == 0:\n        continue\n    R[1] = R[1] + R[0]",
        i32(6, 9, 0, 0),
    )
    text = HEAD + "m = 0\n" if False else ""
    ask(
        book,
        "tir.return.value",
        "TIR-215 TIR-308 TIR-341 TIR-001",
        MODULE_RET + text,
        ([i32(5), new([1], "int32")], [K, i32(106)]),
        ([i32(-5), new([1], "int32")], [K, i32(-1)]),
    )
    book.write("statements", "Statements of TensorIR.")


MODULE_RET = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((1,), "int32"), R: T.Buffer((1,), "int32")):
        R[0] = T.call_packed("plus", A[0])

    @T.prim_func(s_tir=True)
    def plus(n: T.int32) -> T.int32:
        T.func_attr({"global_symbol": "plus"})
        if n < 0:
            T.ret(-1)
        T.ret(n + 101)
"""
MATMUL = """with T.sblock("root"):
        for i, j, k in T.grid(2, 2, 3):
            with T.sblock("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    R[vi, vj] = {init}
                R[vi, vj] = R[vi, vj] + A[vi, vk] * B[vk, vj]"""
MAT = 'A: T.Buffer((2, 3), "int32"), B: T.Buffer((3, 2), "int32"), R: T.Buffer((2, 2), "int32")'
M1, M2 = i32(1, 2, 3, 4, 5, 6).reshape(2, 3), i32(1, 0, 2, -1, 3, 1).reshape(3, 2)


def blocks(book):
    ask(
        book,
        "tir.block.matmul",
        "TIR-216 TIR-217 TIR-218",
        tir(MAT, MATMUL.format(init=0)),
        ([M1, M2, new([2, 2], "int32")], [K, K, M1 @ M2]),
    )
    ask(
        book,
        "tir.block.init-value",
        "TIR-218",
        tir(MAT, MATMUL.format(init="vi * 100")),
        ([M1, M2, new([2, 2], "int32")], [K, K, (M1 @ M2 + np.array([[0], [100]])).astype(np.int32)]),
    )
    simple(
        book,
        "tir.block.predicate",
        "TIR-216",
        'for i in range(4):\n    R[i] = 0\nfor i in range(6):\n    with T.sblock("B"):\n        vi = T.axis.spatial(4, i)\n        T.where(i < 3)\n        R[vi] = A[vi]',
        i32(10, 20, 30, 0),
    )
    simple(
        book,
        "tir.block.predicate-before-axes",
        "TIR-216 TIR-217",
        'for i in range(4):\n    R[i] = 0\nfor i0, i1 in T.grid(2, 3):\n    with T.sblock("B"):\n        vi = T.axis.spatial(4, i0 * 3 + i1)\n        T.where(i0 * 3 + i1 < 4)\n        R[vi] = A[vi] + 1',
        i32(11, 21, 31, 41),
    )
    ask(
        book,
        "undefined.axis.outside",
        "TIR-217",
        tir(
            IR, '«for i in range(5):\n    with T.sblock("B"):\n        vi = T.axis.spatial(4, i)\n        R[vi] = A[vi]'
        ),
        ([INTS, IOUT], undefined("RM312")),
    )
    simple(
        book,
        "tir.block.init-without-reduction",
        "TIR-218",
        'for i in range(4):\n    with T.sblock("B"):\n        vi = T.axis.spatial(4, i)\n        with T.init():\n            R[vi] = 5\n        R[vi] = R[vi] + A[vi]',
        i32(15, 25, 35, 45),
    )
    simple(
        book,
        "tir.block.init-two-reduce-axes",
        "TIR-218",
        'for i, j in T.grid(2, 2):\n    with T.sblock("B"):\n        vi, vj = T.axis.remap("RR", [i, j])\n        with T.init():\n            R[0] = 1000\n        R[0] = R[0] + A[vi * 2 + vj]\nfor i in range(3):\n    R[i + 1] = 0',
        i32(1100, 0, 0, 0),
    )
    simple(
        book,
        "tir.block.alloc",
        "TIR-219",
        'for i in range(4):\n    with T.sblock("B"):\n        vi = T.axis.spatial(4, i)\n        B = T.sblock_alloc_buffer((1,), "int32")\n        B[0] = A[vi]\n        R[vi] = B[0] * 2',
        i32(20, 40, 60, 80),
    )
    simple(
        book,
        "tir.block.match-buffer",
        "TIR-220",
        'for i in range(2):\n    with T.sblock("B"):\n        vi = T.axis.spatial(2, i)\n        T.reads(A[vi * 2:vi * 2 + 2])\n        T.writes(R[vi * 2:vi * 2 + 2])\n        B = T.match_buffer(A[vi * 2:vi * 2 + 2], (2,), "int32", offset_factor=1)\n        R[vi * 2] = B[1]\n        R[vi * 2 + 1] = B[0]',
        i32(20, 10, 40, 30),
    )
    simple(
        book,
        "tir.block.match-buffer-strides",
        "TIR-220",
        'for i in range(2):\n    with T.sblock("B"):\n        vi = T.axis.spatial(2, i)\n        T.reads(A[0:2, vi:vi + 1])\n        T.writes(R[vi, 0:2])\n        s = T.int32()\n        B = T.match_buffer(A[0:2, vi:vi + 1], (2, 1), "int32", strides=[s, 1], offset_factor=1)\n        for k in range(2):\n            R[vi, k] = B[k, 0] + s',
        i32(12, 32, 22, 42).reshape(2, 2),
        'A: T.Buffer((2, 2), "int32"), R: T.Buffer((2, 2), "int32")',
        INTS.reshape(2, 2),
        new([2, 2], "int32"),
    )
    ask(
        book,
        "undefined.match-buffer.outside",
        "TIR-220",
        tir(
            IR,
            'for i in range(2):\n    with T.sblock("B"):\n        vi = T.axis.spatial(2, i)\n        T.reads(A[vi * 2:vi * 2 + 4])\n        T.writes(R[vi])\n        B = «T.match_buffer(A[vi * 2:vi * 2 + 4], (4,), "int32", offset_factor=1)\n        R[vi] = B[0]',
        ),
        ([INTS, IOUT], undefined("RM304")),
    )
    simple(
        book,
        "tir.block.scan-and-opaque-axes",
        "TIR-217",
        'for i in range(4):\n    with T.sblock("B"):\n        vi = T.axis.opaque(4, i)\n        R[vi] = A[vi] + vi',
        i32(10, 21, 32, 43),
    )
    simple(
        book,
        "tir.block.declared-regions",
        "TIR-221",
        'for i in range(4):\n    with T.sblock("B"):\n        vi = T.axis.spatial(4, i)\n        T.reads(A[vi])\n        T.writes(R[vi])\n        R[vi] = A[vi]',
        INTS,
    )
    ask(
        book,
        "undefined.region.reads",
        "TIR-221",
        tir(
            IR,
            'for i in range(4):\n    with T.sblock("B"):\n        vi = T.axis.spatial(4, i)\n        T.reads(A[vi])\n        T.writes(R[vi])\n        R[vi] = «A[3 - vi]»',
        ),
        ([INTS, IOUT], undefined("RM318")),
    )
    ask(
        book,
        "undefined.region.writes",
        "TIR-221",
        tir(
            IR,
            'for i in range(4):\n    R[i] = 0\nfor i in range(4):\n    with T.sblock("B"):\n        vi = T.axis.spatial(4, i)\n        T.reads(A[vi])\n        T.writes(R[vi])\n        «R[3 - vi] = A[vi]',
        ),
        ([INTS, IOUT], undefined("RM318")),
    )
    ask(
        book,
        "undefined.spatial.written-twice",
        "TIR-222",
        tir(
            IR,
            'for i in range(4):\n    R[i] = 0\nfor i in range(4):\n    with T.sblock("B"):\n        vi = T.axis.spatial(4, i)\n        «R[vi // 2] = A[vi]',
        ),
        ([INTS, IOUT], undefined("RM319")),
    )
    simple(
        book,
        "tir.spatial.independent",
        "TIR-222",
        'for i in range(4):\n    with T.sblock("B"):\n        vi = T.axis.spatial(4, 3 - i)\n        R[vi] = A[vi]',
        INTS,
    )
    simple(
        book,
        "tir.reduction.complete",
        "TIR-223",
        'for k in range(4):\n    with T.sblock("B"):\n        vk = T.axis.reduce(4, k)\n        with T.init():\n            R[0] = 0\n        R[0] = R[0] + A[vk]\nfor i in range(3):\n    R[i + 1] = 0',
        i32(100, 0, 0, 0),
    )
    ask(
        book,
        "undefined.reduction.term-twice",
        "TIR-223",
        tir(
            IR,
            'for k in range(5):\n    «with T.sblock("B"):\n        vk = T.axis.reduce(4, T.min(k, 3))\n        with T.init():\n            R[0] = 0\n        R[0] = R[0] + A[vk]',
        ),
        ([INTS, IOUT], undefined("RM320")),
    )
    simple(
        book,
        "tir.block.points-left-out",
        "TIR-224",
        'for i in range(4):\n    R[i] = 7\nfor i in range(2):\n    with T.sblock("B"):\n        vi = T.axis.spatial(4, i)\n        R[vi] = A[vi]',
        i32(10, 20, 7, 7),
    )
    ask(
        book,
        "tir.reduction.onto-what-is-there",
        "TIR-224",
        tir(
            ONE,
            'for k in range(1):\n    with T.sblock("B"):\n        vk = T.axis.reduce(1, k)\n        R[0] = R[0] + A[vk]',
        ),
        ([i32(4), i32(100)], [K, i32(104)]),
    )
    ask(
        book,
        "undefined.race.parallel",
        "TIR-225",
        tir(IR, "for i in T.parallel(4):\n    «R[0] = A[i]"),
        ([INTS, IOUT], undefined("RM321")),
    )
    ask(
        book,
        "undefined.race.vectorized",
        "TIR-225",
        tir(IR, "R[0] = 0\nfor i in T.vectorized(3):\n    R[i + 1] = «R[i]» + A[i]"),
        ([INTS, IOUT], undefined("RM321")),
    )
    simple(
        book,
        "tir.iteration-memory",
        "TIR-226",
        'for i in range(4):\n    with T.sblock("B"):\n        vi = T.axis.spatial(4, i)\n        B = T.sblock_alloc_buffer((2,), "int32")\n        for k in range(2):\n            B[k] = A[vi] + k\n        R[vi] = B[0] + B[1]',
        i32(21, 41, 61, 81),
    )
    book.write("blocks", "Blocks: axes, inits, regions, races.")


SHARED = 'A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")'
EIGHT = np.arange(8, dtype=np.float32)


def threads(book):
    body = 'S = T.alloc_buffer((8,), "float32", scope="shared")\nfor t in T.thread_binding(8, thread="threadIdx.x"):\n    S[t] = A[t]\n    {}\n    B[t] = S[7 - t]'
    for name, between, clause in (
        ("barrier", 'T.tvm_storage_sync("shared")', "TIR-227"),
        ("implied-barrier", "pass", "TIR-229"),
    ):
        ask(
            book,
            f"tir.threads.{name}",
            clause,
            tir(SHARED, body.format(between)),
            ([EIGHT, new([8], "float32")], [K, EIGHT[::-1].copy()]),
            needs=["threads"],
        )
    rolled = 'S = T.alloc_buffer((8,), "float32", scope="shared")\nfor t in T.thread_binding(8, thread="threadIdx.x"):\n    S[t] = A[t]\n    for k in range(3):\n        T.tvm_storage_sync("shared")\n        B[t] = S[(t + 1) % 8]\n        T.tvm_storage_sync("shared")\n        S[t] = B[t]'
    ask(
        book,
        "tir.threads.barrier-in-a-loop",
        "TIR-227",
        tir(SHARED, rolled),
        ([EIGHT, new([8], "float32")], [K, np.roll(EIGHT, -3)]),
        needs=["threads"],
    )
    reduce = 'R = T.alloc_buffer((1,), "float32", scope="local")\nfor y in T.thread_binding(2, thread="threadIdx.y"):\n    for x in T.thread_binding(4, thread="threadIdx.x"):\n        with T.attr(T.comm_reducer(lambda a, b: a + b, [T.float32(0)]), "reduce_scope", 0):\n            T.tvm_thread_allreduce(T.uint32(1), A[y * 4 + x], {}, R[0], {})\n        B[y * 4 + x] = R[0]'
    for name, condition, axes, expected in (
        ("rows", "T.bool(True)", "x", [6] * 4 + [22] * 4),
        ("columns", "T.bool(True)", "y", [4, 6, 8, 10] * 2),
        ("all", "T.bool(True)", "x, y", [28] * 8),
        ("condition", "x > 1", "x", [5] * 4 + [13] * 4),
    ):
        ask(
            book,
            f"tir.threads.allreduce-{name}",
            "TIR-228",
            tir(SHARED, reduce.format(condition, axes)),
            ([EIGHT, new([8], "float32")], [K, f32(*expected)]),
            needs=["threads"],
        )
    ask(
        book,
        "undefined.barrier.divergent",
        "TIR-227",
        tir(
            SHARED,
            'for t in T.thread_binding(8, thread="threadIdx.x"):\n    if t < 4:\n        «T.tvm_storage_sync("shared")\n    B[t] = A[t]',
        ),
        ([EIGHT, new([8], "float32")], undefined("RM327")),
        needs=["threads"],
    )
    ask(
        book,
        "undefined.barrier.missing",
        "TIR-229 TIR-225",
        tir(
            SHARED,
            'S = T.alloc_buffer((8,), "float32", scope="shared")\nfor t in T.thread_binding(8, thread="threadIdx.x"):\n    T.tvm_storage_sync("shared")\n    S[t] = A[t]\n    B[t] = «S[7 - t]»',
        ),
        ([EIGHT, new([8], "float32")], undefined("RM305")),
        needs=["threads"],
    )
    private = 'L = T.alloc_buffer((2,), "float32", scope="local")\nL[0] = T.float32(5)\nfor t in T.thread_binding(8, thread="threadIdx.x"):\n    L[1] = A[t]\n    L[0] = L[0] + L[1]\n    B[t] = L[0]'
    ask(
        book,
        "tir.threads.private-memory",
        "TIR-208",
        tir(SHARED, private),
        ([EIGHT, new([8], "float32")], [K, EIGHT + 5]),
        needs=["threads"],
    )
    turns(book)
    book.write("threads", "Threads that wait for each other.")


def turns(book):
    """Statements around barriers, which threads come to in turns: A is 0 … 7, S is A, and every thread adds up."""
    frame = 'S = T.alloc_buffer((8,), "float32", scope="shared")\nfor t in T.thread_binding(8, thread="threadIdx.x"):\n    S[t] = A[t]\n    B[t] = T.float32(0)\n    T.tvm_storage_sync("shared")\n{}'
    sync = 'T.tvm_storage_sync("shared")'
    t = np.arange(8)

    def ring(*ks):
        return sum(((t + k) % 8).astype(np.float32) for k in ks)

    take = "B[t] = B[t] + S[(t + k) % 8]"
    rows = [
        ("loop-step", f"for k in T.serial(1, 6, step=2):\n    {take}\n    {sync}", ring(1, 3, 5)),
        ("loop-start", f"for k in range(2, 5):\n    {take}\n    {sync}", ring(2, 3, 4)),
        ("loop-empty", f"for k in range(3, 3):\n    {take}\n    {sync}\nB[t] = B[t] + T.float32(1)", ring(0) * 0 + 1),
        ("loop-unrolled", f"for k in T.unroll(3):\n    {take}\n    {sync}", ring(0, 1, 2)),
        (
            "loop-nested",
            f"for k, j in T.grid(2, 2):\n    B[t] = B[t] + S[(t + k * 2 + j) % 8]\n    {sync}",
            ring(0, 1, 2, 3),
        ),
        ("break", f"for k in range(8):\n    if k == 3:\n        break\n    {take}\n    {sync}", ring(0, 1, 2)),
        ("continue", f"for k in range(4):\n    if k == 1:\n        continue\n    {take}\n    {sync}", ring(0, 2, 3)),
        ("while", f"while B[t] < T.float32(0):\n    {sync}\n    B[t] = T.float32(1)\nB[t] = B[t] + S[t]", ring(0)),
        (
            "while-turns",
            f'n = T.alloc_buffer((1,), "int32", scope="local")\nn[0] = 0\nwhile n[0] < 3:\n    B[t] = B[t] + S[(t + n[0]) % 8]\n    {sync}\n    n[0] = n[0] + 1',
            ring(0, 1, 2),
        ),
        (
            "while-break",
            f'n = T.alloc_buffer((1,), "int32", scope="local")\nn[0] = 0\nwhile n[0] < 100:\n    B[t] = B[t] + S[(t + n[0]) % 8]\n    {sync}\n    n[0] = n[0] + 1\n    if n[0] == 2:\n        break',
            ring(0, 1),
        ),
        (
            "if-all",
            f"for k in range(4):\n    if k % 2 == 0:\n        {take}\n        {sync}\n    else:\n        B[t] = B[t] + T.float32(10)\n        {sync}",
            ring(0, 2) + 20,
        ),
        ("if-without-else", f"for k in range(3):\n    if k > 0:\n        {take}\n        {sync}", ring(1, 2)),
        (
            "let",
            f"for k in range(2):\n    m: T.let[T.int32] = (t + k * 3) % 8\n    B[t] = B[t] + S[m]\n    {sync}",
            ring(0, 3),
        ),
        ("attr", f'with T.attr(0, "pragma_unroll", 1):\n    B[t] = B[t] + S[(t + 5) % 8]\n    {sync}', ring(5)),
        (
            "alloc",
            f'for k in range(2):\n    L = T.alloc_buffer((1,), "float32", scope="local")\n    L[0] = S[(t + k) % 8]\n    {sync}\n    B[t] = B[t] + L[0]',
            ring(0, 1),
        ),
        (
            "decl",
            f'V = T.decl_buffer((2, 4), "float32", data=S.data, scope="shared")\n{sync}\nB[t] = V[t // 4, t % 4] + T.float32(2)',
            ring(0) + 2,
        ),
        (
            "exchange-twice",
            f"S[t] = A[7 - t]\n{sync}\nB[t] = S[(t + 1) % 8]\n{sync}\nS[t] = B[t] + T.float32(1)\n{sync}\nB[t] = S[7 - t]",
            np.array([7 - ((7 - i + 1) % 8) + 1 for i in range(8)], np.float32),
        ),
        (
            "block",
            f'for k in range(2):\n    with T.sblock("take"):\n        vt, vk = T.axis.remap("SR", [t, k])\n        B[vt] = B[vt] + S[(vt + vk) % 8]\n    {sync}',
            ring(0, 1),
        ),
        ("assert", f'assert S[t] >= T.float32(0), "never"\n{sync}\nB[t] = S[7 - t]', ring(0)[::-1].copy()),
        ("evaluate", f"T.evaluate(S[t])\n{sync}\nB[t] = S[(t + 2) % 8]", ring(2)),
    ]
    for name, inner, expected in rows:
        inside = "\n".join("    " + line for line in inner.split("\n"))
        ask(
            book,
            f"tir.threads.{name}",
            "TIR-227 TIR-203",
            tir(SHARED, frame.format(inside)),
            ([EIGHT, new([8], "float32")], [K, np.asarray(expected, np.float32)]),
            needs=["threads"],
        )
    divergent = frame.format(
        '    if t < 4:\n        «T.tvm_storage_sync("shared")»\n    else:\n        B[t] = T.float32(1)'
    )
    ask(
        book,
        "undefined.barrier.one-branch",
        "TIR-227",
        tir(SHARED, divergent),
        ([EIGHT, new([8], "float32")], undefined("RM327")),
        needs=["threads"],
    )
    ask(
        book,
        "trap.assert.in-a-thread",
        "TIR-202 TIR-227",
        tir(SHARED, frame.format(f'    «assert S[t] < T.float32(5), "small"»\n    {sync}')),
        ([EIGHT, new([8], "float32")], trap("RM401")),
        needs=["threads"],
    )
    ask(
        book,
        "undefined.threads.out-of-bounds",
        "TIR-006 TIR-227",
        tir(SHARED, frame.format(f"    B[t] = «S[t + 1]»\n    {sync}")),
        ([EIGHT, new([8], "float32")], undefined("RM304")),
        needs=["threads"],
    )


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


INTRINSICS = [
    ("hints", "TIR-301", 'T.evaluate(T.type_annotation("float32"))\nfor i in range(4):\n    R[i] = A[i]', [1, 2, 3, 4]),
    (
        "thread-invariant",
        "TIR-302",
        "for i in range(4):\n    R[i] = T.if_then_else(T.ignore_loop_partition(A[i] > T.float32(2)), T.tvm_thread_invariant(A[i]), A[0])",
        [1, 1, 3, 4],
    ),
    (
        "vscale",
        "TIR-303",
        'for i in range(4):\n    R[i] = A[i] + T.Cast("float32", T.vscale() - T.vscale())',
        [1, 2, 3, 4],
    ),
    (
        "vector-halves",
        "TIR-304",
        'R[0:4] = T.vectorcombine("float32x4", T.vectorhigh("float32x2", A.vload([T.Ramp(0, 1, 4)])), T.vectorlow("float32x2", A.vload([T.Ramp(0, 1, 4)])))',
        [3, 4, 1, 2],
    ),
    (
        "lane-mask",
        "TIR-305",
        'R[0:4] = T.Select(T.get_active_lane_mask("boolx4", 5, 7), A[0:4], T.Broadcast(T.float32(0), 4))',
        [1, 2, 0, 0],
    ),
    (
        "assume",
        "TIR-306",
        "T.evaluate(T.assume(A[0] > T.float32(0)))\nfor i in range(4):\n    R[i] = A[i]",
        [1, 2, 3, 4],
    ),
    (
        "undef-stored",
        "TIR-307",
        "for i in range(4):\n    R[i] = A[i]\nR[0] = T.undef()\nR[0] = T.float32(9)",
        [9, 2, 3, 4],
    ),
    ("fma", "TIR-309", "for i in range(4):\n    R[i] = T.fma(A[i], A[i], T.float32(1))", [2, 5, 10, 17]),
    (
        "address-of",
        "TIR-321",
        'B = T.decl_buffer((2,), "float32", data=T.address_of(A[2]))\nfor i in range(4):\n    R[i] = B[i % 2]',
        [3, 4, 3, 4],
    ),
    (
        "access-ptr",
        "TIR-322",
        'B = T.decl_buffer((2,), "float32", data=T.tvm_access_ptr(T.type_annotation("float32"), A.data, 1, 2, 1))\nfor i in range(4):\n    R[i] = B[i % 2]',
        [2, 3, 2, 3],
    ),
    (
        "byte-offset",
        "TIR-323",
        'B = T.decl_buffer((2,), "float32", data=T.handle_add_byte_offset(A.data, 8))\nfor i in range(4):\n    R[i] = B[i % 2]',
        [3, 4, 3, 4],
    ),
    (
        "isnullptr",
        "TIR-324",
        "for i in range(4):\n    R[i] = T.float32(0)\nif not T.isnullptr(A.data):\n    R[0] = A[0]",
        [1, 0, 0, 0],
    ),
    (
        "null-handle",
        "TIR-332 TIR-324",
        'for i in range(4):\n    R[i] = T.float32(0)\nif T.isnullptr(T.reinterpret("handle", T.uint64(0))):\n    R[0] = A[0]',
        [1, 0, 0, 0],
    ),
    (
        "workspace",
        "TIR-325",
        'W = T.decl_buffer((2,), "float32", data=T.TVMBackendAllocWorkspace(1, 0, T.uint64(8), 2, 32))\nW[0] = A[0]\nW[1] = A[1]\nfor i in range(4):\n    R[i] = W[i % 2]\nT.evaluate(T.TVMBackendFreeWorkspace(1, 0, W.data))',
        [1, 2, 1, 2],
    ),
    (
        "extern-of-c",
        "TIR-342",
        'R[0] = T.call_pure_extern("float32", "sqrtf", A[3])\nR[1] = T.call_pure_extern("float32", "fabsf", T.float32(0) - A[1])\nR[2] = T.call_extern("float32", "powf", A[1], A[2])\nR[3] = T.call_pure_extern("float32", "floorf", A[3] / T.float32(3))',
        [2, 2, 8, 1],
    ),
    (
        "llvm-intrin",
        "TIR-343",
        'R[0] = T.call_llvm_pure_intrin("float32", "llvm.floor.f32", T.float32(2.5))\nR[1] = T.call_llvm_pure_intrin("float32", "llvm.rint.f32", T.float32(2.5))\nR[2] = T.call_llvm_pure_intrin("float32", "llvm.fmuladd.f32", A[1], A[2], A[3])\nR[3] = T.call_llvm_pure_intrin("float32", "llvm.ceil.f32", T.float32(2.5))',
        [2, 2, 10, 3],
    ),
    (
        "struct-shape",
        "TIR-330 TIR-329",
        'shape = T.decl_buffer((2,), "int64", data=T.tvm_stack_alloca("shape", 2))\nshape[0] = T.int64(2)\nshape[1] = T.int64(3)\nfor i in range(4):\n    R[i] = T.Cast("float32", T.tvm_struct_get(shape.data, 1, 17, "int64"))',
        [3, 3, 3, 3],
    ),
    (
        "struct-values",
        "TIR-330 TIR-329",
        'stack: T.let[T.handle] = T.tvm_stack_alloca("tvm_ffi_any", 3)\nT.tvm_struct_set(stack, 1, 15, T.int64(5))\nfor i in range(4):\n    R[i] = A[i] + T.Cast("float32", T.tvm_struct_get(stack, 1, 15, "int64"))',
        [6, 7, 8, 9],
    ),
    (
        "never-reached",
        "TIR-399",
        "for i in range(4):\n    R[i] = A[i]\nif R[0] < T.float32(0):\n    T.evaluate(T.tvm_warp_activemask())",
        [1, 2, 3, 4],
    ),
]
ARRAY = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4,), "float32"), R: T.Buffer((4,), "float32")):
        T.evaluate(T.call_packed("copy", T.tvm_stack_make_array(A.data, T.tvm_stack_make_shape(2), 0, 1, T.float32(0), 1), T.tvm_stack_make_array(R.data, T.tvm_stack_make_shape(2), 0, 1, T.float32(0), 2)))
        R[0] = A[0]
        R[1] = A[1]

    @T.prim_func(s_tir=True)
    def copy(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
        T.func_attr({"global_symbol": "copy"})
        for i in range(2):
            B[i] = A[i] * T.float32(10)
"""
LOWERED = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4,), "float32"), R: T.Buffer((4,), "float32")):
        stack: T.let[T.handle] = T.tvm_stack_alloca("tvm_ffi_any", 3)
        T.tvm_struct_set(stack, 0, 13, 1)
        T.tvm_struct_set(stack, 0, 15, T.int64(40))
        T.call_packed_lowered("plus", stack, 0, 1)
        for i in range(4):
            R[i] = A[i] + T.Cast("float32", T.tvm_struct_get(stack, 1, 15, "int64"))

    @T.prim_func(s_tir=True)
    def plus(n: T.int64) -> T.int64:
        T.func_attr({"global_symbol": "plus"})
        T.ret(n + T.int64(2))
"""
EXTERN = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4,), "float32"), R: T.Buffer((4,), "float32")):
        for i in range(4):
            R[i] = A[i]
        T.call_extern("int32", "other", R.data)

    @T.prim_func(s_tir=True)
    def other(p: T.handle("float32")):
        B = T.decl_buffer((4,), "float32", data=p)
        B[1] = T.float32(5)
"""


def intrinsics(book):
    for name, clauses, body, expected in INTRINSICS:
        simple(book, f"tir.intrinsic.{name}", clauses, body, f32(*expected), AR, FOUR, OUT)
    third = f32(1 + 2.0**-23, -(1 + 2.0**-22), 0, 0)
    simple(
        book,
        "tir.intrinsic.fma-rounds-once",
        "TIR-309",
        "for i in range(4):\n    R[i] = T.fma(A[0], A[0], A[1])",
        np.full(4, 2.0**-46, np.float32),
        AR,
        third,
        OUT,
    )
    ask(book, "tir.intrinsic.make-array", "TIR-328 TIR-327 TIR-341", ARRAY, ([FOUR, OUT], [K, f32(1, 2, 20, 30)]))
    ask(book, "tir.intrinsic.call-packed-lowered", "TIR-331 TIR-330", LOWERED, ([FOUR, OUT], [K, FOUR + 42]))
    ask(book, "tir.intrinsic.call-extern-of-the-module", "TIR-342", EXTERN, ([FOUR, OUT], [K, f32(1, 5, 3, 4)]))
    ask(
        book,
        "undefined.assume.false",
        "TIR-306",
        tir(ONE, "T.evaluate(«T.assume(A[0] > 0)»)\nR[0] = 1"),
        ([i32(0), new([1], "int32")], undefined("RM310")),
    )
    ask(
        book,
        "undefined.undef.used",
        "TIR-307",
        tir('R: T.Buffer((1,), "float32")', "R[0] = T.float32(1) + «T.undef()»"),
        ([new([1], "float32")], undefined("RM305")),
    )
    ask(
        book,
        "undefined.undef.read-again",
        "TIR-307",
        tir('R: T.Buffer((2,), "float32")', "R[0] = T.float32(1)\nR[0] = T.undef()\nR[1] = «R[0]»"),
        ([new([2], "float32")], undefined("RM305")),
    )
    ask(
        book,
        "undefined.address.outside",
        "TIR-321",
        tir(IR, 'B = T.decl_buffer((1,), "int32", data=T.address_of(«A[5]»))\nR[0] = B[0]'),
        ([INTS, IOUT], undefined("RM304")),
    )
    ask(
        book,
        "undefined.workspace.freed-twice",
        "TIR-325",
        tir(
            ONE,
            'W = T.decl_buffer((1,), "float32", data=T.TVMBackendAllocWorkspace(1, 0, T.uint64(4), 2, 32))\nT.evaluate(T.TVMBackendFreeWorkspace(1, 0, W.data))\nT.evaluate(«T.TVMBackendFreeWorkspace(1, 0, W.data)»)\nR[0] = A[0]',
        ),
        ([i32(1), new([1], "int32")], undefined("RM313")),
    )
    ask(
        book,
        "undefined.workspace.used-after",
        "TIR-325",
        tir(
            'R: T.Buffer((1,), "float32")',
            'W = T.decl_buffer((1,), "float32", data=T.TVMBackendAllocWorkspace(1, 0, T.uint64(4), 2, 32))\nW[0] = T.float32(1)\nT.evaluate(T.TVMBackendFreeWorkspace(1, 0, W.data))\nR[0] = «W[0]»',
        ),
        ([new([1], "float32")], undefined("RM316")),
    )
    ask(
        book,
        "undefined.workspace.uninitialised",
        "TIR-325",
        tir(
            'R: T.Buffer((1,), "float32")',
            'W = T.decl_buffer((1,), "float32", data=T.TVMBackendAllocWorkspace(1, 0, T.uint64(4), 2, 32))\nR[0] = «W[0]»',
        ),
        ([new([1], "float32")], undefined("RM305")),
    )
    ask(
        book,
        "trap.throw",
        "TIR-326",
        tir(ONE, "R[0] = A[0]\n«T.tvm_throw_last_error()»"),
        ([i32(1), new([1], "int32")], trap("RM406")),
    )
    ask(
        book,
        "undefined.struct.never-set",
        "TIR-330",
        tir(
            ONE,
            'stack: T.let[T.handle] = T.tvm_stack_alloca("tvm_ffi_any", 1)\nR[0] = T.Cast("int32", «T.tvm_struct_get(stack, 0, 15, "int64")»)',
        ),
        ([i32(1), new([1], "int32")], undefined("RM313")),
    )
    ask(
        book,
        "undefined.null-pointer",
        "TIR-207 TIR-332",
        tir(
            'R: T.Buffer((1,), "float32")',
            '«B = T.decl_buffer((1,), "float32", data=T.reinterpret("handle", T.uint64(0)))\nR[0] = B[0]',
        ),
        ([new([1], "float32")], undefined("RM313")),
    )
    ask(
        book,
        "undefined.handle-of-a-number",
        "TIR-332",
        tir(
            'R: T.Buffer((1,), "float32")',
            'R[0] = T.float32(1)\nif T.isnullptr(«T.reinterpret("handle", T.uint64(4096))»):\n    R[0] = T.float32(2)',
        ),
        ([new([1], "float32")], undefined("RM313")),
    )
    ask(
        book,
        "trap.packed.missing",
        "TIR-341",
        tir(ONE, 'T.evaluate(«T.call_packed("no.such.function", A[0])»)\nR[0] = A[0]'),
        ([i32(1), new([1], "int32")], trap("RM402")),
    )
    ask(book, "tir.intrinsic.call-ffi-kernel", "TIR-333", KERNEL, ([FOUR, OUT], [K, FOUR + 1]))
    book.write("intrinsics", "Intrinsics of TensorIR, family by family.")


KERNEL = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4,), "float32"), R: T.Buffer((4,), "float32")):
        T.call_ffi_kernel("kernel", A.data, R.data, 4)

    @T.prim_func(s_tir=True)
    def kernel(a: T.handle("float32"), r: T.handle("float32")):
        T.func_attr({"global_symbol": "kernel", "calling_conv": 2})
        A = T.decl_buffer((4,), "float32", data=a)
        R = T.decl_buffer((4,), "float32", data=r)
        t = T.launch_thread("threadIdx.x", 4)
        R[t] = A[t] + T.float32(1)
"""


def rejected(book):
    """Static rules."""
    rows = [
        ("scope.loop-variable", "TIR-901", "RM104", "for i in range(4):\n    R[i] = A[i]\nR[0] = A[«i»]"),
        (
            "scope.allocation",
            "TIR-901",
            "RM104",
            'for i in range(4):\n    B = T.alloc_buffer((1,), "int32")\n    B[0] = 1\n    R[i] = A[i]\nR[0] = «B»[0]',
        ),
        ("dtypes.operands", "TIR-902", "RM201", "R[0] = T.bitwise_and(A[0], T.float32(1))"),
        ("conditions.if-integer", "TIR-903", "RM201", "while A[0]:\n    R[0] = 1"),
        ("rank.load", "TIR-904", "RM208", "R[0] = A[0, 0]"),
        ("rank.store", "TIR-904", "RM208", "R[0, 0] = A[0]"),
        (
            "block.bindings",
            "TIR-907",
            "RM105",
            'for i in range(4):\n    with T.sblock("B"):\n        vi, vj = T.axis.remap("SS", [i])\n        R[vi] = A[vi]',
        ),
        ("break-outside", "TIR-909", "RM213", "break\nR[0] = A[0]"),
        ("continue-outside", "TIR-909", "RM213", "R[0] = A[0]\ncontinue"),
    ]
    for name, clauses, code, body in rows:
        ask(book, f"reject.tir.{name}", clauses, tir(IR, body.replace("«", "").replace("»", "")), ([], reject(code)))
    ask(
        book,
        "reject.tir.names.parameters",
        "TIR-908",
        tir('A: T.Buffer((4,), "int32"), A: T.Buffer((4,), "int32")', "A[0] = 1"),
        ([], reject("RM210")),
    )
    ask(
        book,
        "reject.tir.shape-variable",
        "TIR-906",
        '\n@T.prim_func(s_tir=True)\ndef main(a: T.handle):\n    n = T.int32()\n    A = T.match_buffer(a, (n * 2,), "int32")\n    A[0] = 1\n',
        ([], reject("RM211")),
    )
    ask(
        book,
        "reject.tir.called.unknown",
        "TIR-905",
        '\n@I.ir_module\nclass Module:\n    @T.prim_func(s_tir=True)\n    def main(A: T.Buffer((4,), "int32")):\n        Module.nowhere(A.data)\n',
        ([], reject("RM207")),
    )
    ask(
        book,
        "reject.tir.called.arity",
        "TIR-905",
        TWO.replace("Module.add(R.data, A[0])", "Module.add(R.data)"),
        ([], reject("RM206")),
    )
    book.write("tir", "Static rules of TensorIR.")


def main():
    """Each part is a book of its own area; what is undefined or traps goes to those areas."""
    told = []
    for part in (expressions, statements, blocks, threads, functions, bounds, intrinsics, rejected):
        book = Split(part.__name__)
        part(book)
        told += book.disagreements
    sys.stdout.write("".join(f"{line}\n" for line in told))


class Split(Book):
    """A book whose cases go to the areas that their ids name."""

    def __init__(self, stem):
        super().__init__("tir", "hand", strict=False)
        self.stem = stem

    def write(self, stem, title):
        cases = list(self.cases)
        for area in dict.fromkeys(case.id.split(".")[0] for case in cases):
            self.area = area
            self.cases = [case for case in cases if case.id.split(".")[0] == area]
            super().write(f"tir-{stem}" if area != "tir" else stem, title)


if __name__ == "__main__":
    main()
