"""The clock: counts statements, and leaves the quick way at those where something is to be done.

A statement is executed the quick way while the count is below the limit and the statement is not hot. Then all that a
debugger costs is one call of a Python function, an addition and two comparisons per statement; what they read are
cells of closures, because nothing is quicker to read.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from refmlc.debug.places import StmtPlace
from refmlc.diag import RefmlcError
from refmlc.run.interp.tensorir.frame import Frame, Run

NEVER = 1 << 62
SetTrap = Callable[[bool], None]


class SlowPath(Protocol):
    """What is executed in place of a hot statement, or at the limit."""

    def __call__(self, place: StmtPlace, frame: Frame, run: Run) -> None:
        """Do what is to be done, then `run`."""


class FailureListener(Protocol):
    """What is told when a statement failed, before the failure goes on to the statements around it."""

    def __call__(self, place: StmtPlace, frame: Frame, failure: RefmlcError) -> None:
        """Look at it."""


@dataclass(frozen=True, slots=True)
class Clock:
    """`wrap` makes a counted statement and what sets its heat; the others read and set the count and the limit."""

    wrap: Callable[[StmtPlace, Run, bool], tuple[Run, SetTrap]]
    count: Callable[[], int]
    begin: Callable[[int], None]
    limit: Callable[[int], None]


def clock(slow: SlowPath, fell: FailureListener) -> Clock:
    """A clock at 0, without a limit."""
    counted, least = 0, NEVER

    def wrap(place: StmtPlace, run: Run, hot: bool) -> tuple[Run, SetTrap]:
        def watched(frame: Frame) -> None:
            nonlocal counted
            counted += 1
            if counted >= least or hot:
                slow(place, frame, run)
                return
            try:
                run(frame)
            except RefmlcError as failure:
                fell(place, frame, failure)
                raise

        def heat(value: bool) -> None:
            nonlocal hot
            hot = value

        return watched, heat

    def count() -> int:
        return counted

    def begin(value: int) -> None:
        nonlocal counted
        counted = value

    def limit(value: int) -> None:
        nonlocal least
        least = value

    return Clock(wrap, count, begin, limit)
