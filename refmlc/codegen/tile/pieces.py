"""A vector dim cut into tiles of a few vectors.

64 elements at 16 lanes, 4 vectors a tile: one tile of 16 16 16 16. 56: 16 16 16 8. 57: 16 16 16 16, of which the last
holds 9. A rest of one element is a number.
"""

from dataclasses import dataclass

LEAST_LANES = 4


@dataclass(frozen=True, slots=True)
class Piece:
    """A vector of a tile: where it begins in the tile, its lanes, how many of them are elements."""

    offset: int
    lanes: int
    valid: int

    @property
    def whole(self) -> bool:
        """Whether all lanes are elements."""
        return self.valid == self.lanes


def pieces(count: int, lanes: int, *, narrow: bool = True) -> tuple[Piece, ...]:
    """The vectors of `count` elements; the last is no wider than it has to be where that may be (`narrow`)."""
    whole, rest = divmod(count, lanes)
    found = [Piece(lanes * number, lanes, lanes) for number in range(whole)]
    if rest:
        wide = lanes
        while narrow and wide // 2 >= max(rest, min(LEAST_LANES, lanes)):
            wide //= 2
        found.append(Piece(lanes * whole, 1 if rest == 1 and narrow else wide, rest))
    return tuple(found)


def width(parts: tuple[Piece, ...]) -> int:
    """The columns that the vectors take in a panel."""
    return parts[-1].offset + parts[-1].lanes
