"""Cells: the elements of a piece of storage as Python values, one by one; and their shadow.

| dtype                                        | `cells(…)[i]`                                                     |
|----------------------------------------------|-------------------------------------------------------------------|
| bool, int8 … 64, uint8 … 64, float32, float64 | a typed memoryview: no Python code per access                    |
| float16, bfloat16                            | `CodeCells`: a memoryview of the codes and a table of 65,536 values |
| float8_*, float6_*, float4_*, int1 … 4, uint1 … 4 | `CodeCells`: one byte per element, the code in its low bits  |
| handle                                       | `HandleCells`: the object that was stored, None for null          |

A vector dtype has one cell per lane: `count` elements of float32x4 are 4 * count cells, of float32.

`shadow(…)[i]` is true when cell i was written; storing 1 marks it. It is a memoryview of the storage's shadow where a
cell is a unit, else a `ShadowView`.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal, Protocol, cast

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_POINTER, UNSUPPORTED_DTYPE
from refmlc.lang.dtypes import INT8, DType
from refmlc.lang.dtypes.bits import decode_table, encoder
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.run.memory.storage import Storage

Scalar = int | float | bool


class Cells(Protocol):
    """Elements by number. A stored value must be one of the dtype."""

    def __getitem__(self, index: int, /) -> Scalar:
        """The value of cell `index`."""

    def __setitem__(self, index: int, value: Scalar, /) -> None:
        """Store `value` in cell `index`."""

    def __len__(self) -> int:
        """The number of cells."""


class Shadow(Protocol):
    """Whether cells were written, by number."""

    def __getitem__(self, index: int, /) -> int:
        """1 when all bytes of cell `index` were written, else 0."""

    def __setitem__(self, index: int, value: int, /) -> None:
        """Mark cell `index` as written (1) or not (0)."""

    def __len__(self) -> int:
        """The number of cells."""


# The characters of memoryview.cast, by dtype.
_NATIVE = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int64": "q",
    "uint8": "B",
    "uint16": "H",
    "uint32": "I",
    "uint64": "Q",
    "float32": "f",
    "float64": "d",
}
_CODES = {1: "B", 2: "H"}


class CodeCells:
    """Elements that are stored as codes of at most 16 bits."""

    __slots__ = ("_codes", "_encode", "_table")

    def __init__(self, codes: memoryview, table: Sequence[Scalar], encode: Callable[[Scalar], int]) -> None:
        """`table` gives the value of every pattern of a code's bytes."""
        self._codes = codes
        self._table = table
        self._encode = encode

    def __getitem__(self, index: int) -> Scalar:
        """The value of cell `index`."""
        return self._table[self._codes[index]]

    def __setitem__(self, index: int, value: Scalar) -> None:
        """Store `value` in cell `index`."""
        self._codes[index] = self._encode(value)

    def __len__(self) -> int:
        return len(self._codes)


class HandleCells:
    """Handles: the bytes hold a number (0: null); `objects` of the storage maps it to the handle."""

    __slots__ = ("_numbers", "_storage")

    def __init__(self, numbers: memoryview, storage: Storage) -> None:
        """`numbers` is a view of `storage`."""
        self._numbers = numbers
        self._storage = storage

    def __getitem__(self, index: int) -> object:
        """The object in cell `index`. Fails: RM313 where the bytes are no handle that was stored."""
        number: int = self._numbers[index]
        if number == 0:
            return None
        objects = self._storage.objects
        if number not in objects:
            raise fail(BAD_POINTER, f"the bytes 0x{number:x} are no handle that was stored here", self._storage.span)
        return objects[number]

    def __setitem__(self, index: int, value: object) -> None:
        """Store the handle `value` in cell `index`."""
        number = 0 if value is None else id(value)
        if number:
            self._storage.objects[number] = value
        self._numbers[index] = number

    def __len__(self) -> int:
        return len(self._numbers)


class ShadowView:
    """The shadow of cells that are not units of the storage: larger, smaller, or shifted."""

    __slots__ = ("_count", "_itemsize", "_offset", "_storage")

    def __init__(self, storage: Storage, itemsize: int, offset: int, count: int) -> None:
        self._storage = storage
        self._itemsize = itemsize
        self._offset = offset
        self._count = count

    def __getitem__(self, index: int) -> int:
        """1 when all bytes of cell `index` were written, else 0."""
        return int(self._storage.is_initialised(self._offset + index * self._itemsize, self._itemsize))

    def __setitem__(self, index: int, value: int) -> None:
        """Mark cell `index` as written (1) or not (0)."""
        mark = self._storage.initialise if value else self._storage.forget
        mark(self._offset + index * self._itemsize, self._itemsize)

    def __len__(self) -> int:
        return self._count


def cell_size(dtype: DType) -> int:
    """Bytes of one cell: of one lane."""
    return storage_dtype(dtype).itemsize


def cells(storage: Storage, dtype: DType, byte_offset: int, count: int) -> Cells:
    """`count` elements of `dtype` from `byte_offset` on (any alignment), as values, `dtype.lanes` cells each.

    Negative numbers are not cells: who computes an index checks it first.
    Fails: RM313 when they do not lie in the storage, RM503 for `void` and scalable vectors.
    """
    part = _slice(storage, dtype, byte_offset, count)
    scalar = dtype.scalar if dtype.is_vector else dtype
    native = _NATIVE.get(scalar.element)
    if native is not None:
        return cast("Cells", _typed(part, native))
    if scalar.kind == "handle":
        return cast("Cells", HandleCells(part.cast("Q"), storage))
    return CodeCells(_typed(part, _CODES[cell_size(scalar)]), *_coding(scalar))


def _typed(part: memoryview, character: str) -> memoryview:
    # The stubs know `cast` for literal characters only; those of all tables here have ints as their nearest type.
    return part.cast(cast('Literal["B"]', character))


@lru_cache(maxsize=32)
def _coding(scalar: DType) -> tuple[tuple[Scalar, ...], Callable[[Scalar], int]]:
    """The value of every pattern of the bytes (bits above the code are not looked at), and the bytes of a value."""
    table = decode_table(scalar) * (1 << (8 * cell_size(scalar) - scalar.bits))
    if scalar.element == "int1":  # stored as int8, whose value NumPy shows
        return table, encoder(INT8)
    return table, encoder(scalar)


def shadow(storage: Storage, dtype: DType, byte_offset: int, count: int) -> Shadow:
    """The shadow of the same cells as `cells(storage, dtype, byte_offset, count)`."""
    _slice(storage, dtype, byte_offset, count)
    size = cell_size(dtype)
    if storage.unit == 0:
        storage.settle(size if byte_offset % size == 0 else 1)
    number = count * dtype.lanes
    if storage.unit != size or byte_offset % size:
        return ShadowView(storage, size, byte_offset, number)
    first = byte_offset // size
    return cast("Shadow", memoryview(storage.shadow)[first : first + number])


def _slice(storage: Storage, dtype: DType, byte_offset: int, count: int) -> memoryview:
    if dtype.scalable or dtype.kind == "void":
        raise fail(UNSUPPORTED_DTYPE, f"elements of {dtype} have no fixed place in memory", storage.span)
    nbytes = cell_size(dtype) * dtype.lanes * count
    if byte_offset < 0 or count < 0 or byte_offset + nbytes > storage.nbytes:
        raise fail(
            BAD_POINTER,
            f"{count} elements of {dtype} from byte {byte_offset} on do not lie in {storage.nbytes} bytes",
            storage.span,
        )
    return storage.bytes[byte_offset : byte_offset + nbytes]
