"""The regions of a block, from the accesses in its body: a box for each buffer.

| indices of the accesses of one dimension        | the box                             |
|-------------------------------------------------|-------------------------------------|
| all the same                                    | that index, extent 1                |
| of constant distance from each other            | from the least to the greatest      |
| otherwise                                       | the whole dimension                 |

Boxes may be greater than what an instance touches, never smaller. Buffers are in the order of the first access.
"""

from collections.abc import Iterable

from refmlc.lang.arith.extents import polynomial
from refmlc.lang.dtypes import INT32
from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.lang.te.value import Value

Accesses = dict[tir.Buffer, list[tuple[tir.Expr, ...]]]


def loads(nodes: Iterable[tir.Expr | tir.Stmt]) -> Accesses:
    """The indices of every load in `nodes`, by buffer."""
    accesses: Accesses = {}
    for root in nodes:
        for node in walk(root):
            if isinstance(node, tir.BufferLoad):
                accesses.setdefault(node.buffer, []).append(node.indices)
    return accesses


def boxes(accesses: Accesses) -> tuple[tir.BufferRegion, ...]:
    """A box for each buffer that holds all accesses of it."""
    return tuple(
        tir.BufferRegion(
            buffer,
            tuple(_range([access[place] for access in indices], extent) for place, extent in enumerate(buffer.shape)),
        )
        for buffer, indices in accesses.items()
    )


def _range(indices: list[tir.Expr], extent: tir.Expr) -> tir.Range:
    first = indices[0]
    distances = [_distance(index, first) for index in indices]
    finite = [distance for distance in distances if distance is not None]
    if len(finite) < len(distances):
        return tir.Range(tir.IntImm(extent.dtype, 0), extent)
    low, high = min(finite), max(finite)
    begin = Value(first) + low if low else Value(first)
    return tir.Range(begin.expr, tir.IntImm(first.dtype if first.dtype.is_integer else INT32, high - low + 1))


def _distance(a: tir.Expr, b: tir.Expr) -> int | None:
    """A - b, where it is constant."""
    if a is b:
        return 0
    return (polynomial(a, {}) - polynomial(b, {})).only
