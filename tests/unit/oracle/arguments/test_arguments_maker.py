"""Calls that are made for purposes: sizes, indices that are indices, outputs that nobody has written, fixed values."""

from itertools import islice

import numpy as np
import pytest

import refmlc
from refmlc.oracle.arguments import CallMaker
from refmlc.oracle.arguments.kernel_uses import outputs
from refmlc.oracle.arguments.purposes import PURPOSES, WHYS
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
WIDE = """
@T.prim_func
def f(A: T.Buffer((16,), "uint16"), C: T.Buffer((16,), "uint16")):
    for i in range(16):
        C[i] = A[i] // T.uint16(7)
"""
FLOATS = """
@T.prim_func
def f(A: T.Buffer((4, 3), "float32"), B: T.Buffer((4, 3), "float32"), C: T.Buffer((4, 3), "float32")):
    for i, j in T.grid(4, 3):
        C[i, j] = T.max(A[i, j], B[i, j])
"""
INTEGERS = """
@T.prim_func
def f(A: T.Buffer((5,), "int32"), k: T.int32, C: T.Buffer((5,), "float32")):
    for i in range(5):
        C[i] = T.if_then_else(A[i] * 2 + 1 > 201, T.Cast("float32", A[i]), T.float32(7))
"""


def maker(text, func=None, sizes=None):
    module = refmlc.read(text)
    return CallMaker(module, func or next(iter(module.functions)), sizes=sizes)


def planned(text, func=None, sizes=None):
    """The calls by their purposes; of several the first."""
    calls = {}
    for call in maker(text, func, sizes).planned():
        calls.setdefault(call.purpose, call)
    return calls


def sized(text):
    return [dict(call.sizes) for call in maker(text).planned() if call.purpose == "sizes"]


def test_sizes_are_different_then_one_then_zero_in_turn():
    assert planned(TAKE)["ordinary"].sizes == {"n": 3, "m": 4}
    assert sized(TAKE)[:2] == [{"n": 1, "m": 1}, {"n": 2, "m": 0}]  # no index is of an axis of 0
    assert {"n": 1, "m": 4} in sized(TAKE)
    assert all(call.sizes["m"] == 7 for call in maker(TAKE, sizes={"m": 7}).planned())


def test_sizes_stand_around_a_divisor_and_at_a_condition():
    text = SIZED.replace("range(n)", "range(n // 16 * 16)").replace("C[i] =", "if n < 40:\n            C[i] =")
    sizes = {size["n"] for size in sized(text)}
    assert {15, 16, 17, 32, 39, 40, 41} <= sizes


def test_sizes_stay_within_what_the_function_declares():
    """`StaticPlanBlockMemory` allocates for the greatest size: a larger one is the caller's fault."""
    bounds = 'R.func_attr({"tir_var_upper_bound": {"n": 5}, "tir_var_lower_bound": {"n": 2, "m": 6}})'
    text = f"""
@R.function
def main(x: R.Tensor(("n", "m"), "float32")) -> R.Tensor(("n", "m"), "float32"):
    n, m = T.int64(), T.int64()
    {bounds}
    return R.add(x, x)
"""
    calls = list(maker(text).planned())
    assert {call.sizes["n"] for call in calls} == {2, 3, 5}
    assert min(call.sizes["m"] for call in calls) == 6
    assert min(call.sizes["n"] for call in maker(text.replace(bounds, "")).planned()) == 0
    assert {call.sizes["n"] for call in maker(text, sizes={"n": 9}).planned()} == {9}


def test_shapes_that_are_expressions_follow_from_the_sizes():
    shapes = [arg.shape for arg in arguments(planned(TAKE)["ordinary"].recipes)[:3]]
    assert shapes == [(3, 4), (4,), (8, 4)]


def test_integers_that_may_be_indices_are_indices_but_in_the_call_outside():
    for call in maker(TAKE).planned():
        index = arguments(call.recipes)[1].numpy()
        inside = ((index >= 0) & (index < max(call.sizes["n"], 1))).all()
        assert inside == (not call.purpose.startswith("outside")), call


