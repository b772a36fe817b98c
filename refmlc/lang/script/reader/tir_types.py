"""Constructs that name types, variables, constants and buffers.

| text                                                 | meaning                                                 |
|------------------------------------------------------|---------------------------------------------------------|
| `T.float32(x)`                                       | a constant (a number, `"inf"`, hex), else `x` converted |
| `T.float32()`, `T.var("float32")`                    | a variable to be declared                               |
| `T.handle("float32", "shared")`, `T.ptr`, `T.Ptr[…]` | a typed handle                                          |
| `T.Buffer((n, "m"), "float32", strides=, …)`         | a buffer; strings are expressions over shape variables, |
|                                                      | in `strides` variables of their own                     |
| … `offset_factor=2`, without `elem_offset`           | its offset is a variable of its own                     |
| `T.Buffer[(1, 128), "float32"]`, `T.Buffer[128]`     | the same (2022)                                         |
| `T.min_value(d)`, `T.max_value(d)`, `T.infinity(d)`  | constants                                               |

A name in a string that is not defined becomes a shape variable: of the dtype its own declaration says, else int32.
"""

import ast
from collections.abc import Mapping, Sequence

from refmlc.diag import Source, Span, fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, BAD_LITERAL, UNSUPPORTED_CONSTRUCT
from refmlc.lang.dtypes import HANDLE, INT32, SCALARS, DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import PointerType
from refmlc.lang.ir.offsets import is_default_offset, own_index
from refmlc.lang.ops import promote
from refmlc.lang.script.reader.arguments import REQUIRED, CallSite
from refmlc.lang.script.reader.attributes import attr_of
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.scope import MISSING
from refmlc.lang.script.reader.syntax import Spans, parsed
from refmlc.lang.script.reader.tir_operands import (
    SHORT_DTYPES,
    dtype_construct,
    dtype_of,
    expr_of,
    int_of,
    operand_of,
    str_of,
    tuple_of,
)
from refmlc.lang.script.reader.tir_values import BufferSpec, LetSpec, VarSpec, VectorSpec
from refmlc.lang.script.reader.values import Construct, Meta
from refmlc.lang.script.tirx.derived_layouts import TRAINIUM, by_dimensions
from refmlc.lang.script.tirx.layouts import layout_argument


class FixedSpans(Spans):
    """Places of an expression inside of a string: that of the string."""

    __slots__ = ("span",)

    def __init__(self, span: Span) -> None:
        super().__init__(span.source)
        self.span = span

    def of(self, node: ast.AST) -> Span:  # noqa: ARG002 - the place does not depend on the node
        """`span`."""
        return self.span


# ---------------------------------------------------------------------------------------- dtypes as functions


def dtype_call(ev: Evaluator, site: CallSite) -> Meta:
    """`T.float32(…)`: a variable, a constant or a conversion."""
    dtype = dtype_construct(Construct(site.name, site.spelled))
    if dtype is None:
        raise ev.refuse(f"`{site.spelled}` is not a construct of TensorIR that refmlc knows", site.span)
    values = site.take(expr=None, is_size_var=None, is_unknown_type=None)["expr"]
    if values is None:
        return VarSpec(dtype)
    return value_as(values, dtype, site.span)


def value_as(given: Meta, dtype: DType, span: Span) -> tir.Expr:
    """`given` as a value of `dtype`: constants directly, anything else by a Cast."""
    if isinstance(given, str):
        return promote.constant(_number(given, span), dtype, span)
    if isinstance(given, (list, tuple)):
        raise fail(BAD_ARGUMENTS, f"a value of {dtype} is made of one expression", span)
    value = operand_of(given, span)
    match value:
        case float() if not dtype.is_float and value.is_integer():
            return promote.constant(int(value), dtype, span)
        case int() | float():
            return promote.constant(value, dtype, span)
        case tir.IntImm(value=number) if dtype.is_integer or dtype.is_float or dtype.kind == "bool":
            return promote.constant(number, dtype, span)
        case tir.FloatImm(value=real) if dtype.is_float:
            return promote.constant(real, dtype, span)
    return promote.converted(value, dtype, span)


