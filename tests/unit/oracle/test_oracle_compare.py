"""Comparison by rule, verdicts, distances, and guesses at the shape of an error; expected values worked by hand."""

import math

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import dtype
from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.bounds.certify import certify
from refmlc.oracle.compare import Exact, OneOf, Ulps, compare, distance, histogram, judge
from refmlc.oracle.difference import conditioning
from refmlc.oracle.outcome import Kind, crashed, of_failure, timed_out


def kind(actual, expected, rule):
    return compare(np.asarray(actual), np.asarray(expected), rule).kind


def test_exact_bits_tell_zeros_apart_and_not_nans():
    assert kind(np.float32([1, math.nan]), np.float32([1, -math.nan]), Exact()) is Kind.EQUAL
    assert kind(np.float32([0.0]), np.float32([-0.0]), Exact()) is Kind.WRONG
    assert kind(np.int32([3]), np.int32([4]), Exact()) is Kind.WRONG


def test_one_of_a_set():
    first, second = np.float32([1.0, 0.0]), np.float32([2.0, -0.0])
    assert kind(second, first, OneOf([second])) is Kind.PERMITTED
    assert kind(np.float32([2.0, 0.0]), first, OneOf([second])) is Kind.PERMITTED
    assert kind(np.float32([3.0, 0.0]), first, OneOf([second])) is Kind.WRONG


def test_ulps_count_representable_numbers():
    up = np.nextafter(np.float32(1), np.float32(2))
    assert kind([up], np.float32([1]), Ulps(1)) is Kind.PERMITTED
    assert kind([np.nextafter(up, np.float32(2))], np.float32([1]), Ulps(1)) is Kind.WRONG
    assert kind(np.float32([math.nan]), np.float32([1]), Ulps(9)) is Kind.WRONG


@pytest.mark.parametrize(
    ("a", "b", "name", "steps"),
    [
        (0.0, -0.0, "float32", 0),
        (2.0**-149, -(2.0**-149), "float32", 2),
        (65504.0, math.inf, "float16", 1),
        (1.0, 2.0, "bfloat16", 128),
        (math.nan, math.nan, "float64", 0),
        (math.nan, 1.0, "float64", None),
        (7, -2, "int8", 9),
    ],
)
def test_distances(a, b, name, steps):
    assert distance(a, b, dtype(name)) == steps


def test_the_histogram_leaves_empty_buckets_out():
    assert histogram([0, 0, 1, 3, 4, 70_000, None]) == {"0": 2, "1": 1, "3 … 4": 2, "> 65536": 1, "NaN": 1}


def test_other_shapes_are_no_results():
    with pytest.raises(RefmlcError) as caught:
        compare(np.zeros(3, np.float32), np.zeros(4, np.float32), Exact())
    assert caught.value.code.id == "RM111"


def test_a_difference_says_where_how_far_and_how_many():
    want = np.arange(6, dtype=np.float32).reshape(2, 3)
    got = want.copy()
    got[1, 0], got[1, 2] = 3.5, 9
    found = compare(got, want, Exact()).difference
    assert (found.index, found.actual, found.expected) == ((1, 0), 3.5, 3.0)
    assert found.ulps == 1 << 21
    assert (found.wrong, found.total) == (2, 6)
    assert str(found).startswith("[1, 0] is 3.5, expected 3.0, 2097152 ulp away; 2 of 6 wrong")


def test_ill_conditioned_results_are_called_so():
    assert conditioning(1.0, 1e-6) == ""
    assert conditioning(1.0, 0.5) == "ill-conditioned: the bound is 0.5 times the result"
    assert conditioning(0.0, 0.5) == "ill-conditioned: the exact result is 0, the bound 0.5"
    assert "no finite bound" in conditioning(1.0, math.inf)


SQUARE = np.float32([[1.1, 2.2, 3.3], [4.4, 5.5, 6.6], [7.7, 8.8, 9.9]])


@pytest.mark.parametrize(
    ("got", "want", "shape"),
    [
        (SQUARE.T, SQUARE, "axes 0 and 1 are transposed"),
        (SQUARE[:2].T.reshape(2, 3), SQUARE[:2], "axes 0 and 1 are transposed"),
        (-SQUARE, SQUARE, "the result has the wrong sign"),
        (np.roll(SQUARE, -1, 1), SQUARE, "off by one: element i along axis 1 is element i + 1 of the expected result"),
        (np.roll(SQUARE, 1, 0), SQUARE, "off by one: element i along axis 0 is element i - 1 of the expected result"),
        (SQUARE, SQUARE.astype(np.float16).astype(np.float32), "a rounding is missing: rounded to float16"),
        (SQUARE.astype(np.float16).astype(np.float32), SQUARE, "rounded too early"),
        (SQUARE * 2, SQUARE, "scaled: the expected value times 2"),
        (np.int32([44, 3, -112]), np.int32([300, 3, 400]), "wrapped around: equal modulo 2**8"),
        (np.int32([-3, 2, -1]), np.int32([-4, 2, -2]), "rounded the wrong way: one above"),
        (np.int32([5, -6]), np.int32([-5, 6]), "the result has the wrong sign"),
        (np.float32([[1, 0, 0]]), np.float32([[1, 5, 7]]), "stale: every wrong element is 0.0"),
    ],
)
def test_guesses(got, want, shape):
    found = compare(np.ascontiguousarray(got), np.ascontiguousarray(want), Exact()).difference
    assert found.guess.startswith(shape)


def test_a_guess_that_overflows_does_not_fit():
    got, want = np.float32([1e22, -3e36, 2e36]), np.float32([2e-11, 5e30, -4e14])  # the first pair's factor is 5e32
    assert compare(got, want, Exact()).difference.guess == ""


def test_an_edge_is_said_besides():
    want = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
    got = want.copy()
    got[:, 2] = 0
    found = compare(got, want, Exact()).difference
    assert (
        found.guess == "stale: every wrong element is 0.0, as if never written; only the last index of axis 1 is wrong"
    )


def test_no_guess_where_nothing_fits():
    got = np.float32([[1.3, 2.2], [4.4, 5.0]])
    assert compare(got, np.float32([[1.1, 2.2], [4.4, 5.5]]), Exact()).difference.guess == ""


DIVIDE = """
@T.prim_func
def main(A: T.Buffer((2,), "int32"), B: T.Buffer((2,), "int32")):
    for i in range(2):
        B[i] = A[i] // A[0]
"""


def test_failures_of_the_reference_are_verdicts():
    with pytest.raises(RefmlcError) as caught:
        certify(read(DIVIDE), "main", [np.int32([0, 1]), np.zeros(2, np.int32)])
    verdict = of_failure(caught.value)
    assert verdict.kind is Kind.UNDEFINED
    assert str(verdict) == "undefined: RM307: 0 // 0 in int32"
    assert crashed("signal 11").kind is Kind.CRASHED
    assert timed_out(2.5).notes == ("no answer within 2.5 s",)


def test_integers_are_certified_by_value():
    found = certify(read(DIVIDE), "main", [np.int32([2, -7]), np.zeros(2, np.int32)]).outputs[0]
    assert judge(np.int32([1, -4]), found).kind is Kind.EQUAL
    assert judge(np.int32([1, -3]), found).difference.guess.startswith("rounded the wrong way")


def test_what_is_rounded_otherwise_was_not_moved():
    want = np.float32([1.7, 1.7])
    assert compare(np.nextafter(want, np.float32(2)), want, Exact()).difference.guess == ""
