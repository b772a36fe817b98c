"""Tensors that a few numbers stand for, defined to the bit, so that large inputs fit on a line of a case.

Element `i` counts from 0 in row-major order, lanes one after another; all arithmetic of `z` is modulo 2**64:

    z = (seed + 1) * 0xD1342543DE82EF95 + i * 0x9E3779B97F4A7C15
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9
    z = (z ^ z >> 27) * 0x94D049BB133111EB
    z = z ^ z >> 31

| generator | with                                | element `i`                                                      |
|-----------|-------------------------------------|------------------------------------------------------------------|
| `grid`    | `seed`, `low`, `high`, `scale`      | `(low + (z >> 32) mod (high - low + 1)) * scale`                 |
| `bits`    | `seed`                              | the value whose code is the lowest bits of `z`                   |
| `codes`   | `start`, `step`                     | the value whose code is `start + i * step`, modulo 2**bits       |
| `cycle`   | `start`, `step`, `modulus`, `scale` | `((start + i * step) mod modulus) * scale`, `mod` never negative |
| `fill`    | `value`                             | `value`                                                          |

`scale` is a float in hexadecimal, 1 where it is left out; every product must be exact in the dtype.
"""

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.oracle.evidence.numbers import number_of

Numbers: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.uint64]]"
START, STEP = 0xD1342543DE82EF95, 0x9E3779B97F4A7C15
FIRST, SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
WORD = (1 << 64) - 1
MOST_EXACT = 1 << 53  # what a float64 and an int64 both count to


def generated(data: Mapping[str, object], count: int, kind: DType) -> np.ndarray:
    """`count` elements of the scalar dtype `kind`, as its storage has them. Fails: RM109."""
    match data:
        case {"generator": "grid", "seed": int(seed), "low": int(low), "high": int(high)} if low <= high:
            spread = mixed(seed, count) >> np.uint64(32)
            return _scaled(low + (spread % np.uint64(high - low + 1)).astype(np.int64), data, kind)
        case {"generator": "bits", "seed": int(seed)}:
            return _of_codes(mixed(seed, count), kind)
        case {"generator": "codes", "start": int(start), "step": int(step)}:
            return _of_codes((start + np.arange(count, dtype=np.int64) * step).astype(np.uint64), kind)
        case {"generator": "cycle", "start": int(start), "step": int(step), "modulus": int(modulus)} if modulus > 0:
            return _scaled((start + np.arange(count, dtype=np.int64) * step) % modulus, data, kind)
        case {"generator": "fill", "value": (bool() | int() | str()) as value}:
            return np.full(count, number_of(value, kind)).astype(storage_dtype(kind))
    raise fail(BAD_FILE, f"not a generator: {dict(data)!r:.80}")


def mixed(seed: int, count: int) -> Numbers:
    """The `z` of the elements."""
    with np.errstate(over="ignore"):
        z = np.arange(count, dtype=np.uint64) * np.uint64(STEP) + np.uint64((seed + 1) * START & WORD)
        z = (z ^ z >> np.uint64(30)) * np.uint64(FIRST)
        z = (z ^ z >> np.uint64(27)) * np.uint64(SECOND)
        return z ^ z >> np.uint64(31)


def _scaled(numbers: np.ndarray, data: Mapping[str, object], kind: DType) -> np.ndarray:
    """The numbers times `scale`, exactly. Fails: RM109."""
    scale = data.get("scale", "0x1p+0")
    try:
        exact = numbers * float.fromhex(str(scale))
    except (ValueError, OverflowError):
        raise fail(BAD_FILE, f"the scale {scale!r} is not a hexadecimal float") from None
    with np.errstate(all="ignore"):
        scaled: np.ndarray = exact.astype(storage_dtype(kind))
        same = np.array_equal(scaled.astype(np.float64), exact)
    if not same or abs(exact).max(initial=0) > MOST_EXACT:
        raise fail(BAD_FILE, f"{dict(data)!r:.80} does not fit in {kind}")
    return scaled


def _of_codes(z: Numbers, kind: DType) -> np.ndarray:
    stored = storage_dtype(kind)
    low = z & np.uint64((1 << kind.bits) - 1)
    if kind.kind in ("int", "bool") and kind.bits not in (8, 16, 32, 64):
        signed = low.astype(np.int64)
        if kind.kind == "int":
            signed -= (signed >> (kind.bits - 1)) << kind.bits
        return signed.astype(stored)
    return low.astype(f"u{stored.itemsize}").view(stored)
