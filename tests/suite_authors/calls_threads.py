"""TensorIR by hand: memory of threads and of blocks of threads, reductions over threads, barriers that not all reach."""

import numpy as np
from hand import K, ask, f32, new, tir, undefined

SYNC = 'T.tvm_storage_sync("shared")'
EIGHT = f32(3, -1, 4, 1, -5, 9, 2, 6)
IN8 = 'A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")'
OUT8 = new([8], "float32")


def program(body, params=IN8):
    """A function of threads."""
    return tir(params, body.strip("\n"))


def simple(book, name, clauses, body, expected, params=IN8, given=EIGHT, *, dtype="float32", watched=False):
    """One input, one output. `watched`: detectors look on, and find nothing."""
    wanted = expected if isinstance(expected, dict) else [K, np.asarray(expected, dtype)]
    needs = ["threads", "detectors"] if watched else ["threads"]
    ask(book, name, clauses, program(body, params), ([given, new([8], dtype)], wanted), needs=needs)


def groups(book):
    """Threads, their memory, and where they meet."""
    private(book)
    views(book)
    outside(book)
    shared(book)
    meetings(book)
    extents(book)
    races(book)


BLOCKS = """
for b in T.thread_binding(2, thread="blockIdx.x"):
{}
"""


def indented(text, by=4):
    """The lines further in."""
    return "\n".join(" " * by + line for line in text.strip("\n").split("\n"))


TWO_LOOPS = """
for t in T.thread_binding(4, thread="threadIdx.x"):
    L[0] = A[b * 4 + t]
    L[1] = T.float32(10)
for t in T.thread_binding(4, thread="threadIdx.x"):
    B[b * 4 + t] = L[0] * T.float32(2) + L[1]
"""


def private(book):
    """One buffer for each index of the axes around which it is allocated."""
    local = 'L = T.alloc_buffer((2,), "float32", scope="local")\n'
    inside = BLOCKS.format(indented(local + TWO_LOOPS))
    around = local + BLOCKS.format(indented(TWO_LOOPS)).lstrip("\n")
    for name, body in (("within-a-block", inside), ("around-blocks", around)):
        simple(book, f"tir.threads.private-{name}", "TIR-208", body, 2 * EIGHT + 10)
    square = """
L = T.alloc_buffer((3,), "float32", scope="local")
for y in T.thread_binding(2, thread="threadIdx.y"):
    for x in T.thread_binding(4, thread="threadIdx.x"):
        L[y] = A[y * 4 + x]
        L[2] = T.float32(100) * T.Cast("float32", x)
for x in T.thread_binding(4, thread="threadIdx.x"):
    for y in T.thread_binding(2, thread="threadIdx.y"):
        B[y * 4 + x] = L[y] + L[2]
"""
    simple(book, "tir.threads.private-two-axes", "TIR-208", square, EIGHT + np.tile(np.arange(4) * 100, 2))
    outer = """
L = T.alloc_buffer((1,), "float32", scope="local")
for b in T.thread_binding(2, thread="blockIdx.x"):
    for t in T.thread_binding(4, thread="threadIdx.x"):
        if b == 0:
            L[0] = A[t]
        B[b * 4 + t] = «L[0]»
"""
    simple(book, "undefined.threads.private-forgotten", "TIR-208 TIR-007", outer, undefined("RM305"))
    begun = """
L = T.alloc_buffer((4,), "float32", scope="local")
L[1] = T.float32(50)
L[3] = T.float32(70)
for t in T.thread_binding(8, thread="threadIdx.x"):
    L[0] = A[t]
    L[1] = L[1] + L[0]
    B[t] = L[1] * L[3]
"""
    simple(book, "tir.threads.private-begun-outside", "TIR-208", begun, (EIGHT + 50) * 70)
    simple(
        book,
        "undefined.threads.private-not-begun",
        "TIR-208 TIR-007",
        begun.replace("B[t] = L[1] * L[3]", "B[t] = «L[2]»"),
        undefined("RM305"),
    )
    mine = """
L = T.alloc_buffer((1,), "float32", scope="local")
for t in T.thread_binding(8, thread="threadIdx.x"):
    if t == 2:
        L[0] = A[t]
    if t == 3:
        B[t] = «L[0]»
"""
    simple(book, "undefined.threads.private-of-another", "TIR-208 TIR-007", mine, undefined("RM305"))
    for dtype in ("int8", "float16", "bool"):
        given = np.array([3, 0, 4, 1, -5, 0, 2, 6]).astype(dtype)
        body = f"""
L = T.alloc_buffer((2, 2), "{dtype}", scope="local")
L[1, 0] = A[5]
for t in T.thread_binding(8, thread="threadIdx.x"):
    L[0, 1] = A[t]
for t in T.thread_binding(8, thread="threadIdx.x"):
    B[t] = T.if_then_else(t < 4, L[0, 1], L[1, 0])
"""
        expected = np.where(np.arange(8) < 4, given, given[5]).astype(dtype)
        params = f'A: T.Buffer((8,), "{dtype}"), B: T.Buffer((8,), "{dtype}")'
        simple(book, f"tir.threads.private-{dtype}", "TIR-208", body, expected, params, given, dtype=dtype)


