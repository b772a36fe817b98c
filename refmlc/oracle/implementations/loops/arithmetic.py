"""The arithmetic of the witness: numbers put into a dtype, and what scalar operators do.

NumPy and ml_dtypes convert; where they round twice, the second rounding is taken out:

| dtype                         | from a binary64 number                                               |
|-------------------------------|----------------------------------------------------------------------|
| float64, float32, float16     | NumPy's conversion, which rounds once                                |
| bfloat16 and what is narrower | first to float32 *to odd*, then ml_dtypes' conversion                |
| float8_e8m0fnu                | its nearest power of two, made here: ml_dtypes 0.6 errs near 2**-127 |
| int, uint                     | modulo 2**bits                                                       |

Rounding to odd: what is not exact becomes the neighbour whose last bit is 1. It says "not quite" to the rounding that
follows, which then comes out as if it were the only one (Boldo and Melquiond, 2005), as two bits more are there.

Integer operators take and return ints; the caller wraps the result. Float operators are exact or rounded once; they
take and return NumPy's scalars, or binary64 where the docstring says so. Transcendental functions are in binary64:
NumPy for what is special, C's library by way of `math` for the rest. NumPy answers poles, domains and infinities
without exceptions, but has implementations that are some ulp off on machines with wide vectors. Neither is correctly
rounded: the contracts' bounds hold for both.
"""

import math
from collections.abc import Callable, Mapping
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


WIDE = 64  # the counts of a fixed-point multiplication are below


