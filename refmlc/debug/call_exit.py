"""The exit from a long call: C executes the rest of a function that the user has stepped into, if nothing stops there.

C executes whole calls only, so the call is executed again from the snapshot before it, with the same result; the motion
checks for stops from the end of the call on.
"""

from dataclasses import replace

from refmlc.debug.engine import Engine
from refmlc.debug.plan import MotionPlan
from refmlc.debug.session_data import Moment, Stop
from refmlc.debug.stop_policy import StopPolicy
from refmlc.lang.ir import tir
from refmlc.native.tier.work import Work

LONG = 1_000_000  # iterations, which take the interpreter about a second
CALL_DEPTH = 2  # active calls: a Relax function, and the prim_func that it calls


def worth(engine: Engine, policy: StopPolicy, plan: MotionPlan, now: Moment) -> bool:
    """True if a motion from `now` on cannot stop in the rest of this long prim_func, which Relax called."""
    if (
        not now.step
        or engine.position.depth != CALL_DEPTH
        or engine.position.calls[0].env is None
        or plan.every
        or plan.marks
    ):
        return False
    call = engine.position.calls[1]
    func = engine.program.module.functions.get(call.name)
    if not isinstance(func, tir.PrimFunc) or not policy.quiet(call.name, now.event, plan):
        return False
    return Work(func).iterations(call.args) >= LONG


def leave(engine: Engine, plan: MotionPlan, now: Moment) -> Stop:
    """Continue from the end of the call, as `plan` says."""
    base = engine.snapshots.at(Moment(now.event, 0))
    assert base is not None  # noqa: S101 - there is one of the beginning
    return engine.launch(base, replace(plan, after=Moment(now.event + 1, 0)))
