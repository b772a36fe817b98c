"""TVM's C interface: arrays of `TVMFFIAny` and of `DLTensor`, their fields, calls through them, the packed entry.

Lowered TensorIR calls by filling structures in memory field by field. Here such an array is an object, and a field
keeps the value that was put in it; `tvm_struct_get` and `tvm_struct_set` name the field by number:

| number | field                          | number | field                                        |
|--------|--------------------------------|--------|----------------------------------------------|
| 0      | the address of the tensor      | 8      | byte offset                                  |
| 1      | data                           | 9, 10  | device id, device type                       |
| 2, 3   | shape, strides (may be null)   | 13     | type index of a value                        |
| 4      | rank                           | 14     | padding                                      |
| 5, 6, 7 | code, bits, lanes of the dtype | 15    | the value                                    |
|        |                                | 17     | an element of an array of int64              |

The value of an argument has 64 bits, which a number is read from as int64 or as float64, whatever was put in.

A function with `calling_conv` 1 takes (self, arguments, number of arguments, result) as TVM's C interface does. It is
called here like any other: its arguments are put into such an array, and its result is taken from one.

Source: TVM 0.27, include/tvm/tirx/builtin.h and the stable C ABI of tvm-ffi.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from struct import Struct
from typing import cast

import numpy as np

from refmlc.diag.catalogue import BAD_POINTER, UNSUPPORTED_CONSTRUCT
from refmlc.lang.dtypes import FLOAT64, INT64, SCALARS, DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.run.interp.tensorir import tensor_maps
from refmlc.run.interp.tensorir.frame import Eval, Frame
from refmlc.run.interp.tensorir.intrinsics import operands
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.memory.cells import cells
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Shape, kind_of

LAUNCH = "tirx.kernel_launch_params"
ADDRESS, DATA, SHAPE, STRIDES, RANK, CODE, BITS, LANES, BYTE_OFFSET, DEVICE_ID, DEVICE_TYPE = range(11)
OF_TENSOR = range(DATA, DEVICE_TYPE + 1)
TYPE_INDEX, PADDING, VALUE = 13, 14, 15
INT64_ELEMENT = 17

DOUBLE, DOUBLE_WORD = Struct("<d"), Struct("<q")
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
        content = self.fields[field]
        if not isinstance(content, int):
            raise KeyError(field)
        return content


def extents(handle: object, rank: int) -> tuple[int, ...] | None:
    """The int64 array of `rank` elements that a shape or strides handle points to; None for null."""
    if not isinstance(handle, Pointer):
        return handle if isinstance(handle, tuple) else None
    return tuple(extent(handle, axis) for axis in range(rank))


def extent(array: Pointer, number: int) -> int:
    """An element of an array of int64. Fails with KeyError if it was not written, or is outside."""
    storage, start = array.storage, array.byte_offset + 8 * number
    if not 0 <= start <= storage.nbytes - 8 or not storage.is_initialised(start, 8):
        raise KeyError(number)
    return int(cells(storage, INT64, start, 1)[0])


def dtype_of_code(code: int, bits: int, lanes: int) -> DType:
    """The dtype of DLPack's three numbers. Fails with KeyError if there is none."""
    scalar = BY_CODE[code, bits]
    return scalar if lanes == 1 else scalar.with_lanes(lanes)


def type_index(value: object) -> int:
    """The number of the kind of a value."""
    return next((number for kind, number in INDEX_OF_TYPE if isinstance(value, kind)), POINTER)


