"""How a nest is executed: dims, tiles, and how elements that are not side by side get into vectors.

| along the vector dim | an element that                                   | is                                     |
|----------------------|---------------------------------------------------|----------------------------------------|
| contiguous, strided  | many rows use                                     | packed: what a tile reads side by side |
| strided              | few rows use, contiguous along the reduction (or, | read in square blocks that are         |
|                      | without one, along rows)                          | transposed in registers                |
| strided              | is neither                                        | gathered                               |
| folded               | moves by the loops of the folded dim              | packed, by runs of what is in one row  |

Between chunks of the reduction, each with panels of its own, the accumulators are in their buffers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from refmlc.lang.ir.node import Node
from refmlc.native.options import Isa
from refmlc.native.text import Names
from refmlc.native.tile.dims import Dim, Leaf, Shape, Stride, continues, leaves_of
from refmlc.native.tile.folds import folded
from refmlc.native.tile.pieces import LEAST_LANES, Piece, pieces, width
from refmlc.native.tile.sizes import (
    block_shape,
    chunk_of,
    lanes_for,
    loads_of,
    most_lanes,
    row_dim,
    tile_shape,
    vector_dim,
)
from refmlc.native.tile.terms import lane_bits

MOST_TWICE = 8
"""At most this part of the elements along a dim is computed twice."""
MOST_ROWS_TWICE = 48
"""At most this part of the rows is computed twice in a long reduction: C for fewer rows is shorter than its time."""
FEW_ROWS = 2
"""At most this many rows read what is strided in square blocks, each for itself; for more it is packed."""
FEWEST_ROW_TILES = 4
"""Packing what is contiguous already pays from this many tiles of rows on."""


@dataclass(frozen=True, slots=True)
class Panel:
    """A leaf copied to where a tile reads it: rows are points of the reduction, columns those of the tile.

    `transposed`: copied in square blocks.
    """

    leaf: Leaf
    name: str
    transposed: bool

    @property
    def bits(self) -> int:
        """Bits of an element."""
        return lane_bits(self.leaf.dtype)


@dataclass(frozen=True, slots=True)
class Plan:
    """The choices.

    `outer` loops are around the packing, `middle` ones inside of it; `blocks` are read in square blocks; `chunk` counts
    points of the first reduction dim per panel.
    """

    shape: Shape
    leaves: Mapping[Node, Leaf]
    lanes: int
    vector: Dim
    row: Dim | None
    vectors: int
    rows: int
    outer: tuple[Dim, ...] = ()
    middle: tuple[Dim, ...] = ()
    blocks: tuple[Leaf, ...] = ()
    panels: tuple[Panel, ...] = ()
    chunk: int = 1

    def parts(self, count: int) -> tuple[Piece, ...]:
        """The vectors of `count` elements. Square blocks are all of one size."""
        narrow = not self.blocks and not any(panel.transposed for panel in self.panels)
        return pieces(count, self.lanes, narrow=narrow, twice=self.repeats)

    @property
    def repeats(self) -> bool:
        """Whether elements may be computed twice: nothing is read that the nest writes."""
        one_chunk = not self.shape.reduce or self.chunk >= self.shape.reduce[0].extent
        initialised = {write.access.buffer for write in self.shape.init}
        return one_chunk and self.shape.read <= initialised

    def overlaps(self, count: int, step: int, most: int = MOST_TWICE) -> bool:
        """Whether steps that do not divide `count` are taken all the same, the last one from its end back.

        One of `most` elements at most is computed twice.
        """
        return self.repeats and count >= step and count % step != 0 and step - count % step <= count // most

    @property
    def columns(self) -> int:
        """The columns of a panel, whole vectors."""
        columns = width(self.parts(min(self.vector.extent, self.vectors * self.lanes)))
        return -(-columns // self.lanes) * self.lanes

    @property
    def points(self) -> int:
        """The points of the reduction in a panel."""
        return self.chunk * prod(dim.extent for dim in self.shape.reduce[1:])

    @property
    def is_even(self) -> bool:
        """Whether the points of the reduction are one loop: all that is read continues from each dim to the next."""
        packed = {panel.leaf for panel in self.panels}
        accesses = [leaf.access for leaf in self.leaves.values() if leaf not in packed]
        neighbours = list(pairwise(self.shape.reduce))
        return all(continues(access, a, b, b.extent) for access in accesses for a, b in neighbours) and not any(
            dim is each for dim in self.shape.index.values() for each in self.shape.reduce
        )

    def bytes_of(self, panel: Panel) -> int:
        """The size of a panel, a multiple of what it is aligned to."""
        return -(-self.points * self.columns * panel.bits // 8 // 64) * 64

    def words(self) -> tuple[str, ...]:
        """The choices for people."""
        rows = f"{self.rows} of {self.row.name} x " if self.row else ""
        lanes = f"{self.vectors} vectors of {self.lanes}" if self.lanes > 1 else f"{self.vectors}"
        choices = [f"tiles of {rows}{lanes} of {self.vector.name}"]
        for panel in self.panels:
            is_folded = panel.leaf.stride(self.vector) is Stride.FOLDED
            packing = ", transposed in registers" if panel.transposed else ", row after row" if is_folded else ""
            choices.append(f"`{panel.leaf.access.buffer.name}` packed {self.points} x {self.columns}{packing}")
        if self.vector.folded and self.vector.pitch > self.vector.folded[1].extent:
            choices.append(f"written by runs of {self.vector.folded[1].extent} of {self.vector.pitch}")
        choices += [f"`{leaf.access.buffer.name}` transposed in registers" for leaf in self.blocks]
        if self.shape.reduce:
            choices.append(f"{', '.join(dim.name for dim in self.shape.reduce)} ascending for each element")
        return tuple(choices)


def plan_of(shape: Shape, isa: Isa, names: Names) -> Plan:
    """The choices for `shape`. Fails: `NoForm`."""
    leaves = leaves_of(shape)
    reads = tuple(dict.fromkeys(leaves.values()))
    vector = vector_dim(shape, reads)
    row = row_dim(shape, reads, vector)
    most = most_lanes(shape, leaves, vector, isa)
    if (fold := folded(shape, reads, vector, row, most, names)) is not None:
        shape, vector = fold
        leaves = leaves_of(shape)
        reads = tuple(dict.fromkeys(leaves.values()))
    lanes = lanes_for(most, vector.extent)
    outer_dims = tuple(dim for dim in shape.spatial if dim is not vector and dim is not row)
    square_rows = _turned(shape, reads, vector, lanes)
    if square_rows is not None:
        square_outer = tuple(dim for dim in outer_dims if dim is not square_rows)
        strided = tuple(leaf for leaf in reads if leaf.stride(vector) is Stride.STRIDED)
        return Plan(shape, leaves, lanes, vector, square_rows, 1, lanes, square_outer, blocks=strided)
    blocks = _blocks(shape, reads, vector, row, lanes)
    if blocks:
        rows, vectors = block_shape(shape, row)
        all_points = shape.reduce[0].extent
        return Plan(shape, leaves, lanes, vector, row, vectors, rows, outer_dims, blocks=blocks, chunk=all_points)
    rows, vectors = tile_shape(shape, loads_of(shape, reads, vector, row), vector, row, lanes, isa)
    panels = tuple(
        Panel(
            leaf,
            names.new(f"{leaf.access.buffer.name}_panel"),
            lanes >= LEAST_LANES and leaf.stride(vector) is Stride.STRIDED and _is_square(leaf, shape, lanes),
        )
        for leaf in reads
        if _is_packed(leaf, shape, vector, row, rows)
    )
    outer = tuple(dim for dim in outer_dims if not panels or any(panel.leaf.access.of(dim) for panel in panels))
    middle = tuple(dim for dim in outer_dims if dim not in outer)
    draft = Plan(shape, leaves, lanes, vector, row, vectors, rows, outer, middle, (), panels)
    size = sum(panel.bits // 8 for panel in panels) * draft.columns
    multiple = lanes if len(shape.reduce) == 1 and any(panel.transposed for panel in panels) else 1
    chunk = chunk_of(shape, size, multiple)
    return Plan(shape, leaves, lanes, vector, row, vectors, rows, outer, middle, (), panels, chunk)


def _blocks(shape: Shape, reads: tuple[Leaf, ...], vector: Dim, row: Dim | None, lanes: int) -> tuple[Leaf, ...]:
    """What is read in square blocks: all that is strided, where one tile of rows uses it."""
    strided = tuple(leaf for leaf in reads if leaf.stride(vector) is Stride.STRIDED and leaf.access.uses(shape.reduce))
    outer_dims = [dim for dim in shape.spatial if dim is not vector and dim is not row]
    used_once = all(leaf.access.of(dim) for leaf in strided for dim in outer_dims) and (
        row is None or row.extent <= FEW_ROWS
    )
    return (
        strided
        if used_once and lanes >= LEAST_LANES and all(_is_square(leaf, shape, lanes) for leaf in strided)
        else ()
    )


def _turned(shape: Shape, reads: tuple[Leaf, ...], vector: Dim, lanes: int) -> Dim | None:
    """Without a reduction, the dim along which all that is strided is contiguous: rows of square blocks."""
    strided = [leaf for leaf in reads if leaf.stride(vector) is Stride.STRIDED]
    if shape.reduce or not strided or lanes < LEAST_LANES or vector.extent < lanes or any(shape.index.values()):
        return None
    fits = [
        dim
        for dim in shape.spatial
        if dim.extent >= lanes and all(leaf.access.of(dim) == 1 and lane_bits(leaf.dtype) >= 32 for leaf in strided)
    ]
    return fits[0] if fits else None


def _is_packed(leaf: Leaf, shape: Shape, vector: Dim, row: Dim | None, rows: int) -> bool:
    if not leaf.access.uses(shape.reduce):
        return False
    match leaf.stride(vector):
        case Stride.FOLDED:
            return True
        case Stride.STRIDED:
            return row is not None
        case Stride.CONTIGUOUS if row is not None and not leaf.access.of(row):
            slides = any(leaf.access.of(dim) == 1 for dim in shape.reduce)
            return not slides and row.extent >= FEWEST_ROW_TILES * rows
        case _:
            return False


def _is_square(leaf: Leaf, shape: Shape, lanes: int) -> bool:
    """Whether blocks of the leaf can be transposed: contiguous along the innermost reduction dim, in whole words."""
    inner = shape.reduce[-1]
    return leaf.access.of(inner) == 1 and inner.extent >= lanes and lane_bits(leaf.dtype) >= 32
