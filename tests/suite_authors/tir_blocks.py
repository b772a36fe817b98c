"""TensorIR by hand: blocks."""

import numpy as np
from hand import K, ask, i32, new, tir, undefined
from tir_usual import INTS, IOUT, IR, ONE, simple

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
