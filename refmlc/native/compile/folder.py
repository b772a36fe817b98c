"""The directory of libraries: whose it must be. A library that somebody else planted there would be run.

| the directory                                                   | then                                         |
|-----------------------------------------------------------------|----------------------------------------------|
| is missing                                                      | it is created, for the user alone            |
| is the user's, nobody else can write in it                      | it is used                                   |
| is a link, a file, somebody else's, writable by group or others | it is refused                                |
| lies below a directory where others can rename it               | it is refused                                |

A directory above may be root's or the user's, and not writable by others, unless it is sticky as /tmp is. Decision:
a group may write above: many systems give each user a group of their own.
"""

import os
import stat
from pathlib import Path

from refmlc.native.compile.failures import BuildFailed, Cause

PRIVATE = 0o700


def chosen_folder() -> Path:
    """Where libraries are kept: REFMLC_CACHE_DIR, else refmlc in XDG_CACHE_HOME, else ~/.cache/refmlc."""
    chosen = os.environ.get("REFMLC_CACHE_DIR")
    if chosen:
        return Path(chosen).absolute()
    parent = os.environ.get("XDG_CACHE_HOME") or os.environ.get("HOME", "")
    if not os.path.isabs(parent):  # noqa: PTH117 - as XDG says: a relative path means nothing
        raise BuildFailed(Cause.CACHE, "neither REFMLC_CACHE_DIR nor XDG_CACHE_HOME nor HOME says where it is")
    return Path(parent) / ("refmlc" if os.environ.get("XDG_CACHE_HOME") else ".cache/refmlc")


def private_folder(folder: Path) -> Path:
    """`folder`, created if need be, once it is known to be the user's alone. Raises BuildFailed (CACHE)."""
    try:
        for part in (*reversed(folder.parents), folder):
            part.mkdir(PRIVATE, exist_ok=True)
        _check(folder, os.lstat(folder))
        for parent in folder.resolve().parents:
            _check_above(parent, os.lstat(parent))
    except OSError as problem:
        raise BuildFailed(Cause.CACHE, f"{problem.filename or folder}: {problem.strerror}") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise BuildFailed(Cause.CACHE, f"{folder} is not writable")
    return folder


def _check(folder: Path, status: os.stat_result) -> None:
    if not stat.S_ISDIR(status.st_mode):
        raise BuildFailed(Cause.CACHE, f"{folder} is a link, or no directory")
    if status.st_uid != os.geteuid():
        raise BuildFailed(Cause.CACHE, f"{folder} belongs to user {status.st_uid}, not to {os.geteuid()}")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise BuildFailed(Cause.CACHE, f"others can write in {folder} (mode {stat.S_IMODE(status.st_mode):o})")


def _check_above(folder: Path, status: os.stat_result) -> None:
    if status.st_uid not in (0, os.geteuid()):
        raise BuildFailed(Cause.CACHE, f"{folder}, above it, belongs to user {status.st_uid}")
    if status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX:
        raise BuildFailed(Cause.CACHE, f"others can rename what is in {folder}, above it")
