"""Rules of enclosures one by one, where a wrong one would call a right result wrong. Expected values by hand."""

from fractions import Fraction

import pytest

from refmlc.lang.dtypes import BOOL, FLOAT32, INT32
from refmlc.observe.bounds.enclosure import Enclosure, between, greater, smaller
from refmlc.observe.bounds.freedom import Freedom
from refmlc.observe.bounds.functions import unary
from refmlc.observe.bounds.operators import conversion
from refmlc.observe.bounds.places import Region, View
from refmlc.observe.bounds.roundoff import Grid
from refmlc.observe.bounds.summation import gamma

FREE = Freedom()


def ends(enclosure):
    return enclosure.low, enclosure.high


@pytest.mark.parametrize(
    ("a", "b", "least", "greatest"),
    [
        ((0, 4), (2, 6), (0, 4), (2, 6)),  # either may be the greater one
        ((2, 6), (0, 4), (0, 4), (2, 6)),
        ((0, 1), (2, 3), (0, 1), (2, 3)),  # one of both certainly is
        ((2, 3), (0, 1), (0, 1), (2, 3)),
        ((0, 8), (2, 4), (0, 4), (2, 8)),  # one within the other
    ],
)
def test_the_smaller_and_the_greater_of_two_enclosures(a, b, least, greatest):
    a, b = between(*a), between(*b)
    assert (ends(smaller(a, b)), ends(greater(a, b))) == (least, greatest)


@pytest.mark.parametrize(
    ("name", "a", "values"),
    [
        ("exp2", (0, 3), (1, 8)),
        ("rsqrt", (0.25, 4), (0.5, 2)),
        ("log2", (1, 8), (0, 3)),
        ("acos", (0, 1), (0, 1.5707963)),
        ("sigmoid", (0, 40), (0.5, 1)),
    ],
)
def test_functions_that_grow_or_fall_between_two_numbers(name, a, values):
    found = unary(name, between(*map(Fraction, a)), Grid(FLOAT32, FREE), FREE)
    assert ends(found) == pytest.approx(values, abs=1e-5)
    assert all(found.contains(value) for value in values)


@pytest.mark.parametrize(
    ("indices", "place"), [((0, 0), 1), ((1, 2), 6), ((0, 3), None), ((2, 0), None), ((0, -1), None)]
)
def test_an_index_beyond_its_extent_has_no_place_though_there_is_memory(indices, place):
    view = View(Region(FLOAT32, [None] * 20), (2, 3), (3, 1), 1)
    assert view.place(indices) == place


@pytest.mark.parametrize(
    ("value", "truths"),
    [
        (Enclosure(Fraction(0)), {False}),
        (Enclosure(Fraction(2)), {True}),
        (between(1, 3), {True}),
        (between(-1, 3), {True, False}),
    ],
)
def test_a_number_as_a_bool(value, truths):
    found = conversion(FLOAT32, BOOL, FREE, None)(value)
    assert {bool(each) for each in getattr(found, "values", (found,))} == truths


def test_a_number_as_an_integer_is_cut_off():
    found = conversion(FLOAT32, INT32, FREE, None)(between(Fraction(-3, 2), Fraction(5, 2)))
    assert sorted(found.values) == [-1, 0, 1, 2]


def test_so_many_roundings_that_nothing_is_known():
    assert gamma(2, 0.25) == pytest.approx(1.0)  # 0.5 / (1 - 0.5)
    assert gamma(4, 0.25) == gamma(5, 0.25) == float("inf")
