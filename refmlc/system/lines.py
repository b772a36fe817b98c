"""A process that answers a line of JSON with a line of JSON, or a batch with a line for each request.

| what happens                                   | `Broken`                                                     |
|------------------------------------------------|--------------------------------------------------------------|
| no answer within the time                      | `timed out`; it is killed with all that it has started       |
| … and it waits for a processor (`patient`)     | nothing: it has its time as time of the processor            |
| the process ends, by itself or by a signal     | `crashed`: how, and the last line it wrote to standard error |
| a line, not a JSON object or far too long      | `crashed`: the line                                          |
| a line without a request                       | `crashed`: the line                                          |

A process that sleeps too long is late all the same, and so is one that has waited for `MOST` times its time.
A process that broke is not asked again: `alive` is false, and its owner starts another one. Neither side waits for the
other to read: answers are read while a request is written. Of its standard error the begin and the end are kept.
"""

import json
import os
import re
import resource
import select
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from time import monotonic
from typing import IO

from refmlc.system.output import Output
from refmlc.system.tree import Started, cpu_seconds_of, runs_any, started_by

LONGEST_LINE = 16 << 20
SHOWN = 200
PIECE = 1 << 16
ESCAPED = re.compile(r"\\u[dD][89a-fA-F]")
DYING = 2.0  # seconds from the end of its output to its own end
MOST = 10  # times its time, that a process may wait for a processor
PAUSE = 1.0  # seconds between looks at one that waits for a processor
ENDING = 0.2  # seconds that a process has to end by itself
CRASHED, TIMED_OUT = "crashed", "timed out"


class Broken(Exception):
    """There is no answer, and there will be none. `why`: `CRASHED` or `TIMED_OUT`; `message`: one line.

    `words`: the last line of its standard error, which the message has too; `printed`: the begin and the end of it.
    `spoke`: it sent something that is no answer.
    """

    def __init__(self, why: str, how: str, words: str = "", *, spoke: bool = False, printed: str = "") -> None:
        super().__init__(f"{how}: {words}" if words else how)
        self.why = why
        self.how = how
        self.message = str(self)
        self.spoke = spoke
        self.printed = printed


def _answers(_line: Mapping[str, object]) -> float | None:
    """The first line is the answer."""
    return None


