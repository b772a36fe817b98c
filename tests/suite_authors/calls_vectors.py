"""TensorIR by hand: values of several lanes, buffers of vectors, predicates."""

import numpy as np
from hand import K, ask, f32, i32, new, tir, undefined
from tir_usual import INTS, IOUT, IR, simple

AR8 = 'A: T.Buffer((8,), "float32"), R: T.Buffer((8,), "float32")'
IR8 = 'A: T.Buffer((8,), "int32"), R: T.Buffer((8,), "int32")'
EIGHT = f32(1, -2, 3, 5, -7, 0.5, 4, 9)
WHOLE = i32(7, -3, 0, 12, 5, -8, 1, 30)
OUT8, IOUT8 = new([8], "float32"), new([8], "int32")


CONSTANT = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def fill(A: T.Buffer((4,), "int32")):
        V = T.decl_buffer((4,), "int32", data=A.data)
        «V[0:4] = T.Ramp(0, 1, 4)»

    @R.function
    def main() -> R.Tensor((4,), "int32"):
        cls = Module
        with R.dataflow():
            gv = R.call_tir_inplace(cls.fill, (R.const([1, 2, 3, 4], "int32"),), inplace_indices=[0], out_ty=R.Tensor((4,), "int32"))
            R.output(gv)
        return gv
