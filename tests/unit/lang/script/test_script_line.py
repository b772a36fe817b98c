"""`repr` is one line, `str` is TVMScript, of whatever a user may have in hand."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.vendor.pretty import pretty

import refmlc
from refmlc.lang import te
from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.oracle.passes import TraceCheck, WatchedPasses
from refmlc.oracle.passes.stages import StageRow, StageVerdict
from refmlc.strategies import ir_modules
from refmlc.strategies.modules import rolled_module
from refmlc.tvm.session import shown

TEXT = """\
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def gemm(A: T.Buffer((4,), "float32"), n: T.int32):
        # with T.sblock("root"):
        for i in range(4):
            A[i] = A[i] + T.float32(1.0)

    @T.prim_func(s_tir=True)
    def other():
        T.evaluate(0)
"""


@pytest.fixture
def module():
    return refmlc.read(TEXT)


def test_a_module_and_its_functions(module):
    assert repr(module) == "<IRModule gemm, other>"
    assert str(module) == f"{module}" == module.script()
    assert "for i in range(4):" in str(module)
    assert repr(module["gemm"]) == "<PrimFunc (A, n)>"
    assert str(module["gemm"]) == module["gemm"].script()
    graph = refmlc.read('@R.function\ndef main(x: R.Tensor((2,), "float32")):\n    y = R.add(x, x)\n    return y\n')
    assert repr(graph["main"]) == "<Function (x)>"


def test_pieces(module):
    lines = {type(node).__name__: repr(node) for node in walk(module["gemm"])}
    assert lines["BufferStore"] == "<BufferStore A[i] = A[i] + T.float32(1.0)>"
    assert lines["Apply"] == "<Apply A[i] + T.float32(1.0)>"
    assert lines["For"] == "<For for i in range(4): …>"
    assert lines["FloatImm"] == "<FloatImm T.float32(1.0)>"
    assert repr(te.var("n") + 1) == "n + 1"


def test_all_names_of_a_long_module_do_not_stand_in_the_line(module):
    many = refmlc.IRModule({f"function_{number}": module["other"] for number in range(50)})
    assert len(repr(many)) < 110
    assert repr(many).endswith(" …>")


def test_a_node_whose_parts_are_wrong_has_a_line():
    broken = tir.BufferStore(3, "x", None)
    assert repr(broken) == str(broken) == "<BufferStore>"


def test_the_escape_of_a_terminal_does_not_stand_in_a_line(module):
    assert repr(refmlc.IRModule({"\x1b[31m": module["other"]})) == "<IRModule \ufffd[31m>"


@pytest.mark.parametrize("tier", ["interp", "auto"])
def test_what_is_built(module, tier):
    built = refmlc.build(module, tier=tier)
    assert repr(built) == f"<Executable gemm, other: {tier}>"
    assert "for i in range(4):" in str(built)
    assert "# gemm: interp" in str(built)
    vm = refmlc.VirtualMachine(built)
    assert repr(vm) == f"<VirtualMachine gemm, other: {tier}>"
    assert repr(vm["gemm"]) == "<VMFunction gemm(A, n)>"
    assert "for i in range(4):" in str(vm["gemm"])
    vm["gemm"](np.zeros(4, "float32"), 1)


def test_verdicts_on_stages():
    rows = (StageRow("Simplify", StageVerdict.SAME, 3), StageRow("Wide", StageVerdict.UNSUPPORTED, 0, "`f`: RM502"))
    found = TraceCheck(rows, None)
    assert repr(found) == "<Checked 1 same, 1 unsupported>"
    assert str(found).splitlines() == [
        "Simplify  same         3 calls",
        "Wide      unsupported            `f`: RM502",
    ]
    watched = WatchedPasses([SimpleNamespace()], [found])
    assert repr(watched) == "<Watched 1 modules: <Checked 1 same, 1 unsupported>>"
    assert str(watched) == str(found)


def test_a_drawn_case():
    case = rolled_module(7)
    assert "\n" not in repr(case)
    assert len(repr(case)) < 200
    assert case.module.script() in str(case)
    assert "called with" in str(case)


@settings(max_examples=5, deadline=None)
@given(ir_modules())
def test_hypothesis_prints_the_text(case):
    assert pretty(case) == str(case)
    assert pretty(case.module) == case.module.script()
    assert case.module.script() in pretty((case, 1))


def test_a_cell_of_a_chapter_shows_the_text(module):
    assert shown(module) == module.script()
