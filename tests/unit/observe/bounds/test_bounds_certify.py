"""Certificates of small programs: what each construct does to enclosures; expected values by hand, NumPy and mpmath."""

import math
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.bounds.certify import certify
from refmlc.observe.bounds.choice import Choice
from refmlc.observe.bounds.enclosure import NAN, NINF, PINF
from refmlc.observe.bounds.freedom import Freedom
from refmlc.oracle.compare import compare, judge
from refmlc.oracle.outcome import Kind

STRICT = Freedom(reorder=False, wide=False)
A_HALF_MORE = 1 + 2**-12  # its square is 1 + 2**-11 + 2**-24, half an ulp more than it is rounded to
ITS_SQUARE = "T.float32(1.00048828125)"


def certified(text, *args, freedom=None):
    """The certified output of `main`; the last argument is the destination."""
    return certify(read(text), "main", list(args), freedom=freedom or Freedom()).outputs[-1]


def elementwise(expression, dtype="float32", out=None):
    return f"""
@T.prim_func
def main(A: T.Buffer((COUNT,), "{dtype}"), B: T.Buffer((COUNT,), "{out or dtype}")):
    for i in range(COUNT):
        B[i] = {expression}
"""


def run(expression, values, dtype="float32", out=None, freedom=None):
    array = np.array(values, dtype)
    text = elementwise(expression, dtype, out).replace("COUNT", str(len(array)))
    return certified(text, array, np.zeros(len(array), out or dtype), freedom=freedom)


def test_what_is_exact_has_no_bound():
    found = run("A[i] * T.float32(2) + T.float32(1)", [1.5, -3.0])
    assert found.bound.tolist() == [0.0, 0.0]
    assert found.centre.tolist() == [4.0, -5.0]
    assert judge(np.float32([4.0, -5.0]), found).kind is Kind.EQUAL
    assert judge(np.float32([4.0, np.nextafter(np.float32(-5), np.float32(0))]), found).kind is Kind.WRONG


def test_one_rounding_may_be_left_out_and_no_more():
    a = np.float32(1 + 2**-12)
    found = run("A[i] * A[i] - T.float32(1)", [a])
    written, fused = a * a - np.float32(1), np.float32(float(a) * float(a) - 1)
    assert written != fused
    assert found.permits(0, float(written))
    assert found.permits(0, float(fused))
    assert not found.permits(0, float(np.float32(fused + 4 * (fused - written))))


def test_overflow_permits_infinity_and_its_descendants():
    found = run("A[i] * A[i]", [3e20]).elements[0]
    assert found.specials == PINF
    assert run("A[i] * A[i] * T.float32(-1)", [3e20]).permits(0, -math.inf)
    element = run("A[i] * A[i] - A[i] * A[i]", [3e20]).elements[0]
    assert element.specials == PINF | NINF | NAN


def test_special_values_of_inputs_are_values():
    found = run("T.exp(A[i])", [-math.inf, math.inf, math.nan])
    assert [element.finite for element in found.elements] == [True, False, False]
    assert [element.specials for element in found.elements] == [0, PINF, NAN]
    assert found.permits(0, 0.0)
    found = run("T.float32(1) / A[i]", [0.0, math.inf])
    assert found.permits(0, math.inf)
    assert found.permits(0, -math.inf)  # the sign of zero is not followed
    assert not found.permits(0, 1.0)
    assert found.permits(1, 0.0)


def test_float16_overflows_where_it_does():
    assert run("A[i] + A[i]", [32752.0], "float16").elements[0].specials == 0
    assert run("A[i] + A[i]", [32768.0], "float16").elements[0].specials == PINF


def test_a_condition_that_a_rounding_decides_unites_both_arms():
    found = run("T.Select(A[i] * A[i] > " + ITS_SQUARE + ", T.float32(1), T.float32(2))", [A_HALF_MORE, 3])
    assert (found.permits(0, 1.0), found.permits(0, 2.0), found.permits(0, 3.0)) == (True, True, False)
    assert (found.permits(1, 1.0), found.permits(1, 2.0)) == (True, False)


