"""A vector dim cut into tiles of a few vectors.

| elements, at 16 lanes | vectors of a tile, by their lanes                                                            |
|-----------------------|----------------------------------------------------------------------------------------------|
| 64                    | 16 16 16 16                                                                                  |
| 56                    | 16 16 16 8: the last is no wider than it has to be                                           |
| 61                    | 16 16 16 16, the last from element 45 on: three elements twice, where that may be; else      |
|                       | 16 16 16 16, of which the last holds 13                                                      |
| 49                    | 16 16 16 1: a rest of one is a number                                                        |
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


def pieces(count: int, lanes: int, *, narrow: bool = True, twice: bool = False) -> tuple[Piece, ...]:
    """The vectors of `count` elements.

    `narrow`: the last may have fewer lanes than the others. `twice`: elements may be computed twice.
    """
    full, rest_count = divmod(count, lanes)
    vectors = [Piece(lanes * number, lanes, lanes) for number in range(full)]
    if not rest_count:
        return tuple(vectors)
    last_lanes = lanes
    while narrow and last_lanes // 2 >= max(rest_count, min(LEAST_LANES, lanes)):
        last_lanes //= 2
    if rest_count == 1 and narrow:
        vectors.append(Piece(lanes * full, 1, 1))
    elif rest_count < last_lanes <= count and twice:
        vectors.append(Piece(count - last_lanes, last_lanes, last_lanes))
    else:
        vectors.append(Piece(lanes * full, last_lanes, rest_count))
    return tuple(vectors)


def width(parts: tuple[Piece, ...]) -> int:
    """The columns that the vectors take in a panel."""
    return max(piece.offset + piece.lanes for piece in parts)
