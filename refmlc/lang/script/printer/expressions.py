"""TensorIR expressions as text, with the parentheses that they need and no others."""

from collections.abc import Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import BUG, UNSUPPORTED_CONSTRUCT
from refmlc.lang.dtypes import INT32, INT64
from refmlc.lang.ir import tir
from refmlc.lang.ops.names import INFIX, Infix
from refmlc.lang.ops.notation import Precedence
from refmlc.lang.script.printer.attributes import attr_text
from refmlc.lang.script.printer.intrinsics import call_text
from refmlc.lang.script.printer.literals import dtype_text, float_text, string_text
from refmlc.lang.script.printer.operators import constant_of, folds, named
from refmlc.lang.script.printer.page import Page

Text = tuple[str, Precedence]
"""A text and how strongly its outermost operator binds."""


def expr_text(page: Page, node: tir.Expr) -> str:
    """`node` where no operator is around."""
    return expr(page, node)[0]


def listed(page: Page, nodes: Sequence[tir.Expr]) -> str:
    """`nodes`, separated by commas."""
    return ", ".join(expr_text(page, node) for node in nodes)


def tuple_text(items: Sequence[str]) -> str:
    """A tuple of texts."""
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def expr(page: Page, node: tir.Expr) -> Text:
    """`node` as text."""
    match node:
        case tir.Var():
            return var_name(page, node), Precedence.ATOM
        case tir.IntImm():
            return _int(page, node)
        case tir.FloatImm(dtype=dtype, value=value):
            return f"T.{dtype}({float_text(value, modern=page.modern)})", Precedence.ATOM
        case tir.StringImm(value=value):
            return string_text(value), Precedence.ATOM
        case tir.Apply():
            return _apply(page, node)
        case tir.Cast(dtype=dtype, value=value):
            return f"T.Cast({dtype_text(dtype)}, {_argument(page, value)})", Precedence.ATOM
        case tir.And(a=a, b=b):
            return _lazy(page, node, Infix("and", Precedence.AND), (a, b))
        case tir.Or(a=a, b=b):
            return _lazy(page, node, Infix("or", Precedence.OR), (a, b))
        case tir.Select():
            return _choice(page, "T.Select", node), Precedence.ATOM
        case tir.IfThenElseExpr():
            return _choice(page, "T.if_then_else", node), Precedence.ATOM
        case tir.Let():
            return _let(page, node), Precedence.ATOM
        case tir.BufferLoad():
            return _load(page, node), Precedence.ATOM
        case tir.BufferData(buffer=buffer):
            owner = buffer_name(page, buffer)
            return f"{owner}.source.data" if id(buffer) in page.cells else f"{owner}.data", Precedence.ATOM
        case tir.Ramp(base=base, stride=stride, lanes=lanes):
            parts = (_argument(page, base), _argument(page, stride), _lanes(page, lanes))
            return f"T.Ramp({', '.join(parts)})", Precedence.ATOM
        case tir.Broadcast(value=value, lanes=lanes):
            return f"T.Broadcast({_argument(page, value)}, {_lanes(page, lanes)})", Precedence.ATOM
        case tir.Shuffle(vectors=vectors, indices=indices):
            return f"T.Shuffle([{listed(page, vectors)}], [{_plain_listed(page, indices)}])", Precedence.ATOM
        case tir.Call():
            return call_text(page, node, argument_text), Precedence.ATOM
    raise fail(BUG, f"{type(node).__name__} is no expression that can be shown")


def var_name(page: Page, node: tir.Var) -> str:
    """The name of a variable; one that nothing defined gets its own."""
    return page.names.get(node) or page.names.define(node, node.name)


def buffer_name(page: Page, node: tir.Buffer) -> str:
    """The name of a buffer; one that nothing declared gets its own, and a declaration."""
    known = page.names.get(node)
    if known is not None:
        return known
    page.undeclared.append(node)
    return page.names.define(node, node.name)


