"""TensorIR by hand: threads."""

import numpy as np
from hand import K, ask, f32, new, tir, trap, undefined

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
