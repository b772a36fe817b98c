"""Loops of one iteration: put around a place, or taken away.

| step             | before             | after                     |
|------------------|--------------------|---------------------------|
| `add_unit_loop`  | a block, or a loop | `for u in 1` around it    |
| `drop_unit_loop` | `for u in 1`       | its body, `u` = its start |

Legal because the iterations are the same; a loop that is bound to threads is refused. TVM has no `drop_unit_loop`: it
is a function here, and no method.
"""

from collections.abc import Mapping
from typing import ClassVar

from refmlc.diag.entry import entry_point, entry_points
from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import substitute
from refmlc.rewrite.schedule.draws import Draw, on_block, on_loop
from refmlc.rewrite.schedule.handles import BlockRV, LoopRV
from refmlc.rewrite.schedule.loops import is_constant, plain, serial_loop
from refmlc.rewrite.schedule.places import (
    fresh_name,
    get_loop,
    integer,
    place_of_block,
    place_of_loop,
    refused,
    with_stmt,
)
from refmlc.rewrite.schedule.session import Session


@entry_point
def add_unit_loop(func: tir.PrimFunc, target: str | tir.Var, name: str = "u") -> tuple[tir.PrimFunc, tir.Var]:
    """A loop of one iteration around a block (by name) or a loop (by variable), within the loops around it.

    Returns the function and the new variable. Fails: RM112.
    """
    place = place_of_loop(func, target) if isinstance(target, tir.Var) else place_of_block(func, target)
    stmt = place.stmt
    around = (*place.around, stmt) if isinstance(stmt, tir.For) else place.around
    dtype = next((outer.loop_var.dtype for outer in reversed(around) if isinstance(outer, tir.For)), None)
    if dtype is None:
        raise refused("add_unit_loop", f"no loop is around `{target}`, whose dtype it could have", stmt.span)
    var = tir.Var(fresh_name(func, name), dtype)
    return with_stmt(func, stmt, serial_loop(var, integer(1, dtype), stmt)), var


@entry_point
def drop_unit_loop(func: tir.PrimFunc, loop: tir.Var) -> tir.PrimFunc:
    """The body of a loop of one iteration, without the loop. Fails: RM112, RM504."""
    node = get_loop(func, loop)
    plain(node, "drop_unit_loop")
    if not is_constant(node.extent, 1) or not isinstance(node.min, tir.IntImm | tir.Var):
        raise refused("drop_unit_loop", f"the extent of `{loop.name}` is not 1", node.span)
    return with_stmt(func, node, substitute(node.body, {loop: node.min}))


@entry_points
class UnitLoopSteps(Session):
    """The method that adds a loop of one iteration."""

    draws: ClassVar[Mapping[str, Draw]] = {
        "drop_unit_loop": on_loop("drop_unit_loop", drop_unit_loop),
        "add_unit_loop": on_block("add_unit_loop", add_unit_loop),
    }

    def add_unit_loop(self, block_or_loop: BlockRV | LoopRV | str) -> LoopRV:
        """Put a loop of one iteration around the block, or the loop; that loop."""
        return self._change_loop(add_unit_loop, self._target(block_or_loop))
