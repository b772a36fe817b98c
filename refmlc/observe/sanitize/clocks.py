"""What threads of a block know of each other through barriers in memory (TIA-023), as vector clocks.

A thread counts its signals. Its clock says, for every thread, before which of its signals all accesses are done, as far
as the thread can know: by the phases that it has seen, and by the meetings of the parts of the block.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Clock: TypeAlias = dict[int, int]


@dataclass(slots=True)
class Clocks:
    """The clocks of the threads, by their numbers, and those of the phases, by their tokens.

    A thread without a clock knows what all knew when they last met.
    """

    threads: dict[int, Clock] = field(default_factory=dict)
    phases: dict[object, Clock] = field(default_factory=dict)
    _copies: dict[object, int] = field(default_factory=dict)
    _all: Clock = field(default_factory=dict)

    def of(self, thread: int) -> Clock:
        """The clock of a thread."""
        clock = self.threads.get(thread)
        if clock is None:
            clock = self.threads[thread] = {**self._all, thread: self._all.get(thread, 0) + 1}
        return clock

    def release(self, thread: int, token: object) -> None:
        """The thread signals a phase."""
        clock = self.of(thread)
        _join(self.phases.setdefault(token, {}), clock)
        clock[thread] += 1

    def acquire(self, thread: int, token: object) -> None:
        """The thread has seen a phase."""
        _join(self.of(thread), self.phases.get(token, {}))

    def land(self, token: object) -> int:
        """A number below 0 for what the copies of a phase do: known to threads that have seen the phase."""
        copy = self._copies.setdefault(token, -1 - len(self._copies))
        self.phases.setdefault(token, {})[copy] = 1
        return copy

    def meet(self, threads: Iterable[int]) -> None:
        """Threads have met: what each of them did comes before what any of them does."""
        self._meet(threads)

    def meet_all(self) -> None:
        """All threads of the block have met."""
        self._all = self._meet(sorted(self.threads))

    def _meet(self, threads: Iterable[int]) -> Clock:
        clocks = [(thread, self.of(thread)) for thread in threads]
        together: Clock = {}
        for _, clock in clocks:
            _join(together, clock)
        for thread, _ in clocks:
            self.threads[thread] = {**together, thread: together[thread] + 1}
        return together


def _join(clock: Clock, other: Mapping[int, int]) -> None:
    for thread, count in other.items():
        if clock.get(thread, 0) < count:
            clock[thread] = count
