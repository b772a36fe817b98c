"""Numbers with running errors: what a straightforward evaluation gives is never outside, and bounds are not idle."""

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from refmlc.oracle.exact.comparison import distance
from refmlc.oracle.exact.definitions.arrays import numbers
from refmlc.oracle.exact.definitions.functions import root
from refmlc.oracle.exact.definitions.numbers import ExactNumber, format_of, product, total
from refmlc.oracle.exact.definitions.table import DEFINITIONS

FLOAT32 = format_of(np.dtype("float32"))
any_float32 = st.floats(width=32)
small = st.floats(-1e4, 1e4, width=32)
vectors = st.lists(small, min_size=1, max_size=12).map(lambda items: np.array(items, "float32"))


def within(actual, exact):
    return distance(np.asarray(actual), exact).wrong == 0


def test_formats_are_those_of_the_standards():
    # IEEE 754-2019 table 3.5; bfloat16 has 8 bits of precision; OCP's e4m3 no infinity, 448 at most
    assert (FLOAT32.bits, FLOAT32.greatest) == (24, Fraction(2**24 - 1) * 2**104)
    assert format_of(np.dtype("float16")).greatest == 65504
    assert format_of(np.dtype(ml_dtypes.bfloat16)).bits == 8
    narrow = format_of(np.dtype(ml_dtypes.float8_e4m3fn))
    assert (narrow.bits, narrow.greatest, narrow.infinite) == (4, 448, False)
    assert format_of(np.dtype("int8")) is None


@pytest.mark.parametrize(("value", "ulp"), [(1, -23), (0.75, -24), (2, -22), (0, -149), (2.0**-149, -149)])
def test_an_ulp_is_the_distance_of_the_neighbours(value, ulp):
    assert FLOAT32.ulp(Fraction(value)) == Fraction(2) ** ulp
    if value:
        assert float(np.spacing(np.float32(value))) == 2.0**ulp


@given(st.fractions(min_value=0, max_value=10**30, max_denominator=10**30))
def test_a_root_squared_is_the_number(x):
    assert abs(root(x) ** 2 - x) <= x * Fraction(1, 2**390)


@given(any_float32, any_float32)
@example(math.inf, -math.inf)
@example(0.0, -0.0)
def test_single_operations_are_those_of_the_hardware(a, b):
    with np.errstate(all="ignore"):
        x, y = np.array([a], "float32"), np.array([b], "float32")
        for name, result in (("add", x + y), ("subtract", x - y), ("multiply", x * y), ("divide", x / y)):
            assert within(result, DEFINITIONS[name].compute(x, y)), name
            if np.isfinite(result).all():
                twice = np.nextafter(np.nextafter(result, np.float32(np.inf)), np.float32(np.inf))
                assert not within(twice, DEFINITIONS[name].compute(x, y)), name


@given(vectors, st.randoms(use_true_random=False))
def test_a_sum_in_any_order_is_within(values, random):
    exact = np.array(total(list(numbers(values)), FLOAT32), object)
    order = values.tolist()
    random.shuffle(order)
    result = np.float32(0)
    for term in order:
        result = np.float32(result + np.float32(term))
    assert within(result, exact)


@given(vectors)
def test_a_product_is_within(values):
    exact = np.array(product(list(numbers(values)), FLOAT32), object)
    with np.errstate(all="ignore"):
        assert within(np.prod(values), exact)


@given(st.lists(st.floats(-1e5, 1e5, width=32), min_size=2, max_size=9))
@example([80000, 80001, 80002, 80003])
def test_a_variance_in_two_passes_is_within(items):
    x = np.array(items, "float32")
    mean = np.float32(0)
    for item in x:
        mean = np.float32(mean + item)
    mean = np.float32(mean / np.float32(len(x)))
    squares = np.float32(0)
    for item in x:
        away = np.float32(item - mean)
        squares = np.float32(squares + np.float32(away * away))
    assert within(np.float32(squares / np.float32(len(x))), DEFINITIONS["variance"].compute(x))


def test_a_variance_in_one_pass_is_outside():
    x = np.array([80000, 80001, 80002, 80003], "float32")
    one_pass = np.mean(x * x) - np.mean(x) ** 2
    assert not within(np.float32(one_pass), DEFINITIONS["variance"].compute(x))
    assert within(np.float32(1.25), DEFINITIONS["variance"].compute(x))


@pytest.mark.parametrize(
    ("a", "b", "result"),
    [  # C11, F.10.4.4
        (-math.inf, 0.7255503, math.inf),
        (-math.inf, 3, -math.inf),
        (-0.0, -3, -math.inf),
        (-0.0, -2.5, math.inf),
        (-1, math.inf, 1),
        (0.5, -math.inf, math.inf),
        (1, math.nan, 1),
        (math.nan, 0, 1),
        (-2, 0.5, math.nan),
        (-2, 3, -8),
    ],
)
def test_powers_at_special_places_are_those_of_c(a, b, result):
    exact = DEFINITIONS["power"].compute(np.array([a], "float32"), np.array([b], "float32"))
    assert within(np.array([result], "float32"), exact)
    assert not within(np.array([7], "float32"), exact)


def test_what_may_overflow_has_no_bound():
    x = np.array([3e38, 3e38, -3e38], "float32")
    assert total(list(numbers(x)), FLOAT32).error == math.inf
    assert distance(np.asarray(np.float32(np.nan)), DEFINITIONS["sum"].compute(x)).free == 1


def test_an_infinity_is_required_where_the_exact_result_overflows():
    x = np.array([3e38], "float32")
    exact = DEFINITIONS["add"].compute(x, x)
    assert within(np.array([np.inf], "float32"), exact)
    assert not within(np.array([np.nan], "float32"), exact)
    assert not within(x, exact)


def test_nan_is_required_where_the_definition_has_it():
    x, y = np.array([np.nan], "float32"), np.array([1], "float32")
    assert not within(y, DEFINITIONS["maximum"].compute(x, y))
    assert within(x, DEFINITIONS["maximum"].compute(x, y))


def test_integers_wrap_and_are_exact():
    x = np.array([100], "int8")
    assert within(np.array([-56], "int8"), DEFINITIONS["add"].compute(x, x))
    assert not within(np.array([-55], "int8"), DEFINITIONS["add"].compute(x, x))


def test_moved_elements_keep_their_bits():
    x = np.array([[0.0, -0.0]], "float32")
    exact = DEFINITIONS["permute_dims"].compute(x)
    assert within(x.T, exact)
    assert not within(np.zeros((2, 1), "float32"), exact)


def test_empty_results_are_equal():
    x = np.zeros((0, 3), "float32")
    assert distance(x, DEFINITIONS["add"].compute(x, x)).total == 0
    assert within(np.zeros(3, "float32"), DEFINITIONS["sum"].compute(x, axis=[0]))


def test_a_number_that_is_used_is_rounded():
    third = ExactNumber(Fraction(1), 0.0, FLOAT32) / ExactNumber(Fraction(3), 0.0, FLOAT32)
    assert third.error == 0.0
    assert Fraction(third.used()) >= Fraction(1, 3) / 2**24
    assert (third * ExactNumber(Fraction(3), 0.0, FLOAT32)).error > 0
