"""Boxes of tensors: which bytes of global memory a box has, and where they are in shared memory (TIA-041, TIA-043).

In shared memory the elements of a box follow each other, the contiguous axis first. A swizzle of 32, 64 or 128 bytes
then exchanges chunks of 16 bytes: with the bits of an address counted from 0, it puts into

| swizzle   | bits   | the exclusive or of them and bits |
|-----------|--------|-----------------------------------|
| 32 bytes  | 4      | 7                                 |
| 64 bytes  | 4 … 5  | 7 … 8                             |
| 128 bytes | 4 … 6  | 7 … 9                             |

A chunk stays within its 32, 64 or 128 bytes. Source: CUDA C++ Programming Guide, TMA Swizzle.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from refmlc.run.memory.tensor_maps import UNIT, TensorMap

Places: TypeAlias = NDArray[np.int64]
DISTANCE = 3
"""How many bits to the right the exclusive or takes its other operand."""


@dataclass(frozen=True, slots=True)
class Row:
    """Bytes of a box that follow each other: from `local` on in the box, from `remote` on in the tensor."""

    local: int
    remote: int
    nbytes: int


def rows(whole: TensorMap, at: Sequence[int]) -> list[Row]:
    """The bytes of the box at these coordinates that are in the tensor, in order; neighbours are joined."""
    joined: list[Row] = []
    for row in _rows(whole, at):
        last = joined[-1] if joined else None
        if last and (last.local + last.nbytes, last.remote + last.nbytes) == (row.local, row.remote):
            joined[-1] = Row(last.local, last.remote, last.nbytes + row.nbytes)
        else:
            joined.append(row)
    return joined


def _rows(whole: TensorMap, at: Sequence[int]) -> Iterator[Row]:
    size, counts = whole.strides[0], whole.counts
    first, last = max(0, -at[0]), min(counts[0], whole.extents[0] - at[0])
    if last <= first:
        return
    taken = [range(0, count * step, step) for count, step in zip(counts, whole.steps, strict=True)]
    for number, distances in enumerate(product(*reversed(taken[1:]))):
        index = [start + distance for start, distance in zip(at[1:], reversed(distances), strict=True)]
        if all(0 <= place < extent for place, extent in zip(index, whole.extents[1:], strict=True)):
            remote = sum(place * stride for place, stride in zip(index, whole.strides[1:], strict=True))
            local = (number * counts[0] + first) * size
            yield Row(local, remote + (at[0] + first) * size, (last - first) * size)


def overlap(parts: Sequence[Row]) -> bool:
    """Whether two rows have a byte of the tensor both."""
    ordered = sorted(parts, key=lambda row: row.remote)
    return any(row.remote + row.nbytes > after.remote for row, after in pairwise(ordered))


def places(whole: TensorMap, start: int) -> Places:
    """Where each byte of a box is in shared memory, from its beginning on; it begins at the address `start`."""
    addresses = np.arange(start, start + whole.nbytes, dtype=np.int64)
    if whole.span:
        mask = whole.span - UNIT
        addresses ^= (addresses >> DISTANCE) & mask
    return addresses - start


def runs(taken: Places) -> Iterator[tuple[int, int]]:
    """Neighbouring places as pairs of a first one and a number of them; there is a place."""
    ordered = np.sort(taken)
    breaks = np.flatnonzero(np.diff(ordered) != 1) + 1
    for part in np.split(ordered, breaks):
        yield int(part[0]), int(part.size)
