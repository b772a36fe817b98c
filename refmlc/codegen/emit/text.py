"""C text with indentation, and the place in the module's source behind each statement."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import PurePath

from refmlc.diag.source import Span

INDENT = "  "
COLUMN = 76


class Text:
    """Lines of C, growing."""

    def __init__(self, depth: int = 1) -> None:
        """`depth` is the level of the first line."""
        self.lines: list[str] = []
        self._depth = depth

    def line(self, code: str, span: Span | None = None, note: str = "") -> None:
        """Append a line; its place and `note` follow as a comment."""
        where = place(span)
        note = f"{where}; {note}" if where and note else where or note
        indented = INDENT * self._depth + code
        self.lines.append(f"{indented:<{COLUMN}} /* {comment(note)} */" if note else indented)

    def lines_of(self, codes: tuple[str, ...]) -> None:
        """Append lines that are indented among themselves."""
        self.lines.extend(INDENT * self._depth + code if code else "" for code in codes)

    @contextmanager
    def block(self, head: str, span: Span | None = None, note: str = "") -> Iterator[None]:
        """Lines in braces after `head`."""
        self.line(f"{head} {{" if head else "{", span, note)
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            self.line("}")

    @contextmanager
    def apart(self) -> Iterator[list[str]]:
        """Lines that are collected apart, a level deeper: what to do with them is decided afterwards."""
        outer, self.lines = self.lines, []
        self._depth += 1
        collected = self.lines
        try:
            yield collected
        finally:
            self._depth -= 1
            self.lines = outer

    def add(self, collected: list[str]) -> None:
        """Append lines collected apart."""
        self.lines.extend(collected)


def place(span: Span | None) -> str:
    """`gemm.py:14` of a span; nothing where there is none."""
    return "" if span is None else f"{_file(span.source.name)}:{span.line}"


@lru_cache(maxsize=64)
def _file(path: str) -> str:
    """The name of a file without its folders."""
    return PurePath(path).name


def bare(code: str) -> str:
    """An expression without parentheses around the whole of it, which a place of its own does not need."""
    depth = 0
    for at, character in enumerate(code):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return code[1:-1] if character == ")" and at == len(code) - 1 and code[0] == "(" else code
    return code


def comment(text: str) -> str:
    """`text` as it may stand in a comment."""
    return text.replace("*/", "* /").replace("/*", "/ *").replace("\n", " ").replace("\\", "/")
