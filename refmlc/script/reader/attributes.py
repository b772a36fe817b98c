"""A meta-value as an attribute: plain data, and the nodes that have a text where they stand alone; the rest is refused.

Lists become tuples; a construct that names a dtype becomes the dtype, one that names a type of Relax the type; a
primitive value of Relax is its TensorIR expression.
"""

from typing import cast, get_args

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.dtypes import SCALARS, DType
from refmlc.ir import relax, tir
from refmlc.ir.attrs import CommReducer, Device, IndexMap, Target, VDevice
from refmlc.ir.tir import Attr
from refmlc.ir.types import AnyType, FuncType, ShapeType, TensorType, TupleType, Type
from refmlc.script.reader.values import Construct, Meta, described

DTYPE_NAMES: dict[str, DType] = {f"T.{name}": row for name, row in SCALARS.items()}
"""Constructs that name a dtype: `T.float32`."""

TYPE_NAMES: dict[str, Type] = {
    "R.Tensor": TensorType(None, None),
    "R.Shape": ShapeType(None),
    "R.Tuple": TupleType(()),
    "R.Any": AnyType(),
    "R.Callable": FuncType(None, None, pure=False),
}
"""Constructs that name a type of Relax where they stand alone."""

_KEPT = (
    *(bool, int, float, str, type(None), DType),
    *get_args(tir.Expr),
    *(tir.Buffer, tir.BufferRegion, tir.GlobalVar, tir.ThreadVar, tir.Range),
    *(CommReducer, IndexMap, Target, Device, VDevice),
    *get_args(Type),
    *(relax.Var, relax.Constant, relax.MetadataRef, relax.StringImm, relax.DataTypeImm, relax.ShapeExpr),
    *(relax.Tuple, relax.TupleGetItem, relax.ExternFunc, relax.Call),
)


def attr_of(value: Meta, span: Span) -> Attr:
    """The attribute that `value` is. Fails with RM105."""
    if isinstance(value, (list, tuple)):
        return tuple(attr_of(item, span) for item in value)
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise fail(BAD_ARGUMENTS, "the keys of an attribute are strings", span)
        return {key: attr_of(item, span) for key, item in value.items()}
    if isinstance(value, Construct) and value.path in DTYPE_NAMES:
        return DTYPE_NAMES[value.path]
    if isinstance(value, Construct) and value.path in TYPE_NAMES:
        return TYPE_NAMES[value.path]
    if isinstance(value, relax.PrimValue):
        return value.value
    if isinstance(value, _KEPT):
        return cast("Attr", value)
    raise fail(BAD_ARGUMENTS, f"{described(value)} cannot be an attribute", span)
