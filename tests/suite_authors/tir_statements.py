"""TensorIR by hand: statements."""

from hand import HEAD, K, ask, i32, new, tir, trap, undefined
from tir_usual import INTS, IOUT, IR, ONE, simple

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
