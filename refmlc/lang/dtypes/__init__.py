"""Number formats: every dtype as one row, rounding and wrapping, bits and values."""

from refmlc.lang.dtypes.dtype import (
    BFLOAT16,
    BOOL,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    HANDLE,
    INT8,
    INT32,
    INT64,
    SCALARS,
    UINT8,
    UINT32,
    UINT64,
    VOID,
    DType,
    dtype,
)
from refmlc.lang.dtypes.formats import FLOAT_FORMATS, FloatFormat

__all__ = [
    "BFLOAT16",
    "BOOL",
    "FLOAT16",
    "FLOAT32",
    "FLOAT64",
    "FLOAT_FORMATS",
    "HANDLE",
    "INT8",
    "INT32",
    "INT64",
    "SCALARS",
    "UINT8",
    "UINT32",
    "UINT64",
    "VOID",
    "DType",
    "FloatFormat",
    "dtype",
]
