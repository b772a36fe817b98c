"""Temporary folders: of a process, which is in their names; those of processes that are gone are removed.

A name is `refmlc-PURPOSE-SPACE-PID-…`. `SPACE` is the namespace of process numbers: a container that shares the folder
has others. What belongs to another user is left alone. Where a folder is for minutes, one of another container or of a
process whose number another one has by now is known by its age.
"""

import os
import re
import shutil
import tempfile
from contextlib import suppress
from math import inf
from pathlib import Path
from time import time
from typing import Final

SPACE: Final = Path("/proc/self/ns/pid")
NAME: Final = re.compile(r"refmlc-[a-z]+-([0-9]+)-([0-9]+)-\w+")


def make_folder(purpose: str, directory: Path | None = None) -> Path:
    """A new folder in `directory` (None: where temporary files are), which the caller removes. Fails: OSError."""
    parent = Path(tempfile.gettempdir()) if directory is None else directory
    sweep(parent)
    return Path(tempfile.mkdtemp(prefix=f"refmlc-{purpose}-{_space()}-{os.getpid()}-", dir=parent))


class Folder:
    """A new folder, in `with`. Fails: OSError."""

    def __init__(self, purpose: str) -> None:
        self.path = make_folder(purpose)
        self.name = str(self.path)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.cleanup()

    def cleanup(self) -> None:
        """Remove the folder with all in it."""
        shutil.rmtree(self.path, ignore_errors=True)


def sweep(parent: Path, age: float = inf) -> None:
    """Remove the folders in `parent` whose processes are gone, or in which nobody has written for `age` seconds."""
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            match = NAME.fullmatch(entry.name)
            if match is None:
                continue
            gone = int(match[1]) == _space() and not _lives(int(match[2]))
            with suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                old = time() - status.st_mtime > age
                if (gone or old) and entry.is_dir(follow_symlinks=False) and status.st_uid == os.getuid():
                    shutil.rmtree(entry.path, ignore_errors=True)


def _space() -> int:
    try:
        return SPACE.stat().st_ino
    except OSError:
        return 0


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
