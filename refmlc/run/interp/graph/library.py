"""Operators of the library: allocate the outputs, call the TensorIR function of the operator, return. RLX-135.

The function depends on the shapes and dtypes of the arguments of the call; calls with equal ones share it. If the shape
of the result depends on elements, another function counts them first.
"""

from collections.abc import Hashable, Sequence

from refmlc.diag.catalogue import TYPE_MISMATCH, UNSUPPORTED_OP
from refmlc.diag.errors import RefmlcError, error
from refmlc.lang.dtypes import BOOL, FLOAT64, INT64
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.types import AnyType, PrimType, ShapeType, TensorType, TupleType, Type
from refmlc.lang.library import Lowered, Operator, lowered
from refmlc.run.interp.graph.activation import Activation, Eval, Scope
from refmlc.run.interp.graph.call_site import Site
from refmlc.run.interp.graph.memory import fresh
from refmlc.run.interp.substitutes import Prepared
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Shape, kind_of


def prepare_library_call(scope: Scope, node: relax.Call, op: Operator) -> Eval:
    """A call of `op`. Fails as the operator does, with the place of the call."""
    operands, site = scope.exprs(node.args), Site(scope.machine, op.name, node.span)
    functions: dict[Hashable, tuple[Lowered, Prepared]] = {}

    def run(part: Operator, values: Sequence[object], counts: tuple[int, ...] | None) -> object:
        key = (part is op, counts, tuple([_key(value) for value in values]))
        if key not in functions:
            functions[key] = _lowered(site, part, node, values, counts)
        function, prepared = functions[key]
        outputs = [_allocate(site, ty) for ty in function.outputs]
        site.machine.invoke(op.name, prepared, [*_tensors(values), *outputs], node.span)
        return tuple(outputs) if isinstance(function.result, TupleType) else outputs[0]

    def computed(values: Sequence[object]) -> object:
        if op.counting is None:
            return run(op, values, None)
        counted = run(op.counting, values, None)
        counts = tuple(int(count) for count in counted.array) if isinstance(counted, Tensor) else ()
        return run(op, values, counts)

    hooks = scope.machine.hooks
    if not hooks.watches("operator"):
        return lambda env: computed(operands(env))

    def watched(env: Activation) -> object:
        values = operands(env)
        result = computed(values)
        hooks.operator(node, values, result)
        return result

    return watched


def _lowered(
    site: Site, op: Operator, node: relax.Call, values: Sequence[object], counts: tuple[int, ...] | None
) -> tuple[Lowered, Prepared]:
    try:
        types = [_type(value, arg) for value, arg in zip(values, node.args, strict=True)]
        function = lowered(op, types, node.attrs, counts)
    except RefmlcError as failure:
        if failure.diagnostic.span is None and node.span is not None:
            raise error(failure.diagnostic.at(node.span)) from None
        raise
    if function is None:
        kinds = ", ".join(kind_of(value) for value in values)
        raise site.failure(UNSUPPORTED_OP, f"operator `{op.name}` is not supported on {kinds}")
    return function, site.machine.prim_func(function.func, op.name)


def _key(value: object) -> Hashable:
    """The part of an argument on which the TensorIR function depends."""
    match value:
        case Tensor():
            return value.shape, value.dtype
        case tuple() if not isinstance(value, Shape):
            return tuple([_key(item) for item in value])
        case bool() | int() | float():
            return type(value), repr(value)
        case _:
            return value if isinstance(value, Hashable) else id(value)


def _type(value: object, arg: relax.Expr | None = None) -> Type:
    """The most precise type of a value; a number has the dtype of `arg`."""
    declared = arg.value.dtype if isinstance(arg, relax.PrimValue) else None
    match value:
        case Tensor():
            return TensorType(tuple(tir.IntImm(INT64, extent) for extent in value.shape), value.dtype)
        case Shape():
            return ShapeType(tuple(tir.IntImm(INT64, extent) for extent in value))
        case tuple():
            return TupleType(tuple(_type(item) for item in value))
        case bool():
            return PrimType(BOOL, tir.IntImm(BOOL, int(value)))
        case int():
            dtype = declared or INT64
            return PrimType(dtype, tir.IntImm(dtype, value))
        case float():
            dtype = declared or FLOAT64
            return PrimType(dtype, tir.FloatImm(dtype, value))
        case _:
            return AnyType()


def _tensors(values: Sequence[object]) -> list[Tensor]:
    """The tensors among the arguments, those in tuples too, in their order."""
    tensors: list[Tensor] = []
    for value in values:
        if isinstance(value, Tensor):
            tensors.append(value)
        elif isinstance(value, tuple) and not isinstance(value, Shape):
            tensors += _tensors(value)
    return tensors


def _allocate(site: Site, ty: TensorType) -> Tensor:
    extents = [extent.value for extent in ty.shape or () if isinstance(extent, tir.IntImm)]
    if ty.shape is None or ty.dtype is None or len(extents) != len(ty.shape):
        raise site.failure(TYPE_MISMATCH, f"the output of `{site.name}` has no known shape")
    return fresh(site, tuple(extents), ty.dtype)
