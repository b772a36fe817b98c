"""Real TVM compiled in other ways: each gives the results, and each is what it says it is."""

import os
from pathlib import Path

import numpy as np
import pytest

import refmlc
from refmlc.oracle.implementations.implementation import Ended
from refmlc.oracle.implementations.lookup import implementation
from refmlc.oracle.implementations.real_tvm import options_of
from refmlc.run.memory.tensor import Tensor

PYTHON = os.environ.get("REFMLC_TVM_PYTHON", "")
MODULE = """
from tvm.script import ir as I, relax as R, tirx as T
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def halved(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
        for i in range(3):
            with T.sblock("B"):
                v = T.axis.spatial(3, i)
                B[v] = A[v] * T.float32(0.5)
    @R.function
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.halved, (x,), out_ty=R.Tensor((3,), "float32"))
            z = R.add(y, x)
            R.output(z)
        return z
"""


@pytest.mark.needs("tvm")
@pytest.mark.parametrize("options", ["", ",mode=compiled,opt=3", ",target=c,opt=0", ",target=llvm -opt-level=0"])
def test_every_way_gives_the_result(options):
    made = implementation(f"tvm:{PYTHON}{options}")
    assert made.name == f"tvm:{PYTHON}{options}"
    prepared = made.prepare(refmlc.read(MODULE))
    graph = prepared.run("main", [Tensor.from_numpy(np.array([1, 2, 4], "float32"))])
    loops = prepared.run("halved", [Tensor.from_numpy(np.array([1, 2, 4], "float32")) for _ in range(2)])
    made.close()
    assert isinstance(graph, Ended)
    assert graph.value.numpy().tolist() == [1.5, 3, 6]
    assert loops.args[1].numpy().tolist() == [0.5, 1, 2]


@pytest.mark.needs("tvm")
def test_a_target_that_there_is_not_is_told_by_tvm():
    made = implementation(f"tvm:{PYTHON},target=abacus")
    answer = made.prepare(refmlc.read(MODULE))
    made.close()
    assert "abacus" in str(getattr(answer, "message", ""))


def test_options_are_what_they_say():
    assert options_of(["target=llvm -mcpu=haswell", "opt=3", "mode=compiled"]) == {
        "target": "llvm -mcpu=haswell",
        "opt": 3,
        "mode": "compiled",
    }
    assert options_of([]) == {}
    assert options_of(["cuda"]) == {"cuda": True}


@pytest.mark.parametrize(
    "option", ["speed=9", "opt=4", "mode=quick", "cuda=1", "target=", "opt=1,opt=2", "cuda,target=c"]
)
def test_other_options_are_bad_usage(option):
    with pytest.raises(refmlc.Malformed, match="tvm") as raised:
        implementation(f"tvm:{Path('/nowhere/python')},{option}")
    assert raised.value.code.id == "RM112"
