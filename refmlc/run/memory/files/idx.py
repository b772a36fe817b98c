"""IDX, the format of MNIST and Fashion-MNIST.

| bytes | meaning                                                                                         |
|-------|-------------------------------------------------------------------------------------------------|
| 2     | zero                                                                                            |
| 1     | dtype: 08 uint8, 09 int8, 0B int16, 0C int32, 0D float32, 0E float64                            |
| 1     | number of axes                                                                                  |
| 4 · n | extents, big-endian                                                                             |
| rest  | elements, row-major, big-endian; no byte more or less                                           |

Source: Y. LeCun, C. Cortes, C. Burges, "The MNIST database of handwritten digits".
"""

from collections.abc import Mapping
from math import prod
from pathlib import Path

import numpy as np

from refmlc.run.memory.files.content import MAX_BYTES, bad_file, read_bytes, too_large

DTYPES: Mapping[int, "np.dtype[np.generic]"] = {
    0x08: np.dtype("u1"),
    0x09: np.dtype("i1"),
    0x0B: np.dtype(">i2"),
    0x0C: np.dtype(">i4"),
    0x0D: np.dtype(">f4"),
    0x0E: np.dtype(">f8"),
}


def read_idx(path: Path | str) -> np.ndarray:
    """The array in an IDX file, gzipped or not, in native byte order. Fails: RM109, RM603."""
    path = Path(path)
    content = read_bytes(path)
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] not in DTYPES:
        raise bad_file(path, f"not an IDX file: it begins with {content[:4].hex(' ') or 'nothing'}")
    stored, ndim = DTYPES[content[2]], content[3]
    start = 4 + 4 * ndim
    if len(content) < start:
        raise bad_file(path, f"the file ends within its {ndim} extents")
    shape = tuple(int.from_bytes(content[4 + 4 * i : 8 + 4 * i], "big") for i in range(ndim))
    nbytes = prod(shape) * stored.itemsize
    if nbytes > MAX_BYTES:
        raise too_large(path, MAX_BYTES)
    if len(content) - start != nbytes:
        raise bad_file(path, f"the shape {shape} of {stored.name} takes {nbytes} bytes, {len(content) - start} follow")
    array: np.ndarray = np.frombuffer(content, stored, offset=start).reshape(shape).astype(stored.newbyteorder("="))
    return array
