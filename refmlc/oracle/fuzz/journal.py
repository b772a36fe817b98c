"""An append-only file of JSON lines that a kill cannot spoil: a line is written at once and synced, or is torn.

A torn last line (no end of line, or no JSON) is cut off when the file is opened again; its batch is done again. A line
before it that is not JSON is damage from elsewhere: it is reported, and nothing is overwritten.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT

Entry: TypeAlias = Mapping[str, object]


class Journal:
    """The file at `path`, open for one writer."""

    def __init__(self, path: Path) -> None:
        """Open or create the file and read its entries, without a torn end. Fails: RM111."""
        self.path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            self.entries, length = read_entries(path)
            if length < path.stat().st_size:
                os.ftruncate(self._file, length)
            os.fsync(self._file)
        except BaseException:
            self.close()
            raise

    def append(self, entry: Entry) -> None:
        """Append a line; it is on disk when this returns."""
        line = json.dumps(entry, separators=(",", ":"), ensure_ascii=True).encode() + b"\n"
        while line:
            line = line[os.write(self._file, line) :]
        os.fsync(self._file)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def read_entries(path: Path) -> tuple[list[Entry], int]:
    """The whole lines of a journal, and how many bytes they are. Fails: RM111."""
    entries: list[Entry] = []
    length = 0
    with path.open("rb") as file:
        lines = file.readlines()
    for number, line in enumerate(lines):
        try:
            entry = json.loads(line) if line.endswith(b"\n") else None
        except ValueError:
            entry = None
        if not isinstance(entry, dict):
            if number + 1 < len(lines):
                raise fail(BAD_INPUT, f"{path}: line {number + 1} is damaged: it is not a journal entry")
            break
        entries.append(entry)
        length += len(line)
    return entries, length
