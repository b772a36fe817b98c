"""What makes nodes of Relax by hand: variables, constants, shapes, types."""

from collections.abc import Sequence

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.lang.dtypes import dtype as dtype_named
from refmlc.lang.dtypes.storage import dtype_of, storage_dtype
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.types import PrimType, ShapeType, TensorType, TupleType, Type
from refmlc.lang.script.inert import Inert
from refmlc.run.memory.tensor import Tensor
from refmlc.tvm.ir import Operator
from refmlc.tvm.nodes import extent, extents


def variable(name: str, *annotation: object, struct_info: Type | None = None, span: object = None) -> relax.Var:
    """A variable: `Var(name, type)`, or of 2022 `Var(name, shape, DynTensorType(ndim, dtype))`."""
    del span
    return relax.Var(name, _type(annotation, struct_info))


def dataflow_var(name: str, *annotation: object, struct_info: Type | None = None, span: object = None) -> relax.Var:
    """A variable that its dataflow block alone sees; else as `Var`."""
    del span
    return relax.Var(name, _type(annotation, struct_info), dataflow=True)


def _type(annotation: Sequence[object], struct_info: Type | None) -> Type | None:
    annotation = tuple(getattr(item, "ty", item) if isinstance(item, Inert) else item for item in annotation)
    match annotation:
        case ():
            return struct_info
        case (item,) if item is None or isinstance(item, Type):
            return item
        case (shape, TensorType() as ty):
            return TensorType(None if shape is None else extents(shape), ty.dtype, ty.ndim if shape is None else -1)
        case _:
            raise fail(BAD_ARGUMENTS, "a variable takes its type, or its shape and a DynTensorType")


def dyn_tensor_type(ndim: int = -1, dtype: str | None = "float32") -> TensorType:
    """A tensor of some rank and dtype, in the API of 2022."""
    return TensorType(None, dtype_named(dtype) if dtype else None, ndim)


def tensor_type(
    shape: "Sequence[object] | relax.ShapeExpr | None" = None,
    dtype: str | None = "float32",
    vdevice: object = None,
    ndim: int = -1,
    span: object = None,
) -> TensorType:
    """A tensor of a shape (numbers, variables) or a rank, and a dtype."""
    del vdevice, span
    values = shape.values if isinstance(shape, relax.ShapeExpr) else None if shape is None else extents(shape)
    return TensorType(values, dtype_named(str(dtype)) if dtype else None, ndim)


def shape_type(values: Sequence[object] | None = None, ndim: int = -1, span: object = None) -> ShapeType:
    """A shape, by its values or its rank."""
    del span
    return ShapeType(None if values is None else extents(values), ndim)


def prim_type(dtype: str | None = None, value: object = None, span: object = None) -> PrimType:
    """A number of a dtype, or one that is known."""
    del span
    number = None if value is None else extent(value)
    return PrimType(dtype_named(dtype) if dtype else extent(value).dtype, number)


def tuple_type(fields: Sequence[Type], span: object = None) -> TupleType:
    """A tuple."""
    del span
    return TupleType(tuple(fields))


def const(value: object, dtype: "str | TensorType | None" = None) -> relax.Constant:
    """A constant: a NumPy array keeps its dtype, numbers of Python are int32 and float32 as in TVM.

    `dtype`: its name, or a tensor type, as in 2022. Fails: RM105 if the values are not an array of that rank.
    """
    target = dtype.dtype if isinstance(dtype, TensorType) else dtype_named(dtype) if dtype else None
    array = value.numpy() if isinstance(value, Tensor) else np.asarray(value)
    if target is None and not hasattr(value, "__array__"):
        target = {"i": dtype_named("int32"), "f": dtype_named("float32")}.get(array.dtype.kind)
    if isinstance(dtype, TensorType) and dtype.ndim not in (-1, array.ndim):
        raise fail(BAD_ARGUMENTS, f"the constant has {array.ndim} dimensions, its type says {dtype.ndim}")
    target = dtype_of(array.dtype) if target is None else target
    data = np.array(array, dtype=storage_dtype(target), order="C")
    data.flags.writeable = False
    return relax.Constant(data, target)


def shape_expr(values: Sequence[object], span: object = None) -> relax.ShapeExpr:
    """A shape as a value."""
    del span
    return relax.ShapeExpr(extents(values))


def prim_value(value: object, span: object = None) -> relax.PrimValue:
    """A number as a value: integers are int64, floats float64."""
    del span
    match value:
        case bool():
            return relax.PrimValue(tir.IntImm(dtype_named("bool"), int(value)))
        case float():
            return relax.PrimValue(tir.FloatImm(dtype_named("float64"), value))
        case _:
            return relax.PrimValue(extent(value))


def string_imm(value: str, span: object = None) -> relax.StringImm:
    """A string as a value."""
    del span
    return relax.StringImm(value)


def tuple_expr(fields: Sequence[relax.Expr], span: object = None) -> relax.Tuple:
    """A tuple."""
    del span
    return relax.Tuple(tuple(fields))


def tuple_get_item(tuple_value: relax.Expr, index: int, span: object = None) -> relax.TupleGetItem:
    """A field of a tuple."""
    del span
    return relax.TupleGetItem(tuple_value, index)


def extern_func(global_symbol: str, struct_info: object = None, span: object = None) -> relax.ExternFunc:
    """A packed function by its name."""
    del struct_info, span
    return relax.ExternFunc(global_symbol)


def call(
    op: relax.Expr | Operator,
    args: Sequence[relax.Expr],
    attrs: dict[str, tir.Attr] | None = None,
    sinfo_args: Sequence[Type] | None = (),
    span: object = None,
) -> relax.Call:
    """A call of a function, of an operator, or of what `tvm.ir.Op.get` gives."""
    del span
    callee = relax.Op(op.name.removeprefix("relax.")) if isinstance(op, Operator) else op
    return relax.Call(callee, tuple(args), attrs or {}, tuple(sinfo_args or ()))
