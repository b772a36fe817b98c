"""The accesses of a block, in the form of `T.reads` and `T.writes`.

| index                                        | in the region                        |
|----------------------------------------------|--------------------------------------|
| made of the block's axes, the only access    | the element                          |
| anything else                                | all of that axis of the buffer       |
"""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.lang.ir.visit import walk
from refmlc.strategies.ranges import number

Regions: TypeAlias = tuple[tir.BufferRegion, ...]
Declared: TypeAlias = tuple[Regions | None, Regions | None]
Access: TypeAlias = tir.BufferLoad | tir.BufferStore
ELSEWHERE = (tir.SBlockRealize, tir.DeclBuffer, tir.AllocBuffer)


def declared(body: tir.Stmt, init: tir.Stmt | None, axes: Sequence[tir.IterVar]) -> Declared:
    """The regions that a block reads and writes; None if it contains another block or allocates storage."""
    loads: list[Access] = []
    stores: list[Access] = []
    for part in (body, init):
        for one in walk(part) if part is not None else ():
            if isinstance(one, ELSEWHERE):
                return None, None
            if isinstance(one, tir.BufferLoad):
                loads.append(one)
            elif isinstance(one, tir.BufferStore):
                stores.append(one)
    known = {axis.var for axis in axes}
    if any(axis.kind is IterKind.REDUCE for axis in axes):
        written = {one.buffer for one in stores}
        loads = [one for one in loads if one.buffer not in written]
    return _regions(loads, known), _regions(stores, known)


def _regions(accesses: Iterable[Access], known: set[tir.Var]) -> Regions:
    """One region for each buffer."""
    found: dict[tir.Buffer, list[Access]] = {}
    for one in accesses:
        found.setdefault(one.buffer, []).append(one)
    return tuple(_region(buffer, some, known) for buffer, some in found.items())


def _region(buffer: tir.Buffer, accesses: Sequence[Access], known: set[tir.Var]) -> tir.BufferRegion:
    ranges = []
    for axis, size in enumerate(buffer.shape):
        indices = [one.indices[axis] for one in accesses]
        first = indices[0]
        if all(one is first for one in indices) and _of_axes(first, known):
            ranges.append(tir.Range(first, number(first.dtype, 1)))
        else:
            ranges.append(tir.Range(number(size.dtype, 0), size))
    return tir.BufferRegion(buffer, tuple(ranges))


def _of_axes(index: tir.Expr, known: set[tir.Var]) -> bool:
    """Whether an index is made of axes and constants."""
    return all(
        one in known if isinstance(one, tir.Var) else isinstance(one, (tir.IntImm, tir.Apply)) for one in walk(index)
    )


def first_element(region: tir.BufferRegion) -> tir.BufferRegion:
    """The first element of the buffer of a region."""
    whole = (one.min.dtype for one in region.region)
    return tir.BufferRegion(region.buffer, tuple(tir.Range(number(kind, 0), number(kind, 1)) for kind in whole))