class LineProcess:
    """A running process. `memory` is the most address space it may have. Units: bytes, seconds."""

    def __init__(
        self, command: Sequence[str], *, memory: int | None = None, environment: Mapping[str, str] | None = None
    ) -> None:
        """Start it in a session of its own. Fails: OSError."""
        streams = (subprocess.PIPE, subprocess.PIPE, subprocess.PIPE)
        self._started = Started(command, environment=environment, streams=streams)
        self._process = self._started.process
        self._said = Output()
        if self._process.stdin is None or self._process.stdout is None or self._process.stderr is None:
            raise OSError("the process has no pipes")
        self._errors: IO[bytes] | None = self._process.stderr
        self._in, self._out = self._process.stdin, self._process.stdout
        os.set_blocking(self._in.fileno(), False)
        self._got = bytearray()
        self._turn: tuple[float, float, float] | None = None  # processor time then, the clock then, the time it has
        self.alive = True
        if memory is not None and hasattr(resource, "prlimit"):
            with suppress(ProcessLookupError, PermissionError, ValueError):
                resource.prlimit(self._process.pid, resource.RLIMIT_AS, (memory, memory))

    def ask(
        self,
        request: Mapping[str, object],
        seconds: float,
        *,
        patient: bool = False,
        more: Callable[[Mapping[str, object]], float | None] = _answers,
    ) -> dict[str, object]:
        """The answer to `request`, which is a JSON object. `patient`: on a busy machine it may take longer.

        `more`: of a line, the seconds for the one that follows it; None: it is the answer. Fails: `Broken`.
        """
        limits = [seconds]
        try:
            self._begin_turn(seconds, patient=patient)
            for answer in self.answers(request, limits):
                next_seconds = more(answer)
                if next_seconds is None:
                    return answer
                limits.append(next_seconds)
                self._begin_turn(next_seconds, patient=patient)
        finally:
            self._turn = None
        raise Broken(CRASHED, "the process has ended")

    def _begin_turn(self, seconds: float, *, patient: bool) -> None:
        self._turn = (self._cpu_seconds(), monotonic(), seconds) if patient else None

    def answers(self, request: Mapping[str, object], limits: Sequence[float]) -> Iterator[dict[str, object]]:
        """As many answers as there are `limits`: the time for each, from the one before. Fails: `Broken`."""
        if not self.alive:
            raise Broken(CRASHED, "the process has ended")
        data = json.dumps(request).encode() + b"\n"
        try:
            self._silent()
            for seconds in limits:
                if not self.alive:
                    return
                deadline = monotonic() + seconds
                self._send(data, deadline, seconds)
                data = b""
                yield _object(self._line(deadline, seconds))
        except Broken:
            self.kill()
            raise

    def close(self) -> None:
        """Let it end, and make it end."""
        if self.alive:
            with suppress(BlockingIOError, BrokenPipeError):
                os.write(self._in.fileno(), b'{"do": "close"}\n')
            self._in.close()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(ENDING)
        self.kill()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def kill(self) -> None:
        """End it, and all that it has started."""
        self.alive = False
        self._started.close()

    def interrupt(self) -> None:
        """End it from another thread; the one that waits for an answer gets `Broken`, and closes it."""
        self._started.end()

    def _silent(self) -> None:
        """Fails: `Broken` where something came that nobody asked for: it would pass for the next answer."""
        if not self._got and select.select([self._out], [], [], 0)[0]:
            self._got += os.read(self._out.fileno(), PIECE)
        if self._got:
            text = bytes(self._got[:SHOWN]).decode(errors="replace")
            raise Broken(CRASHED, f"it answers a request that was not sent: {text!r}", spoke=True)

    def _send(self, data: bytes, deadline: float, seconds: float) -> None:
        unsent = memoryview(data)
        while unsent:
            self._wait(deadline, seconds, sending=True)
            try:
                unsent = unsent[os.write(self._in.fileno(), unsent[:PIECE]) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise self._ended() from None

    def _line(self, deadline: float, seconds: float) -> bytes:
        while b"\n" not in self._got:
            if len(self._got) > LONGEST_LINE:
                raise Broken(CRASHED, f"its answer is a line of more than {LONGEST_LINE} bytes", spoke=True)
            self._wait(deadline, seconds, sending=False)
        line, _, later = bytes(self._got).partition(b"\n")
        self._got = bytearray(later)
        return line

    def _wait(self, deadline: float, seconds: float, *, sending: bool) -> None:
        """Wait until there is room to write, or something was read. Fails: `Broken` (too late, the end)."""
        remaining = deadline - monotonic()
        if remaining <= 0:
            if not self._waits_its_turn():
                raise self._late(seconds)
            remaining = PAUSE
        streams = [self._out] if self._errors is None else [self._out, self._errors]
        readable, _, _ = select.select(streams, [self._in] if sending else [], [], remaining)
        if self._errors in readable and not self._said.drain(self._errors):
            self._errors = None
        if self._out in readable:
            piece = os.read(self._out.fileno(), PIECE)
            if not piece:
                raise self._ended()
            self._got += piece

    def _waits_its_turn(self) -> bool:
        """Whether it has had less of a processor than its time, and would continue with one."""
        if self._turn is None:
            return False
        before, began, seconds = self._turn
        waits = monotonic() - began < MOST * seconds and self._cpu_seconds() - before < seconds
        return waits and runs_any([self.pid, *started_by(self.pid)])

    def _cpu_seconds(self) -> float:
        """Seconds of processor time of it and of what it has started."""
        return cpu_seconds_of([self.pid, *started_by(self.pid)])

    def _late(self, seconds: float) -> Broken:
        if self._errors is not None:
            self._said.drain(self._errors)
        return Broken(TIMED_OUT, f"no answer within {seconds:g} s", printed=self._said.text())

    def _ended(self) -> Broken:
        """How it ended, with its last words."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(DYING)
        status = self._process.poll()
        ending = "the process closed its output" if status is None else how_ended(status)
        return Broken(CRASHED, ending, self._last_words(), printed=self._said.text())

    def _last_words(self) -> str:
        """The last line on standard error that says something."""
        if self._errors is not None:
            self._said.drain(self._errors)
        lines = self._said.text().split("\n")
        return next((line.strip()[:SHOWN] for line in reversed(lines) if line.strip()), "")


def how_ended(status: int) -> str:
    """The end of a process in words."""
    if status >= 0:
        return f"the process ended with status {status}"
    try:
        return f"the process was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"the process was killed by signal {-status}"


def _object(line: bytes) -> dict[str, object]:
    """The object of a line. `NaN` and bytes that are not UTF-8 are not JSON, though Python's reader takes them."""
    text = line.decode(errors="replace")
    try:
        answer = json.loads(line.decode(), parse_constant=_no_json)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict) or (ESCAPED.search(text) and _has_halves(answer)):
        raise Broken(CRASHED, f"its answer is not a JSON object: {text[:SHOWN]!r}", spoke=True)
    return answer


def _no_json(word: str) -> object:
    raise ValueError(f"{word} is not a number in JSON")


def _has_halves(answer: dict[str, object]) -> bool:
    """Whether a string holds half of a character, which nothing can print (RFC 7493 forbids them)."""
    try:
        json.dumps(answer, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return True
    return False
