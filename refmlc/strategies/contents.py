"""The values of generated arrays: a way and a seed are drawn, the values follow from them.

| way       | integers of `low` … `high`          | floats                                                      |
|-----------|-------------------------------------|-------------------------------------------------------------|
| `steps`   | low, low + 1, … (around 0)          | 0, 1, 2, …                                                  |
| `small`   | random, near 0                      | random multiples of 1/4                                     |
| `any`     | random                              | random codes                                                |
| `edges`   | the ends, and near 0                | ±0, ±inf, NaN, subnormals, the greatest, 1 and neighbours   |
| `few`     | one to three of the edges           | one to three of the edges: many are equal                   |
| `tame`    | random                              | random in -1 … 1: sums and products stay ordinary numbers   |
| `unit`    | random                              | random multiples of 1/64, from 0 to before 1                |
| `ascending` | random, in ascending order        | random multiples of 1/4, in ascending order                 |
| `cycle`   | those of a pool in turn (`cycled`)  | the same                                                    |
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from random import Random

import numpy as np
from numpy.typing import NDArray

from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.bits import encoder
from refmlc.lang.dtypes.rounding import rounder
from refmlc.lang.dtypes.storage import storage_dtype

WAYS = ("steps", "small", "any", "edges", "tame")
EDGES = (0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 5e-324, 1e-45, 6e-8, 1e-40, 65504.0, 3.4e38, 1e308, 0.5)
UNIT, ASCENDING = "unit", "ascending"
"""Ways of operators that ask for such values (`Operator.domains`)."""
FEW = "few"
"""A way of `operators` only: the cases of the other generators stay the same."""
CYCLE = "cycle"
"""The way whose values are in the recipe."""
NEAR = (0, 1, -1, 2, 3, -2, 7)


def integers(way: str, seed: int, count: int, low: int, high: int) -> list[int]:
    """`count` integers of `low` … `high`."""
    random = Random(seed).random  # noqa: S311 - reproducible, not secret
    span = high - low + 1
    match way:
        case "steps":
            start = max(0, -low)
            return [low + (number + start) % span for number in range(count)]
        case "small":
            pool = [min(max(number, low), high) for number in NEAR]
        case "ascending":
            return sorted(low + int(random() * span) for _ in range(count))
        case "any" | "tame" | "unit":
            if span < 1 << 53:
                return [low + int(random() * span) for _ in range(count)]
            bits = Random(seed).getrandbits  # noqa: S311 - the same
            return [low + bits(64) % span for _ in range(count)]
        case _:
            pool = [
                low,
                high,
                max(low, high - 1),
                min(high, low + 1),
                *(min(max(number, low), high) for number in NEAR),
            ]
    if way == FEW:
        pool = [pool[int(random() * len(pool))] for _ in range(1 + int(random() * 3))]
    size = len(pool)
    return [pool[int(random() * size)] for _ in range(count)]


def floats(way: str, seed: int, count: int, dtype: DType) -> NDArray[np.generic]:
    """`count` numbers of a floating dtype, in the array that stores them."""
    stored = storage_dtype(dtype)
    generator = Random(seed)  # noqa: S311 - reproducible, not secret
    match way:
        case "steps":
            pool = _codes(dtype, "steps")
            codes = [pool[number % len(pool)] for number in range(count)]
        case "any":
            bits = generator.getrandbits
            codes = [bits(dtype.bits) for _ in range(count)]
        case "tame":
            round_, encode = rounder(dtype), encoder(dtype)
            codes = [encode(round_(generator.uniform(-1, 1))) for _ in range(count)]
        case "unit" | "ascending":
            round_, encode = rounder(dtype), encoder(dtype)
            values = [
                generator.randrange(64) / 64 if way == UNIT else generator.randrange(-12, 13) / 4 for _ in range(count)
            ]
            codes = [encode(round_(value)) for value in (values if way == UNIT else sorted(values))]
        case _:
            pool, random = _codes(dtype, way), generator.random
            if way == FEW:
                pool = tuple(pool[int(random() * len(pool))] for _ in range(1 + int(random() * 3)))
            codes = [pool[int(random() * len(pool))] for _ in range(count)]
    return np.array(codes, f"u{stored.itemsize}").view(stored)


@lru_cache(maxsize=128)
def _codes(dtype: DType, way: str) -> tuple[int, ...]:
    """The codes of the numbers of a way."""
    round_, encode = rounder(dtype), encoder(dtype)
    return tuple(encode(round_(value)) for value in special_values(dtype, way))


def special_values(dtype: DType, way: str = "edges") -> tuple[float, ...]:
    """The numbers of a way before rounding; 1 stands for NaN where the dtype has none."""
    match way:
        case "steps":
            values = [float(number) for number in range(17)]
        case "small":
            values = [number / 4 for number in range(-12, 13)]
        case _:
            row = dtype.format
            values = [*EDGES, row.maximum, -row.maximum, row.smallest, -row.smallest, 1 + 2 * row.smallest]
    round_ = rounder(dtype)
    return tuple(1.0 if math.isnan(round_(value)) and not row_has_nan(dtype) else value for value in values)


def row_has_nan(dtype: DType) -> bool:
    """True if a floating dtype has a NaN."""
    return dtype.format.has_nan


def contents(
    dtype: DType,
    shape: tuple[int, ...],
    way: str,
    seed: int,
    limits: tuple[int, int],
    pool: Sequence[int | float] = (),
) -> NDArray[np.generic]:
    """An array of NumPy's dtype for `dtype`; integers lie in `limits`. `pool`: the values of the way `cycle`."""
    count = math.prod(shape)
    if way == CYCLE:
        return cycled(dtype, pool, seed, count).reshape(shape)
    if dtype.is_float:
        return floats(way, seed, count, dtype).reshape(shape)
    if dtype.kind == "bool":
        random = Random(seed).random  # noqa: S311 - reproducible, not secret
        return np.array([random() < 0.5 for _ in range(count)], bool).reshape(shape)
    numbers = integers(way, seed, count, *limits)
    stored = storage_dtype(dtype)
    if stored.kind in "iu":
        return np.array(numbers, stored).reshape(shape)
    return np.array(numbers, object).astype(stored).reshape(shape)


