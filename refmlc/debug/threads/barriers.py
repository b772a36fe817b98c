"""The barriers of the block that runs, as data: those in memory with their open operations, and the numbered ones."""

from collections.abc import Iterator

from refmlc.debug.engine import Engine
from refmlc.debug.thread_data import BarrierState
from refmlc.debug.threads.roster import Roster, Tracked
from refmlc.debug.threads.standing import reentry_of
from refmlc.run.interp.asynchronous.barriers import BlockState, MemoryBarrier
from refmlc.run.interp.asynchronous.operations import OpenOperation


def barriers(engine: Engine) -> list[BarrierState]:
    """The barriers that are in use; none where no threads take turns."""
    threads = engine.roster.threads()
    return [*_in_memory(engine, threads[0]), *_numbered(engine.roster, threads)] if threads else []


def _in_memory(engine: Engine, tracked: Tracked) -> Iterator[BarrierState]:
    reentry = reentry_of(engine, tracked)
    group = None if reentry is None else tracked.frame[reentry.scope.group]
    block = BlockState() if group is None else group.asynchronous
    for barrier in block.barriers.values():
        yield BarrierState(
            barrier.name,
            barrier.expected,
            barrier.expected - barrier.pending,
            barrier.phase,
            barrier.bytes,
            tuple(_described(operation) for operation in _open(barrier)),
        )


def _open(barrier: MemoryBarrier) -> list[OpenOperation]:
    return [operation for phase in barrier.operations.values() for operation in phase if operation.is_open]


def _described(operation: OpenOperation) -> str:
    return f"{sum(move.nbytes for move in operation.moves)} bytes into `{operation.into}`"


def _numbered(roster: Roster, threads: list[Tracked]) -> Iterator[BarrierState]:
    numbers = set(roster.arrivals)
    for tracked in threads:
        barrier = None if tracked.meeting is None else tracked.meeting.barrier
        if barrier is not None and tracked.waits_at(barrier.number):
            numbers.add(barrier.number)
    for number in sorted(numbers):
        arrived = [arrival.barrier for arrival in roster.arrivals.get(number, ())]
        waiting = [
            tracked.meeting.barrier
            for tracked in threads
            if tracked.waits_at(number) and tracked.meeting is not None and tracked.meeting.barrier is not None
        ]
        if arrived or waiting:
            counts = [barrier.count or len(threads) for barrier in (*waiting, *arrived)]
            yield BarrierState(f"barrier {number}", max(counts), len(arrived) + len(waiting))
