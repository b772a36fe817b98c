"""Packing: what a tile reads, copied to a panel in the order in which the tile reads it.

A panel has a row per point of the reduction and a column per element of the tile along the vector dim. Elements are
converted as they are copied.

| the leaf along the vector dim | copied                                                                           |
|-------------------------------|----------------------------------------------------------------------------------|
| contiguous                    | by vectors                                                                       |
| strided, transposed           | by blocks of lanes x lanes, read along the reduction and transposed in registers |
| strided                       | element by element                                                               |
| folded                        | by runs: what is in one row of the inner loop                                    |

A square block has as many rows of memory as a vector has lanes, transposed in registers: `block[c]` holds, for the
point `c` of the reduction after the present one, an element per lane.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from math import prod

from refmlc.native.tile.context import Context
from refmlc.native.tile.dims import Dim, Leaf
from refmlc.native.tile.pieces import Piece
from refmlc.native.tile.plan import Panel, Plan
from refmlc.native.tile.terms import Term, lane_dtype
from refmlc.native.tile.values import Values


def square(context: Context, leaf: Leaf, piece: Piece, name: str, ahead: str = "") -> None:
    """Declare `name`, the block of a leaf at the present position; `ahead` elements on."""
    plan, out, lanes = context.plan, context.out, piece.lanes
    values = Values(context.options, context.needs, out, context.names.new, lambda _node: None)
    vector = f"rm_{context.needs.lanes(lane_dtype(leaf.dtype), lanes)}"
    line = context.names.new("line")
    out.line(f"{vector} {name}[{lanes}];")
    with each_line(context, line, lanes):
        move = f"{leaf.access.of(plan.vector)} * {line}"
        row = Piece(0, lanes, lanes)
        term = context.load(leaf.access, row, 1, {plan.vector: piece.offset}, f"{ahead} + {move}" if ahead else move)
        guard = "" if piece.whole else f"{line} >= {piece.valid} ? ({vector}){{0}} : "
        out.line(f"{name}[{line}] = {guard}{values.cast(term, leaf.dtype).text};")
    out.line(f"{context.needs.transpose(leaf.dtype, lanes)}({name});")


def each_line(context: Context, line: str, lanes: int) -> AbstractContextManager[None]:
    """A loop over the rows of a block, unrolled: the block stays in registers."""
    context.out.unroll(lanes)
    return context.out.block(f"for (int64_t {line} = 0; {line} < {lanes}; ++{line})")


def row_of(context: Context, ahead: str = "") -> str:
    """Where the row of the present point of the reduction begins in a panel, in elements; `ahead` points on."""
    plan = context.plan
    if not plan.shape.reduce:
        return "0"
    text = ""
    for dim in plan.shape.reduce:
        index = str(context.position[dim])
        text = index if text in ("", "0") else f"({text} * {dim.extent} + {index})"
    if (first := first_of(context)) is not None:
        text = f"({text} - {_times(first, _inner_points(plan))})"
    if ahead:
        text = f"({text} + {ahead})"
    return f"{context.plan.columns} * {text}"


def _inner_points(plan: Plan) -> int:
    """The points of the reduction for each of its first dim."""
    return prod(dim.extent for dim in plan.shape.reduce[1:])


def _times(text: str, factor: int) -> str:
    return text if factor == 1 else f"{factor} * {text}"


def from_name(dim: Dim) -> str:
    """The variable that holds the first point of a chunk."""
    return f"{dim.name}_from"


def first_of(context: Context) -> str | None:
    """The variable that holds the first point of the present chunk; None: all points are in one."""
    plan = context.plan
    if not plan.shape.reduce or plan.chunk >= plan.shape.reduce[0].extent:
        return None
    return from_name(plan.shape.reduce[0])


def packed(context: Context, panel: Panel, piece: Piece) -> Term:
    """The present row of a panel, one vector of it."""
    dtype = panel.leaf.dtype
    address = f"{panel.name} + {row_of(context)}" + (f" + {piece.offset}" if piece.offset else "")
    if piece.lanes == 1:
        row = f"{row_of(context)} + {piece.offset}"
        return Term(f"{panel.name}[{row}]", dtype)
    return Term(f"RM_LOAD({context.needs.lanes(lane_dtype(dtype), piece.lanes)}, {address})", dtype, piece.lanes)


def pack(context: Context, panel: Panel, parts: Sequence[Piece]) -> None:
    """Fill the panel for the tile at the present position."""
    leaf, plan = panel.leaf, context.plan
    context.out.comment(f"{panel.name}: {leaf.access.buffer.name} in the order of the tile")
    if panel.transposed:
        _transposed(context, panel, parts)
        return
    if plan.vector.folded and leaf.access.uses(plan.vector.folded):
        _in_runs(context, panel, parts)
        return
    stride = leaf.access.of(plan.vector)
    with reduction(context, plan.shape.reduce):
        for piece in parts:
            _copy(context, panel, piece, stride)


def _in_runs(context: Context, panel: Panel, parts: Sequence[Piece]) -> None:
    """The elements in one row of the inner loop after those of the row before; lanes without an element are 0."""
    plan, leaf, needs = context.plan, panel.leaf, context.needs
    inner, last = plan.vector.folded[1], parts[-1]
    copy = needs.copy(leaf.dtype.element, plan.lanes)
    with reduction(context, plan.shape.reduce[:1]):
        if not last.whole:
            vector = needs.lanes(leaf.dtype.element, last.lanes)
            with reduction(context, plan.shape.reduce[1:]):
                _put(context, panel, last.lanes, f"{row_of(context)} + {last.offset}", f"(rm_{vector}){{0}}")
        with runs(context, last.offset + last.valid) as (column, length), reduction(context, plan.shape.reduce[1:]):
            to, where = f"{panel.name} + {row_of(context)} + {column}", context.address(leaf.access)
            context.out.line(f"{copy}({to}, {where}, {leaf.access.of(inner)}, {length});")


@contextmanager
def runs(context: Context, count: int) -> Iterator[tuple[str, str]]:
    """The parts of a tile along a folded dim that are in one row: at which of `count` columns one begins, its length.

    The loops of the folded dim are where it begins.
    """
    out, names, vector = context.out, context.names, context.plan.vector
    row, inner = vector.folded
    with names.scope():
        column, run, at = names.new("column"), names.new("run"), names.new("at")
        out.line(f"int64_t {run} = 0;")
        with out.block(f"for (int64_t {column} = 0; {column} < {count}; {column} += {run})"):
            out.line(f"const int64_t {at} = {context.position[vector]} + {column};")
            out.line(f"const int64_t {row.name} = {at} / {vector.pitch};")
            out.line(f"const int64_t {inner.name} = {at} % {vector.pitch};")
            left, right = f"{vector.pitch} - {inner.name}", f"{count} - {column}"
            out.line(f"{run} = {left} < {right} ? {left} : {right};")
            length = run
            if vector.pitch > inner.extent:
                out.line(f"if ({inner.name} >= {inner.extent}) continue;")
                left, length = f"{inner.extent} - {inner.name}", names.new("length")
                out.line(f"const int64_t {length} = {left} < {run} ? {left} : {run};")
            with context.at(row, row.name), context.at(inner, inner.name):
                yield column, length


def _copy(context: Context, panel: Panel, piece: Piece, stride: int) -> None:
    shift = {context.plan.vector: piece.offset}
    term = _converted(context, panel, context.load(panel.leaf.access, piece, stride, shift))
    offset = row_of(context) + (f" + {piece.offset}" if piece.offset else "")
    _put(context, panel, piece.lanes, offset, term.text)


def _put(context: Context, panel: Panel, lanes: int, offset: str, text: str) -> None:
    if lanes == 1:
        context.out.line(f"{panel.name}[{offset}] = {text};")
        return
    vector = context.needs.lanes(lane_dtype(panel.leaf.dtype), lanes)
    context.out.line(f"RM_STORE({vector}, {panel.name} + {offset}, {text});")


def _converted(context: Context, panel: Panel, term: Term) -> Term:
    values = Values(context.options, context.needs, context.out, context.names.new, lambda _node: None)
    return values.cast(term, panel.leaf.dtype)


@contextmanager
def reduction(context: Context, dims: Sequence[Dim]) -> Iterator[None]:
    """Loops over the points of the present chunk."""
    plan = context.plan
    if not dims:
        yield
        return
    dim = dims[0]
    chunked = dim is plan.shape.reduce[0] and first_of(context) is not None
    bounds = (from_name(dim), f"{dim.name}_to") if chunked else (0, dim.extent)
    with context.loop(dim, *bounds), reduction(context, dims[1:]):
        yield


@contextmanager
def points(context: Context) -> Iterator[None]:
    """The points of the present chunk, in one loop where that is possible."""
    plan = context.plan
    *outer, inner = plan.shape.reduce or (None,)
    if not outer or inner is None or not plan.is_even:
        with reduction(context, plan.shape.reduce):
            yield
        return
    factor, first = _inner_points(plan), first_of(context)
    start: str | int = 0
    end: str | int = factor * outer[0].extent
    if first is not None:
        start, end = _times(first, factor), _times(f"{outer[0].name}_to", factor)
    with ExitStack() as stack:
        for dim in outer:
            stack.enter_context(context.at(dim, 0))
        stack.enter_context(context.names.scope())
        name = context.names.new("_".join(dim.name for dim in plan.shape.reduce))
        stack.enter_context(context.looking(name, start, end, 1))
        stack.enter_context(context.at(inner, name))
        yield


def _transposed(context: Context, panel: Panel, parts: Sequence[Piece]) -> None:
    """Blocks along the innermost reduction dim; what is left of it element by element."""
    plan, out, lanes = context.plan, context.out, context.plan.lanes
    *outer, inner = plan.shape.reduce
    chunked = not outer and plan.chunk < inner.extent
    first, last = (from_name(inner), f"{inner.name}_to") if chunked else ("0", str(inner.extent))
    with reduction(context, outer), out.block():
        out.line(f"int64_t {inner.name} = {first};")
        with context.at(inner, inner.name):
            with out.block(f"for (; {inner.name} + {lanes} <= {last}; {inner.name} += {lanes})"):
                _blocks(context, panel, parts)
            if chunked or inner.extent % lanes:
                with out.block(f"for (; {inner.name} < {last}; ++{inner.name})"):
                    for piece in parts:
                        _copy(context, panel, piece, panel.leaf.access.of(plan.vector))


def _blocks(context: Context, panel: Panel, parts: Sequence[Piece]) -> None:
    """As many rows as there are lanes: whole vectors in a loop, the last one apart where it is not whole."""
    plan, lanes, names = context.plan, context.plan.lanes, context.names
    stride = panel.leaf.access.of(plan.vector)
    in_line = [piece for number, piece in enumerate(parts) if piece.whole and piece.offset == lanes * number]
    looped = in_line if len(in_line) > 1 else []
    with names.scope():
        column = names.new("column")
        if looped:
            last = lanes * len(looped)
            with context.out.block(f"for (int64_t {column} = 0; {column} < {last}; {column} += {lanes})"):
                _block(context, panel, parts[0], f"{stride} * {column}", column)
        for piece in parts[len(looped) :]:
            with context.out.block():
                _block(context, panel, piece, "", str(piece.offset))


def _block(context: Context, panel: Panel, piece: Piece, ahead: str, column: str) -> None:
    with context.names.scope():
        name, line = context.names.new("block"), context.names.new("line")
        square(context, panel.leaf, piece, name, ahead)
        with each_line(context, line, piece.lanes):
            _put(context, panel, piece.lanes, f"{row_of(context, line)} + {column}", f"{name}[{line}]")
