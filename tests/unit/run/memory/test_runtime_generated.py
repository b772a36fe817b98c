"""Generated arrays: the same bits everywhere."""

import math
from fractions import Fraction

import numpy as np
import pytest

from refmlc.diag import Exhausted, Malformed, Undefined
from refmlc.lang.dtypes import BOOL, FLOAT16, FLOAT32, FLOAT64, HANDLE, INT32, INT64, SCALARS, UINT8, dtype
from refmlc.lang.dtypes.rounding import round_fraction
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.files import generate, is_generator

MASK = (1 << 64) - 1


def split_mix(seed, count):
    """SplitMix64 as its authors print it."""
    state = seed & MASK
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def exact_normal(seed, count):
    words = [word >> 32 for word in split_mix(seed, 12 * count)]
    return [Fraction(sum(words[12 * i : 12 * i + 12]) - 6 * 2**32, 2**32) for i in range(count)]


def test_the_witness_is_split_mix_64():
    # The first outputs for seed 1234567, as published with the reference implementation.
    assert list(split_mix(1234567, 3)) == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@pytest.mark.parametrize("seed", [0, 1, 42, 2**64 - 1, 2**64 + 5])
@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64", "float8_e5m2", "float4_e2m1fn"])
def test_normal_is_the_sum_of_twelve_rounded_once(name, seed):
    made = generate(f"normal({seed})", (5, 4), dtype(name))
    expected = [round_fraction(number, dtype(name)) for number in exact_normal(seed, 20)]
    assert [made.cells[i] for i in range(20)] == expected
    assert made.initialised


def test_normal_looks_normal():
    numbers = generate("normal(7)", (20_000,), FLOAT64).numpy()
    assert abs(numbers.mean()) < 0.03
    assert abs(numbers.std() - 1) < 0.03
    assert 0.66 < (abs(numbers) < 1).mean() < 0.70


@pytest.mark.parametrize("name", [name for name in SCALARS if name not in ("handle", "void")])
def test_zeros_ones_and_iota_of_every_dtype(name):
    which = dtype(name)
    assert set(map(float, np.ravel(generate("zeros", (3,), which).numpy()))) <= {0.0, 2.0**-127}
    one = generate("ones", (2,), which).cells[1]
    assert one == (-1 if name == "int1" else 1)
    counted = generate("iota", (300,), which)
    for i in (0, 1, 5, 17, 255, 299):
        match which.kind:
            case "bool":
                expected = i % 2 == 1
            case "float":
                expected = round_fraction(Fraction(i), which)
            case _:
                low = i % 2**which.bits
                expected = low - 2**which.bits if low > which.maximum else low
        assert counted.cells[i] == expected or (math.isnan(expected) and math.isnan(counted.cells[i]))


def test_iota_goes_beyond_what_float16_holds():
    assert generate("iota", (70_000,), FLOAT16).cells[69_999] == float("inf")
    assert generate("iota", (4097,), FLOAT16).cells[2049] == 2048
    assert generate("iota", (3,), INT64).numpy().tolist() == [0, 1, 2]


def test_shapes():
    assert generate("iota", (2, 3), INT32).numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert generate("normal(1)", (), FLOAT32).shape == ()
    assert generate("iota", (0, 3), UINT8).shape == (0, 3)


@pytest.mark.parametrize("text", ["zeros", "ones", "iota", "normal(0)", "normal(123)"])
def test_names_of_generators(text):
    assert is_generator(text)


@pytest.mark.parametrize("text", ["zero", "normal", "normal()", "normal(-1)", "normal(1.5)", "normal(x)", "zeros ", ""])
def test_other_names(text):
    assert not is_generator(text)
    with pytest.raises(Malformed) as failure:
        generate(text, (1,), FLOAT32)
    assert failure.value.code.id == "RM111"


@pytest.mark.parametrize(("text", "which"), [("normal(1)", INT32), ("normal(1)", BOOL), ("ones", HANDLE)])
def test_dtypes_that_are_not_generated(text, which):
    with pytest.raises(Malformed) as failure:
        generate(text, (1,), which)
    assert failure.value.code.id == "RM111"


def test_vectors_are_not_generated():
    with pytest.raises(Malformed):
        generate("zeros", (1,), dtype("float32x4"))


def test_limits():
    with pytest.raises(Exhausted) as failure:
        generate("zeros", (10**13,), UINT8)
    assert failure.value.code.id == "RM603"
    with pytest.raises(Exhausted):
        generate("zeros", (100,), UINT8, budget=Budget(max_bytes=99))
    with pytest.raises(Undefined) as failure:
        generate("zeros", (-1,), UINT8)
    assert failure.value.code.id == "RM315"
