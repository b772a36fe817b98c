"""TensorIR by hand: indices whose loops seem to say that they are in bounds; results that are not as declared."""

import numpy as np
from calls_outside import called
from calls_packed import module, typed
from calls_threads import EIGHT, SYNC, simple as of_threads
from hand import K, ask, f32, i32, new, tir, trap, undefined
from tir_usual import FOUR

ROWS = np.arange(8, dtype=np.int32).reshape(2, 4) * 3 + 1


def scopes(book):
    """Bounds by loops and constants, names, private memory beside barriers, values of calls."""
    rows(book)
    symbolic(book)
    constant(book)
    names(book)
    beside(book)
    declared(book)


def rows(book):
    """A loop that leaves the row: the element of the next row is not meant."""
    params = 'A: T.Buffer((2, 4), "int32"), R: T.Buffer((1,), "int32")'
    loops = {
        "one-more": "range(5)",
        "from-one": "T.serial(1, 5)",
        "from-three": "T.serial(3, 5)",
        "unrolled": "T.unroll(5)",
        "last-only": "T.serial(4, 5)",
    }
    for name, loop in loops.items():
        text = tir(params, f"R[0] = 0\nfor j in {loop}:\n    R[0] = R[0] + «A[0, j]»")
        ask(book, f"undefined.scope.load-{name}", "TIR-006", text, ([ROWS, new([1], "int32")], undefined("RM304")))
        text = tir(params, f"R[0] = 0\nfor j in {loop}:\n    «A[0, j] = j»")
        ask(book, f"undefined.scope.store-{name}", "TIR-006", text, ([ROWS, new([1], "int32")], undefined("RM304")))
    below = {"below": "T.serial(-1, 3)", "below-only": "T.serial(-2, 0)"}
    for name, loop in below.items():
        text = tir(params, f"R[0] = 0\nfor j in {loop}:\n    R[0] = R[0] + «A[1, j]»")
        ask(book, f"undefined.scope.load-{name}", "TIR-006", text, ([ROWS, new([1], "int32")], undefined("RM304")))
    inside = {"whole": "range(4)", "from-one": "T.serial(1, 4)", "part": "T.serial(1, 3)", "none": "T.serial(3, 3)"}
    for name, loop in inside.items():
        first, stop = {"whole": (0, 4), "from-one": (1, 4), "part": (1, 3), "none": (3, 3)}[name]
        text = tir(
            params, f"R[0] = 0\nfor i, j in T.grid(2, 1):\n    pass\nfor j in {loop}:\n    R[0] = R[0] * 7 + A[1, j]"
        )
        total = 0
        for value in ROWS[1, first:stop]:
            total = total * 7 + int(value)
        ask(book, f"tir.scope.{name}", "TIR-006 TIR-203", text, ([ROWS, new([1], "int32")], [K, i32(total)]))


def symbolic(book):
    """Loops whose extent is a variable, over axes whose extent is one."""
    head = """
@T.prim_func(s_tir=True)
def main(a: T.handle, b: T.handle, R: T.Buffer((8,), "int32")):
    n = T.int32()
    m = T.int32()
    A = T.match_buffer(a, (2, n), "int32")
    B = T.match_buffer(b, (m,), "int32")
    for i in range(8):
        R[i] = -1
    for j in range({}):
        {}
"""
    out = new([8], "int32")
    flat = ROWS.reshape(8)
    for name, extent, statement, n, m in (
        ("load", "m", "R[j] = «A[0, j]» + B[j]", 4, 5),
        ("store", "m", "«A[0, j] = B[j]»", 4, 5),
        ("other-load", "n", "R[j] = A[0, j] + «B[j]»", 4, 3),
        ("fixed", "m", "R[j + 4] = A[0, j] + «B[j + 1]»", 4, 4),
    ):
        args = [flat[: 2 * n].reshape(2, n), flat[:m], out]
        text = head.format(extent, statement)
        ask(book, f"undefined.scope.symbolic-{name}", "TIR-006 TIR-004", text, (args, undefined("RM304")))
    text = head.format("m", "R[j] = A[1, j] * 100 + B[j]")
    calls = []
    for n, m in ((4, 4), (4, 2), (3, 0)):
        row = np.full(8, -1, np.int32)
        row[:m] = flat[n : n + m] * 100 + flat[:m]
        calls.append(([flat[: 2 * n].reshape(2, n), flat[:m], out], [K, K, row]))
    ask(book, "tir.scope.symbolic", "TIR-006 TIR-004", text, *calls)
    sizes = tir(
        'n: T.int32, A: T.Buffer((2, 4), "int32"), R: T.Buffer((2,), "int32")',
        "for j in range(n):\n    R[0] = «A[0, j]»\nR[1] = 5",
    )
    ask(
        book,
        "undefined.scope.by-a-parameter",
        "TIR-006",
        sizes,
        ([typed(5, "int32"), ROWS, new([2], "int32")], undefined("RM304")),
        ([typed(4, "int32"), ROWS, new([2], "int32")], [K, i32(ROWS[0, 3], 5)]),
    )


