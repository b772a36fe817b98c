"""safetensors files: arrays by name. They need the package `safetensors` (extra `safetensors`)."""

import importlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.dtypes import SCALARS
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.run.memory.files.content import bad_file, read_bytes

_DTYPES = {
    "BOOL": "bool",
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U64": "uint64",
    "U32": "uint32",
    "U16": "uint16",
    "U8": "uint8",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F8_E8M0": "float8_e8m0fnu",
}


def read_safetensors(path: Path | str) -> Mapping[str, np.ndarray]:
    """The arrays in a safetensors file, by name. Fails: RM109, RM504 (the package is not installed), RM603."""
    path = Path(path)
    content = read_bytes(path)
    try:
        package = importlib.import_module("safetensors")
    except ImportError:
        message = f"{path}: safetensors files need the package `safetensors`, which is not installed"
        raise fail(UNSUPPORTED_CONSTRUCT, message) from None
    try:
        parts = package.deserialize(content)
    except package.SafetensorError as reason:
        raise bad_file(path, f"not a safetensors file: {reason}") from None
    return {name: _array(path, name, part["dtype"], part["shape"], part["data"]) for name, part in parts}


def _array(path: Path, name: str, code: str, shape: list[int], data: bytes) -> np.ndarray:
    if code not in _DTYPES:
        raise bad_file(path, f"`{name}` has dtype {code}, which is not one of TVM's")
    stored = storage_dtype(SCALARS[_DTYPES[code]])
    return np.frombuffer(bytearray(data), stored).reshape(shape)
