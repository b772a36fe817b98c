"""Looks at the clock, and for interrupts, while C executes a call (NAT-007).

C counts the work that it does, and calls `look` after so much of it that some milliseconds have passed; how much that
is follows the time that the last part took. Within the call Python handles signals, as it does between any two
instructions: this object stores the exception of a handler, or of the end of the budget's seconds. C stops, and its
caller raises the exception.

Decision: a call back and not a flag that another thread sets: nothing runs beside the program, a fork has one thread,
and whatever handler a process has works as it does in Python. The call takes a microsecond in every 20 milliseconds.
"""

from time import monotonic
from types import TracebackType
from typing import Any, Final

from refmlc.diag.source import Span
from refmlc.native.compile import ffi
from refmlc.run.memory.budget import Budget

FIRST: Final = 1 << 22
"""Units of work, and of fuel, until the first look: that takes milliseconds, in which a look costs nothing."""
BETWEEN: Final = 0.02
"""Seconds from one look to the next."""
LEAST: Final = 1 << 14
MOST: Final = 1 << 40
TYPE: Final = "int32_t(void *)"


class Watch:
    """The clock during the calls of one virtual machine. `span`: the place that is executed."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._units = FIRST
        self._last = 0.0
        self._raised: BaseException | None = None
        self.span: Span | None = None
        self.callback: Any = ffi().callback(TYPE, self._look, error=1, onerror=self._store)

    def begin(self, run: Any, fuel: int) -> None:  # noqa: ANN401 - cffi has no types
        """Look during calls with `run`, an `rm_run` or an `rm_entry`, which gets this fuel."""
        run.look = self.callback
        _divide(run, fuel, FIRST)

    def end(self) -> BaseException:
        """The exception that C was stopped for."""
        raised, self._raised = self._raised, None
        return KeyboardInterrupt() if raised is None else raised

    def _look(self, address: Any) -> int:  # noqa: ANN401 - the same
        now, run = monotonic(), ffi().cast("rm_run *", address)
        self._budget.look(self.span)
        if run.looks == 0:
            self._units = FIRST
        elif now > self._last:
            units = int(self._units * BETWEEN / (now - self._last))
            self._units = max(LEAST, self._units // 8, min(units, 8 * self._units, MOST))
        self._last = now
        run.looks += 1
        _divide(run, fuel_left(run), self._units)
        return 0

    def _store(self, _kind: type[BaseException], raised: BaseException, _where: TracebackType | None) -> None:
        self._raised = raised


def fuel_left(run: Any) -> int:  # noqa: ANN401 - the same
    """The fuel of an `rm_run`; below 0 where a payment was too high."""
    return int(run.fuel + run.reserve)


def _divide(run: Any, fuel: int, units: int) -> None:  # noqa: ANN401 - the same
    """Let C look after `units` of work."""
    run.turns = units
    run.fuel = min(fuel, units)
    run.reserve = fuel - run.fuel
