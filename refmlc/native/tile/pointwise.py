"""Nests without a reduction: loops over the dims, vectors along one of them, innermost.

What is the same along the vector dim is computed before its loop. Where conditions on dims guard loads (padding,
concatenation) they cut the domain into boxes in which each of them is decided: `boxes`.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from math import prod

from refmlc.lang.ir import tir
from refmlc.native.text import Text
from refmlc.native.tile.body import Early, Tile
from refmlc.native.tile.boxes import cuts, decided, is_open
from refmlc.native.tile.context import Context
from refmlc.native.tile.dims import Dim, Shape, computed
from refmlc.native.tile.nests import along
from refmlc.native.tile.pieces import Piece
from refmlc.native.tile.plan import Plan
from refmlc.native.tile.terms import lane_dtype
from refmlc.native.tile.tiled import NoForm

MOST_BOXES = 32
LONG = 16 * 1024 * 1024
"""Bytes of a result that no cache keeps until it is read: it is written past them."""


def emit_pointwise(context: Context) -> None:
    """The nest."""
    context.streamed = _streamed(context.plan, context.options.isa.vector_bytes)
    _boxes(context, (*context.plan.outer, context.plan.vector), [0])
    if context.streamed:
        context.out.line("RM_STREAMED();")


def _streamed(plan: Plan, vector_bytes: int) -> frozenset[tir.Buffer]:
    """What is long, written in whole registers as it is held, and not read."""
    loaded = {
        node.buffer for value in plan.shape.values for node in computed(value) if isinstance(node, tir.BufferLoad)
    }
    elements = prod(dim.extent for dim in plan.shape.spatial)
    return frozenset(
        buffer
        for buffer in plan.shape.buffers
        if buffer not in loaded
        and buffer.dtype.kind != "bool"
        and lane_dtype(buffer.dtype) == buffer.dtype.element
        and plan.lanes * buffer.dtype.bits == vector_bytes * 8
        and elements * buffer.dtype.bits >= LONG * 8
    )


def _boxes(context: Context, dims: tuple[Dim, ...], count: list[int]) -> None:
    """Loops over `dims`, each in intervals in which conditions on it are decided; `count` counts the innermost ones."""
    plan = context.plan
    dim, inner_dims = dims[0], dims[1:]
    for start, end, shape in _intervals(plan.shape, dim):
        context.plan = replace(plan, shape=shape)
        if inner_dims:
            with context.loop(dim, start, end):
                _boxes(context, inner_dims, count)
            continue
        count[0] += 1
        if count[0] > MOST_BOXES:
            raise NoForm("its conditions cut the domain into too many parts")
        _line(context, start, end)
    context.plan = plan


def _intervals(shape: Shape, dim: Dim) -> Iterator[tuple[int, int, Shape]]:
    values = shape.values
    if not shape.guarded or not any(dim is value_dim for value_dim in shape.index.values()):
        yield 0, dim.extent, shape
        return
    places = cuts(values, shape.index, dim)
    for start, end in pairwise(places):
        stores = tuple(replace(w, value=decided(w.value, shape.index, dim, start)) for w in shape.stores)
        init = tuple(replace(w, value=decided(w.value, shape.index, dim, start)) for w in shape.init)
        lets = tuple(replace(let, value=decided(let.value, shape.index, dim, start)) for let in shape.lets)
        yield start, end, replace(shape, stores=stores, init=init, lets=lets)


def _line(context: Context, first: int, last: int) -> None:
    """All elements along the vector dim: declarations first, then the tiles."""
    shape = context.plan.shape
    if any(is_open(value, shape.guarded) for value in shape.values):
        raise NoForm("an element is read under a condition that is not on one loop")
    out, early = context.out, Early()
    with context.names.scope():
        tiles = context.out = Text()

        def emit(parts: tuple[Piece, ...]) -> None:
            with context.names.scope():
                Tile(context, 1, parts, early).emit()

        along(context, first, last, emit)
        context.out = out
        with out.block():
            out.paste(early.out.lines)
            out.paste(tiles.lines)
