"""Whom each wait is for, and the circle of threads that wait for each other.

| a wait at                      | is for                                                            |
|--------------------------------|-------------------------------------------------------------------|
| a meeting of threads           | those that are missing                                            |
| a numbered barrier             | the threads that neither wait nor arrived there                   |
| a phase of a barrier in memory | the threads that can still reach a statement which arrives there   |
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from refmlc.debug.engine import Engine
from refmlc.debug.thread_data import Wait, Waiting, named, ranges
from refmlc.debug.threads.arrivals import arriving, reaches
from refmlc.debug.threads.roster import Tracked, Turn
from refmlc.debug.threads.standing import awaited_members, is_there, lacking, place_of, reentry_of, turn_of
from refmlc.lang.ir.node import Node
from refmlc.run.interp.asynchronous.waits import PhaseIsComplete


@dataclass(slots=True)
class WaitGroup:
    """Threads that wait at one place for the same."""

    what: str
    node: Node
    threads: list[Tracked] = field(default_factory=list)


def waiting(engine: Engine) -> Waiting:
    """Every wait of the block that runs."""
    threads = engine.roster.threads()
    groups: dict[tuple[int, str], WaitGroup] = {}
    for tracked in threads:
        if turn_of(tracked) is Turn.WAITS and tracked.meeting is not None:
            what, node = lacking(engine.roster, tracked), tracked.meeting.node
            groups.setdefault((id(node), what), WaitGroup(what, node)).threads.append(tracked)
    waits = tuple(_wait(engine, group, threads) for group in groups.values())
    ended = {tracked.number for tracked in threads if tracked.turn is Turn.ENDED}
    stuck = _stuck(waits, ended)
    return Waiting(waits, stuck, _cycle(waits, stuck))


def _stuck(waits: Sequence[Wait], ended: set[int]) -> tuple[int, ...]:
    """The waits that nobody can end: every way to end them leads to another one of these, or to a thread that ended."""
    stuck = set(range(len(waits)))
    while True:
        still = {number for item in stuck for number in waits[item].threads} | ended
        free = {item for item in stuck if not _is_stuck(waits[item], still)}
        if not free:
            return tuple(sorted(stuck))
        stuck -= free


def _is_stuck(wait: Wait, still: set[int]) -> bool:
    if wait.needs_all:
        return any(number in still for number in wait.awaited)
    return all(number in still for number in wait.awaited)


def _wait(engine: Engine, group: WaitGroup, threads: Sequence[Tracked]) -> Wait:
    numbers = tuple(tracked.number for tracked in group.threads)
    meeting = group.threads[0].meeting
    assert meeting is not None  # noqa: S101 - they wait
    if isinstance(meeting.until, PhaseIsComplete):
        awaited, how = _for_phase(engine, group.threads[0], threads)
        return Wait(numbers, group.node.span, group.what, awaited, how)
    awaited, how = _for_threads(engine, group.threads[0])
    count = None if meeting.barrier is None else meeting.barrier.count
    needs_all = count is None or count >= len(group.threads[0].launch.threads)
    return Wait(numbers, group.node.span, group.what, awaited, how, needs_all)


def _for_threads(engine: Engine, first: Tracked) -> tuple[tuple[int, ...], str]:
    """The threads that are missing at a meeting."""
    meeting = first.meeting
    assert meeting is not None  # noqa: S101 - it waits
    members = awaited_members(first.launch, first, meeting)
    arrived: set[int] = set()
    if meeting.barrier is not None:
        arrived = {id(arrival.thread) for arrival in engine.roster.arrivals.get(meeting.barrier.number, ())}
    absent = [peer for peer in members if not is_there(peer, first) and id(peer.thread) not in arrived]
    ended = [peer.number for peer in absent if peer.turn is Turn.ENDED]
    numbers = tuple(peer.number for peer in absent)
    count = None if meeting.barrier is None else meeting.barrier.count
    if count is not None and count < len(members):
        how = f"{count - len(members) + len(numbers)} of {named(numbers)} have to come"
    else:
        how = f"{named(numbers)} {'have' if len(numbers) > 1 else 'has'} not come" if numbers else "all have come"
    if ended:
        how += ", all of them have ended" if len(ended) == len(numbers) > 1 else f", {named(ended)} ended"
    return numbers, how


def _for_phase(engine: Engine, first: Tracked, threads: Sequence[Tracked]) -> tuple[tuple[int, ...], str]:
    """The threads that can still arrive at the barrier of a phase."""
    meeting, reentry, place = first.meeting, reentry_of(engine, first), place_of(engine, first)
    assert meeting is not None  # noqa: S101 - it waits
    assert isinstance(meeting.until, PhaseIsComplete)  # noqa: S101 - the caller has looked
    if reentry is None or place is None:
        return (), ""
    scope, barrier = reentry.scope, first.frame[meeting.until.slot].barrier
    places = arriving(engine.places.of(place.func, place.function), scope, first.frame, barrier)
    numbers, lines = set[int](), set[int]()
    for tracked in threads:
        at = place_of(engine, tracked)
        if tracked.turn is Turn.ENDED or at is None:
            continue
        for target in places:
            if reaches(scope, tracked.frame, at, target):
                numbers.add(tracked.number)
                lines |= {target.span.line} if target.span is not None else set()
    if not places:
        return (), f"no statement arrives at `{barrier.name}`"
    if not numbers:
        return (), f"no thread can reach a statement that arrives at `{barrier.name}`"
    found = tuple(sorted(numbers))
    return found, f"{named(found)} can still arrive at `{barrier.name}`, by {_lines(lines)}"


def _lines(lines: set[int]) -> str:
    return f"line{'s' if len(lines) > 1 else ''} {ranges(lines)}"


def _cycle(waits: Sequence[Wait], stuck: Sequence[int]) -> tuple[int, ...]:
    """The first circle of stuck waits, each for a thread of the next one; the last for one of the first."""
    following = [[other for other in stuck if set(wait.awaited) & set(waits[other].threads)] for wait in waits]
    for start in stuck:
        path = _path(following, start)
        if path:
            return path
    return ()


def _path(following: Sequence[Sequence[int]], start: int) -> tuple[int, ...]:
    """The shortest way from a wait back to itself."""
    came: dict[int, int] = {}
    queue = [start]
    for wait in queue:
        for other in following[wait]:
            if other == start:
                path = [wait]
                while path[-1] != start:
                    path.append(came[path[-1]])
                return tuple(reversed(path))
            if other not in came:
                came[other] = wait
                queue.append(other)
    return ()
