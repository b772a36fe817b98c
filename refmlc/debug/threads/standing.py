"""Each thread of the block that runs as data: where it stands, what it waits for, which of its operations are open."""

from refmlc.debug.engine import Engine
from refmlc.debug.places import StmtPlace
from refmlc.debug.reentry import Reentry
from refmlc.debug.thread_data import ThreadState
from refmlc.debug.threads.numbers import block_of, indices
from refmlc.debug.threads.roster import PARTS, WARP, Launched, Roster, Tracked, Turn
from refmlc.lang.ir import tir
from refmlc.run.interp.asynchronous.waits import PhaseIsComplete, PhaseWait
from refmlc.run.interp.threads.group import Meeting, part_of

WORDS = {
    Turn.BEGINS: "begins",
    Turn.RUNS: "runs",
    Turn.WAITS: "waits",
    Turn.MET: "continues",
    Turn.ENDED: "ended",
}
KINDS = {"cp": "cp.async", "bulk": "cp.async.bulk"}


def states(engine: Engine) -> list[ThreadState]:
    """The threads in the order of their numbers; none where no threads take turns."""
    return [_state(engine, tracked) for tracked in engine.roster.threads()]


def _state(engine: Engine, tracked: Tracked) -> ThreadState:
    turn = turn_of(tracked)
    place = place_of(engine, tracked)
    span = tracked.meeting.node.span if tracked.meeting is not None else None if place is None else place.span
    what = lacking(engine.roster, tracked) if turn is Turn.WAITS else ""
    ended = turn is Turn.ENDED
    return ThreadState(
        tracked.number,
        _block(engine, tracked),
        WORDS[turn],
        None if ended else span,
        what,
        _operations(engine, tracked),
    )


def turn_of(tracked: Tracked) -> Turn:
    """The state of a thread; one whose phase is complete continues."""
    until = None if tracked.meeting is None else tracked.meeting.until
    if tracked.now is Turn.WAITS and until is not None and until.holds(tracked.thread):
        return Turn.MET
    return tracked.now


def place_of(engine: Engine, tracked: Tracked) -> StmtPlace | None:
    """The statement where a thread stands; the first one where it has not begun, the last one where it has ended."""
    if tracked.meeting is not None:
        return engine.places.of_node(tracked.meeting.node)
    place = engine.position.place
    if tracked is engine.roster.running and isinstance(place, StmtPlace):
        return place
    node = tracked.launch.loop.body
    while isinstance(node, tir.AttrStmt | tir.SeqStmt):
        node = node.body if isinstance(node, tir.AttrStmt) else node.seq[-1 if tracked.turn is Turn.ENDED else 0]
    return engine.places.of_node(node)


def reentry_of(engine: Engine, tracked: Tracked) -> Reentry | None:
    """The prepared parts of the function that a thread executes."""
    place = engine.places.of_node(tracked.launch.loop.body)
    calls = [call for call in engine.position.calls if call.reentry is not None]
    if place is None:
        return calls[-1].reentry if calls else None
    return next((call.reentry for call in reversed(calls) if call.reentry and call.name == place.function), None)


def _block(engine: Engine, tracked: Tracked) -> tuple[int, ...]:
    place = engine.places.of_node(tracked.launch.loop.body)
    call = next((call for call in reversed(engine.position.calls) if call.reentry is not None), None)
    return () if place is None or call is None else block_of(indices(call, place, tracked.frame))


# ------------------------------------------------------------------------------------------------------ in words


def lacking(roster: Roster, tracked: Tracked) -> str:
    """What the wait of a thread lacks."""
    meeting = tracked.meeting
    if meeting is None:
        return ""
    if meeting.until is not None:
        return f"{meeting.until.lacks(tracked.thread)}{_parity(tracked)}"
    members = awaited_members(tracked.launch, tracked, meeting)
    come = sum(is_there(peer, tracked) for peer in members)
    if meeting.barrier is None:
        return f"{_what(meeting)}: {come} of {len(members)} {_noun(meeting)} have come"
    count = meeting.barrier.count or len(tracked.launch.threads)
    arrived = len(roster.arrivals.get(meeting.barrier.number, ()))
    name = _what(meeting) if meeting.barrier.number == 0 else f"barrier {meeting.barrier.number}"
    return f"{name}: {come + arrived} of {count} threads have come{f', {arrived} did not wait' if arrived else ''}"


def waited_for(tracked: Tracked) -> str:
    """What a thread waits for, without the count of those who have come."""
    meeting = tracked.meeting
    if meeting is None:
        return ""
    if meeting.until is not None:
        return f"{meeting.until.lacks(tracked.thread)}{_parity(tracked)}"
    if meeting.barrier is not None and meeting.barrier.number:
        return f"barrier {meeting.barrier.number}"
    return _what(meeting)


def _parity(tracked: Tracked) -> str:
    until = None if tracked.meeting is None else tracked.meeting.until
    wait = tracked.frame[until.slot] if isinstance(until, PhaseIsComplete) else None
    return f", and the wait is for parity {wait.parity}" if isinstance(wait, PhaseWait) else ""


def _what(meeting: Meeting) -> str:
    node = meeting.node
    if meeting.implied:
        return "a barrier that a compiler puts here"
    if isinstance(node, tir.Evaluate):
        node = node.value
    return f"`T.{node.callee}`" if isinstance(node, tir.Call) and isinstance(node.callee, str) else "a meeting"


def _noun(meeting: Meeting) -> str:
    if meeting.mask is not None:
        return f"lanes of the mask {meeting.mask:#x}"
    return {"warp": "lanes of the warp", "warpgroup": "threads of the warpgroup"}.get(meeting.part, "threads")


def awaited_members(launch: Launched, tracked: Tracked, meeting: Meeting) -> list[Tracked]:
    """The threads that a meeting is for; of a barrier all of the block."""
    if meeting.barrier is not None:
        return launch.threads
    if meeting.converges and meeting.part in PARTS:
        first = tracked.thread.index // WARP * WARP
        return launch.threads[first : first + WARP]
    return [launch.threads[member.index] for member in part_of(launch.members, tracked.thread, meeting)]


def is_there(peer: Tracked, tracked: Tracked) -> bool:
    """Whether `peer` waits where `tracked` waits for it."""
    meeting = tracked.meeting
    if meeting is None or turn_of(peer) is not Turn.WAITS:
        return False
    return peer.waits_at(meeting.barrier.number) if meeting.barrier is not None else meeting.is_same(peer.meeting)


def _operations(engine: Engine, tracked: Tracked) -> str:
    """The operations that a thread has issued and that are not complete."""
    reentry = reentry_of(engine, tracked)
    group = None if reentry is None else tracked.frame[reentry.scope.group]
    parts = []
    for (kind, thread), groups in group.asynchronous.groups.items() if group is not None else ():
        if thread != tracked.number:
            continue
        committed = [sum(operation.is_open for operation in part) for part in groups.committed]
        loose = sum(operation.is_open for operation in groups.uncommitted)
        words = [f"{sum(committed)} in {len(committed)} group{'s' if len(committed) > 1 else ''}"] if committed else []
        words += [f"{loose} not committed"] if loose else []
        if words:
            parts.append(f"{KINDS.get(kind, kind)}: {', '.join(words)}")
    return "; ".join(parts)
