"""Reductions over the threads of a block as statements: `T.cuda.cta_reduce` (TIX-020).

| statement                                            | threads                                           |
|------------------------------------------------------|---------------------------------------------------|
| `own = T.cuda.warp_reduce(x, op, 32)`                | all                                               |
| `scratch[warp] = own`                                | the first of each warp                            |
| `T.cuda.cta_sync()`                                  | all                                               |
| `part = scratch[lane] if lane < n else identity`     | of the first warp                                 |
| `scratch[0] = T.cuda.warp_reduce(part, op, 32)`      | of the first warp; its first lane stores           |
| `T.cuda.cta_sync()`                                  | all                                               |
| `total = scratch[0]`, which is the value of the call | all                                               |

So lanes that do not come, races on the scratch memory and its bounds are found as they are in a text that says this.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import cast

from refmlc.diag import Span
from refmlc.lang.dtypes import INT32, VOID, DType, dtype
from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import children, rewrite, substitute, walk

NAME = "cuda.cta_reduce"
OPERANDS = 4
WARP = 32
COUNTS = (1, 2, 4, 8, 16, 32)
WIDE = 32
"""The least number of bits of a float of which the generated code has a greater and a less one."""
BOOL = dtype("bool")


@dataclass(frozen=True, slots=True)
class ThreadPlace:
    """The numbers of a thread: of its lane, and of its warp."""

    lane: tir.Expr
    warp: tir.Expr


@dataclass(frozen=True, slots=True)
class _Reduction:
    call: tir.Call
    value: tir.Expr
    op: str
    warps: int
    scratch: tir.Expr
    memory: tir.Buffer


def with_reductions(body: tir.Stmt, place: ThreadPlace) -> tir.Stmt:
    """The body of a thread with its reductions over the block as statements, where they are executed."""
    if not any(_is_reduction(node) for node in walk(body)):
        return body
    return rewrite(body, lambda node: _expanded(node, place))


def _is_reduction(node: Node) -> bool:
    return isinstance(node, tir.Call) and node.callee == NAME


def _expanded(node: Node, place: ThreadPlace) -> Node:
    if not isinstance(node, tir.BufferStore | tir.Bind | tir.Evaluate):
        return node
    before: list[tir.Stmt] = []
    table: dict[Node, Node] = {}
    for call in _unconditional(node):
        item = _reduction(substitute(call, table))
        if item is not None:
            total = tir.Var("total", call.dtype, span=call.span)
            before += _statements(item, total, place)
            table[call] = total
    return tir.SeqStmt((*before, substitute(cast("tir.Stmt", node), table)), span=node.span) if before else node


def _unconditional(node: Node) -> Iterator[tir.Call]:
    """The reductions that every execution of the statement evaluates, inner ones first."""
    match node:
        case tir.And(a=first) | tir.Or(a=first):
            parts: Sequence[Node] = (first,)
        case tir.IfThenElseExpr(condition=condition):
            parts = (condition,)
        case tir.Let(value=value):
            parts = (value,)
        case tir.Buffer():
            parts = ()
        case _:
            parts = tuple(children(node))
    for part in parts:
        yield from _unconditional(part)
    if isinstance(node, tir.Call) and _is_reduction(node):
        yield node


def _reduction(call: tir.Call) -> _Reduction | None:
    """What a call reduces; None where that is not executed."""
    value, op, count, scratch = call.args if len(call.args) == OPERANDS else (None,) * OPERANDS
    if not isinstance(value, tir.Expr) or not isinstance(scratch, tir.Expr):
        return None
    text = op.value if isinstance(op, tir.StringImm) else str(op)
    warps = count.value if isinstance(count, tir.IntImm) else count
    memory = next((part.buffer for part in walk(scratch) if isinstance(part, tir.BufferLoad | tir.BufferData)), None)
    if memory is None or not memory.scope.startswith("shared") or not isinstance(warps, int) or warps not in COUNTS:
        return None
    return _Reduction(call, value, text, warps, scratch, memory) if _is_executed(text, call.dtype) else None


def _is_executed(op: str, element: DType) -> bool:
    """Decision: the identity of `max` and `min` is an infinity, which an integer does not have."""
    if element.is_vector or not (element.is_integer or element.is_float):
        return False
    return op == "sum" or (op in ("max", "min") and element.is_float and element.bits >= WIDE)


def _identity(item: _Reduction) -> tir.Expr:
    element, span = item.call.dtype, item.call.span
    if element.is_integer:
        return tir.IntImm(element, 0, span=span)
    return tir.FloatImm(element, {"sum": 0.0, "max": -inf, "min": inf}[item.op], span=span)


def _statements(item: _Reduction, total: tir.Var, place: ThreadPlace) -> list[tir.Stmt]:
    element, span = item.call.dtype, item.call.span
    memory = tir.Buffer(item.memory.name, element, (_number(item.warps),), scope=item.memory.scope, span=span)
    own, part, whole = (tir.Var(name, element, span=span) for name in ("own", "part", "whole"))
    partial: tir.Expr = tir.BufferLoad(memory, (place.lane,), span=span)
    if item.warps < WARP:
        within = _compare("lt", place.lane, item.warps, span)
        partial = tir.IfThenElseExpr(within, partial, _identity(item), span=span)
    first_lane = _compare("eq", place.lane, 0, span)

    def store(value: tir.Expr, index: tir.Expr) -> tir.Stmt:
        return tir.IfThenElse(first_lane, tir.BufferStore(memory, value, (index,), span=span), None, span=span)

    folded: Callable[[tir.Expr], tir.Expr] = lambda value: tir.Call(  # noqa: E731 - an abbreviation
        "cuda.warp_reduce", (value, tir.StringImm(item.op), _number(WARP)), element, span=span
    )
    of_warps = [
        tir.Bind(part, partial, span=span),
        tir.Bind(whole, folded(part), span=span),
        store(whole, _number(0)),
    ]
    return [
        tir.DeclBuffer(memory, item.scratch, span=span),
        tir.Bind(own, folded(item.value), span=span),
        store(own, place.warp),
        _barrier(span),
        tir.IfThenElse(_compare("eq", place.warp, 0, span), tir.SeqStmt(tuple(of_warps), span=span), None, span=span),
        _barrier(span),
        tir.Bind(total, tir.BufferLoad(memory, (_number(0),), span=span), span=span),
    ]


def _barrier(span: Span | None) -> tir.Stmt:
    return tir.Evaluate(tir.Call("cuda.cta_sync", (), VOID, span=span), span=span)


def _compare(op: str, value: tir.Expr, number: int, span: Span | None) -> tir.Expr:
    return tir.Apply(op, (value, _number(number)), BOOL, span=span)


def _number(value: int) -> tir.IntImm:
    return tir.IntImm(INT32, value)
