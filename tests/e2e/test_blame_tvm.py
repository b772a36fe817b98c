"""A proven deviation of real TVM (`ne-nan`), inside a graph: named with its binding and element, recorded, replayed."""

import os

import numpy as np
import pytest

import refmlc
from refmlc.oracle.blame import blame
from refmlc.oracle.evidence import case_text, read_case, replay
from refmlc.oracle.examine import examine
from refmlc.oracle.implementations.lookup import implementation
from refmlc.strategies import Case
from refmlc.strategies.arguments import Array

PYTHON = os.environ.get("REFMLC_TVM_PYTHON", "")
pytestmark = pytest.mark.needs("tvm")
GRAPH = """
from tvm.script import ir as I, relax as R, tirx as T

@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def first(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        for i in range(16):
            with T.sblock("half"):
                vi = T.axis.spatial(16, i)
                B[vi] = A[vi] * T.float32(0.5)

    @T.prim_func(s_tir=True)
    def second(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32"), R: T.Buffer((16,), "bool")):
        for i in range(16):
            with T.sblock("ne"):
                vi = T.axis.spatial(16, i)
                R[vi] = A[vi] != B[vi]

    @R.function
    def main(x: R.Tensor((16,), dtype="float32")) -> R.Tensor((16,), dtype="bool"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.first, (x,), out_ty=R.Tensor((16,), dtype="float32"))
            b = R.call_tir(cls.first, (a,), out_ty=R.Tensor((16,), dtype="float32"))
            c = R.call_tir(cls.second, (a, b), out_ty=R.Tensor((16,), dtype="bool"))
            R.output(c)
        return c
"""


def test_the_binding_and_the_element_of_a_real_deviation_are_named() -> None:
    values = Array(refmlc.lang.dtypes.SCALARS["float32"], (16,), "edges", seed=3)
    nan = int(np.flatnonzero(np.isnan(values.values().astype(float)))[0])
    case = Case(refmlc.read(GRAPH, "graph.py"), "main", ((values,),))
    tvm = implementation(f"tvm:{PYTHON}")
    try:
        (finding,) = examine([case], [tvm])[0].findings
        found = blame(case, 0, tvm)
        recorded = read_case(case_text(finding))
        again = replay(recorded, [tvm])
    finally:
        tvm.close()
    assert (found.binding, found.function, found.block, found.instance) == ("c", "second", "ne", (("vi", nan),))
    assert again.broken == ()
    assert [str(verdict) for verdict in again.examination.verdicts[tvm.name]] == [str(finding.verdict)]
