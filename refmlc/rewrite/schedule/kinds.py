"""Loops of another kind. The meaning of every kind is that of serial; what differs is what the loop promises.

| step        | legal where                                                                             |
|-------------|-----------------------------------------------------------------------------------------|
| `serial`    | always, but for thread axes                                                             |
| `unroll`    | always, but for thread axes; the extent is a constant                                   |
| `parallel`  | each iteration touches nothing that another one writes (`accesses`)                     |
| `vectorize` | the same, and the extent is a constant                                                  |

The rule for `parallel` is what makes the program free of races (RM321) whatever the iterations are executed on.
`checked=False` leaves it out, for whom validates by running.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from refmlc.diag.entry import entry_point, entry_points
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind
from refmlc.rewrite.schedule.accesses import accesses, problem, separates
from refmlc.rewrite.schedule.draws import Draw, on_loop
from refmlc.rewrite.schedule.handles import LoopRV
from refmlc.rewrite.schedule.loops import plain
from refmlc.rewrite.schedule.places import get_loop, refused, with_stmt
from refmlc.rewrite.schedule.session import Session


@entry_point
def serial(func: tir.PrimFunc, loop: tir.Var) -> tir.PrimFunc:
    """The loop, its iterations one after the other. Fails: RM112, RM504."""
    node = get_loop(func, loop)
    plain(node, "serial")
    return with_stmt(func, node, replace(node, kind=ForKind.SERIAL))


@entry_point
def unroll(func: tir.PrimFunc, loop: tir.Var) -> tir.PrimFunc:
    """The loop, marked to be written out. Fails: RM112, RM504."""
    node = get_loop(func, loop)
    plain(node, "unroll")
    _check_constant(node, "unroll")
    return with_stmt(func, node, replace(node, kind=ForKind.UNROLLED))


@entry_point
def parallel(func: tir.PrimFunc, loop: tir.Var, *, checked: bool = True) -> tir.PrimFunc:
    """The loop, its iterations at the same time. Fails: RM112, RM504."""
    node = get_loop(func, loop)
    _check_independent(func, node, "parallel", checked=checked)
    return with_stmt(func, node, replace(node, kind=ForKind.PARALLEL))


@entry_point
def vectorize(func: tir.PrimFunc, loop: tir.Var, *, checked: bool = True) -> tir.PrimFunc:
    """The loop, its iterations being lanes. Fails: RM112, RM504."""
    node = get_loop(func, loop)
    _check_constant(node, "vectorize")
    _check_independent(func, node, "vectorize", checked=checked)
    return with_stmt(func, node, replace(node, kind=ForKind.VECTORIZED))


def _check_constant(node: tir.For, step: str) -> None:
    if not isinstance(node.extent, tir.IntImm) or node.extent.value < 1:
        raise refused(step, f"the extent of `{node.loop_var.name}` is no positive constant", node.span)


def _check_independent(func: tir.PrimFunc, node: tir.For, step: str, *, checked: bool) -> None:
    plain(node, step)
    if not checked:
        return
    obstacle = problem(func, node.body, inside=True)
    if obstacle is not None:
        raise refused(step, obstacle, node.span)
    uses = accesses(node.body)
    for buffer in uses.written:
        if not separates(node.loop_var, uses, buffer):
            message = f"iterations over `{node.loop_var.name}` may touch the same elements of `{buffer.name}`"
            raise refused(step, message, node.span)


@entry_points
class KindSteps(Session):
    """The methods that change the kind of a loop."""

    draws: ClassVar[Mapping[str, Draw]] = {
        step.__name__: on_loop(step.__name__, step) for step in (unroll, vectorize, parallel)
    }

    def parallel(self, loop: LoopRV) -> None:
        """Mark `loop` as parallel."""
        self._change(parallel, loop, checked=self._checked)

    def vectorize(self, loop: LoopRV) -> None:
        """Mark `loop` as vectorised."""
        self._change(vectorize, loop, checked=self._checked)

    def unroll(self, loop: LoopRV) -> None:
        """Mark `loop` as unrolled."""
        self._change(unroll, loop)