def cycled(dtype: DType, pool: Sequence[int | float], shift: int, count: int) -> NDArray[np.generic]:
    """Element i is value i + shift * (1 + i // length) of the pool, counted around its end.

    So the arrays of two shifts meet in each pair of values, as far as they have elements.
    """
    numbers = np.arange(count, dtype=np.int64)
    places = (numbers + shift * (1 + numbers // len(pool))) % len(pool)
    values: NDArray[np.generic] = stored_values(dtype, pool)[places]
    return values


def with_values(
    dtype: DType, values: NDArray[np.generic], puts: Sequence[tuple[int, int | float]]
) -> NDArray[np.generic]:
    """The array with other values at some flat places; negative places count from the end."""
    flat = values.reshape(-1)
    for at, value in puts:
        if -flat.size <= at < flat.size:
            flat[at] = stored_values(dtype, (value,))[0]
    return values


def stored_values(dtype: DType, numbers: Sequence[int | float]) -> NDArray[np.generic]:
    """The numbers in a dtype, in the array that stores them.

    Floats are rounded; NaN is 1 where there is none. Integers out of range are the nearest end.
    """
    stored = storage_dtype(dtype)
    if dtype.is_float:
        round_, encode = rounder(dtype), encoder(dtype)
        rounded = [round_(float(number)) for number in numbers]
        codes = [encode(1.0 if math.isnan(value) and not row_has_nan(dtype) else value) for value in rounded]
        return np.array(codes, f"u{stored.itemsize}").view(stored)
    if dtype.kind == "bool":
        return np.array([bool(number) for number in numbers], bool)
    whole = [min(max(int(number), dtype.minimum), dtype.maximum) for number in numbers]
    return np.array(whole, stored) if stored.kind in "iu" else np.array(whole, object).astype(stored)
