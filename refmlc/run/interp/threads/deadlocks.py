"""Threads that wait for each other forever: what each of them waits for, and the cycle in which they do (TIA-023).

| threads that wait                   | do so for                                                                   |
|-------------------------------------|-----------------------------------------------------------------------------|
| at a meeting of a part of the block | those of the part that have not come                                        |
| at the barrier of a cluster         | those that have not arrived                                                 |
| for a phase of a barrier in memory  | those that arrived there before; where none did, all others of the launch   |

Threads with the same state are one party. A cycle is a way from a party, along what it waits for, back to it.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from refmlc.diag import Related
from refmlc.diag.catalogue import DEADLOCK
from refmlc.lang.ir.node import Node
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.threads.group import Meeting, Thread, part_of


@dataclass(slots=True)
class Party:
    """Threads with the same state, at one place in the text."""

    state: str
    place: Node | None
    threads: list[Thread]

    @property
    def name(self) -> str:
        """The numbers of its threads."""
        return ranges([thread.index for thread in self.threads])


def deadlock(
    scope: Scope, frame: Frame, threads: Sequence[Thread], state: Callable[[Thread], str], label: str
) -> Exception:  # TIA-023
    """The failure of threads that wait forever: what each of them waits for."""
    parties: dict[tuple[str, Node | None], Party] = {}
    for thread in threads:
        key = state(thread), None if thread.waits is None else thread.waits.node
        parties.setdefault(key, Party(*key, [])).threads.append(thread)
    alone = next(thread.waits for thread in threads if thread.waits is not None and thread.waits.until is not None)
    lines = [f"{label} {party.name}: {party.state}" for party in parties.values()]
    cycle = _cycle([party for party in parties.values() if party.place is not None], threads)
    if len(cycle) > 1:
        ways = [f"{one.name} waits for {other.name}" for one, other in zip(cycle, [*cycle[1:], cycle[0]], strict=True)]
        lines.append(f"the cycle: {label} {', '.join(ways)}")
    related = [
        Related(f"{label} {party.name} wait here", party.place.span)
        for party in parties.values()
        if party.place is not None and party.place is not alone.node
    ]
    message = f"{lines[0]}; nobody can change that" if len(lines) == 1 else "threads wait for each other forever"
    return scope.failing(DEADLOCK, alone.node.span, *related)(frame, message, *(lines if len(lines) > 1 else ()))


def _cycle(parties: Sequence[Party], threads: Sequence[Thread]) -> Sequence[Party]:
    """The shortest cycle of parties that wait for each other; empty: there is none."""
    ways = {id(party): [other for other in parties if _waits_for(party, other, threads)] for party in parties}
    found = [cycle for party in parties for cycle in _from(party, ways)]
    return min(found, key=len, default=())


def _from(start: Party, ways: dict[int, list[Party]]) -> Iterator[Sequence[Party]]:
    """The shortest cycle through a party."""
    paths, seen = [[start]], {id(start)}
    while paths:
        path = paths.pop(0)
        for party in ways[id(path[-1])]:
            if party is start and len(path) > 1:
                yield path
                return
            if id(party) not in seen:
                seen.add(id(party))
                paths.append([*path, party])


def _waits_for(party: Party, other: Party, threads: Sequence[Thread]) -> bool:
    """Whether a party waits for threads of another one."""
    if party is other:
        return False
    holders = _holders(party.threads[0], threads)
    return any(thread.index in holders for thread in other.threads)


def _holders(thread: Thread, threads: Sequence[Thread]) -> Collection[int]:
    """The threads that a thread waits for."""
    meeting = thread.waits
    if meeting is None:
        return ()
    if meeting.until is not None:
        holders = meeting.until.holders(thread)
        return range(len(threads)) if holders is None else holders
    members = part_of(threads, thread, meeting)
    return [member.index for member in members if not _is_there(meeting, member)]


def _is_there(meeting: Meeting, thread: Thread) -> bool:
    """Whether a thread is at a meeting, or at its numbered barrier."""
    at = thread.waits
    if at is not None and meeting.barrier is not None and at.barrier is not None:
        return at.barrier.number == meeting.barrier.number
    return meeting.is_same(at)


def ranges(numbers: Sequence[int]) -> str:
    """`0-3, 5` for 0, 1, 2, 3, 5."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1] = [parts[-1][0], number]
        else:
            parts.append([number])
    return ", ".join("-".join(map(str, part)) for part in parts)
