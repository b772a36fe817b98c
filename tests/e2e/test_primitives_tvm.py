"""Primitives as campaigns spell them are those of TVM's schedule: each is taken and leaves another program."""

import os

import pytest

from refmlc.oracle.passes.run import TvmPrimitives

PROGRAM = """# from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer((4, 4), "int32"), C: T.Buffer((4, 4), "int32")):
    B = T.sblock_alloc_buffer((4, 4), "int32")
    for i in range(4):
        for j in range(4):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + 1
        for j in range(4):
            with T.sblock("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] * 2
"""
STEPS = [
    "transform_layout('B', 'write', 0, 'swap')",
    "transform_layout('B', 'write', 0, 'column halves', None)",
    "transform_layout('C', 'read', 0, 'row quarters', 7)",
    "merge('B', 1, 'C', 1)",
    "read_at('B', 0, 0, 'local')",
    "write_at('C', 0, 0, 'local')",
    "blockize('B', 1)",
    "blockize('B', ('B', 'C'))",
    "reindex_cache_read('C', 0, 'global', 'swap')",
]


@pytest.fixture(scope="module")
def tvm():
    tvm = TvmPrimitives(os.environ["REFMLC_TVM_PYTHON"])
    yield tvm
    tvm.close()


@pytest.mark.needs("tvm")
@pytest.mark.parametrize("step", STEPS)
def test_a_primitive_leaves_another_program(tvm, step):
    trace = tvm(PROGRAM, (step,))
    assert trace.stopped == ""
    before, after = trace.stages
    assert after.name == step
    assert after.text != before.text
