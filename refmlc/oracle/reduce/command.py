"""A shell command as the predicate: exit status 0 means that the candidate is still of interest.

| the command gets          | which is                                                             |
|---------------------------|----------------------------------------------------------------------|
| `{}`, `$1`, `REFMLC_FILE` | the path of the candidate, in its folder, with the original name     |
| the working directory     | that of refmlc, so relative paths keep their meaning                 |
| `TMPDIR`                  | the candidate's folder, which is deleted after the command           |
| standard input            | nothing                                                              |

A command that does not end in time is killed, with all that it started: the candidate is not of interest.
"""

import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from threading import Lock
from typing import Self

from refmlc.system.folders import Folder
from refmlc.system.tree import Started

SHOWN = 4000  # characters of output that are kept


@dataclass(frozen=True)
class Ran:
    """How a command ended: its status (None: it was killed for its time) and the end of what it printed."""

    status: int | None
    output: str

    @property
    def holds(self) -> bool:
        """Whether the candidate is of interest."""
        return self.status == 0


class CommandPredicate:
    """Runs a command on texts, from several threads if need be. Units: `seconds` of one run."""

    def __init__(self, command: str, name: str, seconds: float) -> None:
        """Use `name` as the file name of candidates."""
        self._command = command
        self._name = name
        self._seconds = seconds
        self._folder = Folder("reduce")
        self._running: set[Started] = set()
        self._lock = Lock()
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Kill what still runs; remove the candidates."""
        with self._lock:
            self._closed = True
            running = list(self._running)
        for process in running:
            process.end()
        self._folder.cleanup()

    def holds(self, text: str) -> bool:
        """Whether the command ends with 0 on `text`."""
        return self.run(text).holds

    def run(self, text: str) -> Ran:
        """Run the command on `text`."""
        folder = Path(mkdtemp(dir=self._folder.name))
        path, log = folder / self._name, folder / ".output"
        path.write_text(text, encoding="utf-8")
        try:
            status = self._status(path, log)
            return Ran(status, _end_of(log))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _status(self, path: Path, log: Path) -> int | None:
        process = self._started(path, log)
        if process is None:
            return None
        try:
            return process.process.wait(self._seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            process.end()
            with self._lock:
                self._running.discard(process)

    def _started(self, path: Path, log: Path) -> Started | None:
        """Start the command in a new process group; nothing starts after the end."""
        command = self._command.replace("{}", shlex.quote(str(path)))
        environment = {**os.environ, "REFMLC_FILE": str(path), "TMPDIR": str(path.parent)}
        with self._lock, log.open("wb") as output:
            if self._closed:
                return None
            streams = (subprocess.DEVNULL, output, subprocess.STDOUT)
            shell = ["/bin/sh", "-c", command, "sh", str(path)]
            process = Started(shell, environment=environment, streams=streams)
            self._running.add(process)
        return process


def _end_of(log: Path) -> str:
    """The end of what was printed."""
    if not log.exists():
        return ""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - SHOWN))
        return file.read().decode("utf-8", "replace")