def attribute_text(page: Page, value: object) -> str:
    """An attribute."""
    return attr_text(page, value, expr_text, _whole_buffer)


def _whole_buffer(page: Page, node: tir.Buffer) -> str:
    """A buffer as a value. Fails: RM504 where the name is that of its pointer (an annotated allocation before 0.27)."""
    if id(node) in page.pointers:
        raise fail(UNSUPPORTED_CONSTRUCT, f"`{node.name}` has no name of its own in texts of {page.dialect}", node.span)
    name = buffer_name(page, node)
    return f"{name}.source" if id(node) in page.cells else name


def argument_text(page: Page, value: object) -> str:
    """An argument of a call, where a plain number is int32 and a slice would be a region."""
    if isinstance(value, tir.BufferLoad) and value.predicate is None and id(value.buffer) not in page.cells:
        return f"{buffer_name(page, value.buffer)}[{indices_text(page, value.indices, slices=False)}]"
    if isinstance(value, tir.Expr):
        return _argument(page, value)
    return attribute_text(page, value)


# ---------------------------------------------------------------------------------------------- constants


def _int(page: Page, node: tir.IntImm) -> Text:
    """A plain number is int32 in TensorIR and int64 in Relax; others carry their dtype."""
    if node.dtype.kind == "bool":
        return f"T.bool({bool(node.value)})", Precedence.ATOM
    if node.dtype == (INT64 if page.domain == "relax" else INT32):
        return str(node.value), Precedence.ATOM if node.value >= 0 else Precedence.UNARY
    return f"T.{node.dtype}({node.value})", Precedence.ATOM


def _argument(page: Page, node: tir.Expr) -> str:
    """An argument of a named form, where a plain number is int32 in every language."""
    with page.speaking("tir"):
        return expr_text(page, node)


def _plain_listed(page: Page, nodes: Sequence[tir.Expr]) -> str:
    with page.speaking("tir"):
        return listed(page, nodes)


def _lanes(page: Page, node: tir.Expr) -> str:
    return _argument(page, node)


# ---------------------------------------------------------------------------------------------- operators


def _apply(page: Page, node: tir.Apply) -> Text:
    op, args = node.op, node.args
    if op == "not" and not node.dtype.is_vector and constant_of(args[0]) is None:
        text, strength = expr(page, args[0])
        return f"not {text if strength >= Precedence.NOT else f'({text})'}", Precedence.NOT
    if op == "bitwise_not" and constant_of(args[0]) is None:
        text, strength = expr(page, args[0])
        return f"~{text if strength >= Precedence.UNARY else f'({text})'}", Precedence.UNARY
    symbol = INFIX.get(op)
    if symbol is None or len(args) != 2 or folds(op, args):
        return _named(page, node), Precedence.ATOM
    return _infix(page, node, symbol)


def _infix(page: Page, node: tir.Apply, symbol: Infix) -> Text:
    """`a symbol b`; a chain that leans left is written in a loop, however long."""
    spine: list[tuple[tir.Apply, Infix]] = [(node, symbol)]
    first = node.args[0]
    while isinstance(first, tir.Apply) and len(first.args) == 2 and not folds(first.op, first.args):
        inner = INFIX.get(first.op)
        if inner is None:
            break
        spine.append((first, inner))
        first = first.args[0]
    text, strength = expr(page, first)
    parts = [text]
    for item, (sign, own) in reversed(spine):
        if strength < own or (own == Precedence.COMPARE and strength == Precedence.COMPARE):
            parts = ["(", *parts, ")"]
        right, right_strength = expr(page, item.args[1])
        parts.append(f" {sign} {right}" if right_strength > own else f" {sign} ({right})")
        strength = own

    return "".join(parts), strength


def _named(page: Page, node: tir.Apply) -> str:
    args = ", ".join(_argument(page, arg) for arg in node.args)
    if node.op == "reinterpret":
        return f"T.reinterpret({dtype_text(node.dtype)}, {args})"
    return f"{named(node.op, node.dtype)}({args})"


