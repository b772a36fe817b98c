"""`compute_inline`: the elements that a block computes, computed where they are read; the buffer is no more.

Legal where

* the block is the only one that writes the buffer, which is allocated at the root, by one store at its own axes, all of
  them spatial and each used once: `B[v0, v1] = value(v0, v1)`, the value reading nothing but through these axes;
* no buffer that the value reads is written from the block's statement at the root on;
* every reader reads single elements, later than the block.

Then an element that is read was written (else the program was undefined), once or with the same value again, and no
memory that the value depends on has changed since: computing it at the reader gives the same bits.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from refmlc.diag.entry import entry_point, entry_points
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import rewrite, substitute, walk
from refmlc.rewrite.schedule.accesses import problem
from refmlc.rewrite.schedule.draws import Draw, on_block
from refmlc.rewrite.schedule.handles import BlockRV
from refmlc.rewrite.schedule.places import allocated, get_block, position, refused, top, with_top
from refmlc.rewrite.schedule.session import Session

STEP = "compute_inline"


@entry_point
def compute_inline(func: tir.PrimFunc, block: str) -> tir.PrimFunc:
    """The function without the block, its value standing where it was read. Fails: RM112, RM504."""
    realize = get_block(func, block)
    store, axes = _store(func, realize)
    buffer = store.buffer
    at, statements = position(func, realize), top(func)
    obstacle = problem(func, statements[at])
    if obstacle is not None:
        raise refused(STEP, obstacle, realize.span)
    _check_single_store(func, statements[at], realize, buffer)
    _check_unchanged(statements[at:], store)
    _check_readers(statements[:at], buffer)
    inlined = [_inlined(part, buffer, axes, store.value) for part in statements[at + 1 :]]
    remaining = [*statements[:at], *inlined]
    if not remaining or all(isinstance(part, tir.AllocBuffer) for part in remaining):
        raise refused(STEP, "nothing would be left of the function", realize.span)
    return with_top(func, remaining, dropped=(buffer,))


def _store(func: tir.PrimFunc, realize: tir.SBlockRealize) -> tuple[tir.BufferStore, tuple[tir.Var, ...]]:
    """The store of a block that does nothing else, and the axes that it is indexed by."""
    block, store = realize.block, realize.block.body
    if not isinstance(store, tir.BufferStore) or block.init or block.match_buffers or block.alloc_buffers:
        raise refused(STEP, f"`{block.name}` does more than one store", realize.span)
    variables = [axis.var for axis in block.iter_vars]
    axes = tuple(index for index in store.indices if isinstance(index, tir.Var))
    is_injective = len(axes) == len(store.indices) == len(set(axes)) and set(axes) == set(variables)
    if (
        not is_injective
        or any(axis.kind is not IterKind.SPATIAL for axis in block.iter_vars)
        or store.predicate is not None
    ):
        raise refused(STEP, f"`{block.name}` does not store at its own spatial axes", realize.span)
    if store.buffer not in allocated(func):
        raise refused(STEP, f"`{store.buffer.name}` is not allocated at the root", realize.span)
    bound_outside = {*axes, *func.params, *(dim for buffer in func.buffer_map.values() for dim in buffer.shape)}
    free_vars = [part for part in walk(store.value) if isinstance(part, tir.Var) and part not in bound_outside]
    bound_inside = {part.var for part in walk(store.value) if isinstance(part, tir.Let)}
    if any(var not in bound_inside for var in free_vars) or store.value.dtype != store.buffer.dtype:
        raise refused(STEP, f"the value of `{block.name}` depends on more than its axes", realize.span)
    return store, axes


def _check_single_store(func: tir.PrimFunc, nest: tir.Stmt, realize: tir.SBlockRealize, buffer: tir.Buffer) -> None:
    """The block is all that its statement at the root does, and nothing else writes the buffer."""
    stores = [node for node in walk(nest) if isinstance(node, tir.BufferStore)]
    same_buffer = [node for node in walk(func) if isinstance(node, tir.BufferStore) and node.buffer is buffer]
    if len(stores) != 1 or len(same_buffer) != 1:
        raise refused(STEP, f"`{realize.block.name}` is not alone in writing `{buffer.name}`", realize.span)


def _check_unchanged(statements: tuple[tir.Stmt, ...], store: tir.BufferStore) -> None:
    """What the value reads is not written any more."""
    loaded = {node.buffer for node in walk(store.value) if isinstance(node, tir.BufferLoad)}
    stored = {node.buffer for part in statements for node in walk(part) if isinstance(node, tir.BufferStore)}
    if loaded & stored:
        names = ", ".join(sorted(f"`{buffer.name}`" for buffer in loaded & stored))
        raise refused(STEP, f"{names} is written later, or by the block itself", store.span)


def _check_readers(statements: tuple[tir.Stmt, ...], buffer: tir.Buffer) -> None:
    """Nothing reads the buffer before it is written."""
    for part in statements:
        if any(isinstance(node, tir.BufferLoad) and node.buffer is buffer for node in walk(part)):
            raise refused(STEP, f"`{buffer.name}` is read before the block", part.span)


def _inlined(stmt: tir.Stmt, buffer: tir.Buffer, axes: tuple[tir.Var, ...], value: tir.Expr) -> tir.Stmt:
    """The statement with each element of the buffer computed; regions that blocks declare are left to be deduced."""

    def change(node: Node) -> Node:
        match node:
            case tir.BufferLoad(loaded, indices, predicate) if loaded is buffer:
                if predicate is not None or any(index.dtype.is_vector for index in indices):
                    raise refused(STEP, f"`{buffer.name}` is read by lanes", node.span)
                return _copy(value, dict(zip(axes, indices, strict=True)))
            case tir.SBlock() if _declares(node, buffer):
                return replace(node, reads=None, writes=None)
            case _:
                return node

    return rewrite(stmt, change)


def _declares(block: tir.SBlock, buffer: tir.Buffer) -> bool:
    return any(region.buffer is buffer for region in block.reads or ())


def _copy(value: tir.Expr, table: Mapping[tir.Var, tir.Expr]) -> tir.Expr:
    """The value at other indices; variables that it binds itself are new ones in each copy."""
    replacements: dict[Node, Node] = {var: _converted(index, var) for var, index in table.items()}
    replacements |= {
        part.var: tir.Var(part.var.name, part.var.dtype) for part in walk(value) if isinstance(part, tir.Let)
    }
    return substitute(value, replacements)


def _converted(index: tir.Expr, var: tir.Var) -> tir.Expr:
    """An index as the axis has it: an index may be of another width."""
    return index if index.dtype == var.dtype else tir.Cast(var.dtype, index)


@entry_points
class InlineSteps(Session):
    """The method that computes a block where it is read."""

    draws: ClassVar[Mapping[str, Draw]] = {"compute_inline": on_block("compute_inline", compute_inline)}

    def compute_inline(self, block: BlockRV | str) -> None:
        """Put what a block computes in the place of what reads it."""
        self._change(compute_inline, self._block_handle(block))
