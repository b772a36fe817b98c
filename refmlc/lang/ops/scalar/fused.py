"""x * y + z of floats, computed exactly and rounded once (TIR-309): of `T.fma`, and of the tile primitive `fma`."""

import math
from collections.abc import Callable
from fractions import Fraction

from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.rounding import round_fraction

Fused = Callable[[float, float, float], float]


def fused(dtype: DType) -> Fused:
    """The function for the float dtype `dtype`. Infinite operands, NaN and a sum of 0 are as in binary64."""

    def value(x: float, y: float, z: float) -> float:
        if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
            return x * y + z
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        return round_fraction(exact, dtype) if exact else x * y + z

    return value
