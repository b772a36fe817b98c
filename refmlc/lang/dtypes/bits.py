"""Bits and values: the code of a value in its dtype, and back.

| kind    | code                                                                                            |
|---------|-------------------------------------------------------------------------------------------------|
| integer | two's complement in the dtype's own width                                                       |
| `bool`  | 0 or 1; every other code reads as true                                                          |
| float   | sign, biased exponent, fraction, as the format says (`refmlc.lang.dtypes.formats`), `e8m0`: the |
|         | biased exponent alone                                                                           |

All NaN are one class. The one that is written is positive and quiet: in an `ieee` format the exponent all ones and
the first bit of the fraction, in `fn` all ones, in `fnuz` the code of -0, in `e8m0` 255 (NUM-006).
"""

import math
import struct
from collections.abc import Callable
from functools import lru_cache

from refmlc.lang.dtypes.dtype import DType
from refmlc.lang.dtypes.formats import FloatFormat
from refmlc.lang.dtypes.rounding import wrap

Number = int | float | bool

_NATIVE = {"float16": ("<e", "<H"), "float32": ("<f", "<I"), "float64": ("<d", "<Q")}
_TABLE_BITS = 16


def to_bits(dtype: DType, value: Number) -> int:
    """The code of `value`, which the scalar dtype can hold. Fails with ValueError on NaN where there is none."""
    return encoder(dtype)(value)


def from_bits(dtype: DType, code: int) -> Number:
    """The value that `code` stands for; bits above the dtype's width are not looked at."""
    return decoder(dtype)(code & ((1 << dtype.bits) - 1))


@lru_cache(maxsize=32)
def decode_table(dtype: DType) -> tuple[Number, ...]:
    """The value of every code of a dtype of at most 16 bits, at the code's index."""
    if dtype.bits > _TABLE_BITS:
        raise ValueError(f"{dtype} has too many codes for a table")
    decode = decoder(dtype)
    return tuple(decode(code) for code in range(1 << dtype.bits))


@lru_cache(maxsize=64)
def encoder(dtype: DType) -> Callable[[Number], int]:
    """`to_bits` for one dtype."""
    match dtype.kind:
        case "int" | "uint":
            mask = (1 << dtype.bits) - 1
            return lambda value: int(value) & mask
        case "bool":
            return int
        case "float":
            return _native_encoder(dtype) if dtype.element in _NATIVE else _float_encoder(dtype.format)
        case _:
            raise ValueError(f"values of {dtype} have no bits of their own")


@lru_cache(maxsize=64)
def decoder(dtype: DType) -> Callable[[int], Number]:
    """`from_bits` for one dtype, on codes of its width."""
    match dtype.kind:
        case "int" | "uint":
            return lambda code: wrap(dtype, code)
        case "bool":
            return bool
        case "float":
            return _native_decoder(dtype.element) if dtype.element in _NATIVE else _float_decoder(dtype.format)
        case _:
            raise ValueError(f"values of {dtype} have no bits of their own")


def nan_code(row: FloatFormat) -> int:
    """The code of the NaN that is written. Fails with ValueError where the format has none."""
    match row.special:
        case "ieee":
            return (((1 << row.exponent_bits) - 1) << row.fraction_bits) | 1 << (row.fraction_bits - 1)
        case "fn":
            return (1 << (row.bits - 1)) - 1
        case "fnuz":
            return 1 << (row.bits - 1)
        case "e8m0":
            return (1 << row.bits) - 1
        case "finite":
            raise ValueError(f"{row.name} has no code for NaN")


def _native_encoder(dtype: DType) -> Callable[[Number], int]:
    pack, unpack = (struct.Struct(text) for text in _NATIVE[dtype.element])
    nan = nan_code(dtype.format)

    def encode(value: Number) -> int:
        code: int = unpack.unpack(pack.pack(value))[0] if value == value else nan  # noqa: PLR0124 - the test for NaN
        return code

    return encode


def _native_decoder(element: str) -> Callable[[int], Number]:
    unpack, pack = (struct.Struct(text) for text in _NATIVE[element])

    def decode(code: int) -> Number:
        value: float = unpack.unpack(pack.pack(code))[0]
        return value

    return decode


def _float_encoder(row: FloatFormat) -> Callable[[Number], int]:
    sign_bit = 0 if row.special == "e8m0" else 1 << (row.bits - 1)
    infinity = ((1 << row.exponent_bits) - 1) << row.fraction_bits
    least, fraction_bits = row.minimum_exponent, row.fraction_bits
    first = 0 if row.special == "e8m0" else 1  # the biased exponent of the least normal value

    def encode(value: Number) -> int:
        if value != value:  # noqa: PLR0124 - the test for NaN
            return nan_code(row)
        sign = sign_bit if math.copysign(1.0, value) < 0 else 0
        if math.isinf(value):
            return sign | infinity
        if not value:
            return sign
        size = abs(value)
        exponent = max(math.frexp(size)[1] - 1, least)
        significand = int(math.ldexp(size, fraction_bits - exponent))
        # The hidden bit of a normal value adds one to the biased exponent of a subnormal one, which is 0.
        return sign | (((exponent - least + first - 1) << fraction_bits) + significand)

    return encode


def _float_decoder(row: FloatFormat) -> Callable[[int], Number]:
    nans = _nan_codes(row)
    top = (1 << row.exponent_bits) - 1

    def decode(code: int) -> Number:
        if code in nans:
            return math.nan
        if row.special == "e8m0":
            return math.ldexp(1.0, code - row.bias)
        sign = -1.0 if code >> (row.bits - 1) else 1.0
        exponent = (code >> row.fraction_bits) & top
        fraction = code & ((1 << row.fraction_bits) - 1)
        if row.special == "ieee" and exponent == top:
            return math.copysign(math.inf, sign)
        if exponent == 0:
            return sign * math.ldexp(fraction, row.minimum_exponent - row.fraction_bits)
        return sign * math.ldexp(fraction + (1 << row.fraction_bits), exponent - row.bias - row.fraction_bits)

    return decode


def _nan_codes(row: FloatFormat) -> frozenset[int]:
    sign = 1 << (row.bits - 1)
    match row.special:
        case "ieee":
            first = ((1 << row.exponent_bits) - 1) << row.fraction_bits
            codes = range(first + 1, sign)
            return frozenset(codes) | frozenset(code | sign for code in codes)
        case "fn":
            return frozenset((sign - 1, 2 * sign - 1))
        case "finite":
            return frozenset()
        case _:
            return frozenset((nan_code(row),))
