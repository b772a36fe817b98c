"""Operators of graphs. `call_tir` is as one would write it: make the array, call, return the array.

def call_tir(f, args, out):        res = np.empty(out.shape, out.dtype); f(*args, res); return res
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from math import prod
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

from refmlc.lang.dtypes import BOOL, FLOAT64, INT64, DType
from refmlc.lang.dtypes.storage import itemsize
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.types import AnyType, PrimType, ShapeType, TensorType, TupleType, Type
from refmlc.lang.library import OPERATORS as LIBRARY, Lowered, lowered
from refmlc.oracle.implementations.loops.function import CompiledFunction, Functions
from refmlc.oracle.implementations.loops.memory import Array, Meaningless, Meter, Pointer, Trapped
from refmlc.oracle.implementations.loops.operators import NotTaken
from refmlc.oracle.implementations.loops.type_match import extents
from refmlc.run.memory.values import Shape

if TYPE_CHECKING:
    from refmlc.oracle.implementations.loops.graph import Frame, Graph

Operator: TypeAlias = "Callable[[Graph, relax.Call, Frame], object]"
DEFAULTS: Mapping[type, DType] = {bool: BOOL, int: INT64, float: FLOAT64}
"""The dtypes of Python's numbers, bool before int."""


@dataclass(frozen=True)
class Closure:
    """A function as a value."""

    call: Callable[[Sequence[object]], object]


def condition(value: object) -> bool:
    """A bool, also of a tensor without axes. Fails: `Meaningless`."""
    if isinstance(value, Array) and value.shape == () and value.dtype == BOOL:
        return bool(value.numpy()[()])
    if isinstance(value, bool | int) and value in (0, 1):
        return bool(value)
    raise Meaningless("a condition that is not a bool")


def empty(meter: Meter, kind: DType, shape: Sequence[int]) -> Array:
    """`np.empty(shape, kind)`."""
    return Array(meter.fresh(kind, shape), kind, tuple(shape))


# -------------------------------------------------------------------------------------------------- calls


def _outputs(graph: "Graph", call: relax.Call, frame: "Frame") -> tuple[list[Array], bool]:
    """Fresh arrays for the outputs; whether they are returned as a tuple."""
    declared = call.ty_args[0]
    several = isinstance(declared, TupleType)
    fields = declared.fields if isinstance(declared, TupleType) else (declared,)
    return [_output(graph, ty, frame) for ty in fields], several


def _output(graph: "Graph", ty: Type, frame: "Frame") -> Array:
    if not isinstance(ty, TensorType) or ty.shape is None or ty.dtype is None:
        raise NotTaken("an output that is not a tensor of known shape and dtype")
    return empty(graph.meter, ty.dtype, extents(ty.shape, frame.dims))


def _callee(graph: "Graph", call: relax.Call) -> Callable[[Sequence[object]], object]:
    match call.args[0]:
        case tir.GlobalVar(name=name):
            return lambda args: graph.call(name, args)
        case relax.ExternFunc(symbol=symbol):
            return lambda args: graph.call(graph.linked(symbol), args)
        case _:
            raise NotTaken("a call of a value that is not a function of the module")


def _arguments_and_ints(graph: "Graph", call: relax.Call, frame: "Frame") -> tuple[list[object], list[object]]:
    """The arguments, and the ints that follow the outputs."""
    args, *shapes = (graph.eval(arg, frame) for arg in call.args[1:])
    ints = [extent for shape in shapes if isinstance(shape, Shape) for extent in shape]
    return list(args) if isinstance(args, tuple) else [args], list(ints)


def _call_tir(graph: "Graph", call: relax.Call, frame: "Frame") -> object:
    function = _callee(graph, call)
    args, ints = _arguments_and_ints(graph, call, frame)
    outputs, several = _outputs(graph, call, frame)
    function([*args, *outputs, *ints])
    return tuple(outputs) if several else outputs[0]


def _call_inplace(graph: "Graph", call: relax.Call, frame: "Frame") -> object:
    function = _callee(graph, call)
    args, ints = _arguments_and_ints(graph, call, frame)
    outputs, several = _outputs(graph, call, frame)
    listed = call.attrs.get("inplace_indices", ())
    places = [
        index.value if isinstance(index, tir.IntImm) else index
        for index in (listed if isinstance(listed, tuple) else (listed,))
    ]
    if len(places) != len(outputs) or any(not -1 <= int(str(place)) < len(args) for place in places):
        raise Meaningless("outputs that are not arguments")
    fresh = [index for index, place in zip(outputs, places, strict=True) if place == -1]
    function([*args, *fresh, *ints])
    results = [index if place == -1 else args[int(str(place))] for index, place in zip(outputs, places, strict=True)]
    return tuple(results) if several else results[0]


