"""Calls in C that stop leave garbage that can be collected."""

import gc

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.wellformed.reader_checks import read
from refmlc.vm import VirtualMachine, build

PROGRAM = """
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func
    def g(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            B[i] = B[3 - i]

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = R.call_tir(Module.g, (x,), out_ty=R.Tensor((4,), "float32"))
        return y
"""


def test_the_shadows_of_a_call_that_stopped_are_collected():
    module = read(PROGRAM, "case.py")
    for _ in range(5):
        with pytest.raises(RefmlcError, match="RM305"):
            VirtualMachine(build(module, tier="native"))["main"](np.ones(4, "float32"))
        gc.collect()
