"""Memory of a scope `global.TAG` is global memory: what one launch writes another one reads. TIR-208."""

import numpy as np
import pytest

import refmlc
from refmlc.observe.bounds.certify import certify
from refmlc.observe.sanitize import sanitize

TWO_LAUNCHES = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    with T.sblock("root"):
        B = T.sblock_alloc_buffer((8,), scope="SCOPE")
        for bx in T.thread_binding(2, thread="blockIdx.x"):
            for tx in T.thread_binding(4, thread="threadIdx.x"):
                with T.sblock("B"):
                    vi = T.axis.spatial(8, bx * 4 + tx)
                    B[vi] = A[vi] + T.float32(1)
        for bx in T.thread_binding(2, thread="blockIdx.x"):
            for tx in T.thread_binding(4, thread="threadIdx.x"):
                with T.sblock("C"):
                    vi = T.axis.spatial(8, bx * 4 + tx)
                    C[vi] = B[7 - vi] * T.float32(2)
"""
LOWERED = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,), "float32", scope="SCOPE")
    with T.launch_thread("threadIdx.x", 8) as tx:
        B[tx] = A[tx] + T.float32(1)
    with T.launch_thread("threadIdx.x", 8) as ty:
        C[ty] = B[7 - ty] * T.float32(2)
"""
EXPECTED = [16, 14, 12, 10, 8, 6, 4, 2]
SCOPES = ("global", "global.texture", "global.texture-nhwc", "global.vtcm")
TEXTS = pytest.mark.parametrize("text", [TWO_LAUNCHES, LOWERED], ids=["blocks", "lowered"])


def arguments():
    return [np.arange(8, dtype="float32"), np.zeros(8, "float32")]


def module_of(text, scope):
    return refmlc.read(text.replace("SCOPE", scope))


@TEXTS
@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("tier", ["interp", "native"])
def test_a_launch_reads_what_another_one_wrote(text, scope, tier):
    args = arguments()
    refmlc.VirtualMachine(refmlc.build(module_of(text, scope), tier=tier))["main"](*args)
    assert args[1].tolist() == EXPECTED


@TEXTS
@pytest.mark.parametrize("scope", SCOPES)
def test_the_sanitizer_and_the_certificate_agree(text, scope):
    args = arguments()
    report = sanitize(module_of(text, scope), "main", args)
    assert [finding.diagnostic.code.id for finding in report.findings] == []
    assert args[1].tolist() == EXPECTED
    found = certify(module_of(text, scope), "main", arguments()).outputs[-1]
    assert found.centre.tolist() == EXPECTED


@pytest.mark.parametrize("scope", ["local", "shared"])
def test_private_memory_is_not_seen_by_another_launch(scope):
    with pytest.raises(refmlc.RefmlcError) as caught:
        refmlc.VirtualMachine(refmlc.build(module_of(TWO_LAUNCHES, scope), tier="interp"))["main"](*arguments())
    assert caught.value.code.id in ("RM305", "RM504")


@pytest.mark.parametrize("scope", SCOPES)
def test_threads_that_share_it_race(scope):
    text = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((1,), "float32", scope="SCOPE")
    with T.launch_thread("threadIdx.x", 8) as tx:
        B[0] = A[tx]
        C[tx] = B[0]
"""
    report = sanitize(module_of(text, scope), "main", arguments())
    assert [finding.diagnostic.code.id for finding in report.findings] == ["RM321"]