def test_what_is_first_written_is_an_output():
    assert outputs(refmlc.read(TAKE)["take"]) == {"C"}
    assert outputs(refmlc.read(UPDATES)["f"]) == {"B", "C"}
    for call in maker(UPDATES).planned():
        held = call.purpose == "held"
        assert [arg.initialised for arg in arguments(call.recipes)] == [True, held, held]


def test_calls_are_the_same_each_time_and_a_seed_makes_others():
    assert list(maker(TAKE).planned()) == list(maker(TAKE).planned())
    assert maker(TAKE).random(3) == maker(TAKE).random(3) != maker(TAKE).random(4)


def test_every_call_has_a_reason_and_no_two_are_equal():
    for text in (TAKE, UPDATES, SIZED, FLOATS, INTEGERS):
        calls = list(maker(text).planned())
        assert all(call.why and call.purpose for call in calls)
        assert len({call.recipes for call in calls}) == len(calls)
    assert all(purpose.name in WHYS for purpose in PURPOSES)


def values(call, place):
    return call.recipes[place].values().reshape(-1)


class TestFloats:
    """Special floats are guaranteed, not drawn."""

    @pytest.mark.parametrize(
        ("purpose", "value"), [("all nan", np.nan), ("-inf", -np.inf), ("+inf", np.inf), ("equal", 1.5)]
    )
    def test_every_element_is_one_value(self, purpose, value):
        call = planned(FLOATS)[purpose]
        for place in (0, 1):
            assert np.array_equal(values(call, place), np.full(12, value, "float32"), equal_nan=True)

    def test_nan_comes_first_and_last_in_each_argument_at_a_place_of_its_own(self):
        first, last = planned(FLOATS)["nan first"], planned(FLOATS)["nan last"]
        assert [np.flatnonzero(np.isnan(values(first, place))).tolist() for place in (0, 1)] == [[0], [1]]
        assert [np.flatnonzero(np.isnan(values(last, place))).tolist() for place in (0, 1)] == [[11], [10]]

    def test_negative_zeros_and_subnormals(self):
        zeros = values(planned(FLOATS)["-0"], 0)
        assert (zeros == 0).all()
        assert np.signbit(zeros).all()
        tiny = np.abs(values(planned(FLOATS)["subnormals"], 0))
        assert ((tiny > 0) & (tiny < np.float32(2.0**-126))).all()

    def test_floats_anywhere_differ_in_sign_and_in_every_size(self):
        numbers = values(planned(FLOATS)["anywhere 1"], 0)
        assert np.isfinite(numbers).all()
        assert len({np.frexp(number)[1] // 32 for number in numbers.tolist()}) >= 4
        assert {np.signbit(number) for number in numbers.tolist()} == {True, False}

    def test_integers_anywhere_are_of_every_remainder_and_of_both_halves_of_their_range(self):
        calls = planned(WIDE)
        numbers = [number for name in ("anywhere 1", "anywhere 2") for number in values(calls[name], 0).tolist()]
        assert {number % 7 for number in numbers if number > 13107} == set(range(7))
        assert 0 <= min(numbers) < 256
        assert 32768 < max(numbers) < 65536

    def test_outputs_hold_values_in_one_call_only(self):
        written = {name for name, call in planned(FLOATS).items() if arguments(call.recipes)[2].initialised}
        assert written == {"held"}

    def test_outputs_are_empty_in_the_first_call_and_hold_values_in_the_second(self):
        for text, written in ((FLOATS, [2]), (UPDATES, [1, 2]), (SIZED, [3])):
            first, second = (arguments(call.recipes) for call in islice(maker(text).planned(), 2))
            assert not any(first[at].initialised for at in written)
            assert all(second[at].initialised for at in written)
            assert all(len(set(second[at].array.ravel().tolist())) > 1 for at in written if second[at].size > 2)

    def test_specials_meet_each_other(self):
        call = planned(FLOATS)["specials"] if "specials" in planned(FLOATS) else planned(FLOATS)["specials 1"]
        a, b = values(call, 0), values(call, 1)
        assert np.isnan(a).any()
        assert not np.array_equal(a, b, equal_nan=True)
        assert {np.inf, -np.inf, np.float32(3.4028235e38)} <= set(a.tolist())


class TestIntegers:
    def test_the_ends_of_the_dtype(self):
        found = set(values(planned(INTEGERS)["ends 1"], 0).tolist())
        assert {-(2**31), 2**31 - 1} <= found

    def test_a_condition_is_solved(self):
        calls = [call for call in maker(INTEGERS).planned() if call.purpose.startswith("constants")]
        assert {100, 101} <= {int(value) for call in calls for value in values(call, 0)}

    def test_integers_that_a_cast_rounds(self):
        found = {
            int(value) for name, call in planned(INTEGERS).items() if "inexact" in name for value in values(call, 0)
        }
        assert 2**24 + 1 in found

    def test_a_number_that_indexes_nothing_has_the_ends_too(self):
        numbers = {call.recipes[1].value for call in maker(INTEGERS).planned()}
        assert {-(2**31), 2**31 - 1, 2} <= numbers


def test_parameters_of_relax_of_every_kind():
    x, shape, fields, number = arguments(planned(GRAPH, "main")["ordinary"].recipes)
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
        list(maker(text).planned())
    assert raised.value.code.id == "RM111"


def test_a_size_that_is_given_is_the_size_of_the_tensors():
    for call in maker(SIZED).planned():
        a, n, _, c = arguments(call.recipes)
        assert (a.shape, c.shape) == ((n,), (n + 1,))


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
    recipes = planned(text)["ordinary"].recipes
    a, b, c = arguments(recipes)
    assert (a.strides, b.strides, c.strides) == ((4, 1), None, (5, 1))
    assert a.numpy().tolist() == recipes[0].values().tolist()
    assert a.initialised
    assert not c.initialised
    assert [argument_of(argument_data(one)) for one in recipes] == list(recipes)
    assert any(arguments(call.recipes)[0].shape == (0, 3) for call in maker(text).planned())


def test_strides_that_are_open_get_gaps():
    text = """
@T.prim_func
def f(a: T.handle, C: T.Buffer((4, 5), "float32")):
    s = T.int32()
    A = T.match_buffer(a, (4, 5), "float32", strides=[s, 1])
    for i, j in T.grid(4, 5):
        C[i, j] = A[i, j]
"""
    assert planned(text)["strides"].recipes[0].strides == (8, 1)
    assert all(call.recipes[0].strides == () for name, call in planned(text).items() if name != "strides")


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
    """What an operator asks of the values of an argument, in all calls but those outside."""

    def values(self, func, place):
        calls = [*maker(LOOKUPS, func).planned(), *(maker(LOOKUPS, func).random(seed) for seed in range(3))]
        return [call.recipes[place].values() for call in calls if not call.purpose.startswith("outside")]

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
        assert all(abs(values).max() < 4 for values in self.values("computed", 1))

    def test_the_values_of_other_parameters_stay_as_they_were(self):
        assert any(np.isnan(values).any() for values in self.values("boundaries", 0))


def test_constants_of_a_program_that_is_compared_count_too():
    before = refmlc.read(INTEGERS)
    after = refmlc.read(INTEGERS.replace("> 201", "> 2000001"))
    alone, both = CallMaker(before, "f"), CallMaker(before, "f", others=(after,))
    found = [
        {int(value) for call in maker.planned() if "constants" in call.purpose for value in values(call, 0)}
        for maker in (alone, both)
    ]
    assert [1000000 in each for each in found] == [False, True]


def test_recipes_of_every_purpose_are_data():
    for text in (TAKE, SIZED, FLOATS, INTEGERS):
        for call in maker(text).planned():
            assert tuple(argument_of(argument_data(recipe)) for recipe in call.recipes) == call.recipes
