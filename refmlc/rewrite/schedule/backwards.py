"""`reverse_compute_inline`: a consumer computed where its producer computes what it reads; the buffer is no more.

Before `P[i] = f(i)`, then `X[i] = g(P[i])`, after: `X[i] = g(f(i))`.

Legal where

* the producer is the only block that writes the buffer, by one store at its own spatial axes, and the consumer the only
  one that reads it, always at its own axes, all of them, which are those that it stores at;
* the consumer is a statement of its own at the root, covers what it writes, and reduces nothing;
* nothing between the two touches what the consumer writes, or writes what it reads.

Each element of the consumer is then computed once for each time that its operand is: by the same values.
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
from refmlc.rewrite.schedule.places import (
    allocated,
    body_without,
    get_block,
    place_of_block,
    places,
    position,
    refused,
    top,
    touches,
    with_stmt,
    with_top,
)
from refmlc.rewrite.schedule.session import Session
from refmlc.rewrite.schedule.whole import covers, is_true, output, place_at_root

STEP = "reverse_compute_inline"


@entry_point
def reverse_compute_inline(func: tir.PrimFunc, block: str) -> tir.PrimFunc:
    """The function without the block, its value standing where its operand was stored. Fails: RM112, RM504."""
    realize = get_block(func, block)
    at = place_at_root(func, realize, STEP)
    written = _consumer(func, realize, at)
    producer, store = _producer(func, realize)
    before = position(func, producer)
    if before >= at:
        raise refused(STEP, f"`{producer.block.name}` is executed after `{block}`", realize.span)
    _check_between(top(func)[before:at], realize, written, store.buffer)
    value = _value(realize, store)
    table = dict(zip(_read_at(realize, store.buffer), store.indices, strict=True))
    consumed = realize.block.body
    if not isinstance(consumed, tir.BufferStore):
        raise refused(STEP, f"`{block}` does more than one store", realize.span)
    indices = tuple(table[index] for index in consumed.indices if isinstance(index, tir.Var))
    store_of_value = tir.BufferStore(written, value, indices, span=consumed.span)
    fused_block = replace(producer.block, body=store_of_value, reads=None, writes=None)
    shortened = with_top(func, [*top(func)[:at], *top(func)[at + 1 :]])
    changed = with_stmt(shortened, producer, replace(producer, block=fused_block))
    return with_top(changed, top(changed), dropped=(store.buffer,))


def _consumer(func: tir.PrimFunc, realize: tir.SBlockRealize, at: int) -> tir.Buffer:
    """What the consumer writes."""
    block = realize.block
    obstacle = problem(func, top(func)[at])
    if obstacle is not None:
        raise refused(STEP, obstacle, realize.span)
    reduces = any(axis.kind is not IterKind.SPATIAL for axis in block.iter_vars)
    if block.init is not None or block.match_buffers or reduces or not is_true(realize.predicate):
        raise refused(STEP, f"`{block.name}` reduces, or has views or a condition", realize.span)
    written = output(realize, STEP)
    covers(func, realize, written, STEP)
    if any(isinstance(node, tir.Let) for node in walk(block)):
        raise refused(STEP, f"`{block.name}` binds variables", realize.span)
    return written


def _producer(func: tir.PrimFunc, realize: tir.SBlockRealize) -> tuple[tir.SBlockRealize, tir.BufferStore]:
    """The one block that writes what the consumer reads, and its one store."""
    loaded = {node.buffer for node in walk(realize.block) if isinstance(node, tir.BufferLoad)}
    stores = [
        (place.stmt, place.stmt.block.body)
        for place in places(func.body)
        if isinstance(place.stmt, tir.SBlockRealize) and isinstance(place.stmt.block.body, tir.BufferStore)
    ]
    makers = [(stmt, store) for stmt, store in stores if store.buffer in loaded and store.buffer in allocated(func)]
    if len(makers) != 1:
        raise refused(STEP, f"not one block, but {len(makers)} make what is read", realize.span)
    ((producer, store),) = makers
    block, buffer = producer.block, store.buffer
    axes = {axis.var for axis in block.iter_vars if axis.kind is IterKind.SPATIAL}
    if block.init or block.match_buffers or block.alloc_buffers or len(axes) != len(block.iter_vars) or store.predicate:
        raise refused(STEP, f"`{block.name}` does more than one store", producer.span)
    if set(store.indices) != axes or len(store.indices) != len(axes):
        raise refused(STEP, f"`{block.name}` does not store at its own spatial axes", producer.span)
    if touches(body_without(func, producer, realize), buffer) or len(_loads(block.body, buffer)) > 0:
        raise refused(STEP, f"`{buffer.name}` is used elsewhere too", producer.span)
    around = place_of_block(func, block.name).around
    if any(isinstance(stmt, tir.SBlockRealize) and stmt is not func.body for stmt in around):
        raise refused(STEP, f"a block is around `{block.name}`", producer.span)
    return producer, store


def _read_at(realize: tir.SBlockRealize, buffer: tir.Buffer) -> tuple[tir.Var, ...]:
    """The axes at which the consumer reads, which must be all of its axes."""
    loads = _loads(realize, buffer)
    first = loads[0].indices
    axes = {axis.var for axis in realize.block.iter_vars}
    if any(tuple(load.indices) != tuple(first) for load in loads) or set(first) != axes or len(first) != len(axes):
        raise refused(STEP, f"`{buffer.name}` is not read at the axes of `{realize.block.name}`", realize.span)
    return tuple(index for index in first if isinstance(index, tir.Var))


def _loads(stmt: tir.Stmt, buffer: tir.Buffer) -> list[tir.BufferLoad]:
    return [node for node in walk(stmt) if isinstance(node, tir.BufferLoad) and node.buffer is buffer]


def _value(realize: tir.SBlockRealize, store: tir.BufferStore) -> tir.Expr:
    """What the consumer stores, of what the producer stores."""
    axes = _read_at(realize, store.buffer)
    body = realize.block.body
    if not isinstance(body, tir.BufferStore) or store.value.dtype != store.buffer.dtype:
        raise refused(STEP, f"`{realize.block.name}` does more than one store", realize.span)
    if any(a.dtype != b.dtype for a, b in zip(axes, store.indices, strict=True)):
        raise refused(STEP, "the axes are of different dtypes", realize.span)
    loads = _loads(body, store.buffer)
    if len(loads) > 1 and any(isinstance(node, tir.Let) for node in walk(store.value)):
        raise refused(STEP, "variables of the producer would be bound twice", realize.span)

    def change(node: Node) -> Node:
        return store.value if isinstance(node, tir.BufferLoad) and node.buffer is store.buffer else node

    table: dict[Node, Node] = dict(zip(axes, store.indices, strict=True))
    return substitute(rewrite(body.value, change), table)


def _check_between(
    statements: tuple[tir.Stmt, ...], realize: tir.SBlockRealize, written: tir.Buffer, buffer: tir.Buffer
) -> None:
    """Nothing before the consumer touches what it writes, or writes what it reads."""
    loaded = {node.buffer for node in walk(realize) if isinstance(node, tir.BufferLoad)} - {buffer}
    for part in statements:
        for node in walk(part):
            if not isinstance(node, tir.BufferLoad | tir.BufferStore):
                continue
            if node.buffer is written or (isinstance(node, tir.BufferStore) and node.buffer in loaded):
                message = f"`{node.buffer.name}` is used between the two"
                raise refused(STEP, message, realize.span)


@entry_points
class ReverseInlineSteps(Session):
    """The method that inlines a consumer into its producer."""

    draws: ClassVar[Mapping[str, Draw]] = {
        "reverse_compute_inline": on_block("reverse_compute_inline", reverse_compute_inline)
    }

    def reverse_compute_inline(self, block: BlockRV | str) -> None:
        """Put what a block computes in the place of what it reads."""
        self._change(reverse_compute_inline, self._block_handle(block))
