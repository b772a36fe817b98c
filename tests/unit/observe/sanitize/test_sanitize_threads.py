"""What the detectors say of threads that wait for each other, worked out by hand."""

import numpy as np
import pytest

from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.sanitize import sanitize

HEAD = "from tvm.script import tirx as T\n\n\n@T.prim_func\n"
PARAMS = 'A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")'
THREADS = 'for t in T.thread_binding(8, thread="threadIdx.x"):'
SHARED = 'S = T.alloc_buffer((8,), "float32", scope="shared")'
SYNC = 'T.tvm_storage_sync("shared")'


def found(body):
    arguments = [np.arange(8, dtype="float32"), np.zeros(8, "float32")]
    report = sanitize(read(f"{HEAD}def main({PARAMS}):{body}", "case.py"), "main", arguments)
    return {code for code, count in report.counts.items() if count} or report.verdict


def lines(*statements):
    return "\n    " + "\n    ".join((SHARED, THREADS, *(f"    {statement}" for statement in statements))) + "\n"


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        (("S[t] = A[t]", SYNC, "B[t] = S[7 - t]"), "defined"),
        (("S[t] = A[t]", "B[t] = S[7 - t]"), "defined"),  # the barrier is implied
        (("S[t] = A[t]", SYNC, "B[t] = S[7 - t]", "S[t] = B[t]"), {"RM321"}),
        (("S[t] = A[t]", SYNC, "B[t] = S[7 - t]", SYNC, "S[t] = B[t]"), "defined"),
        (("S[0] = T.float32(1)", "B[t] = S[0]"), "defined"),  # all write the same
        (("S[0] = A[t]", "B[t] = S[0]"), {"RM321"}),
        (("S[t] = A[t]", "S[t] = S[t] + A[t]", "B[t] = S[7 - t]"), "defined"),
        (("if t < 4:", "    S[t] = A[t]", "B[t] = S[t % 4]"), "defined"),
        (("if t < 4:", "    S[t] = A[t]", SYNC, "B[t] = S[t]"), {"RM305"}),
        (("S[t] = A[t]", "if t < 4:", f"    {SYNC}"), {"RM327"}),
        (("B[t] = A[t]", "S[t] = B[7 - t]"), {"RM321"}),  # no implied barrier orders memory of scope global
        (("B[t] = A[t]", SYNC, "S[t] = B[7 - t]"), "defined"),
    ],
)
def test_threads_of_a_block(statements, expected):
    assert found(lines(*statements)) == expected


def test_blocks_do_not_wait_for_each_other():
    body = f"""
    for b in T.thread_binding(2, thread="blockIdx.x"):
        for t in T.thread_binding(4, thread="threadIdx.x"):
            B[b * 4 + t] = A[t]
            {SYNC}
            A[(b * 4 + t + {{shift}}) % 8] = B[b * 4 + t]
"""
    assert found(body.format(shift=0)) == {"RM321"}
    assert found(body.format(shift=4).replace("A[t]", "A[0]")) == {"RM321"}
    assert found(body.format(shift=0).replace("= A[t]", "= A[b * 4 + t]")) == "defined"


def test_a_block_around_threads_declares_what_they_do_with_their_own_memory():
    body = """
    with T.sblock("outer"):
        T.reads(A[0:8])
        T.writes(B[0:8])
        L = T.sblock_alloc_buffer((1,), "float32", scope="local")
        for t in T.thread_binding(8, thread="threadIdx.x"):
            with T.sblock("fill"):
                v = T.axis.spatial(8, t)
                T.reads(A[v])
                T.writes(L[0])
                L[0] = A[v]
        for o in range(1):
            with T.sblock("inner"):
                T.reads(L[{region}])
                T.writes(B[0:8])
                for t in T.thread_binding(8, thread="threadIdx.x"):
                    B[t] = L[0]
"""
    assert found(body.format(region=0)) == "defined"
    assert found(body.format(region="0:0")) == {"RM318"}


@pytest.mark.parametrize(("sync", "expected"), [(SYNC, "defined"), ("pass", {"RM321"})])
def test_axes_of_an_opaque_block_that_threads_bind_may_wait_for_each_other(sync, expected):
    body = f"""
    for t in T.thread_binding(8, thread="threadIdx.x"):
        with T.sblock("attention"):
            v = T.axis.spatial(8, t)
            T.reads()
            T.writes()
            S = T.sblock_alloc_buffer((8,), "float32", scope="shared")
            S[v] = A[v]
            {SYNC}
            B[v] = S[7 - v]
            {sync}
            S[v] = B[v]
"""
    assert found(body) == expected
