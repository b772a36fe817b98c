"""The begin and the end of what a program prints: however much that is, little is kept."""

import os
import select
from typing import IO, Final

KEPT: Final = 1 << 16
"""Bytes that are kept of the begin, and of the end."""
PIECE: Final = 1 << 16


class Output:
    """The output of a program so far."""

    def __init__(self) -> None:
        self._first = bytearray()
        self._last = bytearray()
        self._between = 0

    def add(self, piece: bytes) -> None:
        """Take a piece of output, and keep its share of the begin or the end."""
        room = KEPT - len(self._first)
        self._first += piece[:room]
        self._last += piece[room:]
        if len(self._last) > KEPT:
            self._between += len(self._last) - KEPT
            del self._last[:-KEPT]

    def drain(self, stream: IO[bytes]) -> bool:
        """Take what is there to read, and not more than is kept, without waiting; False at the end of the stream."""
        for _ in range(2 * KEPT // PIECE):
            if not select.select([stream], [], [], 0)[0]:
                break
            piece = os.read(stream.fileno(), PIECE)
            if not piece:
                return False
            self.add(piece)
        return True

    def text(self) -> str:
        """What is kept, and how much is not."""
        between = f"\n… {self._between} bytes …\n".encode() if self._between else b""
        return bytes(self._first + between + self._last).decode(errors="replace")
