"""Numbers that may be rounded to a narrower dtype besides, by hand: 11 digits of float16, from 2**-14 to 65504."""

from fractions import Fraction
from math import inf

import pytest

from refmlc.lang.dtypes import dtype
from refmlc.observe.bounds.enclosure import PINF, point
from refmlc.observe.bounds.freedom import Freedom
from refmlc.observe.bounds.roundoff import Grid

FLOAT16 = dtype("float16")
GRID = Grid(dtype("float32"), Freedom(narrow=FLOAT16))


@pytest.mark.parametrize("number", [0.0, 1.0, -2048.0, 2.0**-24, 65504.0])
def test_what_the_narrower_dtype_holds_does_not_move(number):
    assert GRID.narrowed(point(number)) == point(number)
    assert GRID.settle(Fraction(number), 0.0).radius == 0.0


@pytest.mark.parametrize(
    ("number", "rounded"), [(1.0 + 2.0**-12, 1.0), (1.0 + 2.0**-11, 1.0), (2.0**-26, 0.0), (2049.0, 2048.0)]
)
def test_a_number_may_be_what_it_is_and_what_it_is_rounded_to(number, rounded):
    for enclosure in (GRID.narrowed(point(number)), GRID.settle(Fraction(number), 0.0)):
        assert enclosure.contains(number)
        assert enclosure.contains(rounded)
        assert not enclosure.contains(rounded + 4 * (number - rounded))
        assert not enclosure.contains(inf)


def test_what_is_too_large_for_the_narrower_dtype_may_overflow():
    enclosure = GRID.narrowed(point(65520.0))
    assert enclosure.specials == PINF
    assert enclosure.contains(65520.0)
    assert GRID.narrowed(point(65519.0)).specials == 0


def test_without_the_freedom_nothing_moves():
    plain = Grid(dtype("float32"), Freedom())
    assert plain.narrowed(point(1.0 + 2.0**-12)) == point(1.0 + 2.0**-12)
    assert plain.settle(Fraction(1.0 + 2.0**-12), 0.0).radius == 0.0


def test_a_dtype_that_is_no_wider_is_not_rounded():
    assert Grid(FLOAT16, Freedom(narrow=FLOAT16)).narrow is None
