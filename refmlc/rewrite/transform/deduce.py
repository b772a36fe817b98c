"""What TVM's own reading deduces and writes down: regions of blocks, types of functions. The meaning stays the same.

| left out in the text                     | is                                               |
|------------------------------------------|--------------------------------------------------|
| `T.reads`, `T.writes` of a block         | the boxes of its loads and stores (`te.regions`) |
| … a buffer that a block with init writes | is not among its reads                           |
| the return type of a Relax function      | the type of its body, where it follows           |

Left as it is: a block that holds loops, blocks, variables of its own or opaque accesses.
"""

from collections.abc import Mapping
from dataclasses import replace

from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.types import Type
from refmlc.lang.ir.visit import rewrite, walk
from refmlc.lang.te.regions import Accesses, boxes, loads
from refmlc.lang.wellformed.infer import type_of

_OPAQUE = (tir.For, tir.While, tir.SBlockRealize, tir.Let, tir.Bind, tir.BufferData, tir.AllocBuffer, tir.DeclBuffer)


def deduced(module: IRModule) -> IRModule:
    """`module` with regions and return types that its text leaves out."""
    functions = {
        name: func if isinstance(func, relax.ExternFunc) else deduced_function(func, module)
        for name, func in module.functions.items()
    }
    return replace(module, functions=functions)


def deduced_function(
    func: tir.PrimFunc | relax.Function, module: IRModule | None = None
) -> tir.PrimFunc | relax.Function:
    """The same for one function."""
    if isinstance(func, tir.PrimFunc):
        return replace(func, body=rewrite(func.body, _regions))
    if func.ret_ty is not None:
        return func
    return replace(func, ret_ty=_return_type(func, module or IRModule({})))


def _regions(node: Node) -> Node:
    if not isinstance(node, tir.SBlock) or not node.iter_vars or (node.reads is not None and node.writes is not None):
        return node
    parts = (node.body,) if node.init is None else (node.init, node.body)
    nodes = [descendant for part in parts for descendant in walk(part)]
    if any(isinstance(descendant, _OPAQUE) for descendant in nodes) or node.match_buffers or node.alloc_buffers:
        return node
    stored: Accesses = {}
    for descendant in nodes:
        if isinstance(descendant, tir.BufferStore):
            stored.setdefault(descendant.buffer, []).append(descendant.indices)
    accumulated = stored if node.init is not None else {}
    loaded = {buffer: indices for buffer, indices in loads(parts).items() if buffer not in accumulated}
    reads = boxes(loaded) if node.reads is None else node.reads
    writes = boxes(stored) if node.writes is None else node.writes
    return replace(node, reads=reads, writes=writes)


def _return_type(func: relax.Function, module: IRModule) -> Type | None:
    """The type of the body, its bindings in order. Nothing is said where control flow or casts are in between."""
    types: dict[relax.Var, Type | None] = {}
    for block in func.body.blocks:
        for binding in block.bindings:
            types[binding.var] = _bound_type(binding, module, types)
    return type_of(func.body.body, module, types)


def _bound_type(binding: relax.Binding, module: IRModule, types: Mapping[relax.Var, Type | None]) -> Type | None:
    if isinstance(binding, relax.MatchCast):
        return binding.ty
    return type_of(binding.value, module, types) or binding.var.ty