"""


def lanes(book):
    """Operators, ramps, loads and stores lane by lane."""
    logic(book)
    ramps(book)
    shuffles(book)
    wide(book)
    predicates(book)
    switched(book)
    ends(book)
    watched(book)


def logic(book):
    """And, or, select, casts of vectors."""
    x, y = "A[0:8] > T.Broadcast(0, 8)", "A[0:8] < T.Broadcast(6, 8)"
    above, below = WHOLE > 0, WHOLE < 6
    rows = {
        "and": ("TIR-107", f"T.And({x}, {y})", above & below),
        "or": ("TIR-108", f"T.Or(T.Not({y}), T.Not({x}))", ~below | ~above),
        "or-plain": ("TIR-108", f"T.Or({x}, T.Not({y}))", above | ~below),
    }
    for name, (clause, value, truth) in rows.items():
        expected = np.where(truth, WHOLE, np.arange(8, dtype=np.int32) * 3 + 100).astype(np.int32)
        body = f"R[0:8] = T.Select({value}, A[0:8], T.Ramp(100, 3, 8))"
        simple(book, f"tir.lanes.{name}", clause, body, expected, IR8, WHOLE, IOUT8)
    simple(
        book,
        "tir.lanes.cast",
        "TIR-106 NUM-701",
        'R[0:8] = T.Cast("float32x8", T.Cast("int8x8", T.Cast("int32x8", A[0:8] * T.Broadcast(T.float32(3), 8))))',
        np.trunc(EIGHT * 3).astype(np.float32),
        AR8,
        EIGHT,
        OUT8,
    )
    ask(
        book,
        "undefined.lanes.cast",
        "TIR-106 NUM-702",
        tir(
            'A: T.Buffer((4,), "float32"), R: T.Buffer((4,), "int32")',
            'R[0:4] = T.Broadcast(1, 4)\nR[0:4] = «T.Cast("int32x4", A[0:4])»',
        ),
        ([f32(1, 2, 3e9, 4), IOUT], undefined("RM309")),
        ([f32(np.nan, 2, 3, 4), IOUT], undefined("RM309")),
        ([f32(1, 2.5, -3.5, 4), IOUT], [K, i32(1, 2, -3, 4)]),
    )


def ramps(book):
    """Ramps up to the ends of their dtype; broadcasts."""
    ask(
        book,
        "tir.lanes.ramp-bounds",
        "TIR-114 TIR-115",
        tir('n: T.int32, s: T.int32, R: T.Buffer((4,), "int32")', "R[0:4] = T.Ramp(n, s, 4)"),
        ([2**31 - 4, 1, IOUT], i32(*range(2**31 - 4, 2**31))),
        ([-(2**31) + 9, -3, IOUT], i32(-(2**31) + 9, -(2**31) + 6, -(2**31) + 3, -(2**31))),
        ([5, 0, IOUT], i32(5, 5, 5, 5)),
        ([-(2**31), 2**30, IOUT], i32(-(2**31), -(2**30), 0, 2**30)),
    )
    ask(
        book,
        "undefined.lanes.ramp-bounds",
        "TIR-114",
        tir('n: T.int32, s: T.int32, R: T.Buffer((4,), "int32")', "R[0:4] = «T.Ramp(n, s, 4)»"),
        ([2**31 - 3, 1, IOUT], undefined("RM306")),
        ([-(2**31) + 8, -3, IOUT], undefined("RM306")),
        ([0, 2**30, IOUT], undefined("RM306")),
    )
    ask(
        book,
        "tir.lanes.ramp-wraps",
        "TIR-114 NUM-101",
        tir(
            'n: T.int8, u: T.uint16, R: T.Buffer((4,), "int8"), S: T.Buffer((4,), "uint16")',
            "R[0:4] = T.Ramp(n, T.int8(50), 4)\nS[0:4] = T.Ramp(u, T.uint16(7), 4)",
        ),
        (
            [100, 65520, new([4], "int8"), new([4], "uint16")],
            [np.array([100, -106, -56, -6], np.int8), np.array([65520, 65527, 65534, 5], np.uint16)],
        ),
        (
            [-128, 0, new([4], "int8"), new([4], "uint16")],
            [np.array([-128, -78, -28, 22], np.int8), np.array([0, 7, 14, 21], np.uint16)],
        ),
        (
            [-23, 65514, new([4], "int8"), new([4], "uint16")],
            [np.array([-23, 27, 77, 127], np.int8), np.array([65514, 65521, 65528, 65535], np.uint16)],
        ),
    )


def shuffles(book):
    """Lanes of several operands, scalars among them."""
    simple(
        book,
        "tir.lanes.shuffle",
        "TIR-116",
        "R[0:4] = T.Shuffle([A[0:4], A[4:6], A[6:8]], [7, 4, 3, 6])\n"
        "R[4:8] = T.Shuffle([A[0:2], A[6:8]], [2, 2, 0, 1])",
        EIGHT[[7, 4, 3, 6, 6, 6, 0, 1]],
        AR8,
        EIGHT,
        OUT8,
    )
    simple(
        book,
        "tir.lanes.shuffle-of-scalars",
        "TIR-116",
        "R[0:4] = T.Shuffle([A[5], A[6], A[0], A[2]], [3, 0, 1, 2])\n"
        "for i in range(4):\n    R[4 + i] = T.Shuffle([A[0:4], A[4:8]], [5])",
        EIGHT[[2, 5, 6, 0, 5, 5, 5, 5]],
        AR8,
        EIGHT,
        OUT8,
    )
    simple(
        book,
        "tir.lanes.halves-of-eight",
        "TIR-304",
        'R[0:8] = T.vectorcombine("float32x8", T.vectorhigh("float32x4", A.vload([T.Ramp(0, 1, 8)])), T.vectorlow("float32x4", A.vload([T.Ramp(0, 1, 8)])))',
        EIGHT[[4, 5, 6, 7, 0, 1, 2, 3]],
        AR8,
        EIGHT,
        OUT8,
    )
    ask(
        book,
        "tir.lanes.mask",
        "TIR-305 TIR-109",
        tir(
            'n: T.int32, m: T.int32, R: T.Buffer((4,), "int32")',
            'R[0:4] = T.Select(T.get_active_lane_mask("boolx4", n, m), T.Ramp(1, 1, 4), T.Broadcast(0, 4))',
        ),
        *(
            ([n, m, IOUT], i32(*[lane + 1 if n + lane < m else 0 for lane in range(4)]))
            for n, m in ((0, 4), (0, 3), (5, 5), (5, 6), (-3, -1), (9, 2), (2**31 - 2, 2**31 - 1))
        ),
    )


def wide(book):
    """Buffers whose elements are vectors."""
    view = """
