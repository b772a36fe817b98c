"""Tensor memory of a block: 128 lanes of 512 columns of 32 bits, which it allocates by columns (TMM-001).

An address is a number of 32 bits, the lane in the upper half and the column in the lower one. Cells of a lane follow
each other: the first byte of a cell is 2048 times its lane plus 4 times its column.
"""

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import TENSOR_MEMORY_MISUSE
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.storage import Storage

LANES, COLUMNS, CELL = 128, 512, 4
"""Units: lanes, columns, bytes."""
LEAST = 32
"""Allocations are of a power of two of columns, at least this number."""
LANE_BYTES = COLUMNS * CELL
LANE_BITS = 16


class TensorMemory:
    """The memory of one block. `base`: the view by which messages and hooks name its cells.

    `allocated`: the number of columns by the first one; `spans`: what allocated them; `has_permit`: whether the block
    may still allocate; `blocks`: how many its instructions are about, 0 before the first one.
    """

    def __init__(self, budget: Budget | None = None, span: Span | None = None) -> None:
        """Allocate it and charge it to `budget`. Fails: RM603."""
        self.storage = Storage(LANES * LANE_BYTES, unit=CELL, origin="tensor memory", span=span, budget=budget)
        self.storage.extras.space = "tmem"
        self.base: object = None
        self.allocated: dict[int, int] = {}
        self.spans: dict[int, Span | None] = {}
        self.has_permit = True
        self.blocks = 0

    def allocate(self, columns: int, span: Span | None = None) -> int | None:
        """The address of free columns, from now on allocated; None where there are not enough beside each other."""
        start = 0
        for first in sorted(self.allocated):
            if first - start >= columns:
                break
            start = first + self.allocated[first]
        if start + columns > COLUMNS:
            return None
        self.allocated[start], self.spans[start] = columns, span
        return start

    def free(self, address: int) -> None:
        """End the allocation that begins at an address: its cells have no values any more."""
        columns = self.allocated.pop(address)
        for lane in range(LANES):
            self.storage.forget(lane * LANE_BYTES + address * CELL, columns * CELL)

    def end(self) -> None:
        """The block ends. Fails: RM351 where columns are still allocated."""
        for first, columns in self.allocated.items():
            message = f"the block ends, and {columns} columns of tensor memory from {first:#x} on are still allocated"
            raise fail(TENSOR_MEMORY_MISUSE, message, self.spans[first])

    def is_allocated(self, column: int, count: int = 1) -> bool:
        """Whether `count` columns from `column` on are part of one allocation."""
        return any(first <= column and column + count <= first + columns for first, columns in self.allocated.items())

    def place(self, address: int, lane: int = 0, column: int = 0) -> Pointer | None:
        """The cell some lanes and columns after an address; None where there is none."""
        at = (address >> LANE_BITS) + lane, (address & (1 << LANE_BITS) - 1) + column
        if not (0 <= at[0] < LANES and 0 <= at[1] < COLUMNS):
            return None
        return Pointer(self.storage, at[0] * LANE_BYTES + at[1] * CELL, self.base)
