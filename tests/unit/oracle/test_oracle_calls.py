"""Calls that are made: sizes with 0 and 1 among them, indices that are indices, outputs that nobody has written."""

import numpy as np
import pytest

import refmlc
from refmlc.oracle.calls import CallMaker, outputs
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Shape
from refmlc.strategies.arguments import argument_data, argument_of, arguments

TAKE = """
@T.prim_func
def take(a: T.handle, i: T.handle, c: T.handle, scale: T.float32):
    n = T.int32()
    m = T.int32()
    A = T.match_buffer(a, (n, 4), "float32")
    I = T.match_buffer(i, (m,), "int64")
    C = T.match_buffer(c, (m * 2, 4), "float32")
    for k, j in T.grid(m, 4):
        C[k * 2, j] = A[I[k], j] * scale
        C[k * 2 + 1, j] = C[k * 2, j]
"""
UPDATES = """
@T.prim_func
def f(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32"), C: T.Buffer((1,), "float32")):
    for i in range(4):
        A[i] = A[i] + T.float32(1)
    for i in range(4):
        B[i] = A[i]
    for i in range(4):
        with T.block("C"):
            vi = T.axis.reduce(4, i)
            C[0] = C[0] + B[vi]
"""
GRAPH = """
from tvm.script import relax as R
@R.function
def main(
    x: R.Tensor(("n", 4), "int8"), s: R.Shape(["n", "m"]), t: R.Tuple(R.Tensor(("m",), "bool")), p: R.Prim("int64")
):
    return x
"""


SIZED = """
@T.prim_func
def f(a: T.handle, n: T.int32, k: T.int32, c: T.handle):
    A = T.match_buffer(a, (n,), "float32")
    C = T.match_buffer(c, (n + 1,), "float32")
    for i in range(n):
        C[i] = A[i] * T.Cast("float32", k)
"""


def made(text, number=0, given=None, func=None, seed=0):
    module = refmlc.read(text)
    func = func or next(iter(module.functions))
    return CallMaker(module, func).call(number, seed, given or {})


def test_sizes_of_the_first_calls_are_different_then_one_then_zero():
    assert [dict(made(TAKE, number).sizes) for number in range(3)] == [
        {"n": 3, "m": 4},
        {"n": 1, "m": 1},
        {"n": 0, "m": 2},
    ]
    assert dict(made(TAKE, 1, {"m": 7}).sizes) == {"n": 1, "m": 7}


def test_shapes_that_are_expressions_follow_from_the_sizes():
    shapes = [arg.shape for arg in arguments(made(TAKE).recipes)[:3]]
    assert shapes == [(3, 4), (4,), (8, 4)]


def test_integers_that_may_be_indices_are_indices():
    for number in range(6):
        call = made(TAKE, number)
        index = arguments(call.recipes)[1].numpy()
        assert ((index >= 0) & (index < max(2, min(size for size in call.sizes.values())))).all()


def test_what_is_first_written_is_an_output():
    assert outputs(refmlc.read(TAKE)["take"]) == {"C"}
    assert outputs(refmlc.read(UPDATES)["f"]) == {"B", "C"}
    taken = arguments(made(UPDATES).recipes)
    assert [arg.initialised for arg in taken] == [True, False, False]


