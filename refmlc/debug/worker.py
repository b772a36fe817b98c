"""A run in a thread of its own that takes turns with its owner: one of the two runs, the other waits.

The interpreter is recursive Python, so a run that stops within a statement needs its stack. Decision: a thread that
parks, the simplest holder of a stack; the two threads never run at the same time. The owner ends a run by an exception
that no program can catch.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

STACK = 64 << 20  # bytes; deep programs nest deep in Python too
POLL_SECONDS = 0.1  # seconds; see `Worker.go`


class RunAbandoned(BaseException):
    """The owner has ended the run."""


class Worker:
    """One run in a thread of its own."""

    def __init__(self, body: Callable[[], None]) -> None:
        """`body` runs from the first `go` on; it may raise `RunAbandoned` only."""
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
        """Let the run continue until it parks or ends. `interrupted`: called at a Ctrl-C, makes it park soon.

        A signal does not wake a thread that is about to wait, so the owner checks from time to time.
        """
        with _on_interrupt(interrupted):
            self._mine.release()
            while not self._owners.acquire(timeout=POLL_SECONDS):
                pass

    def park(self) -> None:
        """In the run: let the owner continue, and wait. Raises `RunAbandoned` when the owner ends the run."""
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
def _on_interrupt(interrupted: Callable[[], None]) -> Iterator[None]:
    """Call `interrupted` at a Ctrl-C: a `KeyboardInterrupt` raised here would separate owner and run."""
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, lambda _number, _frame: interrupted())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