def truncdiv(a: int, b: int) -> int:
    """The quotient, rounded toward zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def truncmod(a: int, b: int) -> int:
    """The remainder of it, which has the sign of `a`."""
    return abs(a) % abs(b) * (-1 if a < 0 else 1)


def shifted_left(a: int, b: int, bits: int) -> int:
    """`a` times 2**b. Fails: OverflowError if `b` is not a shift count: Python would allocate gigabytes."""
    return a << _count(b, bits)


def shifted_right(a: int, b: int, bits: int) -> int:
    """`a` by 2**b, rounded down. Fails: OverflowError if `b` is not a shift count."""
    return a >> _count(b, bits)


def _count(b: int, bits: int) -> int:
    if not 0 <= b < bits:
        raise OverflowError(f"{b} is not a shift count for {bits} bits")
    return b


def ones(a: int, bits: int) -> int:
    """The ones among the lowest `bits` bits."""
    return (a % (1 << bits)).bit_count()


def leading_zeros(a: int, bits: int) -> int:
    """The zeros above the highest one of `bits` bits."""
    return bits - (a % (1 << bits)).bit_length()


def scaled(x: int, y: int, q: int, shift: int) -> int:
    """X * y * 2**(shift - q) to the nearest integer, of two the greater. Fails: OverflowError."""
    down = _count(q, WIDE) - shift
    _count(abs(down), 2 * WIDE)
    return x * y << -down if down <= 0 else (x * y + (1 << (down - 1))) >> down


def scaled_per_axis(x: int, y: int, left: int, right: int, q: int, shifts_left: int, _shifts_right: int) -> int:
    """The same with a shift to the left where its flag says so, and one to the right."""
    return scaled(x, y, q + right, left if shifts_left else 0)


SMALLEST = 5e-324


def greater(a: float, b: float) -> float:
    """`a` if it is greater, else `b`: so `b` where one is NaN.

    Python's own `max` gives `a` where neither is greater.
    """
    if a > b:
        return a
    return b


def lesser(a: float, b: float) -> float:
    """`a` if it is less, else `b`."""
    if a < b:
        return a
    return b


def signed_as(a: float, b: float) -> float:
    """`a` with the sign of `b`, a NaN counting as positive. In binary64."""
    return math.copysign(a, 1.0 if math.isnan(b) else b)


def neighbour(a: np.generic, b: np.generic) -> object:
    """The value of the dtype next to `a` on the side of `b`; `b` where they are equal."""
    return b if a == b else np.nextafter(a, b)


def scaled_by(a: float, power: int) -> float:
    """`a` times a power of two, rounded once to binary64."""
    return float(np.ldexp(np.float64(a), max(-5000, min(5000, power))))


def scaled_odd(a: float, power: int) -> float:
    """The same to odd (`rounding`) for narrower formats: what is too small for binary64 is not 0."""
    plain = scaled_by(a, power)
    return math.copysign(SMALLEST, a) if plain == 0 and a != 0 else plain


def fused(a: float, b: float, c: float) -> float:
    """A * b + c, to odd in binary64 (`rounding`) for formats narrower than that."""
    return _fused(a, b, c, odd_float64)


def fused_wide(a: float, b: float, c: float) -> float:
    """A * b + c, rounded once to binary64."""
    return _fused(a, b, c, _nearest)


def _fused(a: float, b: float, c: float, rounded: "object") -> float:
    plain = np.float64(a) * np.float64(b) + np.float64(c)
    if not all(map(math.isfinite, (a, b, c))):
        return float(plain)
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return float(plain)
    try:
        return float(rounded(exact))  # type: ignore[operator]  # one of the two above
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def _nearest(exact: Fraction) -> float:
    return exact.numerator / exact.denominator


def hypotenuse(a: float, b: float) -> float:
    """sqrt(a * a + b * b) in binary64, rounded once: by the integer square root of the exact sum."""
    if not (math.isfinite(a) and math.isfinite(b)) or a == 0 or b == 0:
        return float(np.hypot(a, b))
    square = Fraction(a) ** 2 + Fraction(b) ** 2
    scale = 2 * (((square.denominator.bit_length() - square.numerator.bit_length()) // 2) + 64)
    shifted = square * (Fraction(2) ** scale)
    floor = shifted.numerator // shifted.denominator
    root = math.isqrt(floor)
    sticky = root * root != floor or shifted.denominator != 1
    exact = Fraction(2 * root + sticky, 2) / (Fraction(2) ** (scale // 2))
    try:
        return exact.numerator / exact.denominator
    except OverflowError:
        return math.inf


Unary = Callable[[float], float]


def _with_special_cases(plain: Unary, special: Callable[[np.float64], np.float64]) -> Unary:
    """`plain` where argument and result are ordinary numbers, else `special`."""

    def function(x: float) -> float:
        result = float(special(np.float64(x)))
        return plain(x) if math.isfinite(result) and math.isfinite(x) and result != 0 else result

    return function


def _sigmoid(x: float) -> float:
    if x >= 0 or math.isnan(x):
        return 1 / (1 + UNARY["exp"](-x))
    small = UNARY["exp"](x)
    return small / (1 + small)


def power(a: float, b: float) -> float:
    """C's pow. NumPy's takes a square root for b = 0.5, which of a negative zero is a negative zero."""
    try:
        return math.pow(a, b)
    except (ValueError, OverflowError):
        return float(np.power(np.float64(a), np.float64(b)))


UNARY: Mapping[str, Unary] = {
    "exp": _with_special_cases(math.exp, np.exp),
    "exp2": _with_special_cases(math.exp2, np.exp2),
    "exp10": lambda x: power(10.0, x),
    "log": _with_special_cases(math.log, np.log),
    "log2": _with_special_cases(math.log2, np.log2),
    "log10": _with_special_cases(math.log10, np.log10),
    "log1p": _with_special_cases(math.log1p, np.log1p),
    "sin": _with_special_cases(math.sin, np.sin),
    "cos": _with_special_cases(math.cos, np.cos),
    "tan": _with_special_cases(math.tan, np.tan),
    "sinh": _with_special_cases(math.sinh, np.sinh),
    "cosh": _with_special_cases(math.cosh, np.cosh),
    "tanh": _with_special_cases(math.tanh, np.tanh),
    "asin": _with_special_cases(math.asin, np.arcsin),
    "acos": _with_special_cases(math.acos, np.arccos),
    "atan": _with_special_cases(math.atan, np.arctan),
    "asinh": _with_special_cases(math.asinh, np.arcsinh),
    "acosh": _with_special_cases(math.acosh, np.arccosh),
    "atanh": _with_special_cases(math.atanh, np.arctanh),
    "erf": math.erf,
    "sigmoid": _sigmoid,
    "sqrt": lambda x: float(np.sqrt(np.float64(x))),
    "rsqrt": lambda x: float(np.float64(1) / np.sqrt(np.float64(x))),
    "ceil": lambda x: float(np.ceil(np.float64(x))),
    "floor": lambda x: float(np.floor(np.float64(x))),
    "trunc": lambda x: float(np.trunc(np.float64(x))),
    "round": lambda x: float(np.rint(np.float64(x))),
    "nearbyint": lambda x: float(np.rint(np.float64(x))),
}
"""Functions of one float in binary64; those of `EXACT` are rounded once by the dtype."""

BINARY: Mapping[str, Callable[[float, float], float]] = {
    "pow": power,
    "atan2": math.atan2,
    "fmod": lambda a, b: float(np.fmod(np.float64(a), np.float64(b))),
    "truncmod": lambda a, b: float(np.fmod(np.float64(a), np.float64(b))),
}
