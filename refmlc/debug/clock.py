"""The clock: counts statements, and leaves the fast path at those that need attention.

A statement takes the fast path while the count is below the limit and the statement is not trapped. There the debugger
costs one call of a Python function, an addition and two comparisons per statement; they read cells of closures, the
fastest variables that Python has.
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
    """Executes a statement that is trapped, or beyond the limit."""

    def __call__(self, place: StmtPlace, frame: Frame, run: Run) -> None:
        """Do the work at `place`, then execute `run`."""


class FailureListener(Protocol):
    """Called for a failed statement, before the failure reaches the statements around it."""

    def __call__(self, place: StmtPlace, frame: Frame, failure: RefmlcError) -> None:
        """Handle the failure of the statement at `place`."""


@dataclass(frozen=True, slots=True)
class Clock:
    """`wrap` makes a statement counted and returns its trap setter; the others read or set the count and the limit."""

    wrap: Callable[[StmtPlace, Run, bool], tuple[Run, SetTrap]]
    count: Callable[[], int]
    begin: Callable[[int], None]
    limit: Callable[[int], None]


def clock(slow: SlowPath, on_failure: FailureListener) -> Clock:
    """A clock at 0 without a limit."""
    statements, threshold = 0, NEVER

    def wrap(place: StmtPlace, run: Run, trapped: bool) -> tuple[Run, SetTrap]:
        def watched(frame: Frame) -> None:
            nonlocal statements
            statements += 1
            if statements >= threshold or trapped:
                slow(place, frame, run)
                return
            try:
                run(frame)
            except RefmlcError as failure:
                on_failure(place, frame, failure)
                raise

        def set_trap(value: bool) -> None:
            nonlocal trapped
            trapped = value

        return watched, set_trap

    def count() -> int:
        return statements

    def begin(value: int) -> None:
        nonlocal statements
        statements = value

    def limit(value: int) -> None:
        nonlocal threshold
        threshold = value

    return Clock(wrap, count, begin, limit)