def constant(book):
    """Indices that are constants, the first beyond among them; ranks from none to four."""
    params = 'A: T.Buffer((2, 4), "int32"), R: T.Buffer((1,), "int32")'
    for name, index in (("beyond", "0, 4"), ("far", "0, 5"), ("below", "1, -1"), ("first-axis", "2, 0")):
        text = tir(params, f"R[0] = «A[{index}]»")
        ask(book, f"undefined.scope.constant-{name}", "TIR-006", text, ([ROWS, new([1], "int32")], undefined("RM304")))
    text = tir(params, "R[0] = A[0, 3] * 100 + A[1, 0]")
    ask(book, "tir.scope.constant", "TIR-006", text, ([ROWS, new([1], "int32")], [K, i32(1013)]))
    shapes = {0: (), 1: (5,), 2: (2, 3), 3: (2, 3, 2), 4: (2, 1, 3, 2), 5: (1, 2, 2, 1, 3)}
    for rank, shape in shapes.items():
        count = int(np.prod(shape))
        names = "ijklm"[:rank]
        spelled = ", ".join(names) if rank else "()"
        a = (np.arange(count, dtype=np.int32) ** 2 - 7).reshape(shape)
        turned = ", ".join(reversed(names)) if rank else "()"
        weight = " + ".join(f"{name} * {10**k}" for k, name in enumerate(names)) or "0"
        store = f"R[{turned}] = A[{spelled}] + {weight}"
        body = f"for {', '.join(names)} in T.grid({', '.join(map(str, shape))}):\n    {store}" if rank > 1 else store
        body = f"for i in range(5):\n    {store}" if rank == 1 else body
        expected = np.zeros(shape[::-1], np.int32)
        for at in np.ndindex(*shape):
            expected[at[::-1]] = a[at] + sum(k * 10**e for e, k in enumerate(at))
        params = f'A: T.Buffer({shape}, "int32"), R: T.Buffer({shape[::-1]}, "int32")'
        text = tir(params, body)
        ask(
            book,
            f"tir.scope.rank-{rank}",
            "TIR-006 TIR-005",
            text,
            ([a, new(list(shape[::-1]), "int32")], [K, expected]),
        )


def names(book):
    """Variables of one name; what a loop leaves."""
    body = """
for i in range(2):
    for j in range(2):
        R[i * 2 + j] = A[i] * 10 + j
    for j in range(2, 4):
        R[i * 2 + j] = R[i * 2 + j - 2] + j
for i in range(2):
    R[i] = R[i] + i * 1000
    for j in range(3):
        if j == 1:
            continue
        if i == 1:
            break
        R[4 + j] = R[i] + j
"""
    expected = [0] * 8
    a = [3, 7]
    for i in range(2):
        for j in range(2):
            expected[i * 2 + j] = a[i] * 10 + j
        for j in range(2, 4):
            expected[i * 2 + j] = expected[i * 2 + j - 2] + j
    for i in range(2):
        expected[i] += i * 1000
        for j in (0, 2):
            if i == 0:
                expected[4 + j] = expected[i] + j
    params = 'A: T.Buffer((2,), "int32"), R: T.Buffer((8,), "int32")'
    text = tir(params, "for k in range(8):\n    R[k] = 0\n" + body.strip("\n"))
    ask(book, "tir.scope.names", "TIR-203 TIR-213 TIR-214", text, ([i32(*a), new([8], "int32")], [K, i32(*expected)]))
    nested = "x = T.int32()\ny = T.int32()\nz = T.int32()\nfor i in range(4):\n    R[i] = T.Let(T.Let(x * y, where={y: x + 1}), where={x: A[i]}) + T.Let(z, where={z: i})"
    text = tir('A: T.Buffer((4,), "int32"), R: T.Buffer((4,), "int32")', nested)
    ask(book, "tir.scope.let-in-let", "TIR-111", text, ([i32(1, 2, 3, -4), new([4], "int32")], [K, i32(2, 7, 14, 15)]))


