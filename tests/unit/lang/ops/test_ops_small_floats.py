"""Floats of up to 16 bits: all pairs, all values, against ml_dtypes' tables and exact binary64 arithmetic."""

import math

import numpy as np
import pytest
from calculator import UNDEFINED, function, outcome
from exact_floats import BITS, FLOAT8, SATURATING, SMALL, assert_same, nearest, values

from refmlc.lang.ops.contract import UndefinedValue

INTEGRAL = {"ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "round": np.rint, "nearbyint": np.rint}
ARITHMETIC = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "truncmod": np.fmod,
    "fmod": np.fmod,
}


def finite_or_nan(found):
    """NaN for the finding that a dtype has no NaN."""
    return [math.nan if isinstance(x, tuple) and x[:2] == (UNDEFINED, "RM311") else x for x in found]


def pairs(name, step=1):
    table = values(name)
    table = table if name not in SATURATING else table[np.isfinite(table)]
    a, b = np.meshgrid(table, table)
    return a.ravel()[::step], b.ravel()[::step]


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("op", ARITHMETIC)
def test_arithmetic_on_all_pairs(op, name):
    """Sums, products and remainders of two such numbers are exact in binary64 (of float8_e8m0fnu: near enough)."""
    a, b = pairs(name)
    call = function(op, name)
    with np.errstate(all="ignore"):
        wanted = nearest(name, ARITHMETIC[op](a, b))
    found = [outcome(call, x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert_same(finite_or_nan(found), wanted, a, b)


@pytest.mark.parametrize("name", SMALL)
def test_selection_and_signs_on_all_pairs(name):
    a, b = pairs(name, 3)
    for op, wanted in (("max", np.where(a > b, a, b)), ("min", np.where(a < b, a, b))):
        call = function(op, name)
        assert_same([call(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)], wanted, a, b)
    call = function("copysign", name)
    wanted = nearest(name, np.where(np.isnan(b) | ~np.signbit(b), np.abs(a), -np.abs(a)))
    assert_same([call(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)], wanted, a, b)


@pytest.mark.parametrize("name", SMALL)
def test_comparisons_on_all_pairs(name):
    a, b = pairs(name, 3)
    relations = {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}
    for op, wanted in relations.items():
        call = function(op, name)
        assert [call(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)] == wanted.tolist()


@pytest.mark.parametrize("name", SMALL)
def test_nextafter_on_all_pairs(name):
    table = values(name)
    order = np.unique(table[~np.isnan(table)])
    a, b = pairs(name)
    call = function("nextafter", name)
    spot = np.searchsorted(order, a)
    step = np.where(b > a, 1, -1)
    wanted = order[np.clip(spot + step, 0, len(order) - 1)]
    wanted = np.where(
        (wanted == 0) & (a < 0), -0.0 if name not in _WITHOUT_MINUS_ZERO else 0.0, np.where(wanted == 0, 0.0, wanted)
    )
    wanted = np.where(np.isnan(a) | np.isnan(b), np.nan, np.where(a == b, b, wanted))
    assert_same([call(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)], wanted, a, b)


_WITHOUT_MINUS_ZERO = tuple(name for name in FLOAT8 if name.endswith("fnuz"))


@pytest.mark.parametrize("name", BITS)
@pytest.mark.parametrize("op", INTEGRAL)
def test_integral_values_of_all_values(op, name):
    table = values(name)
    call = function(op, name)
    with np.errstate(invalid="ignore"):
        wanted = INTEGRAL[op](table)
    assert_same(finite_or_nan([outcome(call, x) for x in table.tolist()]), nearest(name, wanted), table)


@pytest.mark.parametrize("name", BITS)
def test_classes_and_size_of_all_values(name):
    table = values(name)
    for op, wanted in (("isnan", np.isnan), ("isinf", np.isinf), ("isfinite", np.isfinite)):
        assert [function(op, name)(x) for x in table.tolist()] == wanted(table).tolist()
    assert_same([function("abs", name)(x) for x in table.tolist()], np.abs(table), table)
    assert_same([function("likely", name)(x) for x in table.tolist()], table, table)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "fmod"])
def test_arithmetic_on_16_bits(op, name):
    rng = np.random.default_rng(1)
    table = values(name)
    edges = table[np.r_[0:4, 0x3B00:0x3F00:61, 0x7BF0:0x7C04, 0x7F70:0x7F84, 0x8000:0x8004, 0xBC00:0xC000:67]]
    a = np.concatenate([np.repeat(edges, len(edges)), rng.choice(table, 20000)])
    b = np.concatenate([np.tile(edges, len(edges)), rng.choice(table, 20000)])
    call = function(op, name)
    with np.errstate(all="ignore"):
        exact = ARITHMETIC[op](a, b)  # of bfloat16 far apart a sum is not exact, but no tie is made or broken by that
    assert_same([call(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)], nearest(name, exact), a, b)


@pytest.mark.parametrize("name", BITS)
def test_ldexp_scales_by_powers_of_two(name):
    table = values(name)[::5]
    call = function("ldexp", name, "int32")
    for power in (-300, -10, -1, 0, 1, 7, 300, 5000, -5000):
        with np.errstate(over="ignore", under="ignore"):
            exact = np.ldexp(table, power)
        tiny = np.copysign(5e-324, table)  # what binary64 has no number for is not 0, which float8_e8m0fnu has not
        exact = np.where((exact == 0) & (table != 0), tiny, exact)
        found = finite_or_nan([outcome(call, x, power) for x in table.tolist()])
        assert_same(found, nearest(name, exact), table)


def test_a_missing_nan_is_said():
    with pytest.raises(UndefinedValue, match="the result is NaN, which float4_e2m1fn does not have"):
        function("div", "float4_e2m1fn")(0.0, 0.0)
