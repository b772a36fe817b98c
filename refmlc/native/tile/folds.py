"""Two spatial loops as one vector dim, where their rows are too short for whole vectors.

    for y in range(56): for x in range(56): out[56 * y + x] += image[58 * (y + r) + x + s] * weight[r, s]

Rows of 56 elements need four vectors each, of which one is half empty. Two ways to fill them:

| the dim counts elements of | extent         | costs                                                              |
|----------------------------|----------------|--------------------------------------------------------------------|
| what is written            | 56 * 56        | `image` is packed row after row, by runs of what is in one row     |
| what is read               | 55 * 58 + 56   | two results in 58 are of no use; the others are written by runs    |

What is computed between two rows is of elements that are in the buffer, and is not written. The way that takes the
least time is taken, counted in rows of a tile; none, where empty lanes take less.
"""

from collections.abc import Iterator, Sequence

from refmlc.native.text import Names
from refmlc.native.tile.dims import Access, Dim, Leaf, Shape, continues, with_joined
from refmlc.native.tile.pieces import LEAST_LANES
from refmlc.native.tile.sizes import lanes_for
from refmlc.native.tile.terms import is_plain

PACKED, WRITTEN = 6, 1
"""Rows of a tile that take as long as packing what they share, as writing them by runs."""


def folded(
    shape: Shape, reads: Sequence[Leaf], vector: Dim, row: Dim | None, most: int, names: Names
) -> tuple[Shape, Dim] | None:
    """`shape` with `vector` and a loop around it as one dim, and that dim; None: it is not worth it.

    `most`: the lanes of a whole vector.
    """
    used = {id(dim) for dim in (vector, row, *shape.index.values())}
    if row is None or most < LEAST_LANES or id(vector) in {id(dim) for dim in shape.index.values()}:
        return None
    for outer in shape.spatial:
        if id(outer) in used:
            continue
        least = _vectors(vector.extent, most) * outer.extent * row.extent
        best = None
        for pitch, rows in _ways(shape, reads, outer, vector, row):
            extent = pitch * (outer.extent - 1) + vector.extent
            time = _vectors(extent, most) * (row.extent + rows)
            if time < least:
                least, best = time, (pitch, extent)
        if best is not None:
            pitch, extent = best
            dim = Dim(names.new(f"{outer.name}_{vector.name}"), extent, (outer, vector), pitch)
            return with_joined(shape, outer, vector, dim, pitch), dim
    return None


def _ways(shape: Shape, reads: Sequence[Leaf], outer: Dim, vector: Dim, row: Dim) -> Iterator[tuple[int, int]]:
    """From row to row how many elements the dim may count, and what that costs."""
    writes = [write.access for write in (*shape.init, *shape.stores)]
    if not all(continues(access, outer, vector, vector.extent) and access.of(vector) == 1 for access in writes):
        return
    apart = [leaf for leaf in reads if not continues(leaf.access, outer, vector, vector.extent)]
    moving = [leaf.access for leaf in reads if leaf.access.uses((outer, vector))]
    if all(_in_runs(leaf, shape, vector, row) for leaf in apart):
        yield vector.extent, PACKED * sum(leaf.access.of(vector) == 1 for leaf in apart)
    pitches = {_pitch(access, outer, vector) for access in moving}
    initialised = {write.access.buffer for write in shape.init}
    if (
        len(pitches) == 1
        and (pitch := pitches.pop()) > vector.extent
        and shape.read <= initialised
        and all(any(access.of(dim) == 1 for dim in shape.reduce) for access in moving)  # else it is packed as it is
        and all(is_plain(access.buffer.dtype) for access in writes)
    ):
        yield pitch, WRITTEN


def _pitch(access: Access, outer: Dim, vector: Dim) -> int:
    """Elements from row to row; 0 where those of a row are not side by side."""
    return access.of(outer) if access.of(vector) == 1 else 0


def _vectors(elements: int, most: int) -> int:
    return -(-elements // lanes_for(most, elements))


def _in_runs(leaf: Leaf, shape: Shape, vector: Dim, row: Dim) -> bool:
    """Whether a leaf can be packed in runs: as it is in memory, for all rows."""
    fits = leaf.access.of(vector) > 0 and leaf.access.of(row) == 0 and leaf.access.uses(shape.reduce)
    return fits and is_plain(leaf.source) and leaf.source.element == leaf.dtype.element
