"""`fuse_tir`: the functions that `fuse_ops` made become TensorIR functions, one for each, and calls of them `call_tir`.

| in a function of Relax with `Primitive`      | in the TensorIR function                                |
|----------------------------------------------|---------------------------------------------------------|
| a parameter                                  | a parameter, a buffer of its shape                      |
| a call                                       | the statements of the callee, on these buffers          |
| the value of a call                          | a buffer that is allocated at the root                  |
| the value of the last call                   | the last parameter                                      |

The order of statements is that of the calls, and buffers hold what tensors held: the same bits. Functions that nothing
calls any more are dropped.

A function stays as it is where a callee's buffers are not plain (strides, offsets, scopes, views), where it takes more
than buffers, or where a dimension of a buffer is neither a constant nor a variable.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from refmlc.diag.entry import entry_point
from refmlc.lang.dtypes import HANDLE
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.types import TensorType, Type
from refmlc.lang.ir.visit import rewrite, substitute, walk
from refmlc.lang.te.prim_func import NOALIAS
from refmlc.lang.wellformed.infer import type_of
from refmlc.rewrite.schedule.places import TRUE, allocated, sequence, top
from refmlc.rewrite.transform.dead_code import dead_code_elimination

UNUSUAL = (tir.DeclBuffer, tir.Return, tir.BufferData)


@entry_point
def fuse_tir(module: IRModule) -> IRModule:
    """`module` with functions of TensorIR for `Primitive` ones; itself where it has none of them."""
    converted: dict[str, tir.PrimFunc] = {}
    types: dict[str, TensorType] = {}
    for name, func in module.functions.items():
        if isinstance(func, relax.Function) and func.attrs.get("Primitive"):
            prim_func = _fuse(func, module)
            if prim_func is not None and isinstance(func.ret_ty, TensorType):
                converted[name], types[name] = prim_func, func.ret_ty
    if not converted:
        return module
    functions = {
        name: converted.get(name) or (_with_calls(func, module, types) if isinstance(func, relax.Function) else func)
        for name, func in module.functions.items()
    }
    return dead_code_elimination(replace(module, functions=functions))


def _with_calls(func: relax.Function, module: IRModule, types: Mapping[str, TensorType]) -> relax.Function:
    """The function with `call_tir` for calls of what has become TensorIR."""
    types_known: dict[relax.Var, Type | None] = {}
    for binding in (binding for block in func.body.blocks for binding in block.bindings):
        cast = isinstance(binding, relax.MatchCast)
        types_known[binding.var] = (
            binding.var.ty if cast else type_of(binding.value, module, types_known) or binding.var.ty
        )

    def change(node: Node) -> Node:
        match node:
            case relax.Call(op=tir.GlobalVar(name), args=args) if name in types:
                result = _result(
                    module.functions[name], types[name], [type_of(arg, module, types_known) for arg in args]
                )
                op = relax.Op("call_tir", span=node.span)
                return relax.Call(op, (node.op, relax.Tuple(args)), {}, (result,), span=node.span)
            case _:
                return node

    return rewrite(func, change)


def _result(callee: Node, ty: TensorType, args: Sequence[Type | None]) -> TensorType:
    """The type of the result by the sizes of the arguments."""
    table: dict[Node, Node] = {}
    if isinstance(callee, relax.Function):
        for param, actual_type in zip(callee.params, args, strict=True):
            if (
                isinstance(param.ty, TensorType)
                and isinstance(actual_type, TensorType)
                and param.ty.shape
                and actual_type.shape
            ):
                pairs = zip(param.ty.shape, actual_type.shape, strict=True)
                table |= {size: actual for size, actual in pairs if isinstance(size, tir.Var)}
    return substitute(ty, table)


@dataclass
class _Draft:
    """The TensorIR function while it is made: what each variable of Relax is, and the names that are taken."""

    buffers: dict[relax.Expr, tir.Buffer] = field(default_factory=dict)
    statements: list[tir.Stmt] = field(default_factory=list)
    added: list[tir.Buffer] = field(default_factory=list)
    names: dict[str, int] = field(default_factory=dict)
    blocks: set[str] = field(default_factory=set)

    def fresh(self, name: str) -> str:
        """`name`, with a number where it is taken."""
        number = self.names.get(name, 0)
        self.names[name] = number + 1
        return f"{name}_{number}" if number else name


def _fuse(func: relax.Function, module: IRModule) -> tir.PrimFunc | None:
    """The function of TensorIR; None where it cannot be one."""
    draft = _Draft()
    for param in func.params:
        buffer = _buffer(param.ty, draft.fresh(param.name))
        if buffer is None:
            return None
        draft.buffers[param] = buffer
    inputs = list(draft.buffers.values())
    bindings = [binding for block in func.body.blocks for binding in block.bindings]
    for binding in bindings:
        if not _inline(binding, draft, module):
            return None
    output = draft.buffers.get(func.body.body)
    if output is None or output in inputs:
        return None
    draft.added.remove(output)
    params = [*inputs, output]
    handles = [tir.Var(f"{buffer.name}_handle", HANDLE) for buffer in params]
    body: tir.Stmt = sequence(draft.statements)
    if draft.added:
        root = tir.SBlock("root", (), None, None, body, None, tuple(draft.added))
        body = tir.SBlockRealize((), TRUE, root)
    return tir.PrimFunc(tuple(handles), dict(zip(handles, params, strict=True)), body, NOALIAS, None, func.private)


def _buffer(ty: object, name: str) -> tir.Buffer | None:
    if not isinstance(ty, TensorType) or ty.shape is None or ty.dtype is None:
        return None
    return tir.Buffer(name, ty.dtype, ty.shape)


def _inline(binding: relax.Binding, draft: _Draft, module: IRModule) -> bool:
    """Add the statements of a call; whether that was possible."""
    match binding.value:
        case relax.Call(
            op=relax.Op("call_tir"), args=(tir.GlobalVar(name), relax.Tuple(fields)), ty_args=(TensorType() as ty,)
        ):
            callee = module.functions.get(name)
        case _:
            return False
    if not isinstance(callee, tir.PrimFunc) or not _is_plain(callee) or len(callee.params) != len(fields) + 1:
        return False
    outer = [draft.buffers.get(arg) for arg in fields]
    formal = [callee.buffer_map[param] for param in callee.params]
    result = _buffer(ty, draft.fresh(f"{formal[-1].name}_intermediate"))
    if result is None or any(arg is None for arg in outer):
        return False
    table = _match(formal, [*(arg for arg in outer if arg is not None), result])
    if table is None:
        return False
    body = _copy(callee, table, draft)
    draft.buffers[binding.var] = result
    draft.added += [result, *body.alloc_buffers]
    draft.statements += body.body.seq if isinstance(body.body, tir.SeqStmt) else (body.body,)
    return True


def _is_plain(func: tir.PrimFunc) -> bool:
    """Whether a function takes nothing but compact buffers, and does nothing unusual with them."""
    if set(func.params) != set(func.buffer_map) or any(isinstance(node, UNUSUAL) for node in walk(func.body)):
        return False
    if any(isinstance(part, tir.AllocBuffer) for part in top(func)):
        return False
    return all(
        not buffer.strides
        and buffer.elem_offset is None
        and buffer.scope in ("global", "")
        and not buffer.axis_separators
        for buffer in func.buffer_map.values()
    )


def _match(formal: Sequence[tir.Buffer], actual: Sequence[tir.Buffer]) -> dict[Node, Node] | None:
    """What the callee's buffers and sizes are; None where they do not fit."""
    table: dict[Node, Node] = {}
    for inner, outer in zip(formal, actual, strict=True):
        if inner.dtype != outer.dtype or len(inner.shape) != len(outer.shape):
            return None
        for dim, size in zip(inner.shape, outer.shape, strict=True):
            replaced = table.get(dim, dim)
            if isinstance(dim, tir.Var) and dim not in table:
                if size.dtype != dim.dtype:
                    return None
                table[dim] = size
            elif not (replaced is size or (isinstance(replaced, tir.IntImm) and _is(size, replaced.value))):
                return None
        table[inner] = outer
    return table


def _is(size: tir.Expr, value: int) -> bool:
    return isinstance(size, tir.IntImm) and size.value == value


def _copy(callee: tir.PrimFunc, table: dict[Node, Node], draft: _Draft) -> tir.SBlock:
    """The body on other buffers, with variables and blocks of its own, as a block."""
    block = tir.SBlock("root", (), None, None, sequence(top(callee)), None, allocated(callee))
    params = {part for node in (*callee.params, *callee.buffer_map.values()) for part in walk(node)}
    replacements: dict[Node, Node] = {
        node: replace(node) for node in walk(block) if isinstance(node, tir.Var) and node not in params
    }
    replacements |= table
    for node in walk(block):
        if isinstance(node, tir.Buffer) and node not in table:
            replacements[node] = replace(substitute(node, replacements), name=draft.fresh(node.name))
    return rewrite(substitute(block, replacements), lambda node: _renamed(node, draft))


def _renamed(node: Node, draft: _Draft) -> Node:
    if not isinstance(node, tir.SBlock):
        return node
    name, number = node.name, 0
    while name in draft.blocks:
        number += 1
        name = f"{node.name}{number}"
    draft.blocks.add(name)
    return node if name == node.name else replace(node, name=name)
