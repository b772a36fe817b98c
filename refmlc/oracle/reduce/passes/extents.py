"""Extents made smaller, consistently: wherever one extent stands, in the module and in the recipes of arguments.

An extent is a constant in the shape of a buffer or a tensor, the count of a loop, the domain of an axis, a side of a
region; and the size of an argument, by which symbolic dimensions are known. One edit maps values to values:

| map              | example, to 2                                       | for                                       |
|------------------|-----------------------------------------------------|-------------------------------------------|
| greatest         | all above 2 become 2                                | everything at once                        |
| value            | 16 → 2                                              | one dimension, wherever it occurs         |
| multiples        | 16 → 2, 32 → 4, 48 → 6                              | dimensions that are split, fused, tiled   |
| every constant   | the same, in expressions as well                    | offsets and strides written out           |
| one place        | one loop, one axis, one side                        | what is left                              |
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from refmlc.lang.ir import relax, tir, types
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import children, substitute, walk
from refmlc.oracle.reduce.subject import Calls, Edit, Subject, prim_funcs
from refmlc.strategies.arguments import Argument, Array, ShapeOf, TupleOf

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
