"""Relax expressions as text; the call forms are those of the table at the head of `refmlc.lang.ir.relax`."""

from collections.abc import Sequence

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.types import DTensorType, PrimType, TensorType, TupleType, Type
from refmlc.lang.ir.visit import walk
from refmlc.lang.script.blob import stores
from refmlc.lang.script.printer.expressions import attribute_text, expr_text, tuple_text
from refmlc.lang.script.printer.intrinsics import function_name
from refmlc.lang.script.printer.literals import dtype_text, float_text, string_text
from refmlc.lang.script.printer.page import Page
from refmlc.lang.script.printer.types import Types

CONSTANT_KEYS = {"0.27": "ir.GenericConst", "2023": "relax.expr.Constant", "2022": "relay.Constant"}


def value_text(page: Page, node: relax.Expr) -> str:
    """`node` as text."""
    match node:
        case relax.Var():
            return page.names.get(node) or page.names.define(node, node.name)
        case tir.GlobalVar():
            return function_name(page, node)
        case relax.Constant():
            return constant_text(page, node)
        case relax.MetadataRef(key=key, index=index):
            page.omitted = True
            return (
                f"meta[{key}][{index}]"
                if page.oldest and key == "relay.Constant"
                else f"metadata[{string_text(key)}][{index}]"
            )
        case relax.PrimValue(value=value):
            with page.speaking("relax"):
                text = expr_text(page, value)
            return text if page.modern else f"R.prim_value({text})"
        case relax.StringImm(value=text):
            return f"R.str({string_text(text)})"
        case relax.DataTypeImm(value=dtype):
            return f"R.dtype({dtype_text(dtype)})"
        case relax.ShapeExpr(values=values):
            return f"R.shape({shape_list(page, values)})"
        case relax.Tuple(fields=fields):
            return tuple_text([value_text(page, field) for field in fields]) if fields else "R.tuple()"
        case relax.TupleGetItem(tuple_value=owner, index=index):
            if isinstance(owner, (relax.Var, relax.TupleGetItem, relax.Call)):
                return f"{value_text(page, owner)}[{index}]"
            return f"R.TupleGetItem({value_text(page, owner)}, {index})"
        case relax.ExternFunc(symbol=symbol):
            return f"R.ExternFunc({string_text(symbol)})"
        case relax.Op(name=name):
            return f"R.{name}"
        case relax.Call():
            return call_text(page, node)
    word = type(node).__name__
    raise fail(UNSUPPORTED_CONSTRUCT, f"a {word} inside of another expression has no text", node.span)


def bound_text(page: Page, value: relax.Expr, ty: Type | None, *, bare: bool = False) -> str:
    """A value where a plain number is none: bound, returned, an argument of a function; `bare`: no parentheses."""
    match value:
        case relax.Tuple(fields=(_, *_) as fields) if bare and not page.oldest:
            return tuple_text([value_text(page, field) for field in fields])[1:-1]
        case relax.PrimValue(value=tir.IntImm() | tir.FloatImm()) if page.modern and not isinstance(ty, PrimType):
            return f"R.prim_value({value_text(page, value)})"
    return value_text(page, value)


def shape_list(page: Page, values: Sequence[tir.Expr]) -> str:
    """`[1, n]`."""
    with page.speaking("relax"):
        return f"[{', '.join(expr_text(page, value) for value in values)}]"


# ---------------------------------------------------------------------------------------------- constants


def constant_text(page: Page, node: relax.Constant) -> str:
    """A scalar is written out; a tensor stands in the metadata, or in lists where that has no place for it.

    References to omitted metadata keep their numbers; constants get those after them.
    """
    if node.data.ndim == 0 and not page.oldest and _is_finite(node):
        return f"R.const({_number(page, node.data, node)}, {dtype_text(node.dtype)})"
    if page.show_meta and (not stores(node.dtype) or page.referred):
        return f"R.const({_nested(page, node.data, node)}, {dtype_text(node.dtype)})"
    index = next((i for i, item in enumerate(page.constants) if item is node), None)
    if index is None:
        index = len(page.constants)
        page.constants.append(node)
    key, index = CONSTANT_KEYS[page.dialect], page.referred + index
    return f"meta[{key}][{index}]" if page.oldest else f"metadata[{string_text(key)}][{index}]"


def _is_finite(node: relax.Constant) -> bool:
    return not node.dtype.is_float or bool(np.isfinite(node.data.astype(np.float64)))


def _number(page: Page, value: np.ndarray, node: relax.Constant) -> str:
    if node.dtype.is_float:
        return _real(page, float(value))
    return str(bool(value)) if node.dtype.kind == "bool" else str(int(value))


def _real(page: Page, value: float) -> str:
    text = float_text(value, modern=page.modern)
    return text if any(mark in text for mark in '.en"') else f"{text}.0"


def _literal(page: Page, node: relax.Expr) -> str:
    """The numbers of a constant."""
    return _nested(page, node.data, node) if isinstance(node, relax.Constant) else value_text(page, node)


def _nested(page: Page, value: np.ndarray, node: relax.Constant) -> str:
    if value.ndim == 0:
        return _number(page, value, node)
    return f"[{', '.join(_nested(page, item, node) for item in value)}]"


# -------------------------------------------------------------------------------------------------- calls

_DPS = frozenset(("call_tir", "call_tir_inplace", "call_tir_with_grad", "call_dps_packed", "dist.call_tir_local_view"))
_FORMATTED = {"print": 0, "assert_op": 1}
"""Which argument is the format."""

