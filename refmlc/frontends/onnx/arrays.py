"""Tensors of ONNX as arrays, its numbers of dtypes by their names here."""

from collections.abc import Mapping
from math import prod

import numpy as np
import onnx
from onnx import numpy_helper

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE, UNSUPPORTED_OP
from refmlc.frontends.arrays import constant
from refmlc.lang.dtypes import SCALARS, DType
from refmlc.lang.dtypes.storage import dtype_of
from refmlc.lang.ir import relax

DTYPES: Mapping[int, str] = {
    1: "float32",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    7: "int64",
    9: "bool",
    10: "float16",
    11: "float64",
    12: "uint32",
    13: "uint64",
    16: "bfloat16",
    17: "float8_e4m3fn",
    18: "float8_e4m3fnuz",
    19: "float8_e5m2",
    20: "float8_e5m2fnuz",
    21: "uint4",
    22: "int4",
    23: "float4_e2m1fn",
    24: "float8_e8m0fnu",
    25: "uint2",
    26: "int2",
}
"""ONNX's numbers of dtypes."""
NUMBERS: Mapping[str, int] = {name: number for number, name in DTYPES.items()}


def dtype_named(number: int, what: str) -> DType:
    """The dtype that ONNX gives a number. Fails: RM501."""
    if number not in DTYPES:
        known = onnx.TensorProto.DataType.values()
        name = onnx.TensorProto.DataType.Name(number) if number in known else str(number)
        raise fail(UNSUPPORTED_OP, f"{what} has the dtype {name.lower()}, which is not supported")
    return SCALARS[DTYPES[number]]


def constant_named(array: np.ndarray, name: str) -> relax.Constant:
    """An array as a constant. Fails: RM501 where its dtype is none that is supported."""
    try:
        dtype = dtype_of(array.dtype)
    except KeyError:
        raise fail(UNSUPPORTED_OP, f"`{name}` has the dtype {array.dtype}, which is not supported") from None
    return constant(array, dtype)


def array_of(tensor: onnx.TensorProto) -> np.ndarray:
    """The elements. Fails: RM501 for the dtype and data outside of the model, RM109 for dims and data that differ."""
    name = tensor.name or "a constant"
    dtype_named(tensor.data_type, f"`{name}`")
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        raise fail(UNSUPPORTED_OP, f"`{name}` lies in another file: load the model with its external data first")
    if any(extent < 0 for extent in tensor.dims):
        raise fail(BAD_FILE, f"`{name}` has a negative extent: {list(tensor.dims)}")
    most = (
        len(tensor.raw_data) * 8
        + sum(
            len(getattr(tensor, field))
            for field in ("float_data", "int32_data", "int64_data", "double_data", "uint64_data")
        )
        * 8
    )
    if prod(tensor.dims) > most:
        raise fail(BAD_FILE, f"`{name}` has dimensions {list(tensor.dims)}, and fewer elements")
    try:
        return np.array(numpy_helper.to_array(tensor))
    except (ValueError, TypeError) as wrong:
        raise fail(BAD_FILE, f"`{name}` cannot be read: {' '.join(str(wrong).split())}") from None
