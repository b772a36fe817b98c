"""Square blocks: as many rows of memory as a vector has lanes, transposed in registers.

`block[c]` then holds, for the point `c` of the reduction after the present one, an element per lane.
"""

from contextlib import AbstractContextManager

from refmlc.native.tile.context import Context
from refmlc.native.tile.leaves import Leaf
from refmlc.native.tile.pieces import Piece
from refmlc.native.tile.terms import lane_dtype
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
