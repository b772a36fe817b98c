"""Where values lie: the NumPy dtype that holds one element, whole bytes per element.

| dtype                             | NumPy dtype                                   |
|-----------------------------------|-----------------------------------------------|
| bool, int8…64, uint8…64           | NumPy's own                                   |
| float16, float32, float64         | NumPy's own                                   |
| bfloat16, float8_*, float6_*, float4_* | ml_dtypes', one byte for 8 bits and less |
| int2, int4, uint2, uint4          | ml_dtypes', one byte                          |
| int1, uint1                       | int8, uint8                                   |
| handle                            | uint64                                        |

Decision: elements of less than a byte take a byte each, as NumPy and ml_dtypes store them; TVM packs them two or
more to a byte inside its own kernels only.
"""

import ml_dtypes
import numpy as np

from refmlc.lang.dtypes.dtype import SCALARS, DType

_NUMPY_OWN = (
    *("bool", "float16", "float32", "float64"),
    *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)),
)
ML_DTYPES = (
    *("bfloat16", "int2", "int4", "uint2", "uint4"),
    *(name for name in SCALARS if name.startswith(("float8_", "float6_", "float4_"))),
)

_STORED: dict[str, "np.dtype[np.generic]"] = {
    **{name: np.dtype(name) for name in _NUMPY_OWN},
    **{name: np.dtype(getattr(ml_dtypes, name)) for name in ML_DTYPES},
    "int1": np.dtype(np.int8),
    "uint1": np.dtype(np.uint8),
    "handle": np.dtype(np.uint64),
}
_READ = {_STORED[name]: SCALARS[name] for name in (*_NUMPY_OWN, *ML_DTYPES)}


def storage_dtype(dtype: DType) -> "np.dtype[np.generic]":
    """The NumPy dtype of one element (of one lane). Fails with KeyError for `void`."""
    return _STORED[dtype.element]


def dtype_of(stored: "np.dtype[np.generic]") -> DType:
    """The dtype of the elements of an array. Fails with KeyError when there is none, as for complex numbers."""
    return _READ[stored.newbyteorder("=")]


def itemsize(dtype: DType) -> int:
    """Bytes of one element, all its lanes."""
    return storage_dtype(dtype).itemsize * dtype.lanes
