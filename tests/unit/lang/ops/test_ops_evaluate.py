"""The value of an expression whose variables have values."""

import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import BOOL, FLOAT32, INT32, INT64, dtype
from refmlc.lang.ir import tir
from refmlc.lang.ops.evaluate import Unbound, evaluate, known

N = tir.Var("n", INT64)


def num(value, kind=INT64):
    return tir.IntImm(kind, value)


def apply(op, *args, result=INT64):
    return tir.Apply(op, args, result)


DIVISIONS = [
    # a, b, truncdiv, truncmod, floordiv, floormod, by hand from the definitions in NUM-104
    (7, 2, 3, 1, 3, 1),
    (-7, 2, -3, -1, -4, 1),
    (7, -2, -3, 1, -4, -1),
    (-7, -2, 3, -1, 3, -1),
    (-1, 3, 0, -1, -1, 2),
    (1, -3, 0, 1, -1, -2),
    (-6, 3, -2, 0, -2, 0),
]


@pytest.mark.parametrize(("a", "b", "truncdiv", "truncmod", "floordiv", "floormod"), DIVISIONS)
def test_divisions(a, b, truncdiv, truncmod, floordiv, floormod):
    found = [known(apply(op, N, num(b)), {N: a}) for op in ("truncdiv", "truncmod", "floordiv", "floormod")]
    assert found == [truncdiv, truncmod, floordiv, floormod]


@pytest.mark.parametrize(("a", "b", "value"), [(7, 2, 4), (-7, 2, -3), (5, -2, -1), (6, 3, 2)])
def test_ceildiv_is_what_its_clause_says(a, b, value):
    assert known(apply("ceildiv", num(a), num(b))) == value


@pytest.mark.parametrize(
    ("expr", "value"),
    [
        (apply("add", N, num(1)), None),
        (apply("floordiv", num(1), num(0)), None),
        (apply("shift_left", num(1), num(64)), None),
        (apply("mul", num(1 << 62), num(2)), None),
        (apply("no_such_operator", num(1)), None),
        (tir.FloatImm(FLOAT32, 2.0), None),
        (apply("add", num(127, dtype("int8")), num(1, dtype("int8")), result=dtype("int8")), -128),
        (apply("lt", num(1), num(2), result=BOOL), 1),
        (tir.Cast(dtype("uint8"), num(-1)), 255),
        (tir.Cast(INT32, tir.FloatImm(FLOAT32, -2.75)), -2),
    ],
)
def test_known_is_an_integer_or_none(expr, value):
    found = known(expr)
    assert found == value
    assert type(found) is type(value)


def test_a_variable_without_a_value_is_told_apart():
    with pytest.raises(Unbound) as caught:
        evaluate(apply("add", num(1), N), {})
    assert caught.value.var is N


def test_what_is_no_arithmetic_is_refused():
    with pytest.raises(RefmlcError) as caught:
        evaluate(tir.Call("vscale", (), INT32), {})
    assert caught.value.code.id == "RM504"