def views(book):
    """Views that are made outside of the axes follow the index."""
    body = """
L = T.alloc_buffer((4,), "float32", scope="local")
L[3] = T.float32(7)
V = T.decl_buffer((2, 2), "float32", data=L.data, scope="local")
for t in T.thread_binding(8, thread="threadIdx.x"):
    V[0, 1] = A[t]
    L[2] = T.float32(2)
for t in T.thread_binding(8, thread="threadIdx.x"):
    B[t] = L[1] * V[1, 0] + V[1, 1]
"""
    simple(book, "tir.threads.private-view", "TIR-208 TIR-207", body, EIGHT * 2 + 7)
    chain = """
L = T.alloc_buffer((4,), "float32", scope="local")
V = T.decl_buffer((2, 2), "float32", data=L.data, scope="local")
W = T.decl_buffer((3,), "float32", data=V.data, elem_offset=1, scope="local")
for t in T.thread_binding(8, thread="threadIdx.x"):
    W[2] = A[t]
    V[0, 1] = T.float32(5)
for t in T.thread_binding(8, thread="threadIdx.x"):
    B[t] = L[3] + W[0]
"""
    simple(book, "tir.threads.private-view-of-a-view", "TIR-208 TIR-207", chain, EIGHT + 5)
    other = """
L = T.alloc_buffer((2,), "float32", scope="local")
L[0] = T.float32(3)
V = T.decl_buffer((2, 4), "float32", data=A.data)
for t in T.thread_binding(8, thread="threadIdx.x"):
    L[1] = V[t // 4, t % 4]
    B[t] = L[0] * L[1]
"""
    simple(book, "tir.threads.private-beside-a-view", "TIR-208 TIR-207", other, EIGHT * 3)
    block = """
S = T.alloc_buffer((4,), "float32", scope="shared")
V = T.decl_buffer((2, 2), "float32", data=S.data, scope="shared")
for b in T.thread_binding(2, thread="blockIdx.x"):
    for i in range(4):
        V[i // 2, i % 2] = A[b * 4 + i]
    for i in range(4):
        B[b * 4 + i] = S[3 - i]
"""
    simple(book, "tir.threads.shared-view", "TIR-208 TIR-207", block, EIGHT[[3, 2, 1, 0, 7, 6, 5, 4]])


