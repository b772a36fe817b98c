"""What a nest reads: each distinct element it loads, converted once where all that is done with it is a cast.

| against the vector dim | is                                                            |
|------------------------|---------------------------------------------------------------|
| coefficient 0          | `UNIFORM`: one number for all lanes                           |
| coefficient 1          | `CONTIGUOUS`: one load for all lanes                          |
| any other              | `STRIDED`: packed where it is reused, else gathered           |
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.native.tile.dims import Access, Dim, Shape, computed
from refmlc.native.tile.needs import VECTOR_DTYPES


class Stride(Enum):
    """How an element moves along the vector dim."""

    UNIFORM = 0
    CONTIGUOUS = 1
    STRIDED = 2


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """An element that is read: the access, the dtype of the buffer, and the one it is converted to. By identity."""

    access: Access
    source: DType
    dtype: DType

    def stride(self, vector: Dim | None) -> Stride:
        """How it moves along `vector`."""
        return {0: Stride.UNIFORM, 1: Stride.CONTIGUOUS}.get(self.access.of(vector), Stride.STRIDED)


def leaves_of(shape: Shape) -> Mapping[Node, Leaf]:
    """Loads, and casts of loads, as leaves; not those of what the nest stores. Order: of occurrence."""
    state = set(shape.buffers)
    leaves: dict[Node, Leaf] = {}
    by_access: dict[tuple[Access, str], Leaf] = {}
    for value in shape.values:
        under_cast = None
        for node in computed(value):
            inner = node.value if isinstance(node, tir.Cast) else node
            if node is under_cast or not isinstance(inner, tir.BufferLoad) or inner.buffer in state:
                under_cast = None
                continue
            source = inner.buffer.dtype
            target = node.dtype if isinstance(node, tir.Cast) else source
            if isinstance(node, tir.Cast) and not _joins(source, target):
                continue
            under_cast = inner if isinstance(node, tir.Cast) else None
            access = shape.loads[inner]
            place = node if isinstance(node, tir.Cast) else inner
            leaves[place] = by_access.setdefault((access, target.element), Leaf(access, source, target))
    return leaves


def _joins(source: DType, target: DType) -> bool:
    """Whether a load is converted as it is loaded."""
    are_vectors = source.element in VECTOR_DTYPES and target.element in VECTOR_DTYPES
    return are_vectors and source.element != target.element and source.kind != "bool" and target.kind != "bool"
