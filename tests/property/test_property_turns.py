"""Threads in C: as serial loops they give what the interpreter gives, to the bit, on kernels of drawn sizes."""

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
SERIAL = {
    "each thread reads what another one stored",
    "a round for each iteration",
    "memory of its own for each thread, of one index",
    "what is not initialised",
    "some threads store",
}


@pytest.mark.parametrize("name", BODIES)
def test_threads_as_written_by_hand(name):
    func = read(HEAD + THREADS + BODIES[name], "kernel.py")["main"]
    serial = in_turns(func)
    assert is_serial(serial) == (name in SERIAL), serial.script()
    assert outcome(serial) == outcome(func)
    assert outcome(func, "native") == outcome(func)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "        S[t] = A[t]\n",
            '        S[t] = A[t]\n        T.tvm_storage_sync("shared")\n',
        ),  # barriers in the text
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
