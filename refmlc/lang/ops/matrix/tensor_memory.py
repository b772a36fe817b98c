"""Which cells of tensor memory the registers of a warp are moved from and to (TMM-003).

Cell of register r of thread l, in lanes and columns from the address on; `.xN` repeats a shape N times:

| shape      | registers | lane                         | column                            |
|------------|-----------|------------------------------|-----------------------------------|
| `32x32b`   | N         | l                            | r                                 |
| `16x64b`   | N         | l div 4 + 8 (l mod 2)        | 2 r + l div 2 mod 2               |
| `16x128b`  | 2 N       | l div 4 + 8 (r mod 2)        | 4 (r div 2) + l mod 4             |
| `16x256b`  | 4 N       | l div 4 + 8 (r div 2 mod 2)  | 8 (r div 4) + 2 (l mod 4) + r mod 2 |
| `16x32bx2` | N         | l mod 16                     | r, and for l > 15 the distance more |

With `pack::16b` and `unpack::16b` the two halves of a register are the lower halves of the cells in columns 2 c and
2 c + 1, where c is the column of the table.

Source: PTX ISA, tcgen05: matrix fragments of the shapes; CUTLASS: its layouts of these copies; TVM 0.27: its tests on a
device.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from refmlc.lang.ops.matrix.forms import NoSuchForm
from refmlc.lang.ops.matrix.fragments import LANES

MOST_REGISTERS = 128
HALVES = 16
"""The lanes of a half of `16x32bx2`."""

Cell = Callable[[int, int], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class TransferShape:
    """A shape: how many registers each of the N repetitions has, how many lanes it reaches over, where a cell is."""

    registers: int
    lanes: int
    cell: Cell


SHAPES: Mapping[str, TransferShape] = {
    "32x32b": TransferShape(1, 32, lambda lane, number: (lane, number)),
    "16x64b": TransferShape(1, 16, lambda lane, number: (lane // 4 + lane % 2 * 8, 2 * number + lane // 2 % 2)),
    "16x128b": TransferShape(2, 16, lambda lane, number: (lane // 4 + number % 2 * 8, number // 2 * 4 + lane % 4)),
    "16x256b": TransferShape(
        4,
        16,
        lambda lane, number: (lane // 4 + number // 2 % 2 * 8, number // 4 * 8 + lane % 4 * 2 + number % 2),
    ),
    "16x32bx2": TransferShape(1, 16, lambda lane, number: (lane % HALVES, number)),
}
SPLIT = "16x32bx2"
COUNTS = {f"x{1 << power}": 1 << power for power in range(8)}


@dataclass(frozen=True, slots=True)
class TransferForm:
    """A form of `ld` or `st`. `packs`: two cells have the halves of a register; `distance`: of the second half."""

    shape: str
    count: int
    packs: bool = False
    distance: int = 0

    def __post_init__(self) -> None:
        """Fails: NoSuchForm where PTX has no such form."""
        if self.registers > MOST_REGISTERS:
            raise NoSuchForm(f"{self.registers} registers of each thread")

    @property
    def registers(self) -> int:
        """How many a thread has."""
        return SHAPES[self.shape].registers * self.count

    @property
    def lanes(self) -> int:
        """The number of lanes."""
        return SHAPES[self.shape].lanes

    @property
    def parts(self) -> tuple[tuple[int, int], ...]:
        """The columns of a lane: a first one and how many follow each other, once or for each half."""
        width = self.registers * LANES // self.lanes * (1 + self.packs)
        if self.shape != SPLIT:
            return ((0, width),)
        return ((0, width // 2), (self.distance, width // 2))

    def cells(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Lanes and columns of all threads: those of thread l are row l; with `packs`, two columns for a register."""
        shape = SHAPES[self.shape]
        places = np.array(
            [[shape.cell(lane, number) for number in range(self.registers)] for lane in range(LANES)], np.int64
        )
        lanes, columns = places[..., 0], places[..., 1]
        if self.packs:
            lanes = np.repeat(lanes, 2, axis=1)
            columns = (2 * columns[..., None] + np.arange(2)).reshape(LANES, -1)
        if self.shape == SPLIT:
            columns[HALVES:] += self.distance
        return lanes, columns
