"""Clusters of blocks in a text: how many blocks they have, and what their threads do together.

| text                                                      | of all threads of a cluster |
|-----------------------------------------------------------|-----------------------------|
| `T.cuda.cluster_sync()`, `T.ptx.barrier.cluster.arrive()` | a barrier                   |
| `T.cluster.copy(…)` and its kin                           | a tile primitive            |
"""

from collections.abc import Iterator

from refmlc.lang.dtypes import INT32
from refmlc.lang.ir import tir
from refmlc.lang.ir.instructions import instruction
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.scope_ids import launch_of
from refmlc.lang.ir.tirx import ScopeIdDef, TilePrimitiveCall
from refmlc.lang.ir.visit import walk

AXIS = "clusterCtaIdx."
SYNC = "cuda.cluster_sync"


def is_alone(func: Node | None) -> bool:
    """Whether the clusters of the kernels in a function surely have one block each. Fails: RM214, RM504."""
    return func is not None and all(isinstance(size, tir.IntImm) and size.value == 1 for size in _sizes(func))


def _sizes(func: Node) -> Iterator[object]:
    """The sizes of clusters along axes that the function has."""
    yield from launch_of([node for node in walk(func) if isinstance(node, ScopeIdDef)]).cluster
    for node in walk(func):
        match node:
            case tir.For(thread=tir.ThreadVar(tag=tag), extent=extent) if tag.startswith(AXIS):
                yield extent
            case tir.AttrStmt(node=tir.ThreadVar(tag=tag), value=value) if tag.startswith(AXIS):
                yield value if isinstance(value, tir.Expr) else tir.IntImm(INT32, int(str(value)))


def is_of_cluster(node: Node) -> bool:
    """Whether a node is a call at which the threads of all blocks of a cluster meet, wait, or arrive."""
    if isinstance(node, TilePrimitiveCall):
        return node.scope == "cluster"
    if not isinstance(node, tir.Call) or not isinstance(node.callee, str):
        return False
    if node.callee == SYNC:
        return True
    item = instruction(node) if node.callee.startswith("ptx.barrier") else None
    return item is not None and item.family == "barrier" and "cluster" in item