def beside(book):
    """Private memory of threads that wait for each other; loops after them."""
    body = f"""
L = T.alloc_buffer((2,), "float32", scope="local")
L[1] = T.float32(100)
for t in T.thread_binding(8, thread="threadIdx.x"):
    L[0] = A[t]
    {SYNC}
    B[t] = L[0] + L[1]
"""
    of_threads(book, "tir.threads.private-and-barrier", "TIR-208 TIR-227", body, EIGHT + 100)
    again = f"""
L = T.alloc_buffer((1,), "float32", scope="local")
for t in T.thread_binding(8, thread="threadIdx.x"):
    L[0] = A[t]
    {SYNC}
for t in T.thread_binding(8, thread="threadIdx.x"):
    {SYNC}
    B[t] = L[0]
"""
    of_threads(book, "tir.threads.private-kept-beside-barriers", "TIR-208 TIR-227", again, EIGHT)
    view = f"""
L = T.alloc_buffer((2,), "float32", scope="local")
V = T.decl_buffer((1, 2), "float32", data=L.data, scope="local")
for t in T.thread_binding(8, thread="threadIdx.x"):
    V[0, 1] = A[t]
    {SYNC}
    B[t] = L[1] * T.float32(2)
"""
    of_threads(book, "tir.threads.view-and-barrier", "TIR-208 TIR-227", view, EIGHT * 2)
    second = f"""
S = T.alloc_buffer((8,), "float32", scope="shared")
for t in T.thread_binding(8, thread="threadIdx.x"):
    B[t] = A[t]
    {SYNC}
for t in T.thread_binding(8, thread="threadIdx.x"):
    S[t] = B[t] * T.float32(3)
    {SYNC}
    B[t] = S[7 - t]
"""
    of_threads(book, "tir.threads.a-second-group", "TIR-227", second, EIGHT[::-1] * 3)
    after = f"""
for t in T.thread_binding(8, thread="threadIdx.x"):
    B[t] = A[t]
    {SYNC}
S = T.alloc_buffer((8,), "float32", scope="shared")
for i in range(8):
    S[i] = A[7 - i]
for i in range(8):
    B[i] = B[i] + S[i]
"""
    of_threads(book, "tir.threads.shared-after-a-group", "TIR-227 TIR-206", after, EIGHT + EIGHT[::-1])


def declared(book):
    """Values that are not of the dtype that a call declares."""
    out = 'R: T.Buffer((1,), "float32")'
    maybe = ("maybe", "n: T.int32", "if n > 0:\n    T.ret(n * 2)", "T.int32")
    main = ("main", 'n: T.int32, R: T.Buffer((1,), "int32")', "R[0] = 0\nR[0] = «Module.maybe(n)»")
    ask(
        book,
        "trap.call.no-value",
        "TIR-117 TIR-308",
        module(main, maybe),
        ([typed(0, "int32"), new([1], "int32")], trap("RM404")),
        ([typed(3, "int32"), new([1], "int32")], i32(6)),
    )
    for name, dtype, value, expected in (
        ("whole", "float32", "T.int64(-3)", -3),
        ("most", "float16", "T.int64(65504)", 65504),
        ("least", "float16", "T.int64(-65504)", -65504),
        ("rounded", "float16", "T.float64(2049)", 2048),
    ):
        give = ("give", "", called("give") + f"T.ret({value})", value.split("(")[0])
        main = ("main", out, f'R[0] = T.Cast("float32", T.call_extern("{dtype}", "give"))')
        ask(
            book,
            f"tir.extern.declared-{name}",
            "TIR-342 TIR-117",
            module(main, give),
            ([new([1], "float32")], f32(expected)),
        )
    for name, dtype, value in (("lanes", "float32x4", "T.float32(1)"),):
        give = ("give", "", called("give") + f"T.ret({value})", value.split("(")[0])
        call = f'«T.call_extern("{dtype}", "give")»'
        body = f'R[0] = T.Cast("float32", {call})' if name != "lanes" else f"R[0] = T.Shuffle([{call}], [1])"
        ask(
            book,
            f"trap.extern.declared-{name}",
            "TIR-342 TIR-117",
            module(("main", out, body), give),
            ([new([1], "float32")], trap("RM404")),
        )
    nothing = (
        "nothing",
        'p: T.handle("float32")',
        called("nothing") + 'P = T.decl_buffer((4,), "float32", data=p)\nP[0] = T.float32(8)',
    )
    main = ("main", 'A: T.Buffer((4,), "float32")', 'T.evaluate(T.call_extern("int32", "nothing", A.data))')
    ask(book, "tir.extern.nothing", "TIR-342 TIR-212", module(main, nothing), ([FOUR], f32(8, 2, 3, 4)))
