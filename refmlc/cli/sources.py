"""The modules that a command takes: files, folders of them, the standard input.

In a folder, `*.py` files with a decorator of TVMScript are taken; other `*.py` files are counted. Hidden folders and
`__pycache__` are skipped.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.lang.ir import IRModule
from refmlc.lang.wellformed.reader_checks import read, read_file

STDIN = Path("-")
_TVMSCRIPT = re.compile(rb"^[ \t]*@(?:\w+\.)*(?:prim_func|ir_module)\b|^[ \t]*@(?:R|relax)\.function\b", re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """A text to read."""

    path: Path

    @property
    def title(self) -> str:
        """Its name in a table."""
        return "<stdin>" if self.path == STDIN else self.path.name

    def read(self) -> IRModule:
        """The module. Fails: as reading does."""
        if self.path != STDIN:
            return read_file(self.path)
        content = sys.stdin.buffer.read()
        try:
            return read(content.decode(), "<stdin>")
        except UnicodeDecodeError as problem:
            raise fail(BAD_FILE, f"<stdin>: {problem}") from None


def sources(paths: Sequence[Path]) -> tuple[list[Source], int]:
    """The sources in `paths`, each once, and the number of skipped files in folders. Fails: RM109."""
    files: dict[Path, None] = {}
    skipped = 0
    for path in paths:
        if not path.is_dir():
            files[path] = None
            continue
        for file in _files(path):
            if _TVMSCRIPT.search(_bytes(file)):
                files[file] = None
            else:
                skipped += 1
    return [Source(path) for path in files], skipped


def _files(folder: Path) -> Iterator[Path]:
    """The Python files below a folder, in order."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name == "__pycache__":
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _files(path)
        elif path.suffix == ".py" and path.is_file():
            yield path


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as problem:
        raise fail(BAD_FILE, f"`{file}`: {problem.strerror}") from None
