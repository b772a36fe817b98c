"""The vectors of a tile, and where they are."""

from dataclasses import dataclass

from refmlc.lang.ir import tir
from refmlc.native.tile.context import Context
from refmlc.native.tile.dims import Access, Dim
from refmlc.native.tile.pieces import Piece


@dataclass(frozen=True, slots=True)
class Spot:
    """A vector of the tile: its row, its number in the row, and its piece of the vector dim."""

    row: int
    number: int
    piece: Piece


@dataclass(slots=True)
class Grid:
    """The vectors of a tile: `rows` of them, `parts` in each. `ahead` points of the reduction after the present one."""

    context: Context
    rows: int
    parts: tuple[Piece, ...]
    ahead: int = 0

    def spots(self, row: int | None = None) -> list[Spot]:
        """The vectors of one row, or of all."""
        rows = range(self.rows) if row is None else (row,)
        return [Spot(each, number, piece) for each in rows for number, piece in enumerate(self.parts)]

    def shift(self, spot: Spot) -> dict[Dim, int]:
        """How far a vector is from the tile's first element, by dims."""
        plan = self.context.plan
        shift = {plan.vector: spot.piece.offset}
        if plan.row is not None:
            shift[plan.row] = spot.row
        if self.ahead:
            shift[plan.shape.reduce[-1]] = self.ahead
        return shift

    def name(self, base: str, spot: Spot, *, row: bool = True, number: bool = True) -> str:
        """A new C name for something of a vector, of all rows (`row` is False), of all vectors of a row (`number`)."""
        several_rows, several = row and self.rows > 1, number and len(self.parts) > 1
        ends = (f"_{spot.row}" if several_rows else "") + (f"_{spot.number}" if several else "")
        return self.context.names.new(base + ends)

    def store_access(self, buffer: tir.Buffer) -> Access:
        """Where the nest stores to `buffer`."""
        shape = self.context.plan.shape
        return next(write.access for write in (*shape.stores, *shape.init) if write.access.buffer is buffer)
