"""Facts at a place, worked by hand."""

import pytest
from places import number, op, var

from refmlc.lang.arith.interval import Interval
from refmlc.lang.dtypes import BOOL, FLOAT32, INT8, INT32, INT64, UINT8, UINT32, dtype
from refmlc.lang.ir import tir
from refmlc.native.analysis.facts import Facts

EMPTY = Facts.empty()
X, J, K, N, M = (var(name) for name in "ijknm")


@pytest.fixture
def grid():
    """`i` in 0 … 15, `j` in 0 … 3."""
    return EMPTY.bind_range(X, 0, 16).bind_range(J, 0, 4)


@pytest.fixture
def symbolic():
    """`i` below `n`, `j` below `m`, both at most 2**20."""
    facts = EMPTY.bind_range(N, 0, 1 << 20).bind_range(M, 0, 1 << 20)
    return facts.bind_range(X, 0, N).bind_range(J, 0, M)


# --------------------------------------------------------------------------------------------- bounds


def test_a_variable_of_which_nothing_is_said_has_the_range_of_its_dtype():
    assert EMPTY.bounds(var("x", INT8)) == (-128, 127)
    assert EMPTY.bounds(var("x", UINT32)) == (0, 2**32 - 1)
    assert EMPTY.bounds(var("x", BOOL)) == (0, 1)
    assert EMPTY.bounds(var("x", FLOAT32)) == (None, None)


def test_affine_terms_cancel(grid):
    row = op("mul", X, 4)
    assert grid.bounds(op("add", row, J)) == (0, 63)
    assert grid.bounds(op("sub", op("add", row, J), row)) == (0, 3)


@pytest.mark.parametrize(
    ("name", "args", "low", "high"),
    [
        ("floordiv", (op("add", op("mul", X, 4), J), 4), 0, 15),
        ("floormod", (op("add", op("mul", X, 4), J), 4), 0, 3),
        ("floordiv", (op("sub", X, 20), 7), -3, -1),
        ("floormod", (op("sub", X, 20), 7), 0, 6),
        ("floormod", (X, op("add", J, 3)), 0, 5),
        ("truncdiv", (op("sub", X, 8), 3), -2, 2),
        ("truncmod", (op("sub", X, 8), 3), -2, 2),
        ("truncmod", (X, 100), 0, 15),
        ("min", (X, J), 0, 3),
        ("max", (X, op("add", J, 20)), 20, 23),
        ("bitwise_and", (op("sub", X, 8), 5), 0, 5),
        ("shift_left", (J, 4), 0, 48),
        ("shift_right", (op("sub", X, 8), 2), -2, 1),
        ("abs", (op("sub", X, 10),), 0, 10),
    ],
)
def test_operators(grid, name, args, low, high):
    assert grid.bounds(op(name, *args)) == (low, high)


def test_digits_of_a_number_put_together_are_the_number():
    facts = EMPTY.bind_range(X, 0, 1024)
    high, middle, low = op("floordiv", X, 128), op("floormod", op("floordiv", X, 8), 16), op("floormod", X, 8)
    whole = op("add", op("mul", op("add", op("mul", high, 16), middle), 8), low)
    assert facts.form(whole) == facts.form(X)
    assert [facts.bounds(part) for part in (high, middle, low)] == [(0, 7), (0, 15), (0, 7)]


def test_narrow_integers_wrap():
    x, y = var("x", INT8), var("y", UINT8)
    assert EMPTY.bounds(op("add", x, 1)) == (-128, 127)
    assert EMPTY.bounds(op("sub", op("add", x, 1), x)) == (-128, 127)
    assert EMPTY.bind_range(x, 0, 10).bounds(op("add", x, 1)) == (1, 10)
    assert EMPTY.bounds(op("sub", y, 1)) == (0, 255)
    assert EMPTY.bind_range(x, 0, 100).bounds(op("shift_left", x, 1)) == (-128, 127)


def test_casts_keep_what_fits_and_wrap_the_rest(grid):
    assert grid.bounds(tir.Cast(INT64, X)) == (0, 15)
    assert grid.form(tir.Cast(INT64, X)) == grid.form(X)
    assert grid.bounds(tir.Cast(UINT8, op("mul", X, 20))) == (0, 255)
    assert grid.bounds(tir.Cast(INT8, op("add", X, 100))) == (100, 115)
    assert grid.bounds(tir.Cast(INT32, var("x", FLOAT32))) == (-(2**31), 2**31 - 1)


def test_arms_are_where_their_conditions_say(grid):
    clamped = tir.IfThenElseExpr(op("lt", X, 5), X, number(2))
    assert grid.bounds(clamped) == (0, 4)
    assert grid.bounds(tir.Select(op("ge", X, 5), number(7), X)) == (0, 7)


