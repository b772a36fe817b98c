"""The side that waits for a worker: asks it, ends it where it is late, and says how it ended.

A worker that crashes, hangs, or takes too much memory ends alone. Cages are kept for the next job of this process;
those that died are not.
"""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import Lock
from typing import IO

CHUNK = 1 << 20
LAST_LINES = 12
START = 60.0  # seconds
SINGLE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # a worker is one core


class Died(Exception):
    """A worker ended. `why`: `crashed` or `timed out`; `message`: one line; `said`: the last it wrote."""

    def __init__(self, why: str, message: str, said: str = "") -> None:
        super().__init__(message)
        self.why, self.message, self.said = why, message, said


class Cage:
    """One worker. Units: MiB of address space."""

    def __init__(self, memory: int) -> None:
        """Start it. Raises Died where it does not."""
        self.memory = memory
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the worker
        self._left = b""
        self._process = subprocess.Popen(  # noqa: S603 - this Python
            [sys.executable, "-m", "refmlc.oracle.fuzz.worker", str(memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env={**os.environ, **SINGLE},
        )
        if not self._line(time.monotonic() + START):
            raise self._ended("crashed", "it did not start")

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def ask(self, call: str, args: list[object], seconds: float) -> dict[str, object]:
        """The worker's answer. Raises Died; then there is no worker any more. Units: seconds."""
        request = json.dumps({"call": call, "args": args, "seconds": seconds}).encode() + b"\n"
        try:
            self._write(request)
            line = self._line(time.monotonic() + seconds)
        except BrokenPipeError:
            line = b""
        if line is None:
            raise self._ended("timed out", f"no answer within {seconds:g} s")
        if not line:
            raise self._ended("crashed", "")
        answer: dict[str, object] = json.loads(line)
        return answer

    def _write(self, request: bytes) -> None:
        if self._process.stdin is not None:
            self._process.stdin.write(request)
            self._process.stdin.flush()

    def _line(self, deadline: float) -> bytes | None:
        """The next line; empty: the worker ended; None: it is late."""
        stream = self._process.stdout
        while stream is not None and b"\n" not in self._left:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([stream], [], [], left)[0]:
                return None
            part = os.read(stream.fileno(), CHUNK)
            if not part:
                return b""
            self._left += part
        line, _, self._left = self._left.partition(b"\n")
        return line

    def _ended(self, why: str, message: str) -> Died:
        status = self._process.poll()
        if why == "crashed":
            with suppress(subprocess.TimeoutExpired):
                status = self._process.wait(5.0)
        self._said.seek(0)
        said = self._said.read().decode(errors="replace").splitlines()[-LAST_LINES:]
        self.close()
        return Died(why, message or how_it_ended(status), "\n".join(said))

    def kill(self) -> None:
        """End the worker, and what it started; whoever waits for an answer learns it."""
        for pid in (*started_by(self._process.pid), self._process.pid):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)

    def close(self) -> None:
        """End the worker, and give back what belongs to it. Not while somebody waits for an answer."""
        self.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._said):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()


def how_it_ended(status: int | None) -> str:
    """The end of a process in words."""
    if status is None:
        return "it closed its output and went on"
    if status >= 0:
        return f"its process ended with status {status}"
    with suppress(ValueError):
        return f"its process was ended by {signal.Signals(-status).name}"
    return f"its process was ended by signal {-status}"


def started_by(pid: int) -> list[int]:
    """The processes that `pid` started, those that they started, … where the system tells."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            text = path.read_text(encoding="utf-8", errors="replace")
            children.setdefault(int(text.rpartition(")")[2].split()[1]), []).append(int(path.parent.name))
    found, open_ = [], [pid]
    while open_:
        more = children.get(open_.pop(), [])
        found += more
        open_ += more
    return found


class Cages:
    """The workers of this process that have nothing to do, and all there are."""

    def __init__(self) -> None:
        self._closed = False
        self._lock = Lock()
        self._idle: list[Cage] = []
        self._all: set[Cage] = set()

    @contextmanager
    def borrowed(self, memory: int) -> Iterator[Cage]:
        """A worker; it is kept where the block ends well. Raises Died where no more are to be had."""
        with self._lock:
            if self._closed:
                raise Died("closed", "the campaign is over")
            cage = next((one for one in self._idle if one.memory == memory), None)
            if cage is None:
                cage = Cage(memory)
                self._all.add(cage)
            else:
                self._idle.remove(cage)
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

    def close(self) -> None:
        """End all of them, those at work too; there are no more then."""
        with self._lock:
            self._closed = True
            idle, working, self._idle = self._idle, self._all.difference(self._idle), []
        for cage in idle:
            cage.close()
        for cage in working:  # who waits for it closes it
            cage.kill()


@cache
def cages() -> Cages:
    """The workers of this process, where it is one of a cluster: they end with it."""
    return Cages()
