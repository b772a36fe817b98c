"""Buffers: gone with all that touches them, of a lower rank, with the usual layout.

| edit   | loads              | stores  | regions                     |
|--------|--------------------|---------|-----------------------------|
| gone   | 0, or 1            | nothing | taken out                   |
| rank   | an index less      | the same | a side less                |
| layout | as they are        |         |                             |

A view (`match_buffer`, `decl_buffer`) of a buffer that goes, goes with it. A view of a region by `match_buffer` may
also become the buffer that it is a view of, with the start of the region added to the indices.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import rewrite, substitute, walk
from refmlc.oracle.reduce.passes.expressions import has_numbers, number
from refmlc.oracle.reduce.subject import Edit, Subject, prim_funcs
from refmlc.oracle.reduce.tidy import NOTHING
from refmlc.strategies.arguments import Argument, Array


def buffers_of(function: tir.PrimFunc) -> list[tir.Buffer]:
    """The buffers of a function. Order: of their first mention."""
    return [node for node in walk(function) if isinstance(node, tir.Buffer)]


def drop_buffers(subject: Subject) -> Iterator[Edit]:
    """A buffer is not touched any more; what was loaded from it is a constant."""
    for name, function in prim_funcs(subject):
        for buffer in reversed(buffers_of(function)):
            if has_numbers(buffer.dtype):
                for value in (0, 1):
                    yield partial(_untouched, subject, name, function, buffer, value)


def _untouched(subject: Subject, name: str, function: tir.PrimFunc, buffer: tir.Buffer, value: int) -> Subject:
    return subject.with_function(name, untouched(function, buffer, value))


def untouched(function: tir.PrimFunc, buffer: tir.Buffer, value: int) -> tir.PrimFunc:
    """The function without accesses to `buffer`; loads from it are `value`."""

    def change(node: Node) -> Node:
        match node:
            case tir.BufferLoad(accessed, _) if accessed is buffer:
                return number(node.dtype, value)
            case tir.BufferStore(accessed, _, _) | tir.AllocBuffer(accessed) | tir.DeclBuffer(accessed, _) if (
                accessed is buffer
            ):
                return NOTHING
            case tir.SBlock():
                return _without(node, buffer)
            case _:
                return node

    return rewrite(function, change)


def _without(block: tir.SBlock, buffer: tir.Buffer) -> tir.SBlock:
    reads, writes = (
        None if regions is None else tuple(part for part in regions if part.buffer is not buffer)
        for regions in (block.reads, block.writes)
    )
    matches = tuple(part for part in block.match_buffers if buffer not in (part.buffer, part.source.buffer))
    allocated = tuple(part for part in block.alloc_buffers if part is not buffer)
    return replace(block, reads=reads, writes=writes, match_buffers=matches, alloc_buffers=allocated)


def open_views(subject: Subject) -> Iterator[Edit]:
    """Replace a view of a region by its buffer, a view of storage by that storage or fresh storage."""
    for name, function in prim_funcs(subject):
        for node in walk(function.body):
            if isinstance(node, tir.DeclBuffer):
                if isinstance(node.data, tir.BufferData):
                    yield partial(subject.with_nodes, name, {node: NOTHING, node.buffer: node.data.buffer})
                yield partial(subject.with_nodes, name, {node: tir.AllocBuffer(node.buffer)})
            if isinstance(node, tir.SBlock):
                for match in node.match_buffers:
                    yield partial(_opened, subject, name, node, match)


def _opened(subject: Subject, name: str, block: tir.SBlock, match: tir.MatchBufferRegion) -> Subject:
    view, source = match.buffer, match.source
    extra = len(source.region) - len(view.shape)

    def moved(indices: tuple[tir.Expr, ...]) -> tuple[tir.Expr, ...]:
        starts = [side.min for side in source.region]
        inner = (
            tir.Apply("add", (start, index), index.dtype)
            if start.dtype == index.dtype and not _is_zero(start)
            else index
            for start, index in zip(starts[extra:], indices, strict=False)
        )
        return (*starts[:extra], *inner)

    def change(node: Node) -> Node:
        match node:
            case tir.BufferLoad(accessed, indices) if accessed is view:
                return replace(node, buffer=source.buffer, indices=moved(indices))
            case tir.BufferStore(accessed, _, indices) if accessed is view:
                return replace(node, buffer=source.buffer, indices=moved(indices))
            case _:
                return node

    matches = tuple(part for part in block.match_buffers if part is not match)
    body = rewrite(replace(block, match_buffers=matches), change)
    return subject.with_nodes(name, {block: body})


def usual_layouts(subject: Subject) -> Iterator[Edit]:
    """No strides, no offset, the global scope: for all buffers, then for one."""
    for name, function in prim_funcs(subject):
        replacements: dict[Node, Node] = {
            old_buffer: usual(old_buffer) for old_buffer in buffers_of(function) if usual(old_buffer) is not old_buffer
        }
        if replacements:
            yield partial(subject.with_nodes, name, replacements)
            for old, new in replacements.items():
                yield partial(subject.with_nodes, name, {old: new})


def usual(buffer: tir.Buffer) -> tir.Buffer:
    """The buffer with the layout that is not written out; itself where it has that."""
    new = tir.Buffer(buffer.name, buffer.dtype, buffer.shape)
    is_usual = all(
        getattr(buffer, field) == getattr(new, field)
        for field in ("strides", "elem_offset", "scope", "align", "offset_factor", "axis_separators", "layout")
    )
    return buffer if is_usual else new


def lower_ranks(subject: Subject) -> Iterator[Edit]:
    """A buffer without one of its dimensions; where it is a parameter, the arguments are without it too."""
    for name, function in prim_funcs(subject):
        for buffer in buffers_of(function):
            for place in reversed(range(len(buffer.shape))):
                yield partial(_flatter, subject, name, function, buffer, place)


def _flatter(subject: Subject, name: str, function: tir.PrimFunc, buffer: tir.Buffer, place: int) -> Subject:
    flattened = subject.with_function(name, flatter(function, buffer, place))
    numbers = [number for number, param in enumerate(function.params) if function.buffer_map.get(param) is buffer]
    if name != subject.func or not numbers:
        return flattened
    return replace(flattened, calls=tuple(_with_flatter(call, numbers[0], place) for call in subject.calls))


def _with_flatter(call: tuple[Argument, ...], number: int, place: int) -> tuple[Argument, ...]:
    """The arguments, the array `number` without a dimension, laid out as the buffer is then."""
    argument = call[number] if number < len(call) else None
    if not isinstance(argument, Array) or place >= len(argument.shape):
        return call
    form = "compact" if argument.form in ("strided", "offset") else argument.form
    flat = replace(argument, shape=(*argument.shape[:place], *argument.shape[place + 1 :]), form=form)
    return (*call[:number], flat, *call[number + 1 :])


def flatter(function: tir.PrimFunc, buffer: tir.Buffer, place: int) -> tir.PrimFunc:
    """The function with a buffer without dimension `place`."""
    new = tir.Buffer(buffer.name, buffer.dtype, _without_item(buffer.shape, place), scope=buffer.scope)

    def change(node: Node) -> Node:
        match node:
            case tir.BufferLoad(accessed, indices) if accessed is buffer:
                return replace(node, buffer=new, indices=_without_item(indices, place))
            case tir.BufferStore(accessed, _, indices) if accessed is buffer:
                return replace(node, buffer=new, indices=_without_item(indices, place))
            case tir.BufferRegion(accessed, region) if accessed is buffer:
                return tir.BufferRegion(new, (*region[:place], *region[place + 1 :]))
            case _:
                return node

    return substitute(rewrite(function, change), {buffer: new})


def _without_item(items: tuple[tir.Expr, ...], place: int) -> tuple[tir.Expr, ...]:
    return (*items[:place], *items[place + 1 :])


def _is_zero(expr: tir.Expr) -> bool:
    return isinstance(expr, tir.IntImm) and expr.value == 0
