"""Threads of a block that need each other: what they leave in memory, worked out by hand or by NumPy."""

from pathlib import Path

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.ir.threads import exchanges
from refmlc.lang.wellformed.reader_checks import read, read_file
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.machine import Machine

PROGRAMS = Path(__file__).parents[3] / "programs"
HEAD = "from tvm.script import tirx as T\n\n\n@T.prim_func\n"
PARAMS = 'A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")'
THREADS = 'for t in T.thread_binding(8, thread="threadIdx.x"):'
SYNC = 'T.tvm_storage_sync("shared")'
INPUT = np.arange(8, dtype="float32")


def run(body, params=PARAMS, module=None):
    module = module or read(f"{HEAD}def main({params}):{body}", "case.py")
    target = np.full(8, -1, "float32")
    Machine(module).call("main", (INPUT.copy(), target))
    return target.tolist()


def code(body):
    with pytest.raises(RefmlcError) as caught:
        run(body)
    return caught.value.code.id


EXCHANGE = """
    S = T.alloc_buffer((8,), "float32", scope="shared")
    {threads}
        S[t] = A[t]
        {between}
        B[t] = S[7 - t]
"""
REVERSED = INPUT[::-1].tolist()


@pytest.mark.parametrize("between", [SYNC, "pass"])
def test_threads_exchange_through_shared_memory_with_a_barrier_and_with_an_implied_one(between):
    assert run(EXCHANGE.format(threads=THREADS, between=between)) == REVERSED


@pytest.mark.parametrize("between", [SYNC, "pass"])
@pytest.mark.parametrize(
    ("threads", "written"), [("2, 6", (2, 3, 4, 5)), ("1, 7, step=2", (1, 3, 5)), ("1, 6, step=2", (1, 3, 5))]
)
def test_the_variable_of_threads_that_wait_begins_and_moves_as_the_loop_says(threads, written, between):
    loop = f'for t in T.thread_binding({threads}, thread="threadIdx.x"):'
    expected = np.full(8, -1, "float32")
    expected[list(written)] = INPUT[list(written)]
    body = f"""
    S = T.alloc_buffer((8,), "float32", scope="shared")
    {loop}
        S[t] = A[t]
        {between}
        for k in range(1):
            B[t] = S[t]
"""
    assert run(body) == expected.tolist()


def test_threads_that_wait_have_a_positive_step():
    body = f"""
    S = T.alloc_buffer((8,), "float32", scope="shared")
    for t in T.thread_binding(0, 8, thread="threadIdx.x", step=T.int32(2) - T.int32(2)):
        S[t] = A[t]
        {SYNC}
        B[t] = S[t]
"""
    assert code(body) == "RM315"


def test_shared_memory_that_threads_allocate_is_one_for_the_block():
    body = f"""
    {THREADS}
        S = T.alloc_buffer((8,), "float32", scope="shared")
        S[t] = A[t]
        {SYNC}
        B[t] = S[7 - t]
"""
    assert run(body) == REVERSED


def test_the_last_thread_sees_what_the_first_one_wrote_in_the_iteration_before():
    body = f"""
    S = T.alloc_buffer((8,), "float32", scope="shared")
    {THREADS}
        S[t] = A[t]
        for k in range(3):
            {SYNC}
            B[t] = S[(t + 1) % 8]
            {SYNC}
            S[t] = B[t]
"""
    assert run(body) == np.roll(INPUT, -3).tolist()
    implied = body.replace(SYNC, "pass")
    assert run(implied) == np.roll(INPUT, -3).tolist()


def test_private_memory_outside_of_threads_keeps_what_each_thread_wrote_over_a_barrier():
    body = f"""
    S = T.alloc_buffer((8,), "float32", scope="shared")
    L = T.alloc_buffer((1,), "float32", scope="local")
    M = T.decl_buffer((1,), "float32", data=L.data, scope="local")
    {THREADS}
        L[0] = A[t]
        S[t] = A[t]
        {SYNC}
        B[t] = M[0] + S[0]
"""
    assert run(body) == INPUT.tolist()


def test_private_memory_begins_with_what_was_written_outside():
    body = f"""
    L = T.alloc_buffer((2,), "float32", scope="local")
    L[0] = T.float32(5)
    {THREADS}
        L[1] = A[t]
        L[0] = L[0] + L[1]
        B[t] = L[0]
"""
    assert run(body) == (INPUT + 5).tolist()
    assert code(body + "    B[0] = L[1]\n") == "RM504"
    assert code(body + "    L[0] = A[0]\n") == "RM504"


def test_nested_axes_meet_as_one_block():
    body = f"""
    S = T.alloc_buffer((8,), "float32", scope="shared")
    for y in T.thread_binding(2, thread="threadIdx.y"):
        for x in T.thread_binding(4, thread="threadIdx.x"):
            S[y * 4 + x] = A[y * 4 + x]
            {SYNC}
            B[y * 4 + x] = S[7 - y * 4 - x]
"""
    assert run(body) == REVERSED


ALLREDUCE = """
    R = T.alloc_buffer((1,), "float32", scope="local")
    for y in T.thread_binding(2, thread="threadIdx.y"):
        for x in T.thread_binding(4, thread="threadIdx.x"):
            with T.attr(T.comm_reducer(lambda a, b: a + b, [T.float32(0)]), "reduce_scope", 0):
                T.tvm_thread_allreduce(T.uint32(1), A[y * 4 + x], {condition}, R[0], {axes})
            B[y * 4 + x] = R[0]
"""


