"""Codes against ml_dtypes, NumPy and struct."""

import math

import numpy as np
import pytest
from exact_floats import BITS, assert_same, stored, values
from hypothesis import given, strategies as st

from refmlc.lang.dtypes import HANDLE, SCALARS, dtype
from refmlc.lang.dtypes.bits import decode_table, decoder, encoder, from_bits, nan_code, to_bits

HAVE_NAN = [name for name in BITS if np.isnan(values(name)).any()]


@pytest.mark.parametrize("name", BITS)
def test_every_code_of_a_float_has_its_value(name):
    assert_same(decode_table(dtype(name)), values(name))


@pytest.mark.parametrize("name", BITS)
def test_every_value_of_a_float_has_its_code(name):
    encode = encoder(dtype(name))
    for code, value in enumerate(values(name).tolist()):
        if not math.isnan(value):
            assert encode(value) == code


@pytest.mark.parametrize("name", HAVE_NAN)
def test_nan_has_the_code_that_ml_dtypes_gives_it(name):
    expected = np.array([np.nan], dtype=np.float32).astype(stored(name)).view(f"u{stored(name).itemsize}")[0]
    assert to_bits(dtype(name), math.nan) == expected == nan_code(dtype(name).format)


def test_nan_has_no_code_in_a_finite_format():
    with pytest.raises(ValueError, match="no code for NaN"):
        to_bits(dtype("float4_e2m1fn"), math.nan)


def test_the_wide_formats_are_numpys():
    for name, unsigned in (("float32", np.uint32), ("float64", np.uint64), ("float16", np.uint16)):
        for value in (0.0, -0.0, 1.0, -1.5, math.inf, -math.inf):
            code = int(np.array([value], dtype=name).view(unsigned)[0])
            assert to_bits(dtype(name), value) == code
            assert_same(from_bits(dtype(name), code), value)
    assert to_bits(dtype("float32"), -math.nan) == 0x7FC00000
    assert to_bits(dtype("float64"), math.nan) == 0x7FF8000000000000
    assert math.isnan(from_bits(dtype("float32"), 0xFF800001))


@given(st.sampled_from(["int1", "uint1", "int2", "uint2", "int4", "uint4", "int8", "uint8", "int16", "uint16"]))
def test_integers_are_twos_complement(name):
    row = SCALARS[name]
    table = decode_table(row)
    assert sorted(table) == list(range(row.minimum, row.maximum + 1))
    for code, value in enumerate(table):
        assert to_bits(row, value) == code
        assert (value - code) % 2**row.bits == 0


@given(st.integers(-(2**63), 2**63 - 1))
def test_wide_integers_are_numpys(value):
    code = int(np.array([value], dtype=np.int64).view(np.uint64)[0])
    assert to_bits(dtype("int64"), value) == code
    assert from_bits(dtype("int64"), code) == value
    assert from_bits(dtype("uint64"), code) == code


def test_bools():
    assert [to_bits(dtype("bool"), value) for value in (False, True)] == [0, 1]
    assert [from_bits(dtype("bool"), code) for code in (0, 1, 2, 255)] == [False, True, True, True]


def test_bits_above_the_width_are_not_looked_at():
    assert from_bits(dtype("int4"), 0xF7) == 7
    assert from_bits(dtype("float4_e2m1fn"), 0x37) == 6.0


def test_what_has_no_bits():
    with pytest.raises(ValueError, match="no bits"):
        encoder(HANDLE)
    with pytest.raises(ValueError, match="no bits"):
        decoder(HANDLE)
    with pytest.raises(ValueError, match="too many codes"):
        decode_table(dtype("int32"))
