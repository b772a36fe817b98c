"""Casts of every dtype to every dtype, and reinterprets of equally wide ones, against the value functions."""

import itertools
import math
import os
import random

import pytest
from points import columns, differing, distinct, expected, first_lines, rounded_to, unary, value_type
from wrappers import DTYPES, cast_helpers, reinterpret_helpers

from refmlc.lang.dtypes import SCALARS
from refmlc.lang.dtypes.bits import decode_table
from refmlc.lang.dtypes.rounding import int_rounder, rounder
from refmlc.lang.ops.scalar import SCALAR_OPS, converter
from refmlc.native import kernels

RANDOM = 200_000 if os.environ.get("REFMLC_PROFILE") == "soak" else 300
CASTS, REINTERPRETS = cast_helpers(), reinterpret_helpers()
NAMES = [dtype.element for dtype in DTYPES]


def ties(dtype):
    """Numbers of `dtype` at and beside the middles of neighbours of narrower floats, and the ends of integers."""
    numbers = []
    for target in DTYPES:
        if target.is_integer:
            numbers += [
                place + offset for place in (target.minimum, target.maximum) for offset in (-1, -0.5, 0, 0.5, 1)
            ]
        elif target.is_float and target.bits <= 16:
            numbers += middles(target)
    if dtype.is_integer:
        whole = {int(number) + offset for number in numbers if abs(number) < 2.0**64 for offset in (-1, 0, 1)}
        return sorted(number for number in whole if dtype.minimum <= number <= dtype.maximum)
    beside = [
        number * (1 + math.ldexp(sign, -digits)) for number in numbers for digits in (52, 40, 23) for sign in (-1, 1)
    ]
    return [rounded_to(dtype, number) for number in (*numbers, *beside)]


def middles(target):
    """Some middles of positive neighbours of a float dtype, in float64; the last lies beyond the maximum."""
    found = sorted({abs(value) for value in decode_table(target) if math.isfinite(value)})
    found.append(2 * found[-1] - found[-2] if len(found) > 2 and target.element != "float8_e8m0fnu" else 2 * found[-1])
    middle = [(low + high) / 2 for low, high in itertools.pairwise(found)]
    some = random.Random(target.element).sample(middle, min(len(middle), 40))  # noqa: S311 - reproducible, not secret
    return [sign * number for number in (*some, middle[0], middle[-1], middle[-2]) for sign in (1, -1)]


def sources(dtype):
    values = unary(dtype, RANDOM)[0]
    return distinct([*values, *ties(dtype)]) if dtype.bits > 16 else values


@pytest.mark.parametrize("source", NAMES)
def test_casts_to_every_dtype(conversions, source):
    dtype = SCALARS[source]
    values = sources(dtype)
    held = columns((dtype,), [values])
    for target in DTYPES:
        undefinable = kernels.cast_has_undefined(dtype, target)
        wanted, undefined, known = expected(converter(dtype, target), [values], may_be_undefined=undefinable)
        found, claimed = conversions.call(CASTS[source, target.element], held, value_type(target))
        assert first_lines(claimed != undefined, [values], claimed, undefined) == [], target
        assert undefinable == bool(undefined.any()), f"{target}: nothing here is undefined, or something should not be"
        assert first_lines(differing(found, wanted) & known, [values], found, wanted) == [], target


@pytest.mark.parametrize("source", NAMES)
def test_reinterprets_as_every_dtype_of_its_width(conversions, source):
    dtype = SCALARS[source]
    values = sources(dtype)
    held = columns((dtype,), [values])
    for target in (target for target in DTYPES if target.bits == dtype.bits):
        wanted = list(map(SCALAR_OPS["reinterpret"].value((dtype,), target), values))
        found, _ = conversions.call(REINTERPRETS[source, target.element], held, value_type(target))
        assert first_lines(differing(found, wanted), [values], found, wanted) == [], target


@pytest.mark.parametrize("source", ["int64", "uint64"])
def test_integers_are_among_the_operands_that_two_roundings_would_move(source):
    bfloat16 = SCALARS["bfloat16"]
    once, twice = int_rounder(bfloat16), rounder(bfloat16)
    assert any(once(value) != twice(float(value)) for value in sources(SCALARS[source]))
