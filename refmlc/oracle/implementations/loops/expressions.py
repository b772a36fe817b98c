"""Expressions and calls as Python source.

A scalar is an int, a bool or one of NumPy's floats; a vector is a list of them. A call names a
function of the module, or an intrinsic that a loop over arrays has a use for.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias, assert_never

import numpy as np

from refmlc.diag.catalogue import PACKED_RESULT
from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.storage import itemsize
from refmlc.lang.ir import tir
from refmlc.oracle.implementations.loops import arithmetic, memory
from refmlc.oracle.implementations.loops.arithmetic import put
from refmlc.oracle.implementations.loops.operators import NotTaken, cast_source, fitted, loaded, operator_source, wide
from refmlc.oracle.implementations.loops.writer import Writer


def source(writer: Writer, node: tir.Expr) -> str:
    """`node` as source. Fails: `NotTaken`."""
    match node:
        case tir.Var():
            return writer.var(node)
        case tir.IntImm(dtype=kind, value=value):
            return str(bool(value)) if kind.kind == "bool" else f"({value})"
        case tir.FloatImm(dtype=kind, value=value):
            return writer.bind("number", put(kind.scalar)(value))
        case tir.StringImm():
            raise NotTaken("a string as a value")
        case tir.Apply(op=op, args=args, dtype=kind):
            return _apply(writer, op, args, kind)
        case tir.Cast(dtype=kind, value=value):
            return _cast(writer, value, kind)
        case tir.And(a=a, b=b):
            return _logical(writer, "and", a, b)
        case tir.Or(a=a, b=b):
            return _logical(writer, "or", a, b)
        case tir.Select():
            return _select(writer, node)
        case tir.IfThenElseExpr(condition=condition, true_value=yes, false_value=no):
            return f"({source(writer, yes)} if {source(writer, condition)} else {source(writer, no)})"
        case tir.Let(var=var, value=value, body=body):
            bound = source(writer, value)
            return f"({writer.declare(var)} := {bound}, {source(writer, body)})[1]"
        case tir.BufferLoad():
            return load(writer, node)
        case tir.BufferData(buffer=buffer):
            writer.buffer(buffer)
            return writer.places[buffer]
        case tir.Ramp(base=base, stride=stride, dtype=kind):
            if base.dtype.is_vector:
                raise NotTaken("a ramp of vectors")
            constructor = writer.bind(f"ramp_{kind.element}x{kind.lanes}", memory.ramp(kind))
            return f"{constructor}({source(writer, base)}, {source(writer, stride)})"
        case tir.Broadcast(value=value, dtype=kind):
            count = kind.lanes // value.dtype.lanes
            return f"{writer.bind('repeated', memory.repeated)}({source(writer, value)}, {count})"
        case tir.Shuffle(vectors=vectors, indices=places):
            parts = ", ".join(source(writer, operand) for operand in vectors)
            at = ", ".join(source(writer, operand) for operand in places)
            return f"{writer.bind('picked', memory.picked)}([{parts}], [{at}])"
        case tir.Call():
            return call_source(writer, node, source)
        case _:
            assert_never(node)


def load(writer: Writer, node: tir.BufferLoad) -> str:
    """The element, or the elements."""
    array, kind = writer.buffer(node.buffer), node.buffer.dtype
    if kind.kind == "handle":
        raise NotTaken("memory that holds handles")
    indices = [source(writer, index) for index in node.indices]
    if node.indices and node.indices[-1].dtype.is_vector:
        gather = writer.bind(f"put_gather_{kind}", memory.gatherer(kind, put(kind.scalar)(0)))
        on = "" if node.predicate is None else f", {source(writer, node.predicate)}"
        return f"{gather}({array}, ({''.join(f'{coordinate}, ' for coordinate in indices[:-1])}), {indices[-1]}{on})"
    if node.predicate is not None:
        raise NotTaken("a predicate on a scalar access")
    element = f"{array}[{place(indices)}]"
    if kind.is_vector:
        return f"{writer.bind(f'put_whole_{kind}', memory.whole_loader(kind))}({element})"
    return element if kind.is_float else f"{writer.bind('loaded', loaded(kind))}({element})"


def place(indices: Sequence[str]) -> str:
    """What stands in brackets after an array."""
    return ", ".join(indices) if indices else "()"


def _apply(writer: Writer, op: str, args: Sequence[tir.Expr], kind: DType) -> str:
    operands = [arg.dtype.scalar for arg in args]
    values = [source(writer, arg) for arg in args]
    if not kind.is_vector:
        return operator_source(op, operands, kind, values, writer.bind)
    names = [writer.names.fresh("x") for _ in args]
    body = operator_source(op, operands, kind.scalar, names, writer.bind)
    return _lane_by_lane(writer, names, body, values)


def _lane_by_lane(writer: Writer, names: Sequence[str], body: str, values: Sequence[str]) -> str:
    constructor, each = writer.bind("made", list), writer.bind("each", map)
    return f"{constructor}({each}(lambda {', '.join(names)}: {body}, {', '.join(values)}))"


def _cast(writer: Writer, value: tir.Expr, kind: DType) -> str:
    before, inner = value.dtype.scalar, source(writer, value)
    if not kind.is_vector:
        return cast_source(inner, before, kind, writer.bind)
    name = writer.names.fresh("x")
    return _lane_by_lane(writer, [name], cast_source(name, before, kind.scalar, writer.bind), [inner])


def _logical(writer: Writer, word: str, a: tir.Expr, b: tir.Expr) -> str:
    values = [source(writer, a), source(writer, b)]
    if not a.dtype.is_vector:
        return f"({values[0]} {word} {values[1]})"
    names = [writer.names.fresh("x") for _ in values]
    return _lane_by_lane(writer, names, f"({names[0]} {word} {names[1]})", values)


def _select(writer: Writer, node: tir.Select) -> str:
    parts = [source(writer, part) for part in (node.condition, node.true_value, node.false_value)]
    if node.true_value.dtype.is_vector:
        return f"{writer.bind('chosen', memory.selected_lanes)}({', '.join(parts)})"
    return f"{writer.bind('one_of', _one_of)}({', '.join(parts)})"


def _one_of(condition: object, yes: object, no: object) -> object:
    """Both have been evaluated."""
    return yes if condition else no


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
            fused = arithmetic.fused_wide if node.dtype.element == "float64" else arithmetic.fused
            wides = ", ".join(wide(value, node.dtype, writer.bind) for value in values)
            return fitted(f"{writer.bind('fused', fused)}({wides})", node.dtype, writer.bind)
        case "vectorlow":
            return f"{values[0]}[:{node.dtype.lanes}]"
        case "vectorhigh":
            return f"{values[0]}[{node.dtype.lanes}:]"
        case "vectorcombine":
            return f"({values[0]} + {values[1]})"
        case "get_active_lane_mask":
            return f"{writer.bind('active', memory.active)}({values[0]}, {values[1]}, {node.dtype.lanes})"
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
