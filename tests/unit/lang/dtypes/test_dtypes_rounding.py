"""Rounding against ml_dtypes' tables of values, NumPy's casts where they are right, and exact fractions."""

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from exact_floats import BITS, SMALL, assert_same, nearest, values
from hypothesis import given, strategies as st

from refmlc.lang.dtypes import SCALARS, dtype
from refmlc.lang.dtypes.rounding import int_rounder, round_fraction, round_int, rounder, wrap

NARROW = tuple(BITS)
FLOATS = (*NARROW, "float32", "float64")


def neighbourhood(name):
    """Every value, every midpoint, and the binary64 numbers next to them."""
    table = np.unique(values(name)[np.isfinite(values(name))])
    points = np.concatenate([table, table[:-1] + np.diff(table) / 2])
    top = table[-1]
    points = np.concatenate(
        [points, top * np.linspace(1, 2, 65), -top * np.linspace(1, 2, 65), [np.inf, -np.inf, np.nan]]
    )
    return np.concatenate([points, np.nextafter(points, np.inf), np.nextafter(points, -np.inf), [-0.0]])


@pytest.mark.parametrize("name", SMALL)
def test_small_formats_round_every_value_and_midpoint(name):
    points = neighbourhood(name)
    rounded = rounder(dtype(name))
    assert_same([rounded(x) for x in points.tolist()], nearest(name, points), points)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_16_bit_formats_round_every_value_and_midpoint(name):
    points = neighbourhood(name)[:: 1 if name == "float16" else 2]
    rounded = rounder(dtype(name))
    assert_same([rounded(x) for x in points.tolist()], nearest(name, points), points)


@pytest.mark.parametrize("name", SMALL)
def test_small_formats_round_small_numbers_and_noise(name):
    rng = np.random.default_rng(7)
    points = rng.standard_normal(3000) * 2.0 ** rng.integers(-140, 140, 3000)
    rounded = rounder(dtype(name))
    assert_same([rounded(x) for x in points.tolist()], nearest(name, points), points)


@given(st.floats(width=64))
def test_float16_and_float32_round_as_numpy_does(x):
    with np.errstate(over="ignore"):
        assert_same(rounder(dtype("float16"))(x), np.float64(np.float16(x)))
        assert_same(rounder(dtype("float32"))(x), np.float64(np.float32(x)))
    assert_same(rounder(dtype("float64"))(x), x)


def test_bfloat16_rounds_once_where_ml_dtypes_rounds_twice():
    # ml_dtypes goes by float32, where the last digit is lost and a tie appears.
    x = 1 + 2.0**-8 + 2.0**-40
    assert rounder(dtype("bfloat16"))(x) == 1.0078125
    assert float(np.float64(x).astype(ml_dtypes.bfloat16)) == 1.0
    assert rounder(dtype("bfloat16"))(1 + 2.0**-8) == 1.0
    assert rounder(dtype("bfloat16"))(1 + 3 * 2.0**-8) == 1.015625


@pytest.mark.parametrize(
    ("name", "x", "expected"),
    [
        ("float8_e4m3fn", 464.0, 448.0),
        ("float8_e4m3fn", 464.00000000000006, math.nan),
        ("float8_e4m3fn", math.inf, math.nan),
        ("float8_e5m2", 61440.0, math.inf),
        ("float8_e5m2", 61439.0, 57344.0),
        ("float8_e4m3fnuz", -1e-9, 0.0),
        ("float8_e4m3fn", -1e-9, -0.0),
        ("float4_e2m1fn", 1e300, 6.0),
        ("float4_e2m1fn", -math.inf, -6.0),
        ("float4_e2m1fn", 0.25, 0.0),
        ("float4_e2m1fn", 0.75, 1.0),
        ("float8_e8m0fnu", 1.5, 2.0),
        ("float8_e8m0fnu", 3.0, 4.0),
        ("float8_e8m0fnu", 1e-300, 2.0**-127),
        ("float8_e8m0fnu", 0.0, math.nan),
        ("float8_e8m0fnu", 1e300, math.nan),
        ("float32", 3.4028235677973366e38, math.inf),
        ("float32", 3.4028235677973362e38, 3.4028234663852886e38),
        ("float16", 65520.0, math.inf),
        ("float16", 65519.99999999999, 65504.0),
    ],
)
def test_edges(name, x, expected):
    assert_same(rounder(dtype(name))(x), expected)
    if math.isfinite(x):
        assert_same(round_fraction(Fraction(x), dtype(name)), expected)