def tensor_field(tensor: Tensor, number: int) -> object:
    """A field of the `DLTensor` that describes `tensor`; KeyError when it has no such field."""
    dtype = tensor.dtype
    fields: dict[int, object] = {
        ADDRESS: tensor,
        DATA: Pointer(tensor.storage, tensor.byte_offset),
        SHAPE: tuple(tensor.shape),
        STRIDES: tensor.element_strides or None,  # DLPack 1.2: null for a rank of 0 only
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


def is_packed_entry(func: tir.PrimFunc) -> bool:
    """Whether the function has the C interface."""
    convention = func.attrs.get("calling_conv")
    value = convention.value if isinstance(convention, tir.IntImm) else convention
    return value == 1 and len(func.params) == 4


def enter_packed(call: Callable[[Sequence[object]], object]) -> Callable[[Sequence[object]], object]:
    """A function with the C interface as one that takes its arguments."""

    def call_packed(args: Sequence[object]) -> object:
        result = Values.of([None])
        values = [Tensor.from_numpy(arg) if isinstance(arg, np.ndarray) else arg for arg in args]
        call((None, Values.of(values), len(values), result))
        return result.values[0]

    return call_packed


def device_of(scope: Scope, node: tir.Call) -> int:
    """The device type that `node` reads: the one that the function asserts, else the CPU.

    Decision: memory is one here. A host function takes its arguments where its kernels run.
    """
    func = scope.machine.module.functions.get(scope.function)
    for part in walk(func) if isinstance(func, tir.PrimFunc) else ():
        match part:
            case tir.Apply(op="eq", args=(operand, tir.IntImm(value=number))) if _may_be(operand, node):
                return number
            case tir.Apply(op="eq", args=(tir.IntImm(value=number), operand)) if _may_be(operand, node):
                return number
    return CPU


def _may_be(expr: tir.Expr, node: tir.Call) -> bool:
    """Whether the value of an expression is that of `node`, or of what a condition gives in its place."""
    match expr:
        case tir.IfThenElseExpr() | tir.Select():
            return _may_be(expr.true_value, node) or _may_be(expr.false_value, node)
        case _:
            return expr is node


def _text(node: object) -> str:
    return node.value if isinstance(node, tir.StringImm) else str(node)


def _alloca(scope: Scope, node: tir.Call) -> Eval:  # TIR-329
    kind, count = _text(node.args[0]), scope.int(operands(node)[1])
    budget, span = scope.machine.budget, node.span
    match kind:
        case "tvm_ffi_any" | "arg_value":
            return lambda frame: Values.of([None] * count(frame))
        case "array":
            return lambda frame: Records([{} for _ in range(count(frame))])
        case "shape":
            return lambda frame: Pointer(
                Storage(8 * count(frame), unit=8, origin="a shape on the stack", span=span, budget=budget)
            )
        case "tensormap":
            return tensor_maps.stack(scope, node)
        case _:
            return scope.unsupported(UNSUPPORTED_CONSTRUCT, f"a stack of `{kind}` is not known", node.span)


def _get(scope: Scope, node: tir.Call) -> Eval:  # TIR-330
    structure, index, number = operands(node)[:3]
    handle_of, index_of, field_of = scope.expr(structure), scope.int(index), scope.int(number)
    failure = scope.failing(BAD_POINTER, node.span)
    reads_device = isinstance(number, tir.IntImm) and number.value == DEVICE_TYPE
    device = device_of(scope, node) if reads_device else None

    def get(frame: Frame) -> object:
        handle, element, part = handle_of(frame), index_of(frame), field_of(frame)
        if device is not None and isinstance(handle, Tensor):
            return device
        try:
            found = _field(handle, element, part)
        except (KeyError, IndexError):
            raise failure(frame, f"{kind_of(handle)} has no field {part} at {element}") from None
        return as_bits(found, node.dtype) if part == VALUE and isinstance(handle, Values) else found

    return get


def as_bits(value: object, dtype: DType) -> object:
    """The 64 bits of a value as one of `dtype`: a float as int64, an integer as float64; any other as it is."""
    if dtype == INT64 and isinstance(value, float):
        return DOUBLE_WORD.unpack(DOUBLE.pack(value))[0]
    if dtype == FLOAT64 and isinstance(value, int) and INT64.minimum <= value <= INT64.maximum:
        return DOUBLE.unpack(DOUBLE_WORD.pack(value))[0]
    return value


def _field(handle: object, element: int, part: int) -> object:
    match handle:
        case Values() | Records() | tuple() if element < 0:
            raise IndexError(element)
        case Values() if part == TYPE_INDEX:
            return handle.types[element]
        case Values() if part == VALUE:
            return handle.values[element]
        case Records() if part == ADDRESS:
            return Record(handle.fields[element])
        case Records():
            return handle.fields[element][part]
        case Record():
            return handle if part == ADDRESS else handle.fields[part]
        case Tensor():
            return tensor_field(handle, part)
        case tuple() if part == INT64_ELEMENT:
            return handle[element]
        case Pointer() if part == INT64_ELEMENT:
            return extent(handle, element)
        case _:
            raise KeyError(part)


def _set(scope: Scope, node: tir.Call) -> Eval:  # TIR-330
    structure, index, number, value = operands(node)[:4]
    handle_of, index_of, field_of = scope.expr(structure), scope.int(index), scope.int(number)
    value_of = scope.expr(value)
    failure = scope.failing(BAD_POINTER, node.span)

    def put(frame: Frame) -> object:
        handle, element, part = handle_of(frame), index_of(frame), field_of(frame)
        content = value_of(frame)
        try:
            _put(handle, element, part, content)
        except (KeyError, IndexError):
            raise failure(frame, f"{kind_of(handle)} has no field {part} at {element}") from None
        return 0

    return put


def _put(handle: object, element: int, part: int, content: object) -> None:
    match handle:
        case Values() | Records() if element < 0:
            raise IndexError(element)
        case Values() if part == TYPE_INDEX:
            handle.types[element] = cast("int", content)
        case Values() if part == VALUE:
            handle.values[element] = content
        case Values() if part == PADDING:
            pass
        case Records() if part in OF_TENSOR:
            handle.fields[element][part] = content
        case Record() if part in OF_TENSOR:
            handle.fields[part] = content
        case _:
            raise KeyError(part)


def _call_lowered(scope: Scope, node: tir.Call) -> Eval:  # TIR-331
    name = _text(node.args[0])
    array, begin, end = operands(node)[1:4]
    stack_of, first, last = scope.expr(array), scope.int(begin), scope.int(end)
    machine, span = scope.machine, node.span
    failure = scope.failing(BAD_POINTER, span)

    def call(frame: Frame) -> object:
        stack, start, stop = stack_of(frame), first(frame), last(frame)
        if not isinstance(stack, Values) or not 0 <= start <= stop < len(stack.values):
            raise failure(frame, f"{kind_of(stack)} holds no arguments {start} … {stop}")
        try:
            args = [_value(stack.types[number], stack.values[number]) for number in range(start, stop)]
        except KeyError as field:
            raise failure(frame, f"the tensor among the arguments has no field {field}") from None
        callee = machine.module.functions.get(name)
        if callee is None:
            result = machine.registry.get_func(name, span)(args, span)
        elif (kernel := kernel_args(callee, args)) is not None:
            machine.call(name, kernel, span)
            result = 0
        else:
            result = machine.call(name, args, span)
        stack.types[stop], stack.values[stop] = type_index(result), result
        return result

    return call


def kernel_args(func: object, args: Sequence[object]) -> Sequence[object] | None:
    """The arguments of a kernel, without the extents of threads that follow them in `args`. None: no kernel."""
    if isinstance(func, tir.PrimFunc) and LAUNCH in func.attrs and len(args) >= len(func.params):
        return args[: len(func.params)]
    return None


def _value(kind: int, content: object) -> object:
    """An argument by its type index. Fails with KeyError for a structure that is not a tensor."""
    if kind == NONE:
        return None
    if isinstance(content, Record):
        return content.tensor()
    return bool(content) if kind == BOOL else content


EXECUTED: Mapping[str, Callable[[Scope, tir.Call], Eval]] = {
    "tvm_stack_alloca": _alloca,
    "tvm_struct_get": _get,
    "tvm_struct_set": _set,
    "call_packed_lowered": _call_lowered,
    "call_cpacked_lowered": _call_lowered,
}
