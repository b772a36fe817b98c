"""Constants of a dtype."""

from refmlc.lang.dtypes import INT32, DType
from refmlc.lang.dtypes.rounding import rounder
from refmlc.lang.ir import tir


def number(dtype: DType, value: int | float) -> tir.Expr:
    """The constant nearest to `value` of a scalar dtype; of a vector dtype repeated."""
    if dtype.is_vector:
        return tir.Broadcast(number(dtype.scalar, value), tir.IntImm(INT32, dtype.lanes), dtype)
    if dtype.is_float:
        return tir.FloatImm(dtype, rounder(dtype)(float(value)))
    if dtype.is_integer:
        return tir.IntImm(dtype, min(max(int(value), dtype.minimum), dtype.maximum))
    return tir.IntImm(dtype, int(bool(value)))


def has_numbers(dtype: DType) -> bool:
    """Whether there are constants of this dtype."""
    return (dtype.is_integer or dtype.is_float or dtype.kind == "bool") and not dtype.scalable