@given(st.sampled_from(FLOATS), st.fractions(max_denominator=10**30), st.integers(-300, 300))
def test_fractions_round_to_the_nearest(name, fraction, exponent):
    # Witness: no value of the format is nearer, which the neighbours in bits decide.
    row = dtype(name).format
    exact = fraction * Fraction(2) ** exponent
    result = round_fraction(exact, dtype(name))
    if not math.isfinite(result):
        assert row.special == "e8m0" or abs(exact) > row.maximum
        return
    assert rounder(dtype(name))(result) == result
    spacing = max(Fraction(math.ulp(result)) * 2 ** (53 - row.precision), Fraction(row.smallest))
    if abs(exact) <= row.maximum and not (row.special == "e8m0" and exact < row.smallest):
        assert abs(exact - Fraction(result)) <= spacing / 2


@given(st.sampled_from(FLOATS), st.floats(allow_nan=False, allow_infinity=False))
def test_the_fast_way_is_the_definition(name, x):
    if x:
        assert_same(rounder(dtype(name))(x), round_fraction(Fraction(x), dtype(name)))


def test_a_zero_fraction_is_positive_zero():
    assert_same(round_fraction(Fraction(0), dtype("float32")), 0.0)
    assert_same(round_fraction(Fraction(0), dtype("float8_e8m0fnu")), math.nan)
    assert_same(round_fraction(Fraction(-1, 10**60), dtype("float32")), -0.0)
    assert_same(round_fraction(Fraction(-1, 10**60), dtype("float8_e5m2fnuz")), 0.0)


def test_integers_round_once():
    # 2**64 - 2**39 - 1 is just below a midpoint of float32; by way of float64 it would become the midpoint.
    number = 2**64 - 2**39 - 1
    assert round_int(number, dtype("float32")) == float(np.uint64(number).astype(np.float32)) == 2.0**64 - 2.0**40
    assert round_int(number + 1, dtype("float32")) == 2.0**64
    assert round_int(70000, dtype("float16")) == math.inf
    assert round_int(-300, dtype("float4_e2m1fn")) == -6.0
    assert round_int(2**53 + 1, dtype("float64")) == 2.0**53
    assert round_int(2**2000, dtype("float64")) == math.inf


@given(st.integers(-(2**64), 2**64))
def test_integers_round_as_fractions_do(number):
    for name in FLOATS:
        if number:
            assert_same(int_rounder(dtype(name))(number), round_fraction(Fraction(number), dtype(name)))


@given(st.integers(-(2**70), 2**70))
def test_wrapping_is_modulo(number):
    for name in ("int1", "uint1", "int2", "uint4", "int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"):
        row = SCALARS[name]
        wrapped = wrap(row, number)
        assert row.minimum <= wrapped <= row.maximum
        assert (wrapped - number) % 2**row.bits == 0


def test_two_rounders_do_not_share_their_cell():
    one, other = rounder(dtype("float32")), rounder(dtype("float32"))
    assert one is not other


def test_formats_know_their_ends():
    for name in NARROW:
        table, row = values(name), dtype(name).format
        finite = table[np.isfinite(table)]
        assert row.maximum == finite.max()
        assert row.smallest == finite[finite > 0].min()
        assert row.has_infinity == np.isinf(table).any()
        assert row.has_nan == np.isnan(table).any()
        assert row.has_negative_zero == ((table == 0) & np.signbit(table)).any()
    assert dtype("float32").format.maximum == float(np.finfo(np.float32).max)
    assert dtype("float64").format.smallest == 5e-324
