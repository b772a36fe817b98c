"""Who ends a wait.

| a wait at                          | is ended by                                                            |
|------------------------------------|------------------------------------------------------------------------|
| a meeting, a numbered barrier      | the thread that came last, at the end of its turn, or where it arrived |
| a phase of a barrier in memory     | the thread in whose turn the phase became complete: where it signalled |
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from refmlc.debug.threads.roster import Tracked
from refmlc.run.interp.asynchronous.barriers import MemoryBarrier
from refmlc.run.interp.asynchronous.waits import PhaseIsComplete
from refmlc.run.interp.threads.group import Arrival


@dataclass(frozen=True, slots=True)
class WaitEnd:
    """A thread, and the step at which it ends a wait."""

    thread: int
    step: int


@dataclass(slots=True)
class WaitEnds:
    """Watches the barriers of one block."""

    _phases: dict[MemoryBarrier, list[WaitEnd]] = field(default_factory=dict)
    _signals: dict[MemoryBarrier, int] = field(default_factory=dict)
    _arrivals: dict[int, WaitEnd] = field(default_factory=dict)

    def reset(self) -> None:
        """Another block begins."""
        self._phases.clear()
        self._signals.clear()
        self._arrivals.clear()

    def signal(self, token: object, step: int) -> None:
        """A thread arrives, as the hook `release` reports it."""
        match token:
            case (MemoryBarrier() as barrier, int()):
                self._signals[barrier] = step
            case Arrival(thread=thread, barrier=barrier):
                self._arrivals[barrier.number] = WaitEnd(thread.number, step)
            case _:
                pass

    def look(self, barriers: Iterable[MemoryBarrier], thread: int, step: int) -> None:
        """The turn of a thread ends: phases that are complete now became so in it."""
        for barrier in barriers:
            causes = self._phases.setdefault(barrier, [])
            while len(causes) < barrier.phase:
                causes.append(WaitEnd(thread, self._signals.get(barrier, step)))

    def cause(self, tracked: Tracked, come: Sequence[WaitEnd]) -> WaitEnd | None:
        """What ends the wait of a thread, and of those that wait with it; `come`: when each of them came."""
        meeting = tracked.meeting
        if meeting is not None and meeting.until is not None:
            return self._of_phase(tracked, meeting.until) if isinstance(meeting.until, PhaseIsComplete) else None
        arrived = None if meeting is None or meeting.barrier is None else self._arrivals.get(meeting.barrier.number)
        known = [*come, *([arrived] if arrived is not None else [])]
        return max(known, key=lambda cause: cause.step, default=None)

    def _of_phase(self, tracked: Tracked, until: PhaseIsComplete) -> WaitEnd | None:
        wait = tracked.frame[until.slot]
        causes = self._phases.get(wait.barrier, [])
        return causes[wait.since] if wait.since < len(causes) else None
