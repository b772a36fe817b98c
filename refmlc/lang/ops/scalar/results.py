"""How results get into their dtype: integers wrap or overflow, floats round once and may miss a NaN.

| result dtype             | what does not fit                                              | clause  |
|--------------------------|----------------------------------------------------------------|---------|
| int, uint of 1…16 bits   | wraps modulo 2**bits                                           | NUM-101 |
| int, uint of 32, 64 bits | is undefined, RM306; if allowed, the value modulo 2**bits      | NUM-101 |
| float                    | rounds as the format says                                      | NUM-001 |
| float6, float4           | NaN is undefined, RM311                                        | NUM-004 |
"""

import operator
from collections.abc import Callable

from refmlc.diag.catalogue import BAD_ARGUMENT_VALUE, INT_OVERFLOW
from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.rounding import int_rounder, rounder, wrap
from refmlc.lang.ops.contract import UndefinedValue, UndefinedWhen, Value

WIDE_BITS = 32


def is_wide(dtype: DType) -> bool:
    """Whether integer arithmetic in this dtype may not overflow."""
    return dtype.bits >= WIDE_BITS


def fits(dtype: DType, number: int) -> bool:
    """Whether the integer dtype can hold `number`."""
    return dtype.minimum <= number <= dtype.maximum


def overflow(dtype: DType, text: str, number: int) -> UndefinedValue:
    """The finding that `text` is `number`, which the integer dtype cannot hold."""
    return UndefinedValue(INT_OVERFLOW, f"{text} is {number}, beyond {dtype}", wrap(dtype, number))


def int_result(dtype: DType, symbol: str) -> Callable[[int, int, int], int]:
    """The function of an exact result and the two operands that gives the value in `dtype`."""
    minimum, maximum = dtype.minimum, dtype.maximum

    def checked(number: int, a: int, b: int) -> int:
        if minimum <= number <= maximum:
            return number
        raise overflow(dtype, f"{a} {symbol} {b}", number)

    def wrapped(number: int, _a: int, _b: int) -> int:
        return number if minimum <= number <= maximum else wrap(dtype, number)

    return checked if is_wide(dtype) else wrapped


def overflows(exact: Callable[..., int], text: str) -> UndefinedWhen:
    """Undefined when the exact result of wide integers does not fit."""

    def holds(dtype: DType, *operands: int) -> bool:
        return dtype.is_integer and is_wide(dtype) and not fits(dtype, exact(*operands))

    return UndefinedWhen(INT_OVERFLOW, text, holds)


def float_result(dtype: DType) -> Callable[[float], float]:
    """The function that rounds a binary64 number to `dtype`; raises where NaN has no code in it."""
    return _refusing_nan(dtype, rounder(dtype))


def int_to_float(dtype: DType) -> Callable[[int], float]:
    """The function that rounds an integer to the float dtype `dtype`."""
    return int_rounder(dtype)


def _refusing_nan(dtype: DType, rounded: Callable[[float], float]) -> Callable[[float], float]:
    if dtype.format.has_nan:
        return rounded

    def to_dtype(x: float) -> float:
        if x != x:  # noqa: PLR0124 - the test for NaN
            raise UndefinedValue(BAD_ARGUMENT_VALUE, f"the result is NaN, which {dtype} does not have")
        return rounded(x)

    return to_dtype


def float_binary(exact: Callable[[float, float], float], result: DType) -> Value:
    """`exact` in binary64, rounded once: what `float_result` does, with its cell in place for float32."""
    if result.element == "float64":
        return exact
    if result.element == "float32":
        return _float32_binary(exact)
    rounded = float_result(result)
    return lambda a, b: rounded(exact(a, b))


def _float32_binary(exact: Callable[[float, float], float]) -> Value:
    cell = memoryview(bytearray(4)).cast("f")

    def add(a: float, b: float) -> float:
        cell[0] = a + b
        return cell[0]

    def sub(a: float, b: float) -> float:
        cell[0] = a - b
        return cell[0]

    def mul(a: float, b: float) -> float:
        cell[0] = a * b
        return cell[0]

    def other(a: float, b: float) -> float:
        cell[0] = exact(a, b)
        return cell[0]

    written_out: dict[Callable[[float, float], float], Value] = {
        operator.add: add,
        operator.sub: sub,
        operator.mul: mul,
    }
    return written_out.get(exact, other)
