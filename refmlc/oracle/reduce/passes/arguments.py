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
    plain = tuple(tuple(_plain(one) for one in call) for call in subject.calls)
    if plain != subject.calls:
        yield partial(replace, subject, calls=plain)
    for number, call in enumerate(subject.calls):
        for place, one in enumerate(call):
            for simpler in _simpler(one, call):
                yield partial(_given, subject, number, place, simpler)


def _given(subject: Subject, number: int, place: int, one: Argument) -> Subject:
    call = subject.calls[number]
    changed = (*call[:place], one, *call[place + 1 :])
    return replace(subject, calls=(*subject.calls[:number], changed, *subject.calls[number + 1 :]))


def _plain(one: Argument) -> Argument:
    match one:
        case Array():
            return replace(one, way="steps", seed=0, form="compact" if one.form != "fresh" else "fresh")
        case TupleOf(items):
            return TupleOf(tuple(map(_plain, items)))
        case _:
            return one


def _simpler(one: Argument, call: tuple[Argument, ...]) -> Iterator[Argument]:
    match one:
        case Array():
            if one.form != "compact":
                yield replace(one, form="compact")
            for way in WAYS[: WAYS.index(one.way) if one.way in WAYS else None]:
                yield replace(one, way=way, seed=0)
            for seed in dict.fromkeys((0, 1, 2, 3, one.seed // 2)):
                if seed < one.seed:
                    yield replace(one, seed=seed)
        case Number(dtype, value):
            whole = int(value) if abs(value) < 2**53 else 2
            for other in (0, 1, whole, whole // 2, -whole):
                if magnitude(other) < magnitude(value):
                    yield Number(dtype, float(other) if dtype.is_float else other)
        case Same(place) if place < len(call):
            yield call[place]
        case _:
            pass
