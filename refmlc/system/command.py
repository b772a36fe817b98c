"""A program, run to its end, or beside this process.

It has ended when its process has, though something that it started may still hold its output.
"""

import os
import select
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import IO, Final

from refmlc.system.output import PIECE, Output
from refmlc.system.tree import Started

GLANCE: Final = 0.05
"""Seconds between two looks whether a program has ended that has not closed its output."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How it ended: `status` None where it was too late, below 0 the signal; output and errors in one text."""

    status: int | None
    printed: str


class Running:
    """A program that runs beside this process, until `close`. Its output waits in a pipe while nobody looks."""

    def __init__(
        self,
        command: Sequence[str],
        seconds: float,
        *,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> None:
        """Start `command`, which may take `seconds`. Fails: OSError."""
        streams = (subprocess.DEVNULL, subprocess.PIPE, subprocess.STDOUT)
        self._started = Started(command, environment=environment, folder=folder, streams=streams)
        self._output = Output()
        self._stream: IO[bytes] | None = self._started.process.stdout
        self._deadline = monotonic() + seconds

    def ended(self, seconds: float = 0.0) -> Ended | None:
        """How it ended, if it has within `seconds`; None: it runs on."""
        process, remaining = self._started.process, self._deadline - monotonic()
        if process.poll() is None:
            if remaining <= 0:
                return Ended(None, self._output.text())
            self._listen(min(remaining, seconds))
            if process.poll() is None:
                return None
        if self._stream is not None:
            self._output.drain(self._stream)
        return Ended(process.returncode, self._output.text())

    def wait(self) -> Ended:
        """How it ended."""
        while (ended := self.ended(GLANCE)) is None:
            pass
        return ended

    def close(self) -> None:
        """End it, with all that it has started."""
        self._started.close()

    def _listen(self, seconds: float) -> None:
        """Wait for `seconds`, or until it prints something, or has ended."""
        if self._stream is None:
            _sleep(self._started.process, seconds)
        elif select.select([self._stream], [], [], seconds)[0]:
            piece = os.read(self._stream.fileno(), PIECE)
            self._output.add(piece)
            self._stream = self._stream if piece else None


def run(
    command: Sequence[str], seconds: float, *, environment: Mapping[str, str] | None = None, folder: Path | None = None
) -> Ended:
    """Run `command`; nothing that it has started is left, also where this is interrupted. Fails: OSError."""
    running = Running(command, seconds, environment=environment, folder=folder)
    try:
        return running.wait()
    finally:
        running.close()


def _sleep(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    """Wait for `seconds`, or until it has ended."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return
