"""Files that change while one works: their times are polled, and a change is reported when writing has ended.

An editor writes a file in several steps, and saves several files together. So a change is reported when two looks in a
row show the same: what changed since the last time comes together. Polling works on every file system, a network's too.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias

INTERVAL: Final = 0.3
"""Seconds between two looks."""

State: TypeAlias = Mapping[Path, tuple[int, int, int]]
"""The time, size and number of each file."""


def state_of(files: Iterable[Path]) -> State:
    """The state of the files that are there."""
    state: dict[Path, tuple[int, int, int]] = {}
    for file in files:
        try:
            entry = os.stat(file)  # noqa: PTH116 - follows links, and says no of those that lead nowhere
        except OSError:
            continue
        state[file] = (entry.st_mtime_ns, entry.st_size, entry.st_ino)
    return state


def changes(
    files: Callable[[], Iterable[Path]],
    *,
    known: State | None = None,
    interval: float = INTERVAL,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[tuple[Path, ...]]:
    """The files that are new or changed, each time that some are and writing has ended; without end.

    `files` names the files of now; `known`: their state that is no change, the first look if None. Units: seconds.
    Files that are gone are no change, and are new when they come back.
    """
    known = state_of(files()) if known is None else known
    while True:
        sleep(interval)
        state = state_of(files())
        if state == known:
            continue
        while True:
            sleep(interval)
            again = state_of(files())
            if again == state:
                break
            state = again
        changed = tuple(file for file, what in state.items() if known.get(file) != what)
        known = state
        if changed:
            yield changed
