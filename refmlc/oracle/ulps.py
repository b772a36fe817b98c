"""Distances in representable numbers: how many steps of a format lie between two of its values.

Codes of one sign grow with the size, so with s the sign and m the rest of the code, the number s * m counts the
format's values from 0 on; both zeros are 0. Infinity is one step beyond the maximum, NaN is nowhere.
"""

import math
from collections.abc import Iterable
from itertools import pairwise

from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.bits import encoder

BUCKETS = (0, 1, 2, 4, 16, 256, 65536)


def distance(a: float, b: float, dtype: DType) -> int | None:
    """Steps from `a` to `b`; 0 between two NaN, None between a NaN and a number. Of integers the difference."""
    if not dtype.is_float:
        return abs(int(a) - int(b))
    if math.isnan(a) or math.isnan(b):
        return 0 if math.isnan(a) and math.isnan(b) else None
    encode = encoder(dtype)
    return abs(_ordered(encode(a), dtype, a) - _ordered(encode(b), dtype, b))


def _ordered(code: int, dtype: DType, value: float) -> int:
    size = code & ((1 << (dtype.bits - 1)) - 1)
    return -size if math.copysign(1.0, value) < 0 else size


def histogram(distances: Iterable[int | None]) -> dict[str, int]:
    """How many distances fall into each bucket, the empty ones left out; `NaN` for those that are none."""
    names = [str(BUCKETS[0]), *(_span(low, high) for low, high in pairwise(BUCKETS))]
    names += [f"> {BUCKETS[-1]}", "NaN"]
    counts = dict.fromkeys(names, 0)
    for steps in distances:
        counts[names[_bucket(steps)]] += 1
    return {name: count for name, count in counts.items() if count}


def _span(low: int, high: int) -> str:
    return str(high) if high == low + 1 else f"{low + 1} … {high}"


def _bucket(steps: int | None) -> int:
    if steps is None:
        return len(BUCKETS) + 1
    return next((number for number, top in enumerate(BUCKETS) if steps <= top), len(BUCKETS))
