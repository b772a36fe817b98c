"""A run in a thread of its own that takes turns with its owner: one of the two runs, the other waits.

The interpreter is recursive Python, so what stands in the middle of a statement has to stay on a stack. Decision: a
thread that parks, because it is the simplest thing that holds a stack; nothing is ever executed at the same time.
A run that is not wanted any more is ended by an exception that no program can catch.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

STACK = 64 << 20  # bytes; deep programs nest deep in Python too
LISTENING = 0.1  # seconds; see `Worker.go`


class RunAbandoned(BaseException):
    """The run is not wanted any more."""


class Worker:
    """One run."""

    def __init__(self, body: Callable[[], None]) -> None:
        """Nothing runs yet. `body` must not raise but `RunAbandoned`."""
        self._body = body
        self._mine = threading.Semaphore(0)
        self._owners = threading.Semaphore(0)
        self._unwanted = False
        self.alive = True
        before = threading.stack_size(STACK)
        try:
            self._thread = threading.Thread(target=self._run, name="refmlc-debuggee", daemon=True)
            self._thread.start()
        finally:
            threading.stack_size(before)

    def _run(self) -> None:
        self._mine.acquire()
        try:
            if not self._unwanted:
                self._body()
        except RunAbandoned:
            pass
        finally:
            self.alive = False
            self._owners.release()

    def go(self, interrupted: Callable[[], None]) -> None:
        """Let the run go on until it parks or ends. `interrupted`: called at a Ctrl-C, lets it park soon.

        A signal that comes when a thread is about to wait does not wake it: the owner looks up from time to time.
        """
        with _heard(interrupted):
            self._mine.release()
            while not self._owners.acquire(timeout=LISTENING):
                pass

    def park(self) -> None:
        """In the run: let the owner go on, and wait. Raises `RunAbandoned` when the run is not wanted any more."""
        self._owners.release()
        self._mine.acquire()
        if self._unwanted:
            raise RunAbandoned

    def end(self) -> None:
        """End the run and wait until its thread is gone."""
        if self.alive:
            self._unwanted = True
            self._mine.release()
        self._thread.join()


@contextmanager
def _heard(interrupted: Callable[[], None]) -> Iterator[None]:
    """Call `interrupted` at a Ctrl-C that would raise `KeyboardInterrupt`: raised here, it could part owner and run."""
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, lambda _number, _frame: interrupted())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
