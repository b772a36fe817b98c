"""Expressions replaced by simpler ones of the same dtype; extents made smaller.

Extents are changed consistently: wherever one extent stands, in the module and in the recipes of arguments.

An extent is a constant in the shape of a buffer or a tensor, the count of a loop, the domain of an axis, a side of a
region; and the size of an argument, by which symbolic dimensions are known. One edit maps values to values:

| map              | example, to 2                                       | for                                       |
|------------------|-----------------------------------------------------|-------------------------------------------|
| greatest         | all above 2 become 2                                | everything at once                        |
| value            | 16 → 2                                              | one dimension, wherever it occurs         |
| multiples        | 16 → 2, 32 → 4, 48 → 6                              | dimensions that are split, fused, tiled   |
| every constant   | the same, in expressions as well                    | offsets and strides written out           |
| one place        | one loop, one axis, one side                        | what is left                              |

Expressions:

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

from refmlc.lang.dtypes import INT32, DType
from refmlc.lang.dtypes.rounding import rounder
from refmlc.lang.ir import relax, tir, types
from refmlc.lang.ir.attrs import CommReducer, IndexMap
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import children, field_names, substitute, walk
from refmlc.oracle.reduce.size import magnitude
from refmlc.oracle.reduce.subject import Calls, Edit, Subject, prim_funcs, spans_of
from refmlc.strategies.arguments import Argument, Array, ShapeOf, TupleOf


def number(dtype: DType, value: int | float) -> tir.Expr:
    """The constant nearest to `value` of a scalar dtype; of a vector dtype repeated."""
    if dtype.is_vector:
        return tir.Broadcast(number(dtype.scalar, value), tir.IntImm(INT32, dtype.lanes), dtype)
    if dtype.is_float:
        return tir.FloatImm(dtype, rounder(dtype)(float(value)))
    if dtype.is_integer:
        return tir.IntImm(dtype, min(max(int(value), dtype.minimum), dtype.maximum))
    return tir.IntImm(dtype, int(bool(value)))


def has_numbers(dtype: DType) -> bool:
    """Whether there are constants of this dtype."""
    return (dtype.is_integer or dtype.is_float or dtype.kind == "bool") and not dtype.scalable


TARGETS = (1, 2, 3)
Map = Callable[[int], int]


def smaller_extents(subject: Subject) -> Iterator[Edit]:
    """One map of values to smaller ones, applied everywhere."""
    places = extents(subject.module)
    values = sorted({literal.value for literal in places} | set(sizes_of(subject.calls)), reverse=True)
    for target in TARGETS:
        yield partial(_mapped, subject, places, partial(_at_most, target))
    for value in values:
        for target in dict.fromkeys((*TARGETS, value // 2, value - 1)):
            if 0 < target < value:
                yield partial(_mapped, subject, places, partial(_multiples, value, target))
                yield partial(_mapped, subject, places, partial(_only, value, target))
                everything = [node for node in walk(subject.module) if _is_integer(node)]
                yield partial(_mapped, subject, everything, partial(_multiples, value, target))
                yield partial(_mapped, subject, [], partial(_only, value, target))


def smaller_places(subject: Subject) -> Iterator[Edit]:
    """One loop, axis or region has a smaller extent."""
    for name, function in prim_funcs(subject):
        for place in extents(function):
            for target in dict.fromkeys((*TARGETS, place.value // 2, place.value - 1)):
                if 0 < target < place.value:
                    yield partial(subject.with_nodes, name, {place: replace(place, value=target)})


def extents(root: Node) -> list[tir.IntImm]:
    """The constants that are extents. Order: as met."""
    literals: dict[tir.IntImm, None] = {}
    for node in walk(root):
        match node:
            case tir.Buffer(_, _, shape):
                candidates: tuple[Node, ...] = shape
            case tir.For(_, _, extent) | tir.Range(_, extent):
                candidates = (extent,)
            case types.TensorType() | types.ShapeType() | relax.ShapeExpr():
                candidates = tuple(children(node))
            case _:
                candidates = ()
        literals.update(dict.fromkeys(extent_expr for extent_expr in candidates if isinstance(extent_expr, tir.IntImm)))
    return list(literals)


def _is_integer(node: Node) -> bool:
    return isinstance(node, tir.IntImm) and node.dtype.is_integer


def _at_most(target: int, value: int) -> int:
    return min(value, target)


def _only(old: int, new: int, value: int) -> int:
    return new if value == old else value


def _multiples(old: int, new: int, value: int) -> int:
    return value // old * new if value and value % old == 0 else value


def _mapped(subject: Subject, places: list[Node] | list[tir.IntImm], change: Map) -> Subject:
    table: dict[Node, Node] = {}
    for node in places:
        if isinstance(node, tir.IntImm) and change(node.value) != node.value:
            table[node] = replace(node, value=change(node.value))
    calls = tuple(tuple(_sized(argument, change) for argument in call) for call in subject.calls)
    return replace(subject, module=substitute(subject.module, table), calls=calls)


def _sized(argument: Argument, change: Map) -> Argument:
    match argument:
        case Array():
            return replace(argument, shape=tuple(map(change, argument.shape)))
        case ShapeOf(values):
            return ShapeOf(tuple(map(change, values)))
        case TupleOf(items):
            return TupleOf(tuple(_sized(item, change) for item in items))
        case _:
            return argument


def sizes_of(calls: Calls) -> Iterator[int]:
    """The sizes of all arguments."""
    for call in calls:
        for argument in call:
            if isinstance(argument, Array):
                yield from argument.shape


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
                stores_replaced: dict[Node, Node] = {
                    store: replace(store, value=number(store.value.dtype, value)) for store in stores[piece]
                }
                yield partial(subject.with_nodes, name, stores_replaced)


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
            for simpler_node in _with_constants(node):
                yield partial(subject.with_nodes, name, {node: simpler_node})


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
                    new_field = (*parts[:place], new, *parts[place + 1 :]) if isinstance(operands, tuple) else new
                    yield _with_field(node, field, new_field)


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
