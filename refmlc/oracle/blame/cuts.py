"""Prefixes of a program as programs that return the values computed so far.

| function | is cut                        | and returns                                                |
|----------|-------------------------------|------------------------------------------------------------|
| Relax    | after a binding of its body   | the tuple of the variables that were bound, the named ones |
| TensorIR | after a statement of its root | what the root allocates, as further parameters             |

Decision: a buffer that becomes a parameter is in global memory; its scope may have meant another one, so functions
whose roots allocate elsewhere are not cut.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from refmlc.lang.dtypes import HANDLE
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.scopes import is_global
from refmlc.lang.ir.visit import substitute, walk


@dataclass(frozen=True)
class Root:
    """The root of a TensorIR function: its statements, and the buffers that it allocates for them."""

    statements: tuple[tir.Stmt, ...]
    buffers: tuple[tir.Buffer, ...]


def bindings(func: relax.Function) -> list[relax.Binding]:
    """The bindings of the body, in order; those of branches and local functions are inside of theirs."""
    return [binding for block in func.body.blocks for binding in block.bindings]


def cut_graph(module: IRModule, name: str, count: int, names: Sequence[str]) -> IRModule:
    """`module`, its Relax function `name` ending after `count` bindings with the tuple of the variables `names`."""
    func = module.functions[name]
    if not isinstance(func, relax.Function):
        raise TypeError(name)
    left = count
    blocks: list[relax.Block] = []
    for block in func.body.blocks:
        kept = block.bindings[: max(left, 0)]
        left -= len(block.bindings)
        if kept:
            blocks.append(relax.BindingBlock(kept, span=block.span))
    hidden = {binding.var: replace(binding.var, dataflow=False) for block in blocks for binding in block.bindings}
    shown = [binding.var for block in blocks for binding in block.bindings if binding.var.name in names]
    body = relax.SeqExpr(tuple(blocks), relax.Tuple(tuple(shown)), span=func.body.span)
    visible = substitute(body, {old: new for old, new in hidden.items() if old.dataflow})
    return replace(module, functions={**module.functions, name: replace(func, body=visible, ret_ty=None)})


def root_of(func: tir.PrimFunc) -> Root | None:
    """The root of a function that can be cut: at least two statements, and only global memory."""
    body = func.body
    buffers: tuple[tir.Buffer, ...] = ()
    if isinstance(body, tir.SBlockRealize) and not body.block.iter_vars and body.block.init is None:
        buffers, body = body.block.alloc_buffers, body.block.body
    if not isinstance(body, tir.SeqStmt):
        return None
    buffers = (*buffers, *(part.buffer for part in body.seq if isinstance(part, tir.AllocBuffer)))
    statements = tuple(part for part in body.seq if not isinstance(part, tir.AllocBuffer))
    plain = all(isinstance(part, (tir.For, tir.SBlockRealize)) for part in statements)
    plain = plain and all(is_global(buffer.scope) for buffer in buffers)
    return Root(statements, buffers) if plain and len(statements) > 1 else None


def cut_prim_func(module: IRModule, name: str, count: int) -> IRModule:
    """`module`, its TensorIR function `name` ending after `count` statements; root buffers are its last parameters."""
    func = module.functions[name]
    root = root_of(func) if isinstance(func, tir.PrimFunc) else None
    if not isinstance(func, tir.PrimFunc) or root is None:
        raise TypeError(name)
    kept = root.statements[:count]
    used = {node for part in kept for node in walk(part) if isinstance(node, tir.Buffer)}
    extra = {tir.Var(f"{buffer.name}_root", HANDLE): buffer for buffer in root.buffers if buffer in used}
    body = kept[0] if len(kept) == 1 else tir.SeqStmt(kept)
    cut = replace(
        func,
        params=(*func.params, *extra),
        buffer_map={**func.buffer_map, **extra},
        body=body,
    )
    return replace(module, functions={**module.functions, name: cut})


def names_in(statement: tir.Stmt) -> tuple[str, ...]:
    """The blocks of a statement, outermost first."""
    return tuple(node.name for node in walk(statement) if isinstance(node, tir.SBlock))
