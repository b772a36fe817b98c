"""The loops around tiles.

With a reduction: outer dims, tiles along the vector dim, chunks of the reduction, rows.

for outer dims
  for tiles along the vector dim            (the last one narrower)
    for chunks of the reduction
      pack panels
      for middle dims, for tiles of rows    (the last one lower)
        the tile

Without one: loops over the dims, vectors along one of them, innermost. What is the same along the vector dim is
computed before its loop. Where conditions on dims guard loads (padding, concatenation) they cut the domain into boxes
in which each of them is decided: `boxes`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from math import prod

from refmlc.lang.ir import tir
from refmlc.native.text import Text
from refmlc.native.tile.body import LONG as LONG_REDUCTION, Early, Tile
from refmlc.native.tile.boxes import cuts, decided, is_open
from refmlc.native.tile.context import Context
from refmlc.native.tile.dims import Dim, Shape, computed
from refmlc.native.tile.headers import NoForm
from refmlc.native.tile.panels import from_name, pack
from refmlc.native.tile.pieces import Piece
from refmlc.native.tile.plan import MOST_ROWS_TWICE, MOST_TWICE, Plan
from refmlc.native.tile.terms import lane_dtype

STACK = 32 * 1024
"""Bytes of panels that may lie on the stack. Decision: what is taken from the heap is not counted against the memory of
the run, which is what the program takes."""


def emit_tiles(context: Context) -> int:
    """A nest with a reduction, or in square blocks. Returns the bytes it takes from the heap."""
    plan = context.plan
    heap = _declare_panels(context)
    with context.loops(plan.outer):
        along(context, 0, plan.vector.extent, lambda parts: _chunks(context, parts))
    if heap:
        context.out.line("free(panels);")
    return heap


def _declare_panels(context: Context) -> int:
    plan, out = context.plan, context.out
    sizes = {panel.name: plan.bytes_of(panel) for panel in plan.panels}
    heap = sum(sizes.values()) if sum(sizes.values()) > STACK else 0
    if heap:
        out.line(f"unsigned char *const panels = aligned_alloc(64, {heap});")
        out.line("if (panels == NULL) { status = RM_NO_MEMORY; goto leave; }")
        context.cleanup = "free(panels)"
    start = 0
    for panel in plan.panels:
        element = context.needs.value(lane_dtype(panel.leaf.dtype))
        if heap:
            where = f"panels + {start}" if start else "panels"
            out.line(f"{element} *const restrict {panel.name} = ({element} *)({where});")
        else:
            aligned = "_Alignas(64) " if plan.lanes > 1 else ""
            out.line(f"{aligned}{element} {panel.name}[{plan.points * plan.columns}];")
        start += sizes[panel.name]
    return heap


def along(context: Context, first: int, last: int, emit: Callable[[tuple[Piece, ...]], None]) -> None:
    """Tiles along the vector dim from `first` to below `last`; `emit` gets the vectors of one."""
    plan = context.plan
    step = plan.vectors * plan.lanes
    if context.streamed and plan.repeats and last - first >= 2 * step:
        with context.aligned_tiles(plan.vector, first, last, step, _past(context, first)):
            emit(plan.parts(step))
        return
    if plan.overlaps(last - first, step):
        with context.tiles(plan.vector, first, last, step):
            emit(plan.parts(step))
        return
    end = first + (last - first) // step * step
    if end > first:
        with context.loop(plan.vector, first, end, step):
            emit(plan.parts(step))
    if end < last:
        with context.out.block(), context.at(plan.vector, end):
            emit(plan.parts(last - end))


def _past(context: Context, first: int) -> str:
    """By how many elements the first one of what is written past the caches is past where that can begin."""
    buffer = next(buffer for buffer in context.plan.shape.buffers if buffer in context.streamed)
    access = next(write.access for write in context.plan.shape.stores if write.access.buffer is buffer)
    with context.at(context.plan.vector, first):
        return f"{context.needs.past(buffer.dtype.element, context.plan.lanes)}({context.address(access)})"


def _chunks(context: Context, parts: tuple[Piece, ...]) -> None:
    plan, out = context.plan, context.out
    first = plan.shape.reduce[0] if plan.shape.reduce else None
    if first is None or plan.chunk >= first.extent:
        _rows(context, parts)
        return
    start, stop = from_name(first), f"{first.name}_to"
    with context.looking(start, 0, first.extent, plan.chunk):
        rest = "" if first.extent % plan.chunk == 0 else f" < {first.extent} ? {start} + {plan.chunk} : {first.extent}"
        out.line(f"const int64_t {stop} = {start} + {plan.chunk}{rest};")
        _rows(context, parts)


def _rows(context: Context, parts: tuple[Piece, ...]) -> None:
    plan = context.plan
    with context.in_short():
        for panel in plan.panels:
            pack(context, panel, parts)
    with context.loops(plan.middle):
        if plan.row is not None:
            _row_tiles(context, parts, plan.row)
            return
        with _scope(context):
            Tile(context, 1, parts).emit()


def _row_tiles(context: Context, parts: tuple[Piece, ...], row: Dim) -> None:
    """Tiles of rows; the last one is lower, or reaches back."""
    rows, most = context.plan.rows, MOST_ROWS_TWICE if context.plan.points >= LONG_REDUCTION else MOST_TWICE
    if context.plan.overlaps(row.extent, rows, most):
        with context.tiles(row, 0, row.extent, rows), _scope(context):
            Tile(context, rows, parts).emit()
        return
    full_tiles, rest_rows = divmod(row.extent, rows)
    if full_tiles:
        with context.loop(row, 0, full_tiles * rows, rows), _scope(context):
            Tile(context, rows, parts).emit()
    if rest_rows:
        with context.at(row, full_tiles * rows), _scope(context):
            Tile(context, rest_rows, parts).emit()


@contextmanager
def _scope(context: Context) -> Iterator[None]:
    with context.out.block(), context.names.scope():
        yield


MOST_BOXES = 32
LONG = 16 * 1024 * 1024
"""Bytes of a result that no cache keeps until it is read: it is written past them."""


def emit_pointwise(context: Context) -> None:
    """A nest without a reduction, as loops around vectors."""
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
