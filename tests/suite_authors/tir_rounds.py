"""TensorIR by hand: loops of every form, jumps out of them, axes of threads within each other.

What a loop leaves is what the same loop of Python leaves (`counted`, `jumps`).
"""

import numpy as np
from hand import K, ask, i32, new, tir, trap, undefined
from tir_elements import ONE, series

EXTENT = undefined("RM315")


def rounds(book):
    _counted(book)
    _jumps(book)
    _returns(book)
    _axes(book)
    _asserted(book)
    book.write("rounds", "Loops and jumps, axes of threads within each other.")


def counted(first, stop, step):
    """How many rounds, the sum of the variable, and its last value."""
    values = range(first, stop, step)
    return i32(len(values), sum(values), values[-1] if values else -1)


def _counted(book):
    params = 'a: T.int32, b: T.int32, s: T.int32, R: T.Buffer((3,), "int32")'
    body = "R[0] = 0\nR[1] = 0\nR[2] = -1\n«for i in T.{kind}:\n    R[0] = R[0] + 1\n    R[1] = R[1] + i\n    R[2] = i"
    out = new([3], "int32")
    rows = [(0, 7, 1), (1, 8, 3), (-7, 8, 3), (5, 6, 9), (3, 3, 2), (-4, -1, 2), (2, 9, 7), (2, 10, 7)]
    long = [(0, 4095, 1), (0, 4096, 1), (3, 4100, 1), (-5, 8192, 1), (0, 8193, 2), (7, 20001, 4), (1, 12290, 3)]
    bad = [([*row, out], EXTENT) for row in ((0, 4, 0), (0, 4, -1), (0, -1, 1), (5, 3, 2), (0, 0, 0))]
    text = tir(params, body.format(kind="serial(a, b, step=s)"))
    ask(book, "undefined.rounds.step", "TIR-203", text, *bad)
    for step in sorted({step for _, _, step in (*rows, *long)} - {1}):
        text = tir(params, body.format(kind=f"serial(a, b, step={step})").replace("«", ""))
        calls = [([*row, out], counted(*row)) for row in (*rows, *long) if row[2] == step]
        ask(book, f"tir.rounds.step-{step}", "TIR-203", text, *calls)
    text = tir(params, body.format(kind="serial(a, b)"))
    plain = [row for row in (*rows, *long) if row[2] == 1]
    bad = [([*row, out], EXTENT) for row in ((0, -1, 1), (5, 4, 1), (-3, -4, 1))]
    ask(book, "undefined.rounds.plain", "TIR-203", text, *(([*row, out], counted(*row)) for row in plain), *bad)
    text = tir(
        params,
        "R[0] = 0\nR[1] = 3\nR[2] = 2\nfor i in T.serial(R[0], R[1] * 2, step=2):\n    R[0] = R[0] + 50\n    R[1] = i\n    R[2] = 5",
    )
    ask(book, "tir.rounds.bounds-once", "TIR-203", text, ([0, 0, 0, out], i32(150, 4, 5)))
    body = "R[0] = 0\nR[1] = 0\nR[2] = 0\nfor i, j, k in T.grid(a, b, s):\n    R[0] = R[0] + 1\n    R[1] = R[1] * 3 + i * 2 + j - k\n    R[2] = R[2] + i * 100 + j * 10 + k"
    calls = []
    for row in ((2, 3, 2), (1, 1, 4), (2, 0, 3), (0, 1, 1), (3, 2, 1)):
        found = [0, 0, 0]
        for i, j, k in np.ndindex(*row):
            found = [found[0] + 1, found[1] * 3 + i * 2 + j - k, found[2] + i * 100 + j * 10 + k]
        calls.append(([*row, out], i32(*found)))
    ask(book, "tir.rounds.grid", "TIR-203", tir(params, body), *calls)


JUMPS = """for i in range(6):
    n[0] = 0
    while n[0] < 9:
        n[0] = n[0] + 1
        if n[0] == A[i]:
            break
        if n[0] % 2 == 0:
            continue
        R[i] = R[i] + n[0]
        for j in range(4):
            if j == A[5 - i]:
                break
            if j == 1:
                continue
            R[i] = R[i] + 100
    if A[i] == 4:
        continue
    R[i] = R[i] + 10000
    if A[i] == 7:
        break
R[6] = n[0]"""


