"""Corners of certificates that wrong variants of `refmlc/observe/bounds` showed to be open; expected values by hand."""

import math

import numpy as np
import pytest

from refmlc.diag import Unsupported
from refmlc.lang.dtypes import FLOAT64
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.bounds.certify import certify
from refmlc.observe.bounds.enclosure import NAN, NINF, PINF

ABOUT_ZERO = "(A[i] * A[i] - T.float32(1.00048828125))"  # of 1 + 2**-12: 0 when the product is rounded, else 2**-24
NEAR_ONE = 1 + 2**-12


def certified(body, *args, dtype="float32", out=None):
    count = len(args[0])
    text = f"""
@T.prim_func
def main(A: T.Buffer(({count},), "{dtype}"), B: T.Buffer(({count},), "{out or dtype}")):
{body}
"""
    given = [np.array(args[0], dtype), np.zeros(count, out or dtype)]
    return certify(read(text), "main", given).outputs[-1]


def each(expression, values, dtype="float32", out=None):
    return certified(f"    for i in range({len(values)}):\n        B[i] = {expression}", values, dtype=dtype, out=out)


def test_the_power_of_infinity_is_one_value():
    found = each("T.pow(A[i], T.float32(2))", [math.inf]).elements[0]
    assert (found.finite, found.specials) == (False, PINF)


def test_a_function_of_binary64_is_off_by_what_its_contract_says_and_by_what_its_source_is():
    contract = SCALAR_OPS["exp"].contract
    found = each("T.exp(A[i])", [1.0], "float64").elements[0]
    assert found.radius >= (contract.bound(FLOAT64) + contract.ulps) * math.ulp(math.e)


def test_the_angle_of_what_may_be_the_origin_is_any():
    found = each(f"T.atan2({ABOUT_ZERO}, {ABOUT_ZERO})", [NEAR_ONE])
    assert found.permits(0, 0.0)
    assert found.permits(0, float(np.float32(math.pi / 4)))
    found = each(f"T.atan2({ABOUT_ZERO} - T.float32(2.0**-25), {ABOUT_ZERO} - T.float32(2.0**-25))", [NEAR_ONE])
    assert found.permits(0, 3.1)
    assert found.permits(0, -3.1)


def test_the_sine_of_what_is_not_known_is_between_minus_one_and_one():
    found = each("T.sin(A[i] * A[i])", [30001.3])
    assert found.permits(0, -1.0)
    assert found.permits(0, 1.0)
    assert not found.permits(0, -1.5)
    assert not found.permits(0, 1.5)


def test_an_integer_that_a_rounding_decides_is_one_of_two():
    found = each(
        'T.Cast("int32", (A[i] * A[i] - T.float32(1.00048828125)) * T.float32(33554432))', [NEAR_ONE], out="int32"
    )
    assert found.permits(0, 0)
    assert found.permits(0, 2)
    assert not found.permits(0, 40)


def test_what_follows_a_choice_is_certain_again():
    body = """
    i: T.int32 = 0
    B[0] = T.Select(ABOUT_ZERO > T.float32(0), A[1], T.float32(7))
    B[1] = A[1]
"""
    found = certified(body.replace("ABOUT_ZERO", ABOUT_ZERO), [NEAR_ONE, 5.0])
    assert found.permits(0, 5.0)
    assert found.permits(0, 7.0)
    assert (found.centre[1], found.bound[1]) == (5.0, 0.0)


def test_a_sum_of_two_is_rounded_once():
    found = each("A[i] + T.float32(1)", [2.0**-30])
    assert found.bound[0] <= 2**-24 * (1 + 2**-20)
    text = """
    for i in range(2):
        with T.sblock("s"):
            k = T.axis.reduce(2, i)
            with T.init():
                B[0] = T.float32(0)
            B[0] = B[0] + A[k]
"""
    assert 0 < certified(text, [1.0, 2.0**-30]).bound[0] <= 2**-24 * (1 + 2**-20)


@pytest.mark.parametrize("update", ["A[k] + B[0]", "B[0] + A[k]", "(A[k] + B[0]) + T.float32(0)", "B[0] - A[k]"])
def test_a_reduction_is_one_whichever_side_the_element_stands_on(update):
    text = f"""
    for i in range(10):
        with T.sblock("s"):
            k = T.axis.reduce(10, i)
            with T.init():
                B[0] = T.float32(0)
            B[0] = {update}
"""
    sign = -1.0 if "-" in update else 1.0
    found = certified(text, [*[sign] * 8, sign * 2.0**24, -sign * 2.0**24])
    assert found.centre[0] == 8.0
    assert found.permits(0, 0.0)  # the large one first: each 1 is lost


