"""The threads of a block that wait for each other, run in turns (TIR-227).

Each thread is a generator that yields a `Meeting` to wait. In a round every thread runs to its next meeting,
in the order of the indices. When all have reached the same one, the next round begins. So nothing interrupts a thread
between two meetings, and every run has the same order.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from refmlc.lang.ir.node import Node
from refmlc.run.interp.tensorir.frame import Frame, Slot
from refmlc.run.interp.tensorir.views import BufferPlace, View


@dataclass(frozen=True, slots=True)
class Meeting:
    """A place where threads wait for each other. `implied`: a compiler puts a barrier here, the text has none."""

    node: Node
    implied: bool


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


def rounds(
    threads: Sequence[Thread],
    resume: Callable[[Thread], None],
    pause: Callable[[Thread], None],
    divergence: Callable[[Sequence[Thread]], Exception],
) -> Iterator[Meeting]:
    """Run the threads; yields whenever all of them wait at one meeting. Fails with `divergence` where they do not."""
    while threads:
        for thread in threads:
            resume(thread)
            thread.waits = next(thread.steps, None)
            pause(thread)
        first = threads[0].waits
        places = {None if thread.waits is None else thread.waits.node for thread in threads}
        if len(places) > 1:
            raise divergence(threads)
        if first is None:
            return
        yield first
