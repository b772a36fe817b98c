"""Threads in C: as serial loops they give what the interpreter gives, to the bit, on kernels of drawn sizes.

Threads that wait for each other are drawn too (`programs`), races included: the order of turns is fixed (TIR-227). Each
guard of `refmlc.native.analysis.rounds` is taken away in a test, and the comparison sees it.
"""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from kernels import blocked, window
from step_applications import applied

from refmlc.diag import RefmlcError, Unsupported
from refmlc.lang.dtypes import FLOAT32
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.visit import walk
from refmlc.lang.wellformed.module import check_module
from refmlc.lang.wellformed.reader_checks import read
from refmlc.native.analysis.rounds import Rounds
from refmlc.native.analysis.turns import in_turns
from refmlc.run.memory.tensor import Tensor
from refmlc.vm import VirtualMachine, build

SETTINGS = settings(max_examples=16, deadline=None)


def is_serial(func):
    return not any(isinstance(node, tir.ThreadVar) for node in walk(func.body))


def outcome(func, tier="interp", given=3):
    """The bits of the last parameter, or the code of the failure."""
    *inputs, last = func.buffer_map.values()
    random = np.random.default_rng(given)
    args = [random.standard_normal([size.value for size in one.shape], np.float32) for one in inputs]
    target = Tensor.empty(tuple(size.value for size in last.shape), FLOAT32)
    try:
        VirtualMachine(build(IRModule({"main": func}), tier=tier))["main"](*args, target)
    except RefmlcError as failure:
        return failure.code.id
    return target.array.tobytes(), target.shadow.tobytes()


def taken(text, steps):
    func = read(text, "kernel.py")["main"]
    for step in steps:
        try:
            func = applied(func, *step)
        except Unsupported:
            break
    return func


@SETTINGS
@given(st.integers(1, 40), st.integers(1, 8), st.integers(3, 7))
def test_a_window_in_turns(n, threads, count):
    text, steps = window(n, threads)
    func = taken(text, steps[:count])
    serial = in_turns(func)
    assert is_serial(serial) or steps[count - 1][0] == "cache_read"  # then shared memory is written outside
    assert check_module(IRModule({"main": serial})) == (), serial.script()
    assert outcome(serial) == outcome(func)


@SETTINGS
@given(st.integers(1, 2), st.integers(1, 2), st.integers(1, 2), st.sampled_from((1, 2, 4)), st.integers(10, 23))
def test_tiles_in_turns(blocks, local, threads, tile, count):
    text, steps = blocked(blocks * local * threads, local, threads, tile, 1)
    func = taken(text, steps[:count])
    serial = in_turns(func)
    assert is_serial(serial) or steps[count - 1][0] == "cache_read"
    assert outcome(serial) == outcome(func)


HEAD = """# from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer((8,), "float32"), X: T.Buffer((8,), "float32")):
    S = T.sblock_alloc_buffer((8,), "float32", scope="shared")
    L = T.sblock_alloc_buffer((8,), "float32", scope="local")
"""
THREADS = '    for t in T.thread_binding(8, thread="threadIdx.x"):\n'
BODIES = {
    "each thread reads what another one stored": """        S[t] = A[t]
        X[t] = S[7 - t]
""",
    "a round for each iteration": """        L[t] = A[t]
        for k in range(3):
            S[t] = L[t] * T.float32(2)
            L[t] = S[7 - t] + A[k]
        X[t] = L[t]
""",
    "memory of its own for each thread, of one index": """        L[0] = A[t]
        X[t] = L[0] + A[7 - t]
""",
    "what is not initialised": """        S[t // 2] = A[t]
        X[t] = S[t]
""",
    "threads that wait, and write what others read": """        S[t] = A[t]
        X[(t + 1) % 8] = S[7 - t]
        X[t] = S[t]
""",
    "some threads store": """        if t < 4:
            S[t] = A[t]
        X[t] = S[t // 2]
""",
    "one for each index and fetched together": """        L[0] = A[t]
        S[t] = L[0]
        X[t] = S[7 - t] + L[0]
""",
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_threads_as_written_by_hand(name):
    func = read(HEAD + THREADS + BODIES[name], "kernel.py")["main"]
    serial = in_turns(func)
    assert is_serial(serial), serial.script()
    assert outcome(serial) == outcome(func)
    assert outcome(func, "native") == outcome(func)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        S[t] = A[t]\n", '        S[t] = A[t]\n        T.tvm_storage_sync("shared")\n        T.ret(0)\n'),
        ("    for t", "    S[0] = A[0]\n    for t"),  # shared memory written outside of the kernel, and read in it
        ("        X[t] =", '        for u in T.thread_binding(8, thread="threadIdx.y"):\n            X[t] ='),
    ],
)
def test_what_is_left_to_the_interpreter(old, new):
    text = HEAD + THREADS + BODIES["each thread reads what another one stored"]
    assert old in text
    func = read(text.replace(old, new, 1), "kernel.py")["main"]
    assert in_turns(func) is func
    assert outcome(func, "native") == outcome(func)


