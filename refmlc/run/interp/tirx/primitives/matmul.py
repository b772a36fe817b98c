"""The product of two matrices: D = alpha * A B + beta * C (TIP-051).

| operand  | extents | transposed |
|----------|---------|------------|
| `A`      | m, k    | k, m       |
| `B`      | k, n    | n, k       |
| `C`, `D` | m, n    |            |

Products and sums are of the accumulator's dtype: float32 where D is a narrower float, else that of D. The terms are
added from 0 in the order of k, each step rounded. Decision: every order is permitted, as of sums (TIP-032).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from refmlc.diag.catalogue import SHAPE_MISMATCH
from refmlc.lang.dtypes import FLOAT32, DType
from refmlc.lang.ops.contract import Scalar
from refmlc.run.interp.tirx.primitives.elementwise import write
from refmlc.run.interp.tirx.primitives.operands import TileOperands, TileSource, shown
from refmlc.run.interp.tirx.primitives.overlap import check_apart, check_elements
from refmlc.run.interp.tirx.primitives.shapes import Index, wide
from refmlc.run.interp.tirx.tile_view import TileView


@dataclass(frozen=True, slots=True)
class Matrix:
    """A tile as a matrix: the dimensions of its rows and of its columns; others have the extent 1."""

    tile: TileView
    row_axis: int
    column_axis: int

    @property
    def extents(self) -> tuple[int, int]:
        """The numbers of rows and of columns."""
        return self.tile.shape[self.row_axis], self.tile.shape[self.column_axis]

    def index(self, row: int, column: int) -> Index:
        """The index in the tile."""
        found = [0] * len(self.tile.shape)
        found[self.row_axis], found[self.column_axis] = row, column
        return tuple(found)

    def place(self, index: Index) -> tuple[int, int]:
        """The row and the column of an index in the tile."""
        return index[self.row_axis], index[self.column_axis]

    def rows(self, convert: Callable[[Scalar], Scalar]) -> list[list[Scalar]]:
        """All elements, converted."""
        height, width = self.extents
        load = self.tile.load
        return [[convert(load(self.index(row, column))) for column in range(width)] for row in range(height)]


def matrix(operands: TileOperands, name: str, *, transposed: bool = False) -> Matrix:
    """An operand as a matrix: a tile of rank 2, or with two extents other than 1. Fails: RM202."""
    tile = operands.tile(name)
    axes = (0, 1) if len(tile.shape) == 2 else wide(tile.shape)
    if len(axes) != 2:
        message = f"`{name}` of `{operands.name}` has the shape {shown(tile.shape)}, which is no matrix"
        raise operands.refuse(SHAPE_MISMATCH, message)
    first, second = axes
    return Matrix(tile, second, first) if transposed else Matrix(tile, first, second)


def accumulator(dtype: DType) -> DType:
    """The dtype of the sums for a destination of `dtype`."""
    return FLOAT32 if dtype.is_float and dtype.bits < FLOAT32.bits else dtype


def gemm(operands: TileOperands) -> None:  # TIP-051
    """Fails: RM202 shapes; RM321 D shares memory with A or B; RM503 dtypes."""
    a = matrix(operands, "A", transposed=operands.flag("transpose_A"))
    b = matrix(operands, "B", transposed=operands.flag("transpose_B"))
    d = matrix(operands, "D")
    (rows, depth), (other_depth, columns) = a.extents, b.extents
    if depth != other_depth or d.extents != (rows, columns):
        message = f"`{operands.name}` multiplies {shown(a.extents)} by {shown(b.extents)} into {shown(d.extents)}"
        raise operands.refuse(SHAPE_MISMATCH, message)
    arithmetic, total = operands.arithmetic, accumulator(d.tile.dtype)
    add, mul = (arithmetic.binary(op, total, total).value for op in ("add", "mul"))
    alpha, beta = (_factor(operands, name, total) for name in ("alpha", "beta"))
    for tile in (a.tile, b.tile):
        _check_dtype(operands, tile.dtype, total)
    check_apart(operands, d.tile, (a.tile, b.tile))
    addend = _addend(operands, d, total) if beta else None
    left = a.rows(arithmetic.converted(a.tile.dtype, total))
    right = b.rows(arithmetic.converted(b.tile.dtype, total))
    convert = arithmetic.converted(total, d.tile.dtype)
    zero: Scalar = 0.0 if total.is_float else 0

    def element(index: Index) -> Scalar:
        row, column = d.place(index)
        value = zero
        for x, terms in zip(left[row], right, strict=True):
            value = add(value, mul(x, terms[column]))
        value = mul(alpha, value)
        return convert(value if addend is None else add(value, mul(beta, addend(index))))

    write(operands, d.tile, element)


def _check_dtype(operands: TileOperands, dtype: DType, total: DType) -> None:
    """Decision: what a conversion before the product would lose is not executed. Fails: RM504."""
    if dtype.is_float and not (total.is_float and dtype.bits <= total.bits):
        raise operands.unsupported(f"elements of {dtype} and sums of {total}")


def _factor(operands: TileOperands, name: str, total: DType) -> Scalar:
    """`alpha` or `beta` in the accumulator's dtype. Fails: RM504 where an integer is wanted and it is none."""
    dtype, value = operands.number(name)
    if total.is_integer and not float(value).is_integer():
        raise operands.unsupported(f"`{name}={value}` on sums of {total}")
    return operands.arithmetic.converted(dtype, total)(value)


def _addend(operands: TileOperands, d: Matrix, total: DType) -> Callable[[Index], Scalar]:
    """The elements of C for those of D. Fails: RM202, RM321."""
    c = matrix(operands, "C")
    if c.extents != d.extents:
        raise operands.misfit("C", c.tile.shape, d.tile.shape)
    _check_dtype(operands, c.tile.dtype, total)

    def pick(index: Index) -> Index:
        return c.index(*d.place(index))

    check_elements(operands, d.tile, (TileSource(c.tile.dtype, lambda index: c.tile.load(pick(index)), c.tile, pick),))
    convert = operands.arithmetic.converted(c.tile.dtype, total)
    return lambda index: convert(c.tile.load(pick(index)))


RULES: Mapping[str, Callable[[TileOperands], None]] = {"gemm": gemm}
"""The rule of each operator of this file."""
