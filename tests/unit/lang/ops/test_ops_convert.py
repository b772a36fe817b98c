"""Conversions: all values of 8 bits, boundaries above, against NumPy, ml_dtypes' tables and rational arithmetic."""

import itertools
import math

import numpy as np
import pytest
from calculator import UNDEFINED, outcome
from exact_floats import BITS, SATURATING, assert_same, nearest, values
from hypothesis import given, strategies as st

from refmlc.diag import Unsupported
from refmlc.lang.dtypes import BOOL, HANDLE, SCALARS, VOID, dtype
from refmlc.lang.dtypes.bits import from_bits, to_bits
from refmlc.lang.dtypes.rounding import rounder
from refmlc.lang.ops.contract import UndefinedValue
from refmlc.lang.ops.scalar import converter
from refmlc.lang.ops.scalar.convert import contains, reinterpreter

INTEGERS = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (1, 2, 4, 8, 16, 32, 64)]
FLOATS = [*BITS, "float32", "float64"]
WIDE = {"float32": np.float32, "float64": np.float64}


def some_integers(name):
    row = dtype(name)
    if row.bits <= 8:
        return list(range(row.minimum, row.maximum + 1))
    near = [row.minimum, row.minimum + 1, -1, 0, 1, 127, 128, 255, 256, 65504, 65520, row.maximum - 1, row.maximum]
    return [x for x in (*near, 2**24 + 1, 2**53 + 1) if row.minimum <= x <= row.maximum]


@pytest.mark.parametrize(("source", "target"), list(itertools.product(INTEGERS, repeat=2)))
def test_integers_to_integers_are_modulo(source, target):
    convert = converter(dtype(source), dtype(target))
    row = dtype(target)
    for x in some_integers(source):
        value = convert(x)
        assert row.minimum <= value <= row.maximum
        assert (value - x) % 2**row.bits == 0


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_and_bools(name):
    to_bool, from_bool = converter(dtype(name), BOOL), converter(BOOL, dtype(name))
    for x in some_integers(name):
        assert to_bool(x) is (x != 0)
    assert from_bool(False) == 0
    assert from_bool(True) == (-1 if name == "int1" else 1)
    assert type(from_bool(True)) is int
    assert converter(BOOL, BOOL)(True) is True


@pytest.mark.parametrize(("source", "target"), list(itertools.product(["bool", *INTEGERS], FLOATS)))
def test_integers_to_floats_round_once(source, target):
    convert = converter(dtype(source), dtype(target))
    numbers = [False, True] if source == "bool" else some_integers(source)
    if target in WIDE:
        # NumPy rounds once from (u)int64.
        kind = np.uint64 if source[0] in "ub" else np.int64
        wanted = np.array(numbers, dtype=kind).astype(WIDE[target]).astype(np.float64)
    else:
        # float64 holds these numbers or is on the same side of every midpoint of a format with 11 digits.
        wanted = nearest(target, np.array(numbers, dtype=np.float64))
    found = [convert(x) for x in numbers]
    assert all(type(x) is float for x in found)
    assert_same(found, wanted, numbers)


def some_floats(name):
    if name in BITS:
        table = values(name)
        table = table[~np.isnan(table)] if name in SATURATING else table
        return table[:: 1 if len(table) <= 256 else 97].tolist()
    edges = [0.0, -0.0, 0.5, -0.5, -0.99, 1.0, -1.0, 1.5, 127.9, 128.0, -128.9, -129.0, 255.9, 256.0, 65519.0, 65520.0]
    edges += [2.0**31, -(2.0**31), 2.0**32, 2.0**63, -(2.0**63), 2.0**64, 1e-45, 1e38, math.inf, -math.inf, math.nan]
    edges += [2.0**31 - 128, 2.0**63 - 2.0**39, 464.0, 448.1, 1e-9]
    rounded = rounder(dtype(name))
    return [rounded(x) for x in edges]


