"""An instance of a block, as hooks see it: the values of its axes, their domains, its declared regions.

A region is evaluated on demand, in the frame of the instance. An axis of a region is None, unknown, where evaluating it
would read memory, or where its bounds are undefined.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from refmlc.diag.errors import RefmlcError
from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.run.interp.tensorir.frame import Frame, Slot
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.tensorir.views import View

Extent: TypeAlias = "tuple[int, int] | None"
PLAIN = (tir.Var, tir.IntImm, tir.Apply, tir.Cast, tir.And, tir.Or, tir.Select)


@dataclass(frozen=True, slots=True)
class Box:
    """A region at run time: the first index and the number of indices of each axis, None where unknown."""

    declared: tir.BufferRegion
    view: View
    axes: tuple[Extent, ...]


@dataclass(frozen=True, slots=True, eq=False)
class BlockSite:
    """A block at its place in a function. `reads` and `writes` return None where the text declares nothing."""

    node: tir.SBlockRealize
    axes: tuple[Slot[int], ...]
    domains: tuple[Callable[[Frame], Extent], ...]
    reads: Callable[[Frame], tuple[Box, ...] | None]
    writes: Callable[[Frame], tuple[Box, ...] | None]

    def values(self, frame: Frame) -> tuple[int, ...]:
        """The values of the axes, in their order."""
        return tuple([frame[slot] for slot in self.axes])


def site_of(scope: Scope, node: tir.SBlockRealize) -> BlockSite:
    """The site of a block whose axes are declared by now."""
    axes = tuple(scope.slot(axis.var) for axis in node.block.iter_vars)
    domains = tuple(_range(scope, axis.dom) for axis in node.block.iter_vars)
    return BlockSite(node, axes, domains, _regions(scope, node.block.reads), _regions(scope, node.block.writes))


def _regions(scope: Scope, regions: tuple[tir.BufferRegion, ...] | None) -> Callable[[Frame], tuple[Box, ...] | None]:
    if regions is None:
        return lambda _frame: None
    prepared = [
        (region, scope.buffer(region.buffer).view, tuple(_range(scope, axis) for axis in region.region))
        for region in regions
        if region.buffer in scope.buffers
    ]

    def boxes(frame: Frame) -> tuple[Box, ...]:
        return tuple(
            [Box(region, frame[view], tuple([axis(frame) for axis in axes])) for region, view, axes in prepared]
        )

    return boxes


def _range(scope: Scope, axis: tir.Range) -> Callable[[Frame], Extent]:
    if not (_is_plain(scope, axis.min) and _is_plain(scope, axis.extent)):
        return lambda _frame: None
    least, extent = scope.int(axis.min), scope.int(axis.extent)

    def evaluate(frame: Frame) -> Extent:
        try:
            return least(frame), extent(frame)
        except RefmlcError:
            return None

    return evaluate


def _is_plain(scope: Scope, node: tir.Expr) -> bool:
    """Whether evaluating the expression reads no memory and calls nothing."""
    return all(
        isinstance(part, PLAIN) and (not isinstance(part, tir.Var) or scope.layout.knows(part)) for part in walk(node)
    )
