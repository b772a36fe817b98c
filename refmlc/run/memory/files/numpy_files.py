"""NumPy's own files, never with objects in them.

`.npy` is a header (a literal, parsed by NumPy as data) and the elements; `.npz` is a zip of `.npy`. How much the
members take unpacked stands in the zip's directory, and unpacking stops there: see `content.MAX_BYTES`.
"""

import zipfile
import zlib
from collections.abc import Mapping
from io import BytesIO
from math import prod
from pathlib import Path
from tokenize import TokenError

import numpy as np
from numpy.lib import format as npy

from refmlc.run.memory.files.content import MAX_BYTES, bad_file, read_bytes, too_large, unreadable

_FAILURES = (
    *(ValueError, EOFError, OSError, SyntaxError, TypeError, KeyError),
    *(OverflowError, RecursionError, MemoryError, TokenError),
)
_READ_HEADER = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_MAGIC = b"\x93NUMPY"


def read_npy(path: Path | str) -> np.ndarray:
    """The array in a `.npy` file. Fails: RM109, RM603."""
    path = Path(path)
    return _array(path, "the file", read_bytes(path))


def read_npz(path: Path | str) -> Mapping[str, np.ndarray]:
    """The arrays in a `.npz` file, by name. Fails: RM109, RM603."""
    path = Path(path)
    try:
        with zipfile.ZipFile(path) as archive:
            total = sum(member.file_size for member in archive.infolist())
            if total > MAX_BYTES:
                raise too_large(path, MAX_BYTES)
            return {
                member.filename.removesuffix(".npy"): _array(path, f"`{member.filename}`", archive.read(member))
                for member in archive.infolist()
            }
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, zlib.error, ValueError) as reason:
        raise unreadable(path, reason) from None


def _array(path: Path, what: str, content: bytes) -> np.ndarray:
    if not content.startswith(_MAGIC):
        raise bad_file(path, f"{what} is not in NumPy's format: it begins with {content[:6].hex(' ') or 'nothing'}")
    stream = BytesIO(content)
    try:
        version = npy.read_magic(stream)
        if version not in _READ_HEADER:
            raise ValueError(f"version {version[0]}.{version[1]} of the format is not read")
        shape, fortran, stored = _READ_HEADER[version](stream)
        start = stream.tell()
    except _FAILURES as reason:
        raise bad_file(path, f"{what} is damaged: {str(reason) or type(reason).__name__}") from None
    if stored.hasobject:
        raise bad_file(path, f"{what} holds Python objects")
    nbytes = prod(shape) * stored.itemsize
    if len(content) - start != nbytes:
        raise bad_file(path, f"{what} needs {nbytes} bytes for {shape} of {stored}, {len(content) - start} are there")
    flat = np.frombuffer(bytearray(content), stored, prod(shape), start) if nbytes else np.zeros(0, stored)
    return flat.reshape(shape, order="F" if fortran else "C")
