"""The gate between the command and the terminal: all text passes through it, from any writer.

| text                                                  | leaves as                                               |
|-------------------------------------------------------|---------------------------------------------------------|
| control, format (what reorders), surrogate characters | U+FFFD; line ends and tabs pass       |
| a character that the encoding of the stream lacks     | a similar one (`SIMILAR`), else `?`                     |
| output of rich and `diag.render`                      | unchanged: it is cleaned first and bypasses the gate    |
"""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import TextIO, cast

from refmlc.diag.layout import safe

SIMILAR = str.maketrans({
    "…": "~", "→": "->", "—": "-", "–": "-", "×": "x", "±": "+-", "≥": ">=", "≤": "<=", "²": "^2", "³": "^3", "µ": "u",
    "─": "-", "│": "|", "├": "|", "└": "`", "█": "#", "▀": "^", "●": "*", "▶": ">", "Δ": "d",
})  # fmt: skip


def fitted(text: str, encoding: str) -> str:
    """`text` in the characters that `encoding` has."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(_similar(char, encoding) for char in text)
    return text


def _similar(char: str, encoding: str) -> str:
    for candidate in (char, char.translate(SIMILAR)):
        with suppress(UnicodeEncodeError):
            candidate.encode(encoding)
            return candidate
    return "?"


class Fitted:
    """A stream that takes every character: one that its encoding lacks is replaced by a similar one."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.encoding = stream.encoding or "utf-8"
        self.errors = stream.errors

    def write(self, text: str) -> int:
        """Write `text` in the characters of the encoding."""
        self._stream.write(fitted(text, self.encoding))
        return len(text)

    def flush(self) -> None:
        """Flush the stream behind this one."""
        self._stream.flush()

    def isatty(self) -> bool:
        """True if the stream is a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """The file descriptor. Fails: OSError if there is none."""
        return self._stream.fileno()


class Gate(Fitted):
    """A stream for text from anywhere. `behind`: the same stream, for text that was cleaned and painted."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self.behind = Fitted(stream)

    def write(self, text: str) -> int:
        """Write `text` without control characters."""
        super().write(safe(text))
        return len(text)


@contextmanager
def gated() -> Iterator[None]:
    """Put both standard streams behind a gate; closed streams stay closed."""
    with ExitStack() as stack:
        if sys.stdout is not None:
            stack.enter_context(redirect_stdout(_gate(sys.stdout)))
        if sys.stderr is not None:
            stack.enter_context(redirect_stderr(_gate(sys.stderr)))
        yield


def _gate(stream: TextIO) -> TextIO:
    return cast("TextIO", Gate(stream))