def test_a_let_is_its_value(grid):
    x = var("x")
    assert grid.bounds(tir.Let(x, op("mul", X, 4), op("sub", op("add", x, J), op("mul", X, 4)))) == (0, 3)


# ----------------------------------------------------------------------------------------- conditions


def test_conditions_bound_variables_and_forms(grid):
    facts = grid.assume(tir.And(op("le", number(1), op("sub", op("mul", X, 2), 3)), op("lt", X, 7)))
    assert facts.bounds(X) == (2, 6)
    assert facts.bounds(op("sub", op("mul", X, 2), 4)) == (0, 8)
    both = grid.assume(op("lt", op("add", op("mul", X, 4), J), 10))
    assert both.bounds(X) == (0, 2)
    assert both.bounds(op("add", op("mul", X, 4), J)) == (0, 9)


def test_the_negation_of_a_condition(grid):
    outside = tir.Or(op("lt", X, 3), op("gt", X, 12))
    assert grid.assume_not(outside).bounds(X) == (3, 12)
    assert grid.assume_not(tir.Apply("not", (op("lt", X, 3),), BOOL)).bounds(X) == (0, 2)
    assert grid.assume(outside).bounds(X) == (0, 15)
    assert grid.assume(op("ne", X, 0)).bounds(X) == (1, 15)
    assert grid.assume_not(op("ne", X, 9)).bounds(X) == (9, 9)


def test_a_bound_condition_is_known_by_its_name(grid):
    inside = var("inside", BOOL)
    assert grid.bind_value(inside, op("lt", X, 3)).assume(inside).bounds(X) == (0, 2)


def test_what_a_condition_says_of_a_load_is_not_used():
    buffer = tir.Buffer("A", INT32, (number(4),))
    load = tir.BufferLoad(buffer, (number(0),))
    facts = EMPTY.assume(op("lt", load, 3))
    assert facts.bounds(load) == (-(2**31), 2**31 - 1)
    value = var("x")
    assert EMPTY.bind_value(value, load).assume(op("lt", value, 3)).bounds(value) == (-(2**31), 2)


def test_whether_a_condition_holds(grid, symbolic):
    assert grid.holds(op("lt", J, 4)) is True
    assert grid.holds(op("ge", J, 4)) is False
    assert grid.holds(op("lt", J, 3)) is None
    assert grid.holds(tir.And(op("lt", J, 3), op("gt", X, 15))) is False
    assert symbolic.holds(op("le", op("add", X, 1), N)) is True
    assert symbolic.holds(op("eq", op("add", X, N), op("add", N, X))) is True


# --------------------------------------------------------------------------------------------- within


def test_within_constants(grid):
    assert grid.within(op("add", op("mul", X, 4), J), 64)
    assert not grid.within(op("add", op("mul", X, 4), J), 63)
    assert not grid.within(op("sub", X, 1), 16)
    assert grid.within(3, 4)
    assert not grid.within(4, 4)


def test_within_symbolic_extents(symbolic):
    assert symbolic.within(X, N)
    assert not symbolic.within(X, M)
    assert not symbolic.within(op("add", X, 1), N)
    assert symbolic.within(op("add", X, 1), op("add", N, 1))
    assert symbolic.within(op("sub", op("sub", N, X), 1), N)
    assert symbolic.within(op("add", op("mul", X, M), J), op("mul", N, M))
    assert not symbolic.within(op("add", op("mul", X, M), X), op("mul", N, M))


def test_within_under_a_predicate():
    facts = EMPTY.bind_range(N, 0, 1000).bind_range(X, 0, op("floordiv", op("add", N, 15), 16)).bind_range(J, 0, 16)
    index = op("add", op("mul", X, 16), J)
    assert not facts.within(index, N)
    assert facts.assume(op("lt", index, N)).within(index, N)
    assert facts.assume(op("lt", index, N)).within(X, N)


def test_within_quotients_and_remainders_of_variables(symbolic):
    assert symbolic.within(op("floormod", op("mul", X, 7), N), N)
    assert symbolic.within(op("floordiv", X, 2), N)
    halves = EMPTY.bind_range(N, 1, 1000).bind_range(X, 0, op("floordiv", N, 2))
    assert halves.within(op("add", op("mul", X, 2), 1), N)


def test_the_body_of_a_loop_has_an_iteration():
    facts = EMPTY.bind_range(X, 0, N)
    assert facts.bounds(N) == (1, 2**31 - 1)