V = T.decl_buffer((2,), "float32x4", data=A.data)
W = T.decl_buffer((2,), "float32x4", data=R.data)
"""
    rows = {
        "copy": ("W[0] = V[1]\nW[1] = V[0]", [4, 5, 6, 7, 0, 1, 2, 3]),
        "loop": ("for i in range(2):\n    W[1 - i] = V[i]", [4, 5, 6, 7, 0, 1, 2, 3]),
        "ramp": ("W[T.Ramp(0, 1, 2)] = V[T.Ramp(1, -1, 2)]", [4, 5, 6, 7, 0, 1, 2, 3]),
        "ramp-of-lanes": ("R[0:8] = V[T.Ramp(1, -1, 2)]", [4, 5, 6, 7, 0, 1, 2, 3]),
        "lanes-of-ramp": ("W[T.Ramp(0, 1, 2)] = A[0:8]", list(range(8))),
        "mixed": ("R[0:4] = V[1]\nW[1] = A[2:6]", [4, 5, 6, 7, 2, 3, 4, 5]),
        "same": ("W[T.Broadcast(1, 2)] = A[0:8]\nW[0] = V[0]", [0, 1, 2, 3, 4, 5, 6, 7]),
    }
    for name, (body, order) in rows.items():
        simple(book, f"tir.lanes.wide-{name}", "TIR-112 TIR-205 TIR-005", view + body, EIGHT[order], AR8, EIGHT, OUT8)
    square = """
