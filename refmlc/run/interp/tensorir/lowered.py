"""Intrinsics of lowered calls: structures on the stack, their fields, calls through them; the packed entry.

A function with `calling_conv` 1 takes (self, arguments, number of arguments, result) as TVM's C interface does. It is
called here like any other: its arguments are put into such an array, and the result is taken out of it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

import numpy as np

from refmlc.diag.catalogue import BAD_POINTER, UNSUPPORTED_CONSTRUCT
from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.run.interp.tensorir import records
from refmlc.run.interp.tensorir.frame import Eval, Frame
from refmlc.run.interp.tensorir.plain import operands
from refmlc.run.interp.tensorir.records import Record, Records, Values
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import kind_of

LAUNCH = "tirx.kernel_launch_params"


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
    """Where the tensor lies whose device `node` asks for: where the function asserts that it does; else on the CPU.

    Decision: memory is one here. A host function takes its arguments where its kernels run.
    """
    func = scope.machine.module.functions.get(scope.function)
    for each in walk(func) if isinstance(func, tir.PrimFunc) else ():
        match each:
            case tir.Apply(op="eq", args=(asked, tir.IntImm(value=number))) if asked is node:
                return number
    return records.CPU


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
        case _:
            return scope.unsupported(UNSUPPORTED_CONSTRUCT, f"a stack of `{kind}` is not known", node.span)


def _get(scope: Scope, node: tir.Call) -> Eval:  # TIR-330
    handle, index, number = operands(node)[:3]
    value, at, field = scope.expr(handle), scope.int(index), scope.int(number)
    failure = scope.failing(BAD_POINTER, node.span)
    asks_device = isinstance(number, tir.IntImm) and number.value == records.DEVICE_TYPE
    device = device_of(scope, node) if asks_device else None

    def get(frame: Frame) -> object:
        found, element, part = value(frame), at(frame), field(frame)
        if device is not None and isinstance(found, Tensor):
            return device
        try:
            return _field(found, element, part)
        except (KeyError, IndexError):
            raise failure(frame, f"{kind_of(found)} has no field {part} at {element}") from None

    return get


def _field(found: object, element: int, part: int) -> object:
    match found:
        case Values() | Records() | tuple() if element < 0:
            raise IndexError(element)
        case Values() if part == records.TYPE_INDEX:
            return found.types[element]
        case Values() if part == records.VALUE:
            return found.values[element]
        case Records() if part == records.ADDRESS:
            return Record(found.fields[element])
        case Records():
            return found.fields[element][part]
        case Record():
            return found if part == records.ADDRESS else found.fields[part]
        case Tensor():
            return records.tensor_field(found, part)
        case tuple() if part == records.INT64_ELEMENT:
            return found[element]
        case Pointer() if part == records.INT64_ELEMENT:
            return records.extent(found, element)
        case _:
            raise KeyError(part)


def _set(scope: Scope, node: tir.Call) -> Eval:  # TIR-330
    handle, index, number, new = operands(node)[:4]
    value, at, field, content = scope.expr(handle), scope.int(index), scope.int(number), scope.expr(new)
    failure = scope.failing(BAD_POINTER, node.span)

    def put(frame: Frame) -> object:
        found, element, part = value(frame), at(frame), field(frame)
        written = content(frame)
        try:
            _put(found, element, part, written)
        except (KeyError, IndexError):
            raise failure(frame, f"{kind_of(found)} has no field {part} at {element}") from None
        return 0

    return put


def _put(found: object, element: int, part: int, written: object) -> None:
    match found:
        case Values() | Records() if element < 0:
            raise IndexError(element)
        case Values() if part == records.TYPE_INDEX:
            found.types[element] = cast("int", written)
        case Values() if part == records.VALUE:
            found.values[element] = written
        case Values() if part == records.PADDING:
            pass
        case Records() if part in records.OF_TENSOR:
            found.fields[element][part] = written
        case Record() if part in records.OF_TENSOR:
            found.fields[part] = written
        case _:
            raise KeyError(part)


def _call_lowered(scope: Scope, node: tir.Call) -> Eval:  # TIR-331
    name = _text(node.args[0])
    stack, begin, end = operands(node)[1:4]
    values, first, last = scope.expr(stack), scope.int(begin), scope.int(end)
    machine, span = scope.machine, node.span
    failure = scope.failing(BAD_POINTER, span)

    def call(frame: Frame) -> object:
        found, start, stop = values(frame), first(frame), last(frame)
        if not isinstance(found, Values) or not 0 <= start <= stop < len(found.values):
            raise failure(frame, f"{kind_of(found)} holds no arguments {start} … {stop}")
        try:
            args = [_value(found.types[at], found.values[at]) for at in range(start, stop)]
        except KeyError as missing:
            raise failure(frame, f"the tensor among the arguments has no field {missing}") from None
        inside = machine.module.functions.get(name)
        if inside is None:
            result = machine.registry.get_func(name, span)(args, span)
        elif (kernel := _kernel_args(inside, args)) is not None:
            machine.call(name, kernel, span)
            result = 0
        else:
            result = machine.call(name, args, span)
        found.types[stop], found.values[stop] = records.type_index(result), result
        return result

    return call


def _kernel_args(func: object, args: Sequence[object]) -> Sequence[object] | None:
    """What a kernel takes of `args`; behind it are the extents of threads, which it says itself. None: no kernel."""
    if isinstance(func, tir.PrimFunc) and LAUNCH in func.attrs and len(args) >= len(func.params):
        return args[: len(func.params)]
    return None


def _value(kind: int, content: object) -> object:
    """An argument as its type index says that it is meant. Fails with KeyError for a structure that is no tensor."""
    if kind == records.NONE:
        return None
    if isinstance(content, Record):
        return content.tensor()
    return bool(content) if kind == records.BOOL else content


EXECUTED: Mapping[str, Callable[[Scope, tir.Call], Eval]] = {
    "tvm_stack_alloca": _alloca,
    "tvm_struct_get": _get,
    "tvm_struct_set": _set,
    "call_packed_lowered": _call_lowered,
    "call_cpacked_lowered": _call_lowered,
}
