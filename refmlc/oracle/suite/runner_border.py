"""The border between the runner and an implementation that is code of this process: whatever it raises is its crash.

| it raises                                                                 | is                            |
|---------------------------------------------------------------------------|-------------------------------|
| what refmlc raises (`RefmlcError`)                                        | the answer that it stands for |
| KeyboardInterrupt, while the user pressed Ctrl-C                          | the end of the run            |
| KeyboardInterrupt else, SystemExit, MemoryError, RecursionError, anything | a crash of that case          |
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from traceback import format_exception_only
from types import FrameType
from typing import TypeVar

from refmlc.diag.errors import RefmlcError
from refmlc.oracle.implementations.implementation import Stop, Stopped
from refmlc.oracle.implementations.local_calls import stopped

T = TypeVar("T")


@dataclass
class Border:
    """The border around calls of an implementation. `interrupted`: the user wants the run to end."""

    interrupted: bool = False

    def guarded(self, work: Callable[[], T]) -> T | Stopped:
        """What `work` gives, or what it raised as an answer."""
        try:
            return work()
        except RefmlcError as failure:
            return stopped(failure)
        except (Exception, SystemExit, GeneratorExit, KeyboardInterrupt) as problem:  # the border, see above
            if self.interrupted and isinstance(problem, KeyboardInterrupt):
                raise
            return crash(problem)


def crash(problem: BaseException) -> Stopped:
    """The exception as a crash, in one line."""
    return Stopped(Stop.CRASHED, format_exception_only(problem)[-1].strip().partition("\n")[0])


@contextmanager
def user_interrupts() -> Iterator[Border]:
    """A border that knows a Ctrl-C of the user from an interrupt that an implementation makes up."""
    border = Border()
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield border  # then no Ctrl-C comes here
        return
    handler = before

    def pressed(number: int, frame: FrameType | None) -> None:
        border.interrupted = True
        handler(number, frame)

    signal.signal(signal.SIGINT, pressed)
    try:
        yield border
    finally:
        signal.signal(signal.SIGINT, before)