def test_extents_of_parameters_are_not_negative():
    n = var("n", INT64)
    buffer = tir.Buffer("A", FLOAT32, (op("sub", n, 2),))
    handle = var("a")
    facts = Facts.entry(tir.PrimFunc((handle,), {handle: buffer}, tir.SeqStmt(())))
    assert facts.bounds(n).low == 2


# ---------------------------------------------------------------------------------- defined, in dtype


def test_wide_arithmetic_is_defined_where_it_fits(grid):
    assert grid.is_defined(op("mul", X, 100))
    assert not EMPTY.is_defined(op("mul", N, 2))
    assert not EMPTY.is_defined(op("add", N, 1))
    assert EMPTY.bind_range(X, 0, N).is_defined(op("add", X, 1))
    assert not EMPTY.is_defined(op("sub", var("x", UINT32), 1))
    assert EMPTY.assume(op("gt", var("y", UINT32), 0)).is_defined(op("add", op("mul", number(1), 3), 4))


def test_narrow_arithmetic_is_defined_and_may_not_be_exact():
    x = var("x", INT8)
    assert EMPTY.is_defined(op("add", x, 1))
    assert not EMPTY.in_dtype(op("add", x, 1))
    assert EMPTY.bind_range(x, 0, 100).in_dtype(op("add", x, 1))
    assert EMPTY.is_defined(op("shift_left", N, 3))
    assert not EMPTY.in_dtype(op("shift_left", N, 3))


@pytest.mark.parametrize("name", ["floordiv", "floormod", "truncdiv", "truncmod", "ceildiv"])
def test_divisions_need_a_divisor(grid, name):
    assert grid.is_defined(op(name, X, 3))
    assert not grid.is_defined(op(name, X, J))
    assert grid.is_defined(op(name, X, op("add", J, 1)))


def test_the_least_number_by_minus_one_overflows(grid):
    x = var("x", INT8)
    assert not EMPTY.is_defined(op("floordiv", x, -1))
    assert not EMPTY.is_defined(op("truncmod", x, -1))
    assert EMPTY.is_defined(op("floordiv", x, -2))
    assert grid.is_defined(op("floordiv", X, -1))
    assert EMPTY.is_defined(op("floordiv", var("u", UINT8), 255))


def test_shifts_need_a_count(grid):
    assert grid.is_defined(op("shift_left", X, J))
    assert not grid.is_defined(op("shift_right", X, N))
    assert not grid.is_defined(op("shift_right", X, 32))


def test_other_nodes(grid):
    f = var("f", FLOAT32)
    assert not grid.is_defined(tir.Cast(INT32, f))
    assert grid.is_defined(tir.Cast(FLOAT32, X))
    assert grid.is_defined(op("add", f, f))
    assert not grid.is_defined(tir.Call("exp10", (f,), FLOAT32))
    assert not EMPTY.is_defined(op("clz", N))
    assert grid.is_defined(op("clz", op("add", X, 1)))


def test_floats_without_nan_are_not_proved():
    small, wide = var("f", dtype("float4_e2m1fn")), var("g", FLOAT32)
    assert not EMPTY.is_defined(op("mul", small, small))
    assert not EMPTY.is_defined(tir.Cast(small.dtype, wide))
    assert EMPTY.is_defined(tir.Cast(FLOAT32, small))


# ------------------------------------------------------------------------------------ names and words


def test_a_variable_that_is_bound_again_means_something_else(grid):
    facts = grid.bind_value(K, op("add", X, 1)).assume(op("lt", X, 3))
    again = facts.bind_range(X, 100, 5)
    assert again.bounds(X) == (100, 104)
    assert again.bounds(op("sub", K, X)) != (1, 1)
    assert not again.within(K, 5)


def test_axes_are_their_value_and_in_their_domain(grid):
    axis = var("v")
    facts = grid.bind_axis(axis, 0, 50, op("add", op("mul", X, 4), J))
    assert facts.bounds(axis) == (0, 49)
    assert facts.form(op("sub", axis, J)) == facts.form(op("mul", X, 4))


def test_a_load_of_which_something_is_proved():
    buffer = tir.Buffer("A", INT32, (number(4),))
    load = tir.BufferLoad(buffer, (number(0),))
    assert EMPTY.bind_load(load, Interval(0, 9)).bounds(op("add", load, 1)) == (1, 10)


def test_why(grid, symbolic):
    assert grid.why(X, 16) == "i in 0 … 15, extent 16"
    assert symbolic.why(X, N) == "i in 0 … n - 1, extent n"
    assert EMPTY.why(N, 4) == "n in the whole range of int32, extent 4"
    assert grid.why(op("add", op("mul", X, 4), J), 64) == "i * 4 + j in 0 … 63, extent 64"
