"""Exact results, and the distance from them in units of the last place.

| operator                                 | exact result | rule                               |
|------------------------------------------|--------------|------------------------------------|
| add, sub, mul, div of finite floats, fma | a fraction   | rounded once                       |
| add, sub, mul of integers                | an integer   | modulo 2**bits where it differs    |
| a cast between numbers                   | the operand  | rounded once, toward zero, wrapped |
| any other operator                       | not computed | what its contract promises         |

The unit in the last place of a value is the spacing of its format there; of zero the least positive value.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from refmlc.lang.dtypes import DType
from refmlc.lang.ops.contract import Accuracy, Scalar
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.observe.why.values import Rounding


def ulp(value: float, dtype: DType) -> Fraction:
    """The spacing of the format of `dtype` at a finite `value`."""
    row = dtype.format
    if value == 0:
        return Fraction(row.smallest)
    exponent = max(math.frexp(value)[1] - 1, row.minimum_exponent)
    return Fraction(2) ** (exponent - row.fraction_bits)


def _finite(values: Sequence[Scalar]) -> bool:
    return all(math.isfinite(value) for value in values)


def exact_result(op: str, operands: Sequence[Scalar]) -> Fraction | None:
    """The result without rounding; None if it is not a fraction, or `op` is not in the table."""
    if not _finite(operands):
        return None
    exact = [Fraction(operand) for operand in operands]
    match op, exact:
        case "add", [a, b]:
            return a + b
        case "sub", [a, b]:
            return a - b
        case "mul", [a, b]:
            return a * b
        case "div", [a, b] if b:
            return a / b
        case "fma", [a, b, c]:
            return a * b + c
        case _:
            return None


def of_operator(op: str, operands: Sequence[Scalar | None], value: Scalar | None, dtype: DType) -> Rounding | None:
    """The rounding of an operator's result; None for an exact operator whose result did not wrap."""
    numbers = [operand for operand in operands if operand is not None]
    if value is None or len(numbers) != len(operands):
        return None
    exact = exact_result(op, numbers)
    if not dtype.is_float:
        overflows = dtype.is_integer and exact is not None and exact.denominator == 1 and exact != value
        return Rounding(f"modulo 2**{dtype.bits}", exact) if overflows else None
    if exact is not None:
        return _float_rounding(exact, value, dtype)
    row = SCALAR_OPS.get(op)
    if row is None or row.contract.accuracy in (Accuracy.EXACT, Accuracy.ONE_OF):
        return None
    if row.contract.accuracy is Accuracy.ROUNDED:
        return Rounding("correctly rounded")
    return Rounding(f"within {row.contract.bound(dtype):.4g} ulp")


def of_cast(source: DType, operand: Scalar | None, value: Scalar | None, target: DType) -> Rounding | None:
    """The rounding of a conversion; None where it keeps the value."""
    if operand is None or value is None or not _finite([operand]):
        return None
    exact = Fraction(operand)
    if target.is_float:
        return _float_rounding(exact, value, target)
    if exact == value or target.kind == "bool":
        return None
    return Rounding("toward zero" if source.is_float else f"modulo 2**{target.bits}", exact)


def _float_rounding(exact: Fraction, value: Scalar, dtype: DType) -> Rounding:
    if not math.isfinite(value):
        return Rounding("beyond the greatest value", exact)
    return Rounding("rounded once", exact, (Fraction(value) - exact) / ulp(value, dtype))
