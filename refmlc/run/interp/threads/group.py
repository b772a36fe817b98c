"""The threads of a block that wait for each other, run in turns (TIR-227, TIW-001, TIW-005).

Each thread is a generator that yields a `Meeting` to wait. In a round every thread that may continue runs to its next
meeting, in the order of the indices. Where all threads of a part of the block (the whole block, a warpgroup, a warp,
the lanes of a mask, as many as a barrier counts) wait for each other, they may continue. So nothing interrupts a thread
between two meetings, and every run has the same order.
"""

from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, cast

from refmlc.lang.ir.node import Node
from refmlc.run.interp.asynchronous.barriers import BlockState
from refmlc.run.interp.tensorir.frame import Frame, Slot
from refmlc.run.interp.tensorir.views import BufferPlace, View
from refmlc.run.interp.threads.cluster_arrivals import ClusterArrivals
from refmlc.run.interp.threads.cluster_memory import ClusterMemory
from refmlc.run.interp.threads.schedule import ThreadSchedule
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.space_numbers import SpaceNumbers
from refmlc.run.memory.tensor_memory import TensorMemory


@dataclass(frozen=True, slots=True)
class Barrier:
    """One of the numbered barriers of a block, and how a thread reaches it.

    `count`: how many threads come before it opens; None: all of the block. `aligned`: the threads of a warp come by the
    same instruction. `arrives`: the thread does not wait. `folds`: whether values are reduced on the way.
    """

    number: int
    count: int | None = None
    aligned: bool = True
    arrives: bool = False
    folds: bool = False


@dataclass(frozen=True, slots=True)
class Meeting:
    """A place where threads wait for each other. `implied`: a compiler puts a barrier here, the text has none.

    `part`: whose threads wait, a key of `PARTS`. `act`: what is done once, when all have come. `orders`: whether
    accesses before it come before those after it, for all of them. `key`: what is the same for threads that meet; None:
    the node. `mask`: the lanes of the warp that meet; None: all. `barrier`: the barrier that counts them.
    `converges`: the lanes that are there when no other lane can be there first meet. `posted`, `result`: where a
    thread has what it brings, and gets what it takes. `until`: a thread waits alone, for a state.
    """

    node: Node
    implied: bool
    part: str = "cta"
    act: "Callable[[Sequence[Thread]], None] | None" = None
    orders: bool = True
    key: object = None
    mask: int | None = None
    barrier: Barrier | None = None
    converges: bool = False
    posted: "Slot[object] | None" = None
    result: "Slot[object] | None" = None
    until: "Awaited | None" = None

    def is_same(self, other: "Meeting | None") -> bool:
        """Whether threads that wait at the two meet."""
        if other is None or self.mask != other.mask:
            return False
        return self.node is other.node if self.key is None else self.key == other.key


class Awaited(Protocol):
    """A state of memory that single threads wait for."""

    def holds(self, thread: "Thread") -> bool:
        """Whether the thread may continue."""

    def lacks(self, thread: "Thread") -> str:
        """What it waits for, as messages have it."""

    def place(self, thread: "Thread") -> object:
        """The place whose state it is."""

    def holders(self, thread: "Thread") -> Collection[int] | None:
        """The threads that it waits for, as far as they are known; None: they are not."""


WARP = 32
PARTS = {"warp": WARP, "warpgroup": 128}
"""The numbers of threads of the parts of a block that can meet, other than the block itself (`cta`)."""

Steps: TypeAlias = Generator[Meeting, None, None]
Go: TypeAlias = Callable[[Frame], Steps]


@dataclass(slots=True)
class Thread:
    """A thread: its frame, the rest of its statements, and where it waits (None: it runs, or has ended).

    `block`: how many threads a block has, where those of the blocks of a cluster run together; 0: all of them.
    """

    index: int
    frame: Frame
    steps: Steps
    waits: Meeting | None = None
    block: int = 0

    @property
    def number(self) -> int:
        """Its number in its block."""
        return self.index % self.block if self.block else self.index


@dataclass(slots=True)
class Posted:
    """The values that a thread brings to a meeting; `outer_indices`: its indices on the axes that are not reduced."""

    outer_indices: tuple[int | None, ...]
    values: tuple[object, ...]
    counts: bool


