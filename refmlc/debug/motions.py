"""Motions as plans: at which places each of them stops.

| motion     | stops at                                                                            |
|------------|-------------------------------------------------------------------------------------|
| over       | this statement again, or one of the function that is not in it; or where it is left |
| out        | what is not in the loop or block; where the function is left                        |
| block      | every block                                                                         |
| iteration  | the first statement of the loop's body, or what is not in the loop                  |
| until      | statements on later lines                                                           |
| not deeper | (backwards) statements of this function that stand no deeper                        |
| entry      | (backwards) the loop or block itself, the first statement of the function           |
"""

from collections.abc import Callable
from typing import TypeAlias

from refmlc.debug.engine import Engine
from refmlc.debug.places import AnyPlace, BindingPlace, Place
from refmlc.debug.plan import Plan
from refmlc.debug.state import Spot
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lang.ir import tir

Maker: TypeAlias = Callable[[], Plan]
DEEPEST = 1 << 30


def over(engine: Engine) -> Plan:
    """To the next statement not inside this one."""
    here, level = engine.place, len(engine.levels)
    marks = [place for place in _same_function(engine, here) if place is here or not _is_in(place, here)]
    whole = here if isinstance(here, Place) and isinstance(here.node, tir.For | tir.SBlockRealize) else None
    return Plan(marks=frozenset(marks), level=level, above=level, whole=whole)


def out(engine: Engine, spot: Spot) -> Plan:
    """To where a frame is left."""
    level, around = spot.shown.level + 1, spot.around
    if around is None:
        return Plan(above=level)
    marks = [place for place in _same_function(engine, around) if place is around or not _is_in(place, around)]
    return Plan(marks=frozenset(marks), level=level, above=level)


def block(engine: Engine) -> Plan:
    """To the next instance of a block."""
    marks = [
        place
        for place in engine.places.everything()
        if isinstance(place, Place) and isinstance(place.node, tir.SBlockRealize)
    ]
    return Plan(marks=frozenset(marks), level=DEEPEST)


def iteration(engine: Engine, spot: Spot) -> Plan:
    """To the next iteration of a loop."""
    loop, level = spot.around, spot.shown.level + 1
    if loop is None:
        raise fail(BAD_USAGE, "there is no loop around this")
    inside = [place for place in _same_function(engine, loop) if _is_in(place, loop) and place is not loop]
    outside = [place for place in _same_function(engine, loop) if not _is_in(place, loop)]
    return Plan(marks=frozenset([*inside[:1], loop, *outside]), level=level, above=level)


def until(engine: Engine, line: int) -> Plan:
    """To a later line."""
    here, level = engine.place, len(engine.levels)
    span = None if here is None else here.span
    least = line - 1 if line else 0 if span is None else span.line
    marks = [place for place in _same_function(engine, here) if place.span is not None and place.span.line > least]
    return Plan(marks=frozenset(marks), level=level, above=level)


def not_deeper(engine: Engine) -> Plan:
    """Backwards: statements of this function that stand no deeper."""
    here, level = engine.place, len(engine.levels)
    depth = here.depth if isinstance(here, Place) else 0
    marks = [place for place in _same_function(engine, here) if isinstance(place, BindingPlace) or place.depth <= depth]
    return Plan(marks=frozenset(marks), level=level, above=level, breakpoints=False)


def outermost(engine: Engine) -> Plan:
    """Backwards from the end: statements at the top level of the function that was run."""
    name = engine.program.func
    marks = [
        place
        for place in engine.places.everything()
        if place.function == name and (isinstance(place, BindingPlace) or place.depth == 0)
    ]
    return Plan(marks=frozenset(marks), level=1, breakpoints=False)


def entry(engine: Engine, spot: Spot) -> Plan:
    """Backwards: where a frame was entered."""
    first = spot.around if spot.around is not None else engine.places.first(spot.shown.name)
    if first is None:
        raise fail(BAD_USAGE, f"`{spot.shown.name}` has no statement to go back to")
    return Plan(marks=frozenset([first]), level=spot.shown.level + 1, breakpoints=False)


def _same_function(engine: Engine, here: AnyPlace | None) -> list[AnyPlace]:
    """All places of the function that `here` stands in, in the order of the text."""
    if isinstance(here, Place):
        return [place for place in engine.places.of(here.func, here.function) if place.counted]
    if here is None:
        return []
    return [place for place in engine.places.bindings.values() if place.function == here.function]


def _is_in(place: AnyPlace, other: AnyPlace | None) -> bool:
    return isinstance(place, Place) and isinstance(other, Place) and place.is_in(other)
