"""Relax: functions, bindings, expressions; what their failures say."""

import numpy as np
import pytest

from refmlc.lang.dtypes import FLOAT32, dtype
from refmlc.run.memory.registry import FunctionRegistry
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Closure, Shape

HEAD = """
from tvm.script import ir as I
from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def twice(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        B = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            B[i] = A[i] + A[i]

    @T.prim_func(private=True)
    def scale(A: T.Buffer((2,), "float32"), k: T.int64, B: T.Buffer((2,), "float32")):
        for i in range(2):
            B[i] = A[i] * T.Cast("float32", k)
"""


def floats(*values):
    return Tensor.from_numpy(np.array(values, "float32"))


def flag(value):
    return Tensor.from_numpy(np.array(value, "bool"))


def listed(tensor):
    return tensor.numpy().tolist()


@pytest.fixture
def main(run):
    """Run `main` of a module whose Relax functions are given."""
    return lambda text, *args, **options: run(HEAD + text, *args, **{"func": "main", **options})


@pytest.fixture
def wrong(failing):
    """The diagnostic of the same."""
    return lambda text, *args, **options: failing(HEAD + text, *args, **{"func": "main", **options})


CHAIN = """
    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        cls = Module
        with R.dataflow():
            lv0 = R.call_tir(cls.twice, (x,), out_sinfo=R.Tensor((n,), "float32"))
            lv1 = R.call_tir(cls.twice, (lv0,), out_sinfo=R.Tensor((n,), "float32"))
            R.output(lv1)
        return lv1
"""


def test_a_dataflow_block_of_call_tir(main):
    assert listed(main(CHAIN, floats(1, 2, 3))) == [4, 8, 12]


def test_numpy_arrays_are_tensors_of_the_outermost_call(main):
    assert listed(main(CHAIN, np.array([1.5], "float32"))) == [6]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "`main` takes 1 arguments, 0 are given"),
        ((1,), "declared a tensor"),
        ((np.zeros(3, "float64"),), "declared with elements of float32"),
        ((np.zeros((1, 3), "float32"),), "declared with 1 axes"),
    ],
)
def test_arguments_from_outside_that_do_not_fit(wrong, args, said):
    found = wrong(CHAIN, *args)
    assert found.code.id == "RM111"
    assert said in found.message


DIMS = """
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32"), y: R.Tensor(("n * 2", "n + m"), "float32"), s: R.Shape(["m"])):
        return R.shape([0])
"""


def test_expressions_over_symbolic_dimensions_are_checked(main, wrong):
    assert main(DIMS, np.zeros((2, 3), "float32"), np.zeros((4, 5), "float32"), Shape((3,))) == (0,)
    found = wrong(DIMS, np.zeros((2, 3), "float32"), np.zeros((4, 6), "float32"), Shape((3,)))
    assert found.code.id == "RM111"
    assert "axis 1 of `y` of `main` is declared `n + m` = 5, given is 6" in found.message
    found = wrong(DIMS, np.zeros((2, 3), "float32"), np.zeros((4, 5), "float32"), Shape((4,)))
    assert "axis 0 of `s` of `main` is declared `m` = 3, given is 4" in found.message


def test_a_dimension_that_is_never_bound(wrong):
    text = """
    @R.function
    def main(x: R.Tensor(("n + 1",), "float32")):
        n = T.int64()
        return x
"""
    assert wrong(text, floats(1, 2)).code.id == "RM211"


def test_literals_and_tuples(main):
    text = """
    @R.function
    def main(x: R.Tensor(("n",), "float32"), p: R.Prim("int64"), f: R.Prim("float32")):
        n = T.int64()
        s = R.shape([n * 2, n // 2, T.max(n, 7)])
        c = R.const([1.0, 2.0], "float32")
        t = ((x, s), R.str("text"), R.dtype("float16"), R.prim_value(n + 1), c, p, f)
        u = t[0]
        return (u[1], t)
"""
    shape, t = main(text, floats(1, 2, 3, 4, 5), 9, 0.5)
    assert shape == Shape((10, 2, 7))
    assert t[1:4] == ("text", dtype("float16"), 6)
    assert listed(t[4]) == [1, 2]
    assert t[5:] == (9, 0.5)


def test_a_primitive_parameter_is_a_dimension(main):
    text = """
    @R.function
    def main(n: R.Prim("int64")):
        return R.shape([n, n + 1])
"""
    assert main(text, 4) == (4, 5)


