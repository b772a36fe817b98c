"""A program, run to its end.

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


def run(
    command: Sequence[str], seconds: float, *, environment: Mapping[str, str] | None = None, folder: Path | None = None
) -> Ended:
    """Run `command`; nothing that it has started is left, also where this is interrupted. Fails: OSError."""
    streams = (subprocess.DEVNULL, subprocess.PIPE, subprocess.STDOUT)
    started = Started(command, environment=environment, folder=folder, streams=streams)
    output = Output()
    try:
        status = _wait(started.process, output, monotonic() + seconds)
    finally:
        started.close()
    return Ended(status, output.text())


def _wait(process: "subprocess.Popen[bytes]", output: Output, deadline: float) -> int | None:
    """The status when the process has ended; None: it is too late."""
    stream: IO[bytes] | None = process.stdout
    while (status := process.poll()) is None:
        remaining = deadline - monotonic()
        if remaining <= 0:
            return None
        if stream is None:
            _sleep(process, min(remaining, GLANCE))
        elif select.select([stream], [], [], min(remaining, GLANCE))[0]:
            piece = os.read(stream.fileno(), PIECE)
            output.add(piece)
            stream = stream if piece else None
    if stream is not None:
        output.drain(stream)
    return status


def _sleep(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    """Wait for `seconds`, or until it has ended."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return
