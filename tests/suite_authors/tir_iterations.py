"""TensorIR by hand: memory of a block that is used inside of a loop only, and so belongs to each iteration of it.

`C` has one element for all iterations; a sum of the row of `A` begins in it, goes on in it, and is taken from it.
"""

import numpy as np
from hand import K, ask, i32, new, tir, undefined

CONFLICT = undefined("RM319")
PARAMS = 'n: T.int32, A: T.Buffer((4, 3), "int32"), R: T.Buffer((4,), "int32")'
FRAME = """C = T.sblock_alloc_buffer((1,), "int32")
for i in {loop}:
    with T.sblock("first"):
        T.reads()
        T.writes(C[0])
        {first}
    for k in range(3):
        with T.sblock("sum"):
            v, vk = T.axis.remap("SR", [i, k])
            T.reads(C[0], A[v, vk])
            T.writes(C[0])
            C[0] = «C[0]» + A[v, vk]
    with T.sblock("out"):
        w = T.axis.spatial(4, i)
        T.reads(C[0])
        T.writes(R[w])
        R[w] = C[0]"""
INIT = """C = T.sblock_alloc_buffer((1,), "int32")
for i in {loop}:
    for k in range(3):
        with T.sblock("sum"):
            v, vk = T.axis.remap("SR", [i, k])
            T.reads(A[v, vk])
            T.writes(C[0])
            with T.init():
                C[0] = n
            C[0] = C[0] + A[v, vk]
    with T.sblock("out"):
        w = T.axis.spatial(4, i)
        T.reads(C[0])
        T.writes(R[w])
        R[w] = C[0]"""
TOGETHER = """C = T.sblock_alloc_buffer((1,), "int32")
for o in range(2):
    with T.sblock("first"):
        T.reads()
        T.writes(C[0])
        C[0] = n
    for i, k in T.grid(m, 3):
        with T.sblock("sum"):
            v = T.axis.spatial(4, o * m + i)
            vk = T.axis.reduce(3, k)
            T.reads(C[0], A[v, vk])
            T.writes(C[0])
            C[0] = «C[0]» + A[v, vk]
    with T.sblock("out"):
        w = T.axis.spatial(2, o)
        T.reads(C[0])
        T.writes(R[w])
        R[w] = C[0]"""
A, OUT = np.arange(12, dtype="int32").reshape(4, 3) * 5 - 9, new([4], "int32")
SUMS = A.sum(axis=1)


def iterations(book):
    """Each iteration of a loop has memory of its own; what an earlier one left there is not to be read."""
    for name, loop in (("serial", "range(4)"), ("parallel", "T.parallel(4)"), ("unrolled", "T.unroll(4)")):
        calls = [([n, A, OUT], [K, i32(*(int(total) + n for total in SUMS))]) for n in (0, 7)]
        text = INIT.format(loop=loop)
        ask(book, f"tir.iteration.init-{name}", "TIR-222 TIR-226", tir(PARAMS, text), *calls, needs=["detectors"])
        text = FRAME.format(loop=loop, first="C[0] = n").replace("«", "").replace("»", "")
        ask(book, f"tir.iteration.sum-{name}", "TIR-222 TIR-226", tir(PARAMS, text), *calls, needs=["detectors"])
    first = "if i == 0 or n > 0:\n            C[0] = n"
    text = FRAME.format(loop="range(4)", first=first)
    calls = [([7, A, OUT], [K, i32(*(int(total) + 7 for total in SUMS))]), ([0, A, OUT], CONFLICT)]
    ask(book, "undefined.iteration.left", "TIR-222 TIR-226", tir(PARAMS, text), *calls)
    totals = [int(SUMS[0]) + 3, int(SUMS[1]) + 3]
    given = np.full(4, 2, "int32")
    calls = [([3, 1, A, given], [K, i32(*totals, 2, 2)]), ([3, 2, A, given], CONFLICT)]
    params = PARAMS.replace("n: T.int32", "n: T.int32, m: T.int32")
    ask(book, "undefined.iteration.together", "TIR-222 TIR-226", tir(params, TOGETHER), *calls)
    book.write("iterations", "Memory that belongs to the iterations of a loop.")
