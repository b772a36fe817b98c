"""Workers of a campaign, from the side that waits: asked, ended where they are late, with how they ended.

A worker that crashes, hangs, or takes too much memory ends alone. Workers are kept for the next job of this process;
those that died are not.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from threading import Lock

from refmlc.oracle.fuzz.kept_processes import STARTS
from refmlc.system.lines import MOST, Broken, LineProcess

LAST_LINES = 12
START = 60.0  # seconds
STARTING = MOST * STARTS  # seconds, after which even one that waits for a processor is given up
SINGLE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "TVM_NUM_THREADS": "1"}  # a worker is one core
READY = "refmlc.oracle.fuzz.worker:cpu_seconds"  # a call that shows that the worker has started


class WorkerDied(Exception):
    """A worker ended. `why`: `crashed`, `timed out` or `closed`; `message`: one line; `output`: the last it wrote."""

    def __init__(self, why: str, message: str, output: str = "") -> None:
        super().__init__(message)
        self.why, self.message, self.output = why, message, output


class Cage:
    """One worker. Units: MiB of address space."""

    def __init__(self, memory: int) -> None:
        """Start it; `await_start` says when it is ready. Raises WorkerDied where it does not start."""
        self.memory = memory
        command = [sys.executable, "-m", "refmlc.oracle.fuzz.worker", str(memory)]
        try:
            self._process = LineProcess(command, environment={**os.environ, **SINGLE})
        except OSError as problem:
            raise WorkerDied("crashed", f"it does not start: {problem.strerror}") from None

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def await_start(self) -> None:
        """Wait until it answers. Raises WorkerDied where it does not."""
        self.ask(READY, [], START)

    def ask(self, call: str, args: list[object], seconds: float) -> dict[str, object]:
        """The worker's answer. Raises WorkerDied if the worker ends. Units: seconds.

        They are of the clock, and on a busy machine of the processor: a program that waits for one does not hang. While
        the worker starts an implementation they do not count, and begin anew after that.
        """
        request = {"call": call, "args": args, "seconds": MOST * seconds}

        def more(said: Mapping[str, object]) -> float | None:
            starts = said.get("starts")
            return None if starts is None else STARTING if starts else seconds

        try:
            return self._process.ask(request, seconds, patient=True, more=more)
        except Broken as broken:
            last = broken.printed.splitlines()[-LAST_LINES:]
            raise WorkerDied(broken.why, broken.how, "\n".join(last)) from None

    def interrupt(self) -> None:
        """Kill the worker and its descendants; a waiting `ask` raises Died."""
        self._process.interrupt()

    def close(self) -> None:
        """End the worker, and give back what belongs to it. Not while somebody waits for an answer."""
        self._process.kill()


class Cages:
    """The workers of this process that have nothing to do, and all there are."""

    def __init__(self) -> None:
        self._closed = False
        self._lock = Lock()
        self._idle: list[Cage] = []
        self._all: set[Cage] = set()

    @contextmanager
    def borrowed(self, memory: int) -> Iterator[Cage]:
        """Borrow a worker; it is reused if the block succeeds. Raises WorkerDied after `close`."""
        cage = self._taken(memory) or self._started(memory)
        try:
            yield cage
        except BaseException:
            cage.close()
            with self._lock:
                self._all.discard(cage)
            raise
        with self._lock:
            self._idle.append(cage)
            closed = self._closed
        if closed:
            self.close()

    def _taken(self, memory: int) -> Cage | None:
        """A worker that has nothing to do; None: there is none."""
        with self._lock:
            self._refuse_closed()
            cage = next((idle for idle in self._idle if idle.memory == memory), None)
            if cage is not None:
                self._idle.remove(cage)
        return cage

    def _started(self, memory: int) -> Cage:
        """A new worker; others start meanwhile, and `close` ends it before it is ready."""
        cage = Cage(memory)
        with self._lock:
            self._all.add(cage)
        try:
            self._refuse_closed()
            cage.await_start()
        except BaseException:
            cage.close()
            with self._lock:
                self._all.discard(cage)
            raise
        return cage

    def _refuse_closed(self) -> None:
        if self._closed:
            raise WorkerDied("closed", "the campaign is over")

    def close(self) -> None:
        """Kill all workers, busy ones too; no more can be borrowed."""
        with self._lock:
            self._closed = True
            idle, working, self._idle = self._idle, self._all.difference(self._idle), []
        for cage in idle:
            cage.close()
        for cage in working:  # the waiting borrower closes it
            cage.interrupt()


@cache
def cages() -> Cages:
    """The workers of this process, where it is one of a cluster: they end with it."""
    return Cages()
