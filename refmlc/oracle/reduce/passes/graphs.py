"""Relax: fewer bindings, simpler values.

| what                  | becomes                                                                     |
|-----------------------|-----------------------------------------------------------------------------|
| a function            | its bindings up to one, whose variable it returns                           |
| what it returns       | one field of the tuple                                                      |
| bindings              | nothing, several at once                                                    |
| a binding             | one of the operands of its value, wherever the variable is used             |
| `if`                  | the bindings of one branch                                                  |
| a dataflow block      | a block like others                                                         |
| `match_cast`          | a plain binding                                                             |
| the type of a variable | not written                                                                |
| a constant            | zeros                                                                       |
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from refmlc.lang.ir import relax
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import children, rewrite, walk
from refmlc.oracle.reduce.subject import Edit, Subject, graphs, spans_of

OPERANDS = 6  # of one binding that are tried


def end_early(subject: Subject) -> Iterator[Edit]:
    """A function returns one of its variables, or a field of what it returned, without the bindings after it."""
    for name, graph in graphs(subject):
        bound = [binding for block in graph.body.blocks for binding in block.bindings]
        for count, binding in enumerate(bound):
            if binding.var is not graph.body.body:
                yield partial(_ended, subject, name, graph, binding.var, count + 1)
        if isinstance(graph.body.body, relax.Tuple):
            for part in graph.body.body.fields:
                yield partial(_ended, subject, name, graph, part, len(bound))
        for param in graph.params:
            yield partial(_ended, subject, name, graph, param, 0)


def _ended(subject: Subject, name: str, graph: relax.Function, value: relax.Expr, count: int) -> Subject:
    """The first `count` bindings, then `value`, which dataflow does not hide any more."""
    blocks: list[relax.Block] = []
    for block in graph.body.blocks:
        blocks.append(replace(block, bindings=block.bindings[: max(count, 0)]))
        count -= len(block.bindings)
    body = replace(graph.body, blocks=tuple(blocks), body=value)
    ended = replace(graph, body=body, ret_ty=None)
    if isinstance(value, relax.Var) and value.dataflow:
        visible = replace(value, dataflow=False)
        return subject.with_function(name, ended).with_nodes(name, {value: visible})
    return subject.with_function(name, ended)


def drop_bindings(subject: Subject) -> Iterator[Edit]:
    """Some bindings are taken out, later ones first."""
    for name, graph in graphs(subject):
        bindings = [node for node in walk(graph) if isinstance(node, relax.VarBinding | relax.MatchCast)]
        for piece in spans_of(len(bindings)):
            yield partial(_without, subject, name, graph, bindings[piece], {})


def simpler_bindings(subject: Subject) -> Iterator[Edit]:
    """The variable of a binding is one of its operands; a branch takes the place of an `if`."""
    for name, graph in graphs(subject):
        for node in reversed(list(walk(graph))):
            match node:
                case relax.VarBinding(var, relax.If() as choice):
                    for branch in (choice.true_branch, choice.false_branch):
                        yield partial(_branched, subject, name, node, branch)
                case relax.VarBinding(var, value) | relax.MatchCast(var, value):
                    for operand in _operands(value)[:OPERANDS]:
                        yield partial(_without, subject, name, graph, [node], {var: operand})
                case _:
                    pass


def _operands(value: relax.Expr) -> list[Node]:
    """The variables and constants in a value, and the value itself where it is one."""
    kinds = (relax.Var, relax.Constant)
    operands: list[Node] = [value] if isinstance(value, kinds) else []
    for part in children(value):
        operands += (
            [part] if isinstance(part, kinds) else [child for child in children(part) if isinstance(child, kinds)]
        )
    return list(dict.fromkeys(operands))


def _without(
    subject: Subject, name: str, graph: relax.Function, targets: Sequence[Node], table: dict[Node, Node]
) -> Subject:
    dropped = set(targets)

    def change(node: Node) -> Node:
        match node:
            case relax.BindingBlock(bindings) | relax.DataflowBlock(bindings):
                remaining = tuple(binding for binding in bindings if binding not in dropped)
                return node if len(remaining) == len(bindings) else replace(node, bindings=remaining)
            case _:
                return node

    shortened = subject.with_function(name, rewrite(graph, change))
    return shortened.with_nodes(name, table) if table else shortened


def _branched(subject: Subject, name: str, binding: relax.VarBinding, branch: relax.SeqExpr) -> Subject:
    """The bindings of one branch stand where the `if` stood."""
    inner = tuple(inner_binding for block in branch.blocks for inner_binding in block.bindings)
    last = relax.VarBinding(binding.var, branch.body)
    graph = subject.module.functions[name]

    def change(node: Node) -> Node:
        match node:
            case relax.BindingBlock(bindings) if binding in bindings:
                place = bindings.index(binding)
                return replace(node, bindings=(*bindings[:place], *inner, last, *bindings[place + 1 :]))
            case _:
                return node

    return subject.with_function(name, rewrite(graph, change))


def plain_graphs(subject: Subject) -> Iterator[Edit]:
    """No dataflow, no casts, no written types, zeros for constants."""
    for name, graph in graphs(subject):
        yield partial(subject.with_function, name, rewrite(graph, _flowing))
        for node in walk(graph):
            match node:
                case relax.DataflowBlock():
                    yield partial(_visible, subject, name, node)
                case relax.MatchCast(var, value):
                    yield partial(subject.with_nodes, name, {node: relax.VarBinding(var, value)})
                case relax.VarBinding(relax.Var(_, ty) as var) if ty is not None:
                    yield partial(subject.with_nodes, name, {var: replace(var, ty=None)})
                case relax.Constant(data, dtype) if data.any():
                    yield partial(subject.with_nodes, name, {node: relax.Constant(np.zeros_like(data), dtype)})
                case _:
                    pass


def _flowing(node: Node) -> Node:
    match node:
        case relax.DataflowBlock(bindings):
            return relax.BindingBlock(bindings)
        case relax.Var(dataflow=True):
            return replace(node, dataflow=False)
        case _:
            return node


def _visible(subject: Subject, name: str, block: relax.DataflowBlock) -> Subject:
    table: dict[Node, Node] = {
        binding.var: replace(binding.var, dataflow=False) for binding in block.bindings if binding.var.dataflow
    }
    return subject.with_nodes(name, {block: relax.BindingBlock(block.bindings)}).with_nodes(name, table)
