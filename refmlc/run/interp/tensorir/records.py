"""What lowered code builds calls from: arrays of `TVMFFIAny` and of `DLTensor`, and the fields of both.

Lowered TensorIR calls by filling structures in memory field by field. Here such an array is an object, and a field
keeps the value that was put in it; `tvm_struct_get` and `tvm_struct_set` name the field by number:

| number | field                          | number | field                                        |
|--------|--------------------------------|--------|----------------------------------------------|
| 0      | the address of the tensor      | 8      | byte offset                                  |
| 1      | data                           | 9, 10  | device id, device type                       |
| 2, 3   | shape, strides (null: compact) | 13     | type index of a value                        |
| 4      | rank                           | 14     | padding                                      |
| 5, 6, 7 | code, bits, lanes of the dtype | 15    | the value                                    |
|        |                                | 17     | an element of an array of int64              |

Source: TVM 0.27, include/tvm/tirx/builtin.h and the stable C ABI of tvm-ffi.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from refmlc.lang.dtypes import INT64, SCALARS, DType
from refmlc.run.memory.cells import cells
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Shape

ADDRESS, DATA, SHAPE, STRIDES, RANK, CODE, BITS, LANES, BYTE_OFFSET, DEVICE_ID, DEVICE_TYPE = range(11)
OF_TENSOR = range(DATA, DEVICE_TYPE + 1)
TYPE_INDEX, PADDING, VALUE = 13, 14, 15
INT64_ELEMENT = 17

NONE, INT, BOOL, FLOAT, POINTER, DTYPE = range(6)
TENSOR_POINTER, TEXT, SHAPE_OBJECT = 7, 8, 69
CPU = 1

BY_CODE: Mapping[tuple[int, int], DType] = {
    (row.kind_code, row.bits): row for row in SCALARS.values() if row.kind not in ("handle", "void")
}


@dataclass(slots=True)
class Values:
    """An array of `TVMFFIAny`: type index and value of each."""

    types: list[int]
    values: list[object]

    @classmethod
    def of(cls, values: list[object]) -> "Values":
        """The array that holds `values`, as a call from outside passes them."""
        return cls([type_index(value) for value in values], values)


@dataclass(slots=True)
class Records:
    """An array of `DLTensor`, the fields of each by number."""

    fields: list[dict[int, object]]


@dataclass(slots=True, frozen=True)
class Record:
    """The address of one `DLTensor` of an array."""

    fields: dict[int, object] = field(repr=False)

    def tensor(self) -> Tensor:
        """The tensor that the fields describe. Fails with KeyError when they do not describe one."""
        data, shape = self.fields[DATA], extents(self.fields[SHAPE], self.number(RANK))
        if not isinstance(data, Pointer) or shape is None:
            raise KeyError(DATA)
        dtype = dtype_of_code(self.number(CODE), self.number(BITS), self.number(LANES))
        start = data.byte_offset + self.number(BYTE_OFFSET)
        return Tensor(data.storage, dtype, shape, extents(self.fields[STRIDES], len(shape)), start)

    def number(self, field: int) -> int:
        """A field that holds a number; KeyError when it does not."""
        found = self.fields[field]
        if not isinstance(found, int):
            raise KeyError(field)
        return found


def extents(handle: object, rank: int) -> tuple[int, ...] | None:
    """The int64 array of `rank` elements that a shape or strides handle points to; None for null."""
    if not isinstance(handle, Pointer):
        return handle if isinstance(handle, tuple) else None
    return tuple(extent(handle, axis) for axis in range(rank))


def extent(array: Pointer, number: int) -> int:
    """An element of an array of int64. Fails with KeyError where nothing was put, or there is none."""
    storage, start = array.storage, array.byte_offset + 8 * number
    if not 0 <= start <= storage.nbytes - 8 or not storage.is_initialised(start, 8):
        raise KeyError(number)
    return int(cells(storage, INT64, start, 1)[0])


def dtype_of_code(code: int, bits: int, lanes: int) -> DType:
    """The dtype that DLPack's three numbers mean. Fails with KeyError when there is none."""
    scalar = BY_CODE[code, bits]
    return scalar if lanes == 1 else scalar.with_lanes(lanes)


def type_index(value: object) -> int:
    """The number that tells what kind a value is."""
    return next((number for kind, number in INDEX_OF_TYPE if isinstance(value, kind)), POINTER)


def tensor_field(tensor: Tensor, number: int) -> object:
    """A field of the `DLTensor` that describes `tensor`; KeyError when it has no such field."""
    dtype = tensor.dtype
    fields: dict[int, object] = {
        ADDRESS: tensor,
        DATA: Pointer(tensor.storage, tensor.byte_offset),
        SHAPE: tuple(tensor.shape),
        STRIDES: tensor.strides,
        RANK: len(tensor.shape),
        CODE: dtype.kind_code,
        BITS: dtype.bits,
        LANES: dtype.lanes,
        BYTE_OFFSET: 0,
        DEVICE_ID: 0,
        DEVICE_TYPE: CPU,
    }
    return fields[number]


INDEX_OF_TYPE: tuple[tuple[type, int], ...] = (
    (type(None), NONE),
    (bool, BOOL),
    (int, INT),
    (float, FLOAT),
    (DType, DTYPE),
    (Tensor, TENSOR_POINTER),
    (Record, TENSOR_POINTER),
    (str, TEXT),
    (Shape, SHAPE_OBJECT),
)
"""Type indices by the kind of a value, the first that fits; anything else is an opaque pointer."""