def test_the_same_call_is_the_same_arguments_and_another_seed_another_one():
    first, again, other = (arguments(made(TAKE, 0, seed=seed).recipes)[0].numpy() for seed in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_parameters_of_relax_of_every_kind():
    x, shape, fields, number = arguments(made(GRAPH, func="main").recipes)
    assert (x.shape, shape) == ((3, 4), Shape((3, 4)))
    assert isinstance(fields, tuple)
    assert isinstance(fields[0], Tensor)
    assert fields[0].shape == (4,)
    assert isinstance(number, int)


@pytest.mark.parametrize(
    "text",
    [
        "@T.prim_func\ndef f(p: T.handle):\n    T.evaluate(0)\n",
        '@T.prim_func\ndef f(A: T.Buffer((1 << 20, 1 << 20), "float32")):\n    T.evaluate(0)\n',
        "from tvm.script import relax as R\n@R.function\ndef f(x: R.Object):\n    return x\n",
    ],
)
def test_what_cannot_be_made_is_said(text):
    with pytest.raises(refmlc.Malformed, match="give `--input`") as raised:
        made(text)
    assert raised.value.code.id == "RM111"


def test_a_size_that_is_given_is_the_size_of_the_tensors():
    found = [arguments(made(SIZED, number).recipes) for number in range(4)]
    assert [(a.shape, n, c.shape) for a, n, _, c in found[:3]] == [((3,), 3, (4,)), ((1,), 1, (2,)), ((0,), 0, (1,))]
    assert all(a.shape == (n,) for a, n, _, _ in found)
    assert dict(made(SIZED).sizes) == {"n": 3}


def test_declared_strides_are_kept():
    text = """
@T.prim_func
def f(a: T.handle, b: T.handle, c: T.handle):
    n = T.int32()
    s = T.int32()
    A = T.match_buffer(a, (n, 3), "float32", strides=[4, 1])
    B = T.match_buffer(b, (n,), "int8", strides=[s])
    C = T.match_buffer(c, (2, n), "float32", strides=[n + 2, 1])
    for i, j in T.grid(n, 3):
        C[0, i] = A[i, j]
"""
    recipes = made(text).recipes
    a, b, c = arguments(recipes)
    assert (a.strides, b.strides, c.strides) == ((4, 1), None, (5, 1))
    assert a.numpy().tolist() == recipes[0].values().tolist()
    assert a.initialised
    assert not c.initialised
    assert [argument_of(argument_data(one)) for one in recipes] == list(recipes)
    assert arguments(made(text, 2).recipes)[0].shape == (0, 3)


LOOKUPS = """
from tvm.script import relax as R

@R.function
def boundaries(x: R.Tensor((5,), "float32"), b: R.Tensor((6,), "float32")):
    same = b
    return R.bucketize(x, same)

@R.function
def samples(p: R.Tensor((2, 4), "float32"), u: R.Tensor((3, 1), "float32"), i: R.Tensor((3, 1), "int64")):
    return R.multinomial_from_uniform(p, u, i)

@R.function
def elements(x: R.Tensor((4, 5), "float32"), i: R.Tensor((4, 5), "int64")):
    return R.gather_elements(x, i, axis=1)

@R.function
def puts(x: R.Tensor((4, 5), "float32"), i: R.Tensor((3,), "int64"), v: R.Tensor((3,), "float32")):
    return R.index_put(x, (i, i), v)

@R.function
def computed(x: R.Tensor((4, 5), "float32"), i: R.Tensor((3,), "int64")):
    return R.take(x, R.add(i, R.const(1, "int64")), axis=0)
"""


class TestDomainsOfOperators:
    """What an operator asks of the values of an argument, in the calls that are made and in the wild one."""

    def values(self, func, place):
        maker = CallMaker(refmlc.read(LOOKUPS, "lookups.py"), func)
        calls = [maker.call(number, seed, {}) for number in range(6) for seed in range(3)]
        return [call.recipes[place].values() for call in [*calls, *(maker.wild(seed) for seed in range(3))]]

    def test_boundaries_ascend(self):
        assert all((np.diff(values) >= 0).all() for values in self.values("boundaries", 1))

    def test_samples_are_from_0_to_before_1(self):
        for place in (0, 1):
            assert all(((values >= 0) & (values < 1)).all() for values in self.values("samples", place))

    @pytest.mark.parametrize(("func", "place", "extent"), [("samples", 2, 2), ("elements", 1, 5), ("puts", 1, 4)])
    def test_indices_are_of_an_axis(self, func, place, extent):
        found = self.values(func, place)
        assert all(((values >= 0) & (values < extent)).all() for values in found)

    def test_integers_that_may_become_indices_stay_small(self):
        maker = CallMaker(refmlc.read(LOOKUPS, "lookups.py"), "computed")
        assert all(abs(maker.call(number, 0, {}).recipes[1].values()).max() < 4 for number in range(6))

    def test_the_values_of_other_parameters_stay_as_they_were(self):
        assert any(np.isnan(values).any() for values in self.values("boundaries", 0))
