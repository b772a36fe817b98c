"""What Python's operators on nodes make: `x + y`, `-x` are calls of Relax's operators, `lv[0]` a field, `f(x)` a call.

Numbers become constants of the dtype of the other side, where that is known, else float32 and int32, as in TVM.
"""

import operator
from collections.abc import Callable, Mapping

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.lang.dtypes import FLOAT32, INT32, DType
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.types import TensorType, TupleType
from refmlc.lang.te import Value

SCALARS: Mapping[str, Callable[[object, object], object]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "floor_divide": operator.floordiv,
    "floor_mod": operator.mod,
    "power": operator.pow,
}


def graph(name: str, left: object, right: object) -> relax.Call:
    """A call of a Relax operator. Fails: RM105 for operands that are neither expressions nor numbers."""
    if right is None:
        return relax.Call(relax.Op(name), (_expr(left, None),))
    return relax.Call(relax.Op(name), (_expr(left, right), _expr(right, left)))


def _expr(value: object, other: object) -> relax.Expr:
    if isinstance(value, relax.Expr):
        return value
    if not isinstance(value, bool | int | float):
        raise fail(BAD_ARGUMENTS, f"an operand is a Relax expression or a number; this is {type(value).__name__}")
    dtype = dtype_of(other) or (FLOAT32 if isinstance(value, float) else INT32)
    data = np.array(value, storage_dtype(dtype))
    data.flags.writeable = False
    return relax.Constant(data, dtype)


def dtype_of(value: object) -> DType | None:
    """The dtype of a tensor, where it is known without its function."""
    match value:
        case relax.Var(ty=TensorType(dtype=dtype)) | relax.Constant(dtype=dtype):
            return dtype
        case relax.TupleGetItem(tuple_value=relax.Var(ty=TupleType(fields=fields)), index=index) if index < len(fields):
            ty = fields[index]
            return ty.dtype if isinstance(ty, TensorType) else None
        case relax.Call(args=args) | relax.Tuple(fields=args):
            return next((result for argument in args if (result := dtype_of(argument)) is not None), None)
        case _:
            return None


def field(value: relax.Expr, index: int) -> relax.Expr:
    """A field of a tuple. Fails: IndexError, TypeError."""
    if isinstance(value, relax.Tuple):
        return value.fields[index]
    ty = getattr(value, "ty", None)
    if isinstance(ty, TupleType):
        if not -len(ty.fields) <= index < len(ty.fields):
            raise IndexError(f"a tuple of {len(ty.fields)} fields has no field {index}")
        return relax.TupleGetItem(value, index % len(ty.fields))
    if ty is not None or not isinstance(value, relax.Call | relax.Var | relax.TupleGetItem):
        raise TypeError("this expression is not a tuple: take elements of tensors by operators")
    if not isinstance(index, int) or index < 0:
        raise TypeError("the index of a tuple field is a non-negative number")
    return relax.TupleGetItem(value, index)


def called(callee: relax.Expr, args: tuple[object, ...]) -> relax.Call:
    """A call of a function."""
    return relax.Call(callee, tuple(_expr(argument, None) for argument in args))


def scalar(name: str, left: object, right: object) -> object:
    """An expression of TensorIR, as tensor expressions make it."""
    first, second = (Value(side) if isinstance(side, tir.Expr) else side for side in (left, right))
    return SCALARS["subtract"](0, first) if right is None else SCALARS[name](first, second)
