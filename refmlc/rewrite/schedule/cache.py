"""`cache_read` and `cache_write`: a new buffer between a block and memory.

`cache_read` copies all of a buffer at the begin of the function, as TVM's does; the block then reads the copy.
Legal where the function never writes the buffer: a parameter, all of which the caller has written, or the copy would
read what is not initialised. The copy is of the same dtype, so that the same bits are read.

`cache_write` lets the block write a new buffer, and copies that back after it. Legal where the block writes every
element of the buffer, each at its own axes, reading none that it has not written: its reductions have an init. A block
of blocks does so by tiles (`whole`). Nothing else in the same statement at the root touches the buffer.
"""

from collections.abc import Mapping
from typing import ClassVar

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.entry import entry_point, entry_points
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.lang.ir.visit import substitute, walk
from refmlc.rewrite.schedule.accesses import problem
from refmlc.rewrite.schedule.draws import Choices, Draw, Drawn, blocks, on_block
from refmlc.rewrite.schedule.handles import BlockRV
from refmlc.rewrite.schedule.loops import serial_loop
from refmlc.rewrite.schedule.notes import output_buffer
from refmlc.rewrite.schedule.places import (
    TRUE,
    fresh_name,
    get_block,
    integer,
    place_of_block,
    position,
    refused,
    top,
    with_top,
)
from refmlc.rewrite.schedule.session import Session
from refmlc.rewrite.schedule.whole import covers_sizes, tile_output


@entry_point
def cache_read(func: tir.PrimFunc, block: str, buffer: tir.Buffer, scope: str = "global") -> tir.PrimFunc:
    """The block reads a copy of `buffer`, made before. Fails: RM112, RM504."""
    realize = get_block(func, block)
    if not any(isinstance(node, tir.BufferLoad) and node.buffer is buffer for node in walk(realize)):
        raise fail(BAD_USAGE, f"`{block}` does not read `{buffer.name}`", realize.span)
    obstacle = problem(func, realize)
    if obstacle is not None:
        raise refused("cache_read", obstacle, realize.span)
    if buffer not in func.buffer_map.values() or buffer in _stored_buffers(func):
        raise refused("cache_read", f"`{buffer.name}` is not a parameter that is only read", realize.span)
    copy = _like(func, buffer, scope)
    statements, at = top(func), position(func, realize)
    changed = substitute(statements[at], {realize: _with(func, realize, buffer, copy)})
    nest = _copying(func, buffer, copy, f"{buffer.name}_{scope}")
    return with_top(func, [nest, *statements[:at], changed, *statements[at + 1 :]], added=(copy,))


@entry_point
def cache_write(func: tir.PrimFunc, block: str, scope: str = "global") -> tir.PrimFunc:
    """The block writes a buffer of its own, which is copied after. Fails: RM112, RM504."""
    realize = get_block(func, block)
    obstacle = problem(func, realize)
    if obstacle is not None:
        raise refused("cache_write", obstacle, realize.span)
    buffer, sizes = tile_output(realize, "cache_write")
    statements, at = top(func), position(func, realize)
    covers_sizes(func, realize, sizes, "cache_write")
    accesses_in_block = [node for node in walk(realize) if _touches(node, buffer)]
    if len(accesses_in_block) != len([node for node in walk(statements[at]) if _touches(node, buffer)]):
        raise refused("cache_write", f"something else around `{block}` touches `{buffer.name}`", realize.span)
    copy = _like(func, buffer, scope)
    changed = substitute(statements[at], {realize: _with(func, realize, buffer, copy)})
    nest = _copying(func, copy, buffer, f"{buffer.name}_{scope}")
    return with_top(func, [*statements[:at], changed, nest, *statements[at + 1 :]], added=(copy,))


def _touches(node: object, buffer: tir.Buffer) -> bool:
    return isinstance(node, tir.BufferLoad | tir.BufferStore) and node.buffer is buffer


def _stored_buffers(func: tir.PrimFunc) -> set[tir.Buffer]:
    return {node.buffer for node in walk(func) if isinstance(node, tir.BufferStore)}


