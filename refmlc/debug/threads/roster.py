"""The threads of the block that runs now, as the interpreter executes them.

Each thread is a generator; the roster wraps it, so that it knows when the thread runs and where it stopped:

| state    | the thread                                                             |
|----------|------------------------------------------------------------------------|
| `BEGINS` | has not run yet                                                        |
| `RUNS`   | executes the statement at which the program stands, or one around it   |
| `WAITS`  | waits at `meeting`                                                     |
| `MET`    | waited there; all have come, and it continues in its turn              |
| `ENDED`  | has no statement left                                                  |

Axes nest: the threads of an inner axis belong to one thread of the outer axis (`outer`). One of the outer axis that has
not begun stands for all of its own.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TypeAlias

from refmlc.lang.ir import tir
from refmlc.lang.ir.threads import tag_of
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.interp.threads.group import PARTS, WARP, Arrival, Meeting, Steps, Thread, part_of

AXES = ("threadIdx.x", "threadIdx.y", "threadIdx.z")


class Turn(Enum):
    """See the table of the module."""

    BEGINS = auto()
    RUNS = auto()
    WAITS = auto()
    MET = auto()
    ENDED = auto()


@dataclass(slots=True, eq=False)
class Tracked:
    """A thread of a block. `inner`: the threads of the axis that it executes within."""

    thread: Thread
    launch: "Launched"
    turn: Turn = Turn.BEGINS
    meeting: Meeting | None = None
    inner: "Launched | None" = None

    @property
    def frame(self) -> Frame:
        """Its variables."""
        return self.thread.frame

    @property
    def number(self) -> int:
        """Its number in the block, x fastest."""
        indices: dict[str, int] = {}
        tracked: Tracked | None = self
        while tracked is not None:
            indices[tag_of(tracked.launch.loop)] = tracked.thread.index
            tracked = tracked.launch.outer
        number, size = 0, 1
        for tag in AXES:
            number, size = number + size * indices.get(tag, 0), size * self.launch.extents.get(tag, 1)
        return number

    @property
    def now(self) -> Turn:
        """Its state; a thread whose outer one has met its peers continues too."""
        outer = self.launch.outer
        return Turn.MET if self.turn is Turn.WAITS and outer is not None and outer.now is Turn.MET else self.turn

    def peers(self) -> Sequence["Tracked"]:
        """The threads of its axis that wait where it waits, and continue when it does."""
        meeting, threads = self.meeting, self.launch.threads
        if meeting is None or meeting.until is not None:
            return [self]
        if meeting.barrier is not None:
            number = meeting.barrier.number
            return [peer for peer in threads if peer.meeting and peer.meeting.barrier and peer.waits_at(number)]
        if meeting.converges:
            members = threads[self.thread.index // WARP * WARP :][:WARP]
        else:
            members = [threads[thread.index] for thread in part_of(self.launch.members, self.thread, meeting)]
        return [peer for peer in members if peer.turn is Turn.WAITS and meeting.is_same(peer.meeting)]

    def waits_at(self, number: int) -> bool:
        """True if it waits at the barrier of this number."""
        barrier = None if self.meeting is None else self.meeting.barrier
        return self.turn is Turn.WAITS and barrier is not None and barrier.number == number


@dataclass(slots=True, eq=False)
class Launched:
    """The threads of one axis: the iterations of `loop`, within the thread `outer`.

    `extents`: how many threads each axis of the block has, as far as one has begun.
    """

    loop: tir.For
    outer: Tracked | None
    members: Sequence[Thread]
    extents: dict[str, int]
    threads: list[Tracked] = field(default_factory=list)


Listener: TypeAlias = Callable[[Tracked], None]


class Roster:
    """See the docstring of the module. The stepper writes it during the run.

    `resumed`, `paused`: called when a thread continues, and when it waits or has ended. `released`: called when a wait
    is over, with the threads that waited together, before any of them continues.
    """

    def __init__(
        self,
        resumed: Listener | None = None,
        paused: Listener | None = None,
        released: "Callable[[Sequence[Tracked]], None] | None" = None,
    ) -> None:
        self._resumed, self._paused, self._released = resumed, paused, released
        self._root: Launched | None = None
        self._running: list[Tracked] = []
        self.arrivals: dict[int, list[Arrival]] = {}

    def reset(self) -> None:
        """The program begins again."""
        self._root = None
        self._running.clear()
        self.arrivals.clear()

    # ---------------------------------------------------------------------------------------------- the run

    def begin(self, loop: tir.For, threads: Sequence[Thread]) -> None:
        """[run] The threads of a block, or of an inner axis of it, are about to begin."""
        outer = self._running[-1] if self._running else None
        extents = {} if outer is None else outer.launch.extents
        extents[tag_of(loop)] = len(threads)
        launch = Launched(loop, outer, threads, extents)
        launch.threads = [Tracked(thread, launch) for thread in threads]
        if outer is None:
            self._root = launch
            self.arrivals.clear()
        else:
            outer.inner = launch
        for tracked in launch.threads:
            tracked.thread.steps = self._watched(tracked, tracked.thread.steps)

    def _watched(self, tracked: Tracked, steps: Steps) -> Steps:
        """[run] The steps of a thread; around each wait its state changes."""
        self._resume(tracked)
        for meeting in steps:
            waits = meeting.barrier is None or not meeting.barrier.arrives
            if waits:
                self._running.pop()
                tracked.turn, tracked.meeting = Turn.WAITS, meeting
                self._tell(self._paused, tracked)
            yield meeting
            if waits:
                self._resume(tracked)
        self._running.pop()
        tracked.turn = Turn.ENDED
        self._tell(self._paused, tracked)

    @staticmethod
    def _tell(listener: "Listener | None", tracked: Tracked) -> None:
        if listener is not None:
            listener(tracked)

    def _resume(self, tracked: Tracked) -> None:
        if tracked.turn is Turn.WAITS:
            peers = tracked.peers()
            if self._released is not None:
                self._released(peers)
            for peer in peers:
                peer.turn = Turn.MET
        tracked.turn, tracked.meeting = Turn.RUNS, None
        self._running.append(tracked)
        self._tell(self._resumed, tracked)

    def arrive(self, token: object) -> None:
        """[run] A thread has arrived at a numbered barrier, and does not wait there."""
        if isinstance(token, Arrival):
            arrivals = self.arrivals.setdefault(token.barrier.number, [])
            if any(arrival.thread is token.thread for arrival in arrivals):  # it has opened without anyone waiting
                arrivals.clear()
            arrivals.append(token)

    def met(self, token: object) -> None:
        """[run] The barrier where a thread arrived has opened."""
        if isinstance(token, Arrival):
            arrivals = self.arrivals.get(token.barrier.number, [])
            self.arrivals[token.barrier.number] = [arrival for arrival in arrivals if arrival is not token]

    # -------------------------------------------------------------------------------------------------- state

    @property
    def running(self) -> Tracked | None:
        """The thread that runs: the innermost one where axes nest."""
        return self._running[-1] if self._running else None

    def is_over(self, numbers: frozenset[int]) -> bool:
        """Whether threads take turns now, and those with these numbers have ended."""
        if self._root is None:
            return False
        flat = self._root.threads
        if all(tracked.inner is None for tracked in flat):
            return all(flat[number].turn is Turn.ENDED for number in numbers if number < len(flat))
        now = self.threads()
        return bool(now) and all(tracked.turn is Turn.ENDED for tracked in now if tracked.number in numbers)

    def thread(self, number: int) -> Tracked | None:
        """The thread with this number."""
        return next((tracked for tracked in self.threads() if tracked.number == number), None)

    def threads(self) -> list[Tracked]:
        """The threads of the block in the order of their numbers; none where no threads take turns now."""
        found = list(_leaves(self._root)) if self._root is not None else []
        if all(tracked.turn is Turn.ENDED for tracked in found):
            return []
        return sorted(found, key=lambda tracked: tracked.number)


def _leaves(launch: Launched) -> Iterator[Tracked]:
    """The threads of the innermost axes; a thread that is past such an axis stands for itself."""
    for tracked in launch.threads:
        inner = [] if tracked.inner is None else list(_leaves(tracked.inner))
        if inner and (tracked.turn is Turn.ENDED or any(thread.turn is not Turn.ENDED for thread in inner)):
            yield from inner
        else:
            yield tracked


__all__ = ["AXES", "PARTS", "WARP", "Launched", "Roster", "Tracked", "Turn"]
