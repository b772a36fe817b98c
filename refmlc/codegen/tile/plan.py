"""How a nest is executed: which dim runs along the lanes, which along the rows of a register tile, what is packed.

| choice      | rule                                                                                            |
|-------------|-------------------------------------------------------------------------------------------------|
| vector dim  | the one along which stores and loads have stride 1 or do not move, the longest of those          |
| row dim     | the one along which most of what moves with the lanes stands still: loaded once for all rows     |
| lanes       | those of the widest value, in a register                                                         |
| tile        | rows x vectors of accumulators that stay in registers during the reduction, in the least time   |
| packed      | what is strided along the lanes, and what many rows use again: a panel, reduction x columns      |
| chunk       | a panel is no longer than a cache holds; between chunks the accumulators are in their buffer     |
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from refmlc.codegen.options import Isa
from refmlc.codegen.tile.dims import Dim, Shape, computed
from refmlc.codegen.tile.lanes import lanes_for
from refmlc.codegen.tile.leaves import Leaf, Stride, leaves_of
from refmlc.codegen.tile.names import Names
from refmlc.codegen.tile.pieces import pieces, width
from refmlc.codegen.tile.terms import SMALL_FLOATS, held_bits
from refmlc.codegen.tile.tiled import NoForm
from refmlc.ir import tir
from refmlc.ir.node import Node

REUSED_PANEL = 256 * 1024
"""Bytes of a panel that many rows use again: half of a small second-level cache."""
PASSING_PANEL = 16 * 1024
"""Bytes of a panel that is used once: half of a first-level cache."""
LARGEST_PANEL = 64 * 1024 * 1024
MOST_ROWS = 8
MOST_VECTORS = 8
FEWEST_ROW_TILES = 4
"""Packing what has stride 1 already pays from this many tiles of rows on."""


@dataclass(frozen=True, slots=True)
class Panel:
    """A leaf copied to where a tile reads it: rows are points of the reduction, columns those of the tile.

    `transposed`: read along the innermost reduction dim, in blocks that are transposed in registers.
    """

    leaf: Leaf
    name: str
    transposed: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """The choices.

    `outer` loops are around the packing, `middle` ones inside of it; `chunk` counts points of the first reduction dim
    per panel.
    """

    shape: Shape
    leaves: Mapping[Node, Leaf]
    lanes: int
    vector: Dim
    row: Dim | None
    vectors: int
    rows: int
    outer: tuple[Dim, ...]
    middle: tuple[Dim, ...]
    panels: tuple[Panel, ...]
    chunk: int

    @property
    def columns(self) -> int:
        """The columns of a panel."""
        return columns_of(self.vector, self.vectors, self.lanes)

    @property
    def points(self) -> int:
        """The points of the reduction in a panel."""
        return self.chunk * prod(dim.extent for dim in self.shape.reduce[1:])

    @property
    def memory(self) -> int:
        """Bytes of all panels."""
        return sum(panel_bytes(panel, self.points, self.columns) for panel in self.panels)

    def words(self) -> tuple[str, ...]:
        """The choices for people."""
        rows = f"{self.rows} of {self.row.name} x " if self.row else ""
        lanes = f"{self.vectors} vectors of {self.lanes}" if self.lanes > 1 else f"{self.vectors}"
        said = [f"tiles of {rows}{lanes} of {self.vector.name}"]
        for panel in self.panels:
            how = ", transposed in registers" if panel.transposed else ""
            said.append(f"`{panel.leaf.access.buffer.name}` packed {self.points} x {self.columns}{how}")
        if self.shape.reduce:
            said.append(f"{', '.join(dim.name for dim in self.shape.reduce)} ascending for each element")
        return tuple(said)


def columns_of(vector: Dim, vectors: int, lanes: int) -> int:
    """The columns of a tile of so many vectors, in a panel."""
    return width(pieces(min(vector.extent, vectors * lanes), lanes))


def panel_bytes(panel: Panel, points: int, columns: int) -> int:
    """The size of a panel, a multiple of what it is aligned to."""
    return -(-points * columns * held_bits(panel.leaf.dtype) // 8 // 64) * 64


def registers(isa: Isa) -> int:
    """How many vector registers there are."""
    return 32 if isa.name in ("avx512", "neon") else 16


# --------------------------------------------------------------------------------------------------- dims


def vector_dim(shape: Shape, leaves: Mapping[Node, Leaf]) -> Dim:
    """The dim that runs along the lanes. Fails: `NoForm` where there is none."""
    if not shape.spatial:
        raise NoForm("there is one result only: its reduction is in order")
    inner = shape.reduce[-1] if shape.reduce else None
    reads = set(leaves.values())

    def cost(dim: Dim) -> tuple[float, int]:
        stores = sum(8 for write in shape.stores if write.access.of(dim) != 1)
        strided = [leaf for leaf in reads if leaf.stride(dim) is Stride.STRIDED]
        loads = sum(3 if leaf.access.of(inner) == 1 else 6 for leaf in strided)
        return (stores if inner is None else stores / 8) + loads, -dim.extent

    return min(shape.spatial, key=cost)


def row_dim(shape: Shape, leaves: Mapping[Node, Leaf], vector: Dim) -> Dim | None:
    """The dim of the rows of a register tile; None: there is none worth it."""
    reads = set(leaves.values())

    def gain(dim: Dim) -> int:
        still = [leaf for leaf in reads if leaf.access.of(dim) == 0 and leaf.access.uses(shape.reduce)]
        return sum(1 if leaf.stride(vector) is Stride.UNIFORM else 4 for leaf in still)

    def fits(dim: Dim) -> bool:
        return not any(leaf.access.of(dim) for leaf in reads if leaf.stride(vector) is Stride.STRIDED)

    others = [dim for dim in shape.spatial if dim is not vector and fits(dim)]
    best = max(others, key=lambda dim: (gain(dim), dim.extent), default=None)
    return best if best is not None and shape.reduce and gain(best) else None


# -------------------------------------------------------------------------------------------------- tiles


def tile_shape(
    shape: Shape, reads: Sequence[Leaf], vector: Dim, row: Dim | None, lanes: int, isa: Isa
) -> tuple[int, int]:
    """Rows and vectors of a tile: what takes the least time of what fits in the registers.

    Counted are vector operations, and half for each load: two are started at once beside arithmetic.
    """
    inside = [leaf for leaf in reads if leaf.access.uses(shape.reduce)]
    lined = [leaf for leaf in inside if leaf.stride(vector) is not Stride.UNIFORM]
    moving = sum(1 for leaf in lined if leaf.access.of(row))
    still = len(lined) - moving
    numbers = sum(1 for leaf in inside if leaf.stride(vector) is Stride.UNIFORM and leaf.access.of(row))
    operations = operations_of(shape)
    spare = 6 if any(buffer.dtype.element in SMALL_FLOATS for buffer in shape.buffers) else 2
    accumulators = len(shape.buffers)

    def fits(rows: int, vectors: int) -> bool:
        return rows * vectors * accumulators + still * vectors + spare <= registers(isa)

    def step(rows: int, vectors: int) -> float:
        loads = still * vectors + numbers * rows + moving * rows * vectors
        return rows * vectors * operations + loads / 2 + 1

    def time(choice: tuple[int, int]) -> float:
        whole_rows, rest_rows = divmod(row.extent if row else 1, choice[0])
        whole, rest = divmod(-(-vector.extent // lanes), choice[1])
        sides = ((choice[0], whole_rows), (rest_rows, 1 if rest_rows else 0))
        lengths = ((choice[1], whole), (rest, 1 if rest else 0))
        return sum(n * m * step(rows, vectors) for rows, n in sides for vectors, m in lengths if n and m)

    choices = [
        (rows, vectors)
        for rows in range(1, min(MOST_ROWS, row.extent if row else 1) + 1)
        for vectors in range(1, MOST_VECTORS + 1)
        if fits(rows, vectors)
    ]
    return min(choices, key=time, default=(1, 1))


def operations_of(shape: Shape) -> int:
    """Operators of one step."""
    values = [write.value for write in shape.stores] + [let.value for let in shape.lets]
    return max(1, sum(isinstance(node, tir.Apply | tir.Select) for value in values for node in computed(value)))


# -------------------------------------------------------------------------------------------------- the plan


def plan_of(shape: Shape, isa: Isa, names: Names) -> Plan:
    """The choices for `shape`. Fails: `NoForm`."""
    leaves = leaves_of(shape)
    reads = tuple(dict.fromkeys(leaves.values()))
    vector = vector_dim(shape, leaves)
    row = row_dim(shape, leaves, vector)
    lanes = lanes_for(shape, leaves, vector, isa)
    rows, vectors = tile_shape(shape, reads, vector, row, lanes, isa)
    others = tuple(dim for dim in shape.spatial if dim is not vector and dim is not row)
    packed = [leaf for leaf in reads if _is_packed(leaf, shape, vector, row, rows)]
    panels = tuple(
        Panel(leaf, names.new(f"{leaf.access.buffer.name}_panel"), _reads_along(leaf, shape)) for leaf in packed
    )
    outer = tuple(dim for dim in others if not packed or any(leaf.access.of(dim) for leaf in packed))
    middle = tuple(dim for dim in others if dim not in outer)
    chunk = _chunk(shape, panels, columns_of(vector, vectors, lanes), lanes, row is not None or bool(middle))
    return Plan(shape, leaves, lanes, vector, row, vectors, rows, outer, middle, panels, chunk)


def _is_packed(leaf: Leaf, shape: Shape, vector: Dim, row: Dim | None, rows: int) -> bool:
    if not leaf.access.uses(shape.reduce):
        return False
    match leaf.stride(vector):
        case Stride.STRIDED:
            return True
        case Stride.CONTIGUOUS if row is not None and not leaf.access.of(row):
            slides = any(leaf.access.of(dim) == 1 for dim in shape.reduce)
            return not slides and row.extent >= FEWEST_ROW_TILES * rows
        case _:
            return False


def _reads_along(leaf: Leaf, shape: Shape) -> bool:
    return leaf.access.of(shape.reduce[-1]) == 1 and held_bits(leaf.dtype) >= 32


def _chunk(shape: Shape, panels: Sequence[Panel], columns: int, lanes: int, reused: bool) -> int:
    """Points of the first reduction dim per panel: equal parts, a multiple of the lanes where blocks are transposed."""
    if not panels:
        return shape.reduce[0].extent if shape.reduce else 1
    first, inner = shape.reduce[0].extent, prod(dim.extent for dim in shape.reduce[1:])
    size = sum(panel_bytes(panel, inner, columns) for panel in panels)
    most = max(1, (REUSED_PANEL if reused else PASSING_PANEL) // size)
    chunk = -(-first // -(-first // most))
    if len(shape.reduce) == 1 and any(panel.transposed for panel in panels):
        chunk = min(first, -(-chunk // lanes) * lanes)
    if size * chunk > LARGEST_PANEL:
        raise NoForm("its panels would not fit in memory")
    return chunk