@pytest.mark.parametrize(("source", "target"), list(itertools.product(FLOATS, INTEGERS)))
def test_floats_to_integers_drop_the_fraction(source, target):
    convert = converter(dtype(source), dtype(target))
    bits = int(target.lstrip("uint"))
    low, high = (0, 2**bits - 1) if target[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    for x in some_floats(source):
        found = outcome(convert, x)
        if math.isfinite(x) and low - 1 < x < high + 1:
            assert found == math.trunc(x)
            assert type(found) is int
        else:
            assert found == (UNDEFINED, "RM309", None)


@pytest.mark.parametrize("source", FLOATS)
def test_floats_to_bool(source):
    convert = converter(dtype(source), BOOL)
    for x in some_floats(source):
        assert convert(x) is (x != 0.0)


@pytest.mark.parametrize(("source", "target"), list(itertools.product(FLOATS, repeat=2)))
def test_floats_to_floats_round_once(source, target):
    convert = converter(dtype(source), dtype(target))
    x = np.array(some_floats(source))
    with np.errstate(over="ignore"):
        wanted = x.astype(WIDE[target]).astype(np.float64) if target in WIDE else nearest(target, x)
    found = [outcome(convert, value) for value in x.tolist()]
    if target in SATURATING:
        missing = [isinstance(value, tuple) and value[1] == "RM311" for value in found]
        assert missing == np.isnan(x).tolist()
        found = [math.nan if is_missing else value for value, is_missing in zip(found, missing, strict=True)]
    assert_same(found, x if source == target else wanted, x)


@given(st.floats())
def test_float64_to_the_16_bit_formats_rounds_once(x):
    for name in ("float16", "bfloat16"):
        assert_same([converter(dtype("float64"), dtype(name))(x)], nearest(name, [x]), [x])


def test_a_format_contains_another_when_all_its_values_are_there():
    for wide, narrow in itertools.product(BITS, repeat=2):
        if contains(dtype(wide), dtype(narrow)):
            table = values(narrow)
            table = table[~np.isnan(table)]
            assert_same(nearest(wide, table), table)
    assert contains(dtype("float32"), dtype("bfloat16"))
    assert contains(dtype("bfloat16"), dtype("float8_e5m2fnuz"))
    assert not contains(dtype("float16"), dtype("bfloat16"))
    assert not contains(dtype("float8_e5m2"), dtype("float8_e4m3fn"))


@pytest.mark.parametrize(("source", "target"), [(HANDLE, VOID), (dtype("int64"), HANDLE), (HANDLE, dtype("bool"))])
def test_handles_do_not_convert(source, target):
    with pytest.raises(Unsupported, match="RM503"):
        converter(source, target)


def test_handles_are_themselves():
    marker = object()
    assert converter(HANDLE, HANDLE)(marker) is marker


def test_the_message_holds_the_value():
    with pytest.raises(UndefinedValue, match=r"^300\.0 of float32 has no value in int8$"):
        converter(dtype("float32"), dtype("int8"))(300.0)


@given(st.integers(0, 2**32 - 1))
def test_reinterpret_keeps_the_bits(code):
    as_float = float(np.array([code], dtype=np.uint32).view(np.float32)[0])
    assert_same([reinterpreter(dtype("uint32"), dtype("float32"))(code)], [as_float])
    if not math.isnan(as_float):
        assert reinterpreter(dtype("float32"), dtype("uint32"))(as_float) == code
        signed = int(np.array([code], dtype=np.uint32).view(np.int32)[0])
        assert reinterpreter(dtype("float32"), dtype("int32"))(as_float) == signed


def test_every_dtype_of_8_bits_reinterprets_as_every_other():
    rows = [row for row in SCALARS.values() if row.bits == 8]
    for source, target in itertools.product(rows, repeat=2):
        call = reinterpreter(source, target)
        for code in (0, 1, 0x38, 0x7F, 0x80, 0xFF):
            value = from_bits(source, code)
            assert_same([call(value)], [from_bits(target, to_bits(source, value))])
