"""The difference as a map: a cell is an element, or a tile of many; its colour is the distance, in steps.

| level | distance in units of the last place (of integers: the difference) |
|-------|-------------------------------------------------------------------|
| 0     | 0                                                                 |
| 1 … 6 | at most 1, 4, 16, 256, 65536, and more than that                  |
| 7     | from or to NaN                                                    |

A tile has the level of its worst element. Axes before the last are rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from refmlc.lang.dtypes import DType
from refmlc.oracle.ulps import distance
from refmlc.run.memory.tensor import Tensor

TOPS = (1, 4, 16, 256, 65536)
NAN_LEVEL = 7
MOST_CELLS = 48
MOST_ELEMENTS = 1 << 20


@dataclass(frozen=True)
class Tile:
    """A rectangle of the map. Units: cells. `title` says which elements, and the worst."""

    row: int
    column: int
    level: int
    title: str


@dataclass(frozen=True)
class Heat:
    """The map: its size in cells, its tiles that differ, how many elements a tile has along each side."""

    rows: int
    columns: int
    tiles: tuple[Tile, ...]
    step: tuple[int, int]


def level(steps: int | None) -> int:
    """The level of a distance."""
    if steps is None:
        return NAN_LEVEL
    return 0 if steps == 0 else next((number for number, top in enumerate(TOPS, 1) if steps <= top), len(TOPS) + 1)


def heat(actual: Tensor, expected: Tensor) -> Heat | None:
    """The map of two tensors of one shape and dtype; None where there are too many elements, or none."""
    if actual.shape != expected.shape or not 0 < actual.size <= MOST_ELEMENTS or actual.dtype.kind == "handle":
        return None
    shape = actual.array.shape or (1,)
    rows, columns = int(np.prod(shape[:-1])), shape[-1]
    got, want = (np.ascontiguousarray(each.array).reshape(rows, columns) for each in (actual, expected))
    step = (-(-rows // MOST_CELLS), -(-columns // MOST_CELLS))
    worst: dict[tuple[int, int], tuple[int, str]] = {}
    for row, column in _other(got, want):
        steps = distance(got[row, column].item(), want[row, column].item(), actual.dtype.scalar)
        rank = level(steps)
        cell = (row // step[0], column // step[1])
        if rank > worst.get(cell, (0, ""))[0]:
            worst[cell] = (rank, _title(shape, row * columns + column, got, want, steps))
    tiles = tuple(Tile(row, column, rank, title) for (row, column), (rank, title) in sorted(worst.items()))
    return Heat(-(-rows // step[0]), -(-columns // step[1]), tiles, step)


def _other(got: np.ndarray, want: np.ndarray) -> Iterator[tuple[int, int]]:
    """Where the bits differ."""
    code = f"u{got.dtype.itemsize}"
    rows, columns = np.nonzero(got.view(code) != want.view(code))
    yield from zip(rows.tolist(), columns.tolist(), strict=True)


def _title(shape: tuple[int, ...], flat: int, got: np.ndarray, want: np.ndarray, steps: int | None) -> str:
    index = ", ".join(str(int(at)) for at in np.unravel_index(flat, shape))
    far = "NaN on one side" if steps is None else f"{steps} ulp"
    return f"[{index}]: {got.reshape(-1)[flat]!s}, expected {want.reshape(-1)[flat]!s} ({far})"


def rows_of(actual: Tensor, expected: Tensor, most: int) -> list[tuple[str, str, str, str]]:
    """The first elements that differ: index, value, expected value, distance."""
    got, want = (np.ascontiguousarray(each.array) for each in (actual, expected))
    if got.shape != want.shape or actual.dtype.kind == "handle":
        return []
    shape, kind = got.shape or (1,), actual.dtype.scalar
    rows: list[tuple[str, str, str, str]] = []
    for row, column in _other(got.reshape(1, -1), want.reshape(1, -1)):
        if len(rows) == most:
            break
        index = ", ".join(str(int(at)) for at in np.unravel_index(row + column, shape))
        a, b = got.reshape(-1)[column], want.reshape(-1)[column]
        rows.append((f"[{index}]", str(a), str(b), _far(a.item(), b.item(), kind)))
    return rows


def _far(a: float, b: float, kind: DType) -> str:
    steps = distance(a, b, kind)
    return "NaN" if steps is None else str(steps)
