"""Messages on a stream: `Content-Length: N`, an empty line, N bytes of JSON.

| on the stream                                   | is read as                                                |
|-------------------------------------------------|-----------------------------------------------------------|
| a header with a length, and as many bytes of JSON | the object                                              |
| a header with a length, and other bytes         | `BrokenMessage` with the reason                           |
| no length, or one above `MOST_BYTES`             | `BrokenMessage`; then the next line that ends in a length |
| the end, also in the middle of a message        | the end                                                   |

`strict_messages` reads input that any program on this machine may have sent, even a page in a browser: a header is that
one line; the first line that is no header ends the connection, and nothing after it is read.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO, NoReturn

MOST_BYTES = 16 << 20
MOST_LINE = 1 << 16
LENGTH = re.compile(rb"Content-Length:[ \t]*(\d{1,18})[ \t]*\r?\n?\Z", re.IGNORECASE)

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class BrokenMessage:
    """Input that is no message. `number`, `command`: those of the request, if readable."""

    problem: str
    number: int = 0
    command: str = ""


def encode(message: Json) -> bytes:
    """A message as bytes on the stream. NaN and infinities must be strings by now."""
    body = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def messages(stream: BinaryIO) -> Iterator[Json | BrokenMessage]:
    """The incoming messages, until the end."""
    in_step = True
    while True:
        length, last_line = _header(stream)
        if length is None and last_line is None:
            return
        if length is None or length > MOST_BYTES:
            if in_step:
                yield BrokenMessage(
                    "a message begins with `Content-Length: N`" if length is None else "the message is too long"
                )
            in_step = False
            continue
        body = _exactly(stream, length)
        if body is None:
            return
        in_step = True
        yield decode(body)


def strict_messages(stream: BinaryIO) -> Iterator[Json | BrokenMessage]:
    """The incoming messages, until the end or the first input that is no message header, or is too long."""
    while True:
        header = LENGTH.match(stream.readline(MOST_LINE))
        if header is None or int(header[1]) > MOST_BYTES or stream.readline(MOST_LINE) not in (b"\r\n", b"\n"):
            return
        body = _exactly(stream, int(header[1]))
        if body is None:
            return
        yield decode(body)


def _header(stream: BinaryIO) -> tuple[int | None, bytes | None]:
    """The length in a header and its last line; None and None at the end."""
    length, last_line, in_header = None, None, False
    while line := stream.readline(MOST_LINE):
        last_line = line
        match = LENGTH.search(line)
        if match is not None:
            length = int(match[1])
        elif line.strip(b"\r\n"):
            in_header = True
            if length is None and b":" not in line:
                return None, last_line
        elif length is not None or in_header:
            return length, last_line
    return None, None


def _exactly(stream: BinaryIO, length: int) -> bytes | None:
    parts = []
    while length:
        part = stream.read(length)
        if not part:
            return None
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def decode(body: bytes) -> Json | BrokenMessage:
    """The object in the bytes."""
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_refuse)
    except (UnicodeDecodeError, ValueError, RecursionError) as problem:
        return BrokenMessage(f"the message is not JSON: {problem}"[:200])
    return value if isinstance(value, dict) else BrokenMessage("the message is not an object")


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"JSON has no {name}")
