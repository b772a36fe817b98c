"""Fewer calls, and simpler recipes of arguments. Sizes are shrunk with the module's extents.

| recipe   | becomes                                                     |
|----------|-------------------------------------------------------------|
| calls    | some of them                                                |
| an array | compact, a simpler way, seed 0, half the range of integers  |
| a number | 0, 1, half, its opposite                                    |
| `Same`   | the array once more, apart                                  |
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from refmlc.oracle.reduce.size import magnitude
from refmlc.oracle.reduce.subject import Edit, Subject, spans_of
from refmlc.strategies.arguments import Argument, Array, Number, Same, TupleOf

WAYS = ("steps", "small")


def drop_calls(subject: Subject) -> Iterator[Edit]:
    """Some calls are left out, never all."""
    for piece in spans_of(len(subject.calls)):
        left = tuple(call for call in subject.calls if call not in subject.calls[piece])
        if left:
            yield partial(replace, subject, calls=left)


def simpler_arguments(subject: Subject) -> Iterator[Edit]:
    """All arguments are simple; then one by one."""
    plain = tuple(tuple(_plain(argument) for argument in call) for call in subject.calls)
    if plain != subject.calls:
        yield partial(replace, subject, calls=plain)
    for number, call in enumerate(subject.calls):
        for place, argument in enumerate(call):
            for simpler in _simpler(argument, call):
                yield partial(_given, subject, number, place, simpler)


def _given(subject: Subject, number: int, place: int, argument: Argument) -> Subject:
    call = subject.calls[number]
    changed = (*call[:place], argument, *call[place + 1 :])
    return replace(subject, calls=(*subject.calls[:number], changed, *subject.calls[number + 1 :]))


def _plain(argument: Argument) -> Argument:
    match argument:
        case Array():
            return replace(argument, way="steps", seed=0, form="compact" if argument.form != "fresh" else "fresh")
        case TupleOf(items):
            return TupleOf(tuple(map(_plain, items)))
        case _:
            return argument


def _simpler(argument: Argument, call: tuple[Argument, ...]) -> Iterator[Argument]:
    match argument:
        case Array():
            if argument.form != "compact":
                yield replace(argument, form="compact")
            for way in WAYS[: WAYS.index(argument.way) if argument.way in WAYS else None]:
                yield replace(argument, way=way, seed=0)
            for seed in dict.fromkeys((0, 1, 2, 3, argument.seed // 2)):
                if seed < argument.seed:
                    yield replace(argument, seed=seed)
        case Number(dtype, value):
            whole = int(value) if abs(value) < 2**53 else 2
            for other in (0, 1, whole, whole // 2, -whole):
                if magnitude(other) < magnitude(value):
                    yield Number(dtype, float(other) if dtype.is_float else other)
        case Same(place) if place < len(call):
            yield call[place]
        case _:
            pass
