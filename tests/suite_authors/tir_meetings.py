"""TensorIR by hand: threads, loops at the same time and what detectors find in them; what functions give to threads."""

import numpy as np
from hand import K, ask, i32, new, tir, undefined
from tir_elements import series
from tir_turns import FRAME, LOWERED, PARAMS, SYNC, A, T, ring, threads

RACE = undefined("RM321")
OUT = new([8], "int32")


def meetings(book):
    _quiet(book)
    _calls(book)
    _kept(book)
    _races(book)
    _parallel(book)
    _returned(book)
    _beyond(book)
    _borders(book)
    book.write("meetings", "Threads and loops at the same time, and what detectors find in them.")


def _quiet(book):
    """Statements between barriers that touch nothing shared, in each place where threads may come by."""
    quiet = "B[t] = B[t] + 5"
    lines = f"if n > 0:\n    {SYNC}\n    B[t] = S[7 - t]\nelse:\n    {quiet}\nB[t] = B[t] + 100"
    threads(book, "tir.meeting.quiet-else", "TIR-227 TIR-211", lines, (1, 0, A[::-1] + 100), (0, 0, 0 * A + 105), frame=LOWERED)  # fmt: skip
    lines = f"if n > 0:\n    {quiet}\nelse:\n    {SYNC}\n    B[t] = S[7 - t]\nB[t] = B[t] + 100"
    threads(book, "tir.meeting.quiet-then", "TIR-227 TIR-211", lines, (0, 0, A[::-1] + 100), (1, 0, 0 * A + 105), frame=LOWERED)  # fmt: skip
    lines = f"if n > 0:\n    S[t] = B[t] + 3\nelse:\n    {quiet}\nB[t] = B[t] + S[7 - t]"
    threads(book, "tir.meeting.quiet-implied", "TIR-229 TIR-211", lines, (1, 0, 0 * A + 3), (0, 0, A[::-1] + 5))
    lines = f'with T.attr(0, "pragma_any", 1):\n    {quiet}\n{SYNC}\nfor k in range(n):\n    {quiet}\n{SYNC}\nB[t] = B[t] + S[7 - t]'
    threads(book, "tir.meeting.quiet-between", "TIR-227 TIR-209", lines, *((n, 0, A[::-1] + 5 + 5 * n) for n in (0, 2)), frame=LOWERED)  # fmt: skip


