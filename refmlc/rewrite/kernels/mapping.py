"""A function as kernels: spatial loops of each block become blocks of threads and threads, reductions stay in a thread.

Source: the rule `Fallback` of TVM 0.27, `python/tvm/s_tir/dlight/gpu/fallback.py`.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress

from refmlc.diag import RefmlcError
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.rewrite.kernels.blocks import KernelBlock
from refmlc.rewrite.schedule import LoopRV, Schedule
from refmlc.rewrite.schedule.handles import BlockRV

Step = Callable[[BlockRV], object]


def inline(schedule: Schedule, blocks: Sequence[KernelBlock]) -> list[KernelBlock]:
    """Inline what can be inlined into its readers, else into what it reads; the blocks that are left."""
    left = list(blocks)
    while True:
        taken = _first(schedule.compute_inline, left)
        if taken is None:
            taken = _first(schedule.reverse_compute_inline, left)
        if taken is None:
            return left
        left.remove(taken)


def _first(step: Step, blocks: Sequence[KernelBlock]) -> KernelBlock | None:
    """The first block on which a step is legal, after it."""
    for block in blocks:
        try:
            step(block.block_rv)
        except RefmlcError:
            continue
        return block
    return None


def inline_neighbours(schedule: Schedule, blocks: Sequence[KernelBlock]) -> list[KernelBlock]:
    """Inline spatial blocks that stand side by side; the blocks that are left."""
    left: list[KernelBlock] = []
    spatial: list[KernelBlock] = []
    for block in blocks:
        if block.is_injective():
            spatial.append(block)
            continue
        left += [*inline(schedule, spatial), block]
        spatial = []
    return left + inline(schedule, spatial)


def map_to_threads(schedule: Schedule, blocks: Sequence[KernelBlock], threads: int) -> None:
    """Bind the spatial loops of each block, `threads` to a block of threads. Fails: RM504 where that is not legal."""
    reductions: list[tuple[BlockRV, LoopRV]] = []
    for block in blocks:
        loops = schedule.get_loops(block.block_rv)
        if any(_is_bound(schedule, loop) for loop in loops):
            continue
        by_kind = _by_kind(schedule, block.block_rv, loops)
        spatial = by_kind[IterKind.SPATIAL] or [schedule.add_unit_loop(loops[0] if loops else block.block_rv)]
        reduced, others = by_kind[IterKind.REDUCE], by_kind[IterKind.OPAQUE]
        if by_kind[IterKind.SPATIAL] and [*spatial, *reduced, *others] != loops:
            schedule.reorder(*spatial, *reduced, *others)
        outer, inner = schedule.split(
            schedule.fuse(*spatial), factors=[None, threads if by_kind[IterKind.SPATIAL] else 1]
        )
        schedule.bind(outer, "blockIdx.x")
        schedule.bind(inner, "threadIdx.x")
        if reduced:
            reductions.append((block.block_rv, reduced[0]))
    for reduction, loop in reductions:
        with suppress(RefmlcError):  # an init of several buffers stays where it is
            schedule.decompose_reduction(reduction, loop)


def _by_kind(schedule: Schedule, block: BlockRV, loops: Sequence[LoopRV]) -> dict[IterKind, list[LoopRV]]:
    """The loops by the kinds of their axes."""
    kinds: dict[IterKind, list[LoopRV]] = {IterKind.SPATIAL: [], IterKind.REDUCE: [], IterKind.OPAQUE: []}
    stmt = schedule.get(block)
    axes = stmt.iter_vars if isinstance(stmt, tir.SBlock) else ()
    for axis, loop in zip(axes, loops, strict=False):
        kinds[axis.kind if axis.kind in kinds else IterKind.OPAQUE].append(loop)
    return kinds


def _is_bound(schedule: Schedule, loop: LoopRV) -> bool:
    stmt = schedule.get(loop)
    return isinstance(stmt, tir.For) and stmt.thread is not None
