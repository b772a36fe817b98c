"""What threads of a block know of each other, as vector clocks.

A thread counts its signals. Its clock says, for every thread, before which of its signals all accesses are done, as far
as the thread can know:

| by                                                          | clause  |
|-------------------------------------------------------------|---------|
| the meetings of the block and of its parts                  | TIR-227 |
| the phases of barriers in memory that it has seen           | TIA-023 |
| atomic operations that acquire what others released         | TIW-010 |
| loads and stores with a memory order, in the same way       | PTX-100 |
| fences beside atomic operations that order nothing          | TIA-031 |
| fences between proxies: what is visible to bulk copies, too | TIA-032 |
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Clock: TypeAlias = dict[object, int]
"""By thread, how many of its signals; by proxy and thread, how many of those are visible through that proxy."""


@dataclass(slots=True)
class Clocks:
    """The clocks of the threads, by their numbers, and those of the phases, by their tokens.

    A thread without a clock knows what all knew when they last met.
    """

    threads: dict[int, Clock] = field(default_factory=dict)
    phases: dict[object, Clock] = field(default_factory=dict)
    _copies: dict[object, int] = field(default_factory=dict)
    _all: Clock = field(default_factory=dict)
    _fenced: dict[int, Clock] = field(default_factory=dict)
    _pending: dict[int, Clock] = field(default_factory=dict)

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

    def strong(self, thread: int, token: object, order: str) -> None:
        """An atomic operation at a place: it reads what others released there, and passes it on.

        `order`: that of an operation that reads and writes; after `ld.`, `st.` of one that only does the one or other.
        """
        clock, there = self.of(thread), self.phases.setdefault(token, {})
        kind, _, order = order.rpartition(".")
        if kind == "st":
            there = self.phases[token] = {}
        _join(self._pending.setdefault(thread, {}), there)
        if order in ("acquire", "acq_rel"):
            _join(clock, there)
        if order in ("release", "acq_rel"):
            self.release(thread, token)
        elif thread in self._fenced and kind != "ld":
            _join(there, self._fenced[thread])

    def fence(self, thread: int) -> None:
        """A fence: the atomic operations before it acquire, those after it release."""
        clock = self.of(thread)
        _join(clock, self._pending.get(thread, {}))
        self._fenced[thread] = dict(clock)
        clock[thread] += 1

    def show(self, thread: int, proxy: str) -> None:
        """A fence between proxies: what comes before is visible through `proxy` to what comes after."""
        clock = self.of(thread)
        for other in self.threads:
            _join(clock, {(proxy, other): clock.get(other, 0)})
        clock[thread] += 1

    def shows(self, thread: int, other: int, count: int, proxy: str = "") -> bool:
        """Whether what another thread did before its signal `count` comes before now, visible through `proxy`."""
        return self.of(thread).get((proxy, other) if proxy else other, 0) >= count

    def land(self, token: object) -> int:
        """A number below 0 for what copies of a phase, or of several, do: known to threads that have seen one."""
        copy = self._copies.setdefault(token, -1 - len(self._copies))
        for each in token if isinstance(token, frozenset) else (token,):
            self.phases.setdefault(each, {})[copy] = 1
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


def _join(clock: Clock, other: Mapping[object, int]) -> None:
    for thread, count in other.items():
        if clock.get(thread, 0) < count:
            clock[thread] = count
