"""Threads by time: the turns of each thread that takes turns with others, its waits, and its copies in flight.

| table    | has a row for                                                                                  |
|----------|-------------------------------------------------------------------------------------------------|
| `turns`  | a turn: the thread, its first step, the step after its last one, the wait at its end (-1: it ended) |
| `waits`  | what is waited for, and where in the text                                                       |
| `copies` | an asynchronous copy: the thread, the step of its issue, the step from which it is complete (-1: never) |

Steps are those of events, omitted ones too. A wait lasts to the next turn of the thread; without one, to the end.
Blocks run one after the other, so the same numbers of threads come again in each. That a copy is complete is seen at
the next load that is recorded, or at the end of the turn.
"""

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import cast

from refmlc.debug.threads.roster import Roster, Tracked
from refmlc.debug.threads.standing import waited_for
from refmlc.diag import Span
from refmlc.lang.ir import tir
from refmlc.run.interp.asynchronous.copies import OpenCopy
from refmlc.run.interp.threads.group import Group, Thread

MOST_TURNS = MOST_COPIES = 100_000
NEVER = -1


@dataclass(frozen=True, slots=True)
class TracedWait:
    """What threads wait for, and the place."""

    text: str
    span: Span | None


@dataclass(slots=True)
class TracedCopy:
    """A copy into the buffer `into`; `end` is -1 while it is open."""

    into: str
    nbytes: int
    thread: int
    begin: int
    span: Span | None
    end: int = NEVER


@dataclass(slots=True)
class TracedThreads:
    """See the docstring of the module. `turns`: four numbers for each, in the order of their ends."""

    turns: "array[int]" = field(default_factory=lambda: array("q"))
    waits: list[TracedWait] = field(default_factory=list)
    copies: list[TracedCopy] = field(default_factory=list)
    cut: bool = False


class ThreadRecorder:
    """Records turns and copies. `step`: the number of the next event."""

    def __init__(self, step: Callable[[], int]) -> None:
        self.threads = TracedThreads()
        self.open: list[tuple[OpenCopy, TracedCopy]] = []
        self._step = step
        self._roster = Roster(self._resumed, self._paused)
        self._group: Group | None = None
        self._last: OpenCopy | None = None
        self._begins: dict[int, int] = {}
        self._waits: dict[tuple[str, int], int] = {}

    def begin(self, loop: tir.For, threads: Sequence[Thread]) -> None:
        """The threads of a block, or of an inner axis of it, are about to begin."""
        self._roster.begin(loop, threads)
        slots = cast("list[object]", threads[0].frame) if threads else []
        self._group = next((part for part in slots if isinstance(part, Group)), None)

    def _resumed(self, tracked: Tracked) -> None:
        self._begins[id(tracked)] = max(self._step() - 1, 0)  # the iteration of the loop over threads

    def _paused(self, tracked: Tracked) -> None:
        turns = self.threads.turns
        if len(turns) >= 4 * MOST_TURNS:
            self.threads.cut = True
            return
        self.look(tracked.number)
        turns.extend((tracked.number, self._begins.pop(id(tracked)), self._step(), self._wait(tracked)))

    def _wait(self, tracked: Tracked) -> int:
        meeting = tracked.meeting
        if meeting is None:
            return NEVER
        key = (waited_for(tracked), id(meeting.node))
        if key not in self._waits:
            self._waits[key] = len(self.threads.waits)
            self.threads.waits.append(TracedWait(key[0], meeting.node.span))
        return self._waits[key]

    def look(self, thread: int | None = None) -> list[OpenCopy]:
        """Find the copies that are new, and those that are complete now, which are returned."""
        number = self._running() if thread is None else thread
        for copy in reversed(self._new()):
            row = TracedCopy(copy.into, sum(move.nbytes for move in copy.moves), number, self._step(), copy.span)
            self.threads.copies.append(row)
            self.open.append((copy, row))
        complete = [pair for pair in self.open if not pair[0].is_open]
        if complete:
            for _, row in complete:
                row.end = self._step()
            self.open = [pair for pair in self.open if pair[0].is_open]
        return [copy for copy, _ in complete]

    def _new(self) -> list[OpenCopy]:
        """The copies issued since the last look, latest first."""
        issued = () if self._group is None else self._group.asynchronous.issued
        found = list(takewhile(lambda copy: copy is not self._last, reversed(issued)))
        if found:
            self._last = found[0]
        if len(self.threads.copies) + len(found) > MOST_COPIES:
            self.threads.cut = True
            return []
        return found

    def _running(self) -> int:
        running = self._roster.running
        return 0 if running is None else running.number
