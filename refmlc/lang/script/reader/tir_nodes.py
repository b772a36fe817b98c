"""What Python's syntax means on nodes and descriptions of TensorIR: attributes, items, operators, methods.

| value      | attributes                                   | methods                                     |
|------------|----------------------------------------------|---------------------------------------------|
| expression | `dtype`, `ty`                                | `astype(d)`, `equal(b)`                     |
| buffer     | `data shape strides elem_offset dtype name layout` | `vload vstore scope access_ptr`, `tirx.views` |
|            | of one element: `source`, `buffer`, itself   |                                             |
| load       | `buffer indices dtype`                       | as an expression                            |
| region     | as a load, once taken as a vector            |                                             |
| `VarSpec`  | `ty` (itself)                                |                                             |
| env thread | `var`, `dom`                                 | as its variable                             |
| range      | `min`, `extent`                              |                                             |
"""

from dataclasses import replace

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import RANK_MISMATCH
from refmlc.lang.dtypes import HANDLE
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import PointerType
from refmlc.lang.ir.offsets import default_offset
from refmlc.lang.ops import promote
from refmlc.lang.script.reader.arguments import REQUIRED, CallSite
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.operators import host_binary, host_unary
from refmlc.lang.script.reader.table import Family
from refmlc.lang.script.reader.tir_exprs import choice
from refmlc.lang.script.reader.tir_operands import (
    EXPRESSIONS,
    access,
    dtype_of,
    expr_of,
    indices_of,
    is_single,
    operand_of,
    vector_load,
    wrong_rank,
)
from refmlc.lang.script.reader.tir_types import value_as
from refmlc.lang.script.reader.tir_values import Done, Region, VarSpec
from refmlc.lang.script.reader.values import Meta, Method, described
from refmlc.lang.script.tirx import views
from refmlc.lang.script.tirx.layouts import layout_of
from refmlc.lang.script.tirx.refused import check_view

_EXPRESSION_METHODS = ("astype", "equal", "vload", "vstore")
_BUFFER_METHODS = (
    *("vload", "vstore", "scope", "view", "access_ptr", "get_flattened_buffer", "offset_of", "local", "permute"),
    "ptr_to",
)


def _binary(_ev: Evaluator, symbol: str, a: Meta, b: Meta, span: Span) -> Meta:
    return promote.binary(symbol, operand_of(a, span), operand_of(b, span), span)


def _buffer_binary(ev: Evaluator, symbol: str, a: Meta, b: Meta, span: Span) -> Meta:
    single = [value for value in (a, b) if isinstance(value, tir.Buffer) and is_single(value)]
    return _binary(ev, symbol, a, b, span) if single else host_binary(symbol, a, b, span)


def _buffer_unary(ev: Evaluator, symbol: str, a: Meta, span: Span) -> Meta:
    single = isinstance(a, tir.Buffer) and is_single(a)
    return _unary(ev, symbol, a, span) if single else host_unary(symbol, a, span)


def _unary(_ev: Evaluator, symbol: str, a: Meta, span: Span) -> Meta:
    return promote.unary(symbol, expr_of(a, span), span)


def _choice(_ev: Evaluator, condition: Meta, yes: Meta, no: Meta, span: Span) -> Meta:
    site = CallSite("T.if_then_else", "if else", (), {}, span)
    return choice(promote.condition(operand_of(condition, span), span), yes, no, site, eager=False)


def _expr_attribute(ev: Evaluator, value: Meta, name: str, span: Span) -> Meta:
    if name in _EXPRESSION_METHODS:
        return Method(value, name)
    node = expr_of(value, span)
    match name, node:
        case "dtype", _:
            return node.dtype
        case "ty", _:
            pointer = node.pointer if isinstance(node, (tir.Var, tir.Call)) else None
            return VarSpec(node.dtype, pointer)
        case ("buffer" | "source", tir.BufferLoad()):
            return node.buffer
        case ("data", tir.BufferLoad(buffer=buffer)) if _is_scalar(buffer):
            return tir.BufferData(buffer, span=span)
        case ("indices", tir.BufferLoad()):
            return node.indices
        case ("value", tir.IntImm() | tir.FloatImm() | tir.StringImm()):
            return node.value
        case ("data", tir.BufferData()):
            return node
    raise ev.refuse(f"{described(node)} has no attribute `{name}`", span)


