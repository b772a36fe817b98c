"""Which dim runs along the lanes of a vector and which along the rows of a tile; how many lanes; how large tiles are.

| dim    | rule                                                                                                 |
|--------|------------------------------------------------------------------------------------------------------|
| vector | stores and loads have stride 1 along it, or do not move; of several the longest                      |
| row    | most of what moves with the lanes stands still along it: it is loaded once for all rows; the longest |

A nest has as many lanes as a register holds of its widest value that differs between lanes; numbers may be wider.

A tile has rows x vectors accumulators, which stay in registers while the reduction runs, beside what a step loads. Of
the shapes that fit the one that takes the least time is taken: a vector operation counts 1, a load 1/2 (two are
started beside arithmetic), a step 1 more; rests at the ends of dims are counted as the smaller tiles that they are.

| tile of                      | vectors                                                                   |
|------------------------------|---------------------------------------------------------------------------|
| a reduction                  | by time                                                                   |
| a reduction in square blocks | 1, more where a step is long: the steps of one vector wait for each other |
| no reduction                 | as many as give a few operations                                          |
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.native.options import Isa
from refmlc.native.tile.dims import Dim, Leaf, Shape, Stride, computed
from refmlc.native.tile.headers import VECTOR_DTYPES, NoForm
from refmlc.native.tile.terms import SMALL_FLOATS, lane_bits


def vector_dim(shape: Shape, reads: Sequence[Leaf]) -> Dim:
    """The dim that runs along the lanes. Fails: `NoForm` where there is none."""
    if not shape.spatial:
        raise NoForm("there is one result only: its reduction is in order")
    inner = shape.reduce[-1] if shape.reduce else None

    def cost(dim: Dim) -> tuple[float, int]:
        stores = sum(8 for write in shape.stores if write.access.of(dim) != 1)
        strided = [leaf for leaf in reads if leaf.stride(dim) is Stride.STRIDED]
        loads = sum(3 if leaf.access.of(inner) == 1 or leaf.access.of(dim) == 2 else 6 for leaf in strided)
        return (stores if inner is None else stores / 8) + loads, -dim.extent

    return min(shape.spatial, key=cost)


def row_dim(shape: Shape, reads: Sequence[Leaf], vector: Dim) -> Dim | None:
    """The dim of the rows of a tile; None: there is none worth it."""

    def gain(dim: Dim) -> int:
        fixed_leaves = [leaf for leaf in reads if leaf.access.of(dim) == 0 and leaf.access.uses(shape.reduce)]
        return sum(1 if leaf.stride(vector) is Stride.UNIFORM else 4 for leaf in fixed_leaves)

    def fits(dim: Dim) -> bool:
        return not any(leaf.access.of(dim) for leaf in reads if leaf.stride(vector) is Stride.STRIDED)

    candidates = [dim for dim in shape.spatial if dim is not vector and fits(dim)]
    best = max(candidates, key=lambda dim: (gain(dim), dim.extent), default=None)
    return best if best is not None and shape.reduce and gain(best) else None


def most_lanes(shape: Shape, leaves: Mapping[Node, Leaf], vector: Dim, isa: Isa) -> int:
    """The lanes that a register holds; 1 where there are no vectors. Fails: `NoForm`, for dtypes."""
    if not isa.vector_bytes:
        return 1
    widths = _Widths(shape, leaves, vector)
    widest = max([widths.of(value) for value in shape.values] + [_bits(buffer.dtype) for buffer in shape.buffers])
    return isa.vector_bytes * 8 // widest


def lanes_for(most: int, elements: int) -> int:
    """The lanes, no more than there are elements."""
    lanes = most
    while lanes > 1 and lanes // 2 >= elements:
        lanes //= 2
    return lanes


class _Widths:
    """Bits of the widest part of an expression that differs between lanes; 0: none does."""

    def __init__(self, shape: Shape, leaves: Mapping[Node, Leaf], vector: Dim) -> None:
        self._shape = shape
        self._leaves = leaves
        self._vector = vector
        self._bound: dict[tir.Var, int] = {}
        for let in shape.lets:
            self._bound[let.var] = self.of(let.value)

    def of(self, value: tir.Expr) -> int:
        leaf = self._leaves.get(value)
        if leaf is not None:
            uniform = leaf.stride(self._vector) is Stride.UNIFORM
            return 0 if uniform else max(_bits(leaf.source), _bits(leaf.dtype))
        match value:
            case tir.BufferLoad():
                return _bits(value.dtype)
            case tir.Var() if value in self._bound:
                return self._bound[value]
            case tir.Var():
                return _bits(value.dtype) if self._shape.index.get(value) is self._vector else 0
            case tir.Let():
                self._bound[value.var] = self.of(value.value)
                return max(self._bound[value.var], self.of(value.body))
            case _:
                widest = max(map(self.of, _operands(value)), default=0)
                return max(widest, _bits(value.dtype)) if widest and value.dtype.kind != "bool" else widest


def _operands(value: tir.Expr) -> tuple[tir.Expr, ...]:
    match value:
        case tir.Apply():
            return value.args
        case tir.Cast():
            return (value.value,)
        case tir.And() | tir.Or():
            return (value.a, value.b)
        case tir.Select() | tir.IfThenElseExpr():
            return (value.condition, value.true_value, value.false_value)
        case _:
            return ()


def _bits(dtype: DType) -> int:
    if dtype.element not in VECTOR_DTYPES or dtype.is_vector:
        raise NoForm(f"there are no vectors of {dtype}")
    return 8 if dtype.kind == "bool" else lane_bits(dtype)


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
