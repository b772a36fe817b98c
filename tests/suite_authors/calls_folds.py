"""TensorIR by hand: reductions over threads."""

import numpy as np
from calls_threads import EIGHT, indented, simple
from hand import i32


def folds(book):
    """Several values, elements, axes; in turns."""
    reductions(book)
    order(book)


REDUCE = """
for y in T.thread_binding(2, thread="threadIdx.y"):
    for x in T.thread_binding(4, thread="threadIdx.x"):
{}
"""


def reductions(book):
    """Several values at once; operands in their order; identities; turn by turn."""
    pair = """
P = T.alloc_buffer((2,), "float32", scope="local")
with T.attr(T.comm_reducer(lambda a, b, c, d: (a * c, b * c + d), [T.float32(1), T.float32(0)]), "reduce_scope", 0):
    T.tvm_thread_allreduce(T.uint32(2), A[y * 4 + x], T.Cast("float32", x + 1), x {} 1, P[0], P[1], {})
B[y * 4 + x] = P[0] * T.float32(1000) + P[1]
"""
    for name, condition, axes in (("rows", "> -", "x"), ("rows-but-one", "!=", "x"), ("columns", "> -", "y")):
        expected = np.zeros(8, np.float32)
        for y in range(2):
            for x in range(4):
                own = [(y, k) for k in range(4)] if axes == "x" else [(k, x) for k in range(2)]
                p, q = None, None
                for j, i in own:
                    counts = i > -1 if condition == "> -" else i != 1
                    value = (EIGHT[j * 4 + i], np.float32(i + 1)) if counts else (np.float32(1), np.float32(0))
                    p, q = value if p is None else (p * value[0], q * value[0] + value[1])
                expected[y * 4 + x] = p * 1000 + q
        body = REDUCE.format(indented(pair.format(condition, axes), 8))
        simple(book, f"tir.threads.allreduce-pairs-{name}", "TIR-228", body, expected)
    triple = """
P = T.alloc_buffer((3,), "float32", scope="local")
with T.attr(T.comm_reducer(lambda a, b, c, d, e, f: (a + d, T.max(b, e), T.min(c, f)), [T.float32(0), T.float32(-100), T.float32(100)]), "reduce_scope", 0):
    T.tvm_thread_allreduce(T.uint32(3), A[y * 4 + x], A[y * 4 + x], A[y * 4 + x], y * 4 + x != 5, P[2], P[0], P[1], {})
B[y * 4 + x] = P[2] * T.float32(10000) + P[0] * T.float32(100) + P[1]
"""
    for name, axes in (("all", "x, y"), ("all-turned", "y, x"), ("rows", "x")):
        parts = EIGHT.reshape(1, 8) if len(axes) > 1 else EIGHT.reshape(2, 4)
        expected = []
        for at, row in enumerate(parts):
            kept = [value for i, value in enumerate(row) if at * len(row) + i != 5]
            expected += [sum(kept) * 10000 + max(kept) * 100 + min(kept)] * len(row)
        body = REDUCE.format(indented(triple.format(axes), 8))
        simple(book, f"tir.threads.allreduce-three-{name}", "TIR-228", body, expected)
    turns = """
P = T.alloc_buffer((1,), "int32", scope="local")
B[y * 4 + x] = 0
for k in range(3):
    with T.attr(T.comm_reducer(lambda a, b: a + b, [0]), "reduce_scope", 0):
        T.tvm_thread_allreduce(T.uint32(1), A[y * 4 + x] * (k + 1), T.bool(True), P[0], x)
    B[y * 4 + x] = B[y * 4 + x] * 7 + P[0]
"""
    whole = i32(3, -1, 4, 1, -5, 9, 2, 6)
    sums = np.repeat(whole.reshape(2, 4).sum(1), 4)
    expected = ((sums * 7) + sums * 2) * 7 + sums * 3
    params = 'A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")'
    body = REDUCE.format(indented(turns, 8))
    simple(book, "tir.threads.allreduce-turns", "TIR-228", body, expected, params, whole, dtype="int32")
    elements = """
with T.attr(T.comm_reducer(lambda a, b: a + b, [T.float32(0)]), "reduce_scope", 0):
    T.tvm_thread_allreduce(T.uint32(1), A[y * 4 + x], T.bool(True), B[y * 4 + (x + 1) % 4], x)
B[y * 4 + (x + 1) % 4] = B[y * 4 + (x + 1) % 4] + T.Cast("float32", x)
"""
    sums = np.repeat(EIGHT.reshape(2, 4).sum(1), 4) + np.tile([3, 0, 1, 2], 2)
    simple(book, "tir.threads.allreduce-elements", "TIR-228", REDUCE.format(indented(elements, 8)), sums)
    none = elements.replace("T.bool(True)", "x > 9")
    zero = np.tile([3, 0, 1, 2], 2)
    simple(book, "tir.threads.allreduce-nobody-counts", "TIR-228", REDUCE.format(indented(none, 8)), zero)
    blocks = """
for b in T.thread_binding(2, thread="blockIdx.x"):
    for x in T.thread_binding(4, thread="threadIdx.x"):
        P = T.alloc_buffer((1,), "float32", scope="local")
        with T.attr(T.comm_reducer(lambda a, b: a * b, [T.float32(1)]), "reduce_scope", 0):
            T.tvm_thread_allreduce(T.uint32(1), A[b * 4 + x], x > 0, P[0], x)
        B[b * 4 + x] = P[0]
"""
    expected = np.repeat(EIGHT.reshape(2, 4)[:, 1:].prod(1), 4)
    simple(book, "tir.threads.allreduce-of-each-block", "TIR-228", blocks, expected)


def order(book):
    """Three axes: those that are folded, in the order of their indices."""
    body = """
for z in T.thread_binding(2, thread="threadIdx.z"):
    for y in T.thread_binding(2, thread="threadIdx.y"):
        for x in T.thread_binding(2, thread="threadIdx.x"):
            P = T.alloc_buffer((2,), "float32", scope="local")
            with T.attr(T.comm_reducer(lambda a, b, c, d: (a * c, b * c + d), [T.float32(1), T.float32(0)]), "reduce_scope", 0):
                T.tvm_thread_allreduce(T.uint32(2), A[z * 4 + y * 2 + x], T.float32(1), T.bool(True), P[0], P[1], {})
            B[z * 4 + y * 2 + x] = P[0] * T.float32(1000) + P[1]
"""
    cube = EIGHT.reshape(2, 2, 2)
    for axes in ("x, z", "z, x", "y, z", "x, y, z", "y"):
        free = [k for k, name in enumerate("zyx") if name not in axes]
        expected = np.zeros((2, 2, 2), np.float32)
        for at in np.ndindex(2, 2, 2):
            own = [one for one in np.ndindex(2, 2, 2) if all(one[k] == at[k] for k in free)]
            p, q = cube[own[0]], np.float32(1)
            for one in own[1:]:
                p, q = p * cube[one], q * cube[one] + 1
            expected[at] = p * 1000 + q
        name = axes.replace(", ", "")
        simple(book, f"tir.threads.allreduce-over-{name}", "TIR-228", body.format(axes), expected.reshape(8))
