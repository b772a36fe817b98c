"""The threads of a block that wait for each other, run in turns (TIR-227).

Each thread is a generator that yields a `Meeting` to wait. In a round every thread that may continue runs to its next
meeting, in the order of the indices. Where all threads of a part of the block (the whole block, a warpgroup, a warp)
have reached the same one, they may continue. So nothing interrupts a thread between two meetings, and every run has
the same order.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from refmlc.lang.ir.node import Node
from refmlc.run.interp.tensorir.frame import Frame, Slot
from refmlc.run.interp.tensorir.views import BufferPlace, View


@dataclass(frozen=True, slots=True)
class Meeting:
    """A place where threads wait for each other. `implied`: a compiler puts a barrier here, the text has none.

    `part`: whose threads wait, a key of `PARTS`. `act`: what is done once, when all have come. `orders`: whether
    accesses before it come before those after it, for all of them.
    """

    node: Node
    implied: bool
    part: str = "cta"
    act: "Callable[[Sequence[Thread]], None] | None" = None
    orders: bool = True


PARTS = {"warp": 32, "warpgroup": 128}
"""The numbers of threads of the parts of a block that can meet, other than the block itself (`cta`)."""

Steps: TypeAlias = Generator[Meeting, None, None]
Go: TypeAlias = Callable[[Frame], Steps]


@dataclass(slots=True)
class Thread:
    """A thread: its frame, the rest of its statements, and where it waits (None: it runs, or has ended)."""

    index: int
    frame: Frame
    steps: Steps
    waits: Meeting | None = None


@dataclass(slots=True)
class Posted:
    """The values that a thread brings to a meeting; `outer_indices`: its indices on the axes that are not reduced."""

    outer_indices: tuple[int | None, ...]
    values: tuple[object, ...]
    counts: bool


class Group:
    """The state that the threads of one block share: memory allocated together, values brought to a meeting."""

    def __init__(self) -> None:
        self.posted: dict[Node, list[Posted]] = {}
        self.met: dict[Node, list[Posted]] = {}
        self.folded: dict[tuple[Node, tuple[int | None, ...]], tuple[object, ...]] = {}
        self._views: dict[tuple[Slot[View], int], View] = {}
        self._counts: dict[tuple[Slot[View], int], int] = {}
        self._frames: list[Frame] = []

    def post(self, node: Node, posted: Posted) -> None:
        """Bring values to the meeting at `node`."""
        self.posted.setdefault(node, []).append(posted)

    def next_round(self) -> None:
        """All have met: each thread can read the values brought to this meeting."""
        self.met, self.posted, self.folded = self.posted, {}, {}

    def shared_view(self, place: BufferPlace, frame: Frame, make: Callable[[Frame], View]) -> View:
        """The buffer that the threads allocate together: the same for the n-th allocation of each thread."""
        thread = (place.view, id(frame))
        if thread not in self._counts:
            self._frames.append(frame)  # alive, so that its id stays its own
        number = self._counts.get(thread, 0)
        self._counts[thread] = number + 1
        key = (place.view, number)
        if key not in self._views:
            self._views[key] = make(frame)
        return self._views[key]


@dataclass(frozen=True, slots=True)
class Events:
    """The events of a run of threads: one continues, one waits, a part of the block has met, some never meet."""

    resume: Callable[[Thread], None]
    pause: Callable[[Thread], None]
    met: Callable[[Meeting, Sequence[Thread]], None]
    divergence: Callable[[Sequence[Thread], Meeting], Exception]


def rounds(threads: Sequence[Thread], events: Events) -> Iterator[Meeting]:
    """Run the threads; yields whenever all of them wait at one meeting of the block. Fails with `divergence`."""
    ready = threads
    while threads:
        for thread in ready:
            events.resume(thread)
            thread.waits = next(thread.steps, None)
            events.pause(thread)
        first = threads[0].waits
        if all(thread.waits is None for thread in threads):
            return
        if first is not None and _is_met(first, threads) and first.part not in PARTS:
            ready = threads
            _act(first, threads, events)
            yield first
            continue
        ready = []
        for meeting, members in _parts(threads):
            _act(meeting, members, events)
            events.met(meeting, members)
            ready = [*ready, *members]
        if not ready:
            waiting = next(thread for thread in threads if thread.waits is not None)
            meeting = cast("Meeting", waiting.waits)
            raise events.divergence(part_of(threads, waiting, meeting), meeting)


def _act(meeting: Meeting, members: Sequence[Thread], events: Events) -> None:
    """Do what is done once, in the turn of the first thread."""
    if meeting.act is not None:
        events.resume(members[0])
        meeting.act(members)
        events.pause(members[0])


def _is_met(meeting: Meeting, members: Sequence[Thread]) -> bool:
    return all(thread.waits is not None and thread.waits.node is meeting.node for thread in members)


def _parts(threads: Sequence[Thread]) -> Iterator[tuple[Meeting, Sequence[Thread]]]:
    """The parts of the block whose threads have all come, in order."""
    for thread in threads:
        meeting = thread.waits
        if meeting is not None and meeting.part in PARTS:
            members = part_of(threads, thread, meeting)
            if members[0] is thread and _is_met(meeting, members):
                yield meeting, members


def part_of(threads: Sequence[Thread], thread: Thread, meeting: Meeting) -> Sequence[Thread]:
    """The threads that meet with this one."""
    size = PARTS.get(meeting.part, len(threads))
    first = thread.index // size * size
    return threads[first : first + size]