def _lazy(page: Page, node: tir.And | tir.Or, symbol: Infix, args: tuple[tir.Expr, tir.Expr]) -> Text:
    sign, own = symbol
    if node.dtype.is_vector or any(constant_of(arg) is not None for arg in args):
        return f"T.{type(node).__name__}({', '.join(_argument(page, arg) for arg in args)})", Precedence.ATOM
    spine = [args[1]]
    first = args[0]
    while isinstance(first, type(node)) and not any(constant_of(arg) is not None for arg in (first.a, first.b)):
        spine.append(first.b)
        first = first.a
    text, strength = expr(page, first)
    parts = [text if strength >= own else f"({text})"]
    for arg in reversed(spine):
        right, strength = expr(page, arg)
        parts.append(right if strength > own else f"({right})")
    return f" {sign} ".join(parts), own


def _choice(page: Page, name: str, node: tir.Select | tir.IfThenElseExpr) -> str:
    args = (node.condition, node.true_value, node.false_value)
    return f"{name}({', '.join(_argument(page, arg) for arg in args)})"


def _let(page: Page, node: tir.Let) -> str:
    """The variable is declared on a line before."""
    value = _argument(page, node.value)
    if page.names.get(node.var) is None:
        page.undeclared.append(node.var)
    name = page.names.define(node.var, node.var.name)
    return f"T.Let({_argument(page, node.body)}, where={{{name}: {value}}})"


# ----------------------------------------------------------------------------------------------- accesses


def _load(page: Page, node: tir.BufferLoad) -> str:
    name = buffer_name(page, node.buffer)
    if id(node.buffer) in page.cells and node.predicate is None:
        return name
    if node.predicate is not None:
        with page.speaking("tir"):
            return f"{name}.vload([{listed(page, node.indices)}], predicate={expr_text(page, node.predicate)})"
    return f"{name}[{indices_text(page, node.indices, slices=not page.modern)}]"


def indices_text(page: Page, indices: Sequence[tir.Expr], *, slices: bool) -> str:
    """Indices of an access; `slices`: a ramp by 1 is written as one."""
    with page.speaking("tir"):
        if not indices:
            return "()"
        return ", ".join(_index(page, index, slices=slices) for index in indices)


def _index(page: Page, index: tir.Expr, *, slices: bool) -> str:
    match index:
        case tir.Ramp(base=base, stride=tir.IntImm(value=1), lanes=tir.IntImm(dtype=dtype) as lanes) if (
            slices and dtype == INT32 and lanes.value > 1 and not base.dtype.is_vector
        ):
            extent = tir.IntImm(base.dtype, lanes.value)
            return f"{expr_text(page, base)}:{end_text(page, base, extent)}"
    return expr_text(page, index)


def end_text(page: Page, start: tir.Expr, extent: tir.Expr) -> str:
    """Where a range ends, constants added up."""
    a, b = constant_of(start), constant_of(extent)
    if isinstance(a, int) and isinstance(b, int) and a + b <= start.dtype.maximum:
        return expr_text(page, tir.IntImm(start.dtype, a + b))
    if a == 0:
        return expr_text(page, extent)
    if b == 0:
        return expr_text(page, start)
    return expr_text(page, tir.Apply("add", (start, extent), start.dtype))


def range_text(page: Page, where: tir.Range) -> str:
    """A range in a region: an index where it has one element."""
    if isinstance(where.extent, tir.IntImm) and where.extent.value == 1:
        return expr_text(page, where.min)
    return f"{expr_text(page, where.min)}:{end_text(page, where.min, where.extent)}"


def region_text(page: Page, region: tir.BufferRegion) -> str:
    """A region of a buffer."""
    with page.speaking("tir"):
        inside = ", ".join(range_text(page, item) for item in region.region) or "()"
    return f"{_whole_buffer(page, region.buffer)}[{inside}]"
