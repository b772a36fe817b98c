"""Where conditions on one loop change, worked by hand."""

import pytest
from nest_kit import const, op, var

from refmlc.lang.ir import tir
from refmlc.native.tile.boxes import cuts, decided
from refmlc.native.tile.dims import Dim

X, Y = var("i"), var("j")
DIM, OTHER = Dim("i", 20), Dim("j", 20)
INDEX = {X: DIM, Y: OTHER}


def number(value):
    return const("int32", value)


CONDITIONS = {  # and the first place from which on it is otherwise
    "i < 8": (op("lt", X, number(8)), 8),
    "i + 2 < 10": (op("lt", op("add", X, number(2)), number(10)), 8),
    "2 + i < 10": (op("lt", op("add", number(2), X), number(10)), 8),
    "i - 2 >= 3": (op("ge", op("sub", X, number(2)), number(3)), 5),
    "10 - i > 2": (op("gt", op("sub", number(10), X), number(2)), 8),
    "3 * i <= 10": (op("le", op("mul", number(3), X), number(10)), 4),
    "10 <= i * 3": (op("le", number(10), op("mul", X, number(3))), 4),
    "i + 4 < 2 * i": (op("lt", op("add", X, number(4)), op("mul", number(2), X)), 5),
    "i + j - j < 8": (op("lt", op("sub", op("add", X, Y), Y), number(8)), 8),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_changes_once(name):
    condition, place = CONDITIONS[name]
    assert cuts([condition], INDEX, DIM) == [0, place, 20]
    before, after = (decided(condition, INDEX, DIM, at) for at in (place - 1, place))
    assert isinstance(before, tir.IntImm)
    assert isinstance(after, tir.IntImm)
    assert (before.value, after.value) in {(0, 1), (1, 0)}
    assert before.value == int(eval(name, {"i": place - 1, "j": 7}))  # noqa: S307 - a text of this file


def test_equality_holds_at_one_place():
    condition = op("eq", op("add", X, number(2)), number(9))
    assert cuts([condition], INDEX, DIM) == [0, 7, 8, 20]


def test_a_condition_on_two_loops_is_not_decided():
    condition = op("lt", op("add", X, Y), number(8))
    assert cuts([condition], INDEX, DIM) == [0, 20]
    assert decided(condition, INDEX, DIM, 3) is condition
