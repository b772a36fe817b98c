"""Arithmetic on symbolic dimensions, node by node."""

import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import BOOL, FLOAT32, INT32, INT64, dtype
from refmlc.lang.ir import tir
from refmlc.run.interp.graph.type_match import eval_dim

N = tir.Var("n", INT64)
M = tir.Var("m", INT64)
KNOWN = {N: 7}
VECTOR = tir.Var("v", INT32.with_lanes(4))


def num(value):
    return tir.IntImm(INT64, value)


def apply(op, *args, result=INT64):
    return tir.Apply(op, args, result)


YES, NO = tir.IntImm(BOOL, 1), tir.IntImm(BOOL, 0)
BROKEN = apply("floordiv", N, num(0))
TROUBLE = apply("eq", BROKEN, num(0), result=BOOL)


@pytest.mark.parametrize(
    ("expr", "value"),
    [
        (N, 7),
        (num(3), 3),
        (YES, True),
        (tir.FloatImm(FLOAT32, 0.5), 0.5),
        (apply("add", apply("mul", N, num(2)), num(1)), 15),
        (apply("floordiv", N, num(-2)), -4),
        (apply("truncdiv", apply("sub", num(0), N), num(2)), -3),
        (apply("max", N, num(9)), 9),
        (apply("lt", N, num(9), result=BOOL), True),
        (tir.Cast(INT32, apply("add", N, num(1))), 8),
        (tir.Cast(FLOAT32, N), 7.0),
        (tir.And(NO, TROUBLE), False),
        (tir.And(YES, YES), True),
        (tir.Or(YES, TROUBLE), True),
        (tir.Or(NO, NO), False),
        (tir.IfThenElseExpr(YES, N, BROKEN), 7),
        (tir.IfThenElseExpr(NO, BROKEN, N), 7),
        (tir.Select(YES, N, num(1)), 7),
        (tir.Select(NO, N, num(1)), 1),
        (tir.Let(M, apply("add", N, num(1)), apply("mul", M, M)), 64),
    ],
)
def test_values(expr, value):
    found = eval_dim(expr, KNOWN)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("expr", "code"),
    [
        (M, "RM211"),
        (BROKEN, "RM307"),
        (tir.Select(YES, N, BROKEN), "RM307"),
        (apply("mul", num(1 << 62), num(2)), "RM306"),
        (apply("no_such_operator", N), "RM501"),
        (apply("add", N, tir.FloatImm(FLOAT32, 1.0)), "RM503"),
        (tir.Apply("add", (VECTOR, VECTOR), VECTOR.dtype), "RM503"),
        (tir.Call("vscale", (), INT32), "RM504"),
        (tir.Cast(dtype("int8"), tir.FloatImm(FLOAT32, 1e9)), "RM309"),
    ],
)
def test_failures(expr, code):
    with pytest.raises(RefmlcError) as caught:
        eval_dim(expr, {**KNOWN, VECTOR: (0, 0, 0, 0)})
    assert caught.value.code.id == code