def _number(text: str, span: Span) -> float:
    try:
        return float.fromhex(text) if "0x" in text.lower() else float(text)
    except (ValueError, OverflowError):
        raise fail(BAD_LITERAL, f"{text[:40]!r} is not a number", span) from None


def _vector(ev: Evaluator, construct: Construct, index: Meta, span: Span) -> Meta:
    dtype = dtype_construct(construct)
    if dtype is None:
        raise ev.refuse(f"`{construct.spelled}[…]` is not TVMScript", span)
    return VectorSpec(dtype, tuple(expr_of(item, span) for item in tuple_of(index)))


def _bool(ev: Evaluator, site: CallSite) -> Meta:
    return dtype_call(ev, site)


def _min_value(_ev: Evaluator, site: CallSite) -> Meta:
    dtype = dtype_of(site.take(dtype=REQUIRED)["dtype"], site.span)
    value = -dtype.format.maximum if dtype.is_float else dtype.minimum
    return promote.constant(value, dtype, site.span)


def _max_value(_ev: Evaluator, site: CallSite) -> Meta:
    dtype = dtype_of(site.take(dtype=REQUIRED)["dtype"], site.span)
    value = dtype.format.maximum if dtype.is_float else dtype.maximum
    return promote.constant(value, dtype, site.span)


def _infinity(_ev: Evaluator, site: CallSite) -> Meta:
    return promote.constant(float("inf"), dtype_of(site.take(dtype=REQUIRED)["dtype"], site.span), site.span)


# ------------------------------------------------------------------------------------------ variables, handles


