"""Blocks and loops made plain, and axes taken out.

All of a kind at once, then one by one:

| part                           | becomes                                |
|--------------------------------|----------------------------------------|
| kind of a loop, thread, step   | serial                                 |
| start of a loop                | 0                                      |
| annotations                    | none                                   |
| declared reads and writes      | not declared                           |
| predicate                      | True                                   |
| init                           | none                                   |
| an axis                        | the value that it is bound to          |
| kind of an axis                | spatial                                |
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind, IterKind
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import rewrite, substitute, walk
from refmlc.oracle.reduce.passes.literals import number
from refmlc.oracle.reduce.subject import Edit, Subject, prim_funcs
from refmlc.oracle.reduce.tidy import TRUE

Change = Callable[[Node], Node]


def plain_nests(subject: Subject) -> Iterator[Edit]:
    """Each kind of simplification everywhere, then in one place."""
    for change in CHANGES:
        yield partial(_everywhere, subject, change)
    for change in CHANGES:
        for name, function in prim_funcs(subject):
            for node in walk(function.body):
                changed = change(node)
                if changed is not node:
                    yield partial(subject.with_nodes, name, {node: changed})


def _everywhere(subject: Subject, change: Change) -> Subject:
    for name, function in prim_funcs(subject):
        subject = subject.with_function(name, rewrite(function, change))
    return subject


def drop_axes(subject: Subject) -> Iterator[Edit]:
    """A block without one of its axes: the binding replaces the variable."""
    for name, function in prim_funcs(subject):
        for node in walk(function.body):
            if isinstance(node, tir.SBlockRealize):
                for place in reversed(range(len(node.iter_values))):
                    yield partial(_without_axis, subject, name, node, place)


def _without_axis(subject: Subject, name: str, node: tir.SBlockRealize, place: int) -> Subject:
    values = (*node.iter_values[:place], *node.iter_values[place + 1 :])
    axes = (*node.block.iter_vars[:place], *node.block.iter_vars[place + 1 :])
    block = substitute(replace(node.block, iter_vars=axes), {node.block.iter_vars[place].var: node.iter_values[place]})
    return subject.with_nodes(name, {node: replace(node, iter_values=values, block=block)})


def _serial(node: Node) -> Node:
    if isinstance(node, tir.For) and (node.kind is not ForKind.SERIAL or node.thread or node.step or node.annotations):
        return replace(node, kind=ForKind.SERIAL, thread=None, step=None, annotations={})
    return node


def _from_zero(node: Node) -> Node:
    if isinstance(node, tir.For) and not (isinstance(node.min, tir.IntImm) and node.min.value == 0):
        return replace(node, min=number(node.min.dtype, 0))
    return node


def _without_annotations(node: Node) -> Node:
    if isinstance(node, tir.SBlock | tir.For | tir.AllocBuffer) and node.annotations:
        return replace(node, annotations={})
    return node


def _undeclared(node: Node) -> Node:
    if isinstance(node, tir.SBlock) and (node.reads is not None or node.writes is not None):
        return replace(node, reads=None, writes=None)
    return node


def _always(node: Node) -> Node:
    if isinstance(node, tir.SBlockRealize) and not isinstance(node.predicate, tir.IntImm):
        return replace(node, predicate=TRUE)
    return node


def _without_init(node: Node) -> Node:
    return replace(node, init=None) if isinstance(node, tir.SBlock) and node.init is not None else node


def _spatial(node: Node) -> Node:
    if isinstance(node, tir.IterVar) and node.kind is not IterKind.SPATIAL:
        return replace(node, kind=IterKind.SPATIAL)
    return node


CHANGES: tuple[Change, ...] = (
    _serial,
    _from_zero,
    _without_annotations,
    _undeclared,
    _always,
    _without_init,
    _spatial,
)
