"""How large tiles and panels are.

A tile has rows x vectors accumulators, which stay in registers while the reduction runs, beside what a step loads. Of
the shapes that fit the one that takes the least time is taken: a vector operation counts 1, a load 1/2 (two are
started beside arithmetic), a step 1 more; rests at the ends of dims are counted as the smaller tiles that they are.

| tile of                      | vectors                                                                   |
|------------------------------|---------------------------------------------------------------------------|
| a reduction                  | by time                                                                   |
| a reduction in square blocks | 1, more where a step is long: the steps of one vector wait for each other |
| no reduction                 | as many as give a few operations                                          |
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from refmlc.lang.ir import tir
from refmlc.native.options import Isa
from refmlc.native.tile.dims import Dim, Shape, computed
from refmlc.native.tile.leaves import Leaf, Stride
from refmlc.native.tile.terms import SMALL_FLOATS
from refmlc.native.tile.tiled import NoForm

MOST_ROWS = 8
MOST_VECTORS = 8
MOST_VECTORS_OF_ROWS = 4
FEW_OPERATIONS = 8
PANELS = 256 * 1024
"""Bytes of panels that rows use again: half of a small second-level cache."""
LARGEST_PANEL = 64 * 1024 * 1024
LONG = ("exp", "pow", "tanh", "sigmoid", "erf", "log", "sin", "cos")


@dataclass(frozen=True, slots=True)
class Load:
    """What a step loads, counted: vectors that all rows share, vectors that each row has, numbers of each row."""

    shared: int
    own: int
    numbers: int


def loads_of(shape: Shape, reads: Sequence[Leaf], vector: Dim, row: Dim | None) -> Load:
    """The loads of a step."""
    moving = [leaf for leaf in reads if leaf.access.uses(shape.reduce)]
    vectors = [leaf for leaf in moving if leaf.stride(vector) is not Stride.UNIFORM]
    row_vectors = sum(1 for leaf in vectors if leaf.access.of(row))
    numbers = sum(1 for leaf in moving if leaf.stride(vector) is Stride.UNIFORM and leaf.access.of(row))
    return Load(len(vectors) - row_vectors, row_vectors, numbers)


def tile_shape(shape: Shape, load: Load, vector: Dim, row: Dim | None, lanes: int, isa: Isa) -> tuple[int, int]:
    """Rows and vectors of a tile."""
    operations = operations_of(shape)
    if not shape.reduce:
        return 1, max(1, FEW_OPERATIONS // operations)
    long_rows = row.extent if row else 1
    long_vectors = -(-vector.extent // lanes)

    def step(rows: int, vectors: int) -> float:
        loads = load.shared * vectors + load.numbers * rows + load.own * rows * vectors
        return rows * vectors * operations + loads / 2 + 1

    def time(choice: tuple[int, int]) -> float:
        sides = ((choice[0], long_rows // choice[0]), (long_rows % choice[0], 1))
        lengths = ((choice[1], long_vectors // choice[1]), (long_vectors % choice[1], 1))
        return sum(n * m * step(rows, vectors) for rows, n in sides for vectors, m in lengths if rows and vectors)

    choices = [
        (rows, vectors)
        for rows in range(1, min(MOST_ROWS, long_rows) + 1)
        for vectors in range(1, min(MOST_VECTORS_OF_ROWS if row else MOST_VECTORS, long_vectors) + 1)
        if rows * vectors * len(shape.buffers) + load.shared * vectors + 2 <= _room(shape, isa)
    ]
    return min(choices, key=time, default=(1, 1))


def block_shape(shape: Shape, row: Dim | None) -> tuple[int, int]:
    """Rows and vectors of a tile whose vectors are transposed in registers: each block takes half of them."""
    waits = any(buffer.dtype.element in SMALL_FLOATS for buffer in shape.buffers)
    return (row.extent, 1) if row else (1, 3 if waits else 1)


def operations_of(shape: Shape) -> int:
    """Operators of one step; long ones count more."""
    values = [write.value for write in shape.stores] + [let.value for let in shape.lets]
    nodes = [node for value in values for node in computed(value)]
    operators = sum(isinstance(node, tir.Apply | tir.Select | tir.IfThenElseExpr | tir.Cast) for node in nodes)
    return max(1, operators + sum(2 * FEW_OPERATIONS for n in nodes if isinstance(n, tir.Apply) and n.op in LONG))


def chunk_of(shape: Shape, bytes_of_point: int, multiple: int) -> int:
    """Points of the first reduction dim per panel: equal parts, each a multiple of `multiple` but for the last."""
    if not shape.reduce:
        return 1
    extent = shape.reduce[0].extent
    size = bytes_of_point * prod(dim.extent for dim in shape.reduce[1:])
    if size == 0:
        return extent
    limit = max(1, PANELS // size)
    chunk = -(-extent // -(-extent // limit))
    if size * chunk > LARGEST_PANEL:
        raise NoForm("its panels would not fit in memory")
    return min(extent, -(-chunk // multiple) * multiple)


def _room(shape: Shape, isa: Isa) -> int:
    """Registers of a tile. Where each operation is rounded a few accumulators keep the machine busy."""
    small = any(buffer.dtype.element in SMALL_FLOATS for buffer in shape.buffers)
    return min(14, isa.registers or 16) if small else isa.registers or 16
