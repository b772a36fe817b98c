"""Which thread executes a place: also where threads never meet, and run one after the other."""

from refmlc.debug.places import StmtPlace
from refmlc.debug.position import ActiveCall
from refmlc.debug.threads.roster import AXES
from refmlc.lang.ir import tir
from refmlc.lang.ir.threads import tag_of
from refmlc.run.interp.tensorir.frame import Frame


def indices(call: ActiveCall, place: StmtPlace, frame: Frame) -> dict[str, tuple[int, int]]:
    """Index and extent on each thread axis around a place; the extent is 1 where the text has no number."""
    reentry = call.reentry
    found: dict[str, tuple[int, int]] = {}
    if reentry is None:
        return found
    scope = reentry.scope
    for around in place.around():
        tag = tag_of(around.node)
        if tag and tag not in found and tag in scope.axes:
            index = frame[scope.axes[tag]]
            if isinstance(index, int):
                found[tag] = (index, _extent(around.node))
    return found


def _extent(node: tir.Stmt) -> int:
    extent = node.extent if isinstance(node, tir.For) else node.value if isinstance(node, tir.AttrStmt) else None
    return extent.value if isinstance(extent, tir.IntImm) else extent if isinstance(extent, int) else 1


def number_of(axes: dict[str, tuple[int, int]]) -> int | None:
    """The number of a thread in its block, x fastest; None outside of threads."""
    if not any(tag in axes for tag in AXES):
        return None
    number, size = 0, 1
    for tag in AXES:
        index, extent = axes.get(tag, (0, 1))
        number, size = number + size * index, size * extent
    return number


def block_of(axes: dict[str, tuple[int, int]]) -> tuple[int, ...]:
    """The indices of a block in its grid, x first."""
    return tuple(axes[tag][0] for tag in ("blockIdx.x", "blockIdx.y", "blockIdx.z") if tag in axes)