def _like(func: tir.PrimFunc, buffer: tir.Buffer, scope: str) -> tir.Buffer:
    """A compact buffer of the same shape and dtype, of the name that TVM prints."""
    name = f"{buffer.name}_{scope.replace('.', '_')}"
    return tir.Buffer(fresh_name(func, name), buffer.dtype, buffer.shape, scope=scope)


def _with(func: tir.PrimFunc, realize: tir.SBlockRealize, old: tir.Buffer, new: tir.Buffer) -> tir.SBlockRealize:
    """The block with one buffer for another, its accesses and regions with it. Fails: RM504."""
    for stmt in place_of_block(func, realize.block.name).around:
        declares = isinstance(stmt, tir.SBlockRealize) and (stmt.block.reads, stmt.block.writes) != (None, None)
        if declares and stmt is not func.body:
            raise refused("cache", f"a block around `{realize.block.name}` declares what it touches", realize.span)
    return substitute(realize, {old: new})


def _copying(func: tir.PrimFunc, source: tir.Buffer, target: tir.Buffer, name: str) -> tir.Stmt:
    """`target[…] = source[…]` for every element, in a block that is called as TVM calls it."""
    loops = [tir.Var(f"ax{number}", size.dtype) for number, size in enumerate(source.shape)]
    axes = [tir.Var(f"v{number}", size.dtype) for number, size in enumerate(source.shape)]
    kinds = [
        tir.IterVar(var, tir.Range(integer(0, var.dtype), size), IterKind.SPATIAL)
        for var, size in zip(axes, source.shape, strict=True)
    ]
    store = tir.BufferStore(target, tir.BufferLoad(source, tuple(axes)), tuple(axes))
    block = tir.SBlock(fresh_name(func, name), tuple(kinds), None, None, store)
    body: tir.Stmt = tir.SBlockRealize(tuple(loops), TRUE, block)
    for var, size in zip(reversed(loops), reversed(source.shape), strict=True):
        body = serial_loop(var, size, body)
    return body


def _read_buffers(block: tir.SBlock) -> list[tir.Buffer]:
    """What a block reads, in the order of its declaration, or of its text, where what an init starts is no input."""
    if block.reads is not None:
        return list(dict.fromkeys(region.buffer for region in block.reads))
    nodes = [*walk(block)]
    stored = {node.buffer for node in nodes if isinstance(node, tir.BufferStore)} if block.init is not None else set()
    return list(
        dict.fromkeys(node.buffer for node in nodes if isinstance(node, tir.BufferLoad) and node.buffer not in stored)
    )


def _draw_read(func: tir.PrimFunc, choices: Choices) -> Drawn:
    block, buffer = choices.pick(blocks(func)), choices.pick([*func.buffer_map.values()])
    return f"cache_read {block}, {buffer.name}", cache_read(func, block, buffer)


@entry_points
class CacheSteps(Session):
    """The methods that put a buffer between a block and memory."""

    draws: ClassVar[Mapping[str, Draw]] = {
        "cache_write": on_block("cache_write", cache_write),
        "cache_read": _draw_read,
    }

    def cache_read(self, block: BlockRV | str, read_buffer_index: int, storage_scope: str = "global") -> BlockRV:
        """Let the block read a copy; the block that copies."""
        target = self._block_handle(block)
        node = get_block(self._function(target.func), target.name).block
        buffers = _read_buffers(node)
        if not 0 <= read_buffer_index < len(buffers):
            message = f"`{target.name}` reads {len(buffers)} buffers; there is none of index {read_buffer_index}"
            raise fail(BAD_USAGE, message)
        args = (target, read_buffer_index, storage_scope)
        buffer = buffers[read_buffer_index]
        return self._add_block(
            "cache_read", args, target, lambda func: cache_read(func, target.name, buffer, storage_scope)
        )

    def cache_write(self, block: BlockRV | str, write_buffer_index: int, storage_scope: str = "global") -> BlockRV:
        """Let the block write a copy; the block that copies back."""
        target = self._block_handle(block)
        output_buffer(self._function(target.func), target.name, write_buffer_index)
        args = (target, write_buffer_index, storage_scope)
        return self._add_block("cache_write", args, target, lambda func: cache_write(func, target.name, storage_scope))
