"""Threads that wait, as loops: what is taken gives the interpreter's bits, what is not is refused by name."""

import re

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import FLOAT32
from refmlc.lang.ir import IRModule
from refmlc.lang.wellformed.reader_checks import read
from refmlc.native.analysis.turns import turns
from refmlc.run.memory.tensor import Tensor
from refmlc.vm import VirtualMachine, build

HEAD = """# from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer((8,), "float32"), X: T.Buffer((8,), "float32"), n: T.int32):
"""
THREADS = """    for t in T.thread_binding(8, thread="threadIdx.x"):
        with T.sblock("threads"):
            T.reads()
            T.writes()
            S = T.sblock_alloc_buffer((8,), scope="shared")
            L = T.sblock_alloc_buffer((1,), scope="local")
"""
WORDS = {
    "BARRIER": 'T.tvm_storage_sync("shared")',
    "SUM": 'T.attr(T.comm_reducer(lambda x, y: x + y, [T.float32(0)]), "reduce_scope", 0)',
    "MAX": 'T.attr(T.comm_reducer(lambda x, y: T.max(x, y), [T.min_value("float32")]), "reduce_scope", 0)',
    "SCALED": 'T.attr(T.comm_reducer(lambda x, y: x + y * A[0], [T.float32(0)]), "reduce_scope", 0)',
}
TAKEN = """
# another thread's element
S[t] = A[t]
BARRIER
X[t] = S[7 - t]
# a barrier of warps
S[t] = A[t]
T.tvm_storage_sync("warp")
X[t] = S[7 - t]
# no barrier in the text
S[t] = A[t]
X[t] = S[7 - t]
# a loop that turns
for k in range(2):
    X[7 - t] = S[0]
    BARRIER
    S[0] = A[0]
    X[0] = S[t]
# a loop of a size that the call decides
for k in range(n):
    S[t] = A[t]
    BARRIER
    X[t] = S[7 - t]
    BARRIER
# a branch of all threads
S[t] = A[t]
if n < 5:
    BARRIER
    X[t] = S[7 - t]
else:
    X[t] = A[t]
# a branch that only some threads take
S[t] = A[t]
if A[t] < T.float32(0):
    BARRIER
    X[t] = S[7 - t]
# a loop until a value of each thread
L[0] = T.float32(0)
while L[0] < T.float32(3):
    S[t] = A[t] + L[0]
    BARRIER
    X[t] = S[7 - t]
    BARRIER
    L[0] = L[0] + T.float32(1)
# a sum
L[0] = A[t]
with SUM:
    T.tvm_thread_allreduce(T.uint32(1), L[0], T.bool(True), L[0], t)
X[t] = L[0]
# a maximum of some threads
L[0] = A[t]
with MAX:
    T.tvm_thread_allreduce(T.uint32(1), L[0], t < 3, L[0], t)
X[t] = L[0]
# a reducer that reads memory
L[0] = A[t]
with SCALED:
    T.tvm_thread_allreduce(T.uint32(1), L[0], T.bool(True), L[0], t)
X[t] = L[0]
# a block around a barrier
S[t] = A[t]
with T.sblock("inner"):
    v = T.axis.spatial(8, t)
    T.reads()
    T.writes()
    Q = T.sblock_alloc_buffer((1,), scope="local")
    Q[0] = S[v]
    BARRIER
    X[v] = Q[0] + S[7 - v]
# a block that reduces
with T.sblock("inner"):
    v = T.axis.reduce(8, t)
    T.reads(A[v])
    T.writes(X[0])
    with T.init():
        X[0] = T.float32(0)
    X[0] = X[0] + A[v]
# an attribute around a barrier
with T.attr(0, "pragma_x", 1):
    S[t] = A[t]
    BARRIER
    X[t] = S[7 - t]
# a value across a barrier
v: T.let = A[t] * T.float32(2)
S[t] = A[t]
BARRIER
X[t] = S[7 - t] + v
# a narrow index across a barrier
v: T.let = T.Cast("int8", t)
S[t] = A[t]
BARRIER
X[t] = S[7 - T.Cast("int32", v)]
"""
LEFT = """
# a loop in parallel: which is parallel
for k in T.parallel(2):
    S[t] = A[t]
    BARRIER
    X[t] = S[7 - t]
# a break: is left early
for k in range(2):
    S[t] = A[t]
    BARRIER
    if S[0] < T.float32(0):
        break
    X[t] = S[7 - t]
# a return: ends early
S[t] = A[t]
BARRIER
if A[t] < T.float32(9):
    T.evaluate(T.ret(0))
X[t] = S[7 - t]
# a barrier of all blocks: barrier of scope global
S[t] = A[t]
T.tvm_storage_sync("global")
X[t] = S[7 - t]
# a reduction over no axis: in a way of their own
L[0] = A[t]
with SUM:
    T.tvm_thread_allreduce(T.uint32(1), L[0], T.bool(True), L[0], n)
X[t] = L[0]
# no reducer: in a way of their own
L[0] = A[t]
T.tvm_thread_allreduce(T.uint32(1), L[0], T.bool(True), L[0], t)
X[t] = L[0]
# a vector: is a float32x4
v: T.let = T.Broadcast(A[t], 4)
S[t] = A[t]
BARRIER
X[t] = S[7 - t]
# a packed call: calls `call_packed`
S[t] = A[t]
T.evaluate(T.call_packed("f", S[t]))
BARRIER
X[t] = S[7 - t]
# a predicate: with a predicate
S[t] = A[t]
with T.sblock("inner"):
    v = T.axis.spatial(8, t)
    T.where(t < 4)
    T.reads()
    T.writes()
    BARRIER
    X[v] = S[7 - v]
# shared memory of some threads: not all of them pass
if t < 4:
    with T.sblock("inner"):
        T.reads()
        T.writes()
        Q = T.sblock_alloc_buffer((1,), scope="shared")
        Q[0] = A[t]
        X[t] = Q[0]
BARRIER
S[t] = A[t]
"""
AROUND_TAKEN = """
# threads of a launch
b = T.launch_thread("blockIdx.x", 2)
S = T.alloc_buffer((8,), scope="shared")
t = T.launch_thread("threadIdx.x", 8)
S[t] = A[t]
BARRIER
X[t] = S[7 - t]
# two groups of threads in a block, with memory of each thread
for b in T.thread_binding(1, thread="blockIdx.x"):
    with T.sblock("outer"):
        T.reads()
        T.writes()
        S = T.sblock_alloc_buffer((8,), scope="shared")
        L = T.sblock_alloc_buffer((1,), scope="local")
        for t in T.thread_binding(8, thread="threadIdx.x"):
            L[0] = A[t]
            S[t] = A[t]
        for t in T.thread_binding(8, thread="threadIdx.x"):
            X[t] = S[7 - t] + L[0]
# a loop and a branch around threads in a block
for b in T.thread_binding(1, thread="blockIdx.x"):
    for r in range(2):
        if n < 5:
            for t in T.thread_binding(8, thread="threadIdx.x"):
                X[t] = A[7 - t] + T.Cast("float32", r)
        else:
            X[0] = A[0]
# a kernel beside plain statements
X[0] = A[1]
for b in T.thread_binding(2, thread="blockIdx.x"):
    for t in T.thread_binding(4, thread="threadIdx.x"):
        X[b * 4 + t] = A[7 - t]
# an axis inside itself
for b in T.thread_binding(2, thread="blockIdx.x"):
    for c in T.thread_binding(2, thread="blockIdx.x"):
        for t in T.thread_binding(8, thread="threadIdx.x"):
            X[t] = A[t] + T.Cast("float32", c)
"""
AROUND = """
# private memory outside: is touched outside of them
for b in T.thread_binding(1, thread="blockIdx.x"):
    with T.sblock("outer"):
        T.reads()
        T.writes()
        L = T.sblock_alloc_buffer((8,), scope="local")
        L[0] = A[0]
        for t in T.thread_binding(8, thread="threadIdx.x"):
            X[t] = L[0]
# memory of threads of two kinds: private to threads of different axes
for b in T.thread_binding(1, thread="blockIdx.x"):
    with T.sblock("outer"):
        T.reads()
        T.writes()
        L = T.sblock_alloc_buffer((1,), scope="local")
        for t in T.thread_binding(8, thread="threadIdx.x"):
            L[0] = A[t]
            X[t] = L[0]
        for u in T.thread_binding(2, thread="threadIdx.y"):
            L[0] = A[u]
# a block with a view around threads: with an init or a view
for b in T.thread_binding(1, thread="blockIdx.x"):
    with T.sblock("outer"):
        T.reads(A[0:8])
        T.writes(X[0:8])
        M = T.match_buffer(A[0:8], (8,))
        for t in T.thread_binding(8, thread="threadIdx.x"):
            X[t] = M[t]
# memory of two kernels: in one kernel and elsewhere
L = T.sblock_alloc_buffer((8,), scope="local")
for t in T.thread_binding(8, thread="threadIdx.x"):
    L[t] = A[t]
for t in T.thread_binding(8, thread="threadIdx.x"):
    X[t] = L[t]
# a loop around a kernel: launches a kernel more than once
for r in range(2):
    for t in T.thread_binding(8, thread="threadIdx.x"):
        X[t] = A[7 - t]
# more in a block: more than to launch
for b in T.thread_binding(2, thread="blockIdx.x"):
    X[b] = A[b]
    for c in T.thread_binding(2, thread="blockIdx.y"):
        X[b + c] = A[b]
"""


