"""Kernels whose blocks of a cluster wait for each other: their threads run together (TIX-022).

One loop is over the threads of all blocks of a cluster, the blocks x fastest, and the loops around it are over the
clusters. Other kernels run one block after the other, whatever clusters they have.
"""

from math import prod
from typing import TypeGuard

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.ir import tir
from refmlc.lang.ir.clusters import is_of_cluster
from refmlc.lang.ir.instructions import instruction
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.scope_ids import WARP, Launch, as_dtype, count_of
from refmlc.lang.ir.threads import is_atomic
from refmlc.lang.ir.tirx import KERNEL
from refmlc.lang.ir.visit import rewrite, walk

SHARED_BY_ALL = ("tvm_thread_allreduce",)
"""What is executed for all threads that run together as one block."""


def size(launch: Launch) -> int:
    """The number of blocks of a cluster; sizes are constant."""
    return prod(extent.value for extent in launch.cluster if isinstance(extent, tir.IntImm))


def of_grid(launch: Launch) -> tuple[tir.Expr, ...]:
    """The number of clusters on each axis."""
    counts = [_divided(extent, by) for extent, by in zip(launch.grid, launch.cluster, strict=False)]
    return (*counts, *launch.grid[len(counts) :])


def _divided(extent: tir.Expr, by: tir.Expr) -> tir.Expr:
    if isinstance(by, tir.IntImm) and isinstance(extent, tir.IntImm):
        return tir.IntImm(extent.dtype, extent.value // by.value, span=extent.span)
    return extent


def together(launch: Launch, body: tir.Stmt) -> int:
    """The number of threads of a block, where the blocks of a cluster run together; 0: they do not. Fails: RM504."""
    barrier = next((node for node in walk(body) if is_of_cluster(node)), None)
    if barrier is None or size(launch) == 1:
        return 0
    threads = count_of(launch.block)
    if not threads.is_constant or threads.constant % WARP:
        message = f"clusters of blocks whose number of threads is no constant multiple of {WARP} are not executed"
        raise fail(UNSUPPORTED_CONSTRUCT, message, barrier.span)
    for node in walk(body):
        if isinstance(node, tir.Call) and (node.callee in SHARED_BY_ALL or _is_atomic_in_block(node)):
            message = f"`T.{node.callee}` in a kernel whose blocks wait for each other is not executed"
            raise fail(UNSUPPORTED_CONSTRUCT, message, node.span)
    return threads.constant


def _is_atomic_in_block(call: tir.Call) -> bool:
    """Whether an operation is atomic among the threads of one block only."""
    item = instruction(call) if is_atomic(call) else None
    return item is not None and "cta" in item


def with_ranks(body: tir.Stmt, thread: tir.Expr) -> tir.Stmt:
    """The body with the number of a thread in its block, not among those that run together."""
    return rewrite(body, lambda node: as_dtype(thread, node.dtype) if _is_rank(node) else node)


def _is_rank(node: Node) -> TypeGuard[tir.Call]:
    return isinstance(node, tir.Call) and node.callee == "cuda.thread_rank"


def check_memory(body: tir.Stmt) -> None:
    """Fails: RM504 where shared memory is allocated outside of a kernel whose blocks run together."""
    nodes = list(walk(body))
    kernels = [node for node in nodes if isinstance(node, tir.AttrStmt) and node.key == KERNEL and node.value]
    inside = {id(part) for kernel in kernels for part in walk(kernel)}
    for node in nodes if kernels else ():
        allocated = node.alloc_buffers if isinstance(node, tir.SBlock) else ()
        allocated = (node.buffer,) if isinstance(node, tir.AllocBuffer) else allocated
        for buffer in () if id(node) in inside else allocated:
            if buffer.scope.startswith("shared"):
                message = f"`{buffer.name}`, allocated around blocks that wait for each other, is not executed"
                raise fail(UNSUPPORTED_CONSTRUCT, message, buffer.span)
