"""Which dim runs along the lanes of a vector, which along the rows of a tile.

| dim    | rule                                                                                                 |
|--------|------------------------------------------------------------------------------------------------------|
| vector | stores and loads have stride 1 along it, or do not move; of several the longest                      |
| row    | most of what moves with the lanes stands still along it: it is loaded once for all rows; the longest |
"""

from collections.abc import Sequence

from refmlc.native.tile.dims import Dim, Shape
from refmlc.native.tile.leaves import Leaf, Stride
from refmlc.native.tile.tiled import NoForm


def vector_dim(shape: Shape, reads: Sequence[Leaf]) -> Dim:
    """The dim that runs along the lanes. Fails: `NoForm` where there is none."""
    if not shape.spatial:
        raise NoForm("there is one result only: its reduction is in order")
    inner = shape.reduce[-1] if shape.reduce else None

    def cost(dim: Dim) -> tuple[float, int]:
        stores = sum(8 for write in shape.stores if write.access.of(dim) != 1)
        strided = [leaf for leaf in reads if leaf.stride(dim) is Stride.STRIDED]
        loads = sum(3 if leaf.access.of(inner) == 1 else 6 for leaf in strided)
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
