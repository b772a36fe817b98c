"""Threads by time: the turns of each thread that takes turns with others, its waits, and its copies in flight.

| table    | has a row for                                                                                  |
|----------|-------------------------------------------------------------------------------------------------|
| `turns`  | a turn: the thread, its first step, the step after its last one, the wait at its end (-1: it ended) |
| `waits`  | what is waited for, and where in the text                                                       |
| `ends`   | the end of a wait: the row of the turn before it, the thread that ended it, and at which step   |
| `blocks` | a block of threads: its first step, its indices x, y, z (-1: the grid has no such axis)         |
| `copies` | an asynchronous copy: the thread, the step of its issue, the step from which it is complete (-1: never) |

Steps are those of events, omitted ones too. A wait lasts to the next turn of the thread; without one, to the end.
Blocks run one after the other, so the same numbers of threads come again in each. `wait_ends` says who ends a wait: of
threads that meet the last to come, whose own wait ends by itself. That a copy is complete is seen at
the next load that is recorded, or at the end of the turn.
"""

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import cast

from refmlc.debug.threads.roster import Roster, Tracked
from refmlc.debug.threads.standing import waited_for
from refmlc.debug.trace.wait_ends import WaitEnd, WaitEnds
from refmlc.diag import Span
from refmlc.lang.ir import tir
from refmlc.run.interp.asynchronous.operations import OpenOperation
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
    """See the docstring of the module. Columns: four numbers for a turn, three for the end of a wait, four for a block.

    Turns are in the order of their ends.
    """

    turns: "array[int]" = field(default_factory=lambda: array("q"))
    waits: list[TracedWait] = field(default_factory=list)
    copies: list[TracedCopy] = field(default_factory=list)
    cut: bool = False
    ends: "array[int]" = field(default_factory=lambda: array("q"))
    blocks: "array[int]" = field(default_factory=lambda: array("q"))


class ThreadRecorder:
    """Records turns and copies. `step`: the number of the next event."""

    def __init__(self, step: Callable[[], int]) -> None:
        self.threads = TracedThreads()
        self.open: list[tuple[OpenOperation, TracedCopy]] = []
        self._step = step
        self.ends = WaitEnds()
        self._roster = Roster(self._resumed, self._paused, self._released)
        self._group: Group | None = None
        self._last: OpenOperation | None = None
        self._begins: dict[int, int] = {}
        self._waits: dict[tuple[str, int], int] = {}
        self._rows: dict[int, tuple[int, WaitEnd]] = {}
        self._outer: dict[int, WaitEnd] = {}
        self._paused_last = WaitEnd(0, 0)

    def begin(self, loop: tir.For, threads: Sequence[Thread], block: Sequence[int]) -> None:
        """The threads of a block, or of an inner axis of it, are about to begin. `block`: its indices x, y, z."""
        if self._roster.running is None and len(self.threads.blocks) < 4 * MOST_TURNS:
            self.threads.blocks.extend((self._step(), *block))
            self.ends.reset()
            self._rows.clear()
            self._outer.clear()
        self._roster.begin(loop, threads)
        slots = cast("list[object]", threads[0].frame) if threads else []
        self._group = next((part for part in slots if isinstance(part, Group)), None)

    def _resumed(self, tracked: Tracked) -> None:
        self._begins[id(tracked)] = max(self._step() - 1, 0)  # the iteration of the loop over threads

    def _paused(self, tracked: Tracked) -> None:
        turns, begin, step = self.threads.turns, self._begins.pop(id(tracked)), self._step()
        if tracked.inner is not None and len(turns) and turns[-3] >= begin:
            return  # its inner threads have had this turn
        if len(turns) >= 4 * MOST_TURNS:
            self.threads.cut = True
            return
        self.look(tracked.number)
        self._paused_last = WaitEnd(tracked.number, step)
        self._rows[id(tracked)] = len(turns) // 4, self._paused_last
        turns.extend((tracked.number, begin, step, self._wait(tracked)))
        if self._group is not None:
            self.ends.look(self._group.asynchronous.barriers.values(), tracked.number, step)

    def finish(self) -> None:
        """The run is over: the turn in which it failed ends too."""
        running, turns = self._roster.running, self.threads.turns
        if running is not None and running.inner is None and len(turns) < 4 * MOST_TURNS:
            turns.extend((running.number, self._begins[id(running)], self._step(), NEVER))

    def _released(self, peers: Sequence[Tracked]) -> None:
        rows = [self._rows.pop(id(peer)) for peer in peers if id(peer) in self._rows]
        if not rows:  # they stand for the threads of an inner axis, which continue after this
            self._outer |= {id(peer): self._paused_last for peer in peers}
            return
        whole = self._outer.pop(id(peers[0].launch.outer), None)
        cause = whole or self.ends.cause(peers[0], [cause for _, cause in rows])
        if cause is not None:
            for row, _ in rows:
                self.threads.ends.extend((row, cause.thread, cause.step))

    def _wait(self, tracked: Tracked) -> int:
        meeting = tracked.meeting
        if meeting is None:
            return NEVER
        key = (waited_for(tracked), id(meeting.node))
        if key not in self._waits:
            self._waits[key] = len(self.threads.waits)
            self.threads.waits.append(TracedWait(key[0], meeting.node.span))
        return self._waits[key]

    def look(self, thread: int | None = None) -> list[OpenOperation]:
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

    def _new(self) -> list[OpenOperation]:
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