def test_a_loop_around_a_kernel_is_left():
    inner = "".join(f"    {line}\n" for line in (THREADS + BODIES["a round for each iteration"]).splitlines())
    func = read(f"{HEAD}    for r in range(2):\n{inner}", "kernel.py")["main"]
    assert in_turns(func) is func
    assert outcome(func, "native") == outcome(func)


PROGRAM = """# from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer((8,), "float32"), N: T.Buffer((8,), "float32"), X: T.Buffer((8,), "float32")):
    for b in T.thread_binding(2, thread="blockIdx.x"):
        for u in T.thread_binding(2, thread="threadIdx.y"):
            for t in T.thread_binding(4, thread="threadIdx.x"):
                with T.sblock("block"):
                    T.reads()
                    T.writes()
                    S = T.sblock_alloc_buffer((8,), scope="shared")
                    L = T.sblock_alloc_buffer((4,), scope="local")
                    C = T.sblock_alloc_buffer((4,), "int32", scope="local")
"""
START = ("S[u * 4 + t] = A[u * 4 + t]", "L[t] = A[t]", "L[0] = A[t + u]", "L[1] = A[t]", "X[u * 4 + t] = A[t]")
BARRIER = 'T.tvm_storage_sync("shared")'
REDUCE = (
    'with T.attr(T.comm_reducer(lambda x, y: x + y, [T.float32(0)]), "reduce_scope", 0):',
    "    T.tvm_thread_allreduce(T.uint32(1), L[{}], T.bool(True), L[{}], {})",
)
PLACES = ("u * 4 + t", "7 - u * 4 - t", "(u * 4 + t + 1) % 8", "t", "b", "0")
UNIFORM = ("N[0] < T.float32(0)", "b < 1", "C[0] == 0")
DIVERGING = ("t < 2", "u < 1", "A[t] < T.float32(0)")
EXTENTS = ("2", "3", "b + 1", 'T.Cast("int32", T.max(N[0], T.float32(0)))')


