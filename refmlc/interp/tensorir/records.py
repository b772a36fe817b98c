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

from refmlc.dtypes import INT64, SCALARS, DType
from refmlc.runtime.cells import cells
from refmlc.runtime.dlpack import CODES
from refmlc.runtime.pointer import Pointer
from refmlc.runtime.tensor import Tensor
from refmlc.runtime.values import Shape

ADDRESS, DATA, SHAPE, STRIDES, RANK, CODE, BITS, LANES, BYTE_OFFSET, DEVICE_ID, DEVICE_TYPE = range(11)
TYPE_INDEX, PADDING, VALUE = 13, 14, 15
INT64_ELEMENT = 17

NONE, INT, BOOL, FLOAT, POINTER, DTYPE = range(6)
TENSOR_POINTER, TEXT, SHAPE_OBJECT = 7, 8, 69
CPU = 1

CODE_OF_KIND: Mapping[str, int] = {"int": 0, "uint": 1, "float": 2, "handle": 3}
ELEMENT_OF_CODE: Mapping[int, str] = {code: name for name, code in CODES.items()}


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

    def tensor(self) -> Tensor | None:
        """The tensor that the fields describe; None when they do not describe one."""
        data, rank = self.fields.get(DATA), self.fields.get(RANK)
        dtype = dtype_of_code(self.fields.get(CODE), self.fields.get(BITS), self.fields.get(LANES))
        start = self.fields.get(BYTE_OFFSET, 0)
        if not (isinstance(data, Pointer) and isinstance(rank, int) and isinstance(start, int)) or dtype is None:
            return None
        shape = extents(self.fields.get(SHAPE), rank)
        if shape is None:
            return None
        return Tensor(data.storage, dtype, shape, extents(self.fields.get(STRIDES), rank), data.byte_offset + start)


def extents(handle: object, rank: int) -> tuple[int, ...] | None:
    """The int64 array of `rank` elements that a shape or strides handle points to; None for null."""
    if isinstance(handle, tuple):
        return handle
    if not isinstance(handle, Pointer):
        return None
    found = cells(handle.storage, INT64, handle.byte_offset, rank)
    return tuple(int(found[axis]) for axis in range(rank))


def dtype_of_code(code: object, bits: object, lanes: object) -> DType | None:
    """The dtype that DLPack's three numbers mean."""
    if not (isinstance(code, int) and isinstance(bits, int) and isinstance(lanes, int)):
        return None
    plain = {number: f"{kind}{bits}" for kind, number in CODE_OF_KIND.items()}
    scalar = SCALARS.get(ELEMENT_OF_CODE.get(code) or plain.get(code, ""))
    return scalar if scalar is None or lanes == 1 else scalar.with_lanes(lanes)


def type_index(value: object) -> int:
    """The number that tells what kind a value is."""
    match value:
        case None:
            return NONE
        case bool():
            return BOOL
        case int():
            return INT
        case float():
            return FLOAT
        case DType():
            return DTYPE
        case Tensor() | Record():
            return TENSOR_POINTER
        case str():
            return TEXT
        case Shape():
            return SHAPE_OBJECT
        case _:
            return POINTER


def tensor_field(tensor: Tensor, number: int) -> object:
    """A field of the `DLTensor` that describes `tensor`; KeyError when it has no such field."""
    dtype = tensor.dtype
    fields: dict[int, object] = {
        ADDRESS: tensor,
        DATA: Pointer(tensor.storage, tensor.byte_offset),
        SHAPE: tuple(tensor.shape),
        STRIDES: tensor.strides,
        RANK: len(tensor.shape),
        CODE: CODES[dtype.element] if dtype.element in CODES else CODE_OF_KIND[dtype.kind],
        BITS: dtype.bits,
        LANES: dtype.lanes,
        BYTE_OFFSET: 0,
        DEVICE_ID: 0,
        DEVICE_TYPE: CPU,
    }
    return fields[number]
