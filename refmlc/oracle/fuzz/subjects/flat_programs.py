"""Prim_funcs without blocks, from those with blocks: what TVM's pipeline of TIRx takes.

| of a block            | there is in its place                                                    |
|-----------------------|--------------------------------------------------------------------------|
| buffers that it has   | allocations                                                              |
| axes                  | variables with the values that they are bound to                         |
| the predicate         | a condition, if it is not true                                           |
| the init              | a condition: every axis that is reduced is at its begin                  |
| reads, writes         | nothing                                                                  |
| views of its buffers  | nothing: there is no program without blocks                              |

The functions are those of TIRx, without `s_tir`: TVM's passes for TIRx find no buffer of another rank than 1 in others.
It is a program of its own, with a meaning of its own: nothing says that it is the same.
"""

from dataclasses import replace

from refmlc.lang.dtypes import BOOL
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.lang.ir.module import AnyFunction
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import rewrite, walk
from refmlc.rewrite.schedule.places import sequence


def has_blocks(module: IRModule) -> bool:
    """Whether a function of a module has a block."""
    return any(isinstance(node, tir.SBlockRealize) for function in module.functions.values() for node in walk(function))


def without_blocks(module: IRModule) -> IRModule | None:
    """The module of prim_funcs with statements in the place of blocks; None: a block has views."""
    nodes = [node for function in module.functions.values() for node in walk(function)]
    if any(isinstance(node, tir.SBlock) and node.match_buffers for node in nodes):
        return None
    functions = {name: _of_tirx(rewrite(function, _flattened)) for name, function in module.functions.items()}
    return replace(module, functions=functions, source=None)


def _of_tirx(function: AnyFunction) -> AnyFunction:
    """The function as one of TIRx, which schedules do not take."""
    return replace(function, s_tir=False) if isinstance(function, tir.PrimFunc) else function


def _flattened(node: Node) -> Node:
    if not isinstance(node, tir.SBlockRealize):
        return node
    block = node.block
    parts: list[tir.Stmt] = [tir.AllocBuffer(buffer) for buffer in block.alloc_buffers]
    parts += [tir.Bind(axis.var, value) for axis, value in zip(block.iter_vars, node.iter_values, strict=True)]
    if block.init is not None:
        begins: list[tir.Expr] = [
            tir.Apply("eq", (axis.var, axis.dom.min), BOOL) for axis in block.iter_vars if axis.kind is IterKind.REDUCE
        ]
        parts.append(_within(begins, block.init))
    body = sequence([*parts, block.body])
    holds = isinstance(node.predicate, tir.IntImm) and bool(node.predicate.value)
    return body if holds else tir.IfThenElse(node.predicate, body, None)


def _within(conditions: list[tir.Expr], body: tir.Stmt) -> tir.Stmt:
    """The statement under all conditions."""
    for condition in reversed(conditions):
        body = tir.IfThenElse(condition, body, None)
    return body
