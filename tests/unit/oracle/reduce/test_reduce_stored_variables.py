"""A loop variable that is stored is made a constant where it is stored; the loop keeps it."""

from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.lang.script import show
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.reduce.passes.expressions import constant_values
from refmlc.oracle.reduce.subject import Subject

TEXT = """
@T.prim_func
def main(A: T.Buffer((4,), "int32")):
    for i in range(4):
        A[i] = i
"""


def test_only_the_store_changes():
    made = [edit().module for edit in constant_values(Subject(read(TEXT, "a.py")))]
    assert ["A[i] = 0" in show(one) for one in made] == [True, False]
    for module in made:
        loops = [node for node in walk(module.functions["main"]) if isinstance(node, tir.For)]
        assert [isinstance(loop.loop_var, tir.Var) for loop in loops] == [True]