def jumps(a):
    """The same in Python."""
    found, n = [0] * 7, 0
    for i in range(6):
        n = 0
        while n < 9:
            n += 1
            if n == a[i]:
                break
            if n % 2 == 0:
                continue
            found[i] += n
            for j in range(4):
                if j == a[5 - i]:
                    break
                if j == 1:
                    continue
                found[i] += 100
        if a[i] == 4:
            continue
        found[i] += 10000
        if a[i] == 7:
            break
    found[6] = n
    return i32(*found)


def _jumps(book):
    params = 'A: T.Buffer((6,), "int32"), R: T.Buffer((7,), "int32")'
    head = 'n = T.alloc_buffer((1,), "int32")\nfor i in range(7):\n    R[i] = 0\n'
    rows = ((0, 1, 2, 3, 4, 5), (9, 4, 3, 7, 1, 2), (7, 0, 0, 0, 0, 0), (4, 4, 4, 4, 4, 4), (8, 6, 3, 2, 0, 10))
    calls = [([i32(*row), new([7], "int32")], [K, jumps(row)]) for row in rows]
    ask(book, "tir.rounds.jumps", "TIR-213 TIR-214 TIR-204 TIR-203", tir(params, head + JUMPS), *calls)
    body = "for i in range(7):\n    R[i] = 0\nfor i in range(3):\n    for j in range(5):\n        if j == A[i]:\n            {}\n        R[i] = R[i] + 1\n    R[i + 4] = i * 10 + R[i]"
    for name, per in (("break", lambda a: a if 0 <= a < 5 else 5), ("continue", lambda a: 5 - (0 <= a < 5))):
        calls = []
        for row in ((0, 2, 4), (5, 4, 1), (3, 3, -1)):
            got = [per(a) for a in row]
            calls.append(
                ([i32(*row, 0, 0, 0), new([7], "int32")], [K, i32(*got, 0, *(i * 10 + g for i, g in enumerate(got)))])
            )
        ask(book, f"tir.rounds.{name}-inner", "TIR-213 TIR-214", tir(params, body.format(name)), *calls)
    body = 'n = T.alloc_buffer((1,), "int32")\nn[0] = A[0]\nR[0] = 0\nwhile n[0] > 0:\n    R[0] = R[0] + n[0]\n    for j in range(3):\n        R[0] = R[0] + 100\n    n[0] = n[0] - 2\nfor i in range(6):\n    R[i + 1] = n[0]'
    for_n = {0: 0, 1: 301, 2: 302, 5: 909, -3: 0}
    calls = []
    for n, total in for_n.items():
        left = n if n <= 0 else n - 2 * -(-n // 2)
        calls.append(([i32(n, 0, 0, 0, 0, 0), new([7], "int32")], [K, i32(total, *[left] * 6)]))
    ask(book, "tir.rounds.while", "TIR-204", tir(params, body), *calls)


RETURN = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((6,), "int32"), R: T.Buffer((3,), "int32")):
        R[0] = T.call_packed("find", A, A[0])
        R[1] = T.call_packed("find", A, A[1])
        R[2] = T.call_packed("find", A, A[2] + 100)

    @T.prim_func(s_tir=True)
    def find(A: T.Buffer((6,), "int32"), x: T.int32) -> T.int32:
        T.func_attr({"global_symbol": "find"})
        for i in range(2):
            for j in range(2):
                if A[i * 2 + j + 2] == x:
                    T.ret(i * 10 + j)
            while x == A[5] - i:
                T.ret(70 + i)
        T.ret(-1)