def test_a_comparison_that_a_rounding_decides_is_a_set():
    found = run('T.Cast("int32", A[i] * A[i] > ' + ITS_SQUARE + ")", [A_HALF_MORE], out="int32")
    assert found.elements[0] == Choice(frozenset((0, 1)))
    assert judge(np.int32([2]), found).kind is Kind.WRONG


def test_a_branch_that_a_rounding_decides_may_or_may_not_be_taken():
    text = """
@T.prim_func
def main(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
    for i in range(2):
        B[i] = T.float32(5)
        if A[i] * A[i] > LIMIT:
            B[i] = T.float32(7)
"""
    text = text.replace("LIMIT", ITS_SQUARE)
    found = certified(text, np.float32([A_HALF_MORE, 3]), np.zeros(2, np.float32))
    assert [found.permits(0, value) for value in (5.0, 7.0, 8.0)] == [True, True, False]
    assert [found.permits(1, value) for value in (5.0, 7.0)] == [False, True]


SUM = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((COUNT,), "DTYPE"), C: T.Buffer((1,), "DTYPE")):
    for i, k in T.grid(1, COUNT):
        with T.sblock("C"):
            v_i, v_k = T.axis.remap("SR", [i, k])
            with T.init():
                C[v_i] = INIT
            C[v_i] = UPDATE
"""


def reduced(values, dtype="float32", update="C[v_i] + A[v_k]", init="T.float32(0)", freedom=None):
    array = np.array(values, dtype)
    text = SUM.replace("COUNT", str(len(array))).replace("DTYPE", dtype).replace("UPDATE", update)
    text = text.replace("INIT", init)
    return certified(text, array, np.zeros(1, dtype), freedom=freedom)


def test_a_sum_may_be_taken_in_any_order_and_a_loop_may_not():
    values = [2.0**24, 1.0, 1.0, -(2.0**24)]
    assert reduced(values).permits(0, 2.0)
    assert reduced(values).permits(0, 0.0)
    assert reduced(values).bound[0] >= 2.0
    ascending = np.float32([1.1, 1.1, 1.1, 1000.3])
    in_order = reduced(ascending, freedom=STRICT).bound[0]
    assert 2**-15 <= in_order < 2**-15 + 2**-21  # half an ulp of 1000, and of what comes before
    assert reduced(ascending).bound[0] >= 3 * 2**-15


def test_partial_sums_that_overflow_permit_infinities_and_nan():
    found = reduced([3e38, 3e38, -3e38, -3e38]).elements[0]
    assert found.specials == PINF | NINF | NAN
    assert found.contains(0.0)
    assert reduced([1e38, 1e38, -1e38]).elements[0].specials == 0


def test_infinite_terms_of_both_signs_are_nan():
    found = reduced([math.inf, 1.0, -math.inf]).elements[0]
    assert not found.finite
    assert found.specials & NAN


def test_subtracted_terms_are_terms():
    found = reduced([1.5, 2.25], update="C[v_i] - A[v_k]")
    assert (found.centre[0], found.bound[0]) == (-3.75, 0.0)


def test_a_maximum_is_exact_and_loses_nan_in_some_order():
    found = reduced([1.0, 7.0, 3.0], update="T.max(C[v_i], A[v_k])", init="T.float32(-1)")
    assert (found.centre[0], found.bound[0]) == (7.0, 0.0)
    found = reduced([5.0, math.nan, 3.0], update="T.max(C[v_i], A[v_k])", init="T.float32(-1)")
    assert found.permits(0, 3.0)
    assert found.permits(0, math.nan)


def test_a_product_is_bounded_by_its_roundings():
    values = np.float32([1.1, 0.7, 3.3, 0.9])
    found = reduced(values, update="C[v_i] * A[v_k]", init="T.float32(1)")
    exact = math.prod(Fraction(float(x)) for x in values)
    assert found.bound[0] <= 5 * 2**-24 * float(exact)
    assert found.permits(0, float(np.prod(values)))
    assert found.permits(0, float(np.prod(values[::-1])))


def test_chains_of_blocks_pass_enclosures_on():
    text = (Path(__file__).parents[3] / "programs" / "printed_softmax.py").read_text()
    values = np.random.default_rng(0).normal(0, 4, (3, 8)).astype(np.float32)
    found = certify(read(text), "main", [values, np.zeros((3, 8), np.float32)]).outputs[0]
    for row in range(3):
        powers = [mpmath.exp(mpmath.mpf(float(x))) for x in values[row]]
        for column in range(8):
            exact = float(powers[column] / mpmath.fsum(powers))
            assert abs(exact - found.centre[row, column]) <= found.bound[row, column] <= 1e-5 * exact


def test_relax_functions_are_certified_through_their_calls():
    text = """