@st.composite
def lines(draw, depth, name="k"):
    """Statements of a thread. Racing, diverging and uninitialised ones among them."""
    out = []
    for at in range(draw(st.integers(1, 4))):
        place, other = draw(st.sampled_from(PLACES)), draw(st.sampled_from(PLACES))
        inner = f"{name}{at}"
        kinds = ["shared", "local", "global", "bind", "barrier", "barrier", "reduce"] + ["for", "if", "while"] * (
            depth > 0
        )
        match draw(st.sampled_from(kinds)):
            case "shared":
                out.append(f"S[{place}] = S[{other}] + L[{draw(st.integers(0, 1))}]")
            case "local":
                out.append(f"L[{draw(st.integers(0, 1))}] = S[{other}] * T.float32(0.5)")
            case "global":
                out.append(f"X[{place}] = L[0] + S[{other}]")
            case "bind":
                out += [f"v_{inner}: T.let = S[{other}]", f"L[1] = L[1] + v_{inner}"]
                out += [BARRIER, f"S[{place}] = v_{inner}"] if draw(st.booleans()) else []
            case "barrier":
                out.append(BARRIER)
            case "reduce":
                axes = draw(st.sampled_from(("t", "u", "u, t", "t, u")))
                out += [REDUCE[0], REDUCE[1].format(draw(st.integers(0, 1)), draw(st.integers(0, 1)), axes)]
            case "for":
                out.append(f"for {inner} in range({draw(st.sampled_from(EXTENTS))}):")
                out += indented(draw(lines(depth - 1, inner)))
            case "if":
                conditions = UNIFORM + DIVERGING * draw(st.booleans())
                out.append(f"if {draw(st.sampled_from(conditions))}:")
                out += indented(draw(lines(depth - 1, inner)))
            case "while":
                counter = f"C[{3 - depth}]"
                out += [f"{counter} = 0", f"while {counter} < {draw(st.integers(1, 3))}:"]
                out += indented([*draw(lines(depth - 1, inner)), f"{counter} = {counter} + 1"])
    return out


def indented(body):
    return [f"    {line}" for line in body]


def program(body):
    return read(PROGRAM + "".join(f"{20 * ' '}{line}\n" for line in ("C[0] = b", *START, BARRIER, *body)), "kernel.py")[
        "main"
    ]


@settings(max_examples=60, deadline=None)
@given(lines(2))
def test_threads_that_wait_are_the_same_in_loops_and_in_c(body):
    func = program(body)
    expected = outcome(func)
    assert outcome(func, "native") == expected
    serial = in_turns(func)
    if serial is not func:
        assert check_module(IRModule({"main": serial})) == (), serial.script()
    if serial is not func and isinstance(expected, tuple):
        assert outcome(serial) == expected, serial.script()


FIXED = {
    "what other threads stored": [BARRIER, "X[u * 4 + t] = S[7 - u * 4 - t]"],
    "a value of each thread across a barrier": ["v: T.let = S[u * 4 + t]", BARRIER, "X[u * 4 + t] = v"],
    "a page at a time": [
        "for k in range(3):",
        "    S[u * 4 + t] = L[1]",
        f"    {BARRIER}",
        "    L[1] = S[7 - u * 4 - t] + A[k]",
        "X[u * 4 + t] = L[1]",
    ],
    "a sum over threads": [REDUCE[0], REDUCE[1].format(1, 0, "t"), "X[u * 4 + t] = L[0]"],
    "a loop until a value of the thread": [
        "C[1] = 0",
        "while C[1] < 2:",
        f"    {BARRIER}",
        "    S[u * 4 + t] = A[t + C[1]]",
        f"    {BARRIER}",
        "    X[u * 4 + t] = S[7 - u * 4 - t]",
        "    C[1] = C[1] + 1",
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", FIXED)
def test_threads_that_wait_as_written_by_hand(name):
    func = program(FIXED[name])
    serial = in_turns(func)
    assert is_serial(serial)
    assert isinstance(outcome(func), tuple)
    assert outcome(serial) == outcome(func) == outcome(func, "native")


def without_meetings(rounds):
    rounds._meetings += 1


def of_first_thread(rounds, array):
    return rounds._of_first(array)


@pytest.mark.parametrize(
    ("name", "guard", "fault"),
    [
        ("what other threads stored", "_meet", without_meetings),
        ("a value of each thread across a barrier", "_of_thread", of_first_thread),
        ("a page at a time", "_compare", lambda _rounds, _stmt: None),
        ("a sum over threads", "_meet", without_meetings),
    ],
)
def test_each_guard_is_needed(monkeypatch, name, guard, fault):
    func = program(FIXED[name])
    expected = outcome(func)
    assert outcome(in_turns(func)) == expected
    monkeypatch.setattr(Rounds, guard, fault)
    serial = in_turns(func)
    assert is_serial(serial)
    assert outcome(serial) != expected