def test_what_takes_the_element_away_is_no_reduction():
    text = """
    for i in range(3):
        with T.sblock("s"):
            k = T.axis.reduce(3, i)
            with T.init():
                B[0] = T.float32(0)
            B[0] = A[k] - B[0]
"""
    assert certified(text, [1.0, 10.0, 100.0]).centre[0] == 100 - (10 - 1)


def test_one_divided_by_what_may_overflow_may_be_zero():
    found = each("T.float16(1) / (A[i] * A[i] + T.float16(60))", [255.875], "float16")  # 65532: 65504 or more
    assert found.permits(0, float(np.float16(1) / np.float16(65504)))
    assert found.permits(0, 0.0)


def test_an_element_that_may_be_anything_has_the_centre_of_its_enclosure():
    found = each(f"A[i] / {ABOUT_ZERO}", [NEAR_ONE])
    assert found.bound[0] == math.inf
    assert found.centre[0] == 0.0


def test_functions_of_others_are_not_certified():
    text = """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        y = R.call_packed("their.function", x, sinfo_args=R.Tensor((2,), "float32"))
        return y
"""
    with pytest.raises(Unsupported, match=r"the function `their\.function` is not certified"):
        certify(read(text), "main", [np.float32([1, 2])])


SUM = """    for k in range(4):
        with T.block("B"):
            vk = T.axis.reduce(4, k)
            with T.init():
                B[0] = T.float32(0)
            B[0] = B[0] + A[vk]
"""


@pytest.mark.parametrize(
    ("values", "specials"),
    [
        ([math.inf, 1, -math.inf, 3], NAN),
        ([math.inf, 1, math.nan, 3], NAN),
        ([math.inf, 1, math.inf, 3], PINF),
        ([-math.inf, 3e38, 3e38, 3], NINF | PINF | NAN),
    ],
)
def test_infinities_of_both_signs_have_no_sum(values, specials):
    found = certified(SUM, values).elements[0]
    assert (found.finite, found.specials) == (False, specials)


def test_functions_that_are_not_called_do_not_matter():
    text = """
from tvm.script import ir as I, relax as R, tirx as T
@I.ir_module
class Module:
    @T.prim_func
    def thirds(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
        for i in range(2):
            B[i] = A[i] / T.float32(3)

    @R.function
    def other(x: R.Tensor((2,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((2,), "float32"):
        if c:
            y = R.add(x, x)
        else:
            y = R.multiply(x, x)
        return y
"""
    given = [np.array([1, 2], "float32"), np.zeros(2, "float32")]
    (output,) = certify(read(text), "thirds", given).outputs
    assert 0 < output.bound.max() < 1e-7
    with pytest.raises(Unsupported):
        certify(read(text), "other", [given[0], np.array(True)])


CHOOSING = """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def third(A: T.Buffer((1,), "float32"), B: T.Buffer((1,), "float32")):
        B[0] = A[0] / T.float32(3)

    @T.prim_func(private=True, s_tir=True)
    def is_small(A: T.Buffer((1,), "float32"), B: T.Buffer((), "bool")):
        B[()] = A[0] / T.float32(3) < T.float32(1)

    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((1,), "float32")) -> R.Tensor((1,), "float32"):
        cls = Module
        d = R.call_tir(cls.is_small, (x,), out_ty=R.Tensor((), "bool"))
        if {condition}:
            y = R.call_tir(cls.third, (x,), out_ty=R.Tensor((1,), "float32"))
        else:
            y = x
        return y
"""


def test_a_branch_that_the_caller_chooses_is_certified_and_one_that_is_computed_is_not():
    x = np.array([1], "float32")
    for chosen, value in ((True, 1 / 3), (False, 1.0)):
        (found,) = certify(read(CHOOSING.format(condition="c")), "main", [np.array(chosen), x]).outputs
        assert abs(found.elements[0].centre - value) <= found.bound[0] < 1e-6
        assert (found.bound[0] > 0) == chosen
    with pytest.raises(Unsupported, match=r"`R\.if` is not certified"):
        certify(read(CHOOSING.format(condition="d")), "main", [np.array(True), x])
