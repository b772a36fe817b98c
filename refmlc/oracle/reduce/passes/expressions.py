"""Expressions replaced by simpler ones of the same dtype.

| expression            | becomes                                                        |
|-----------------------|----------------------------------------------------------------|
| any but a constant    | 0, 1                                                           |
| any                   | one of its operands                                            |
| an operator, a cast   | the operator on an operand's operand                           |
| a conversion of an operand of another dtype | the operand, converted                   |
| a use of a variable   | 0, 1                                                           |
| an integer constant   | 0, 1, half of it, one less, its opposite                       |
| a float constant      | 0, 1, 2, its integral part                                     |
| a lazy choice         | an eager one: no, either arm                                   |
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TypeGuard, get_args

from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.attrs import CommReducer, IndexMap
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import children, field_names, walk
from refmlc.oracle.reduce.passes.extents import extents
from refmlc.oracle.reduce.passes.literals import has_numbers, number
from refmlc.oracle.reduce.size import magnitude
from refmlc.oracle.reduce.subject import Edit, Subject, prim_funcs, spans_of

KINDS = get_args(tir.Expr)
DEFINERS = (tir.For, tir.IterVar, tir.Bind, tir.Let, tir.ThreadVar, CommReducer, IndexMap)


def is_expr(node: Node) -> TypeGuard[tir.Expr]:
    """Whether a node is an expression."""
    return isinstance(node, KINDS)


def constant_values(subject: Subject) -> Iterator[Edit]:
    """What stores write is a constant: for several stores at once."""
    for value in (0, 1):
        for name, function in prim_funcs(subject):
            stores = [
                node
                for node in walk(function.body)
                if isinstance(node, tir.BufferStore) and has_numbers(node.value.dtype) and not _is_constant(node.value)
            ]
            for piece in spans_of(len(stores)):
                changed: dict[Node, Node] = {
                    store: replace(store, value=number(store.value.dtype, value)) for store in stores[piece]
                }
                yield partial(subject.with_nodes, name, changed)


def simpler_expressions(subject: Subject) -> Iterator[Edit]:
    """One expression is replaced by a simpler one. Order: outer ones first.

    Extents are left to `extents`. A variable is one object wherever it is used, so each use is replaced in the node
    that has it.
    """
    for name, function in prim_funcs(subject):
        sizes = set(extents(function))
        for node in walk(function.body):
            if is_expr(node) and not isinstance(node, tir.Var) and node not in sizes:
                for simpler in simpler_than(node):
                    yield partial(subject.with_nodes, name, {node: simpler})
            for changed in _with_constants(node):
                yield partial(subject.with_nodes, name, {node: changed})


def _with_constants(node: Node) -> Iterator[Node]:
    """The node with 0 or 1 for one of the variables that it uses itself."""
    if isinstance(node, DEFINERS):
        return
    for field in field_names(node):
        operands = getattr(node, field)
        parts = operands if isinstance(operands, tuple) else (operands,)
        for place, part in enumerate(parts):
            if isinstance(part, tir.Var) and has_numbers(part.dtype):
                for value in (0, 1):
                    new = number(part.dtype, value)
                    whole = (*parts[:place], new, *parts[place + 1 :]) if isinstance(operands, tuple) else new
                    yield _with_field(node, field, whole)


def simpler_than(node: tir.Expr) -> Iterator[tir.Expr]:
    """Simpler expressions of the same dtype."""
    if isinstance(node, tir.StringImm | tir.BufferData):
        return
    if not _is_constant(node) and has_numbers(node.dtype):
        yield number(node.dtype, 0)
        yield number(node.dtype, 1)
    operands = [operand for operand in children(node) if is_expr(operand)]
    yield from (operand for operand in operands if operand.dtype == node.dtype)
    match node:
        case tir.IntImm(dtype, value):
            for other in dict.fromkeys((0, 1, value // 2, value - 1, -value)):
                if magnitude(other) < magnitude(value) and _holds(dtype, other):
                    yield tir.IntImm(dtype, other)
        case tir.FloatImm(dtype, value):
            for near in (0.0, 1.0, 2.0, _integral(value)):
                if magnitude(near) < magnitude(value):
                    yield number(dtype, near)
        case tir.Apply() | tir.Cast() | tir.BufferLoad() | tir.Call():
            yield from _shortened(node, operands)


def _shortened(node: tir.Apply | tir.Cast | tir.BufferLoad | tir.Call, operands: list[tir.Expr]) -> Iterator[tir.Expr]:
    """The expression with an operand replaced by an operand's operand, converted if dtypes differ."""
    if isinstance(node, tir.Cast):
        yield from (replace(node, value=part) for part in children(node.value) if is_expr(part) and _converts(part))
    elif isinstance(node, tir.Apply) and has_numbers(node.dtype):
        yield from (
            tir.Cast(node.dtype, operand) for operand in operands if operand.dtype != node.dtype and _converts(operand)
        )


def _converts(node: tir.Expr) -> bool:
    return has_numbers(node.dtype)


def _is_constant(node: Node) -> bool:
    match node:
        case tir.IntImm() | tir.FloatImm():
            return True
        case tir.Broadcast(value, _, _):
            return _is_constant(value)
        case _:
            return False


def _holds(dtype: DType, value: int) -> bool:
    return not dtype.is_integer or dtype.minimum <= value <= dtype.maximum


def _integral(value: float) -> float:
    """The integral part; 2 for what has none."""
    return float(int(value)) if abs(value) < 2**53 else 2.0


def _with_field(node: Node, field: str, value: object) -> Node:
    """The node with another value of a field."""
    make: Callable[..., Node] = type(node)
    return make(*(value if name == field else getattr(node, name) for name in field_names(node)))