def _packed(graph: "Graph", call: relax.Call, frame: "Frame") -> object:
    """The first argument names the function, the others are its arguments."""
    callee, *args = call.args
    if not isinstance(callee, relax.ExternFunc):
        raise NotTaken("a packed call without a name")
    return graph.by_name(callee.symbol, call, args, frame)


# ------------------------------------------------------------------------------------------------- values


def _plain(function: Callable[..., object]) -> Operator:
    takes = signature(function)

    def operator(graph: "Graph", call: relax.Call, frame: "Frame") -> object:
        try:
            takes.bind(graph, *call.args)
        except TypeError:
            raise Meaningless(f"{len(call.args)} arguments of an operator that takes others") from None
        return function(graph, *(graph.eval(arg, frame) for arg in call.args))

    return operator


def _assert(_graph: "Graph", holds: object, *_message: object) -> None:
    if not condition(holds):
        raise Trapped("an assertion of the graph")


def _reshape(graph: "Graph", call: relax.Call, frame: "Frame") -> object:
    if len(call.args) != 2:
        raise Meaningless("a reshape of other arguments")
    value, target = (graph.eval(arg, frame) for arg in call.args)
    if not isinstance(value, Array) or not _is_shape(target):
        raise Meaningless("a reshape of a value that is not a tensor")
    for axis in relax.kept_axes(call):
        if axis >= len(value.shape):
            raise Meaningless("a reshape that keeps an axis that is not there")
        target = (*target[:axis], value.shape[axis], *target[axis + 1 :])
    known_size = prod(extent for extent in target if extent != -1)
    size = prod(value.shape)
    shape = tuple((size // known_size if known_size else 0) if extent == -1 else extent for extent in target)
    if prod(shape) != size or min(target, default=0) < -1 or target.count(-1) > 1:
        raise Meaningless("a reshape that changes the number of elements")
    if value.strides is not None:
        raise NotTaken("a reshape of a tensor with strides")
    return Array(value.pointer, value.dtype, shape)


def _shape_of(_graph: "Graph", value: object) -> Shape:
    return Shape(_tensor(value).shape)


def _to_shape(_graph: "Graph", value: object) -> Shape:
    return Shape(int(extent) for extent in _tensor(value).numpy())


def _from_shape(graph: "Graph", value: object) -> Array:
    shape = value if isinstance(value, tuple) else ()
    tensor = empty(graph.meter, INT64, (len(shape),))
    tensor.numpy()[...] = shape
    return tensor


def _alloc(graph: "Graph", shape: object, kind: object, *_where: object) -> Array:
    if not _is_shape(shape) or not isinstance(kind, DType):
        raise Meaningless("an allocation without shape and dtype")
    return empty(graph.meter, kind, shape)


def _storage(graph: "Graph", size: object, *_where: object) -> Pointer:
    if not isinstance(size, tuple) or len(size) != 1:
        raise NotTaken("a storage whose size is not a number")
    return graph.meter.allocated(int(size[0]))


def _from_storage(
    _graph: "Graph", storage: object, offset: object, shape: object, kind: object, *_more: object
) -> Array:
    match storage, offset, shape, kind:
        case Pointer(), int(), tuple(), DType():
            if offset + prod(shape) * itemsize(kind) > storage.memory.size:
                raise Meaningless("a tensor beyond its storage")
            return Array(storage.moved(offset), kind, tuple(shape))
        case _:
            raise NotTaken("a tensor of this storage")


def _make_closure(_graph: "Graph", function: object, captured: object) -> Closure:
    if not isinstance(function, Closure) or not isinstance(captured, tuple):
        raise Meaningless("a closure of a value that is not a function")
    return Closure(lambda args: function.call([*args, *captured]))


def _invoke(_graph: "Graph", function: object, args: object) -> object:
    if not isinstance(function, Closure) or not isinstance(args, tuple):
        raise Meaningless("a call of a value that is not a function")
    return function.call(args)


def _tensor(value: object) -> Array:
    if not isinstance(value, Array):
        raise Meaningless("a value that is not a tensor")
    return value


def _is_shape(value: object) -> TypeGuard[tuple[int, ...]]:
    return isinstance(value, tuple) and all(isinstance(extent, int) for extent in value)


def _of_axis(numbers: Sequence[int], axis: object) -> int:
    if not isinstance(axis, int) or not 0 <= axis < len(numbers):
        raise Meaningless("an axis that the tensor has not")
    return numbers[axis]


def _element_offset(array: Array) -> int:
    return array.pointer.at // itemsize(array.dtype)


def _nothing(_graph: "Graph", *_values: object) -> None:
    return None


def _same(_graph: "Graph", value: object, *_where: object) -> object:
    return value


OPERATORS: Mapping[str, Operator] = {
    "call_tir": _call_tir,
    "call_tir_with_grad": _call_tir,
    "call_dps_packed": _call_tir,
    "call_tir_inplace": _call_inplace,
    "call_pure_packed": _packed,
    "call_inplace_packed": _packed,
    "inspect.tensor_stride_i": _plain(lambda _graph, value, axis: _of_axis(_tensor(value).steps, axis)),
    "inspect.tensor_shape_i": _plain(lambda _graph, value, axis: _of_axis(_tensor(value).shape, axis)),
    "inspect.tensor_ndim": _plain(lambda _graph, value: len(_tensor(value).shape)),
    "inspect.tensor_dtype_bits": _plain(lambda _graph, value: _tensor(value).dtype.bits),
    "inspect.tensor_dtype_lanes": _plain(lambda _graph, value: _tensor(value).dtype.lanes),
    "inspect.tensor_byte_offset": _plain(lambda _graph, value: _tensor(value).pointer.at),
    "inspect.tensor_elem_offset": _plain(lambda _graph, value: _element_offset(_tensor(value))),
    "make_closure": _plain(_make_closure),
    "invoke_closure": _plain(_invoke),
    "invoke_pure_closure": _plain(_invoke),
    "null_value": _plain(_nothing),
    "print": _plain(_nothing),
    "memory.kill_storage": _plain(_nothing),
    "memory.kill_tensor": _plain(_nothing),
    "assert_op": _plain(_assert),
    "to_vdevice": _plain(_same),
    "hint_on_device": _plain(_same),
    "builtin.stop_lift_params": _plain(_same),
    "shape_of": _plain(_shape_of),
    "tensor_to_shape": _plain(_to_shape),
    "shape_to_tensor": _plain(_from_shape),
    "reshape": _reshape,
    "builtin.alloc_tensor": _plain(_alloc),
    "memory.alloc_storage": _plain(_storage),
    "memory.alloc_tensor": _plain(_from_storage),
}

# ------------------------------------------------------------------------------------------------ library


@dataclass
class Library:
    """The functions of operators, by operator and what is known of the arguments."""

    functions: dict[Hashable, tuple[Lowered, CompiledFunction]] = field(default_factory=dict)


def call_library(library: Library, name: str, call: relax.Call, args: Sequence[object], meter: Meter) -> object:
    """An operator: make its outputs, call its function. What depends on elements is counted first."""
    op = LIBRARY[name]
    types = [_known(arg, node) for arg, node in zip(args, call.args, strict=True)]
    counts: tuple[int, ...] | None = None
    if op.counting is not None:
        function = lowered(op.counting, types, call.attrs)
        counted = _run(function, _compiled(function, name), args, meter)
        counts = tuple(int(count) for count in _tensor(counted).numpy())
    key = (name, id(call), counts, tuple(map(str, types)))
    if key not in library.functions:
        lowered_function = lowered(op, types, call.attrs, counts)
        if lowered_function is None:
            raise NotTaken(f"operator `{name}` on these arguments")
        library.functions[key] = lowered_function, _compiled(lowered_function, name)
    return _run(*library.functions[key], args, meter)


def _compiled(function: Lowered | None, name: str) -> CompiledFunction:
    if function is None:
        raise NotTaken(f"operator `{name}` on these arguments")
    return Functions({"operator": function.func}).get("operator")


def _run(function: Lowered | None, compiled: CompiledFunction, args: Sequence[object], meter: Meter) -> object:
    assert function is not None  # noqa: S101 - `_compiled` has refused it
    outputs: list[Array] = []
    for ty in function.outputs:
        if ty.shape is None or ty.dtype is None:
            raise NotTaken("an output of unknown shape")
        outputs.append(empty(meter, ty.dtype, extents(ty.shape, {})))
    compiled(meter, *_arrays(args), *outputs)
    return tuple(outputs) if isinstance(function.result, TupleType) else outputs[0]


def _arrays(values: Sequence[object]) -> Iterator[Array]:
    """The arrays in the order in which a function of TensorIR takes them: those of a tuple one by one."""
    for value in values:
        if isinstance(value, Array):
            yield value
        elif type(value) is tuple:  # a shape is no tuple of arrays
            yield from _arrays(value)


def _known(value: object, node: relax.Expr | None = None) -> Type:
    """The type that says all about a value; `node` says the dtype of a number that is written in the text."""
    if isinstance(value, Array):
        return TensorType(_numbers(value.shape), value.dtype)
    if isinstance(value, Shape):
        return ShapeType(_numbers(value))
    if isinstance(value, tuple):
        return TupleType(tuple(map(_known, value)))
    kind = next((kind for kind in DEFAULTS if isinstance(value, kind)), None)
    if kind is None:
        return AnyType()
    dtype = node.value.dtype if isinstance(node, relax.PrimValue) and kind is not bool else DEFAULTS[kind]
    number = kind(value)
    return PrimType(dtype, tir.FloatImm(dtype, number) if kind is float else tir.IntImm(dtype, int(number)))


def _numbers(sizes: Sequence[int]) -> tuple[tir.Expr, ...]:
    return tuple(tir.IntImm(INT64, size) for size in sizes)
