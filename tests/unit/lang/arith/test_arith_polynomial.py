"""Polynomials over atoms: what equal terms share, and which variables they name."""

from itertools import product

import pytest

from refmlc.lang.arith.extents import certainly_different, polynomial
from refmlc.lang.arith.interval import Interval
from refmlc.lang.arith.polynomial import show, variables
from refmlc.lang.dtypes import INT64
from refmlc.lang.ir import tir

N, M = tir.Var("n", INT64), tir.Var("m", INT64)
LOAD = tir.Call("f", (N,), INT64)


def apply(op, *args):
    numbers = (tir.IntImm(INT64, arg) if isinstance(arg, int) else arg for arg in args)
    return tir.Apply(op, tuple(numbers), INT64)


def form(expr):
    return polynomial(expr, {})


def test_what_no_polynomial_is_counts_as_one_unknown():
    quotient = apply("floordiv", apply("add", N, N), 3)
    assert form(quotient) == form(apply("floordiv", apply("mul", N, 2), 3))
    assert form(quotient) != form(apply("floordiv", apply("mul", N, 3), 3))
    assert certainly_different(form(apply("add", quotient, 1)), form(quotient))
    assert not certainly_different(form(quotient), form(apply("floormod", apply("mul", N, 2), 3)))


def test_an_expression_that_is_no_operator_is_one_unknown_too():
    assert (form(apply("add", LOAD, 1)) - form(LOAD)).only == 1
    assert (form(LOAD) - form(tir.Call("g", (N,), INT64))).only is None
    assert set(variables(form(apply("mul", LOAD, M)))) == {N, M}


def test_polynomials_are_shown_as_sums():
    assert show(form(apply("sub", apply("mul", N, 4), apply("floordiv", M, 2)))) == "n * 4 - (m // 2)"


TOTAL = {
    "plus": lambda x, y: x + y,
    "minus": lambda x, y: x - y,
    "times": lambda x, y: x * y,
    "smaller": min,
    "greater": max,
}
DIVIDED = {
    "floordiv": lambda x, y: x // y,
    "floormod": lambda x, y: x % y,
    "truncdiv": lambda x, y: abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1),
    "truncmod": lambda x, y: abs(x) % abs(y) * (1 if x >= 0 else -1),
}
RANGES = [Interval(low, high) for low, high in product((-5, -2, 0, 3), (-4, -1, 0, 2, 6)) if low <= high]


@pytest.mark.parametrize("name", [*TOTAL, *DIVIDED])
def test_an_interval_holds_every_result(name):
    meaning = TOTAL.get(name) or DIVIDED[name]
    for left, right in product(RANGES, RANGES):
        pairs = product(range(left.low, left.high + 1), range(right.low, right.high + 1))
        results = [meaning(x, y) for x, y in pairs if name in TOTAL or y]
        interval = getattr(left, name)(right)
        assert all(interval.low <= result <= interval.high for result in results), (left, right)
        if name in TOTAL:
            assert (interval.low, interval.high) == (min(results), max(results))
