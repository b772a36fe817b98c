"""Clusters of blocks in a text: what their threads do together, and how blocks reach each other's memory.

| text                                                      | of all threads of a cluster |
|-----------------------------------------------------------|-----------------------------|
| `T.cuda.cluster_sync()`, `T.ptx.barrier.cluster.arrive()` | a barrier                   |
| `T.cluster.copy(…)` and its kin                           | a tile primitive            |

| text                                                      | reaches memory of other blocks |
|-----------------------------------------------------------|--------------------------------|
| `T.ptx.mapa…`, `T.ptx.getctarank…`                        | by an address                  |
| `.multicast::cluster`, `.cta_group::2` of a copy          | by a copy                      |
| `copy_async(…, remote_cta_id=r)`                          | by a copy                      |
"""

from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.ptx import PtxCall, operator_of
from refmlc.lang.ir.tirx import TilePrimitiveCall

AXIS = "clusterCtaIdx."
SYNC = "cuda.cluster_sync"
ADDRESSES = ("ptx.mapa", "ptx.getctarank")
COPIES = frozenset(("multicast::cluster", "multicast::cluster::16b", "multicast::cluster::32b", "cta_group::2"))
RANK = "remote_cta_id"
"""The setting of a tile primitive that names the block to which it copies."""


def is_of_cluster(node: Node) -> bool:
    """Whether a node is a call at which the threads of all blocks of a cluster meet, wait, or arrive."""
    if isinstance(node, TilePrimitiveCall):
        return node.scope == "cluster"
    if isinstance(node, tir.Call) and node.callee == SYNC:
        return True
    ptx = PtxCall.of(node)
    return ptx is not None and ptx.family == "barrier" and "cluster" in ptx


def reaches_blocks(node: Node) -> bool:
    """Whether a node reaches memory of other blocks of the cluster, or asks for the block that an address is of."""
    if isinstance(node, TilePrimitiveCall):
        return node.config.get(RANK) is not None
    if isinstance(node, tir.Call) and operator_of(node.callee) in ADDRESSES:
        return True
    ptx = PtxCall.of(node)
    return ptx is not None and ptx.family == "cp" and not COPIES.isdisjoint(ptx.modifiers)