def outside(book):
    """What is written outside of an axis is seen outside of it, whatever its indices did."""
    body = """
L = T.alloc_buffer((2,), "float32", scope="local")
L[0] = A[4]
for t in T.thread_binding(8, thread="threadIdx.x"):
    L[0] = L[0] + A[t]
    B[t] = L[0]
B[7] = L[0]
"""
    simple(book, "tir.threads.private-seen-outside", "TIR-208", body, np.append(EIGHT[:7] + EIGHT[4], EIGHT[4]))
    again = """
L = T.alloc_buffer((2,), "float32", scope="local")
L[0] = A[4]
for k in range(2):
    for t in T.thread_binding(8, thread="threadIdx.x"):
        L[0] = L[0] + A[t]
        B[t] = L[0]
"""
    simple(book, "tir.threads.private-kept-between-loops", "TIR-208", again, EIGHT[4] + 2 * EIGHT)
    more = """
L = T.alloc_buffer((2,), "float32", scope="local")
L[0] = A[4]
for t in T.thread_binding(3, thread="threadIdx.x"):
    L[1] = A[t]
    B[t] = L[0] + L[1]
for t in T.thread_binding(8, thread="threadIdx.x"):
    if t > 2:
        L[1] = A[t] * T.float32(2)
    B[t] = L[0] + L[1]
"""
    expected = EIGHT[4] + EIGHT * np.where(np.arange(8) > 2, 2, 1)
    simple(book, "tir.threads.private-more-threads", "TIR-208", more, expected)
    most = """
L = T.alloc_buffer((2,), "float32", scope="local")
L[0] = A[4]
"""
    for count in (2, 4, 8):
        most += f"""
for t in T.thread_binding({count}, thread="threadIdx.x"):
    if t >= {count // 2 if count > 2 else 0}:
        L[1] = A[t]
    B[t] = L[0] * L[1]
"""
    simple(book, "tir.threads.private-ever-more-threads", "TIR-208", most, EIGHT[4] * EIGHT)
    viewed = """
L = T.alloc_buffer((4,), "float32", scope="local")
L[3] = A[5]
V = T.decl_buffer((2, 2), "float32", data=L.data, scope="local")
for t in T.thread_binding(8, thread="threadIdx.x"):
    V[1, 1] = V[1, 1] + A[t]
    B[t] = L[3]
B[0] = V[1, 1]
"""
    simple(
        book, "tir.threads.private-view-outside", "TIR-208 TIR-207", viewed, np.append(EIGHT[5], EIGHT[1:] + EIGHT[5])
    )


SHARED = """
for t in T.thread_binding(8, thread="threadIdx.x"):
    B[t] = T.float32(0)
    for k in range(2):
        S = T.alloc_buffer((8,), "float32", scope="shared")
        {}
        S[t] = A[t] + T.Cast("float32", k * 10)
        T.tvm_storage_sync("shared")
        B[t] = B[t] * T.float32(100) + S[7 - t]
"""


def shared(book):
    """What threads allocate together is one buffer, each time anew."""
    simple(
        book,
        "tir.threads.shared-allocated-in-turns",
        "TIR-227",
        SHARED.replace("        {}\n", ""),
        EIGHT[::-1] * 100 + EIGHT[::-1] + 10,
    )
    simple(
        book,
        "undefined.threads.shared-anew",
        "TIR-227 TIR-007",
        SHARED.format("if k == 1:\n            B[t] = «S[t]»"),
        undefined("RM305"),
    )
    two = """
for t in T.thread_binding(8, thread="threadIdx.x"):
    S = T.alloc_buffer((8,), "float32", scope="shared")
    U = T.alloc_buffer((8,), "float32", scope="shared")
    S[t] = A[t]
    U[7 - t] = A[t] * T.float32(10)
    T.tvm_storage_sync("shared")
    B[t] = S[(t + 1) % 8] + U[t]
"""
    simple(book, "tir.threads.shared-two-buffers", "TIR-227", two, np.roll(EIGHT, -1) + 10 * EIGHT[::-1])
    blocks = """
for b in T.thread_binding(2, thread="blockIdx.x"):
    for t in T.thread_binding(4, thread="threadIdx.x"):
        S = T.alloc_buffer((4,), "float32", scope="shared")
        S[t] = A[b * 4 + t]
        T.tvm_storage_sync("shared")
        B[b * 4 + t] = S[3 - t]
"""
    simple(book, "tir.threads.shared-of-each-block", "TIR-227 TIR-208", blocks, EIGHT[[3, 2, 1, 0, 7, 6, 5, 4]])
    left = """
S = T.alloc_buffer((4,), "float32", scope="shared")
for b in T.thread_binding(2, thread="blockIdx.x"):
    if b == 0:
        S[1] = A[1]
    B[b] = «S[1]»
"""
    simple(book, "undefined.threads.shared-of-another-block", "TIR-208 TIR-007", left, undefined("RM305"))


