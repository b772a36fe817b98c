"""Floating-point formats, one row each: width, exponent, fraction, and what the top codes mean.

Source: IEEE 754-2019 (float16, float32, float64), Google bfloat16, OCP OFP8 (e4m3fn, e5m2), OCP MX v1.0
(float6, float4, e8m0fnu), Graphcore/AMD FNUZ formats, and ml_dtypes for e3m4, e4m3, e4m3b11fnuz; dlpack.h 1.1.
"""

from dataclasses import dataclass
from math import ldexp
from typing import Literal

Special = Literal["ieee", "fn", "fnuz", "finite", "e8m0"]


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """A binary format.

    `special` says what the top codes are: `ieee` inf and NaN; `fn` no inf, NaN is all ones;
    `fnuz` no inf, no -0, NaN is the code of -0; `finite` neither; `e8m0` unsigned powers of two, NaN is 0xff.
    `kind_code`: its number among DLPack's kinds of elements, where it is not one of the plain floats.
    """

    name: str
    bits: int
    exponent_bits: int
    fraction_bits: int
    bias: int
    special: Special = "ieee"
    kind_code: int = 2

    @property
    def precision(self) -> int:
        """Digits of the significand, the hidden one included."""
        return self.fraction_bits + 1

    @property
    def minimum_exponent(self) -> int:
        """Exponent of the least normal value: 2 ** minimum_exponent. Below it the spacing stays the same."""
        return -self.bias if self.special == "e8m0" else 1 - self.bias

    @property
    def maximum(self) -> float:
        """The greatest finite value."""
        top = (1 << self.exponent_bits) - 1 - self.bias
        match self.special:
            case "ieee":
                return ldexp((1 << self.precision) - 1, top - 1 - self.fraction_bits)
            case "fn":
                return ldexp((1 << self.precision) - 2, top - self.fraction_bits)
            case "e8m0":
                return ldexp(1.0, top - 1)
            case _:
                return ldexp((1 << self.precision) - 1, top - self.fraction_bits)

    @property
    def smallest(self) -> float:
        """The least positive value."""
        return ldexp(1.0, self.minimum_exponent - self.fraction_bits)

    @property
    def has_infinity(self) -> bool:
        """Whether there are infinities."""
        return self.special == "ieee"

    @property
    def has_nan(self) -> bool:
        """Whether there is a NaN."""
        return self.special != "finite"

    @property
    def has_negative_zero(self) -> bool:
        """Whether -0 differs from 0."""
        return self.special in ("ieee", "fn", "finite")


FLOAT_FORMATS: dict[str, FloatFormat] = {
    row.name: row
    for row in (
        FloatFormat("float16", 16, 5, 10, 15),
        FloatFormat("float32", 32, 8, 23, 127),
        FloatFormat("float64", 64, 11, 52, 1023),
        FloatFormat("bfloat16", 16, 8, 7, 127, kind_code=4),
        FloatFormat("float8_e3m4", 8, 3, 4, 3, kind_code=7),
        FloatFormat("float8_e4m3", 8, 4, 3, 7, kind_code=8),
        FloatFormat("float8_e4m3b11fnuz", 8, 4, 3, 11, "fnuz", kind_code=9),
        FloatFormat("float8_e4m3fn", 8, 4, 3, 7, "fn", kind_code=10),
        FloatFormat("float8_e4m3fnuz", 8, 4, 3, 8, "fnuz", kind_code=11),
        FloatFormat("float8_e5m2", 8, 5, 2, 15, kind_code=12),
        FloatFormat("float8_e5m2fnuz", 8, 5, 2, 16, "fnuz", kind_code=13),
        FloatFormat("float8_e8m0fnu", 8, 8, 0, 127, "e8m0", kind_code=14),
        FloatFormat("float6_e2m3fn", 6, 2, 3, 1, "finite", kind_code=15),
        FloatFormat("float6_e3m2fn", 6, 3, 2, 3, "finite", kind_code=16),
        FloatFormat("float4_e2m1fn", 4, 2, 1, 1, "finite", kind_code=17),
    )
}
