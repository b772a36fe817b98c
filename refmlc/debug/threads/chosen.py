"""The threads that a request names. Fails: RM112 where there is no such thread, or all of them have ended."""

from refmlc.debug.engine import Engine
from refmlc.debug.thread_data import named
from refmlc.debug.threads.roster import Tracked, Turn
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE


def thread(engine: Engine, number: int) -> Tracked:
    """The thread of this number in the block that runs."""
    found = engine.roster.thread(number)
    if found is None:
        count = len(engine.roster.threads())
        known = f"the block has {count} threads" if count else "no threads take turns here"
        raise fail(BAD_USAGE, f"there is no thread {number}: {known}")
    return found


def live(engine: Engine, numbers: frozenset[int]) -> frozenset[int]:
    """The same numbers, of which one at least can still be stepped."""
    if engine.thread is None and not engine.roster.threads():
        raise fail(BAD_USAGE, "no threads are executed here")
    if engine.roster.threads() and all(thread(engine, number).turn is Turn.ENDED for number in numbers):
        raise fail(BAD_USAGE, f"{named(sorted(numbers))} {'have' if len(numbers) > 1 else 'has'} ended")
    return numbers
