"""Calls by name as Python source: functions of the module, and the intrinsics that a loop over arrays has a use for."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from refmlc.diag.catalogue import PACKED_RESULT
from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.storage import itemsize
from refmlc.lang.ir import tir
from refmlc.oracle.implementations.loops import floats, lanes, memory
from refmlc.oracle.implementations.loops.operators import NotTaken, fitted, wide
from refmlc.oracle.implementations.loops.writer import Writer

Source: TypeAlias = Callable[[Writer, tir.Expr], str]

HINTS = ("type_annotation", "prefetch", "start_profile_intrinsic", "end_profile_intrinsic")
PLAIN = (
    *("tvm_thread_invariant", "ignore_loop_partition", "assume", "fma", "vectorlow", "vectorhigh", "vectorcombine"),
    *("get_active_lane_mask", "handle_add_byte_offset", "isnullptr"),
)
SAME = ("tvm_thread_invariant", "ignore_loop_partition")


def call_source(writer: Writer, node: tir.Call, source: Source) -> str:
    """A call as source. Fails: `NotTaken`."""
    if isinstance(node.callee, tir.GlobalVar):
        return _function(writer, node, node.callee.name, source)
    name, args = node.callee, node.args
    if name in HINTS:
        return "None"
    if name == "vscale":
        return "1"
    if name == "tvm_throw_last_error":
        return f"{writer.bind('trap', trap)}('')"
    if name == "tvm_access_ptr":
        return _access(writer, args, source)
    if name == "address_of":
        return _address(writer, args, source)
    if name == "TVMBackendAllocWorkspace":
        return f"{writer.meter}.allocated({_expr(writer, args[2], source)})"
    if name == "TVMBackendFreeWorkspace":
        return "0"
    if name not in PLAIN:
        raise NotTaken(f"the intrinsic `T.{name}`")
    values = [_expr(writer, arg, source) for arg in args]
    return _plain(writer, node, name, values)


def _plain(writer: Writer, node: tir.Call, name: str, values: Sequence[str]) -> str:
    match name:
        case _ if name in SAME:
            return values[0]
        case "assume":
            return f"{writer.bind('assumed', assumed)}({values[0]})"
        case "fma" if node.dtype.is_float and not node.dtype.is_vector:
            fused = floats.fused_wide if node.dtype.element == "float64" else floats.fused
            wides = ", ".join(wide(value, node.dtype, writer.bind) for value in values)
            return fitted(f"{writer.bind('fused', fused)}({wides})", node.dtype, writer.bind)
        case "vectorlow":
            return f"{values[0]}[:{node.dtype.lanes}]"
        case "vectorhigh":
            return f"{values[0]}[{node.dtype.lanes}:]"
        case "vectorcombine":
            return f"({values[0]} + {values[1]})"
        case "get_active_lane_mask":
            return f"{writer.bind('active', lanes.active)}({values[0]}, {values[1]}, {node.dtype.lanes})"
        case "handle_add_byte_offset":
            return f"{values[0]}.moved({values[1]})"
        case "isnullptr":
            return f"({values[0]} is None)"
        case _:
            raise NotTaken(f"the intrinsic `T.{name}` of {node.dtype}")


def _function(writer: Writer, node: tir.Call, name: str, source: Source) -> str:
    if name not in writer.functions:
        raise NotTaken(f"a call of `{name}`, which is not a TensorIR function")
    values = [writer.meter, *(_argument(writer, arg, source) for arg in node.args)]
    call = f"{writer.functions[name]}({', '.join(values)})"
    return call if node.dtype.kind == "void" else f"{writer.bind('returned', returned)}({call})"


def _argument(writer: Writer, arg: tir.Attr, source: Source) -> str:
    """An argument of a function of the module; a buffer becomes an array on its memory."""
    if not isinstance(arg, tir.Buffer):
        return _expr(writer, arg, source)
    constructor, kind = writer.bind("array_of", array_of), writer.bind("put_dtype_" + str(arg.dtype), arg.dtype)
    return f"{constructor}({writer.buffer(arg)}, {writer.places[arg]}, {kind})"


def array_of(array: np.ndarray, pointer: memory.Pointer, kind: DType) -> memory.Array:
    """A buffer's array as a tensor; lanes are not an axis."""
    size = itemsize(kind)
    rank = array.ndim - 1 if kind.is_vector else array.ndim
    shape, strides = array.shape[:rank], tuple(step // size for step in array.strides[:rank])
    place = pointer.moved(array_offset(array, pointer))
    return memory.Array(place, kind, shape, None if strides == memory.compact(shape) else strides)


def array_offset(array: np.ndarray, pointer: memory.Pointer) -> int:
    """The bytes from a place to the first element of an array on the same memory."""
    if array.size == 0:
        return 0
    return int(array.__array_interface__["data"][0] - pointer.memory.__array_interface__["data"][0] - pointer.at)


def _access(writer: Writer, args: Sequence[tir.Attr], source: Source) -> str:
    """`tvm_access_ptr(type, pointer, offset, …)`."""
    kind = args[0].dtype if isinstance(args[0], tir.Call) else None
    if kind is None:
        raise NotTaken("`T.tvm_access_ptr` without a type")
    values = [_expr(writer, arg, source) for arg in args[1:3]]
    return f"{values[0]}.moved({itemsize(kind)} * {values[1]})"


def _address(writer: Writer, args: Sequence[tir.Attr], source: Source) -> str:
    """`address_of` of a load: nothing is read."""
    match args[0]:
        case tir.BufferLoad(buffer=buffer, indices=indices) if not buffer.dtype.is_vector:
            array, address = writer.buffer(buffer), writer.bind("address", address_in)
            places = "".join(f"{source(writer, index)}, " for index in indices)
            return f"{address}({array}, {writer.places[buffer]}, ({places}))"
        case _:
            raise NotTaken("`T.address_of` of this expression")


def address_in(array: np.ndarray, pointer: memory.Pointer, places: Sequence[int]) -> memory.Pointer:
    """The place of an element. Fails: `Meaningless`."""
    if any(not 0 <= place < extent for place, extent in zip(places, array.shape, strict=True)):
        raise memory.Meaningless(f"the address of {tuple(places)} in an array of shape {array.shape}")
    steps = sum(place * step for place, step in zip(places, array.strides, strict=True))
    return pointer.moved(array_offset(array, pointer) + steps)


def _expr(writer: Writer, arg: tir.Attr, source: Source) -> str:
    if isinstance(arg, tir.Expr) and not isinstance(arg, tir.StringImm):
        return source(writer, arg)
    raise NotTaken(f"an argument of type {type(arg).__name__}")


def assumed(condition: object) -> bool:
    """True, as was promised. Fails: `Meaningless`."""
    if not condition:
        raise memory.Meaningless("an assumption is false")
    return True


def returned(value: object) -> object:
    """The value of a function. Fails: `Trapped` if it ends without a value."""
    if value is None:
        raise memory.Trapped("the function ends without a value", PACKED_RESULT)
    return value


def trap(message: str) -> None:
    """Stop. Fails: `Trapped`."""
    raise memory.Trapped(message)
