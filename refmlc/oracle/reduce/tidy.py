"""Tidy up after an edit, so that edits stay simple.

| left behind                                         | becomes                     |
|-----------------------------------------------------|-----------------------------|
| a sequence in a sequence                            | one sequence                |
| `T.evaluate(0)` in a sequence                       | nothing                     |
| a loop, a branch, a block, an attribute of nothing  | nothing                     |
| a cast to the dtype that a value has                | the value                   |
| a field of a tuple that is written out              | the field                   |
| an allocation that nothing uses                     | nothing                     |
| bindings of Relax next to each other, no dataflow   | one block                   |
"""

from collections import Counter
from dataclasses import replace
from typing import TypeVar

from refmlc.lang.dtypes import BOOL, INT32
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import children, rewrite, walk

F = TypeVar("F", tir.PrimFunc, relax.Function)

NOTHING = tir.Evaluate(tir.IntImm(INT32, 0))
TRUE = tir.IntImm(BOOL, 1)


def is_nothing(stmt: object) -> bool:
    """Whether a statement is `T.evaluate` of a constant."""
    return stmt is None or (isinstance(stmt, tir.Evaluate) and isinstance(stmt.value, tir.IntImm))


def tidied(module: IRModule) -> IRModule:
    """The module without what edits leave behind; the same object where nothing is left."""
    swept = rewrite(module, _swept)
    functions = {
        name: _without_unused(function) if isinstance(function, tir.PrimFunc) else function
        for name, function in swept.functions.items()
    }
    if all(functions[name] is function for name, function in module.functions.items()) and len(functions) == len(
        module.functions
    ):
        return module
    return replace(swept, functions=functions)


def _swept(node: Node) -> Node:
    match node:
        case tir.SeqStmt():
            return _sequence(node)
        case tir.For(body=body) | tir.AttrStmt(body=body) if is_nothing(body):
            return NOTHING
        case tir.IfThenElse(_, then_case, else_case) if is_nothing(else_case) and else_case is not None:
            return _swept(replace(node, else_case=None))
        case tir.IfThenElse(_, then_case, None) if is_nothing(then_case):
            return NOTHING
        case tir.SBlock(init=init) if init is not None and is_nothing(init):
            return replace(node, init=None)
        case tir.SBlockRealize(block=block) if is_nothing(block.body) and block.init is None:
            return NOTHING
        case tir.Cast(dtype, value) if value.dtype == dtype:
            return value
        case relax.TupleGetItem(relax.Tuple(fields), index) if index < len(fields):
            return fields[index]
        case relax.SeqExpr(blocks, _):
            return _joined(node, blocks)
        case _:
            return node


def _sequence(node: tir.SeqStmt) -> tir.Stmt:
    statements: list[tir.Stmt] = []
    for part in node.seq:
        statements += part.seq if isinstance(part, tir.SeqStmt) else (() if is_nothing(part) else (part,))
    if not statements:
        return NOTHING
    if len(statements) == 1 and not isinstance(statements[0], tir.Bind | tir.AllocBuffer | tir.DeclBuffer):
        return statements[0]
    return node if len(statements) == len(node.seq) else replace(node, seq=tuple(statements))


def _joined(node: relax.SeqExpr, blocks: tuple[relax.Block, ...]) -> relax.SeqExpr:
    """Blocks with something in them; neighbours without dataflow are one."""
    blocks_joined: list[relax.Block] = []
    for block in blocks:
        if not block.bindings:
            continue
        before = blocks_joined[-1] if blocks_joined else None
        if isinstance(before, relax.BindingBlock) and isinstance(block, relax.BindingBlock):
            blocks_joined[-1] = replace(before, bindings=(*before.bindings, *block.bindings))
        else:
            blocks_joined.append(block)
    return node if len(blocks_joined) == len(blocks) else replace(node, blocks=tuple(blocks_joined))


def _without_unused(function: tir.PrimFunc) -> tir.PrimFunc:
    """The function without allocations and declarations that nothing refers to."""
    uses: Counter[tir.Buffer] = Counter()
    for node in walk(function):
        if not isinstance(node, tir.AllocBuffer | tir.DeclBuffer | tir.SBlock):
            uses.update(part for part in children(node) if isinstance(part, tir.Buffer))

    def change(node: Node) -> Node:
        match node:
            case tir.AllocBuffer(buffer) | tir.DeclBuffer(buffer, _) if not uses[buffer]:
                return NOTHING
            case tir.SBlock() if any(not uses[buffer] for buffer in node.alloc_buffers):
                return replace(
                    node, alloc_buffers=tuple(allocated for allocated in node.alloc_buffers if uses[allocated])
                )
            case tir.SeqStmt():
                return _sequence(node)
            case _:
                return node

    return rewrite(function, change)
