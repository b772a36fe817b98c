"""Numbers put into a dtype: what NumPy and ml_dtypes do, with the second rounding taken out where they round twice.

| dtype                         | from a binary64 number                                               |
|-------------------------------|----------------------------------------------------------------------|
| float64, float32, float16     | NumPy's conversion, which rounds once                                |
| bfloat16 and what is narrower | first to float32 *to odd*, then ml_dtypes' conversion                |
| float8_e8m0fnu                | its nearest power of two, made here: ml_dtypes 0.6 errs near 2**-127 |
| int, uint                     | modulo 2**bits                                                       |

Rounding to odd: what is not exact becomes the neighbour whose last bit is 1. It says "not quite" to the rounding that
follows, which then comes out as if it were the only one (Boldo and Melquiond, 2005), as two bits more are there.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.storage import storage_dtype

Put: TypeAlias = Callable[[object], object]

NATIVE = ("float64", "float32", "float16")
EXACT = 1 << 53
THREE_QUARTERS = 0.75


def put(kind: DType) -> Put:
    """What puts any number into the scalar dtype `kind`: a NumPy scalar of a float dtype, else an int or a bool."""
    if kind.kind == "bool":
        return lambda value: bool(value != 0)
    if kind.is_integer:
        return lambda value: wrapped(int(value), kind)  # type: ignore[call-overload]  # any number
    storage_type = storage_dtype(kind).type
    if kind.element == "float64":
        return lambda value: storage_type(float(value))  # type: ignore[arg-type]  # any number; of an int this rounds once
    if kind.element in NATIVE:
        return lambda value: storage_type(_wide(value))
    if kind.element == "float8_e8m0fnu":
        return lambda value: storage_type(_power_of_two(_wide(value)))
    return lambda value: storage_type(_odd_float32(_wide(value)))


def _power_of_two(value: float) -> float:
    """The power of two that is nearest, halfway the greater one; NaN where the format has none (NUM-005)."""
    if not 0 < value < math.inf:
        return math.nan
    fraction, exponent = math.frexp(value)  # 0.5 <= fraction < 1
    power = max(exponent if fraction >= THREE_QUARTERS else exponent - 1, -127)
    return math.ldexp(1.0, power) if power <= 127 else math.nan


def wrapped(value: int, kind: DType) -> int:
    """`value` modulo 2**bits, as the dtype reads it."""
    low = value % (1 << kind.bits)
    return low - (1 << kind.bits) if kind.kind == "int" and low >> (kind.bits - 1) else low


def _wide(value: object) -> float:
    """A number as binary64; of a large integer the one that rounds as the integer does."""
    if isinstance(value, int) and abs(value) > EXACT:
        return odd_float64(Fraction(value))
    return float(value)  # type: ignore[arg-type]  # any number


def odd_float64(exact: Fraction) -> float:
    """The number in binary64, rounded to odd, which 51 bits and fewer are rounded from."""
    near = exact.numerator / exact.denominator  # of ints this rounds once
    if Fraction(near) == exact or np.float64(near).view(np.uint64) & np.uint64(1):
        return near
    return math.nextafter(near, math.inf if exact > Fraction(near) else -math.inf)


def _odd_float32(value: float) -> np.float32:
    near = np.float32(value)
    if float(near) == value or value != value or int(near.view(np.uint32)) & 1:  # noqa: PLR0124 - NaN
        return near
    return np.float32(np.nextafter(near, np.float32(math.inf if value > float(near) else -math.inf)))