def meetings(book):
    """Barriers, outside of threads and where not all threads come by."""
    alone = f"{SYNC}\nfor i in range(8):\n    B[i] = A[7 - i]\n    {SYNC}"
    simple(book, "tir.threads.barrier-alone", "TIR-227", alone, EIGHT[::-1])
    after = f"""
S = T.alloc_buffer((8,), "float32", scope="shared")
for t in T.thread_binding(8, thread="threadIdx.x"):
    S[t] = A[t]
    {SYNC}
    B[t] = S[7 - t]
{SYNC}
B[0] = T.float32(50)
"""
    expected = EIGHT[::-1].copy()
    expected[0] = 50
    simple(book, "tir.threads.barrier-after", "TIR-227", after, expected)
    twice = f"""
for b in T.thread_binding(2, thread="blockIdx.x"):
    for t in T.thread_binding(4, thread="threadIdx.x"):
        B[b * 4 + t] = A[b * 4 + t]
        {SYNC}
        if t == 0:
            B[b * 4] = B[b * 4 + 1] + B[b * 4 + 3]
for t in T.thread_binding(4, thread="threadIdx.x"):
    {SYNC}
    B[t + 4] = B[t + 4] * T.float32(2)
"""
    expected = EIGHT.copy()
    expected[[0, 4]] = EIGHT[[1, 5]] + EIGHT[[3, 7]]
    expected[4:] *= 2
    simple(book, "tir.threads.groups-in-turn", "TIR-227", twice, expected)
    axes = f"""
S = T.alloc_buffer((2, 4), "float32", scope="shared")
for y in T.thread_binding(2, thread="threadIdx.y"):
    for x in T.thread_binding(4, thread="threadIdx.x"):
        S[y, x] = A[y * 4 + x]
        {SYNC}
        B[y * 4 + x] = S[1 - y, (x + 1) % 4]
"""
    turned = np.roll(EIGHT.reshape(2, 4)[::-1], -1, 1).reshape(8)
    simple(book, "tir.threads.barrier-two-axes", "TIR-227", axes, turned)
    launched = f"""
S = T.alloc_buffer((8,), "float32", scope="shared")
t = T.launch_thread("threadIdx.x", 8)
S[t] = A[t]
{SYNC}
B[t] = S[7 - t] * T.Cast("float32", t + 1)
"""
    simple(book, "tir.threads.barrier-launched", "TIR-227 TIR-208", launched, EIGHT[::-1] * np.arange(1, 9))
    frame = """
for t in T.thread_binding(8, thread="threadIdx.x"):
    B[t] = A[t]
{}
"""
    rows = {
        "others-ended": f"    if t > 5:\n        «{SYNC}»",
        "first-ended": f"    if t > 0:\n        «{SYNC}»",
        "last-ended": f"    if t < 7:\n        «{SYNC}»",
        "two-places": f"    if t < 3:\n        «{SYNC}»\n    else:\n        {SYNC}",
        "two-places-turned": f"    if t > 3:\n        {SYNC}\n    else:\n        «{SYNC}»",
        "once-more": f"    for k in range(2):\n        if k < 1 or t < 4:\n            «{SYNC}»",
    }
    for name, inner in rows.items():
        body = frame.format(inner)
        simple(book, f"undefined.threads.barrier-{name}", "TIR-227", body, undefined("RM327"))
    inner = f"""
for y in T.thread_binding(2, thread="threadIdx.y"):
    for x in T.thread_binding(4, thread="threadIdx.x"):
        B[y * 4 + x] = A[y * 4 + x]
        if y * 4 + x < 4:
            «{SYNC}»
"""
    simple(book, "undefined.threads.barrier-one-row", "TIR-227", inner, undefined("RM327"))
    inner = inner.replace("y * 4 + x < 4", "x < 2")
    simple(book, "undefined.threads.barrier-two-columns", "TIR-227", inner, undefined("RM327"))


