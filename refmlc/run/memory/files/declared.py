"""Arrays from files in the form that a declared dtype asks for."""

import numpy as np

from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.storage import storage_dtype


def as_declared(array: np.ndarray, dtype: DType | None) -> np.ndarray:
    """The array of a file as a function takes it: compact, in the machine's byte order. `dtype` None: any.

    Decision: `.npy` has no names for bfloat16 and what is narrower, `refmlc run --out` writes the bytes of their
    elements; such elements are read as of the dtype declared, where that is as wide.
    """
    if array.dtype.kind == "V" and array.dtype.names is None and dtype is not None:
        stored = storage_dtype(dtype)
        if stored.itemsize == array.dtype.itemsize:
            array = array.view(stored)
    return np.asarray(array, dtype=array.dtype.newbyteorder("="), order="C")
