"""Statements dropped, several at once; a statement replaced by what is inside it.

| statement   | replaced by                                                                                  |
|-------------|----------------------------------------------------------------------------------------------|
| any         | nothing                                                                                      |
| a loop      | its body at its start                                                                        |
| a branch    | either case                                                                                  |
| a block     | its body, with the values of its axes; under its predicate where it has one; after its init  |
| an attribute, a `while` | its body                                                                         |
| a binding   | its value, wherever the variable is used                                                     |
| a store, an assertion, a condition | its value, for its effects                                            |
"""

from collections.abc import Iterator, Sequence
from functools import partial

from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import substitute, walk
from refmlc.oracle.reduce.passes.literals import number
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