@pytest.mark.parametrize(
    ("condition", "axes", "expected"),
    [
        ("T.bool(True)", "x", [6] * 4 + [22] * 4),
        ("T.bool(True)", "y", [4, 6, 8, 10] * 2),
        ("T.bool(True)", "x, y", [28] * 8),
        ("x > 1", "x", [5] * 4 + [13] * 4),
    ],
)
def test_a_reduction_over_threads_goes_to_each_of_them(condition, axes, expected):
    assert run(ALLREDUCE.format(condition=condition, axes=axes)) == expected


def test_threads_that_part_before_a_barrier():
    parted = f"""
    S = T.alloc_buffer((8,), "float32", scope="shared")
    {THREADS}
        S[t] = A[t]
        for k in range({{count}}):
            {SYNC}
        B[t] = S[t]
"""
    assert run(parted.format(count=2)) == INPUT.tolist()
    assert code(parted.format(count="t")) == "RM327"


def test_other_barriers_are_unsupported():
    assert code(EXCHANGE.format(threads=THREADS, between='T.tvm_storage_sync("global")')) == "RM504"


def test_a_barrier_without_threads_waits_for_nobody():
    assert run(f"\n    {SYNC}\n    B[0] = A[1]\n")[0] == 1.0


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (EXCHANGE.format(threads=THREADS, between=SYNC), True),
        (EXCHANGE.format(threads=THREADS, between="pass"), True),
        (EXCHANGE.format(threads=THREADS, between="pass").replace("shared", "global"), False),
        (EXCHANGE.format(threads="for t in range(8):", between="pass"), False),
        (ALLREDUCE.format(condition="T.bool(True)", axes="x"), True),
        (f"\n    {THREADS}\n        B[t] = A[t]\n", False),
    ],
)
def test_which_functions_need_their_threads_together(body, expected):
    module = read(f"{HEAD}def main({PARAMS}):{body}", "case.py")
    (func,) = module.functions.values()
    assert exchanges(func) is expected


def test_a_softmax_that_tvm_lowered_for_threads():
    module = read_file(PROGRAMS / "printed_gpu_softmax.py")
    x = np.random.default_rng(1).standard_normal((4, 100)).astype("float32")
    out = np.zeros_like(x)
    Machine(module).call("main", (x, out))
    exponents = np.exp(x.astype("float64") - x.max(axis=1, keepdims=True))
    assert np.allclose(out, exponents / exponents.sum(axis=1, keepdims=True), rtol=1e-5)


@pytest.mark.soak
def test_a_kernel_that_tvm_lowered_multiplies_matrices():
    module = read_file(PROGRAMS / "printed_gpu_lowered.py")
    rng = np.random.default_rng(1)
    a, b, c = (rng.integers(0, 8, (64, 64)).astype("float32") for _ in range(3))
    Machine(module).call("main", (a, b, c))
    assert c.tolist() == (a @ b).tolist()


BLOCK = """
    S = T.alloc_buffer((8,), "float32", scope="shared")
    for t in T.thread_binding(8, thread="threadIdx.x"):
        with T.sblock("exchange"):
            v = T.axis.spatial(8, t)
            T.where({where})
            T.reads(A[0:8])
            T.writes(B[v])
            S[v] = A[v]
            T.tvm_storage_sync("shared")
            B[v] = S[7 - v]
"""


class Blocks(Hooks):
    """Counts the instances of blocks that begin, and those that end."""

    def __init__(self):
        self.begun, self.ended = [], 0

    def enter_block(self, site, frame):
        self.begun.append(site.node.block.name)

    def leave_block(self, site, frame):
        self.ended += 1


def exchanged(where, hooks=None):
    """What threads that meet within a block leave behind."""
    target = np.full(8, -1, "float32")
    module = read(f"{HEAD}def main({PARAMS}):{BLOCK.format(where=where)}", "case.py")
    Machine(module, **({} if hooks is None else {"hooks": hooks})).call("main", (INPUT.copy(), target))
    return target.tolist()


def test_threads_meet_within_a_block_whether_it_is_watched_or_not():
    hooks = Blocks()
    assert exchanged("t >= 0") == exchanged("t >= 0", hooks) == REVERSED
    assert (hooks.begun, hooks.ended) == (["exchange"] * 8, 8)


def test_a_block_in_which_threads_meet_is_left_out_where_its_condition_is_false():
    hooks = Blocks()
    assert exchanged("t < 0", hooks) == [-1] * 8
    assert (hooks.begun, hooks.ended) == ([], 0)


def test_a_loop_around_a_barrier_with_a_negative_extent_is_refused_at_its_place():
    body = f"""
    S = T.alloc_buffer((8,), "float32", scope="shared")
    {THREADS}
        for i in range(T.Cast("int32", A[0]) - 3):
            S[t] = A[t]
            {SYNC}
            B[t] = S[7 - t]
"""
    with pytest.raises(RefmlcError) as caught:
        run(body)
    found = caught.value.diagnostic
    assert (found.code.id, found.message, found.span.line) == ("RM315", "the extent of loop `i` is -3", 8)
