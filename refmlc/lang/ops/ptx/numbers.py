"""Floats of PTX as exact numbers: decoded from bits, computed without an error, rounded once.

A number is a sign and a size, which may be infinite; None is NaN. The NaN that PTX writes has all bits but the sign.

| mode         | rounds                              |
|--------------|-------------------------------------|
| `rn`, `rna`  | to nearest, ties to even, away      |
| `rz`         | toward zero                         |
| `rm`, `rp`   | down, up                            |
"""

from collections.abc import Mapping
from fractions import Fraction
from math import inf, isqrt
from typing import NamedTuple, TypeAlias

from refmlc.lang.dtypes.formats import FLOAT_FORMATS, FloatFormat


def _narrow(bits: int, exponent_bits: int, special: str) -> FloatFormat:
    """The format of this number of bits, which is the only one of its kind."""
    rows = FLOAT_FORMATS.values()
    (row,) = (each for each in rows if (each.bits, each.exponent_bits, each.special) == (bits, exponent_bits, special))
    return row


FORMATS: Mapping[str, FloatFormat] = {
    "f16": FLOAT_FORMATS["float16"],
    "bf16": FLOAT_FORMATS["bfloat16"],
    "f32": FLOAT_FORMATS["float32"],
    "f64": FLOAT_FORMATS["float64"],
    "tf32": FloatFormat("tf32", 19, 8, 10, 127),
    "e4m3": _narrow(8, 4, "fn"),
    "e5m2": _narrow(8, 5, "ieee"),
    "e2m3": _narrow(6, 2, "finite"),
    "e3m2": _narrow(6, 3, "finite"),
    "e2m1": _narrow(4, 2, "finite"),
    "ue5m3": FloatFormat("ue5m3", 9, 5, 3, 15, special="fn"),
}
"""`ue5m3` has no sign, here 0 above its 8 bits."""
ZERO = Fraction(0)
PRECISE = 64  # bits of a root beyond which the rest is only known not to be 0


class Open(Exception):
    """PTX leaves this result open, or says too little of it: its words are the message."""


class SignedNumber(NamedTuple):
    """A number that is not NaN."""

    negative: bool
    size: Fraction | float

    @property
    def finite(self) -> bool:
        """Whether it is not infinite."""
        return self.size != inf

    @property
    def value(self) -> Fraction:
        """The value of a finite number."""
        size = Fraction(self.size)
        return -size if self.negative else size

    def __neg__(self) -> "SignedNumber":
        return SignedNumber(not self.negative, self.size)


Value: TypeAlias = SignedNumber | None


def number(value: Fraction | int, *, negative_zero: bool = False) -> SignedNumber:
    """A finite value as a number."""
    exact = Fraction(value)
    return SignedNumber(exact < 0 or (not exact and negative_zero), abs(exact))


def decode(row: FloatFormat, bits: int) -> Value:
    """The number that the bits stand for; None: NaN."""
    negative = bool(bits >> (row.bits - 1) & 1)
    code = bits & ((1 << (row.bits - 1)) - 1)
    top = ((1 << row.exponent_bits) - 1) << row.fraction_bits
    if row.special == "ieee" and code >= top:
        return SignedNumber(negative, inf) if code == top else None
    if row.special == "fn" and code == (1 << (row.bits - 1)) - 1:
        return None
    exponent, fraction = code >> row.fraction_bits, code & ((1 << row.fraction_bits) - 1)
    if exponent:
        fraction += 1 << row.fraction_bits
    spacing = Fraction(2) ** (max(exponent, 1) - row.bias - row.fraction_bits)
    return SignedNumber(negative, fraction * spacing)


def nan(row: FloatFormat) -> int:
    """The bits of the NaN that PTX writes."""
    return (1 << (row.bits - 1)) - 1


def encode(row: FloatFormat, value: Value, mode: str, *, finite: bool = False) -> int:
    """The bits of a value, rounded; `finite`: what is beyond the greatest number becomes that number."""
    if value is None:
        return nan(row)
    sign = value.negative << (row.bits - 1)
    greatest = _greatest(row)
    code = greatest + 1 if not value.finite else _rounded(row, value, mode)
    if code <= greatest:
        return sign | code
    toward_zero = value.finite and mode in ("rz", "rp" if value.negative else "rm")
    return sign | (greatest if finite or toward_zero else greatest + 1)


def _greatest(row: FloatFormat) -> int:
    """The code of the greatest finite number; in an `ieee` format the next one is infinite."""
    if row.special == "ieee":
        return (((1 << row.exponent_bits) - 1) << row.fraction_bits) - 1
    return (1 << (row.bits - 1)) - (2 if row.special == "fn" else 1)


def _rounded(row: FloatFormat, value: SignedNumber, mode: str) -> int:
    """The code of the size, as if there were no largest exponent."""
    size = Fraction(value.size)
    if not size:
        return 0
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if size < Fraction(2) ** exponent:
        exponent -= 1
    exponent = max(exponent, row.minimum_exponent)
    steps = size / Fraction(2) ** (exponent - row.fraction_bits)
    return ((exponent - row.minimum_exponent) << row.fraction_bits) + integral(
        SignedNumber(value.negative, steps), mode
    )


def integral(value: SignedNumber, mode: str) -> int:
    """The size of a finite number, rounded to an integer."""
    size = Fraction(value.size)
    below, rest = divmod(size, 1)
    match mode:
        case "rz":
            up = False
        case "rm" | "rp":
            up = bool(rest) and value.negative == (mode == "rm")
        case "rna":
            up = rest >= Fraction(1, 2)
        case _:
            up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and bool(below & 1))
    return int(below) + up


# ----------------------------------------------------------------------------------------------- arithmetic


def add(x: Value, y: Value, mode: str) -> Value:
    """The exact sum. A sum of 0 is -0 where both are, or where `mode` rounds down and not both are +0."""
    if x is None or y is None:
        return None
    if not (x.finite and y.finite):
        if not x.finite and not y.finite and x.negative != y.negative:
            return None
        return y if x.finite else x
    total = x.value + y.value
    if total:
        return number(total)
    both = x.negative and y.negative
    return SignedNumber(both or (mode == "rm" and (x.negative or y.negative or bool(x.size))), ZERO)


def multiply(x: Value, y: Value) -> Value:
    """The exact product."""
    if x is None or y is None:
        return None
    negative = x.negative != y.negative
    if not (x.finite and y.finite):
        return None if not x.size or not y.size else SignedNumber(negative, inf)
    return SignedNumber(negative, x.size * y.size)


def divide(x: Value, y: Value) -> Value:
    """The exact quotient."""
    if x is None or y is None:
        return None
    negative = x.negative != y.negative
    if not y.finite:
        return SignedNumber(negative, ZERO) if x.finite else None
    if not x.finite:
        return SignedNumber(negative, inf)
    if not y.size:
        return SignedNumber(negative, inf) if x.size else None
    return SignedNumber(negative, Fraction(x.size) / Fraction(y.size))


def root(x: Value, precision: int) -> Value:
    """The square root, exact as far as rounding to `precision` digits needs it."""
    if x is None or not x.size:
        return x
    if x.negative:
        return None
    if not x.finite:
        return x
    size = Fraction(x.size)
    scale = 2 * (precision + PRECISE) + size.denominator.bit_length()
    scaled = (size.numerator << 2 * scale) // size.denominator
    below = isqrt(scaled)
    exact = below * below * size.denominator == size.numerator << 2 * scale
    return SignedNumber(False, Fraction(2 * below + (not exact), 2 << scale))
