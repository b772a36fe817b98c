"""Values as bits: equal where the meaning is. NaN is one class; elements that were never written have no value.

| value         | its bits                                                                      |
|---------------|-------------------------------------------------------------------------------|
| tensor        | dtype, shape, codes of the written elements (the others 0), which are written |
| float         | its eight bytes                                                               |
| tuple, shape  | those of its parts                                                            |
| anything else | itself                                                                        |
"""

import math
import struct

import numpy as np

from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Closure, PackedFunc, Shape


def bits(value: object) -> object:
    """`value` in a form that `==` compares by meaning."""
    match value:
        case Tensor():
            return tensor_bits(value)
        case Shape():
            return ("shape", *value)
        case tuple():
            return ("tuple", *(bits(item) for item in value))
        case bool() | int():
            return (type(value).__name__, value)
        case float():
            return "nan" if math.isnan(value) else struct.pack("<d", value)
        case Closure() | PackedFunc():
            return ("function", value.name)
        case _:
            return value


def tensor_bits(tensor: Tensor) -> tuple[object, ...]:
    """The bits of a tensor."""
    if tensor.dtype.kind == "handle":
        return (str(tensor.dtype), tensor.shape)
    codes = normal_codes(np.ascontiguousarray(tensor.array))
    if tensor.initialised:
        return (str(tensor.dtype), tensor.shape, codes.tobytes(), b"")
    mask = tensor.written
    codes = codes.reshape(mask.shape)
    codes[~mask] = 0
    return (str(tensor.dtype), tensor.shape, codes.tobytes(), mask.tobytes())


def normal_codes(array: np.ndarray) -> np.ndarray:
    """The codes of elements, in memory of their own; every NaN has the same one."""
    codes = array.view(f"u{array.dtype.itemsize}").copy()
    if array.dtype.kind == "b":
        codes[codes != 0] = 1
    elif array.dtype.kind == "f":
        codes[np.isnan(array)] = (1 << 8 * array.dtype.itemsize) - 1
    elif array.dtype.kind not in "iu" and not array.dtype.name.startswith(("int", "uint")):
        with np.errstate(all="ignore"):
            codes[np.isnan(array.astype(np.float32))] = (1 << 8 * array.dtype.itemsize) - 1
    return codes
