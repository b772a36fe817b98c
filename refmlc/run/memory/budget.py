"""The limits of a run: steps, bytes, depth of calls, seconds. Each ends the run with its own code.

| limit         | counts                                                        | code  |
|---------------|---------------------------------------------------------------|-------|
| `max_steps`   | executed statements; a loop of n iterations charges them all  | RM601 |
| `max_depth`   | functions entered and not yet left                            | RM602 |
| `max_bytes`   | data of live storages that the run allocated (no shadows)     | RM603 |
| `max_seconds` | time since the first step, checked every few milliseconds     | RM605 |

Steps take different times, so the number of steps between two readings of the clock follows the time that the last ones
took; it is small, because the next ones may take longer. Loops charge the iterations of some milliseconds together.

Compiled code takes fuel instead of steps, a unit for each iteration, more for an expensive body (NAT-004). Decision: a
step buys 256 units: a budget bounds time, and compiled iterations are that much shorter. Compiled code reads the clock
itself (NAT-007).
"""

from time import monotonic

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import DEPTH_EXHAUSTED, MEMORY_EXHAUSTED, STEPS_EXHAUSTED, TIME_EXHAUSTED
from refmlc.diag.errors import RefmlcError

DEFAULT_STEPS = 200_000_000  # some minutes of a loop with a short body
DEFAULT_BYTES = 4 << 30
DEFAULT_DEPTH = 200
FUEL_OF_A_STEP = 256
MOST_FUEL = 1 << 62
_MOST_STRIDE = 128  # steps; reading the clock takes as long as half of one
_BETWEEN_CHECKS = 0.01  # seconds


class Budget:
    """The limits of one run and what it has used. Decision: limits are fixed numbers, the same on every machine.

    Units: bytes, calls, statements, seconds (None: no limit of time).
    """

    __slots__ = (
        *("_next_check", "_last_check", "_start", "_stride"),
        *("bytes", "depth", "max_bytes", "max_depth", "max_seconds", "max_steps", "steps"),
    )
    _start: float | None

    def __init__(
        self,
        max_steps: int = DEFAULT_STEPS,
        max_bytes: int = DEFAULT_BYTES,
        max_depth: int = DEFAULT_DEPTH,
        max_seconds: float | None = None,
    ) -> None:
        self.max_steps = max_steps
        self.max_bytes = max_bytes
        self.max_depth = max_depth
        self.max_seconds = max_seconds
        self.steps = 0
        self.bytes = 0
        self.depth = 0
        self._begin()

    def renew(self) -> None:
        """Begin a new run with the same limits; live storages stay counted."""
        self.steps = 0
        self.depth = 0
        self._begin()

    def charge_steps(self, count: int, span: Span | None = None) -> None:
        """Count `count` statements, before they are executed. Fails: RM601, RM605."""
        self.steps += count
        if self.steps >= self._next_check:
            self._check_steps(span)

    def look(self, span: Span | None = None) -> None:
        """Check the limit of time, if there is one, after something that may take long. Fails: RM605."""
        if self.max_seconds is not None:
            self._check_steps(span)

    @property
    def full_fuel(self) -> int:
        """The iterations of compiled code that a run begins with."""
        return min(self.max_steps * FUEL_OF_A_STEP, MOST_FUEL)

    def fuel(self) -> int:
        """The iterations of compiled code that the limits leave; 0 and less: none."""
        return min((self.max_steps - self.steps) * FUEL_OF_A_STEP, MOST_FUEL)

    def charge_fuel(self, used: int, calls: int, span: Span | None = None) -> None:
        """Count `used` iterations of compiled code, and the `calls` they were executed in. Fails: RM601, RM605."""
        self.steps += calls + used // FUEL_OF_A_STEP
        if self.steps >= self._next_check or self.max_seconds is not None:
            self._check_steps(span)

    def out_of_fuel(self, span: Span | None = None) -> RefmlcError:
        """The failure of a run that has used all its fuel."""
        return fail(STEPS_EXHAUSTED, f"the run takes more than {self.max_steps} steps", span)

    def charge_bytes(self, count: int, span: Span | None = None, *, what: str = "an allocation") -> None:
        """Count `count` bytes, before they are allocated. Fails: RM603."""
        if self.bytes + count > self.max_bytes:
            left = max(0, self.max_bytes - self.bytes)
            raise fail(MEMORY_EXHAUSTED, f"{what} takes {count} bytes, {left} of {self.max_bytes} bytes are left", span)
        self.bytes += count

    def release_bytes(self, count: int) -> None:
        """Give `count` bytes back."""
        self.bytes -= count

    def enter(self, span: Span | None = None) -> None:
        """Enter a function. Fails: RM602."""
        if self.depth >= self.max_depth:
            raise fail(DEPTH_EXHAUSTED, f"calls nest deeper than {self.max_depth}", span)
        self.depth += 1

    def leave(self) -> None:
        """Leave the function entered last."""
        self.depth -= 1

    def _begin(self) -> None:
        self._start = None
        self._last_check = 0.0
        self._stride = 1
        self._next_check = self.max_steps + 1 if self.max_seconds is None else 0

    def _check_steps(self, span: Span | None) -> None:
        if self.steps > self.max_steps:
            raise fail(STEPS_EXHAUSTED, f"the run takes more than {self.max_steps} steps", span)
        now = monotonic()
        if self._start is None:
            self._start = self._last_check = now
        if self.max_seconds is not None and now - self._start > self.max_seconds:
            raise fail(TIME_EXHAUSTED, f"the run takes longer than {self.max_seconds:g} s", span)
        late = now - self._last_check > _BETWEEN_CHECKS
        self._stride = max(1, self._stride // 2) if late else min(2 * self._stride, _MOST_STRIDE)
        self._last_check = now
        self._next_check = min(self.max_steps + 1, self.steps + self._stride)
