"""sum, max, min over axes (TIP-031 … TIP-033), and the same negated (TIP-043).

| operator | of a and b | begins with                                       |
|----------|------------|---------------------------------------------------|
| `sum`    | a + b      | 0                                                 |
| `max`    | max(a, b)  | -inf; of integers the least number of the dtype    |
| `min`    | min(a, b)  | inf; of integers the greatest number of the dtype  |

`accum` begins with the element of the destination instead. Terms are combined in row-major order of the axes, each
step rounded. Decision: the order is not fixed, as in TIR-228: threads and instructions fold in trees of their own.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from refmlc.diag.catalogue import RANK_MISMATCH, UNSUPPORTED_DTYPE
from refmlc.lang.dtypes import DType
from refmlc.lang.ops.contract import Scalar
from refmlc.run.interp.tirx.primitives.arithmetic import Function
from refmlc.run.interp.tirx.primitives.elementwise import write
from refmlc.run.interp.tirx.primitives.operands import TileOperands, shown
from refmlc.run.interp.tirx.primitives.overlap import check_apart
from refmlc.run.interp.tirx.primitives.shapes import Index, extents, indices, wide
from refmlc.run.interp.tirx.tile_view import TileView

FOLDS: Mapping[str, str] = {"sum": "add", "max": "max", "min": "min"}
"""The scalar operator that combines two terms."""


def reduce(operands: TileOperands) -> None:  # TIP-031, TIP-032
    """`sum`, `max`, `min`. With `thread_reduce` (TIP-033) the destination may lie in the source."""
    spread = bool(operands.call.config.get("thread_reduce", False))
    tiles = Tiles(operands, "dst", "src", "axes", spread)
    apply_reduction(operands, operands.call.op, tiles, accum=operands.flag("accum"))


def reduce_negate(operands: TileOperands) -> None:  # TIP-043
    """Decision: with `accum` the text does not say whether the old element is negated too."""
    if operands.flag("accum"):
        raise operands.unsupported("`accum`: whether what is accumulated is negated is not defined")
    tiles = Tiles(operands, "output", "input", "reduce_axes")
    apply_reduction(operands, operands.operator("reduce_op"), tiles, negate=True)


@dataclass(frozen=True, slots=True)
class Tiles:
    """The tiles of a reduction by their names. `spread`: each element along a reduced axis gets the result."""

    operands: TileOperands
    destination: str
    source: str
    axes: str
    spread: bool = False

    @property
    def dst(self) -> TileView:
        """The tile that gets the results."""
        return self.operands.tile(self.destination)

    @property
    def src(self) -> TileView:
        """The tile whose elements are combined."""
        return self.operands.tile(self.source)

    def reduced(self) -> tuple[int, ...]:
        """The dimensions that are reduced, in order. Fails: RM208."""
        rank = len(self.src.shape)
        axes = self.operands.axes(self.axes)
        for axis in axes:
            if not -rank <= axis < rank:
                message = f"`{self.operands.name}` reduces the axis {axis} of a tile of rank {rank}"
                raise self.operands.refuse(RANK_MISMATCH, message)
        return tuple(sorted({axis % rank for axis in axes}))

    def places(self) -> Callable[[Index], Index]:
        """The indices that are kept, from an index of the destination. Fails: RM202, RM504."""
        shape, onto = self.src.shape, self.dst.shape
        reduced = self.reduced()
        kept = tuple(axis for axis in range(len(shape)) if axis not in reduced)
        if self.spread and len(onto) == len(shape) and extents(onto, kept) == extents(shape, kept):
            return lambda index: tuple([index[axis] for axis in kept])
        own, others = [axis for axis in kept if shape[axis] != 1], wide(onto)
        if extents(shape, own) == extents(onto, others):
            targets = dict(zip(own, others, strict=True))
            return lambda index: tuple([index[targets[axis]] if axis in targets else 0 for axis in kept])
        if prod(onto) > prod(extents(shape, kept)):
            raise self.operands.unsupported(
                f"a destination of the shape {shown(onto)} for the axes {shown(reduced)} of {shown(shape)}: "
                "which elements meet is left to the layouts"
            )
        raise self.operands.misfit(self.destination, onto, extents(shape, kept))


def apply_reduction(
    operands: TileOperands, op: str, tiles: Tiles, *, accum: bool = False, negate: bool = False
) -> None:
    """Combine the terms of each element of the destination. Fails: RM503 dtypes differ; RM504 no reduction."""
    if op not in FOLDS:
        raise operands.unsupported(f"`{op}` as a reduction")
    dst, src = tiles.dst, tiles.src
    if dst.dtype != src.dtype:
        message = f"`{operands.name}` reduces elements of {src.dtype} into elements of {dst.dtype}"
        raise operands.refuse(UNSUPPORTED_DTYPE, message, "the dtype of the sums between is not defined")
    fold = operands.arithmetic.binary(FOLDS[op], src.dtype, src.dtype).value
    kept = tiles.places()
    if not tiles.spread:
        check_apart(operands, dst, (src,))
    terms = _terms(src, tiles.reduced())
    start = identity(op, src.dtype)
    finish = _negation(operands, src.dtype) if negate else None

    def element(index: Index) -> Scalar:
        total = dst.load(index) if accum else start
        for term in terms(kept(index)):
            total = fold(total, term)
        return total if finish is None else finish(total)

    write(operands, dst, element)


def identity(op: str, dtype: DType) -> Scalar:
    """What a reduction begins with. The dtype is one that the operator accepts."""
    if op == "sum":
        return 0.0 if dtype.is_float else 0
    if dtype.is_float:
        return -math.inf if op == "max" else math.inf
    return dtype.minimum if op == "max" else dtype.maximum


def _negation(operands: TileOperands, dtype: DType) -> Function:
    product = operands.arithmetic.binary("mul", dtype, dtype).value
    minus = -1.0 if dtype.is_float else -1
    return lambda x: product(x, minus)


def _terms(src: TileView, reduced: Sequence[int]) -> Callable[[Index], list[Scalar]]:
    """The terms of an element, by its indices on the dimensions that are kept. Order: row-major."""
    rank = len(src.shape)
    kept = [axis for axis in range(rank) if axis not in reduced]
    order = [*kept, *reduced]
    places = [order.index(axis) for axis in range(rank)]
    inner = tuple(indices(extents(src.shape, reduced)))

    def terms(outer: Index) -> list[Scalar]:
        joined = [(*outer, *rest) for rest in inner]
        return [src.load(tuple([whole[place] for place in places])) for whole in joined]

    return terms


RULES: Mapping[str, Callable[[TileOperands], None]] = {
    **dict.fromkeys(FOLDS, reduce),
    "reduce_negate": reduce_negate,
}
"""The rule of each operator of this file."""
