"""What a block promises, for all sizes: conditions that are enough for the instances to keep it.

| kind       | must hold                                                                             | otherwise |
|------------|---------------------------------------------------------------------------------------|-----------|
| `declared` | an access is in a region of `T.reads` or `T.writes`                                   | RM318     |
| `spatial`  | instances that differ in a spatial axis do not use one element of which one writes it | RM319     |
| `repeated` | no two iterations have the same values of all axes, if the block reduces              | RM320     |
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import z3

from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.prove.sizes.accesses import LoopFrame, SizedAccess, renaming
from refmlc.prove.sizes.reach import lexicographic

Region: TypeAlias = "tuple[tir.Buffer, tuple[tuple[z3.ArithRef, z3.ArithRef], ...]]"
Promise: TypeAlias = "tuple[str, tuple[z3.BoolRef, ...], z3.BoolRef, str]"
"""Kind, conditions, goal, text."""


@dataclass(frozen=True, eq=False)
class SizedBlock:
    """A block in its loops, with the values of its axes and its regions; `conditions`: what is known where it runs.

    `accesses`: those in it, of memory from outside.
    """

    block: tir.SBlock
    frames: tuple[LoopFrame, ...]
    axes: tuple["z3.ArithRef", ...]
    conditions: tuple["z3.BoolRef", ...]
    reads: tuple[Region, ...] | None
    writes: tuple[Region, ...] | None
    accesses: list[SizedAccess] = field(default_factory=list)

    def axes_of(self, *kinds: IterKind) -> list["z3.ArithRef"]:
        """The values of the axes of some kinds."""
        return [value for value, axis in zip(self.axes, self.block.iter_vars, strict=True) if axis.kind in kinds]

    def may_read_what_it_writes(self) -> bool:
        """Whether loads may be of what `T.writes` names."""
        kinds = [axis.kind for axis in self.block.iter_vars]
        return self.block.init is not None or IterKind.REDUCE in kinds or not kinds


def promises(site: SizedBlock, made: Sequence["z3.ExprRef"]) -> Iterator[Promise]:
    """What is enough for a block to keep its promises. `made`: the constants of the function."""
    name = site.block.name
    for access in site.accesses:
        goal = _declared(site, access)
        if goal is not None:
            yield "declared", access.conditions, goal, f"block `{name}` declares what it accesses"
    yield from _spatial(site, made)
    since = site.frames[0].made if site.frames else len(made)
    if any(axis.kind is not IterKind.SPATIAL for axis in site.block.iter_vars) and site.frames:
        others = renaming(made, since, "'")
        steps = [(each, z3.substitute(each, *others)) for frame in site.frames for each in frame.variables]
        same = [each == z3.substitute(each, *others) for each in site.axes]
        moved = [z3.substitute(each, *others) for each in site.conditions]
        conditions = (*site.conditions, *moved, *same, lexicographic(steps))
        yield "repeated", conditions, z3.BoolVal(False), f"block `{name}` executes no point twice"


def _declared(site: SizedBlock, access: SizedAccess) -> "z3.BoolRef | None":
    """What is enough for an access to be declared; None: the block declares nothing."""
    is_store = isinstance(access.node, tir.BufferStore)
    regions = site.writes if is_store else site.reads
    if regions is None or not (site.reads or site.writes):
        return None
    if not is_store and site.may_read_what_it_writes():
        regions = (*regions, *(site.writes or ()))
    ways = [
        z3.And(*(z3.And(at >= low, at < low + extent) for at, (low, extent) in zip(access.indices, box, strict=True)))
        for buffer, box in regions
        if buffer is access.buffer
    ]
    return z3.Or(*ways)


def _spatial(site: SizedBlock, made: Sequence["z3.ExprRef"]) -> Iterator[Promise]:
    axes = site.axes_of(IterKind.SPATIAL)
    if not axes or not site.frames:
        return
    others = renaming(made, site.frames[0].made, "'")
    differ = z3.Or(*(each != z3.substitute(each, *others) for each in axes))
    for store in site.accesses:
        if not isinstance(store.node, tir.BufferStore):
            continue
        for access in site.accesses:
            if access.buffer is store.buffer:
                moved = [z3.substitute(each, *others) for each in access.conditions]
                places = [z3.substitute(each, *others) for each in access.indices]
                apart = z3.Or(*(a != b for a, b in zip(store.indices, places, strict=True)))
                text = f"instances of block `{site.block.name}` are independent"
                yield "spatial", (*store.conditions, *moved, differ), apart, text
