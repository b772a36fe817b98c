"""A meta-value as an attribute: plain data, and the nodes that have a text where they stand alone; the rest is refused.

Lists become tuples; a construct that names a dtype becomes the dtype, one that names a type of Relax the type; a
primitive value of Relax is its TensorIR expression.
"""

from collections.abc import Iterable, Mapping
from typing import cast, get_args

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.lang.dtypes import INT64, SCALARS, DType
from refmlc.lang.ir import relax, tir, tirx
from refmlc.lang.ir.attrs import CommReducer, Device, DeviceMesh, IndexMap, Target, VDevice
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.tir import Attr
from refmlc.lang.ir.types import AnyType, FuncType, ShapeType, TensorType, TupleType, Type
from refmlc.lang.ir.visit import walk
from refmlc.lang.script.reader.values import Construct, Meta, described

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
    *(CommReducer, IndexMap, Target, Device, VDevice, DeviceMesh),
    *(tirx.TileLayout, tirx.ComposeLayout),
    *get_args(Type),
    *(relax.Var, relax.Constant, relax.MetadataRef, relax.StringImm, relax.DataTypeImm, relax.ShapeExpr),
    *(relax.Tuple, relax.TupleGetItem, relax.ExternFunc, relax.Call),
)


def closed(attrs: Mapping[str, Attr], known: Iterable[Node], span: Span) -> None:
    """Refuse attributes of a function that name what its body defines: they stand before it. Fails: RM105.

    `known` are its parameters; a shape variable of int64 may be declared around the function.
    """
    own = {id(part) for node in known for part in walk(node)}
    for node in walk(Target(attrs)):
        match node:
            case CommReducer(lhs=lhs, rhs=rhs):
                own.update(map(id, (*lhs, *rhs)))
            case IndexMap(initial=initial):
                own.update(map(id, initial))
            case tir.Let(var=var) | tir.ThreadVar(var=tir.Var() as var):
                own.add(id(var))
            case tir.Var(name=name) | tir.Buffer(name=name) | relax.Var(name=name) if id(node) not in own:
                if not (isinstance(node, tir.Var) and node.dtype == INT64):
                    message = f"`{name}` in an attribute of the function is not one of its parameters"
                    raise fail(BAD_ARGUMENTS, message, span)


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
