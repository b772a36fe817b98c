"""Targets of steps, drawn at random: how `refmlc.strategies.schedules` takes a step on a function it has not seen.

A draw picks a target and takes the step, and returns the words of the trace with the changed function; None where the
function has no such target. It fails as the step does where the step is not legal there (RM504, RM112), and with
IndexError where there is nothing to pick from.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Concatenate, Protocol, TypeAlias, TypeVar

from refmlc.lang.ir import tir
from refmlc.rewrite.schedule.places import places

Item = TypeVar("Item")


class Choices(Protocol):
    """Where decisions come from (`refmlc.strategies.choices`); the first of several is the simplest."""

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items. Fails: IndexError where there is none."""
        ...

    def chance(self, percent: int) -> bool:
        """True in `percent` cases of a hundred."""
        ...

    def permutation(self, items: Iterable[Item]) -> list[Item]:
        """The items in some order."""
        ...


Drawn: TypeAlias = "tuple[str, tir.PrimFunc] | None"
Draw: TypeAlias = "Callable[[tir.PrimFunc, Choices], Drawn]"
StepFunction: TypeAlias = "Callable[Concatenate[tir.PrimFunc, ...], tir.PrimFunc | tuple[tir.PrimFunc, object]]"


def loops(func: tir.PrimFunc) -> list[tir.For]:
    """The loops of a function, in the order of the text."""
    return [place.stmt for place in places(func.body) if isinstance(place.stmt, tir.For)]


def blocks(func: tir.PrimFunc) -> list[str]:
    """The blocks of a function that a step can name, in the order of the text."""
    names = [place.stmt.block.name for place in places(func.body) if isinstance(place.stmt, tir.SBlockRealize)]
    return [name for name in names if name != "root" and names.count(name) == 1]


def function_of(result: tir.PrimFunc | tuple[tir.PrimFunc, object]) -> tir.PrimFunc:
    """The function that a step returns, alone or with what it added."""
    return result[0] if isinstance(result, tuple) else result


def on_loop(name: str, step: StepFunction) -> Draw:
    """A step of a loop."""

    def draw(func: tir.PrimFunc, choices: Choices) -> Drawn:
        loop = choices.pick(loops(func)).loop_var
        return f"{name} {loop.name}", function_of(step(func, loop))

    return draw


def on_block(name: str, step: StepFunction) -> Draw:
    """A step of a block."""

    def draw(func: tir.PrimFunc, choices: Choices) -> Drawn:
        block = choices.pick(blocks(func))
        return f"{name} {block}", function_of(step(func, block))

    return draw
