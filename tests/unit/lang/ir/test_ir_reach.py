"""What of a module a call of one function comes to: by variables, by names in strings, by `global_symbol`."""

import refmlc
from refmlc.lang.ir.reach import reachable

TEXT = """
from tvm.script import ir as I, relax as R, tirx as T
@I.ir_module
class Module:
    @T.prim_func
    def called(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
        B[0] = A[0]

    @T.prim_func
    def named(A: T.Buffer((2,), "float32")):
        T.evaluate(T.call_packed("symbol", A.data))

    @T.prim_func
    def linked(A: T.handle):
        T.func_attr({"global_symbol": "symbol"})
        T.evaluate(0)

    @T.prim_func
    def alone(A: T.Buffer((2,), "float32")):
        A[0] = T.float32(1)

    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        cls = Module
        y = R.call_tir(cls.called, (x,), out_sinfo=R.Tensor((2,), "float32"))
        z = cls.main(y)
        return z
"""


def names(func):
    return list(reachable(refmlc.read(TEXT, check=False), func).functions)


def test_what_is_called_is_kept():
    assert names("main") == ["called", "main"]
    assert names("called") == ["called"]
    assert names("alone") == ["alone"]


def test_what_a_string_names_is_kept():
    assert names("named") == ["named", "linked"]


def test_a_module_of_which_all_is_reached_is_the_module():
    module = reachable(refmlc.read(TEXT, check=False), "main")
    assert reachable(module, "main") is module