def _expr_method(ev: Evaluator, callee: Meta, site: CallSite) -> Meta:
    if not isinstance(callee, Method):
        raise site.misfit("cannot be called")
    if callee.name == "astype":
        values = site.take(dtype=REQUIRED, span=None)
        dtype = dtype_of(values["dtype"], site.span)
        node = expr_of(callee.receiver, site.span)
        if dtype.is_vector != node.dtype.is_vector:
            dtype = dtype.with_lanes(node.dtype.lanes, scalable=node.dtype.scalable)
        return value_as(node, dtype, site.span)
    if callee.name == "equal":
        other = operand_of(site.take(other=REQUIRED, span=None)["other"], site.span)
        return promote.apply_binary("eq", operand_of(callee.receiver, site.span), other, site.span)
    receiver = callee.receiver
    if isinstance(receiver, tir.BufferData):
        return _buffer_method(ev, Method(receiver.buffer, callee.name), site)
    raise site.misfit("is not a method of an expression")


def _expr_item(ev: Evaluator, value: Meta, index: Meta, span: Span) -> Meta:
    """`p[i]` of a pointer that an old `T.allocate` gave is an access of its buffer."""
    match value:
        case tir.BufferData(buffer=buffer):
            return access(buffer, index, span)
        case tir.BufferLoad(buffer=buffer, indices=(tir.IntImm(value=0),)) if _is_scalar(buffer):
            return access(buffer, index, span)
    raise ev.refuse(f"{described(value)} has no items", span)


def _is_scalar(buffer: tir.Buffer) -> bool:
    return len(buffer.shape) == 1 and isinstance(buffer.shape[0], tir.IntImm) and buffer.shape[0].value == 1


# ---------------------------------------------------------------------------------------------------- buffers


def _buffer_attribute(ev: Evaluator, value: Meta, name: str, span: Span) -> Meta:
    if not isinstance(value, tir.Buffer):
        raise ev.refuse(f"{described(value)} is no buffer", span)
    if name in _BUFFER_METHODS:
        return Method(value, name)
    match name:
        case "data":
            return tir.BufferData(value, span=span)
        case "shape":
            return value.shape
        case "strides":
            return value.strides
        case "elem_offset":
            return value.elem_offset or replace(default_offset(value.shape), span=span)
        case "dtype":
            return value.dtype
        case "name":
            return value.name
        case "buffer" | "source" if is_single(value):
            return value
        case "ty":
            return value
        case "storage_scope":
            return value.scope
        case "layout" if not ev.s_tir:
            return layout_of(value, span)
    check_view(name, span)
    raise ev.refuse(f"a buffer has no attribute `{name}`", span)


def _buffer_item(ev: Evaluator, value: Meta, index: Meta, span: Span) -> Meta:
    if not isinstance(value, tir.Buffer):
        raise ev.refuse(f"{described(value)} is no buffer", span)
    return access(value, index, span)


def _buffer_method(ev: Evaluator, callee: Meta, site: CallSite) -> Meta:
    if not isinstance(callee, Method) or not isinstance(callee.receiver, tir.Buffer):
        raise site.misfit("cannot be called")
    buffer, span = callee.receiver, site.span
    match callee.name:
        case "vload":
            values = site.take(begin=REQUIRED, dtype=None, predicate=None)
            return _vload(buffer, values["begin"], values["dtype"], values["predicate"], span)
        case "vstore":
            values = site.take(begin=REQUIRED, value=REQUIRED, predicate=None)
            value = expr_of(values["value"], span)
            load = _vload(buffer, values["begin"], value.dtype, values["predicate"], span)
            return Done(tir.BufferStore(buffer, value, load.indices, load.predicate, span=span))
        case "scope":
            site.only_positional(0, 0)
            return buffer.scope
        case "view":
            return views.view(buffer, site, s_tir=ev.s_tir)
        case "local":
            return views.local(buffer, site, s_tir=ev.s_tir)
        case "permute":
            return views.permute(buffer, site, s_tir=ev.s_tir)
        case "ptr_to":
            load = tir.BufferLoad(buffer, _all_indices(buffer, site), span=span)
            return tir.Call("address_of", (load,), HANDLE, PointerType(buffer.dtype, buffer.scope), span=span)
        case "access_ptr":
            return _buffer_access_ptr(buffer, site)
    raise ev.refuse(f"the method `{callee.name}` of a buffer is not supported", span)


