"""Loads, stores, codes and rounding against `refmlc.lang.dtypes`: every code up to 16 bits, ties, random numbers."""

import math
import os
import random

import numpy as np
import pytest
from points import code_type, columns, differing, every, first_lines, unary, value_type
from test_kernels_conversions import middles
from wrappers import DTYPES, cell_helpers

from refmlc.lang.dtypes.bits import decode_table, decoder, encoder
from refmlc.lang.dtypes.rounding import rounder
from refmlc.lang.dtypes.storage import storage_dtype

RANDOM = 1_000_000 if os.environ.get("REFMLC_PROFILE") == "soak" else 5000
HELPERS = cell_helpers()
FLOATS = [dtype for dtype in DTYPES if dtype.is_float]
SMALL = [dtype for dtype in DTYPES if dtype.bits <= 16]
WHOLE_CELLS = [dtype for dtype in DTYPES if storage_dtype(dtype).itemsize * 8 <= 16]


def named(dtypes):
    return pytest.mark.parametrize("dtype", dtypes, ids=str)


@named(DTYPES)
def test_codes_of_values(operators, dtype):
    values = unary(dtype, RANDOM)[0]
    found, _ = operators.call(HELPERS["encode", dtype.element], columns((dtype,), [values]), code_type(dtype))
    assert found.tolist() == list(map(encoder(dtype), values))


@named(SMALL)
def test_values_of_codes(operators, dtype):
    codes = np.arange(256 if dtype.kind == "bool" else 1 << dtype.bits, dtype=code_type(dtype))
    found, _ = operators.call(HELPERS["decode", dtype.element], [codes], value_type(dtype))
    wanted = [code != 0 for code in range(256)] if dtype.kind == "bool" else decode_table(dtype)
    assert first_lines(differing(found, wanted), [codes], found, wanted) == []


@named(WHOLE_CELLS)
def test_loads_do_not_look_above_the_width(operators, dtype):
    stored = storage_dtype(dtype)
    cells = np.arange(1 << 8 * stored.itemsize).astype(f"u{stored.itemsize}")
    found = operators.load(dtype.element, cells, value_type(dtype))
    mask = 255 if dtype.kind == "bool" else (1 << dtype.bits) - 1
    wanted = list(map(decoder(dtype), (int(cell) & mask for cell in cells)))
    assert first_lines(differing(found, wanted), [cells], found, wanted) == []


@named(DTYPES)
def test_what_is_stored_is_loaded_and_lies_as_numpy_and_ml_dtypes_have_it(operators, dtype):
    values = [value for value in unary(dtype, RANDOM)[0] if value == value]  # noqa: PLR0124 - not NaN
    held = columns((dtype,), [values])[0]
    cells = operators.store(dtype.element, f"u{storage_dtype(dtype).itemsize}", held)
    loaded = operators.load(dtype.element, cells, value_type(dtype))
    assert first_lines(differing(loaded, values), [values], loaded, values) == []
    if dtype.bits > 1:
        witness = held.astype(storage_dtype(dtype))
        assert cells.tobytes() == witness.tobytes()


def numbers(dtype):
    """Ties and what lies beside them, and numbers of every size around the range."""
    rng = random.Random(dtype.element)  # noqa: S311 - reproducible, not secret
    low, high = math.frexp(dtype.format.smallest)[1] - 3, math.frexp(dtype.format.maximum)[1] + 3
    low, high = max(low, -1080), min(high, 1023)
    some = [math.ldexp(rng.choice((1, -1)) * (1 + rng.random()), rng.randint(low, high)) for _ in range(RANDOM)]
    ties = middles(dtype) + every(dtype) if dtype.bits <= 16 else []
    beside = [math.nextafter(tie, side) for tie in ties for side in (math.inf, -math.inf)]
    float32_beside = [float(np.nextafter(np.float32(tie), np.float32(0))) for tie in ties if abs(tie) < 2.0**127]
    ends = [0.0, -0.0, 5e-324, -5e-324, 2.0**-1022, 1.7976931348623157e308, math.inf, -math.inf, math.nan]
    return [*some, *ties, *beside, *float32_beside, *ends]


@named(FLOATS)
def test_rounding_of_float64(operators, dtype):
    values = numbers(dtype)
    found, _ = operators.call(HELPERS["rounded", dtype.element], [np.array(values)], value_type(dtype))
    wanted = list(map(rounder(dtype), values))
    assert first_lines(differing(found, wanted), [values], found, wanted) == []


@named(FLOATS)
def test_rounding_of_what_a_dtype_is_computed_in(operators, dtype):
    double = dtype.element in ("float64", "float8_e8m0fnu")
    with np.errstate(over="ignore"):
        held = np.array(numbers(dtype)).astype(np.float64 if double else np.float32)
    found, _ = operators.call(HELPERS["narrow", dtype.element], [held], value_type(dtype))
    wanted = list(map(rounder(dtype), held.tolist()))
    assert first_lines(differing(found, wanted), [held], found, wanted) == []
