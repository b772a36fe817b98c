"""Loads with a memory order, at which a thread that asks again lets the others run (PTX-100)."""

from typing import cast

from refmlc.lang.ir import tir
from refmlc.run.interp.tensorir.frame import Frame, Slot
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.threads.group import Go, Meeting, Steps
from refmlc.run.interp.threads.schedule import Always


def turn(scope: Scope, node: tir.Evaluate) -> Go:
    """What comes before such a load: the thread continues at once the first time, later when the others have run."""
    meeting = Meeting(node, implied=False, part="thread", orders=False, until=Always())
    asked, run = cast("Slot[bool | None]", scope.layout.new()), scope.expr(node.value)

    def steps(frame: Frame) -> Steps:
        if frame[asked]:
            yield meeting
        frame[asked] = True
        run(frame)

    return steps
