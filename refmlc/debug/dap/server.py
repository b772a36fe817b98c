"""The server: one client, over the standard streams or a socket on this machine; it ends with the client.

| the client                              | the server                                                     |
|-----------------------------------------|----------------------------------------------------------------|
| closes the connection, at any moment    | ends; it waits at most `GRACE` seconds for C                     |
| is a second one                         | refuses its first request, and closes                            |
| of a socket has no token (`door`), or sends none within `ADMISSION` seconds | closes, and waits for another |
| of a socket sends input that is no message | closes (`framing.strict_messages`)                            |
"""

import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO

from refmlc.debug.dap.adapter import Adapter
from refmlc.debug.dap.arguments import RequestRefused
from refmlc.debug.dap.channel import ClientGone, Incoming, Item, Outgoing, Request, read_all, request_of
from refmlc.debug.dap.dap_state import Launcher
from refmlc.debug.dap.door import Door
from refmlc.debug.dap.framing import BrokenMessage, messages, strict_messages

HOST = "127.0.0.1"
GRACE = 10.0
ADMISSION = 20.0  # seconds from the connection to the token
PATIENCE = 2.0  # seconds for the first request of a second client


def serve(
    reader: BinaryIO,
    writer: BinaryIO,
    launcher: Launcher,
    *,
    leave: Callable[[], None] | None = None,
    door: Door | None = None,
) -> None:
    """Serve one client. `leave` ends the process if a motion continues after the client is gone.

    `door`: the client of a socket must present a token.
    """
    incoming, done = Incoming(), threading.Event()

    def read() -> None:
        read_all(messages(reader) if door is None else strict_messages(reader), incoming)
        if leave is not None and not done.wait(GRACE):
            leave()

    threading.Thread(target=read, name="refmlc-dap-reader", daemon=True).start()
    try:
        Adapter(incoming, Outgoing(writer), launcher, door=door).serve()
    finally:
        done.set()


def leave() -> None:
    """End the process at once."""
    os._exit(1)


def listen(port: int) -> socket.socket:
    """A socket on this machine only; port 0: any free one. Fails: OSError."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen()
    except OSError:
        listening.close()
        raise
    return listening


def serve_socket(
    listening: socket.socket, launcher: Launcher, token: str | None, *, leave: Callable[[], None] | None = None
) -> None:
    """Serve the first client that connects to `listening` and presents `token`; None: the first that connects."""
    with listening:
        while not _served(listening, launcher, token, leave):
            pass


def _served(listening: socket.socket, launcher: Launcher, token: str | None, leave: Callable[[], None] | None) -> bool:
    """Serve the next connection; true if its client was let in."""
    connection, _ = listening.accept()
    late = threading.Timer(ADMISSION, _cut, (connection,))
    late.daemon = True

    def opened() -> None:
        late.cancel()
        threading.Thread(target=_turn_away, args=(listening,), name="refmlc-dap-door", daemon=True).start()

    door = None if token is None else Door(token, opened)
    # Closing a writer flushes it, which fails if the client has gone.
    with connection, suppress(OSError):
        if door is None:
            opened()
        else:
            late.start()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection.makefile("rb") as reader, connection.makefile("wb") as writer:
            serve(reader, writer, launcher, leave=leave, door=door)
            connection.shutdown(socket.SHUT_RDWR)
    late.cancel()
    return door is None or door.open


def _cut(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _turn_away(listening: socket.socket) -> None:
    """Refuse all other clients while the socket is open."""
    while True:
        try:
            other, _ = listening.accept()
        except OSError:
            return
        with other, suppress(OSError):
            _refuse(other)


def _refuse(other: socket.socket) -> None:
    other.settimeout(PATIENCE)
    with other.makefile("rb") as reader, other.makefile("wb") as writer:
        first: Item | None = None
        with suppress(OSError):
            for message in strict_messages(reader):
                first = message if isinstance(message, BrokenMessage) else request_of(message)
                break
        outgoing = Outgoing(writer)
        no = RequestRefused("another client is being served", show=True)
        match first:
            case Request(number, command):
                outgoing.refuse(number, command, no)
            case BrokenMessage() | ClientGone() | None:
                outgoing.refuse(0, "", no)
        other.shutdown(socket.SHUT_WR)