CALLS = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(n: T.int32, A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
        S = T.alloc_buffer((8,), "int32", scope="shared")
        for t in T.thread_binding(8, thread="threadIdx.x"):
            S[t] = Module.double(A[t]) + n
            x: T.let[T.int32] = Module.double(t) * 10
            assert Module.double(t) >= 0, "never"
            T.tvm_storage_sync("shared")
            B[t] = S[7 - t] + x
            if Module.double(n) > 3:
                B[t] = B[t] + 1000
            T.evaluate(Module.double(t) + 1)

    @T.prim_func(private=True, s_tir=True)
    def double(n: T.int32) -> T.int32:
        T.ret(n * 2)
"""


def _calls(book):
    """Calls of functions of the module, as parts of statements of threads."""
    calls = []
    for n in (0, 2):
        found = (A * 2 + n)[::-1] + T * 20 + (1000 if n > 1 else 0)
        calls.append(([n, A, OUT], [K, found.astype(np.int32)]))
    ask(book, "tir.meeting.calls", "TIR-227 TIR-117", CALLS, *calls, needs=["threads"])


def _kept(book):
    """What threads write to private memory is not seen outside; what was written outside is, before and after."""
    for scope, tag in (("local", "threadIdx"), ("shared", "blockIdx")):
        for name, sync in (("plain", ""), ("turns", f"\n    {SYNC}")) if tag == "threadIdx" else (("plain", ""),):
            again = (
                f'\nfor t in T.thread_binding(8, thread="{tag}.x"):\n    B[t] = B[t] + L[0] * 100000'
                if scope == "local"
                else ""
            )
            body = f'L = T.alloc_buffer((2,), "int32", scope="{scope}")\nL[0] = n\nL[1] = m\nfor t in T.thread_binding(8, thread="{tag}.x"):\n    L[0] = L[0] + A[t]{sync}\n    B[t] = L[0] * 10 + L[1]\nB[3] = L[0] * 1000 + L[1]{again}'
            calls = []
            for n, m in ((4, 1), (0, 9)):
                wanted = (A + n) * 10 + m
                wanted[3] = n * 1000 + m
                wanted += (A + n) * 100000 * (scope == "local")
                calls.append(([n, m, A, OUT], [K, wanted.astype(np.int32)]))
            ask(book, f"tir.meeting.kept-{scope}-{name}", "TIR-208", tir(PARAMS, body), *calls, needs=["threads"])


def _races(book):
    """Axes within each other and one after the other: which iterations are at the same time."""
    body = f'S = T.alloc_buffer((8,), "int32", scope="shared")\nfor y in T.thread_binding(2, thread="threadIdx.y"):\n    for x in T.thread_binding(4, thread="threadIdx.x"):\n        S[y * 4 + x] = A[y * 4 + x]\n        {SYNC}\n        B[y * 4 + x] = S[7 - y * 4 - x]\nfor y in T.thread_binding(2, thread="threadIdx.y"):\n    for x in T.thread_binding(4, thread="threadIdx.x"):\n        B[7 - y * 4 - x] = B[7 - y * 4 - x] * 10 + x\n        {SYNC}\n        if n > 0:\n            S[y * 4 + (x + 1) % 4] = 1\n        B[y * 4 + x] = B[y * 4 + x] + «S[y * 4 + x]»'
    wanted = A[::-1] * 10 + 3 - T % 4 + A
    calls = [([0, 0, A, OUT], [K, wanted.astype(np.int32)]), ([1, 0, A, OUT], RACE)]
    ask(book, "undefined.meeting.race-within", "TIR-225 TIR-227", tir(PARAMS, body), *calls, needs=["threads"])
    body = f'G = T.alloc_buffer((8,), "int32")\n{FRAME}    G[t] = A[t] + 1\n    S[t] = G[t]\n    B[t] = S[7 - t] + «G[(t + n) % 8]»'
    calls = [([0, 0, A, OUT], [K, (A[::-1] + 1 + A + 1).astype(np.int32)]), ([1, 0, A, OUT], RACE)]
    ask(book, "undefined.meeting.implied-orders-shared", "TIR-225 TIR-229", tir(PARAMS, body), *calls, needs=["threads"])  # fmt: skip
    body = f'G = T.alloc_buffer((8,), "int32")\n{LOWERED}    G[t] = A[t] + 1\n    if n > 0:\n        {SYNC}\n    B[t] = «G[(t + m) % 8]»'
    calls = [([1, 2, A, OUT], [K, ring(2) + 1]), ([0, 0, A, OUT], [K, A + 1]), ([0, 2, A, OUT], undefined("RM305"))]
    ask(book, "undefined.meeting.barrier-orders-all", "TIR-225 TIR-227", tir(PARAMS, body), *calls, needs=["threads"])


def _parallel(book):
    """Loops at the same time, one after the other and within each other: each is over where it ends."""
    params = 'n: T.int32, A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")'
    a, out = series((4,)), new([4], "int32")
    for kind in ("parallel", "vectorized"):
        body = f"for i in T.{kind}(4):\n    B[i] = A[i]\nfor j in T.{kind}(4):\n    B[3 - j] = B[3 - j] * 10 + j\nfor k in range(2):\n    B[0] = B[0] + 1\nfor i in T.{kind}(2):\n    B[1 + i * n] = «B[1 + i * n]» + 7"
        wanted = a * 10 + i32(3, 2, 1, 0)
        wanted[0] += 2
        calls = []
        for n in (1, 2):
            after = wanted.copy()
            after[[1, 1 + n]] += 7
            calls.append(([n, a, out], [K, after]))
        ask(book, f"undefined.meeting.{kind}-again", "TIR-225 TIR-203", tir(params, body), *calls, ([0, a, out], RACE))  # fmt: skip
    body = "for i in T.parallel(2):\n    for j in range(2):\n        «B[i * 2 + j] = A[i * 2 + j]\n    for j in range(2):\n        B[i * 2 + j] = B[i * 2 + 1 - j] + B[(i * 2 + j + n) % 4]"
    b, calls = a.copy(), []
    for i, j in np.ndindex(2, 2):
        b[i * 2 + j] += b[i * 2 + 1 - j]
    calls.append(([0, a, i32(0, 0, 0, 0)], [K, b]))
    ask(
        book,
        "undefined.meeting.parallel-rows",
        "TIR-225 TIR-203",
        tir(params, body),
        *calls,
        ([2, a, i32(0, 0, 0, 0)], RACE),
    )


RETURNED = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(n: T.int32, A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
        for i in range(4):
            B[i] = T.call_packed("place", A, A[i] - n)
        for i in T.parallel(2):
            B[i * n] = «B[i * n]» + 1

    @T.prim_func(s_tir=True)
    def place(A: T.Buffer((4,), "int32"), x: T.int32) -> T.int32:
        T.func_attr({"global_symbol": "place"})
        for i in range(2):
            for j in range(2):
                if A[i * 2 + j] == x:
                    T.ret(i * 2 + j)
        T.ret(-1)
"""


def _returned(book):
    """A function ends within its loops, under detectors."""
    a, out = series((4,)), new([4], "int32")
    calls = []
    for n in (1, 2, 3):
        found = [int(np.flatnonzero(a == x)[0]) if x in a else -1 for x in a - n]
        for i in range(2):
            found[i * n] += 1
        calls.append(([n, a, out], [K, i32(*found)]))
    given = i32(5, 4, 3, 2)
    found = [1, 2, 3, -1]
    found[0] += 1
    found[1] += 1
    calls.append(([1, given, out], [K, i32(*found)]))
    ask(book, "undefined.meeting.returned", "TIR-225 TIR-215", RETURNED, *calls, ([0, a, out], RACE))


def _beyond(book):
    """Views that are larger than their storage, within what a block declares and outside of it."""
    bounds, region = undefined("RM304"), undefined("RM318")
    params = 'n: T.int32, A: T.Buffer((4,), "int32"), B: T.Buffer((1,), "int32")'
    for rank, shape, at, six in (
        (1, "(8,)", "n", "0:6"),
        (2, "(2, 4)", "n // 4, n % 4", "0:2, 0:2"),
        (3, "(2, 2, 2)", "n // 4, n // 2 % 2, n % 2", "0:2, 0:1, 0:2"),
    ):
        for name, line, declared in (
            ("load", "B[0] = «W[{}]»", "T.reads(W[{}])\n        T.writes(B[0])"),
            ("store", "«W[{}] = 5", "T.reads()\n        T.writes(W[{}])"),
        ):
            body = f'W = T.decl_buffer({shape}, "int32", data=A.data)\nfor i in range(1):\n    with T.sblock("B"):\n        v = T.axis.spatial(1, i)\n        {declared.format(six)}\n        {line.format(at)}'
            inside = (4, 5)
            outside = (6, 7)
            calls = [([n, series((4,)), i32(0)], bounds) for n in inside]
            calls += [([n, series((4,)), i32(0)], region) for n in outside]
            ask(book, f"undefined.meeting.{name}-beyond-{rank}", "TIR-006 TIR-207 TIR-221", tir(params, body), *calls)


def _borders(book):
    """Indices that are one too high, or too low, and still inside of the storage."""
    bounds, one = undefined("RM304"), new([1], "int32")
    for rank, shape, strides in ((2, (2, 3), (1, 2)), (3, (2, 3, 2), (1, 2, 6)), (4, (2, 3, 2, 2), (1, 2, 6, 12))):
        at = ", ".join(f"I[{axis}]" for axis in range(rank))
        view = f'V = T.decl_buffer({shape}, "int32", data=A.data, strides={list(strides)})\n'
        params = f'A: T.Buffer((24,), "int32"), I: T.Buffer(({rank},), "int32"), R: T.Buffer((1,), "int32")'
        bad = [[0] * axis + [value] + [0] * (rank - axis - 1) for axis in range(rank) for value in (-1, shape[axis])]
        good = [[extent - 1 for extent in shape], [(axis + 1) % extent for axis, extent in enumerate(shape)]]
        a = series((24,))
        places = [sum(index * step for index, step in zip(each, strides, strict=True)) for each in good]
        calls = [([a, i32(*each), one], [K, K, i32(a[place])]) for each, place in zip(good, places, strict=True)]
        calls += [([a, i32(*each), one], bounds) for each in bad]
        name = f"undefined.meeting.strided-load-{rank}"
        ask(book, name, "TIR-006 TIR-005", tir(params, f"{view}R[0] = «V[{at}]»"), *calls)
        calls = []
        for each, place in zip(good, places, strict=True):
            after = a.copy()
            after[place] = 5
            calls.append(([a, i32(*each), one], [after, K, i32(1)]))
        calls += [([a, i32(*each), one], bounds) for each in bad]
        name = f"undefined.meeting.strided-store-{rank}"
        ask(book, name, "TIR-006 TIR-205 TIR-005", tir(params, f"{view}«V[{at}] = 5\nR[0] = 1"), *calls)
    for name, rows, columns in (("one", "1, 2", "1, 4"), ("minus-one", "0, 2", "-1, 2"), ("row", "-1, 2", "0, 3")):
        loops = f"for i in range({rows}):\n    for j in range({columns}):\n        "
        params = 'A: T.Buffer((3, 3), "int32"), R: T.Buffer((1,), "int32")'
        for kind, line in (("load", "R[0] = «A[i, j]»"), ("store", "«A[i, j] = 4")):
            text = tir(params, loops + line)
            ask(book, f"undefined.meeting.loops-from-{name}-{kind}", "TIR-006", text, ([series((3, 3)), one], bounds))
