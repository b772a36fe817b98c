"""An array as TVM saves it, in base64: what `b64ndarrays` of a metadata body holds.

Little-endian, in this order:

| bytes | what                                                        |
|-------|-------------------------------------------------------------|
| 8     | the magic number 0xDD5E40F096B4A13F                         |
| 8     | reserved, 0                                                 |
| 4 + 4 | device type and number (1, 0: the CPU)                      |
| 4     | number of dimensions                                        |
| 1 1 2 | dtype as DLPack has it: code, bits, lanes                   |
| 8 each | the dimensions                                             |
| 8     | number of data bytes                                        |
|       | the data, compact and row-major                             |

Source: measured on texts that TVM 0.13 to 0.17 printed, and DLPack 1.1 for the codes.
"""

import base64
import binascii
import math
import struct

import numpy as np

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import BAD_METADATA, UNSUPPORTED_DTYPE
from refmlc.lang.dtypes import BOOL, SCALARS, DType
from refmlc.lang.dtypes.storage import storage_dtype

MAGIC = 0xDD5E40F096B4A13F
_HEAD = struct.Struct("<QQiiiBBH")
_CPU = (1, 0)


def stores(element: DType) -> bool:
    """Whether arrays of dtype `element` have a place in the metadata: numbers of whole bytes."""
    return element.kind not in ("handle", "void") and element.bits % 8 == 0 and not element.is_vector


_DTYPES: dict[tuple[int, int], DType] = {(row.kind_code, row.bits): row for row in SCALARS.values() if stores(row)}
# Before 0.21, bool was an unsigned integer of one bit, a byte each.
_DTYPES[1, 1] = BOOL


def decode(text: str, span: Span | None) -> tuple[np.ndarray, DType]:
    """The array that `text` holds, read-only, with its dtype. Fails with RM113, RM503."""
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as bad:
        raise fail(BAD_METADATA, f"an array of the metadata is not base64: {bad}", span) from None
    if len(data) < _HEAD.size:
        raise fail(BAD_METADATA, f"an array of the metadata has {len(data)} bytes, less than its head", span)
    magic, _, _, _, ndim, code, bits, lanes = _HEAD.unpack_from(data)
    if magic != MAGIC:
        raise fail(BAD_METADATA, f"an array of the metadata begins with {magic:#x}, not with {MAGIC:#x}", span)
    start = _HEAD.size + 8 * ndim
    if not 0 <= ndim <= 64 or len(data) < start + 8:
        raise fail(BAD_METADATA, f"an array of the metadata ends inside its {ndim} dimensions", span)
    shape = struct.unpack_from(f"<{ndim}q", data, _HEAD.size)
    element = _DTYPES.get((code, bits))
    if element is None or lanes != 1:
        raise fail(
            UNSUPPORTED_DTYPE, f"an array of the metadata has dtype code {code}, {bits} bits, {lanes} lanes", span
        )
    return _filled(data[start:], shape, element, span), element


def _filled(data: bytes, shape: tuple[int, ...], element: DType, span: Span | None) -> np.ndarray:
    stored = storage_dtype(element)
    (size,) = struct.unpack_from("<q", data)
    if any(extent < 0 for extent in shape) or size != math.prod(shape) * stored.itemsize or len(data) - 8 != size:
        message = f"an array of the metadata of shape {shape} in {element} says {size} bytes and has {len(data) - 8}"
        raise fail(BAD_METADATA, message, span)
    return np.frombuffer(data, stored.newbyteorder("<"), offset=8).reshape(shape)


def encode(array: np.ndarray, element: DType) -> str:
    """`array`, whose elements are of dtype `element`, as `decode` reads it. Fails with RM503."""
    if not stores(element):
        raise fail(UNSUPPORTED_DTYPE, f"an array of dtype {element} has no place in the metadata")
    compact = np.ascontiguousarray(array, storage_dtype(element)).reshape(array.shape)
    body = compact.tobytes()
    head = _HEAD.pack(MAGIC, 0, *_CPU, array.ndim, element.kind_code, element.bits, 1)
    dims = struct.pack(f"<{array.ndim}qq", *array.shape, len(body))
    return base64.b64encode(head + dims + body).decode("ascii")
