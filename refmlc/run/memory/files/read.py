"""Arrays from files: the end of a name, before `.gz`, decides the reader."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import numpy as np

from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.run.memory.files.content import bad_file
from refmlc.run.memory.files.idx import read_idx
from refmlc.run.memory.files.numpy_files import read_npy, read_npz
from refmlc.run.memory.files.pickles import read_pickle
from refmlc.run.memory.files.safetensors_files import read_safetensors

R = TypeVar("R")

_SINGLE: Mapping[str, Callable[[Path], np.ndarray]] = {
    ".npy": read_npy,
    ".idx": read_idx,
    "-ubyte": read_idx,
}
_BY_NAME: Mapping[str, Callable[[Path], Mapping[str, np.ndarray]]] = {
    ".npz": read_npz,
    ".safetensors": read_safetensors,
    ".pkl": read_pickle,
    ".pickle": read_pickle,
}


def read_array(path: Path | str) -> np.ndarray:
    """The array in a file; of a file with names, the only one in it. Fails: RM109, RM110, RM504, RM603."""
    path = Path(path)
    reader = _reader(path, _SINGLE)
    if reader is not None:
        return reader(path)
    arrays = read_arrays(path)
    if len(arrays) != 1:
        raise bad_file(path, f"one array is needed, the file holds {len(arrays)}: {', '.join(arrays)}")
    return next(iter(arrays.values()))


def read_arrays(path: Path | str) -> Mapping[str, np.ndarray]:
    """The arrays by name in a file. Fails: RM109, RM110, RM504, RM603."""
    path = Path(path)
    reader = _reader(path, _BY_NAME)
    if reader is not None:
        return reader(path)
    if _reader(path, _SINGLE) is not None:
        raise bad_file(path, "arrays with names are needed, the file holds one without a name")
    raise bad_file(path, f"no format has files of this name: {', '.join((*_SINGLE, *_BY_NAME))}")


def as_declared(array: np.ndarray, dtype: DType | None) -> np.ndarray:
    """The array of a file as an argument of dtype `dtype` (None: any): compact, in the byte order of the machine.

    Decision: `.npy` has no names for bfloat16 and narrower dtypes; `refmlc run --out` writes the bytes of their
    elements. Such elements are read as of `dtype` if that is as wide.
    """
    if array.dtype.kind == "V" and array.dtype.names is None and dtype is not None:
        stored = storage_dtype(dtype)
        if stored.itemsize == array.dtype.itemsize:
            array = array.view(stored)
    return np.asarray(array, dtype=array.dtype.newbyteorder("="), order="C")


def _reader(path: Path, readers: Mapping[str, R]) -> R | None:
    name = path.name.lower().removesuffix(".gz")
    return next((reader for ending, reader in readers.items() if name.endswith(ending)), None)
