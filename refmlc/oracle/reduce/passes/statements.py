"""Statements dropped, several at once, or replaced by what is inside; blocks and loops made plain; axes taken out.

| statement   | replaced by                                                                                  |
|-------------|----------------------------------------------------------------------------------------------|
| any         | nothing                                                                                      |
| a loop      | its body at its start                                                                        |
| a branch    | either case                                                                                  |
| a block     | its body, with the values of its axes; under its predicate where it has one; after its init  |
| an attribute, a `while` | its body                                                                         |
| a binding   | its value, wherever the variable is used                                                     |
| a store, an assertion, a condition | its value, for its effects                                            |

Blocks and loops, all of a kind at once, then one by one:

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

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind, IterKind
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import rewrite, substitute, walk
from refmlc.oracle.reduce.passes.expressions import number
from refmlc.oracle.reduce.subject import Edit, Subject, prim_funcs, spans_of
from refmlc.oracle.reduce.tidy import NOTHING, TRUE, is_nothing

KINDS = (
    *(tir.Bind, tir.AssertStmt, tir.For, tir.While, tir.BufferStore, tir.AllocBuffer, tir.DeclBuffer, tir.AttrStmt),
    *(tir.IfThenElse, tir.Evaluate, tir.Break, tir.Continue, tir.Return, tir.SBlockRealize),
)


def drop_statements(subject: Subject) -> Iterator[Edit]:
    """Some statements become nothing: neighbours in the order of the text, fewer and fewer of them."""
    statements = [
        (name, node)
        for name, function in prim_funcs(subject)
        for node in walk(function.body)
        if isinstance(node, KINDS) and not is_nothing(node) and not _is_root(node)
    ]
    for piece in spans_of(len(statements)):
        yield partial(_dropped, subject, statements[piece])


def _is_root(stmt: Node) -> bool:
    """Whether the statement is the block that the printer leaves out."""
    return isinstance(stmt, tir.SBlockRealize) and stmt.block.name == "root"


def _dropped(subject: Subject, statements: Sequence[tuple[str, Node]]) -> Subject:
    for name in dict.fromkeys(name for name, _ in statements):
        table: dict[Node, Node] = {node: NOTHING for owner, node in statements if owner == name}
        subject = subject.with_nodes(name, table)
    return subject


def unwrap_statements(subject: Subject) -> Iterator[Edit]:
    """One statement is replaced by what is inside it."""
    for name, function in prim_funcs(subject):
        for node in walk(function.body):
            for inside in insides(node):
                yield partial(subject.with_nodes, name, {node: inside})
            if isinstance(node, tir.Bind):
                yield partial(_inlined, subject, name, node)


def insides(node: Node) -> Iterator[tir.Stmt]:
    """The replacements of a statement, the simplest first."""
    match node:
        case tir.BufferStore(_, value) | tir.Bind(_, value):
            yield tir.Evaluate(value)
        case tir.AssertStmt(condition):
            yield tir.Evaluate(condition)
        case tir.For(loop_var, start, _, _, body):
            yield substitute(body, {loop_var: start})
            yield substitute(body, {loop_var: number(loop_var.dtype, 0)})
        case tir.AttrStmt(_, _, _, body):
            yield body
        case tir.While(condition, body):
            yield body
            yield tir.Evaluate(condition)
        case tir.IfThenElse(condition, then_case, else_case):
            yield tir.Evaluate(condition)
            yield then_case
            if else_case is not None:
                yield else_case
        case tir.SBlockRealize(values, predicate, block):
            yield from _opened(values, predicate, block)


def _opened(values: tuple[tir.Expr, ...], predicate: tir.Expr, block: tir.SBlock) -> Iterator[tir.Stmt]:
    """The body of a block without the block."""
    table: dict[Node, Node] = {axis.var: value for axis, value in zip(block.iter_vars, values, strict=True)}
    allocated: tuple[tir.Stmt, ...] = tuple(tir.AllocBuffer(buffer) for buffer in block.alloc_buffers)
    body = substitute(tir.SeqStmt((*allocated, block.body)), table)
    yield body
    if block.init is not None:
        yield tir.SeqStmt((substitute(block.init, table), body))
    if not (isinstance(predicate, tir.IntImm) and predicate.value == TRUE.value):
        yield tir.IfThenElse(predicate, body)


def _inlined(subject: Subject, name: str, bind: tir.Bind) -> Subject:
    return subject.with_nodes(name, {bind.var: bind.value, bind: NOTHING})


Change = Callable[[Node], Node]


def plain_nests(subject: Subject) -> Iterator[Edit]:
    """Each kind of simplification everywhere, then in one place."""
    for change in CHANGES:
        yield partial(_everywhere, subject, change)
    for change in CHANGES:
        for name, function in prim_funcs(subject):
            for node in walk(function.body):
                plainer = change(node)
                if plainer is not node:
                    yield partial(subject.with_nodes, name, {node: plainer})


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
