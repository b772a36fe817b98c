"""A cast always rounds: no freedom leaves it out. Expected values by hand: the neighbours of a number in its format."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from refmlc.lang.dtypes import SCALARS
from refmlc.lang.dtypes.rounding import round_fraction
from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.bounds.certify import certify
from refmlc.observe.bounds.enclosure import NAN, PINF, Enclosure, between, point
from refmlc.observe.bounds.freedom import Freedom
from refmlc.observe.bounds.roundoff import Grid

FORMATS = ("float16", "bfloat16", "float32", "float8_e4m3fn", "float4_e2m1fn", "float64")


def each(expression, values, dtype, out):
    count = len(values)
    text = f"""
@T.prim_func
def main(A: T.Buffer(({count},), "{dtype}"), B: T.Buffer(({count},), "{out}")):
    for i in range({count}):
        B[i] = {expression}
"""
    return certify(read(text), "main", [np.array(values, dtype), np.zeros(count, out)]).outputs[-1]


@pytest.mark.parametrize(
    ("through", "dtype", "value", "rounded", "out"),
    [
        ("float32", "int32", 16777217, 16777216, "int64"),
        ("float32", "int32", 16777219, 16777220, "int64"),
        ("float32", "int64", -(2**31) - 1, -(2**31), "int64"),
        ("float32", "int32", 16777217, 16777216, "float64"),
        ("float32", "float64", 0.1, float(np.float32(0.1)), "float64"),
        ("float16", "int32", 2049, 2048, "int32"),
        ("float16", "float32", 2051.0, 2052.0, "float32"),
        ("float16", "float32", 2049.0, 2048, "int32"),
        ("bfloat16", "int32", 257, 256, "int32"),
        ("bfloat16", "float32", 257.0, 256.0, "float32"),
        ("float8_e4m3fn", "float32", 17.0, 16.0, "float32"),
    ],
)
def test_a_cast_there_and_back(through, dtype, value, rounded, out):
    found = each(f'T.Cast("{out}", T.Cast("{through}", A[i]))', [value], dtype, out)
    assert found.permits(0, rounded)
    assert not found.permits(0, value)
    assert found.exact


def test_a_cast_within_a_computation():
    found = each('T.Cast("float32", T.Cast("float16", A[i])) + T.float32(0.0)', [2049.0], "float32", "float32")
    assert found.permits(0, 2048.0)
    assert not found.permits(0, 2049.0)
    assert not found.exact


def test_the_operand_of_a_cast_is_as_free_as_before():
    # the square of 1 + 2**-13 is 1 + 2**-12 + 2**-26, which float32 rounds or not; float16 makes 1 of both
    found = each('T.Cast("float32", T.Cast("float16", A[i] * A[i]))', [1 + 2**-13, 3.0], "float32", "float32")
    assert [found.permits(0, 1.0), found.permits(0, 1 + 2**-12), found.permits(1, 9.0)] == [True, False, True]


def test_a_sum_may_be_kept_wide_where_nothing_is_cast():
    found = each('T.Cast("int32", A[i] + T.float16(1))', [2048.0], "float16", "int32")
    assert found.permits(0, 2048)
    assert found.permits(0, 2049)
    found = each(
        'T.Cast("int32", T.Cast("float16", T.Cast("float32", A[i]) + T.float32(1)))', [2048.0], "float16", "int32"
    )
    assert found.permits(0, 2048)
    assert not found.permits(0, 2049)


def test_a_cast_overflows_where_it_does():
    found = each('T.Cast("float16", A[i])', [65519.0, 65520.0, -1e9, math.nan], "float32", "float16")
    assert [found.permits(0, 65504.0), found.permits(0, math.inf)] == [True, False]
    assert [found.permits(1, 65504.0), found.permits(1, math.inf)] == [False, True]
    assert [found.permits(2, -math.inf), found.permits(2, math.inf), found.permits(2, -65504.0)] == [True, False, False]
    assert found.elements[3].specials == NAN


def test_a_choice_of_integers_is_rounded():
    grid = Grid(SCALARS["float32"], Freedom())
    found = grid.image(between(Fraction(16777216), Fraction(16777219)))
    assert [found.contains(x) for x in (16777216.0, 16777220.0, 16777222.0)] == [True, True, False]


def test_what_has_no_bound_is_any_number_and_what_overflow_gives():
    found = Grid(SCALARS["float16"], Freedom()).image(Enclosure(Fraction(0), math.inf, PINF))
    assert [found.contains(x) for x in (0.0, 65504.0, -65504.0, math.inf, -math.inf)] == [True] * 5
    assert not found.contains(math.nan)
    assert Grid(SCALARS["float8_e4m3fn"], Freedom()).image(point(math.inf)).specials == NAN
    assert Grid(SCALARS["float4_e2m1fn"], Freedom()).image(point(1e9)) == point(6.0)


@given(st.sampled_from(FORMATS), st.floats(-1e6, 1e6), st.floats(0, 100), st.floats(0, 1))
def test_each_member_is_rounded_into_the_image(name, low, width, at):
    kind = SCALARS[name]
    low, high = Fraction(low), Fraction(low) + Fraction(width)
    member = low + (high - low) * Fraction(at)
    image = Grid(kind, Freedom()).image(between(low, high))
    assert image.contains(round_fraction(member, kind))
    ends = [end for end in (round_fraction(low, kind), round_fraction(high, kind)) if math.isfinite(end)]
    if len(ends) == 2 and image.finite:  # and it is no wider than from end to end, to the precision of a bound
        assert image.high - image.low <= (Fraction(ends[1]) - Fraction(ends[0])) * (1 + Fraction(1, 2**50))
