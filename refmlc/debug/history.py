"""Motions backwards: the program is executed again, from the nearest earlier snapshot up to the wanted moment.

A search for the last stop before a moment executes the stretch from the last snapshot to that moment without stopping.
If there is no stop in it, the search continues with the stretch before, so that no stretch is executed more often than
needed.

A snapshot within a call is skipped for moments after the call, if C has executed the call before: C repeats the whole
call faster than the interpreter executes its rest.
"""

from dataclasses import replace

from refmlc.debug.breakpoints import BreakpointPolicy
from refmlc.debug.engine import Engine
from refmlc.debug.plan import MotionPlan, going_to
from refmlc.debug.session_data import BEGINNING, Moment, Reason, Stop
from refmlc.debug.snapshots import Snapshot


def travel(engine: Engine, breaks: BreakpointPolicy, moment: Moment, *, pauses: bool = False) -> Stop:
    """Go to `moment`: on from the current place, if that is nearer than the last snapshot before the moment.

    `pauses`: a request for a pause ends the motion; otherwise it ends at `moment` only.
    """
    base = bases(engine, Moment(moment.event, moment.step + 1))[0]
    level = breaks.level()
    engine.trap(frozenset())
    stop = engine.control.stop
    ready = engine.control.alive and engine.machines.tracing >= level and stop is not None
    if stop is not None and ready and stop.moment == moment:
        return replace(stop, reason=Reason.GOTO, text="", hits=(), failure=None)
    if stop is not None and ready and base.moment <= stop.moment < moment:
        return engine.advance(going_to(moment, pauses=pauses))
    engine.machines.trace(level)
    return engine.launch(base, going_to(moment, pauses=pauses))


def bases(engine: Engine, before: Moment) -> list[Snapshot]:
    """The snapshots from which to reach what comes before a moment, last first; the last one is the beginning."""
    return [
        snapshot
        for snapshot in engine.snapshots.before(before)
        if not snapshot.moment.step
        or snapshot.moment.event == before.event
        or not engine.tier_switch.executed(snapshot.moment.event)
    ]


def search(engine: Engine, breaks: BreakpointPolicy, now: Moment, plan: MotionPlan) -> Stop:
    """Go to the last place before `now` where `plan` stops, or to the beginning.

    A request for a pause ends the search and returns to `now`.
    """
    engine.machines.trace(breaks.level())
    upper = now
    for base in bases(engine, now):
        engine.trap((breaks.places() if plan.breakpoints else frozenset()) | plan.marks)
        arrived = engine.launch(base, replace(plan, target=upper, collects=True, silent=True))
        if arrived.reason is Reason.PAUSE:
            engine.unpause()
            back = travel(engine, breaks, now)
            return back if back.reason is Reason.ENDED else replace(back, reason=Reason.PAUSE)
        last = engine.control.last
        if last is not None:
            travel(engine, breaks, last.moment)
            return last
        upper = base.moment
    engine.trap(frozenset())
    first = engine.snapshots.at(BEGINNING)
    assert first is not None  # noqa: S101 - there is one of the beginning
    stop = engine.launch(first, MotionPlan(every=True, breakpoints=False, silent=True, pauses=False))
    return replace(stop, reason=Reason.BEGINNING)