_NAMED_FIRST = frozenset(
    (
        *("call_pure_packed", "call_inplace_packed", "call_builtin_with_ctx", "make_closure", "vm.call_tir_dyn"),
        *("invoke_closure", "invoke_pure_closure", "call_py_func"),
    )
)


def call_text(page: Page, node: relax.Call) -> str:
    """A call."""
    op = node.op
    if isinstance(op, relax.Op):
        if op.name in _DPS and len(node.args) > 1:
            return _destination_passing(page, node, op.name)
        if op.name == "call_py_func" and page.modern and len(node.args) == 2 and len(node.ty_args) == 1:
            return _of_python(page, node)
        if op.name == "dist.const" and len(node.args) == len(node.ty_args) == 1:
            return f"R.dist.const({_literal(page, node.args[0])}, {Types(page, argument=True).text(node.ty_args[0])})"
        if op.name in _FORMATTED and len(node.args) > _FORMATTED[op.name]:
            return _formatted(page, node, op.name)
        if op.name == "hint_on_device" and len(node.args) == 1:
            values = [attribute_text(page, value) for value in node.attrs.values()]
            return f"R.{op.name}({', '.join([value_text(page, node.args[0]), *values])})"
        first = [_callee(page, node.args[0])] if op.name in _NAMED_FIRST and node.args else []
        args = [*first, *(value_text(page, arg) for arg in node.args[len(first) :])]
        space = "relax" if page.oldest and op.name not in _NAMED_FIRST else "R"
        return f"{space}.{op.name}({', '.join([*args, *_keywords(page, node)])})"
    if isinstance(op, relax.ExternFunc):
        args = [value_text(page, arg) for arg in node.args]
        return f"R.call_packed({', '.join([string_text(op.symbol), *args, *_keywords(page, node)])})"
    return f"{value_text(page, op)}({', '.join(bound_text(page, arg, None) for arg in node.args)})"


def _callee(page: Page, node: relax.Expr) -> str:
    match node:
        case relax.ExternFunc(symbol=name) | relax.StringImm(value=name):
            return string_text(name)
    return value_text(page, node)


def _keywords(page: Page, node: relax.Call) -> list[str]:
    parts = [f"{key}={attribute_text(page, value)}" for key, value in node.attrs.items()]
    if node.ty_args:
        types = tuple_text([Types(page, argument=True).text(ty) for ty in node.ty_args])
        parts.append(f"{page.spelled('ty_args') or 'sinfo_args'}={types}")
    return parts


def _formatted(page: Page, node: relax.Call, name: str) -> str:
    """`R.print(x, format=…)`, `R.assert_op(c, x, format=…)`."""
    place = _FORMATTED[name]
    args = [value_text(page, arg) for i, arg in enumerate(node.args) if i != place]
    args.append(f"format={value_text(page, node.args[place])}")
    return f"R.{name}({', '.join(args)})"


def _of_python(page: Page, node: relax.Call) -> str:
    """`R.call_py_func("f", x, y, out_ty=…)`."""
    name, values = node.args
    fields = values.fields if isinstance(values, relax.Tuple) else (values,)
    args = [_callee(page, name), *(bound_text(page, field, None) for field in fields)]
    return f"R.call_py_func({', '.join(args)}, {page.spelled('out_ty')}={_outputs(page, node)})"


def _destination_passing(page: Page, node: relax.Call, name: str) -> str:
    if page.oldest and name == "call_dps_packed" and isinstance(node.args[0], relax.ExternFunc):
        name = "call_tir"
    if name == "call_tir" and any(isinstance(part, DTensorType) for part in walk(TupleType(node.ty_args))):
        name = "dist.call_tir"
    parts = [_callee(page, node.args[0]), value_text(page, node.args[1])]
    outputs = _old_outputs(page, node) if page.oldest and name == "call_tir" else None
    parts.extend(outputs or [])
    if outputs is None:
        parts.append(f"{page.spelled('out_ty') or 'out_sinfo'}={_outputs(page, node)}")
    parts.extend(f"tir_vars={value_text(page, arg)}" for arg in node.args[2:])
    parts.extend(f"{key}={attribute_text(page, value)}" for key, value in node.attrs.items())
    return f"R.{name}({', '.join(parts)})"


def _outputs(page: Page, node: relax.Call) -> str:
    types = Types(page, argument=True)
    match node.ty_args:
        case (TupleType(fields=fields),) if len(fields) > 1:
            return f"[{', '.join(types.text(field) for field in fields)}]"
        case (item,):
            return types.text(item)
    return f"[{', '.join(types.text(ty) for ty in node.ty_args)}]"


def _old_outputs(page: Page, node: relax.Call) -> list[str] | None:
    """The outputs as shapes and dtypes; None where that does not say them."""
    fields: tuple[Type, ...] = node.ty_args
    several = len(fields) == 1 and isinstance(fields[0], TupleType) and len(fields[0].fields) > 1
    if several and isinstance(fields[0], TupleType):
        fields = fields[0].fields
    shapes: list[str] = []
    dtypes: list[str] = []
    for field in fields:
        if not isinstance(field, TensorType) or field.shape is None or field.dtype is None or field.vdevice:
            return None
        shapes.append(tuple_text(Types(page).dimensions(field.shape)))
        dtypes.append(dtype_text(field.dtype))
    if several:
        return [f"[{', '.join(shapes)}]", f"dtype=[{', '.join(dtypes)}]"]
    return [*shapes, f"dtype={dtypes[0]}"] if len(shapes) == 1 else None