@I.ir_module
class Module:
    @T.prim_func
    def square(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
        for i in range(2):
            B[i] = A[i] * A[i]

    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2, 1), "float32"):
        cls = Module
        y = R.call_tir(cls.square, (x,), out_sinfo=R.Tensor((2,), "float32"))
        z = R.reshape(y, (1, 2))
        v = R.reshape(z, (2,))
        w = R.call_tir(cls.square, (v,), out_sinfo=R.Tensor((2,), "float32"))
        u = R.reshape(w, (2, 1))
        return u
"""
    found = certify(read(text), "main", [np.float32([1.1, 3.0])]).outputs[0]
    assert found.shape == (2, 1)
    exact = Fraction(float(np.float32(1.1))) ** 4
    assert abs(exact - Fraction(found.centre[0, 0])) < Fraction(1, 1 << 40)
    assert 0 < found.bound[0, 0] < 4 * 2**-24 * float(exact)
    assert found.bound[1, 0] == 0.0


@pytest.mark.parametrize(
    ("expression", "what"),
    [
        ('T.call_pure_extern("float32", "sinf", A[i])', "a call of"),
    ],
)
def test_what_is_not_certified_is_said(expression, what):
    with pytest.raises(RefmlcError) as caught:
        run(expression, [1.1])
    assert caught.value.code.id == "RM504"
    assert what in str(caught.value)


def test_ill_conditioned_results_are_reported():
    found = reduced([1e8, 1.0, -1e8])
    verdict = judge(np.float32([1.0]), found)
    assert verdict.kind is Kind.PERMITTED
    assert verdict.notes[0].startswith("ill-conditioned")


def test_programs_that_never_round_are_compared_by_bits():
    found = run("T.max(A[i], T.float32(0))", [0.0, 2.5])
    assert found.exact
    assert compare(np.float32([-0.0, 2.5]), found).kind is Kind.WRONG
    assert judge(np.float32([-0.0, 2.5]), found).kind is Kind.PERMITTED
    assert run('T.Cast("float32", A[i])', [1.5], "float16", "float32").exact
    assert run('T.Cast("float16", A[i])', [1.5], out="float16").exact
    assert run('T.Cast("float32", A[i])', [3], "int16", "float32").exact
    assert run('T.Cast("float32", A[i])', [3], "int32", "float32").exact
    assert not run("A[i] + A[i]", [1.5]).exact
    assert not reduced([1.0, 2.0], update="T.max(C[v_i], A[v_k])").exact


def test_elements_without_a_bound_are_counted():
    found = run("T.nextafter(A[i] * A[i], T.float32(9))", [1.1, 1.3])
    verdict = judge(np.float32([7.0, 8.0]), found)
    assert verdict.kind is Kind.PERMITTED
    assert "2 differing elements have no bound: any value is permitted" in verdict.notes


@pytest.mark.parametrize(("value", "centre"), [(1.0, math.inf), (-1.0, -math.inf)])
def test_the_centre_of_what_no_float_holds_is_infinite(value, centre):
    text = """
@T.prim_func
def main(A: T.Buffer((1,), "float32"), N: T.Buffer((1,), "int64"), B: T.Buffer((1,), "float32")):
    for i in range(1):
        B[i] = T.ldexp(A[i], N[i])
"""
    output = certified(text, np.array([value], "float32"), np.array([1 << 12], "int64"), np.zeros(1, "float32"))
    assert output.centre.tolist() == [centre]
