"""Tile primitives: `T.tile.copy(A[0:4], B)`, by all threads of a scope together `T.warp.copy(A[0:4], B)`.

| text                                            | meaning                                                     |
|-------------------------------------------------|-------------------------------------------------------------|
| `T.tile.`, `Tx.`                                | a thread alone                                              |
| `T.warp.` `T.wg.` `T.cta.` `T.cluster.`, `Tx.…` | a warp, a warpgroup, a block, a cluster                     |
| `workspace={"smem": A}`, `dispatch="tma"`       | buffers to work with, the variant to choose                 |
| any other keyword                               | an entry of `config`                                        |

The operands are those of `refmlc.lang.ops.tile_operators`; what a text leaves out is the default.
"""

import ast
from collections.abc import Sequence
from dataclasses import replace

from refmlc.diag import Diagnostic, Span, error, fail
from refmlc.diag.catalogue import NOT_TVMSCRIPT, UNSUPPORTED_CONSTRUCT
from refmlc.lang.dtypes import FLOAT32, INT32
from refmlc.lang.ir import tir
from refmlc.lang.ir.tirx import LambdaExpr, TilePrimitiveCall
from refmlc.lang.ops import promote
from refmlc.lang.ops.tile_operators import DEMANDED, SCALED_GEMM_ASYNC, TILE_OPERATORS, TileOperand
from refmlc.lang.script.reader.arguments import REQUIRED, CallSite
from refmlc.lang.script.reader.attributes import attr_of
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.suggestion import suggestion
from refmlc.lang.script.reader.table import CallHandler
from refmlc.lang.script.reader.tir_operands import expr_of, region_of, tuple_of
from refmlc.lang.script.reader.tir_values import Done, Region
from refmlc.lang.script.reader.values import Lambda, Meta

NAMESPACES = {"thread": "tile", "warp": "warp", "warpgroup": "wg", "cta": "cta", "cluster": "cluster"}
"""The namespace in which a text calls the tile primitives of a scope."""

PREFIX = "tirx.tile."


def _tile(scope: str) -> CallHandler:
    def handler(ev: Evaluator, site: CallSite) -> Meta:
        op = site.name.rpartition(".")[2]
        if op == "compose_op":
            message = f"`{site.spelled}` is not supported: write the primitives that it is composed of"
            raise fail(UNSUPPORTED_CONSTRUCT, message, site.span)
        if op not in TILE_OPERATORS or site.name.count(".") != 2:
            message = f"`{site.spelled}` is not a tile primitive that refmlc knows"
            helps = suggestion(op, set(TILE_OPERATORS), f"{site.spelled.rpartition('.')[0]}.")
            raise error(Diagnostic(NOT_TVMSCRIPT, message, site.span, helps=helps))
        return Done(_call(ev, op, scope, site))

    return handler


def _call(ev: Evaluator, op: str, scope: str, site: CallSite) -> TilePrimitiveCall:
    operands = _operands(op, site)
    names = {operand.name for operand in operands}
    own = {key: value for key, value in site.kwargs.items() if key in names}
    rest = {key: value for key, value in site.kwargs.items() if key not in names}
    workspace, dispatch = rest.pop("workspace", None) or {}, rest.pop("dispatch", None)
    if not isinstance(workspace, dict) or not all(
        isinstance(key, str) and isinstance(item, tir.Buffer) for key, item in workspace.items()
    ):
        raise site.wrong("workspace", workspace, "a dictionary of buffers by name")
    if not (dispatch is None or isinstance(dispatch, str)):
        raise site.wrong("dispatch", dispatch, "a string")
    inner = replace(site, kwargs=own)
    defaults = {item.name: REQUIRED if item.default is DEMANDED else item.default for item in operands}
    values = inner.take(**defaults)
    args = tuple(_operand(ev, item, values[item.name], site) for item in operands)
    if len(args) > 1 and args[1] is None and operands[1].kind == "region":
        args = (args[0], args[0], *args[2:])  # in place
    spaces = {str(key): item for key, item in workspace.items() if isinstance(item, tir.Buffer)}
    config = {key: _config(value, site.span) for key, value in rest.items()}
    return TilePrimitiveCall(op, args, spaces, config, dispatch, scope, span=site.span)