BRANCH = """
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        cls = Module
        if c:
            y = R.call_tir(cls.twice, (x,), out_sinfo=R.Tensor((2,), "float32"))
            r = R.call_tir(cls.twice, (y,), out_sinfo=R.Tensor((2,), "float32"))
        else:
            r = x
        return r
"""


def test_if_evaluates_one_branch(main):
    assert listed(main(BRANCH, flag(True), floats(1, 2))) == [4, 8]
    assert listed(main(BRANCH, flag(False), floats(1, 2))) == [1, 2]


def test_an_uninitialised_condition(wrong):
    found = wrong(BRANCH, Tensor.empty((), dtype("bool")), floats(1, 2))
    assert found.code.id == "RM305"


def test_a_condition_that_is_no_bool(wrong):
    text = """
    @R.function
    def main(c: R.Any):
        if c:
            r = R.shape([1])
        else:
            r = R.shape([2])
        return r
"""
    assert wrong(text, floats(1)).code.id == "RM201"


def test_a_primitive_condition(main):
    text = """
    @R.function
    def main(n: R.Prim("int64"), c: R.Prim("bool")):
        if c:
            r = R.shape([n])
        else:
            r = R.shape([2])
        return r
"""
    assert main(text, 1, True) == (1,)
    assert main(text, 1, False) == (2,)


RECURSION = """
    @R.function(pure=False)
    def more(k: R.Tensor((), "int64")) -> R.Tensor((), "bool"):
        r: R.Tensor((), "bool") = R.call_packed("env.more", k, sinfo_args=R.Tensor((), "bool"))
        return r

    @R.function(pure=False)
    def main(k: R.Tensor((), "int64"), x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        cls = Module
        c: R.Tensor((), "bool") = cls.more(k)
        if c:
            y = R.call_tir(cls.twice, (x,), out_sinfo=R.Tensor((2,), "float32"))
            k1: R.Tensor((), "int64") = R.call_packed("env.less", k, sinfo_args=R.Tensor((), "int64"))
            r: R.Tensor((2,), "float32") = cls.main(k1, y)
        else:
            r = x
        return r
"""


@pytest.fixture
def counting():
    registry = FunctionRegistry()
    registry.register("env.more", lambda k: np.array(k.numpy() > 0))
    registry.register("env.less", lambda k: np.array(k.numpy() - 1))
    return registry


def test_recursion(main, counting):
    count = Tensor.from_numpy(np.array(5))
    assert listed(main(RECURSION, count, floats(1, 3), registry=counting)) == [32, 96]


def test_recursion_without_end(wrong, counting):
    counting.register("env.more", lambda _k: np.array(True), override=True)
    found = wrong(RECURSION, Tensor.from_numpy(np.array(5)), floats(1, 3), registry=counting)
    assert found.code.id == "RM602"
    assert len(found.notes) < 12


def test_a_local_function_captures_variables_and_dimensions(main):
    text = """
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")):
        n = T.int64()

        @R.function
        def inner(z: R.Tensor((n,), "float32")):
            return (x, z, R.shape([n]))

        o = inner(y)
        return (o, inner)
"""
    (x, z, shape), inner = main(text, floats(1, 2), floats(3, 4))
    assert (listed(x), listed(z), shape) == ([1, 2], [3, 4], (2,))
    assert isinstance(inner, Closure)
    assert listed(inner([floats(5, 6)])[1]) == [5, 6]


def test_a_local_function_may_call_itself(main, counting):
    text = """
    @R.function(pure=False)
    def main(k: R.Tensor((), "int64"), x: R.Tensor((2,), "float32")):
        cls = Module

        @R.function(pure=False)
        def loop(k: R.Tensor((), "int64"), a: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            c: R.Tensor((), "bool") = R.call_packed("env.more", k, sinfo_args=R.Tensor((), "bool"))
            if c:
                y = R.call_tir(cls.twice, (a,), out_sinfo=R.Tensor((2,), "float32"))
                k1: R.Tensor((), "int64") = R.call_packed("env.less", k, sinfo_args=R.Tensor((), "int64"))
                r: R.Tensor((2,), "float32") = loop(k1, y)
            else:
                r = a
            return r

        o = loop(k, x)
        return o
"""
    assert listed(main(text, Tensor.from_numpy(np.array(3)), floats(1, 1), registry=counting)) == [8, 8]


CAST = """
    @R.function
    def main(x: R.Any):
        q = T.int64()
        y = R.match_cast(x, R.Tensor((q, q + 1), "float32"))
        return R.shape([q])
"""