def _var(_ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(dtype="int32", name="")
    return VarSpec(dtype_of(values["dtype"], site.span), name=str_of(values["name"], site.span))


def _handle(_ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(dtype=None, storage_scope="global", is_size_var=None, is_unknown_type=None)
    scope = str_of(values["storage_scope"], site.span)
    if values["dtype"] == "tensormap":
        return VarSpec(HANDLE, PointerType(None, tensor_map=True))
    element = dtype_of(values["dtype"], site.span)
    if element.kind == "void" and scope == "global":
        return VarSpec(HANDLE)
    return VarSpec(HANDLE, PointerType(None if element.kind == "void" else element, scope))


def _tensor_map(_ev: Evaluator, site: CallSite) -> Meta:
    site.only_positional(0, 0)
    return VarSpec(HANDLE, PointerType(None, tensor_map=True))


def _pointer(_ev: Evaluator, _construct: Construct, index: Meta, span: Span) -> Meta:
    items = tuple_of(index)
    scope = str_of(items[1], span) if len(items) > 1 else "global"
    return VarSpec(HANDLE, PointerType(dtype_of(items[0], span), scope))


def _let(_ev: Evaluator, _construct: Construct, index: Meta, span: Span) -> Meta:
    return LetSpec(index if isinstance(index, VarSpec) else VarSpec(dtype_of(index, span)))


# ---------------------------------------------------------------------------------------------------- buffers


def shape_of(ev: Evaluator, value: Meta, span: Span) -> tuple[tir.Expr, ...]:
    """A shape: expressions, and strings that are expressions over shape variables."""
    return tuple(_dimension(ev, item, span) for item in tuple_of(value))


def _dimension(ev: Evaluator, value: Meta, span: Span) -> tir.Expr:
    if isinstance(value, str):
        value = shape_string(ev, value, span)
    elif isinstance(value, VarSpec):
        return value.var(value.name, span)
    return expr_of(value, span)


def shape_string(ev: Evaluator, text: str, span: Span) -> Meta:
    """The value of a string in a shape; names that are not defined become shape variables."""
    node = _declaring(ev, text, span)
    outer, ev.spans = ev.spans, FixedSpans(span)
    try:
        return ev.eval(node)
    finally:
        ev.spans = outer


def _declaring(ev: Evaluator, text: str, span: Span) -> ast.expr:
    """The expression in a string; the shape variables that it is the first to name are declared."""
    body = parsed(Source(span.source.name, text)).body
    if len(body) != 1 or not isinstance(body[0], ast.Expr):
        raise fail(BAD_ARGUMENTS, f"the string {text[:40]!r} is not an expression over shape variables", span)
    node = body[0].value
    owners = {part.value for part in ast.walk(node) if isinstance(part, ast.Attribute)}
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part not in owners and not _is_dimension(ev.scope.lookup(part.id)):
            define_shape_var(ev, part.id, span)
    return node


def _lazily(ev: Evaluator, node: ast.Call) -> Meta:
    """`T.Buffer(("n", n))`: a string declares its names for the dimensions after it."""
    callee = ev.construct_of(node.func) or Construct("T.Buffer", "T.Buffer")
    shape = next((word.value for word in node.keywords if word.arg == "shape"), node.args[0] if node.args else None)
    for item in shape.elts if isinstance(shape, (ast.Tuple, ast.List)) else ():
        if isinstance(item, ast.Constant) and isinstance(item.value, str):
            _declaring(ev, item.value, ev.spans.of(item))
        elif any(isinstance(part, ast.Name) and ev.scope.lookup(part.id) is MISSING for part in ast.walk(item)):
            break
    return _buffer(ev, ev.site(node, callee))


def _is_dimension(found: object) -> bool:
    """Whether a name in a string is taken as it is; constructs such as `T` and functions give way to variables."""
    return found is not MISSING and not isinstance(found, (Construct, tir.GlobalVar, tir.Buffer))


def define_shape_var(ev: Evaluator, name: str, span: Span) -> None:
    """Declare the shape variable `name`, of the dtype that the function declares for it, else int32."""
    declared = ev.scope.lookup(f"{name}:dtype")
    dtype = declared if isinstance(declared, DType) else dtype_of("int32", span)
    ev.scope.define(name, tir.Var(name, dtype, span=span))


def buffer_spec(ev: Evaluator, given: Mapping[str, Meta], span: Span) -> BufferSpec:
    """The buffer that the arguments of a construct describe."""
    if given.get("buffer_type") not in (None, "", "default"):
        raise fail(UNSUPPORTED_CONSTRUCT, "`buffer_type` of a buffer is not supported", span)
    shape = shape_of(ev, given["shape"], span)
    dtype = dtype_of(given["dtype"], span)
    align, factor = int_of(given.get("align", 0), span), int_of(given.get("offset_factor", 0), span)
    separators = tuple(int_of(item, span) for item in tuple_of(given.get("axis_separators") or ()))
    data = given.get("data")
    scope, layout = str_of(given.get("scope") or "global", span), given.get("layout", "default")
    if isinstance(layout, str) and scope in TRAINIUM:
        layout = None if layout == "default" else by_dimensions(layout, shape, scope, span)
    return BufferSpec(
        shape,
        dtype,
        _strides(given, shape, span),
        _elem_offset(ev, given, shape, dtype, span),
        scope,
        align if align > 0 else 64,
        factor if factor > 0 else 1,
        separators,
        layout_argument(layout, shape, span, s_tir=ev.s_tir),
        None if data is None else expr_of(data, span),
        span,
        () if given.get("allocated_addr") is None else _sizes(given["allocated_addr"], span),
    )


def _sizes(value: Meta, span: Span) -> tuple[tir.Expr, ...]:
    return tuple(expr_of(item, span) for item in tuple_of(value))


def _strides(given: Mapping[str, Meta], shape: tuple[tir.Expr, ...], span: Span) -> tuple[tir.Expr, ...]:
    """The strides; a match makes the variables that strings name of the dtype of the shape, a type makes them int32."""
    named = own_index(shape) if "param" in given else INT32
    return tuple(_stride(item, named, span) for item in tuple_of(given.get("strides") or ()))


def _stride(value: Meta, named: DType, span: Span) -> tir.Expr:
    """A stride: an expression, or the name of a variable of its own, which nothing but `B.strides` names."""
    if isinstance(value, str):
        if not value.isidentifier():
            raise fail(BAD_ARGUMENTS, f"the string {value[:40]!r} is not the name of a stride", span)
        return tir.Var(value, named, span=span)
    if isinstance(value, VarSpec):
        return value.var(value.name, span)
    return expr_of(value, span)


def _elem_offset(
    ev: Evaluator, given: Mapping[str, Meta], shape: tuple[tir.Expr, ...], dtype: DType, span: Span
) -> tir.Expr | None:
    """The offset: None where it is the constant that is one by default, a variable where only its factor is said."""
    offset, byte_offset = given.get("elem_offset"), given.get("byte_offset")
    if isinstance(offset, str):
        offset = shape_string(ev, offset, span)
    if byte_offset is not None:
        size = dtype.bits * dtype.lanes // 8 or 1
        offset = promote.apply_binary("floordiv", operand_of(byte_offset, span), size, span)
    if offset is None:
        named = int_of(given.get("offset_factor", 0), span) != 0
        return tir.Var("elem_offset", own_index(shape), span=span) if named else None
    value = expr_of(offset, span)
    return None if is_default_offset(value, shape) else value


BUFFER_OPTIONS: Mapping[str, Meta] = {
    "dtype": "float32",
    "data": None,
    "strides": None,
    "elem_offset": None,
    "scope": "global",
    "align": 0,
    "offset_factor": 0,
    "buffer_type": "",
    "axis_separators": None,
}
"""Parameters after the shape, in the order they have had since 2022."""

LATE_OPTIONS: Mapping[str, Meta] = {
    "byte_offset": None,
    "layout": "default",
    "allocated_addr": None,
    "annotations": None,
}
"""Parameters that 0.27 added; they are only ever named."""


def buffer_arguments(site: CallSite, first: Sequence[str] = ("shape",), **more: Meta) -> dict[str, Meta]:
    """The arguments of a construct that makes a buffer. Fails with RM105."""
    required: dict[str, Meta] = dict.fromkeys(first, REQUIRED)
    return site.take(**required, **{**BUFFER_OPTIONS, **LATE_OPTIONS, **more})


def _buffer(ev: Evaluator, site: CallSite) -> Meta:
    return buffer_spec(ev, buffer_arguments(site), site.span)


def _buffer_subscript(ev: Evaluator, construct: Construct, index: Meta, span: Span) -> Meta:
    """`T.Buffer[shape, dtype, …]` (2022)."""
    match index:
        case (list() | tuple() as shape, *rest) | (shape, *rest) if isinstance(index, tuple) and rest:
            pass
        case _:
            shape, rest = index, []
    if isinstance(index, tuple) and rest and not _is_dtype(rest[0]):
        shape, rest = index, []  # T.Buffer[1, 128]
    names = ("dtype", "data", "strides", "elem_offset", "scope", "align", "offset_factor")
    if len(rest) > len(names):
        raise fail(BAD_ARGUMENTS, f"`{construct.spelled}[…]` takes at most {len(names) + 1} items", span)
    values: dict[str, Meta] = {"dtype": "float32", "shape": shape, **dict(zip(names, rest, strict=False))}
    return buffer_spec(ev, values, span)


def _is_dtype(value: Meta) -> bool:
    return isinstance(value, (str, DType, VarSpec)) or dtype_construct(value) is not None


def annotations_of(given: Mapping[str, Meta], span: Span) -> dict[str, tir.Attr]:
    """The `annotations` argument."""
    value = given.get("annotations") or {}
    if not isinstance(value, dict):
        raise fail(BAD_ARGUMENTS, "annotations are a dictionary", span)
    return {str(key): attr_of(item, span) for key, item in value.items()}


CALLS = {
    "T.bool": _bool,
    "T.min_value": _min_value,
    "T.max_value": _max_value,
    "T.infinity": _infinity,
    "T.var": _var,
    "T.handle": _handle,
    "T.ptr": _handle,
    "T.TensorMap": _tensor_map,
}
LAZY = {"T.Buffer": _lazily}
SUBSCRIPTS = {
    **{f"T.{name}": _vector for name in (*SCALARS, *SHORT_DTYPES)},
    "T.Buffer": _buffer_subscript,
    "T.Ptr": _pointer,
    "T.let": _let,
    "T.handle": _pointer,
}
