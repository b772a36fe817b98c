"""The type that follows for a Relax expression, where it certainly does; None where it is not known.

| expression                           | type                                                           |
|--------------------------------------|----------------------------------------------------------------|
| variable                             | the annotation, else what was deduced for its value            |
| constant, shape, prim value, tuple   | their own                                                      |
| field of a tuple                     | that field's                                                   |
| `if`                                 | what the two branches agree on                                 |
| `call_tir` and the like              | the declared output type                                       |
| call of a function                   | its return type, its shape variables replaced by the arguments |
| allocation                           | the shape and dtype in its arguments                           |
| `reshape` to a known shape           | that shape, the dtype of the argument                          |
| operator of the library              | what its definition makes of the types of its arguments        |
| any other operator                   | not known: the annotation is trusted                           |
"""

from collections.abc import Mapping

from refmlc.diag import RefmlcError
from refmlc.lang.arith.extents import polynomial
from refmlc.lang.dtypes import INT64
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.relax import (
    Call,
    Constant,
    DataTypeImm,
    Expr,
    Function,
    If,
    Op,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    Var,
    kept_axes,
)
from refmlc.lang.ir.types import AnyType, FuncType, PrimType, ShapeType, TensorType, TupleType, Type
from refmlc.lang.library import OPERATORS, Operator, type_of as operator_type
from refmlc.lang.wellformed.unify import Unifier, replaced

ALLOCATIONS: Mapping[str, int] = {
    "alloc_tensor": 0,
    "builtin.alloc_tensor": 0,
    "memory.alloc_tensor": 2,
    "vm.alloc_tensor": 2,
}


RESHAPE_ARGS = 2
"""The tensor and the shape."""


def type_of(expr: Expr, module: IRModule, types: Mapping[Var, Type | None]) -> Type | None:
    """The type of `expr` in `module`; `known` has types of variables beyond their annotations."""
    match expr:
        case Var():
            return types.get(expr, expr.ty)
        case tir.GlobalVar():
            function = module.functions.get(expr.name)
            return function_type(function) if isinstance(function, Function) else None
        case Constant(data, dtype):
            return TensorType(tuple(tir.IntImm(INT64, size) for size in data.shape), dtype)
        case PrimValue(value):
            return PrimType(value.dtype, value)
        case ShapeExpr(values):
            return ShapeType(values)
        case Tuple(fields):
            return TupleType(tuple(type_of(field, module, types) or AnyType() for field in fields))
        case TupleGetItem(value, index):
            whole = type_of(value, module, types)
            return whole.fields[index] if isinstance(whole, TupleType) and 0 <= index < len(whole.fields) else None
        case If(_, true, false):
            return join(type_of(true, module, types), type_of(false, module, types))
        case SeqExpr(_, body):
            return type_of(body, module, types)
        case Function():
            return function_type(expr)
        case Call():
            return _call_type(expr, module, types)
        case _:
            return None


def function_type(function: Function) -> FuncType:
    """The type of a Relax function as declared."""
    return FuncType(tuple(param.ty or AnyType() for param in function.params), function.result_ty, function.pure)


def join(a: Type | None, b: Type | None) -> Type | None:
    """The common type of a value that has one of two types."""
    match a, b:
        case TensorType(), TensorType():
            dtype = a.dtype if a.dtype == b.dtype else None
            if a.shape is not None and b.shape is not None and len(a.shape) == len(b.shape):
                if all(_same(x, y) for x, y in zip(a.shape, b.shape, strict=True)):
                    return TensorType(a.shape, dtype)
                return TensorType(None, dtype, len(a.shape))
            return TensorType(None, dtype)
        case TupleType(mine), TupleType(other) if len(mine) == len(other):
            return TupleType(tuple(join(x, y) or AnyType() for x, y in zip(mine, other, strict=True)))
        case PrimType(dtype), PrimType(other_dtype) if dtype == other_dtype:
            return PrimType(dtype)
        case _:
            return None


def _same(a: tir.Expr, b: tir.Expr) -> bool:
    """Whether two dimensions are certainly equal."""
    return polynomial(a, {}) == polynomial(b, {})


def _call_type(call: Call, module: IRModule, types: Mapping[Var, Type | None]) -> Type | None:
    """The type of a call."""
    if isinstance(call.op, Op) and call.op.name in ALLOCATIONS:
        return _allocated(call, ALLOCATIONS[call.op.name])
    if isinstance(call.op, Op) and call.op.name == "shape_of" and len(call.args) == 1:
        tensor = type_of(call.args[0], module, types)
        return ShapeType(tensor.shape) if isinstance(tensor, TensorType) and tensor.shape is not None else None
    if isinstance(call.op, Op) and call.op.name == "reshape" and len(call.args) == RESHAPE_ARGS:
        return _reshaped(call, module, types)
    if isinstance(call.op, Op) and call.op.name in OPERATORS:
        return _operator_type(call, OPERATORS[call.op.name], module, types)
    if call.ty_args:
        return call.ty_args[0] if len(call.ty_args) == 1 else TupleType(call.ty_args)
    callee = None if isinstance(call.op, Op) else type_of(call.op, module, types)
    if not isinstance(callee, FuncType) or callee.ret is None or callee.params is None:
        return None
    unifier = Unifier()
    for param, arg in zip(callee.params, call.args, strict=False):
        unifier.bind_type(param, type_of(arg, module, types))
    return replaced(callee.ret, unifier)


def _reshaped(call: Call, module: IRModule, types: Mapping[Var, Type | None]) -> Type | None:
    """The type of `reshape` to a shape without a -1; an extent of 0 is that of the same axis of the tensor."""
    tensor, shape = (type_of(arg, module, types) for arg in call.args)
    if not isinstance(tensor, TensorType) or not isinstance(shape, ShapeType) or shape.values is None:
        return None
    if any(isinstance(size, tir.IntImm) and size.value < 0 for size in shape.values):
        return TensorType(None, tensor.dtype, len(shape.values))
    copied = kept_axes(call)
    if not copied:
        return TensorType(shape.values, tensor.dtype)
    if tensor.shape is None or max(copied) >= len(tensor.shape):
        return TensorType(None, tensor.dtype, len(shape.values))
    own = [tensor.shape[axis] if axis in copied else extent for axis, extent in enumerate(shape.values)]
    return TensorType(tuple(own), tensor.dtype)


def _operator_type(call: Call, op: Operator, module: IRModule, types: Mapping[Var, Type | None]) -> Type | None:
    """The type that an operator's definition gives; None where it refuses its arguments (`call_rules` says so)."""
    try:
        return operator_type(op, [type_of(arg, module, types) for arg in call.args], call.attrs)
    except RefmlcError:
        return None


def _allocated(call: Call, position: int) -> Type | None:
    """The tensor that an allocation with its shape at `position` gives; the dtype follows it."""
    match call.args[position : position + 2]:
        case (ShapeExpr(values), DataTypeImm(dtype)):
            return TensorType(values, dtype)
        case _:
            return None
