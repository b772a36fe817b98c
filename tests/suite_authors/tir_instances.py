"""TensorIR by hand: instances of blocks: domains, inits, predicates; and what only detectors find in loops and threads.

A case whose last call only detectors stop is asked under them, so its other calls show that they find nothing there.
"""

import numpy as np
from hand import K, ask, i32, new, tir, undefined
from tir_elements import ONE, UNWRITTEN, series

REGION, RACE = undefined("RM318"), undefined("RM321")
SYNC = 'T.tvm_storage_sync("shared")'


def instances(book):
    _domains(book)
    _inits(book)
    _predicates(book)
    _allocations(book)
    _left(book)
    _threads(book)
    _shared(book)
    _forgotten(book)
    book.write("instances", "Instances of blocks, and what only detectors find in them.")


def _domains(book):
    """Axes of a domain that begins at 2, at a variable, at what is computed; each border."""
    for name, domain, first, last in (
        ("constants", "(2, 6)", lambda n: 2, lambda n: 5),
        ("variables", "(n, n + 4)", lambda n: n, lambda n: n + 3),
        ("computed", "(n * 2 - 1, n * 3)", lambda n: n * 2 - 1, lambda n: n * 3 - 1),
        ("extent", "n", lambda n: 0, lambda n: n - 1),
    ):
        for kind in ("spatial", "reduce", "opaque", "scan"):
            text = tir(
                'n: T.int32, m: T.int32, R: T.Buffer((1,), "int32")',
                f'for i in range(1):\n    with T.sblock("B"):\n        v = T.axis.{kind}({domain}, «m + i»)\n        T.reads()\n        T.writes(R[0])\n        R[0] = v * 10 + n',
            )
            calls = []
            for n in (2, 3):
                low, high = first(n), last(n)
                calls += [([n, m, ONE], i32(m * 10 + n)) for m in dict.fromkeys((low, high))]
                calls += [([n, m, ONE], undefined("RM312")) for m in (low - 1, high + 1)]
            if name == "constants" or kind == "spatial":
                ask(book, f"undefined.instance.domain-{name}-{kind}", "TIR-217", text, *calls)


def _inits(book):
    """The init runs where all reduce axes are at their first values, whatever those are."""
    out = new([1], "int32")
    rows = (
        ("one", "vk = T.axis.reduce((2, 5), k + 2)", lambda k, z, n: k == 0),
        ("one-variable", "vk = T.axis.reduce((n, n + 3), k + n)", lambda k, z, n: k == 0),
        ("one-computed", "vk = T.axis.reduce((n * 2, n * 2 + 3), k + n * 2)", lambda k, z, n: k == 0),
        (
            "two",
            "vk = T.axis.reduce((2, 5), k + 2)\n        vz = T.axis.reduce(2, z)",
            lambda k, z, n: k == 0 and z == 0,
        ),
        (
            "two-computed",
            "vk = T.axis.reduce((n + 1, n + 4), k + n + 1)\n        vz = T.axis.reduce((n - 1, n + 1), z + n - 1)",
            lambda k, z, n: k == 0 and z == 0,
        ),
        (
            "mixed",
            "vk = T.axis.reduce((n + 1, n + 4), k + n + 1)\n        vz = T.axis.opaque(2, z)",
            lambda k, z, n: k == 0,
        ),
        ("none", "vk = T.axis.opaque(3, k)\n        vz = T.axis.opaque(2, z)", lambda k, z, n: True),
    )
    for name, axes, starts in rows:
        plain = name.startswith("one")
        body = f'R[0] = 5\nfor {"k" if plain else "k, z"} in {"range(3)" if plain else "T.grid(3, 2)"}:\n    with T.sblock("B"):\n        {axes}\n        with T.init():\n            R[0] = R[0] * 2 + n\n        R[0] = R[0] + k * 3 + {"0" if plain else "z"} + 1'
        calls = []
        for n in (1, 4):
            found = 5
            for k, z in np.ndindex(3, 1 if plain else 2):
                found = (found * 2 + n if starts(k, z, n) else found) + k * 3 + z + 1
            calls.append(([n, out], i32(found)))
        ask(book, f"tir.instance.init-{name}", "TIR-218", tir('n: T.int32, R: T.Buffer((1,), "int32")', body), *calls)


