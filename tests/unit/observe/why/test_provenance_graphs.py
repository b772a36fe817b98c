"""Slices through Relax: calls with destinations, tuples, branches, constants, functions from outside, memory reused."""

import numpy as np

import refmlc
from refmlc.observe.why import Origin, Slice, Source, Value, Write, outline, text, why
from refmlc.run.memory.registry import FunctionRegistry
from refmlc.run.memory.tensor import Tensor

HEAD = "from tvm.script import ir as I, relax as R, tirx as T\n\n"
FUNCTIONS = """
    @T.prim_func(s_tir=True)
    def double(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
        for i in range(3):
            with T.sblock("B"):
                vi = T.axis.spatial(3, i)
                B[vi] = A[vi] * T.float32(2)

    @T.prim_func(s_tir=True)
    def plus(A: T.Buffer((3,), "float32"), C: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
        for i in range(3):
            with T.sblock("B"):
                vi = T.axis.spatial(3, i)
                B[vi] = A[vi] + C[vi]
"""


def read(body: str) -> refmlc.IRModule:
    return refmlc.read(HEAD + "@I.ir_module(s_tir=True)\nclass Module:" + FUNCTIONS + body, "graph.py")


def written(found: Slice, load: Value | None = None) -> Write:
    origin = found.source(load)
    assert isinstance(origin, Write)
    return origin


def loads(write: Write) -> list[Value]:
    return list(write.value.loads())


X = np.array([1, 2, 3], "float32")

TWO = read(
    """
    @R.function
    def main(x: R.Tensor((3,), dtype="float32")) -> R.Tensor((3,), dtype="float32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.double, (x,), out_ty=R.Tensor((3,), dtype="float32"))
            b = R.call_tir(cls.plus, (a, x), out_ty=R.Tensor((3,), dtype="float32"))
            R.output(b)
        return b
"""
)


def test_a_result_goes_back_through_the_bindings() -> None:
    found = why(TWO, "main", [X], "result", (1,))
    plus = written(found)
    left, right = loads(plus)
    double = written(found, left)
    assert (found.value, plus.bindings, plus.function) == (6.0, ("b",), "plus")
    assert (double.bindings, double.function, double.value.value) == (("a",), "double", 4.0)
    assert found.source(right) == Origin(Source.ARGUMENT, "x[1]")
    assert found.source(loads(double)[0]) == Origin(Source.ARGUMENT, "x[1]")
    assert "binding `a` calls `double`" in text(outline(found))


def test_a_binding_can_be_asked_for() -> None:
    found = why(TWO, "main", [X], "a", (2,))
    assert (found.value, written(found).function) == (6.0, "double")


TUPLES = read(
    """
    @R.function
    def main(x: R.Tensor((3,), dtype="float32"), c: R.Tensor((), dtype="bool")):
        cls = Module
        t = R.call_tir(cls.double, (x,), out_ty=R.Tensor((3,), dtype="float32"))
        pair = (x, t)
        if c:
            u: R.Tensor((3,), dtype="float32") = pair[1]
            y = u
        else:
            v: R.Tensor((3,), dtype="float32") = pair[0]
            y = v
        k = R.const([10.0, 20.0, 30.0], "float32")
        z = R.call_tir(cls.plus, (y, k), out_ty=R.Tensor((3,), dtype="float32"))
        return (x, z)
"""
)


def test_tuples_and_branches_are_seen_through_and_constants_are_leaves() -> None:
    for flag, value, source in ((True, 34.0, Write), (False, 32.0, Origin)):
        found = why(TUPLES, "main", [np.array([1, 2, 2], "float32"), np.array(flag)], "result.1", (2,))
        taken, constant = loads(written(found))
        assert found.value == value
        assert isinstance(found.source(taken), source)
        assert found.source(constant) == Origin(Source.CONSTANT, "a constant, element 2")


def test_an_argument_that_is_returned_is_the_argument() -> None:
    found = why(TUPLES, "main", [X, np.array(False)], "result.0", (0,))
    assert found.source() == Origin(Source.ARGUMENT, "x[0]")


PACKED = read(
    """
    @R.function
    def main(x: R.Tensor((3,), dtype="float32")):
        cls = Module
        a = R.call_dps_packed("outside", (x,), out_ty=R.Tensor((3,), dtype="float32"))
        b = R.call_tir(cls.double, (a,), out_ty=R.Tensor((3,), dtype="float32"))
        return b
"""
)


def test_a_function_from_outside_ends_the_slice_by_name() -> None:
    registry = FunctionRegistry()

    def outside(given: Tensor, result: Tensor) -> None:
        result.numpy()[...] = given.numpy() + 5
        result.mark_initialised()

    registry.register("outside", outside)
    found = why(PACKED, "main", [X], "result", (0,), registry=registry)
    call = written(found, loads(written(found))[0])
    assert (found.value, call.outside, call.function, call.bindings) == (12.0, True, "outside", ("a",))
    assert "written by the external function `outside`" in text(outline(found))


INPLACE = read(
    """
    @T.prim_func(s_tir=True)
    def more(A: T.Buffer((3,), "float32")):
        for i in range(3):
            with T.sblock("A"):
                vi = T.axis.spatial(3, i)
                A[vi] = A[vi] + T.float32(1)

    @R.function
    def main(x: R.Tensor((3,), dtype="float32")):
        cls = Module
        a = R.call_tir(cls.double, (x,), out_ty=R.Tensor((3,), dtype="float32"))
        b = R.call_tir_inplace(cls.more, (a,), out_ty=R.Tensor((3,), dtype="float32"), inplace_indices=[0])
        return b
"""
)


def test_an_output_in_place_is_one_chain_over_two_calls() -> None:
    found = why(INPLACE, "main", [X], "result", (2,))
    more = written(found)
    double = written(found, loads(more)[0])
    assert (found.value, more.function, double.function) == (7.0, "more", "double")


def test_runs_grow_with_the_depth_and_not_with_the_elements() -> None:
    assert why(TWO, "main", [X], "result", (1,)).runs <= 4


def test_a_limit_is_said() -> None:
    found = why(TWO, "main", [X], "result", (1,), limits=refmlc.observe.why.SliceLimits(depth=1))
    assert found.cut == "more than 1 steps from buffer to buffer"
    assert found.source(loads(written(found))[0]) == Origin(Source.CUT, "not followed")
    assert "cut: more than 1 steps" in text(outline(found))


OPERATOR = read(
    """
    @R.function
    def main(x: R.Tensor((3,), dtype="float32")):
        a = R.add(x, x)
        b = R.multiply(a, x)
        return b
"""
)


def test_operators_of_relax_are_seen_through() -> None:
    found = why(OPERATOR, "main", [X], "result", (2,))
    product = written(found)
    total = written(found, loads(product)[0])
    assert (found.value, product.bindings, total.bindings) == (18.0, ("b",), ("a",))
    assert [found.source(load) for load in loads(total)] == [Origin(Source.ARGUMENT, "x[2]")] * 2
