"""Leaving a long function that one has stepped into: its rest is executed in C, where nothing in it is watched.

C executes calls, not the rest of one. So the call is executed again as a whole, from the snapshot before it, which
gives the same; the motion begins to look where the call has ended.
"""

from dataclasses import replace

from refmlc.debug.engine import Engine
from refmlc.debug.plan import MotionPlan
from refmlc.debug.session_data import Moment, Stop
from refmlc.debug.stop_policy import StopPolicy
from refmlc.lang.ir import tir
from refmlc.native.tier.work import Work

LONG = 1_000_000  # iterations, which take the interpreter about a second
CALLED = 2  # levels: Relax, and the prim_func that it calls


def worth(engine: Engine, judge: StopPolicy, plan: MotionPlan, now: Moment) -> bool:
    """True if a motion from `now` on cannot stop in the rest of this long prim_func, which Relax called."""
    if (
        not now.step
        or engine.position.depth != CALLED
        or engine.position.calls[0].env is None
        or plan.every
        or plan.marks
    ):
        return False
    called = engine.position.calls[1]
    func = engine.program.module.functions.get(called.name)
    if not isinstance(func, tir.PrimFunc) or not judge.quiet(called.name, now.event, plan):
        return False
    return Work(func).iterations(called.args) >= LONG


def leave(engine: Engine, plan: MotionPlan, now: Moment) -> Stop:
    """Continue from the end of the call, as `plan` says."""
    base = engine.snapshots.at(Moment(now.event, 0))
    assert base is not None  # noqa: S101 - there is one of the beginning
    return engine.launch(base, replace(plan, after=Moment(now.event + 1, 0)))