"""


def _returns(book):
    calls = []
    for row in ((3, 9, 1, 2, 3, 7), (5, 4, 5, 8, 4, 6), (8, 7, 1, 1, 1, 8), (6, 5, 0, 0, 0, 7)):

        def find(x, row=row):
            for i in range(2):
                for j in range(2):
                    if row[i * 2 + j + 2] == x:
                        return i * 10 + j
                if x == row[5] - i:
                    return 70 + i
            return -1

        found = [find(row[0]), find(row[1]), find(row[2] + 100)]
        calls.append(([i32(*row), new([3], "int32")], [K, i32(*found)]))
    ask(book, "tir.rounds.return", "TIR-215", RETURN, *calls)


THREADS = 'n: T.int32, A: T.Buffer((4,), "int32"), R: T.Buffer((4,), "int32")'


def _axes(book):
    """One axis twice, within itself and after itself; virtual threads, which always iterate; variables of axes."""
    a, out = series((4,)), new([4], "int32")
    for name, outer, inner in (
        ("binding", 'for i in T.thread_binding(4, thread="{}"):', '«for j in T.thread_binding(n, thread="{}"):'),
        ("launch", 'with T.launch_thread("{}", 4) as i:', '«with T.launch_thread("{}", n) as j:'),
        ("mixed", 'with T.launch_thread("{}", 4) as i:', '«for j in T.thread_binding(n, thread="{}"):'),
    ):
        for tag in ("threadIdx.x", "blockIdx.y"):
            body = f"{outer.format(tag)}\n    {inner.format(tag)}\n        R[i] = A[j] + i * 100"
            calls = [([4, a, out], [K, a + i32(0, 100, 200, 300)]), ([3, a, out], EXTENT), ([5, a, out], EXTENT)]
            stem = f"undefined.rounds.axis-twice-{name}-{tag[:5]}"
            ask(book, stem, "TIR-208", tir(THREADS, body), *calls, needs=["threads"])
    body = 'for i in T.thread_binding(4, thread="threadIdx.x"):\n    R[i] = A[i]\nfor i in T.thread_binding(n, thread="threadIdx.x"):\n    R[i] = R[i] + i * 10'
    calls = [([n, a, out], [K, a + i32(*(i * 10 if i < n else 0 for i in range(4)))]) for n in (0, 2, 3)]
    ask(book, "tir.rounds.axis-again", "TIR-208", tir(THREADS, body), *calls, needs=["threads"])
    body = 'for i in range(4):\n    R[i] = 0\nfor i in T.thread_binding(2, thread="vthread"):\n    for j in T.thread_binding(n, thread="vthread"):\n        R[i * 2 + j % 2] = R[i * 2 + j % 2] + A[j] + i * 100'
    calls = []
    for n in (1, 2, 4):
        found = [0] * 4
        for i in range(2):
            for j in range(n):
                found[i * 2 + j % 2] += int(a[j]) + i * 100
        calls.append(([n, a, out], [K, i32(*found)]))
    ask(book, "tir.rounds.virtual", "TIR-208", tir(THREADS, body), *calls, needs=["threads"])
    body = 'tx = T.env_thread("threadIdx.x")\nbx = T.env_thread("blockIdx.x")\nfor i in range(4):\n    R[i] = -1\nwith T.launch_thread(bx, 2):\n    with T.launch_thread(tx, n):\n        R[bx * 2 + tx] = A[bx * 2 + tx] + bx * 1000 + tx * 100'
    calls = [
        ([1, a, out], [K, i32(3, -1, 1017, -1)]),
        ([2, a, out], [K, i32(3, 110, 1017, 1124)]),
        ([0, a, out], [K, i32(-1, -1, -1, -1)]),
    ]
    ask(book, "tir.rounds.env-thread", "TIR-208", tir(THREADS, body), *calls, needs=["threads"])
    body = 'for i in range(4):\n    R[i] = -1\n«with T.launch_thread("threadIdx.x", n) as t:\n    R[t] = A[t] + t'
    calls = [([3, a, out], [K, i32(3, 11, 19, -1)]), ([0, a, out], [K, i32(-1, -1, -1, -1)]), ([-1, a, out], EXTENT)]
    ask(book, "undefined.rounds.launch", "TIR-208 TIR-203", tir(THREADS, body), *calls, needs=["threads"])
    body = 'with T.launch_thread("blockIdx.x", T.int64(4)) as b:\n    R[b] = A[T.int64(3) - b] + T.Cast("int32", b) * n'
    ask(
        book,
        "tir.rounds.launch-int64",
        "TIR-208",
        tir(THREADS, body),
        ([100, a, out], [K, a[::-1] + i32(0, 100, 200, 300)]),
        needs=["threads"],
    )


def _asserted(book):
    """An assertion without a text, and one in the branch that is not taken."""
    params = 'A: T.Buffer((1,), "int32"), R: T.Buffer((1,), "int32")'
    for name, body in (
        ("empty", '«assert A[0] != 0, ""»\nR[0] = A[0]'),
        ("branch", 'if A[0] < 5:\n    «assert A[0] != 0, "zero"»\n    R[0] = A[0]\nelse:\n    R[0] = A[0]'),
        ("kind", '«assert A[0] != 0, ("ValueError", ["of ", "two parts"])»\nR[0] = A[0]'),
    ):
        calls = [([i32(n), ONE], [K, i32(n)]) for n in (1, 7, -2)]
        ask(book, f"trap.rounds.assert-{name}", "TIR-202", tir(params, body), *calls, ([i32(0), ONE], trap("RM401")))
