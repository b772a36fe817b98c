"""Operators become functions, shared where they are equal; what is not known stays; the meaning is kept."""

import numpy as np
import pytest

import refmlc
from refmlc.diag import RefmlcError
from refmlc.transform import legalize_ops

MODULE = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor((4,), "float32"), z: R.Tensor("float32")):
        with R.dataflow():
            a = R.add(x, y)
            b = R.add(R.negative(a), y)
            c = R.add(a, z)
            gv = (R.multiply(b, b), c)
            R.output(gv)
        return gv

    @R.function
    def other(p: R.Tensor((), "bool"), x: R.Tensor((2, 4), "float32")):
        if p:
            r = R.exp(x)
        else:
            r = R.negative(x)
        return r
"""


def test_functions_are_shared_and_unknown_types_stay():
    module = legalize_ops(refmlc.read(MODULE))
    assert [name for name in module.functions if name not in ("main", "other")] == [
        "add", "negative", "multiply", "exp", "negative1",
    ]  # fmt: skip
    text = module.script()
    assert text.count("R.call_tir(cls.add,") == 2
    assert "c = R.add(a, z)" in text.replace('c: R.Tensor(dtype="float32") = ', "c = ")
    refmlc.read(text)


def test_a_module_without_operators_stays_itself():
    module = refmlc.read("@T.prim_func(s_tir=True)\ndef f(A: T.Buffer((4,), 'float32')):\n    A[0] = T.float32(0)\n")
    assert legalize_ops(module) is module


def results(tier):
    machine = refmlc.VirtualMachine(refmlc.build(refmlc.read(MODULE), tier=tier))
    x = np.linspace(-3, 3, 8, dtype="float32").reshape(2, 4)
    first, second = machine["main"](x, np.ones(4, "float32"), x[:1])
    third, fourth = machine["other"](np.array(True), x), machine["other"](np.array(False), x)
    return [value.numpy().tobytes() for value in (first, second, third, fourth)]


def test_the_tiers_agree():
    assert results("interp") == results("native") == results("auto")


@pytest.mark.parametrize("tier", ["interp", "native"])
def test_undefined_behaviour_in_an_operator_is_told_at_its_call(tier):
    text = '@R.function\ndef main(x: R.Tensor((2,), "int32")):\n    y = R.negative(x)\n    return y\n'
    machine = refmlc.VirtualMachine(refmlc.build(refmlc.read(text), tier=tier))
    assert machine["main"](np.array([3, -4], "int32")).numpy().tolist() == [-3, 4]
    with pytest.raises(RefmlcError) as found:
        machine["main"](np.array([3, -(2**31)], "int32"))
    assert found.value.code.id == "RM306"
    assert found.value.diagnostic.span.line == 3