def _predicates(book):
    """Constant and computed predicates; nothing is bound where one does not hold."""
    params = 'n: T.int32, R: T.Buffer((6,), "int32")'
    out = new([6], "int32")
    for name, where, holds in (
        ("computed", "i * 2 + j < n", lambda i, j, n: i * 2 + j < n),
        ("both", "T.And(i < n, j == 0)", lambda i, j, n: i < n and j == 0),
        ("true", "T.bool(True)", lambda i, j, n: True),
        ("false", "T.bool(False)", lambda i, j, n: False),
    ):
        body = f'for i in range(6):\n    R[i] = -1\nfor i, j in T.grid(3, 2):\n    with T.sblock("B"):\n        v = T.axis.spatial(6, i * 2 + j)\n        T.where({where})\n        R[v] = v * 10 + n'
        calls = []
        for n in (0, 1, 5, 9):
            found = [at * 10 + n if holds(at // 2, at % 2, n) else -1 for at in range(6)]
            calls.append(([n, out], i32(*found)))
        ask(book, f"tir.instance.where-{name}", "TIR-216", tir(params, body), *calls)
    body = 'for i in range(6):\n    R[i] = -1\nfor i in range(8):\n    with T.sblock("B"):\n        v = T.axis.spatial(6, «i + n - n»)\n        T.where(i < n)\n        R[v] = v * 10 + n'
    calls = [([n, out], i32(*(at * 10 + n if at < n else -1 for at in range(6)))) for n in (0, 3, 6)]
    ask(
        book,
        "undefined.instance.where-first",
        "TIR-216 TIR-217",
        tir(params, body),
        *calls,
        ([7, out], undefined("RM312")),
    )


def _allocations(book):
    """Memory of a block is new in each instance, whatever its form; its regions may leave it out."""
    body = 'for i in range(3):\n    with T.sblock("B"):\n        v = T.axis.spatial(3, i)\n        T.reads(A[v])\n        T.writes(R[v])\n        C = T.sblock_alloc_buffer((2, 2), "int32", strides=[3, 1])\n        D = T.sblock_alloc_buffer((2,), "int32")\n        C[0, 1] = A[v]\n        if v <= n:\n            D[1] = v\n        R[v] = C[0, 1] * 10 + «D[1]»'
    params = 'n: T.int32, A: T.Buffer((3,), "int32"), R: T.Buffer((3,), "int32")'
    out = new([3], "int32")
    calls = [([2, series((3,)), out], [K, i32(30, 101, 172)])]
    calls += [([n, series((3,)), out], UNWRITTEN) for n in (0, 1, -1)]
    ask(book, "undefined.instance.memory", "TIR-219 TIR-226", tir(params, body), *calls)
    body = body.replace("R[v] = C[0, 1] * 10 + «D[1]»", "R[v] = C[0, 1] * 10 + D[1] + «A[(v + m) % 3]»")
    params = params.replace("n: T.int32", "n: T.int32, m: T.int32")
    calls = [([2, 0, series((3,)), out], [K, i32(33, 111, 189)]), ([2, 1, series((3,)), out], REGION)]
    ask(book, "undefined.instance.memory-in-regions", "TIR-219 TIR-221", tir(params, body), *calls)
    body = 'for i in range(3):\n    with T.sblock("B"):\n        v = T.axis.spatial(3, i)\n        T.reads(A[v])\n        T.writes(R[v])\n        C = T.alloc_buffer((2,), "int32")\n        D = T.decl_buffer((2,), "int32")\n        C[0] = A[v]\n        D[1] = C[0] + 1\n        R[v] = D[1] + «A[(v + m) % 3]»'
    calls = [([2, 0, series((3,)), out], [K, i32(7, 21, 35)]), ([2, 2, series((3,)), out], REGION)]
    ask(book, "undefined.instance.statements-in-regions", "TIR-206 TIR-207 TIR-221", tir(params, body), *calls)


LEFT = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(m: T.int32, A: T.Buffer((6,), "int32"), R: T.Buffer((6,), "int32")):
        for i in range(6):
            R[i] = 0
        R[0] = T.call_packed("{name}", m, A, R)
        R[5] = R[5] + A[3] + A[0]

    @T.prim_func(s_tir=True)
    def {name}(m: T.int32, A: T.Buffer((6,), "int32"), R: T.Buffer((6,), "int32")) -> T.int32:
        T.func_attr({{"global_symbol": "{name}"}})
        for i in range(3):
            with T.sblock("B"):
                v = T.axis.spatial(3, i)
                T.reads(A[v])
                T.writes(R[v + 1])
                R[v + 1] = A[v]
                if A[v] == m:
                    {jump}
                R[v + 1] = R[v + 1] + 1
                if m == 77:
                    R[v + 1] = «A[5 - v]»
        R[4] = A[5] + R[1]
        T.ret(R[2])
"""


def _left(book):
    """A block that is left by a jump is over: what comes behind it is not held to its regions."""
    a = series((6,))
    for name, jump in (("break", "break"), ("continue", "continue"), ("return", "T.ret(90)")):
        calls = []
        for m in (0, 3, 10, 17):
            r = [0] * 6
            value = None
            for i in range(3):
                r[i + 1] = int(a[i])
                if a[i] == m:
                    if jump == "break":
                        break
                    if jump == "continue":
                        continue
                    value = 90
                    break
                r[i + 1] += 1
            if value is None:
                r[4] = int(a[5]) + r[1]
                value = r[2]
            r[0] = value
            r[5] += int(a[3] + a[0])
            calls.append(([m, a, new([6], "int32")], [K, i32(*r)]))
        calls.append(([77, a, new([6], "int32")], REGION))
        text = LEFT.format(name=f"left_by_{name}", jump=jump)
        ask(book, f"undefined.instance.left-by-{name}", "TIR-221 TIR-213 TIR-214 TIR-215", text, *calls)


def _threads(book):
    """Blocks around a barrier, under detectors: what is declared, what comes behind, and races in loops."""
    params = 'n: T.int32, A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")'
    frame = f'S = T.alloc_buffer((8,), "int32", scope="shared")\nfor t in T.thread_binding(8, thread="threadIdx.x"):\n    S[t] = A[t]\n    {SYNC}\n'
    a, out = series((8,)), new([8], "int32")
    t = np.arange(8)
    body = f'    with T.sblock("B"):\n        vt = T.axis.opaque(8, t)\n        T.reads(S[0:4], B[vt])\n        T.writes(B[vt])\n        L = T.sblock_alloc_buffer((1,), "int32", scope="local")\n        L[0] = S[vt % 4]\n        {SYNC}\n        B[vt] = L[0]\n        {SYNC}\n        B[vt] = B[vt] + «S[3 + n]» + 1\n    B[t] = B[t] * 10 + S[7 - t]'
    calls = [
        ([0, a, out], [K, ((a[t % 4] + a[3] + 1) * 10 + a[::-1]).astype(np.int32)]),
        ([1, a, out], REGION),
        ([4, a, out], REGION),
    ]
    ask(
        book,
        "undefined.instance.threads-region",
        "TIR-221 TIR-227",
        tir(params, frame + body),
        *calls,
        needs=["threads"],
    )
    for name, jump in (("break", "break"), ("continue", "continue")):
        body = f'    B[t] = 0\n    for k in range(3):\n        with T.sblock("B"):\n            vt = T.axis.opaque(8, t)\n            T.reads(S[0:4], B[vt])\n            T.writes(B[vt])\n            {SYNC}\n            if k == n:\n                {jump}\n            B[vt] = B[vt] + S[k]\n            if n == 77:\n                B[vt] = «S[7]»\n    B[t] = B[t] * 10 + S[7 - t]'
        calls = []
        for n in (0, 1, 5):
            kept = [k for k in range(3) if (k < n if name == "break" else k != n)]
            calls.append(([n, a, out], [K, (sum(int(a[k]) for k in kept) * 10 + a[::-1]).astype(np.int32)]))
        calls.append(([77, a, out], REGION))
        ask(
            book,
            f"undefined.instance.threads-left-by-{name}",
            "TIR-221 TIR-227",
            tir(params, frame + body),
            *calls,
            needs=["threads"],
        )
    body = f"    B[t] = 0\n    for k in range(3):\n        B[t] = B[t] + S[(t + k) % 8]\n        {SYNC}\n    if n > 0:\n        S[(t + 1) % 8] = B[t]\n    B[t] = B[t] + «S[t]»"
    wanted = sum(a[(t + k) % 8] for k in range(3)) + a
    calls = [([0, a, out], [K, wanted.astype(np.int32)]), ([1, a, out], RACE)]
    ask(
        book, "undefined.instance.threads-race", "TIR-225 TIR-227", tir(params, frame + body), *calls, needs=["threads"]
    )


def _shared(book):
    """Shared memory that threads allocate within a block that does not declare it."""
    params = 'n: T.int32, A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")'
    body = f'for t in T.thread_binding(8, thread="threadIdx.x"):\n    with T.sblock("B"):\n        vt = T.axis.opaque(8, t)\n        T.reads(A[vt])\n        T.writes(B[vt])\n        S = T.sblock_alloc_buffer((8,), "int32", scope="shared")\n        S[vt] = A[vt]\n        {SYNC}\n        B[vt] = S[7 - vt] + «A[(vt + n) % 8]»'
    a, out = series((8,)), new([8], "int32")
    calls = [([0, a, out], [K, a + a[::-1]]), ([1, a, out], REGION)]
    ask(
        book,
        "undefined.instance.threads-memory",
        "TIR-219 TIR-221 TIR-227",
        tir(params, body),
        *calls,
        needs=["threads"],
    )


def _forgotten(book):
    """Storing `T.undef()` is a write: it must be declared."""
    params = 'n: T.int32, A: T.Buffer((4,), "int32"), R: T.Buffer((2,), "int32")'
    body = 'for i in range(1):\n    with T.sblock("B"):\n        v = T.axis.spatial(1, i)\n        T.reads(A[0:4])\n        T.writes(R[1])\n        «R[n] = T.undef()\n        R[1] = A[3]'
    out = i32(8, 9)
    calls = [
        ([1, series((4,)), out], [K, i32(8, 24)]),
        ([0, series((4,)), out], REGION),
        ([2, series((4,)), out], undefined("RM304")),
        ([-1, series((4,)), out], undefined("RM304")),
    ]
    ask(book, "undefined.instance.undef-region", "TIR-307 TIR-221", tir(params, body), *calls)