class Group:
    """The state that the threads of one block share: memory allocated together, values brought to a meeting.

    Where blocks of a cluster run together they have one group, with memory for each block. `threads`: how many there
    are; `block`: how many a block has then, or 0; `block_of`: the block of the thread with a frame.
    """

    def __init__(self) -> None:
        self.threads = 0
        self.block = 0
        self.block_of: Callable[[Frame], int] = lambda _frame: 0
        self.arrivals = ClusterArrivals()
        self.asynchronous = BlockState()
        self._numbers: dict[int, SpaceNumbers] = {}
        self.tensor_memories: dict[int, TensorMemory] = {}
        self.posted: dict[Node, list[Posted]] = {}
        self.met: dict[Node, list[Posted]] = {}
        self.folded: dict[tuple[Node, tuple[int | None, ...]], tuple[object, ...]] = {}
        self.memory = ClusterMemory()

    def numbers(self, frame: Frame) -> SpaceNumbers:
        """The numbers of addresses in the shared memory of the block of a thread."""
        return self._numbers.setdefault(self.block_of(frame), SpaceNumbers())

    def tensor_memory(self, frame: Frame, budget: Budget, block: int | None = None) -> TensorMemory:
        """The tensor memory of a block, that of a thread where none is given, made at its first use. Fails: RM603."""
        block = self.block_of(frame) if block is None else block
        if block not in self.tensor_memories:
            self.tensor_memories[block] = TensorMemory(budget)
        return self.tensor_memories[block]

    def close(self) -> None:
        """All threads have ended. Fails: RM341, RM351 where they left something open."""
        self.asynchronous.end()
        for memory in self.tensor_memories.values():
            memory.end()

    def post(self, node: Node, posted: Posted) -> None:
        """Bring values to the meeting at `node`."""
        self.posted.setdefault(node, []).append(posted)

    def next_round(self) -> None:
        """All have met: each thread can read the values brought to this meeting."""
        self.met, self.posted, self.folded = self.posted, {}, {}

    @property
    def blocks(self) -> int:
        """How many blocks run together."""
        return self.threads // self.block if self.block else 1

    def end(self, thread: int) -> None:
        """A thread has ended."""
        self.arrivals.ended.add(thread)
        self.arrivals.settle(self.threads)
        if self.block:
            self.memory.end(thread // self.block, self.block)

    def shared_view(self, place: BufferPlace, frame: Frame, make: Callable[[Frame], View]) -> View:
        """The buffer that the threads of a block allocate together."""
        return self.memory.allocate(place, frame, self.block_of(frame), make)


@dataclass(frozen=True, slots=True)
class Events:
    """The events of a run of threads: one continues, waits, arrives; a part of the block has met, or some never do.

    `arrived` and `met` get the phases of barriers that are signalled and seen; `divergence` the threads that should
    have met, one that waits, and those that arrived.
    """

    resume: Callable[[Thread], None]
    pause: Callable[[Thread], None]
    arrived: Callable[[object, Frame], None]
    met: Callable[[Meeting, Sequence[Thread], Sequence[object]], None]
    divergence: Callable[[Sequence[Thread], Thread, Sequence[Thread]], Exception]


def rounds(threads: Sequence[Thread], events: Events) -> Iterator[Meeting]:
    """Run the threads; yields whenever all of them wait at one meeting of the block. Fails with `divergence`."""
    ready = threads
    barriers = _barriers(threads, events)
    while threads:
        for thread in ready:
            _turn(thread, barriers, events)
        if all(thread.waits is None for thread in threads):
            return
        first = threads[0].waits
        if first is not None and _is_whole(first, threads) and barriers.opens(first):
            ready = threads
            _act(first, threads, events)
            yield first
            continue
        ready = []
        for meeting, members, phases in (*_parts(threads), *barriers.open()):
            _act(meeting, members, events)
            events.met(meeting, members, phases)
            ready = [*ready, *members]
        ready = [*ready, *(thread for thread in threads if _may_pass(thread))]
        if not ready:
            ready = _converged(threads, events)
        if not ready:
            waiting = _first_waiting(threads)
            meeting = cast("Meeting", waiting.waits)
            raise events.divergence(part_of(threads, waiting, meeting), waiting, barriers.of(waiting, meeting))


def scheduled(threads: Sequence[Thread], events: Events, schedule: ThreadSchedule) -> Iterator[Meeting]:
    """The same, in the order of a schedule: threads that may continue do so before all others wait."""
    ready = list(threads)
    barriers = _barriers(threads, events)
    schedule.begin(threads)
    while threads:
        if not ready:
            first = threads[0].waits
            if all(thread.waits is None for thread in threads):
                return
            if _is_whole(first, threads) and barriers.opens(cast("Meeting", first)):
                _act(cast("Meeting", first), threads, events)
                schedule.met(threads, ())
                yield cast("Meeting", first)
                ready = _released(threads)
                continue
            ready = _released(_converged(threads, events))
            if not ready:
                waiting = _first_waiting(threads)
                meeting = cast("Meeting", waiting.waits)
                raise events.divergence(part_of(threads, waiting, meeting), waiting, barriers.of(waiting, meeting))
        thread = schedule.choose(ready)
        ready.remove(thread)
        _turn(thread, barriers, events)
        schedule.paused()
        if ready or not _is_whole(threads[0].waits, threads):
            ready += _opened(threads, barriers, events, schedule)


def _is_whole(meeting: Meeting | None, threads: Sequence[Thread]) -> bool:
    """Whether all threads of the block wait at one meeting of the block, and no other block is there."""
    alone = not threads[0].block
    return meeting is not None and alone and _is_of_block(meeting) and _is_met(meeting, threads)


def _released(members: Sequence[Thread]) -> list[Thread]:
    """Threads that do not wait any more."""
    for member in members:
        member.waits = None
    return list(members)


def _opened(threads: Sequence[Thread], barriers: "_Blocks", events: Events, schedule: ThreadSchedule) -> list[Thread]:
    """The threads that may continue since the last turn."""
    ready: list[Thread] = []
    for meeting, members, phases in (*_parts(threads), *barriers.open()):
        _act(meeting, members, events)
        events.met(meeting, members, phases)
        if meeting.orders:
            schedule.met(members, [phase.thread for phase in phases if isinstance(phase, Arrival)])
        ready += _released(members)
    for thread in threads:
        if _may_pass(thread):
            schedule.woken(thread, cast("Awaited", cast("Meeting", thread.waits).until).place(thread))
            ready += _released([thread])
    return ready


def _turn(thread: Thread, barriers: "_Blocks", events: Events) -> None:
    """Run a thread to where it waits."""
    events.resume(thread)
    thread.waits = next(thread.steps, None)
    while thread.waits is not None and thread.waits.barrier is not None and thread.waits.barrier.arrives:
        barriers.arrive(thread, thread.waits)
        thread.waits = next(thread.steps, None)
    events.pause(thread)


def _is_of_block(meeting: Meeting) -> bool:
    """Whether threads of the whole block meet there."""
    return meeting.part not in PARTS and meeting.until is None


def _is_unnumbered(meeting: Meeting) -> bool:
    """Whether the threads of a block meet there, and no barrier counts them."""
    return _is_of_block(meeting) and meeting.barrier is None


def _may_pass(thread: Thread) -> bool:
    """Whether a thread that waits alone may continue."""
    return thread.waits is not None and thread.waits.until is not None and thread.waits.until.holds(thread)


def _act(meeting: Meeting, members: Sequence[Thread], events: Events) -> None:
    """Do what is done once, in the turn of the first thread."""
    if meeting.act is not None:
        events.resume(members[0])
        meeting.act(members)
        events.pause(members[0])


def _is_met(meeting: Meeting, members: Sequence[Thread]) -> bool:
    return all(meeting.is_same(thread.waits) for thread in members)


Met: TypeAlias = "tuple[Meeting, Sequence[Thread], Sequence[object]]"


def _parts(threads: Sequence[Thread]) -> Iterator[Met]:
    """The parts of the block whose threads have all come, in order."""
    for thread in threads:
        meeting = thread.waits
        if meeting is not None and (meeting.part in PARTS or (thread.block and _is_unnumbered(meeting))):
            members = part_of(threads, thread, meeting)
            if members and members[0] is thread and _is_met(meeting, members):
                yield meeting, members, ()


def _converged(threads: Sequence[Thread], events: Events) -> Sequence[Thread]:
    """The first threads of a warp that wait for nobody in particular, if nobody else continues."""
    for thread in threads:
        meeting = thread.waits
        if meeting is not None and meeting.converges:
            warp = part_of(threads, thread, meeting)
            members = [member for member in warp if meeting.is_same(member.waits)]
            _act(meeting, members, events)
            events.met(meeting, members, ())
            return members
    return []


def _first_waiting(threads: Sequence[Thread]) -> Thread:
    """A thread that waits: one that its own mask leaves out, or one of those that wait for a part of the block only."""
    waiting = [thread for thread in threads if thread.waits is not None]
    outside = [thread for thread in waiting if thread not in part_of(threads, thread, cast("Meeting", thread.waits))]
    return min(outside or waiting, key=lambda thread: _is_of_all(cast("Meeting", thread.waits)))


def _is_of_all(meeting: Meeting) -> bool:
    """Whether all threads of the block meet there, by their only barrier."""
    barrier = meeting.barrier
    return _is_of_block(meeting) and (barrier is None or (barrier.number == 0 and barrier.count is None))


def part_of(threads: Sequence[Thread], thread: Thread, meeting: Meeting) -> Sequence[Thread]:
    """The threads that meet with this one."""
    block = (thread.block if meeting.part != "cluster" else 0) or len(threads)
    start = thread.index // block * block
    size = PARTS.get(meeting.part, block)
    first = start + (thread.index - start) // size * size
    members = threads[first : min(first + size, start + block)]
    if meeting.mask is None:
        return members
    return [member for member in members if meeting.mask >> (member.index - first) & 1]


@dataclass(frozen=True, slots=True, eq=False)
class Arrival:
    """What a thread leaves at a barrier where it does not wait."""

    thread: Thread
    barrier: Barrier


@dataclass(slots=True)
class _Barriers:
    """The numbered barriers of a block, with the threads that arrived there and did not wait."""

    threads: Sequence[Thread]
    events: Events
    arrivals: dict[int, list[Arrival]] = field(default_factory=dict)

    def arrive(self, thread: Thread, meeting: Meeting) -> None:
        """The thread arrives. Fails with `divergence` if it did before, and the barrier has not opened since."""
        barrier = cast("Barrier", meeting.barrier)
        arrivals = self.arrivals.setdefault(barrier.number, [])
        if any(arrival.thread is thread for arrival in arrivals):
            raise self.events.divergence(self.threads, thread, self.arrived_at(meeting))
        arrivals.append(Arrival(thread, barrier))
        self.events.arrived(arrivals[-1], thread.frame)

    def arrived_at(self, meeting: Meeting) -> Sequence[Thread]:
        """The threads that arrived at the barrier of a meeting."""
        arrivals = () if meeting.barrier is None else self.arrivals.get(meeting.barrier.number, ())
        return [arrival.thread for arrival in arrivals]

    def opens(self, meeting: Meeting) -> bool:
        """Whether all threads of the block, which wait here, are as many as the barrier waits for."""
        if meeting.barrier is None:
            return True
        everybody = meeting.barrier.count in (None, len(self.threads)) and not self.arrived_at(meeting)
        if everybody:
            self._check(self.threads, [])
        return everybody

    def open(self) -> Iterator[Met]:
        """The barriers to which as many threads have come as they wait for. Fails with `divergence` if more have."""
        waiting: dict[int, list[Thread]] = {number: [] for number in self.arrivals}
        for thread in self.threads:
            if thread.waits is not None and thread.waits.barrier is not None:
                waiting.setdefault(thread.waits.barrier.number, []).append(thread)
        for number, members in waiting.items():
            arrivals = self.arrivals.get(number, [])
            come = [*(cast("Barrier", cast("Meeting", thread.waits).barrier) for thread in members)]
            come += [arrival.barrier for arrival in arrivals]
            counts = {barrier.count or len(self.threads) for barrier in come}
            if not come or len(come) < max(counts):
                continue
            arrived = [arrival.thread for arrival in arrivals]
            self._check(members, arrived)
            if len(come) > min(counts):
                raise self.events.divergence(self.threads, (members or arrived)[0], arrived)
            self.arrivals.pop(number, None)
            if members:
                yield cast("Meeting", members[0].waits), members, arrivals

    def _check(self, members: Sequence[Thread], arrived: Sequence[Thread]) -> None:
        """Fails with `divergence` where threads of a warp came by different instructions, or reduce differently."""
        if not members:
            return
        first = cast("Meeting", members[0].waits)
        for thread in members:
            meeting, leader = cast("Meeting", thread.waits), self.threads[self._first_of_warp(thread)]
            other = leader.waits
            apart = cast("Barrier", meeting.barrier).aligned and (other is None or other.node is not meeting.node)
            if apart or meeting.key != first.key:
                raise self.events.divergence(self.threads, thread, arrived)

    def _first_of_warp(self, thread: Thread) -> int:
        return (thread.index - self.threads[0].index) // WARP * WARP


@dataclass(frozen=True, slots=True)
class _Blocks:
    """The numbered barriers of each of the blocks that run together."""

    blocks: Sequence[_Barriers]

    def arrive(self, thread: Thread, meeting: Meeting) -> None:
        """The thread arrives at one of its block."""
        self._block(thread).arrive(thread, meeting)

    def of(self, thread: Thread, meeting: Meeting) -> Sequence[Thread]:
        """The threads that arrived at the barrier of a meeting, in the block of this thread."""
        return self._block(thread).arrived_at(meeting)

    def opens(self, meeting: Meeting) -> bool:
        """Whether all threads of the only block are as many as the barrier waits for."""
        return self.blocks[0].opens(meeting)

    def open(self) -> Iterator[Met]:
        """The barriers to which as many threads have come as they wait for."""
        for block in self.blocks:
            yield from block.open()

    def _block(self, thread: Thread) -> _Barriers:
        return self.blocks[thread.index // thread.block if thread.block else 0]


def _barriers(threads: Sequence[Thread], events: Events) -> _Blocks:
    size = (threads[0].block if threads else 0) or len(threads) or 1
    starts = range(0, max(len(threads), 1), size)
    return _Blocks([_Barriers(threads[start : start + size], events) for start in starts])
