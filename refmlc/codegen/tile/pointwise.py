"""Nests without a reduction: loops over the dims, vectors along the innermost.

What is the same along the vector dim is computed before its loop. Conditions on dims (padding, concatenation) cut the
domain into boxes in which each of them is decided: `boxes`.
"""

from refmlc.codegen.tile.body import Tile
from refmlc.codegen.tile.context import Context
from refmlc.codegen.tile.nests import along
from refmlc.codegen.tile.pieces import Piece
from refmlc.codegen.tile.terms import Term
from refmlc.codegen.tile.writer import Writer


def emit_pointwise(context: Context) -> None:
    """The nest."""
    plan = context.plan
    with context.loops(plan.outer):
        _line(context, 0, plan.vector.extent)


def _line(context: Context, first: int, last: int) -> None:
    """All elements along the vector dim: declarations first, then the tiles."""
    out, before = context.out, Writer()
    kept: dict[str, Term] = {}
    with context.names.scope():
        tiles = context.out = Writer()

        def emit(parts: tuple[Piece, ...]) -> None:
            Tile(context, 1, parts, before, kept).emit()

        along(context, first, last, emit)
        context.out = out
        with out.block():
            out.paste(before)
            out.paste(tiles)
