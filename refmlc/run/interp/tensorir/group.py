"""The threads of a block that need each other, run in turns (TIR-227).

Each thread is a generator that yields where it has to wait, at a `Meeting`. A round lets every thread, in the order of
its index, run to its next meeting. When all have come to the same one, the next round begins. So what a thread does
between two meetings is not interrupted, and the order of a run is always the same.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from refmlc.lang.ir.node import Node
from refmlc.run.interp.tensorir.frame import Frame, Slot
from refmlc.run.interp.tensorir.views import BufferPlace, View


@dataclass(frozen=True, slots=True)
class Meeting:
    """Where threads wait for each other. `implied`: the text has no barrier here, a compiler puts one."""

    node: Node
    implied: bool


Steps: TypeAlias = Generator[Meeting, None, None]
Go: TypeAlias = Callable[[Frame], Steps]


@dataclass(slots=True)
class Thread:
    """A thread: its frame, what is left to do, and where it waits (None: nowhere, or it has ended)."""

    index: int
    frame: Frame
    steps: Steps
    waits: Meeting | None = None


@dataclass(slots=True)
class Posted:
    """What a thread brought to a meeting: its indices on the axes that are not reduced, and values."""

    others: tuple[int | None, ...]
    values: tuple[object, ...]
    counts: bool


class Group:
    """What the threads of one block have in common: the memory they allocate together, and what they bring along."""

    def __init__(self) -> None:
        self.posted: dict[Node, list[Posted]] = {}
        self.met: dict[Node, list[Posted]] = {}
        self.folded: dict[tuple[Node, tuple[int | None, ...]], tuple[object, ...]] = {}
        self._views: dict[tuple[Slot[View], int], View] = {}
        self._times: dict[tuple[Slot[View], int], int] = {}
        self._frames: list[Frame] = []

    def post(self, node: Node, posted: Posted) -> None:
        """Bring something to the meeting at `node`."""
        self.posted.setdefault(node, []).append(posted)

    def next_round(self) -> None:
        """All have met: what was brought is there for everyone."""
        self.met, self.posted, self.folded = self.posted, {}, {}

    def shared(self, place: BufferPlace, frame: Frame, make: Callable[[Frame], View]) -> View:
        """The buffer that the threads allocate together: for each thread's n-th time here the same."""
        mine = (place.view, id(frame))
        if mine not in self._times:
            self._frames.append(frame)  # alive, so that its id stays its own
        number = self._times.get(mine, 0)
        self._times[mine] = number + 1
        key = (place.view, number)
        if key not in self._views:
            self._views[key] = make(frame)
        return self._views[key]


def rounds(
    threads: Sequence[Thread],
    resume: Callable[[Thread], None],
    pause: Callable[[Thread], None],
    apart: Callable[[Sequence[Thread]], Exception],
) -> Iterator[Meeting]:
    """Run the threads; yields whenever all of them wait at one meeting. Fails: as `apart` says, where they do not."""
    while threads:
        for thread in threads:
            resume(thread)
            thread.waits = next(thread.steps, None)
            pause(thread)
        first = threads[0].waits
        places = {None if thread.waits is None else thread.waits.node for thread in threads}
        if len(places) > 1:
            raise apart(threads)
        if first is None:
            return
        yield first
