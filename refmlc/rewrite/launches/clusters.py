"""Kernels whose blocks of a cluster need each other: their threads run together (TIX-022, TIX-030).

They do where the threads of a cluster meet, or reach memory of other blocks. One loop is over the threads of all blocks
of a cluster, the blocks x fastest, and the loops around it are over the clusters. Other kernels run one block after the
other, whatever clusters they have.
"""

from math import prod
from typing import TypeGuard

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.ir import tir
from refmlc.lang.ir.clusters import AXIS, is_of_cluster, reaches_blocks
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.scope_ids import Launch, as_dtype, count_of
from refmlc.lang.ir.subtree import nodes_of
from refmlc.lang.ir.threads import tag_of
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
    reason = next((node for node in walk(body) if is_of_cluster(node) or reaches_blocks(node)), None)
    if reason is None or size(launch) == 1:
        return 0
    threads = count_of(launch.block)
    if not threads.is_constant or not all(isinstance(extent, tir.IntImm) for extent in launch.cluster):
        message = "clusters of which the numbers of blocks and threads are not constant are not executed"
        raise fail(UNSUPPORTED_CONSTRUCT, message, reason.span)
    for node in walk(body):
        if isinstance(node, tir.Call) and node.callee in SHARED_BY_ALL:
            message = f"`T.{node.callee}` in a kernel whose blocks wait for each other is not executed"
            raise fail(UNSUPPORTED_CONSTRUCT, message, node.span)
    return threads.constant


def with_ranks(body: tir.Stmt, thread: tir.Expr) -> tir.Stmt:
    """The body with the number of a thread in its block, not among those that run together."""
    return rewrite(body, lambda node: as_dtype(thread, node.dtype) if _is_rank(node) else node)


def _is_rank(node: Node) -> TypeGuard[tir.Call]:
    return isinstance(node, tir.Call) and node.callee == "cuda.thread_rank"


def check_launches(body: tir.Stmt) -> None:
    """Fails: RM504 where blocks of a cluster need each other, whose launch is no loop over all of their threads."""
    axes = [node for node in nodes_of(body, tir.For, tir.AttrStmt) if tag_of(node).startswith(AXIS)]
    sizes = [node.extent if isinstance(node, tir.For) else node.value for node in axes]
    if all(_number(size) == 1 for size in sizes):
        return
    reason = next((node for node in walk(body) if is_of_cluster(node) or reaches_blocks(node)), None)
    if reason is not None:
        message = "blocks of a cluster that need each other are not executed in a launch of this form"
        raise fail(UNSUPPORTED_CONSTRUCT, message, reason.span)


def _number(size: object) -> object:
    return size.value if isinstance(size, tir.IntImm) else size


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
