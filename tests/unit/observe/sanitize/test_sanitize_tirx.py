"""Races between threads of a kernel of TIRx, worked out by hand (TIR-225, TIX-005, TIX-007)."""

import numpy as np
import pytest

from refmlc.lang.script import read
from refmlc.observe.sanitize import sanitize

HEAD = """@T.prim_func
def main(A: T.Buffer((64,), "int32"), B: T.Buffer((64,), "int32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([64])
    w = T.warp_id()
    l = T.lane_id([32])
    S = T.alloc_shared((64,), "int32")
"""
COPY = "Tx.cta.copy(S, A)"
BLOCK, WARP = "T.cuda.cta_sync()", "T.cuda.warp_sync()"
OWN, PARTNER, FAR = "B[t] = S[t]", "B[t] = S[w * 32 + 31 - l]", "B[t] = S[63 - t]"
REGISTERS = "R = T.alloc_local((64,), 'int32', layout=T.TileLayout(T.S[(64,) : (1 @ Axis.tx,)]))\n"


def found(*statements):
    text = HEAD + "".join(f"    {line}\n" for statement in statements for line in statement.split("\n"))
    arguments = [np.arange(64, dtype="int32"), np.zeros(64, "int32")]
    report = sanitize(read(text, "case.py"), "main", arguments)
    return {code for code, count in report.counts.items() if count} or report.verdict


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        (("S[t] = A[t]", OWN), "defined"),
        (("S[t] = A[t]", BLOCK, FAR), "defined"),
        (("S[t] = A[t]", FAR, BLOCK), {"RM305"}),
        (("S[t] = A[t]", WARP, PARTNER), "defined"),
        (("S[t] = A[t]", WARP, PARTNER, "S[t] = 0"), {"RM321"}),
        (("S[t] = A[t]", WARP, PARTNER, WARP, "S[t] = 0"), "defined"),
        (("S[t] = A[t]", WARP, BLOCK, FAR, WARP, "S[t] = 0"), {"RM321"}),
        ((COPY, BLOCK, FAR), "defined"),
        ((COPY, OWN), {"RM321"}),
        ((COPY, "Tx.cta.add(S, S, T.int32(1))", "Tx.cta.copy(B, S)"), "defined"),
        (("S[t] = A[t]", "Tx.cta.copy(B, S)"), {"RM321"}),
        (("S[t] = A[t]", BLOCK, "Tx.cta.copy(B, S)"), "defined"),
        ((f"{REGISTERS}{COPY}", BLOCK, "Tx.cta.copy(R, S)", "S[t] = 0"), "defined"),  # its owner reads each element
    ],
)
def test_races_of_threads_and_tile_primitives(statements, expected):
    assert found(*statements) == expected


WIDE = """@T.prim_func
def main(A: T.Buffer((2,), "uint32"), B: T.Buffer((4,), "float16")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([{threads}])
    S = T.alloc_shared((4,), "float16")
    r = T.alloc_local((2,), "uint32")
    T.ptx.ld.global_.v2.u32(r[0], r[1], A.ptr_to([0]))
    T.ptx.st.shared.v2.u32(T.address_of(S[0]), r[0], r[1])
    for vec in T.vectorized(4):
        S[vec] = S[vec] + T.float16(1)
    for i in range(4):
        B[i] = S[i]
"""


@pytest.mark.parametrize(("threads", "expected"), [(1, False), (2, True)])
def test_elements_of_an_access_that_was_wider_are_apart(threads, expected):
    arguments = [np.arange(2, dtype="uint32"), np.zeros(4, "float16")]
    report = sanitize(read(WIDE.format(threads=threads), "case.py"), "main", arguments)
    assert bool(report.counts.get("RM321", 0)) is expected