def _all_indices(buffer: tir.Buffer, site: CallSite) -> tuple[tir.Expr, ...]:
    """The indices of `A.ptr_to([i, j])`. Fails: RM208."""
    indices = indices_of(site.take(indices=REQUIRED)["indices"], site.span)
    if len(indices) != len(buffer.shape):
        raise wrong_rank(buffer, len(indices), site.span)
    return indices


def _vload(buffer: tir.Buffer, begin: Meta, dtype: Meta, predicate: Meta, span: Span) -> tir.BufferLoad:
    indices = indices_of(begin, span)
    if len(indices) != len(buffer.shape):
        message = f"`{buffer.name}` has {len(buffer.shape)} dimensions and gets {len(indices)} indices"
        raise fail(RANK_MISMATCH, message, span)
    wanted = buffer.dtype if dtype is None else dtype_of(dtype, span)
    lanes = wanted.lanes // buffer.dtype.lanes
    if indices and (lanes != 1 or wanted.scalable) and not indices[-1].dtype.is_vector:
        last = indices[-1]
        item, vector = promote.constant(1, last.dtype, span), last.dtype.with_lanes(lanes, scalable=wanted.scalable)
        count = promote.broadcast(last, vector, span)
        number = count.lanes if isinstance(count, tir.Broadcast) else item
        indices = (*indices[:-1], tir.Ramp(last, item, number, vector, span=span))
    mask = None if predicate is None else expr_of(predicate, span)
    return tir.BufferLoad(buffer, indices, mask, span=span)


def _buffer_access_ptr(buffer: tir.Buffer, site: CallSite) -> tir.Call:
    values = site.take(access_mask=REQUIRED, ptr_type="handle", content_lanes=1, offset=0, extent=None)
    mask = values["access_mask"]
    if isinstance(mask, str):
        mask = ("r" in mask) + 2 * ("w" in mask)
    extent = values["extent"]
    if extent is None:
        size: tir.Expr = promote.literal(1, site.span)
        for number, dim in enumerate(buffer.shape):
            size = dim if number == 0 else promote.apply_binary("mul", size, dim, site.span)
        offset = operand_of(values["offset"], site.span)
        extent = size if offset == 0 else promote.apply_binary("sub", size, offset, site.span)
    args = (
        tir.Call("type_annotation", (), buffer.dtype, span=site.span),
        tir.BufferData(buffer, span=site.span),
        expr_of(values["offset"], site.span),
        expr_of(extent, site.span),
        expr_of(mask, site.span),
    )
    return tir.Call("tvm_access_ptr", args, HANDLE, PointerType(buffer.dtype, buffer.scope), span=site.span)


# ------------------------------------------------------------------------------------------------------ others


def _region_attribute(ev: Evaluator, value: Meta, name: str, span: Span) -> Meta:
    if name in _EXPRESSION_METHODS or not isinstance(value, Region):
        return Method(value, name)
    return _expr_attribute(ev, vector_load(value), name, span)


def _spec_attribute(ev: Evaluator, value: Meta, name: str, span: Span) -> Meta:
    if name in ("ty", "dtype") and isinstance(value, VarSpec):
        return value if name == "ty" else value.dtype
    raise ev.refuse(f"a type has no attribute `{name}`", span)


def _thread_attribute(ev: Evaluator, value: Meta, name: str, span: Span) -> Meta:
    if isinstance(value, tir.ThreadVar) and name == "var":
        return value.var
    if isinstance(value, tir.ThreadVar) and name == "dom":
        return value.dom
    if isinstance(value, tir.Range) and name in ("min", "extent"):
        return value.min if name == "min" else value.extent
    raise ev.refuse(f"{described(value)} has no attribute `{name}`", span)


FAMILIES = (
    Family(
        EXPRESSIONS,
        attribute=_expr_attribute,
        item=_expr_item,
        binary=_binary,
        unary=_unary,
        method=_expr_method,
        choice=_choice,
    ),
    Family(
        (tir.Buffer,),
        attribute=_buffer_attribute,
        item=_buffer_item,
        binary=_buffer_binary,
        unary=_buffer_unary,
        method=_buffer_method,
    ),
    Family((Region,), attribute=_region_attribute, binary=_binary, unary=_unary, method=_expr_method, choice=_choice),
    Family((tir.ThreadVar,), attribute=_thread_attribute, binary=_binary, unary=_unary),
    Family((tir.Range,), attribute=_thread_attribute),
    Family((VarSpec,), attribute=_spec_attribute),
)
