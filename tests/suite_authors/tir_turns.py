"""TensorIR by hand: threads that take turns, and the memory that is theirs.

`S` is shared, each thread has put its element of A there: `A[t] = 7 t + 3`. NumPy has all threads at once.
"""

import numpy as np
from hand import K, ask, i32, new, tir, undefined
from tir_elements import BOUNDS, UNWRITTEN, series

EXTENT = undefined("RM315")
PARAMS = 'n: T.int32, m: T.int32, A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")'
FRAME = 'S = T.alloc_buffer((8,), "int32", scope="shared")\nfor t in T.thread_binding(8, thread="threadIdx.x"):\n    S[t] = A[t]\n    B[t] = 0\n'
SYNC = 'T.tvm_storage_sync("shared")'
LOWERED = FRAME + f"    {SYNC}\n"
A, OUT, T = series((8,)), new([8], "int32"), np.arange(8)


def turns(book):
    _implied(book)
    _explicit(book)
    _blocks(book)
    _nested(book)
    _shared(book)
    _private(book)
    _views(book)
    _folded(book)
    book.write("turns", "Threads that take turns, and memory that is theirs.")


def inside(lines, by=4):
    return "\n".join(" " * by + line for line in lines.split("\n"))


def ring(*steps):
    """What thread `t` adds up that takes `S[(t + k) % 8]` for each of these."""
    return sum((A[(T + k) % 8] for k in steps), np.zeros(8, np.int32)).astype(np.int32)


def threads(book, name, clauses, lines, *calls, frame=FRAME, params=PARAMS):
    """Lines for each thread. A call: n, m, and what is in B, or how it ends."""
    made = []
    for n, m, wanted in calls:
        ends = isinstance(wanted, dict)
        made.append(([n, m, A, OUT], wanted if ends else [K, np.asarray(wanted, np.int32)]))
    ask(book, name, clauses, tir(params, frame + inside(lines)), *made, needs=["threads"])


def _rolled(times):
    """S turned by one place, so many times; B is S then."""
    return A[(T + times) % 8]


