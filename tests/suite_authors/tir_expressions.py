"""TensorIR by hand: expressions."""

import numpy as np
from hand import ask, f32, i32, new, tir, undefined
from tir_usual import AR, FOUR, INTS, IOUT, IR, OUT, simple


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