def programs(text):
    """The body of each program by its title."""
    for word, meaning in WORDS.items():
        text = re.sub(rf"\b{word}\b", lambda _match, meaning=meaning: meaning, text)
    parts = (part.split("\n", 1) for part in text.strip("\n# ").split("\n# "))
    return dict(parts)


def function(body, head=HEAD + THREADS, indent=12):
    return read(head + "".join(f"{' ' * indent}{line}\n" for line in body.strip("\n").split("\n")), "kernel.py")["main"]


def outcome(func, tier):
    """The bits that a call leaves, or the code of its failure."""
    args = [np.random.default_rng(3).standard_normal(8).astype(np.float32), Tensor.empty((8,), FLOAT32), 3]
    try:
        VirtualMachine(build(IRModule({"main": func}), tier=tier))["main"](*args)
    except RefmlcError as failure:
        return failure.code.id
    return args[1].array.tobytes(), args[1].shadow.tobytes()


@pytest.mark.parametrize(("title", "body"), programs(TAKEN).items())
def test_threads_are_loops_with_the_same_bits(title, body):
    func = function(body)
    loops, reason = turns(func)
    assert (loops is not func, reason) == (True, ""), title
    assert outcome(func, "native") == outcome(func, "interp")


@pytest.mark.parametrize(("title", "body"), programs(AROUND_TAKEN).items())
def test_kernels_are_loops_with_the_same_bits(title, body):
    func = function(body, HEAD, 4)
    loops, reason = turns(func)
    assert (loops is not func, reason) == (True, ""), title
    assert outcome(func, "native") == outcome(func, "interp")


@pytest.mark.parametrize(("title", "body"), programs(LEFT).items())
def test_what_is_not_seen_to_be_the_same_is_refused_by_name(title, body):
    func = function(body)
    loops, reason = turns(func)
    assert loops is func
    assert title.partition(": ")[2] in reason
    assert outcome(func, "native") == outcome(func, "interp")


@pytest.mark.parametrize(("title", "body"), programs(AROUND).items())
def test_what_surrounds_threads_is_refused_by_name(title, body):
    func = function(body, HEAD, 4)
    loops, reason = turns(func)
    assert loops is func
    assert title.partition(": ")[2] in reason
    assert outcome(func, "native") == outcome(func, "interp")


def test_memory_of_one_iteration_is_not_read_together_with_the_next_one():
    text = """# from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for t in T.thread_binding(8, thread="threadIdx.x"):
        B[t] = A[t]
        for k in range(3):
            S = T.alloc_buffer((8,), "float32", scope="shared")
            S[t] = A[t]
            T.tvm_storage_sync("shared")
            B[t] = B[t] + S[(t + k) % 8]
"""
    func = read(text)["main"]
    left, reason = turns(func)
    assert left is func
    assert reason == "`S` of one iteration is read together with the next one"
