"""Races and proxies around copies of boxes, worked out by hand (TIA-042, TIA-032)."""

import numpy as np
import pytest

from refmlc.lang.script import read
from refmlc.observe.sanitize import sanitize

HEAD = """@T.prim_func
def main(A: T.Buffer((64,), "int32"), B: T.Buffer((64,), "int32")):
    a: T.let[T.TensorMap()] = T.tvm_stack_alloca("tensormap", 1)
    T.call_packed("runtime.cuTensorMapEncodeTiled", a, "int32", 2, A.data, 8, 8, 32, 8, 8, 1, 1, 0, 0, 0, 0)
    b: T.let[T.TensorMap()] = T.tvm_stack_alloca("tensormap", 1)
    T.call_packed("runtime.cuTensorMapEncodeTiled", b, "int32", 2, B.data, 8, 8, 32, 8, 8, 1, 1, 0, 1, 0, 0)
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([64])
    S = T.alloc_shared((64,), "int32")
    bar = T.alloc_shared((1,), "uint64")
"""
START = "if t == 0:\n    T.ptx.mbarrier.init.shared.b64(bar.data, T.uint32(1))"
EXPECT = "T.ptx.mbarrier.arrive.expect_tx.shared.b64(bar.data, T.uint32(256))"
TO_SHARED = "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes"
LOAD = f'if t == 0:\n    {EXPECT}\n    T.ptx["{TO_SHARED}"](S.data, T.address_of(a), 0, {{row}}, bar.data)'
STORE = (
    'if t == 0:\n    T.ptx["cp.async.bulk.tensor.2d.global.shared::cta.bulk_group"](T.address_of(b), 0, {row}, S.data)'
)
END = "if t == 0:\n    T.ptx.cp.async_.bulk.commit_group()\n    T.ptx.cp.async_.bulk.wait_group(0)"
WAIT, BLOCK, FENCE = "T.cuda.mbarrier_wait(bar.data, 0)", "T.cuda.cta_sync()", "T.ptx.fence.proxy.async_()"
WRITE, READ = "S[t] = A[t]", "B[t] = S[63 - t]"
SHARED, GLOBAL = LOAD.format(row=0), STORE.format(row=0)


def found(*statements):
    lines = [line for part in statements for line in part.split("\n")]
    text = HEAD + "".join(f"    {line}\n" for line in lines)
    report = sanitize(read(text, "case.py"), "main", [np.arange(64, dtype="int32"), np.zeros(64, "int32")])
    return {code for code, number in report.counts.items() if number} or report.verdict


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ((START, BLOCK, SHARED, WAIT, READ), "defined"),
        ((START, BLOCK, SHARED, "if t == 0:\n    " + WAIT, BLOCK, READ), "defined"),
        ((START, BLOCK, SHARED, "if t < 32:\n    " + WAIT, READ), {"RM321"}),
        ((START, BLOCK, "A[t] = 5", BLOCK, SHARED, WAIT, READ), {"RM344"}),
        ((START, BLOCK, "A[t] = 5", FENCE, BLOCK, SHARED, WAIT, READ), "defined"),
        ((START, BLOCK, "if t < 16:\n    A[t] = 5", BLOCK, LOAD.format(row=2), WAIT, READ), "defined"),
        ((START, BLOCK, "A[t] = 5", FENCE, SHARED, WAIT, READ), {"RM321"}),
        ((WRITE, FENCE, BLOCK, GLOBAL, END), "defined"),
        ((WRITE, BLOCK, GLOBAL, END), {"RM344"}),
        ((WRITE, FENCE, GLOBAL, END), {"RM305"}),
        ((WRITE, FENCE, BLOCK, GLOBAL, END, "if t == 0:\n    B[5] = 1"), "defined"),
        ((WRITE, FENCE, BLOCK, GLOBAL, "if t == 0:\n    B[5] = 1", END), {"RM341"}),
        ((WRITE, FENCE, BLOCK, STORE.format(row=6), "if t == 0:\n    B[5] = 1", END), "defined"),
        ((WRITE, FENCE, BLOCK, GLOBAL, END, "if t == 1:\n    B[5] = 1"), {"RM321"}),
        ((WRITE, FENCE, BLOCK, GLOBAL, END, BLOCK, "if t == 1:\n    B[5] = 1"), "defined"),
    ],
)
def test_faults_around_copies_of_boxes(statements, expected):
    assert found(*statements) == expected
