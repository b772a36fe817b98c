"""Operators become functions, shared where they are equal; what is not known stays; the meaning is kept."""

import numpy as np
import pytest

import refmlc
from refmlc.diag import RefmlcError
from refmlc.rewrite.transform import legalize_ops

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


@pytest.mark.parametrize(
    ("first", "last", "step", "wanted"),
    [("n - 1", "0", "-1", range(5, 0, -1)), ("n", "-n", "-3", range(6, -6, -3)), ("-n", "n + 1", "2", range(-6, 7, 2))],
)
def test_the_length_of_arange_follows_the_sign_of_its_step(first, last, step, wanted):
    text = f"""
@R.function
def main(x: R.Tensor(("n",), "float32")):
    n = T.int64()
    y = R.arange(R.prim_value({first}), R.prim_value({last}), R.prim_value({step}), dtype="int64")
    return y
"""
    module = legalize_ops(refmlc.read(text))
    found = refmlc.VirtualMachine(refmlc.build(module, tier="interp"))["main"](np.zeros(6, "float32")).numpy()
    assert found.tolist() == list(wanted)


EITHER = """
@R.function
def main(a: R.Tensor(("n",), "float32"), b: R.Tensor(("m",), "float32"), c: R.Tensor((3,), "float32")):
    x = R.add(a, b)
    y = R.add(x, c)
    return y
"""


@pytest.mark.parametrize(("n", "m"), [(1, 3), (3, 1), (3, 3), (1, 1)])
def test_what_may_be_broadcast_either_way_is_lowered_when_it_is_executed(n, m):
    a, b, c = (np.arange(size, dtype="float32") + 1 for size in (n, m, 3))
    legal = legalize_ops(refmlc.read(EITHER))
    assert list(legal.functions) == ["main"]
    for module in (legal, refmlc.read(EITHER)):
        found = refmlc.VirtualMachine(refmlc.build(module))["main"](a, b, c)
        assert np.array_equal(found.numpy(), a + b + c)


def test_an_extent_that_is_not_below_zero_is_itself():
    text = """
@R.function
def main(x: R.Tensor(("n",), "float32")):
    n = T.int64()
    y = R.add(x, R.arange(R.prim_value(0), R.prim_value(n), R.prim_value(1), dtype="float32"))
    return y
"""
    legal = legalize_ops(refmlc.read(text))
    assert sorted(legal.functions) == ["add", "arange", "main"]
    found = refmlc.VirtualMachine(refmlc.build(legal))["main"](np.ones(4, "float32"))
    assert found.numpy().tolist() == [1, 2, 3, 4]


def test_a_wanted_extent_that_is_not_known_is_held_to_when_it_is_executed():
    text = """
@R.function
def main(x: R.Tensor((3,), "float32"), s: R.Tensor(("m",), "float32")):
    m = T.int64()
    y = R.broadcast_to(x, R.shape([m]))
    return y
"""
    legal = legalize_ops(refmlc.read(text))
    assert list(legal.functions) == ["main"]
    with pytest.raises(RefmlcError, match="RM202"):
        refmlc.VirtualMachine(refmlc.build(legal))["main"](np.ones(3, "float32"), np.ones(2, "float32"))


@pytest.mark.parametrize("tier", ["interp", "native"])
def test_a_number_without_a_name_is_taken_when_it_is_executed(tier):
    text = """
@R.function
def main(x: R.Tensor((2, 2), "float32"), t: R.Tuple(R.Prim("int64"), R.Prim("int64"))):
    y = R.tril(x, t[1])
    return y
"""
    legal = legalize_ops(refmlc.read(text))
    assert list(legal.functions) == ["main"]
    machine = refmlc.VirtualMachine(refmlc.build(legal, tier=tier))
    ones = np.ones((2, 2), "float32")
    assert [machine["main"](ones, (9, k)).numpy().tolist() for k in (-1, 0, 1)] == [
        [[0, 0], [1, 0]], [[1, 0], [1, 1]], [[1, 1], [1, 1]],
    ]  # fmt: skip


@pytest.mark.parametrize("tier", ["interp", "native"])
def test_outputs_of_one_statement_have_names_of_their_own(tier):
    text = """
@R.function
def main(x: R.Tensor((1, 2, 6), "float32"), n: R.Tensor((1,), "int32"), i: R.Tensor((1, 2), "int32")):
    y = R.vision.non_max_suppression(x, n, i, soft_nms_sigma=0.5)
    return y
"""
    machine = refmlc.VirtualMachine(refmlc.build(legalize_ops(refmlc.read(text)), tier=tier))
    boxes = np.array([[[0, 0.8, 0, 0, 1, 1], [0, 0.9, 0, 0, 1, 1]]], "float32")
    _, places, counts = machine["main"](boxes, np.array([2], "int32"), np.array([[0, 1]], "int32"))
    assert (places.numpy().tolist(), counts.numpy().tolist()) == ([[1, -1]], [[1]])


REFUSED_FOR_SOME = {
    "matmul(a, b)": ('(3, "c")', "(2, 4)"),
    "nn.conv1d(a, b)": ('(1, "c", 5)', "(2, 2, 3)"),
    "nn.conv1d(a, b, groups=2)": ("(1, 2, 5)", '("c", 1, 3)'),
    "nn.prelu(a, b)": ('(3, "c")', "(2,)"),
    "concat((a, b))": ('(3, "c")', "(4, 2)"),
}


@pytest.mark.parametrize("tier", ["interp", "native"])
@pytest.mark.parametrize("call", REFUSED_FOR_SOME)
def test_what_is_refused_for_some_sizes_is_lowered_when_it_is_executed(call, tier):
    first, second = REFUSED_FOR_SOME[call]
    text = f'@R.function\ndef main(a: R.Tensor({first}, "float32"), b: R.Tensor({second}, "float32")):\n'
    legal = legalize_ops(refmlc.read(f"{text}    y = R.{call}\n    return y\n"))
    assert list(legal.functions) == ["main"]
    machine = refmlc.VirtualMachine(refmlc.build(legal, tier=tier))
    with pytest.raises(RefmlcError) as found:
        machine["main"](*(_ones(shape, {"c": 3}) for shape in (first, second)))
    assert found.value.code.id == "RM202"
    machine["main"](*(_ones(shape, {"c": 2}) for shape in (first, second)))


def _ones(shape, sizes):
    """A tensor of a shape as it is declared."""
    names = [part.strip(' "') for part in shape.strip("()").split(",") if part]
    return np.ones([sizes[name] if name in sizes else int(name) for name in names], "float32")