def _operands(op: str, site: CallSite) -> Sequence[TileOperand]:
    """The operands of a call; `gemm_async` has two forms."""
    if op == "gemm_async":
        fourth = site.kwargs.get("SFA", site.args[3] if len(site.args) > 3 else None)
        if isinstance(fourth, (tir.Buffer, Region, tir.BufferRegion)):
            return SCALED_GEMM_ASYNC
    return TILE_OPERATORS[op]


def _operand(ev: Evaluator, operand: TileOperand, value: Meta, site: CallSite) -> tir.Attr:
    span = site.span
    if value is None and operand.default is None:
        return None
    match operand.kind, value:
        case "region", _:
            return region_of(value, span)
        case "axes", _:
            return tuple(attr_of(item, span) for item in tuple_of(value))
        case "operator", str():
            if value.removeprefix(PREFIX) in TILE_OPERATORS:
                return value.removeprefix(PREFIX)
        case "lambda", Lambda():
            return _lambda(ev, value, site)
        case "flag", bool() | tir.IntImm():
            return value
        case "value", tir.Buffer() | Region() | tir.BufferRegion():
            return region_of(value, span)
        case "value" | "number" | "flag", _:
            return tir.FloatImm(FLOAT32, promote_float(value)) if isinstance(value, float) else _number(value, span)
    raise site.wrong(operand.name, value, _WANTED[operand.kind])


_WANTED = {"operator": "the name of a tile primitive", "lambda": "a lambda"}


def promote_float(value: float) -> float:
    """A float as float32 has it."""
    constant = promote.constant(value, FLOAT32, None)
    return constant.value if isinstance(constant, tir.FloatImm) else value


def _number(value: Meta, span: Span) -> tir.Attr:
    """A plain integer stays one, as in TVM."""
    return value if isinstance(value, int) else expr_of(value, span)


def _lambda(ev: Evaluator, value: Lambda, site: CallSite) -> LambdaExpr:
    if value.variadic is not None:
        raise site.misfit("takes a lambda of named parameters")
    params = tuple(tir.Var(name, INT32, span=site.span) for name in value.params)
    return LambdaExpr(params, expr_of(ev.apply(value, params, site.span), site.span), span=site.span)


def _config(value: Meta, span: Span) -> tir.Attr:
    return region_of(value, span) if isinstance(value, Region) else attr_of(value, span)


def _lazily(ev: Evaluator, node: ast.Call) -> Meta:
    """A call whose operands may leave out indices at the end: `A[i]` of three dimensions is `A[i, :, :]`."""
    construct = ev.construct_of(node.func)
    if construct is None:
        raise AssertionError
    args = [_whole(ev, arg) for arg in node.args]
    keywords = [ast.copy_location(ast.keyword(word.arg, _whole(ev, word.value)), word) for word in node.keywords]
    site = ev.site(ast.copy_location(ast.Call(node.func, args, keywords), node), construct)
    return _HANDLERS[construct.path.rpartition(".")[0]](ev, site)


def _whole(ev: Evaluator, node: ast.expr) -> ast.expr:
    """An operand with a slice for each dimension that it leaves out."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return node
    buffer = ev.scope.lookup(node.value.id)
    indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if not isinstance(buffer, tir.Buffer) or not 0 < len(indices) < len(buffer.shape):
        return node
    rest = [ast.copy_location(ast.Slice(), node.slice) for _ in buffer.shape[len(indices) :]]
    parts = ast.copy_location(ast.Tuple([*indices, *rest], ast.Load()), node.slice)
    return ast.copy_location(ast.Subscript(node.value, parts, node.ctx), node)


def _op(_ev: Evaluator, site: CallSite) -> Meta:
    """`I.Op("tirx.tile.add")`: the name of an operator."""
    name = site.take(name=REQUIRED)["name"]
    if not isinstance(name, str):
        raise site.wrong("name", name, "a string")
    return name


CALLS: dict[str, CallHandler] = {"I.Op": _op}
_HANDLERS: dict[str, CallHandler] = {f"T.{space}": _tile(scope) for scope, space in NAMESPACES.items()}
PREFIXES: dict[str, CallHandler] = {f"{space}.": handler for space, handler in _HANDLERS.items()}
LAZY = {f"{space}.{op}": _lazily for space in _HANDLERS for op in TILE_OPERATORS}
