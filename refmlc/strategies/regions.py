"""The accesses of a block, in the form of `T.reads` and `T.writes`.

| index                                          | in the region                  |
|------------------------------------------------|--------------------------------|
| an expression of axes, the same in each access | that index                     |
| anything else                                  | all of that axis of the buffer |
"""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.lang.ir.visit import walk
from refmlc.strategies.ranges import number

Regions: TypeAlias = tuple[tir.BufferRegion, ...]
DeclaredRegions: TypeAlias = tuple[Regions | None, Regions | None]
Access: TypeAlias = tir.BufferLoad | tir.BufferStore
ELSEWHERE = (tir.SBlockRealize, tir.DeclBuffer, tir.AllocBuffer)


def declared_regions(body: tir.Stmt, init: tir.Stmt | None, axes: Sequence[tir.IterVar]) -> DeclaredRegions:
    """The regions that a block reads and writes; None if it contains a block or allocates storage."""
    loads: list[Access] = []
    stores: list[Access] = []
    for part in (body, init):
        for node in walk(part) if part is not None else ():
            if isinstance(node, ELSEWHERE):
                return None, None
            if isinstance(node, tir.BufferLoad):
                loads.append(node)
            elif isinstance(node, tir.BufferStore):
                stores.append(node)
    known = {axis.var for axis in axes}
    if any(axis.kind is IterKind.REDUCE for axis in axes):
        written = {node.buffer for node in stores}
        loads = [node for node in loads if node.buffer not in written]
    return _regions(loads, known), _regions(stores, known)


def _regions(accesses: Iterable[Access], known: set[tir.Var]) -> Regions:
    """One region for each buffer."""
    accesses_of: dict[tir.Buffer, list[Access]] = {}
    for access in accesses:
        accesses_of.setdefault(access.buffer, []).append(access)
    return tuple(_region(buffer, accesses, known) for buffer, accesses in accesses_of.items())


def _region(buffer: tir.Buffer, accesses: Sequence[Access], known: set[tir.Var]) -> tir.BufferRegion:
    ranges = []
    for axis, size in enumerate(buffer.shape):
        indices = [access.indices[axis] for access in accesses]
        first = indices[0]
        if all(access is first for access in indices) and _of_axes(first, known):
            ranges.append(tir.Range(first, number(first.dtype, 1)))
        else:
            ranges.append(tir.Range(number(size.dtype, 0), size))
    return tir.BufferRegion(buffer, tuple(ranges))


def _of_axes(index: tir.Expr, known: set[tir.Var]) -> bool:
    """True if an index consists of axes and constants."""
    return all(
        node in known if isinstance(node, tir.Var) else isinstance(node, (tir.IntImm, tir.Apply))
        for node in walk(index)
    )


def first_element(region: tir.BufferRegion) -> tir.BufferRegion:
    """The first element of the buffer of a region."""
    whole = (axis.min.dtype for axis in region.region)
    return tir.BufferRegion(region.buffer, tuple(tir.Range(number(kind, 0), number(kind, 1)) for kind in whole))
