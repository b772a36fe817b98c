"""Filters of threads (TIX-021): `if T.filter(lane, p):` is `if p:`, where `lane` is a scope id.

TVM takes a filter out of the condition of an `if`, of a conjunction in it and of another filter, and nowhere else.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import TypeGuard

from refmlc.lang.dtypes import dtype
from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import rewrite, walk

OPERANDS = 2
BOOL = dtype("bool")


def without_filters(body: tir.Stmt, ids: Collection[tir.Var]) -> tir.Stmt:
    """The body of a thread with the predicates in place of its filters."""
    if not any(isinstance(node, tir.Call) and node.callee == "filter" for node in walk(body)):
        return body
    return rewrite(body, lambda node: _plain(node, ids))


def _plain(node: Node, ids: Collection[tir.Var]) -> Node:
    return replace(node, condition=_predicate(node.condition, ids)) if isinstance(node, tir.IfThenElse) else node


def _predicate(condition: tir.Expr, ids: Collection[tir.Var]) -> tir.Expr:
    match condition:
        case tir.And(a=first, b=second):
            return replace(condition, a=_predicate(first, ids), b=_predicate(second, ids))
        case tir.Apply(op="bitwise_and", args=(first, second)):
            return replace(condition, args=(_predicate(first, ids), _predicate(second, ids)))
        case tir.Call() if _is_filter(condition, ids):
            value = condition.args[1]
            assert isinstance(value, tir.Expr)  # noqa: S101 - `_is_filter`
            return _predicate(_as_bool(value), ids)
        case _:
            return condition


def _is_filter(call: tir.Call, ids: Collection[tir.Var]) -> TypeGuard[tir.Call]:
    if call.callee != "filter" or len(call.args) != OPERANDS:
        return False
    var, predicate = call.args
    return isinstance(predicate, tir.Expr) and any(var is known for known in ids)


def _as_bool(value: tir.Expr) -> tir.Expr:
    if value.dtype == BOOL:
        return value
    zero = tir.IntImm(value.dtype, 0, span=value.span)
    return tir.Apply("ne", (value, zero), BOOL, span=value.span)
