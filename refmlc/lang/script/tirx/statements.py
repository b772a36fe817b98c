"""Scope ids, hints and tile primitives as text, as TVM 0.27 prints them."""

from collections.abc import Mapping

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.dtypes import INT32
from refmlc.lang.ir import tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.tirx import HINT, LambdaExpr, ScopeIdDef, TilePrimitiveCall
from refmlc.lang.ops.tile_operators import SCALED_GEMM_ASYNC, TILE_OPERATORS
from refmlc.lang.script.printer.expressions import attribute_text, buffer_name, expr_text
from refmlc.lang.script.printer.literals import string_text
from refmlc.lang.script.printer.page import Page
from refmlc.lang.script.tirx.tiles import NAMESPACES, PREFIX


def write_scope_ids(page: Page, stmt: ScopeIdDef) -> None:
    """`bx, by = T.cta_id([4, 4])`."""
    _modern(page, stmt)
    parts: list[str] = []
    if stmt.extents is not None and stmt.kind != "cta_id_in_pair":
        parts.append(_listed(page, stmt.extents))
    if stmt.preferred is not None:
        parts.append(f"preferred={_listed(page, stmt.preferred)}")
    if stmt.ids[0].dtype != INT32:
        parts.append(f"dtype={string_text(str(stmt.ids[0].dtype))}")
    text = f"T.{stmt.kind}({', '.join(parts)})"
    names = ", ".join(page.names.define(var, var.name) for var in stmt.ids)
    page.line(f"{names} = {text}")


def write_tile(page: Page, stmt: TilePrimitiveCall) -> None:
    """`T.warp.copy(A[0:4], B[0:4], dispatch="tma")`."""
    _modern(page, stmt)
    operands = TILE_OPERATORS[stmt.op]
    if len(stmt.args) == len(SCALED_GEMM_ASYNC) and stmt.op == "gemm_async":
        operands = SCALED_GEMM_ASYNC
    args = list(stmt.args)
    while args and args[-1] is None:
        args.pop()
    if len(args) == 2 and all(isinstance(arg, tir.BufferRegion) for arg in args) and structural_equal(*args):
        default = operands[1].default
        args = args[:1] if default is None else args  # in place
    texts = [_argument(page, arg, operand.kind) for arg, operand in zip(args, operands, strict=False)]
    if stmt.workspace:
        spaces = ", ".join(f"{string_text(key)}: {buffer_name(page, item)}" for key, item in stmt.workspace.items())
        texts.append(f"workspace={{{spaces}}}")
    if stmt.dispatch is not None:
        texts.append(f"dispatch={string_text(stmt.dispatch)}")
    texts.extend(_keyword(page, key, value) for key, value in sorted(stmt.config.items()))
    page.line(f"T.{NAMESPACES[stmt.scope]}.{stmt.op}({', '.join(texts)})")


def hint_text(page: Page, stmt: tir.AttrStmt) -> str:
    """`T.hint("message", key=value)`; empty where the attribute is no hint."""
    if stmt.key != HINT or not isinstance(stmt.node, Mapping):
        return ""
    parts = [string_text(str(value)) for key, value in stmt.node.items() if key == "message"]
    parts.extend(_keyword(page, key, value) for key, value in stmt.node.items() if key != "message")
    return f"T.hint({', '.join(parts)})"


def _keyword(page: Page, key: str, value: tir.Attr) -> str:
    if not key.isidentifier():
        raise fail(UNSUPPORTED_CONSTRUCT, f"`{key[:40]}` is no keyword that a text can have")
    return f"{key}={_argument(page, value, '')}"


def _argument(page: Page, value: tir.Attr, kind: str) -> str:
    match value:
        case str() if kind == "operator":
            return f"I.Op({string_text(PREFIX + value)})"
        case LambdaExpr(params=params, body=body):
            with page.names.frame(), page.speaking("tir"):
                names = ", ".join(page.names.define(var, var.name) for var in params)
                return f"lambda {names}: {expr_text(page, body)}" if names else f"lambda: {expr_text(page, body)}"
        case tir.BufferRegion(buffer=buffer, region=ranges):
            with page.speaking("tir"):
                return f"{_owner(page, buffer)}[{_slices(page, ranges, kind)}]"
        case tir.Buffer() if id(value) in page.cells:
            return _owner(page, value)
        case tir.IntImm(dtype=dtype) if dtype == INT32:
            return f"T.int32({value.value})"
    if isinstance(value, tir.Expr):
        with page.speaking("tir"):
            return expr_text(page, value)
    return attribute_text(page, value)


def _owner(page: Page, buffer: tir.Buffer) -> str:
    """The name of a buffer as one: that of a mutable scalar is its element's."""
    name = buffer_name(page, buffer)
    return f"{name}.source" if id(buffer) in page.cells else name


def _slices(page: Page, ranges: tuple[tir.Range, ...], kind: str) -> str:
    """A region; one of a single element has slices where it would be read as the element."""
    single = all(isinstance(item.extent, tir.IntImm) and item.extent.value == 1 for item in ranges)
    whole = kind != "region" and single
    return ", ".join(_slice(page, item, whole=whole) for item in ranges) or "()"


def _slice(page: Page, item: tir.Range, *, whole: bool) -> str:
    low, extent = item.min, item.extent
    if isinstance(extent, tir.IntImm) and extent.value == 1 and not whole:
        return expr_text(page, low)
    if isinstance(low, tir.IntImm) and isinstance(extent, tir.IntImm):
        return f"{expr_text(page, low)}:{expr_text(page, tir.IntImm(low.dtype, low.value + extent.value))}"
    if isinstance(low, tir.IntImm) and low.value == 0:
        return f"{expr_text(page, low)}:{expr_text(page, extent)}"
    return f"{expr_text(page, low)}:{expr_text(page, tir.Apply('add', (low, extent), low.dtype))}"


def _listed(page: Page, values: tuple[tir.Expr, ...]) -> str:
    with page.speaking("tir"):
        return f"[{', '.join(expr_text(page, value) for value in values)}]"


def _modern(page: Page, stmt: ScopeIdDef | TilePrimitiveCall) -> None:
    if not page.modern:
        what = stmt.kind if isinstance(stmt, ScopeIdDef) else f"{NAMESPACES[stmt.scope]}.{stmt.op}"
        message = f"`T.{what}` is of TIRx, which texts of {page.dialect} cannot say"
        raise fail(UNSUPPORTED_CONSTRUCT, message, stmt.span)
