"""Motions as plans: the places at which each motion stops.

| motion     | stops at                                                                            |
|------------|-------------------------------------------------------------------------------------|
| over       | this statement again, or one of the function that is not in it; or where it is left |
| out        | statements outside of the loop or block; where the function is left                 |
| block      | every block                                                                         |
| iteration  | the first statement of the loop's body, or what is not in the loop                  |
| until      | statements on later lines                                                           |
| not deeper | (backwards) statements of this function that stand no deeper                        |
| entry      | (backwards) the loop or block itself, the first statement of the function           |
"""

from refmlc.debug.engine import Engine
from refmlc.debug.frames import LiveFrame
from refmlc.debug.places import BindingPlace, ProgramPlace, StmtPlace
from refmlc.debug.plan import MotionPlan
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lang.ir import tir

DEEPEST = 1 << 30


def over(engine: Engine) -> MotionPlan:
    """Step to the next statement that is not inside this one."""
    current, level = engine.position.place, engine.position.depth
    marks = [place for place in _same_function(engine, current) if place is current or not _is_in(place, current)]
    skipped = (
        current if isinstance(current, StmtPlace) and isinstance(current.node, tir.For | tir.SBlockRealize) else None
    )
    return MotionPlan(marks=frozenset(marks), level=level, above=level, stepped_over=skipped)


def out(engine: Engine, live: LiveFrame) -> MotionPlan:
    """Run until a frame is left."""
    level, around = live.frame.level + 1, live.around
    if around is None:
        return MotionPlan(above=level)
    marks = [place for place in _same_function(engine, around) if place is around or not _is_in(place, around)]
    return MotionPlan(marks=frozenset(marks), level=level, above=level)


def block(engine: Engine) -> MotionPlan:
    """Run to the next instance of a block."""
    marks = [
        place
        for place in engine.places.steps()
        if isinstance(place, StmtPlace) and isinstance(place.node, tir.SBlockRealize)
    ]
    return MotionPlan(marks=frozenset(marks), level=DEEPEST)


def iteration(engine: Engine, live: LiveFrame) -> MotionPlan:
    """Run to the next iteration of a loop."""
    loop, level = live.around, live.frame.level + 1
    if loop is None:
        raise fail(BAD_USAGE, "there is no loop around this")
    body = [place for place in _same_function(engine, loop) if _is_in(place, loop) and place is not loop]
    following = [place for place in _same_function(engine, loop) if not _is_in(place, loop)]
    return MotionPlan(marks=frozenset([*body[:1], loop, *following]), level=level, above=level)


def until(engine: Engine, line: int) -> MotionPlan:
    """Run to a later line."""
    current, level = engine.position.place, engine.position.depth
    span = None if current is None else current.span
    least = line - 1 if line else 0 if span is None else span.line
    marks = [place for place in _same_function(engine, current) if place.span is not None and place.span.line > least]
    return MotionPlan(marks=frozenset(marks), level=level, above=level)


def not_deeper(engine: Engine) -> MotionPlan:
    """Backwards: statements of this function at most as deep as this one."""
    current, level = engine.position.place, engine.position.depth
    depth = current.depth if isinstance(current, StmtPlace) else 0
    marks = [
        place for place in _same_function(engine, current) if isinstance(place, BindingPlace) or place.depth <= depth
    ]
    return MotionPlan(marks=frozenset(marks), level=level, above=level, breakpoints=False)


def outermost(engine: Engine) -> MotionPlan:
    """Backwards from the end: statements at the top level of the function that runs."""
    name = engine.program.func
    marks = [
        place
        for place in engine.places.steps()
        if place.function == name and (isinstance(place, BindingPlace) or place.depth == 0)
    ]
    return MotionPlan(marks=frozenset(marks), level=1, breakpoints=False)


def entry(engine: Engine, live: LiveFrame) -> MotionPlan:
    """Backwards: the entry of a frame."""
    first = live.around if live.around is not None else engine.places.first(live.frame.name)
    if first is None:
        raise fail(BAD_USAGE, f"`{live.frame.name}` has no statement to go back to")
    return MotionPlan(marks=frozenset([first]), level=live.frame.level + 1, breakpoints=False)


def _same_function(engine: Engine, current: ProgramPlace | None) -> list[ProgramPlace]:
    """All places of the function of `current`, in the order of the text."""
    if isinstance(current, StmtPlace):
        return [place for place in engine.places.of(current.func, current.function) if place.counted]
    if current is None:
        return []
    return [place for place in engine.places.bindings.values() if place.function == current.function]


def _is_in(place: ProgramPlace, outer: ProgramPlace | None) -> bool:
    return isinstance(place, StmtPlace) and isinstance(outer, StmtPlace) and place.is_in(outer)
