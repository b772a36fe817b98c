"""The threads that the client sees.

| number  | is                                                                                             |
|---------|------------------------------------------------------------------------------------------------|
| 1       | the program; where threads take turns, the one that the console has selected, or that runs      |
| n + 2   | thread n of the block that runs, if threads take turns                                          |

The name of a thread says its state, and whom it waits for. A step of a thread ends at this thread, while the others run
in their turns; a step of the program ends at any of them.
"""

from collections.abc import Sequence

from refmlc.debug.dap.arguments import Arguments, RequestRefused
from refmlc.debug.dap.dap_state import DapState, Phase
from refmlc.debug.session import Session
from refmlc.debug.thread_data import ThreadState, Wait, named

PROGRAM = 1
FIRST = 2
LONGEST, LONGEST_LIST = 240, 60
Row = dict[str, object]


def rows(state: DapState) -> Sequence[Row]:
    """The answer to `threads`: during a motion the threads of the last stop."""
    session = state.open_session
    if session is None:
        return [{"id": PROGRAM, "name": "program"}]
    if state.phase is Phase.STOPPED:
        state.threads = tuple(_rows(session))
    listed = state.threads if state.phase in (Phase.STOPPED, Phase.MOVING) else ()
    return listed or [{"id": PROGRAM, "name": session.program.func}]


def _rows(session: Session) -> list[Row]:
    threads = _threads(session)
    if not threads:
        return []
    waiting = session.waiting()
    waits = {number: item for item, wait in enumerate(waiting.waits) for number in wait.threads}
    found: list[Row] = []
    for thread in threads:
        item = waits.get(thread.number)
        wait = None if item is None else waiting.waits[item]
        found.append({"id": thread.number + FIRST, "name": _name(thread, wait, stuck=item in waiting.stuck)})
    return found


def _threads(session: Session) -> Sequence[ThreadState]:
    return () if session.stop is None or session.ended else session.threads()


def _name(thread: ThreadState, wait: Wait | None, *, stuck: bool) -> str:
    text = f"thread {thread.number} (warp {thread.warp}, lane {thread.lane}) {thread.state}"
    if wait is not None:
        awaited = named(wait.awaited) if wait.awaited else "nobody"
        some = f"{len(wait.awaited)} threads" if len(awaited) > LONGEST_LIST else awaited
        text += f" for {some}{' (nobody can end this)' if stuck else ''}: {thread.waits_for}"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def stopped_thread(session: Session) -> int:
    """The number of the thread that a stop is about; in a deadlock one that waits."""
    number = session.thread
    if number is not None:
        return number + FIRST if not session.ended and session.has_thread(number) else PROGRAM
    waiting = [thread.number for thread in _threads(session) if thread.state == "waits"]
    return waiting[0] + FIRST if waiting else PROGRAM


def meant(state: DapState, arguments: Arguments) -> int | None:
    """The thread of the block that a request means; None: the program. Fails: refused where there is none."""
    number = arguments.number("threadId")
    if number == PROGRAM:
        return None
    session, thread = state.session, number - FIRST
    listed = state.phase is Phase.MOVING and any(row["id"] == number for row in state.threads)
    if not listed and (session.stop is None or session.ended or not session.has_thread(thread)):
        raise RequestRefused(f"there is no thread {number}")
    return thread