V = T.decl_buffer((2, 2), "int32x2", data=A.data)
W = T.decl_buffer((2, 2), "int32x2", data=R.data)
"""
    rows = {
        "matrix": ("for i, j in T.grid(2, 2):\n    W[j, i] = V[i, j]", [0, 1, 4, 5, 2, 3, 6, 7]),
        "rows": (
            "for i in range(2):\n    W[i, T.Ramp(0, 1, 2)] = V[1 - i, T.Ramp(1, -1, 2)]",
            [6, 7, 4, 5, 2, 3, 0, 1],
        ),
    }
    for name, (body, order) in rows.items():
        simple(book, f"tir.lanes.wide-{name}", "TIR-112 TIR-205", square + body, WHOLE[order], IR8, WHOLE, IOUT8)


def predicates(book):
    """Lanes that are switched off: not read, not written, 0."""
    load = "R.vstore([T.Ramp(0, 1, 4)], A.vload([T.Ramp(n, 1, 4)], predicate=T.Ramp(n, 1, 4) < T.Broadcast(m, 4)))"
    params = 'n: T.int32, m: T.int32, A: T.Buffer((6,), "{0}"), R: T.Buffer((4,), "{0}")'
    for dtype in ("int32", "float32", "bool", "float16"):
        values = np.array([3, -1, 4, 1, -5, 9], np.dtype(dtype) if dtype != "bool" else np.bool_)
        calls = []
        for n, m in ((0, 4), (0, 2), (2, 6), (4, 6), (5, 5), (1, 9)):
            if (n, m) == (1, 9):
                continue
            row = np.zeros(4, values.dtype)
            for lane in range(4):
                if n + lane < m:
                    row[lane] = values[n + lane]
            calls.append(([n, m, values, new([4], dtype)], [K, row]))
        ask(book, f"tir.lanes.load-switched-{dtype}", "TIR-112", tir(params.format(dtype), load), *calls)
    store = "for i in range(6):\n    R[i] = -1\nR.vstore([T.Ramp(n, 1, 4)], A[0:4], predicate=T.Ramp(n, 1, 4) < T.Broadcast(m, 4))"
    params = 'n: T.int32, m: T.int32, A: T.Buffer((4,), "int32"), R: T.Buffer((6,), "int32")'
    calls = []
    for n, m in ((0, 4), (0, 2), (2, 6), (4, 6), (5, 5), (3, 5)):
        row = np.full(6, -1, np.int32)
        for lane in range(4):
            if n + lane < m:
                row[n + lane] = INTS[lane]
        calls.append(([n, m, INTS, new([6], "int32")], [K, row]))
    ask(book, "tir.lanes.store-switched", "TIR-205", tir(params, store), *calls)
    marked = store.replace("R.vstore", "«R.vstore") + "»"
    ask(
        book,
        "undefined.lanes.store-switched",
        "TIR-205 TIR-006",
        tir(params, marked),
        ([3, 7, INTS, new([6], "int32")], undefined("RM304")),
        ([-1, 2, INTS, new([6], "int32")], undefined("RM304")),
    )
    load = "R.vstore([T.Ramp(0, 1, 4)], «A.vload([T.Ramp(n, 1, 4)], predicate=T.Ramp(n, 1, 4) < T.Broadcast(m, 4))»)"
    ask(
        book,
        "undefined.lanes.load-switched",
        "TIR-112 TIR-006",
        tir('n: T.int32, m: T.int32, A: T.Buffer((6,), "int32"), R: T.Buffer((4,), "int32")', load),
        ([4, 7, i32(1, 2, 3, 4, 5, 6), IOUT], undefined("RM304")),
        ([-2, 0, i32(1, 2, 3, 4, 5, 6), IOUT], undefined("RM304")),
    )


def ends(book):
    """Accesses of which one lane is wrong."""
    ask(
        book,
        "undefined.lanes.uninitialised",
        "TIR-112 TIR-007",
        tir(IR, 'B = T.alloc_buffer((4,), "int32")\nB[0] = A[0]\nB[1] = A[1]\nB[3] = A[3]\nR[0:4] = «B[0:4]»'),
        ([INTS, IOUT], undefined("RM305")),
    )
    ask(
        book,
        "undefined.lanes.wide-uninitialised",
        "TIR-112 TIR-007",
        tir(
            IR,
            'B = T.alloc_buffer((4,), "int32")\nfor i in range(3):\n    B[i] = A[i]\n'
            'V = T.decl_buffer((2,), "int32x2", data=B.data)\nR[0:2] = V[0]\nR[2:4] = «V[1]»',
        ),
        ([INTS, IOUT], undefined("RM305")),
    )
    ask(
        book,
        "undefined.lanes.wide-beyond-the-storage",
        "TIR-112 TIR-006 TIR-207",
        tir(IR, 'V = T.decl_buffer((3,), "int32x2", data=A.data)\nR[0:2] = V[1]\nR[2:4] = «V[2]»'),
        ([INTS, IOUT], undefined("RM304")),
    )
    ask(
        book,
        "undefined.lanes.store-beyond-the-storage",
        "TIR-205 TIR-006 TIR-207",
        tir(IR, 'V = T.decl_buffer((6,), "int32", data=R.data)\nV[0:4] = A[0:4]\n«V[1:5] = A[0:4]»'),
        ([INTS, IOUT], undefined("RM304")),
    )
    ask(
        book,
        "undefined.lanes.store-to-locked",
        "TIR-205",
        CONSTANT,
        ([], undefined("RM313")),
    )
    for name, first in (("below", -1), ("beyond", 1)):
        ask(
            book,
            f"undefined.lanes.{name}",
            "TIR-205 TIR-006",
            tir("n: T.int32, " + IR, "«R[T.Ramp(n, 1, 4)] = A[0:4]»"),
            ([first, INTS, IOUT], undefined("RM304")),
        )
    ask(
        book,
        "undefined.lanes.outer-axis",
        "TIR-112 TIR-006",
        tir('n: T.int32, A: T.Buffer((2, 4), "int32"), R: T.Buffer((4,), "int32")', "R[0:4] = «A[n, 0:4]»"),
        ([2, np.arange(8, dtype=np.int32).reshape(2, 4), IOUT], undefined("RM304")),
        ([1, np.arange(8, dtype=np.int32).reshape(2, 4), IOUT], [K, i32(4, 5, 6, 7)]),
        ([-1, np.arange(8, dtype=np.int32).reshape(2, 4), IOUT], undefined("RM304")),
    )


def switched(book):
    """A predicate without lanes, at an index without lanes."""
    ask(
        book,
        "tir.lanes.one-store-switched",
        "TIR-205",
        tir(
            'n: T.int32, A: T.Buffer((2,), "int32"), R: T.Buffer((2,), "int32")',
            "R[0] = -1\nR[1] = -2\nR.vstore([1], A[0], predicate=n > 3)",
        ),
        ([4, i32(5, 6), new([2], "int32")], [K, i32(-1, 5)]),
        ([3, i32(5, 6), new([2], "int32")], [K, i32(-1, -2)]),
    )
    for dtype, given in (("int32", i32(5, 6)), ("float32", f32(5, 6)), ("bool", np.array([True, True]))):
        off = np.zeros(1, given.dtype)
        ask(
            book,
            f"tir.lanes.one-load-switched-{dtype}",
            "TIR-112",
            tir(
                f'n: T.int32, A: T.Buffer((2,), "{dtype}"), R: T.Buffer((1,), "{dtype}")',
                "R[0] = A.vload([n], predicate=n < 2)",
            ),
            ([1, given, new([1], dtype)], [K, given[1:]]),
            ([2, given, new([1], dtype)], [K, off]),
        )
    ask(
        book,
        "tir.lanes.wide-load-switched",
        "TIR-112",
        tir(
            'n: T.int32, A: T.Buffer((8,), "int32"), R: T.Buffer((4,), "int32")',
            'V = T.decl_buffer((2,), "int32x4", data=A.data)\nR[0:4] = V.vload([n], predicate=n < 2)',
        ),
        ([1, WHOLE, IOUT], [K, WHOLE[4:]]),
        ([2, WHOLE, IOUT], [K, i32(0, 0, 0, 0)]),
    )
    ask(
        book,
        "tir.lanes.wide-lanes-switched",
        "TIR-112 TIR-205",
        tir(
            'n: T.int32, A: T.Buffer((8,), "int32"), R: T.Buffer((8,), "int32")',
            'V = T.decl_buffer((4,), "int32x2", data=A.data)\nW = T.decl_buffer((4,), "int32x2", data=R.data)\n'
            "for i in range(8):\n    R[i] = -1\n"
            "W.vstore([T.Ramp(n, 1, 2)], V.vload([T.Ramp(n, 1, 2)], predicate=T.Ramp(n, 1, 2) > T.Broadcast(1, 2)), "
            "predicate=T.Ramp(n, 1, 2) < T.Broadcast(3, 2))",
        ),
        ([1, WHOLE, IOUT8], [K, i32(-1, -1, 0, 0, 5, -8, -1, -1)]),
        ([2, WHOLE, IOUT8], [K, i32(-1, -1, -1, -1, 5, -8, -1, -1)]),
        ([0, WHOLE, IOUT8], [K, i32(0, 0, 0, 0, -1, -1, -1, -1)]),
    )


def watched(book):
    """What detectors see of vectors: each lane is an access."""
    two = 'A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")'
    rows = {
        "stored": "B[0:4] = T.Ramp(0, 1, 4)\nB[1] = A[0]",
        "loaded": "A[1] = 5\nB[0] = 3\nfor i in range(1):\n    B[2:4] = A[0:2]",
    }
    for name, body in rows.items():
        ask(
            book,
            f"undefined.lanes.noalias-{name}",
            "TIR-009 TIR-112 TIR-205",
            tir(two, 'T.func_attr({"tirx.noalias": True})\n' + body),
            ([INTS, {"same": 0}], {"kind": "undefined", "code": "RM322"}),
        )
    rows = {
        "two-stores": "for i in T.parallel(4):\n    B[0:4] = T.Broadcast(i, 4)",
        "last-lane": "for i in T.parallel(2):\n    B[i:i + 2] = T.Broadcast(i, 2)",
        "load-and-store": "for i in T.parallel(2):\n    A[i * 2 + 1] = i\n    B[i:i + 2] = A[i:i + 2]",
    }
    for name, body in rows.items():
        ask(
            book,
            f"undefined.lanes.race-{name}",
            "TIR-225 TIR-112 TIR-205",
            tir(two, body),
            ([INTS, IOUT], {"kind": "undefined", "code": "RM321"}),
        )
    ask(
        book,
        "tir.lanes.no-race",
        "TIR-225 TIR-112 TIR-205",
        tir(two, "for i in T.parallel(2):\n    B[i * 2:i * 2 + 2] = A[i:i + 2] + T.Broadcast(i, 2)"),
        ([INTS, IOUT], [K, i32(10, 20, 21, 31)]),
    )