def extents(book):
    """How many threads there are."""
    body = f"""
S = T.alloc_buffer((8,), "float32", scope="shared")
for i in range(8):
    B[i] = T.float32(-1)
«for t in T.thread_binding(n, thread="threadIdx.x"):
    S[t] = A[t]
    {SYNC}
    B[t] = S[n - 1 - t]
"""
    text = program(body, "n: T.int32, " + IN8)
    calls = []
    for n in (8, 3, 1, 0):
        expected = np.full(8, -1, np.float32)
        expected[:n] = EIGHT[:n][::-1]
        calls.append(([n, EIGHT, OUT8], [K, expected]))
    calls.append(([-1, EIGHT, OUT8], undefined("RM315")))
    ask(book, "undefined.threads.extents", "TIR-227 TIR-203", text, *calls, needs=["threads"])
    plain = text.replace("«", "")
    ask(book, "tir.threads.extents", "TIR-227 TIR-203", plain, *calls[:-1], needs=["threads"])
    both = f"""
for y in T.thread_binding(m, thread="threadIdx.y"):
    for x in T.thread_binding(n, thread="threadIdx.x"):
        {SYNC}
        B[y * n + x] = A[x * m + y]
"""
    text = program(both, "m: T.int32, n: T.int32, " + IN8)
    calls = []
    for m, n in ((2, 4), (4, 2), (1, 8), (8, 1)):
        calls.append(([m, n, EIGHT, OUT8], [K, EIGHT.reshape(n, m).T.reshape(8).copy()]))
    ask(book, "tir.threads.extents-of-two", "TIR-227", text, *calls, needs=["threads"])


def races(book):
    """What detectors see between two meetings."""
    begun = f"""
S = T.alloc_buffer((8,), "float32", scope="shared")
for t in T.thread_binding(8, thread="threadIdx.x"):
    S[t] = A[t]
    {SYNC}
    {{}}
    {SYNC}
    B[t] = S[t]
"""
    rows = {"read": "B[t] = S[7 - t]\n    S[t] = T.float32(1)", "written": "S[t // 2] = A[t]"}
    for name, inner in rows.items():
        text = program(begun.format(inner))
        ask(
            book,
            f"undefined.threads.race-{name}",
            "TIR-225 TIR-227",
            text,
            ([EIGHT, OUT8], {"kind": "undefined", "code": "RM321"}),
            needs=["threads"],
        )
    well = begun.format(f"B[t] = S[7 - t]\n    {SYNC}\n    S[t] = B[t]")
    simple(book, "tir.threads.no-race", "TIR-225 TIR-227", well, EIGHT[::-1], watched=True)
    world = f"""
for t in T.thread_binding(8, thread="threadIdx.x"):
    B[t] = A[t]
    {SYNC}
    if t < 4:
        B[t] = B[t] + B[7 - t]
    {SYNC}
    if t == 7:
        B[7] = B[0] + B[6]
"""
    expected = EIGHT.copy()
    expected[:4] += EIGHT[:3:-1]
    expected[7] = expected[0] + expected[6]
    simple(book, "tir.threads.barrier-on-all-memory", "TIR-225 TIR-227", world, expected, watched=True)
    blocks = """
for b in T.thread_binding(2, thread="blockIdx.x"):
    for t in T.thread_binding(4, thread="threadIdx.x"):
        B[b * 4 + t] = A[b * 4 + t]
        {}
        B[b * 4 + t] = B[b * 4 + t] + A[0]
"""
    simple(book, "tir.threads.blocks-apart", "TIR-225 TIR-227", blocks.format(SYNC), EIGHT + EIGHT[0], watched=True)
    near = blocks.format(SYNC).replace("B[b * 4 + t] + A[0]", "B[(b * 4 + t + 1) % 8]")
    ask(
        book,
        "undefined.threads.race-of-blocks",
        "TIR-225 TIR-227",
        program(near),
        ([EIGHT, OUT8], {"kind": "undefined", "code": "RM321"}),
        needs=["threads"],
    )
    private = """
L = T.alloc_buffer((1,), "float32", scope="local")
for t in T.thread_binding(8, thread="threadIdx.x"):
    L[0] = A[t]
    B[t] = L[0]
"""
    simple(book, "tir.threads.private-is-no-race", "TIR-225 TIR-208", private, EIGHT, watched=True)
