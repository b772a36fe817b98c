"""Threads as plain data: where each stands, what it waits for, and whom a wait is for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from refmlc.diag import Span
from refmlc.run.interp.threads.group import WARP


@dataclass(frozen=True, slots=True)
class ThreadState:
    """A thread of the block that runs. `number`: x fastest; `block`: the indices of the block, x first.

    `state`: `runs`, `waits`, `continues` (it waited, and runs in its turn), `begins`, `ended`. `span`: the statement
    that it executes, or where it waits. `waits_for`, `copies`: in words, "" where there is nothing.
    """

    number: int
    block: tuple[int, ...]
    state: str
    span: Span | None
    waits_for: str = ""
    copies: str = ""

    @property
    def warp(self) -> int:
        """The number of its warp in the block."""
        return self.number // WARP

    @property
    def lane(self) -> int:
        """Its number in the warp."""
        return self.number % WARP


@dataclass(frozen=True, slots=True)
class Wait:
    """Threads that wait at one place for the same. `awaited`: the threads that could end it; `how`: by what.

    `needs_all`: all of these are needed, not one.
    """

    threads: tuple[int, ...]
    span: Span | None
    waits_for: str
    awaited: tuple[int, ...]
    how: str
    needs_all: bool = False


@dataclass(frozen=True, slots=True)
class Waiting:
    """Every wait. `stuck`: the places in `waits` of those that nobody can end any more.

    `cycle`: of these the ones that wait for each other in a circle, in order.
    """

    waits: tuple[Wait, ...]
    stuck: tuple[int, ...] = ()
    cycle: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class BarrierState:
    """A barrier: how many arrivals it expects, and how many have come.

    Of a barrier in memory, `phase`: the number of phases that are complete. `nbytes`: what its copies have to bring.
    `copies`: those that are complete when threads have seen the phase, in words.
    """

    name: str
    expected: int
    come: int
    phase: int | None = None
    nbytes: int = 0
    copies: tuple[str, ...] = ()


def ranges(numbers: Iterable[int]) -> str:
    """`0-3, 5` for 0, 1, 2, 3, 5."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and parts[-1][-1] == number - 1:
            parts[-1] = [parts[-1][0], number]
        else:
            parts.append([number])
    return ", ".join("-".join(map(str, part)) for part in parts)


def named(numbers: Sequence[int]) -> str:
    """`thread 3`, `threads 0-31`."""
    return f"thread{'s' if len(numbers) > 1 else ''} {ranges(numbers)}"