def _implied(book):
    """Without a barrier in the text: before each statement that touches S, as far as all threads come by."""
    clauses = "TIR-229 TIR-227"
    turn = "B[t] = S[(t + 1) % 8]\nS[t] = B[t]"
    keep = [(count, 0, _rolled(count) if count else 0 * A) for count in (0, 1, 3)]
    threads(book, "tir.turns.implied-loop", clauses, f"for k in range(n):\n{inside(turn)}", *keep)
    keep = [(n, m, _rolled(m - n) if m > n else 0 * A) for n, m in ((0, 2), (2, 5), (3, 3))]
    threads(book, "tir.turns.implied-loop-start", clauses, f"for k in range(n, m):\n{inside(turn)}", *keep)
    keep = [(n, m, _rolled(len(range(n, m, 2))) if m > n else 0 * A) for n, m in ((0, 4), (1, 6), (2, 2))]
    threads(book, "tir.turns.implied-loop-step", clauses, f"for k in T.serial(n, m, step=2):\n{inside(turn)}", *keep)
    lines = f"if n > 0:\n{inside(turn)}\nelse:\n    S[t] = B[t] + t\n    B[t] = S[7 - t]"
    threads(book, "tir.turns.implied-branch", clauses, lines, (1, 0, _rolled(1)), (0, 0, 7 - T))
    lines = f"for k in range(3):\n    if k < n:\n{inside(turn, 8)}"
    threads(
        book, "tir.turns.implied-branch-in-loop", clauses, lines, (0, 0, 0 * A), (2, 0, _rolled(2)), (9, 0, _rolled(3))
    )
    lines = f'with T.attr(0, "pragma_any", 1):\n{inside(turn)}\nB[t] = B[t] + S[7 - t]'
    threads(book, "tir.turns.implied-attr", clauses, lines, (0, 0, _rolled(1) + A[(7 - T + 1) % 8]))
    lines = "if t < 4:\n    S[t + 4] = B[t] + t\nB[t] = S[(t + n) % 8]"
    after = np.concatenate([A[:4], T[:4]])
    threads(book, "tir.turns.implied-divergent-branch", clauses, lines, *((n, 0, after[(T + n) % 8]) for n in (0, 3)))
    lines = "for k in range(t):\n    S[t] = S[t] + k\nB[t] = S[(t + 1) % 8]"
    after = A + T * (T - 1) // 2
    threads(book, "tir.turns.implied-divergent-loop", clauses, lines, (0, 0, after[(T + 1) % 8]))
    lines = "for k in range(t, 8):\n    S[t] = S[t] + k\nB[t] = S[(t + 1) % 8]"
    after = A + np.array([sum(range(t, 8)) for t in range(8)])
    threads(book, "tir.turns.implied-divergent-start", clauses, lines, (0, 0, after[(T + 1) % 8]))
    lines = "while S[t] < n:\n    S[t] = S[t] + 10\nB[t] = S[7 - t]"
    after = np.array([a if a >= 40 else a + 10 * -(-(40 - a) // 10) for a in A])
    threads(book, "tir.turns.implied-while", clauses, lines, (0, 0, A[::-1]), (40, 0, after[::-1]))
    lines = "x: T.let[T.int32] = (t + n) % 8\nB[t] = S[x]\nS[t] = B[t] + x\nB[t] = S[7 - t]"
    threads(book, "tir.turns.implied-let", clauses, lines, *((n, 0, (ring(n) + (T + n) % 8)[::-1]) for n in (1, 5)))
    for name, where, wanted in (("uniform", "n > 0", _rolled(1)), ("divergent", "t >= n", None)):
        own = (
            "B[vt] = S[(vt + 1) % 8]\n    S[vt] = B[vt] + 1"
            if wanted is not None
            else "B[vt] = 1\n    S[vt] = S[vt] + vt * 2"
        )
        lines = f'with T.sblock("turn"):\n    vt = T.axis.opaque(8, t)\n    T.where({where})\n    {own}\nB[t] = B[t] + S[7 - t] * 100'
        if wanted is not None:
            calls = [(1, 0, wanted + (wanted + 1)[::-1] * 100), (0, 0, A[::-1] * 100)]
        else:
            calls = [(n, 0, (n <= T) + (A + np.where(n <= T, T * 2, 0))[::-1] * 100) for n in (0, 3, 8)]
        threads(book, f"tir.turns.implied-block-{name}", f"{clauses} TIR-216", lines, *calls)


def _explicit(book):
    """Barriers in the text: loops whose extent or step is wrong, an empty one, a branch without an else."""
    take = f"    B[t] = B[t] + S[(t + k) % 8]\n    {SYNC}"
    for name, loop, calls in (
        ("extent", "«for k in range(n, m):", ((0, 3, ring(0, 1, 2)), (2, 2, 0 * A), (4, 3, EXTENT), (0, -1, EXTENT))),
        (
            "step",
            "«for k in T.serial(0, n, step=m):",
            ((5, 2, ring(0, 2, 4)), (6, 6, ring(0)), (5, 0, EXTENT), (5, -1, EXTENT), (0, 1, 0 * A), (0, 0, EXTENT)),
        ),
    ):
        threads(book, f"undefined.turns.{name}", "TIR-227 TIR-203", f"{loop}\n{take}", *calls, frame=LOWERED)
    lines = f"if n > 0:\n    B[t] = S[(t + n) % 8]\n    {SYNC}\n    S[t] = B[t]\n{SYNC}\nB[t] = B[t] + S[7 - t]"
    threads(
        book,
        "tir.turns.branch",
        "TIR-227 TIR-211",
        lines,
        (0, 0, A[::-1]),
        (2, 0, ring(2) + ring(2)[::-1]),
        frame=LOWERED,
    )
    lines = (
        f"if n > 0:\n    {SYNC}\n    B[t] = S[(t + 1) % 8]\nelse:\n    {SYNC}\n    B[t] = S[(t + 2) % 8]\n    {SYNC}"
    )
    threads(book, "tir.turns.branch-else", "TIR-227 TIR-211", lines, (0, 0, ring(2)), (2, 0, ring(1)), frame=LOWERED)
    lines = f"for k in range(5):\n    if k == n:\n        continue\n    if k == m:\n        break\n{take}\nfor k in range(2):\n    B[t] = B[t] + 1000\n    {SYNC}"
    calls = [
        (1, 3, ring(0, 2) + 2000),
        (9, 9, ring(0, 1, 2, 3, 4) + 2000),
        (0, 0, ring(1, 2, 3, 4) + 2000),
        (9, 0, 0 * A + 2000),
    ]
    threads(book, "tir.turns.jumps", "TIR-227 TIR-213 TIR-214", lines, *calls, frame=LOWERED)
    lines = f'c = T.alloc_buffer((1,), "int32", scope="local")\nc[0] = 0\nwhile c[0] < n:\n    c[0] = c[0] + 1\n    {SYNC}\n    if c[0] == m:\n        continue\n    if c[0] == 6:\n        break\n    B[t] = B[t] + S[(t + c[0]) % 8]\nfor k in range(2):\n    if k == 1:\n        break\n    B[t] = B[t] + 1000'
    calls = [
        (3, 2, ring(1, 3) + 1000),
        (9, 9, ring(1, 2, 3, 4, 5) + 1000),
        (0, 0, 0 * A + 1000),
        (7, 6, ring(*range(1, 6), 7) + 1000),
    ]
    threads(book, "tir.turns.while-jumps", "TIR-227 TIR-204 TIR-213 TIR-214", lines, *calls, frame=LOWERED)
    lines = f"for k in range(2):\n    for j in range(3):\n        if j == n:\n            break\n        B[t] = B[t] + S[(t + k * 3 + j) % 8]\n        {SYNC}\n    B[t] = B[t] + 100"
    calls = [(1, 0, ring(0, 3) + 200), (9, 0, ring(*range(6)) + 200), (0, 0, 0 * A + 200)]
    threads(book, "tir.turns.break-inner", "TIR-227 TIR-213", lines, *calls, frame=LOWERED)


def _blocks(book):
    """Blocks around a barrier: predicate, axes, memory, matched regions, init."""
    tail = f"\n    {SYNC}\n    B[vt] = B[vt] + S[7 - vt]"
    lines = f'with T.sblock("B"):\n    vt = T.axis.opaque(8, t)\n    T.where(n > 0)\n    S[vt] = S[vt] + vt{tail}\nB[t] = B[t] + 1000'
    threads(
        book,
        "tir.turns.block-predicate",
        "TIR-216 TIR-227",
        lines,
        (1, 0, (A + T)[::-1] + 1000),
        (0, 0, 0 * A + 1000),
        frame=LOWERED,
    )
    lines = f'with T.sblock("B"):\n    vt = T.axis.opaque(8, t + n)\n    vk = T.axis.spatial((1, 4), m)\n    S[vt] = S[vt] + vk{tail}'
    threads(
        book, "tir.turns.block-axes", "TIR-217 TIR-227", lines, *((0, m, A[::-1] + m) for m in (1, 3)), frame=LOWERED
    )
    for name, first, second in (("first", "«t + n»", "m"), ("second", "t + n", "«m + t - t»")):
        lines = f'with T.sblock("B"):\n    vt = T.axis.opaque(8, {first})\n    vk = T.axis.spatial((1, 4), {second})\n    S[vt] = S[vt] + vk{tail}'
        bad = ((1, 1), (-1, 1)) if name == "first" else ((0, 0), (0, 4))
        threads(
            book,
            f"undefined.turns.block-axis-{name}",
            "TIR-217 TIR-227",
            lines,
            *((n, m, undefined("RM312")) for n, m in bad),
            frame=LOWERED,
        )
    lines = f'for k in range(2):\n    with T.sblock("B"):\n        vt, vk = T.axis.remap("OO", [t, k])\n        L = T.sblock_alloc_buffer((1,), "int32", scope="local")\n        H = T.sblock_alloc_buffer((8,), "int32", scope="shared")\n        if vk <= n:\n            L[0] = S[vt] + vk\n        H[vt] = S[vt]\n        {SYNC}\n        B[vt] = B[vt] + «L[0]» * 10 + H[7 - vt]'
    good = (2 * A + 1) * 10 + 2 * A[::-1]
    threads(
        book, "undefined.turns.block-memory", "TIR-219 TIR-227", lines, (1, 0, good), (0, 0, UNWRITTEN), frame=LOWERED
    )
    lines = f'with T.sblock("B"):\n    vt = T.axis.spatial(4, t // 2)\n    T.reads(S[vt * 2:vt * 2 + 2])\n    T.writes(B[t])\n    e = T.int32()\n    M = T.match_buffer(S[vt * 2:vt * 2 + 2], (2,), "int32", elem_offset=e, scope="shared", offset_factor=1)\n    {SYNC}\n    B[t] = M[1 - t % 2] * 100 + e'
    threads(book, "tir.turns.block-match", "TIR-220 TIR-227", lines, (0, 0, A[T ^ 1] * 100 + T // 2 * 2), frame=LOWERED)
    lines = f'for k in range(3):\n    with T.sblock("B"):\n        vt = T.axis.spatial(8, t)\n        vk = T.axis.reduce(3, k)\n        with T.init():\n            B[vt] = n * 1000\n        {SYNC}\n        B[vt] = B[vt] + S[(vt + vk) % 8]'
    threads(
        book,
        "tir.turns.block-init",
        "TIR-218 TIR-227",
        lines,
        *((n, 0, ring(0, 1, 2) + n * 1000) for n in (0, 2)),
        frame=LOWERED,
    )


def _nested(book):
    """Axes within each other, launched or bound, and one axis twice."""
    rows = (
        (
            "bound",
            'for y in T.thread_binding(2, thread="threadIdx.y"):',
            'for x in T.thread_binding(4, thread="threadIdx.x"):',
        ),
        ("launched", 'with T.launch_thread("threadIdx.y", 2) as y:', 'with T.launch_thread("threadIdx.x", 4) as x:'),
    )
    for name, outer, inner in rows:
        body = f'S = T.alloc_buffer((8,), "int32", scope="shared")\n{outer}\n    {inner}\n        S[y * 4 + x] = A[y * 4 + x]\n        {SYNC}\n        B[y * 4 + x] = S[7 - y * 4 - x] + y * 1000 + x * 100'
        wanted = A[::-1] + T // 4 * 1000 + T % 4 * 100
        ask(
            book,
            f"tir.turns.nested-{name}",
            "TIR-227 TIR-208",
            tir(PARAMS, body),
            ([0, 0, A, OUT], [K, wanted.astype(np.int32)]),
            needs=["threads"],
        )
    for name, again in (
        ("bound", '«for u in T.thread_binding(n, thread="threadIdx.x"):'),
        ("launched", '«with T.launch_thread("threadIdx.x", n) as u:'),
    ):
        lines = f"{again}\n    S[u] = A[u] + u\n    {SYNC}\n    B[u] = S[7 - t]"
        threads(
            book,
            f"undefined.turns.axis-twice-{name}",
            "TIR-227 TIR-208",
            lines,
            (8, 0, (A + T)[::-1]),
            (7, 0, EXTENT),
            (9, 0, EXTENT),
        )
    body = f'for b in T.thread_binding(2, thread="blockIdx.x"):\n    S = T.alloc_buffer((4,), "int32", scope="shared")\n    for t in T.thread_binding(n, thread="threadIdx.x"):\n        S[t] = A[b * 4 + t]\n        {SYNC}\n        B[b * 4 + t] = S[n - 1 - t] + b * 1000'
    wanted = np.concatenate([A[3::-1], A[:3:-1] + 1000])
    calls = [([4, 0, A, OUT], [K, wanted]), ([-1, 0, A, OUT], EXTENT)]
    left = {"rule": "exact", "dtype": "int32", "shape": [8], "values": [10, 3, "_", "_", 1038, 1031, "_", "_"]}
    calls.insert(1, ([2, 0, A, OUT], [K, left]))
    text = tir(PARAMS, body.replace("    for t in", "    «for t in"))
    ask(book, "undefined.turns.blocks", "TIR-227 TIR-208", text, *calls, needs=["threads"])
    body = f'for t in T.thread_binding(8, thread="threadIdx.x"):\n    with T.launch_thread("blockIdx.x", 2) as b:\n        {SYNC}\n        if b == 1:\n            B[t] = A[7 - t] + b'
    ask(
        book,
        "tir.turns.block-axis-within",
        "TIR-227 TIR-208",
        tir(PARAMS, body),
        ([0, 0, A, OUT], [K, A[::-1] + 1]),
        needs=["threads"],
    )


def _shared(book):
    """Shared memory that threads allocate: one for all, a new one each time that they come by."""
    frame = 'for t in T.thread_binding(8, thread="threadIdx.x"):\n    B[t] = 0\n'
    lines = f'S = T.alloc_buffer((8,), "int32", scope="shared")\nS[t] = A[t]\n{SYNC}\nB[t] = S[7 - t]'
    threads(book, "tir.turns.shared-inside", "TIR-227 TIR-206", lines, (0, 0, A[::-1]), frame=frame)
    lines = f'for k in range(3):\n    S = T.alloc_buffer((8,), "int32", scope="shared")\n    if k <= n:\n        S[t] = A[t] + k * 100\n    {SYNC}\n    B[t] = B[t] + «S[(t + k) % 8]'
    threads(
        book,
        "undefined.turns.shared-anew",
        "TIR-227 TIR-206",
        lines,
        (2, 0, ring(0, 1, 2) + 300),
        (1, 0, UNWRITTEN),
        frame=frame,
    )
    lines = f'S = T.alloc_buffer((n,), "int32", scope="shared.dyn")\n«S[t] = A[t]\n{SYNC}\nB[t] = S[7 - t]'
    threads(
        book,
        "undefined.turns.shared-extent",
        "TIR-227 TIR-206",
        lines,
        (8, 0, A[::-1]),
        (9, 0, A[::-1]),
        (7, 0, BOUNDS),
        frame=frame,
    )
    lines = 'S = «T.alloc_buffer((n,), "int32", scope="shared")»\nB[t] = 5\nT.tvm_storage_sync("shared")'.replace(
        "«", ""
    ).replace("»", "")
    threads(book, "tir.turns.shared-empty", "TIR-227 TIR-206", lines, (0, 0, 0 * A + 5), frame=frame)
    lines = f'G = T.alloc_buffer((8,), "int32")\nG[t] = A[t]\n{SYNC}\nB[t] = «G[(t + n) % 8]'
    threads(book, "undefined.turns.global-inside", "TIR-227 TIR-206", lines, (0, 0, A), (1, 0, UNWRITTEN), frame=frame)
    body = f'for b in T.thread_binding(2, thread="blockIdx.x"):\n    for t in T.thread_binding(4, thread="threadIdx.x"):\n        S = T.alloc_buffer((4,), "int32", scope="shared")\n        if b <= n:\n            S[t] = A[b * 4 + t]\n        {SYNC}\n        B[b * 4 + t] = «S[3 - t]»'
    wanted = np.concatenate([A[3::-1], A[:3:-1]])
    ask(
        book,
        "undefined.turns.shared-of-each-block",
        "TIR-227 TIR-206",
        tir(PARAMS, body),
        ([1, 0, A, OUT], [K, wanted]),
        ([0, 0, A, OUT], UNWRITTEN),
        needs=["threads"],
    )


def _private(book):
    """Private memory outside of axes: one for each index, which begins with what was written outside."""
    for scope, tag, other in (
        ("local", "threadIdx", "blockIdx"),
        ("local", "blockIdx", "threadIdx"),
        ("shared", "blockIdx", "threadIdx"),
        ("warp", "threadIdx", "blockIdx"),
    ):
        body = f'L = T.alloc_buffer((3,), "int32", scope="{scope}")\nL[0] = n\nL[1] = 7\nfor t in T.thread_binding(8, thread="{tag}.x"):\n    L[1] = L[1] + A[t]\n    if t <= m:\n        L[2] = t\n    B[t] = L[0] * 1000 + L[1] + «L[2]»'
        calls = [([n, 8, A, OUT], [K, n * 1000 + 7 + A + T.astype(np.int32)]) for n in (0, 2)]
        calls += [([1, m, A, OUT], UNWRITTEN) for m in (-1, 3, 6)]
        ask(
            book, f"undefined.turns.private-{scope}-{tag[:-3]}", "TIR-208", tir(PARAMS, body), *calls, needs=["threads"]
        )
        del other
    body = 'L = T.alloc_buffer((1,), "int32", scope="local")\nL[0] = n\nfor b in T.thread_binding(2, thread="blockIdx.x"):\n    K = T.alloc_buffer((1,), "int32", scope="local")\n    S = T.alloc_buffer((1,), "int32", scope="shared")\n    K[0] = b * 10\n    S[0] = 1000\n    for t in T.thread_binding(4, thread="threadIdx.x"):\n        L[0] = L[0] + A[b * 4 + t]\n        K[0] = K[0] + 100\n        B[b * 4 + t] = L[0] + K[0] + S[0]'
    wanted = A + T // 4 * 10 + 100 + 1000
    calls = [([n, 0, A, OUT], [K, (wanted + n).astype(np.int32)]) for n in (0, 5)]
    ask(book, "tir.turns.private-of-blocks", "TIR-208", tir(PARAMS, body), *calls, needs=["threads"])
    body = 'G = T.alloc_buffer((9,), "int32")\nG[8] = n\nfor t in T.thread_binding(8, thread="threadIdx.x"):\n    G[t] = G[8] + A[t]\n    B[t] = G[t]\nB[0] = G[7]'
    wanted = A + 4
    wanted[0] = wanted[7]
    ask(
        book,
        "tir.turns.global-outside",
        "TIR-208",
        tir(PARAMS, body),
        ([4, 0, A, OUT], [K, wanted.astype(np.int32)]),
        needs=["threads"],
    )
    body = 'L = T.alloc_buffer((2,), "int32", scope="local")\nL[0] = n\nfor t in T.thread_binding(8, thread="threadIdx.x"):\n    L[1] = A[t]\n    B[t] = L[0] + L[1]\nfor t in T.thread_binding(8, thread="threadIdx.x"):\n    B[t] = B[t] + L[1] * 100\nB[0] = B[0] + L[0]'
    wanted = A * 101 + 4
    wanted[0] += 4
    ask(
        book,
        "tir.turns.private-kept",
        "TIR-208",
        tir(PARAMS, body),
        ([4, 0, A, OUT], [K, wanted.astype(np.int32)]),
        needs=["threads"],
    )


def _views(book):
    """Views of private memory that are made outside of the axis are of the memory of each index."""
    view = 'V = T.decl_buffer((2,), "int32", data=L.data, scope="local")'
    for name, between in (
        ("decl", view),
        (
            "decl-twice",
            'W = T.decl_buffer((2, 1), "int32", data=L.data, scope="local")\nV = T.decl_buffer((2,), "int32", data=W.data, scope="local")',
        ),
    ):
        body = f'L = T.alloc_buffer((2,), "int32", scope="local")\nL[0] = n\n{between}\nfor t in T.thread_binding(8, thread="threadIdx.x"):\n    L[1] = A[t]\n    V[0] = V[0] + L[1]\n    B[t] = L[0] * 100 + V[1]'
        wanted = ((A + 4) * 100 + A).astype(np.int32)
        ask(
            book,
            f"tir.turns.view-{name}",
            "TIR-208 TIR-207",
            tir(PARAMS, body),
            ([4, 0, A, OUT], [K, wanted]),
            needs=["threads"],
        )
        turned = body.replace("    B[t] =", f"    {SYNC}\n    B[t] =")
        ask(
            book,
            f"tir.turns.view-{name}-in-turns",
            "TIR-208 TIR-207 TIR-227",
            tir(PARAMS, turned),
            ([4, 0, A, OUT], [K, wanted]),
            needs=["threads"],
        )
    body = 'L = T.alloc_buffer((2, 3), "int32", scope="local")\nL[1, 0] = n\nwith T.sblock("B"):\n    T.reads(L[0:2, 0:3], A[0:8])\n    T.writes(L[0:2, 0:3], B[0:8])\n    V = T.match_buffer(L[1, 0:2], (2,), "int32", scope="local", offset_factor=1)\n    for t in T.thread_binding(8, thread="threadIdx.x"):\n        L[1, 1] = A[t]\n        V[0] = V[0] + L[1, 1]\n        B[t] = L[1, 0] * 100 + V[1]'
    wanted = ((A + 4) * 100 + A).astype(np.int32)
    ask(
        book,
        "tir.turns.view-match",
        "TIR-208 TIR-220",
        tir(PARAMS, body),
        ([4, 0, A, OUT], [K, wanted]),
        needs=["threads"],
    )
    turned = body.replace("        B[t] =", f"        {SYNC}\n        B[t] =")
    ask(
        book,
        "tir.turns.view-match-in-turns",
        "TIR-208 TIR-220 TIR-227",
        tir(PARAMS, turned),
        ([4, 0, A, OUT], [K, wanted]),
        needs=["threads"],
    )


def _folded(book):
    """A block with an init that threads reduce into together: the buffer is one for all of them."""
    for name, tag, extent in (("x", "threadIdx.x", 8),):
        body = f'C = T.alloc_buffer((1,), "int32", scope="local")\nfor t in T.thread_binding({extent}, thread="{tag}"):\n    with T.sblock("sum"):\n        vk = T.axis.reduce(8, t)\n        with T.init():\n            C[0] = n\n        C[0] = C[0] + A[vk]\n    B[t] = C[0]'
        calls = [([n, 0, A, OUT], [K, i32(*[int(A.sum()) + n] * 8)]) for n in (0, 3)]
        ask(book, f"tir.turns.folded-{name}", "TIR-229 TIR-218", tir(PARAMS, body), *calls, needs=["threads"])
    body = 'C = T.alloc_buffer((2,), "int32", scope="local")\nfor b in T.thread_binding(2, thread="blockIdx.x"):\n    for t in T.thread_binding(4, thread="threadIdx.x"):\n        with T.sblock("sum"):\n            vb = T.axis.spatial(2, b)\n            vk = T.axis.reduce(4, t)\n            with T.init():\n                C[vb] = n\n            C[vb] = C[vb] + A[vb * 4 + vk] * A[vk]\n        B[b * 4 + t] = C[b] + t'
    totals = [int((A[b * 4 : b * 4 + 4] * A[:4]).sum()) for b in range(2)]
    calls = [([n, 0, A, OUT], [K, i32(*(totals[t // 4] + n + t % 4 for t in range(8)))]) for n in (0, 3)]
    ask(book, "tir.turns.folded-in-blocks", "TIR-229 TIR-218 TIR-208", tir(PARAMS, body), *calls, needs=["threads"])
