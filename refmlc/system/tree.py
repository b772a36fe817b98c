"""Programs of others: each in a session of its own, and ended with all that it has started.

| a process that it has started            | is met by                                           |
|------------------------------------------|-----------------------------------------------------|
| is in its process group                  | the signal to the group                             |
| has left the group, its parent lives     | the list of processes: children of children         |
| has left the group, its parent has ended | the mark in its environment, which children inherit |

Decision: no subreaper. It would make orphans children of the program that imports refmlc, which does not wait for them.
Where the system has no `/proc`, the group is all that is ended. A process that has left its group and has forgotten its
environment is met as long as its parent lives.
"""

import os
import signal
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import sleep
from typing import IO, Final
from uuid import uuid4

MARK: Final = "REFMLC_STARTED_BY"
PROCESSES: Final = Path("/proc")
RUNS: Final = ("R", "D")  # running or ready to run, waiting for a disk
LOOKS, BETWEEN = 5, 0.02  # looks at threads, and seconds from one to the next
ROUNDS: Final = 8  # a process may have started another since the list was made


class Started:
    """A program that was started. `process` is for reading, writing, waiting."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        streams: "tuple[Stream, Stream, Stream]" = (subprocess.DEVNULL, subprocess.PIPE, subprocess.PIPE),
    ) -> None:
        """Start it; `streams` are its standard input, output, error. Fails: OSError."""
        self._ended = False
        self._mark = f"{os.getpid()}-{uuid4().hex}"
        self.process = subprocess.Popen(  # noqa: S603 - the caller says which program
            command,
            cwd=folder,
            env={**(os.environ if environment is None else environment), MARK: self._mark},
            stdin=streams[0],
            stdout=streams[1],
            stderr=streams[2],
            start_new_session=True,
            bufsize=0,
        )

    def end(self) -> None:
        """Kill it and all that it has started, and wait for it; its streams stay open."""
        if self._ended:
            return
        self._ended, process = True, self.process
        descendants = started_by(process.pid) if process.returncode is None else []
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        for pid in descendants:
            _kill(pid)
        process.wait()
        for _ in range(ROUNDS):
            marked = self._marked()
            if not marked:
                return
            for pid in marked:
                _kill(pid)

    def close(self) -> None:
        """End it, and give its streams back."""
        self.end()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()

    def _marked(self) -> list[int]:
        """The processes whose environment has the mark and that have not ended."""
        mark = f"{MARK}={self._mark}".encode()
        marked = []
        for entry in _entries():
            with suppress(OSError):
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    marked.append(int(entry.name))
        return marked


Stream = int | IO[bytes] | None


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def _entries() -> list[Path]:
    """The processes of the system, where it tells."""
    return [Path(entry.path) for entry in os.scandir(PROCESSES) if entry.name.isdigit()] if PROCESSES.is_dir() else []


def cpu_seconds_of(pids: Iterable[int]) -> float:
    """Seconds of processor time of processes that live, with those that they have waited for; 0 without `/proc`."""
    ticks = 0
    for pid in pids:
        with suppress(OSError, ValueError):
            after_name = (
                (PROCESSES / str(pid) / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2]
            )
            ticks += sum(map(int, after_name.split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def runs_any(pids: Iterable[int]) -> bool:
    """Whether a thread of these processes runs, or would if it had a processor or a disk; False without `/proc`.

    Between two steps it may sleep for a moment: it is looked at a few times.
    """
    processes = [PROCESSES / str(pid) / "task" for pid in pids]
    for _ in range(LOOKS):
        for process in processes:
            with suppress(OSError):
                if any(_state(thread) in RUNS for thread in process.iterdir()):
                    return True
        sleep(BETWEEN)
    return False


def _state(thread: Path) -> str:
    """The state of a thread, a letter; empty: it has ended."""
    with suppress(OSError, IndexError):
        return (thread / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
    return ""


def started_by(pid: int) -> list[int]:
    """The processes that `pid` has started, and those that these have started, and so on."""
    children: dict[int, list[int]] = {}
    for entry in _entries():
        with suppress(OSError, ValueError, IndexError):
            after_name = (entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2]
            children.setdefault(int(after_name.split()[1]), []).append(int(entry.name))
    descendants, waiting = [], [pid]
    while waiting:
        children_of_it = children.get(waiting.pop(), [])
        descendants += children_of_it
        waiting += children_of_it
    return descendants