def test_match_cast_binds_dimensions(main, wrong):
    assert main(CAST, np.zeros((2, 3), "float32")) == (2,)
    found = wrong(CAST, np.zeros((2, 4), "float32"))
    assert found.code.id == "RM405"
    assert "declared `q + 1` = 3, given is 4" in found.message
    assert "in `main`, binding `y`" in found.notes
    assert found.span is not None


def test_an_annotation_that_lies(wrong):
    text = """
    @R.function
    def main(x: R.Any):
        y: R.Tensor((2,), "float32") = x
        return y
"""
    found = wrong(text, floats(1, 2, 3))
    assert found.code.id == "RM317"
    assert "axis 0 of `y` is declared 2, given is 3" in found.message


def test_a_result_that_is_not_of_its_type(wrong):
    text = """
    @R.function
    def main(x: R.Any) -> R.Tensor((2,), "float32"):
        return x
"""
    assert wrong(text, floats(1)).code.id == "RM317"


def test_arguments_inside_the_module_that_do_not_fit(wrong):
    text = """
    @R.function
    def f(x: R.Tensor((2,), "float32")):
        return x

    @R.function
    def main(x: R.Any):
        cls = Module
        y = cls.f(x)
        return y
"""
    assert wrong(text, floats(1)).code.id == "RM317"


def test_too_many_arguments_inside_the_module(wrong):
    text = """
    @R.function
    def f(x: R.Any):
        return x

    @R.function
    def main(x: R.Any):
        cls = Module
        y = cls.f(x, x)
        return y
"""
    assert wrong(text, floats(1)).code.id == "RM206"


def test_functions_are_values(main):
    text = """
    @R.function
    def f(x: R.Any):
        return (x, x)

    @R.function
    def main(x: R.Any):
        cls = Module
        g = cls.f
        h: R.Callable((R.Any,), R.Any) = g
        y = h(x)
        return y
"""
    assert main(text, 7) == (7, 7)


def test_calling_what_is_no_function(wrong):
    text = """
    @R.function
    def main(x: R.Any):
        y = x(x)
        return y
"""
    found = wrong(text, 7)
    assert found.code.id == "RM201"
    assert "the int 7 is called" in found.message


def test_a_field_that_is_not_there(wrong):
    text = """
    @R.function
    def main(x: R.Any):
        y = x[1]
        return y
"""
    assert wrong(text, (1,)).code.id == "RM201"
    assert wrong(text, Shape((1, 2))).code.id == "RM201"


def test_operators_that_have_no_definition_are_named_when_reached(main, wrong):
    text = """
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((2,), "float32")):
        if c:
            r = R.of_another_age(x)
        else:
            r = x
        return r
"""
    found = wrong(text, flag(True), floats(1, 2))
    assert found.code.id == "RM501"
    assert "operator `of_another_age` is not supported" in found.message
    assert found.span is not None
    assert listed(main(text, flag(False), floats(1, 2))) == [1, 2]


def test_missing_metadata_is_said_when_reached(wrong):
    text = """
    @R.function
    def main(x: R.Any):
        y = metadata["relax.expr.Constant"][0]
        return y
"""
    assert wrong(text, 1).code.id == "RM108"


def test_constants_are_the_same_read_only_tensor(main):
    text = """
    @R.function
    def main():
        c = R.const([1.0, 2.0], "float32")
        return c
"""
    assert not main(text).writable
    assert main(text).dtype == FLOAT32


def test_a_primitive_argument_of_a_tensor_function(main):
    text = """
    @R.function
    def main(x: R.Tensor((2,), "float32"), k: R.Prim("int64")):
        cls = Module
        y = R.call_tir(cls.scale, (x, k), out_ty=R.Tensor((2,), "float32"))
        return y
"""
    assert listed(main(text, floats(1, 2), 3)) == [3, 6]


def test_a_tensor_function_called_directly_writes_into_its_destination(main):
    text = """
    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32")):
        cls = Module
        out = R.builtin.alloc_tensor(R.shape([2]), R.dtype("float32"), 0)
        cls.twice(x, out)
        return out
"""
    assert listed(main(text, floats(1, 2))) == [2, 4]


def test_failures_tell_the_calls_around_them(wrong):
    text = """
    @R.function
    def f(x: R.Any):
        z = R.add(x, x)
        return z

    @R.function
    def main(x: R.Any):
        cls = Module
        y = cls.f(x)
        return y
"""
    found = wrong(text, 1)
    assert found.notes == ("in `f`, binding `z`", "in `main`, binding `y`")
