"""Meta-values to Relax: what a Python value of the text is as an expression, a dimension, a dtype.

| meta-value                         | as an expression         | as a dimension              |
|------------------------------------|--------------------------|-----------------------------|
| Relax node, function of the module | itself                   |                             |
| variable of primitive type         | itself                   | the variable its type names |
| TensorIR expression                | `PrimValue`              | itself                      |
| `int`, `bool`                      | `PrimValue`, int64, bool | int64                       |
| `float`                            | `PrimValue`, float64     |                             |
| `str`                              | `StringImm`              |                             |
| dtype                              | `DataTypeImm`            |                             |
| tuple, list                        | `Tuple`                  |                             |
| array (of a live text)             | `Constant`               |                             |
"""

from collections.abc import Sequence
from typing import cast

import numpy as np

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, BAD_LITERAL, UNKNOWN_DTYPE
from refmlc.lang.dtypes import BOOL, FLOAT64, INT64, DType, dtype
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.types import PrimType
from refmlc.lang.script.reader.attributes import DTYPE_NAMES
from refmlc.lang.script.reader.relax_constants import constant_of
from refmlc.lang.script.reader.values import Construct, Meta, described

RELAX_NODES = (
    relax.Var,
    relax.Constant,
    relax.MetadataRef,
    relax.PrimValue,
    relax.StringImm,
    relax.DataTypeImm,
    relax.ShapeExpr,
    relax.Tuple,
    relax.TupleGetItem,
    relax.ExternFunc,
    relax.Op,
    relax.Call,
    relax.If,
    relax.SeqExpr,
    relax.Function,
    tir.GlobalVar,
)
"""The classes of Relax expressions."""

TIR_NODES = (
    tir.Var,
    tir.IntImm,
    tir.FloatImm,
    tir.StringImm,
    tir.Apply,
    tir.Cast,
    tir.And,
    tir.Or,
    tir.Select,
    tir.IfThenElseExpr,
    tir.Let,
    tir.Call,
)
"""The classes of TensorIR expressions that occur in Relax."""


def expr_of(value: Meta, span: Span) -> relax.Expr:
    """The expression that `value` is. Fails with RM105, RM107."""
    match value:
        case tir.StringImm(text):
            return relax.StringImm(text, span=span)
        case bool():
            return relax.PrimValue(tir.IntImm(BOOL, int(value)), span=span)
        case int():
            return relax.PrimValue(_int64(value, span), span=span)
        case float():
            return relax.PrimValue(tir.FloatImm(FLOAT64, value), span=span)
        case str():
            return relax.StringImm(value, span=span)
        case DType():
            return relax.DataTypeImm(value, span=span)
        case Construct(path, _) if path in DTYPE_NAMES:
            return relax.DataTypeImm(DTYPE_NAMES[path], span=span)
        case tuple() | list():
            return tuple_of(value, span)
        case np.ndarray() | np.generic():
            return constant_of(value, None, span)
    if isinstance(value, RELAX_NODES):
        return value
    if isinstance(value, TIR_NODES):
        return relax.PrimValue(cast("tir.Expr", value), span=span)
    raise fail(BAD_ARGUMENTS, f"{described(value)} is no Relax expression", span)


def tuple_of(values: "Sequence[Meta]", span: Span) -> relax.Tuple:
    """The tuple expression of `values`."""
    return relax.Tuple(tuple(expr_of(value, span) for value in values), span=span)


def is_expr(value: Meta) -> bool:
    """Whether `value` can only be a Relax expression: attributes hold all else."""
    return isinstance(value, RELAX_NODES) and not isinstance(
        value, (relax.StringImm, relax.DataTypeImm, relax.PrimValue)
    )


def prim_of(value: Meta) -> tir.Expr | None:
    """The TensorIR expression that `value` stands for in arithmetic on dimensions, if it does."""
    match value:
        case relax.PrimValue(inner):
            return inner
        case relax.Var(ty=PrimType(value=inner)):
            return inner
    return cast("tir.Expr", value) if isinstance(value, TIR_NODES) else None


def dimension_of(value: Meta, span: Span) -> tir.Expr:
    """The TensorIR expression that `value` is as a dimension of a shape. Fails with RM105, RM107."""
    if isinstance(value, (int, np.integer)):
        return _int64(int(value), span)
    result = prim_of(value)
    if result is None or isinstance(result, tir.StringImm):
        raise fail(BAD_ARGUMENTS, f"{described(value)} is no dimension", span)
    return result


def shape_of(value: Meta, span: Span) -> tuple[tir.Expr, ...] | None:
    """The dimensions that `value` lists; None when it is not a list of them."""
    if isinstance(value, relax.ShapeExpr):
        return value.values
    if isinstance(value, (tuple, list)):
        return tuple(dimension_of(item, span) for item in value)
    return None


def dtype_of(value: Meta, span: Span) -> DType | None:
    """The dtype that `value` names; None for `None`, the empty string and `void`. Fails with RM105, RM106."""
    match value:
        case None | "" | "void":
            return None
        case DType():
            return value
        case relax.DataTypeImm(result):
            return result
        case PrimType(result):
            return result
        case str():
            try:
                return dtype(value)
            except KeyError:
                raise fail(UNKNOWN_DTYPE, f"no dtype is called {value[:40]!r}", span) from None
        case Construct(path, _) if path in DTYPE_NAMES:
            return DTYPE_NAMES[path]
    raise fail(BAD_ARGUMENTS, f"{described(value)} is no dtype", span)


def _int64(value: int, span: Span) -> tir.IntImm:
    if not INT64.minimum <= value <= INT64.maximum:
        raise fail(BAD_LITERAL, f"the integer {value} is not an int64", span)
    return tir.IntImm(INT64, value, span=span)
