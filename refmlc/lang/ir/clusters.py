"""Clusters of blocks in a text."""

from collections.abc import Iterator

from refmlc.lang.dtypes import INT32
from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.scope_ids import launch_of
from refmlc.lang.ir.tirx import ScopeIdDef
from refmlc.lang.ir.visit import walk

AXIS = "clusterCtaIdx."


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
