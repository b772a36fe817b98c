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
from refmlc.debug.dap.channel import ClientGone, Item, MessageSender, Request, RequestQueue, read_all, request_of
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
    queue, served = RequestQueue(), threading.Event()

    def read() -> None:
        read_all(messages(reader) if door is None else strict_messages(reader), queue)
        if leave is not None and not served.wait(GRACE):
            leave()

    threading.Thread(target=read, name="refmlc-dap-reader", daemon=True).start()
    try:
        Adapter(queue, MessageSender(writer), launcher, door=door).serve()
    finally:
        served.set()


def leave() -> None:
    """End the process at once."""
    os._exit(1)


def listen(port: int) -> socket.socket:
    """A socket on this machine only; port 0: any free one. Fails: OSError."""
    server_socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            server_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server_socket.bind((HOST, port))
        server_socket.listen()
    except OSError:
        server_socket.close()
        raise
    return server_socket


def serve_socket(
    server_socket: socket.socket, launcher: Launcher, token: str | None, *, leave: Callable[[], None] | None = None
) -> None:
    """Serve the first client that connects to `server_socket` and presents `token`; None: the first that connects."""
    with server_socket:
        while not _served(server_socket, launcher, token, leave):
            pass


def _served(
    server_socket: socket.socket, launcher: Launcher, token: str | None, leave: Callable[[], None] | None
) -> bool:
    """Serve the next connection; true if its client was let in."""
    connection, _ = server_socket.accept()
    late = threading.Timer(ADMISSION, _cut, (connection,))
    late.daemon = True

    def admit() -> None:
        late.cancel()
        threading.Thread(target=_turn_away, args=(server_socket,), name="refmlc-dap-door", daemon=True).start()

    door = None if token is None else Door(token, admit)
    # Closing a writer flushes it, which fails if the client has gone.
    with connection, suppress(OSError):
        if door is None:
            admit()
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


def _turn_away(server_socket: socket.socket) -> None:
    """Refuse all other clients while the socket is open."""
    while True:
        try:
            connection, _ = server_socket.accept()
        except OSError:
            return
        with connection, suppress(OSError):
            _refuse(connection)


def _refuse(connection: socket.socket) -> None:
    connection.settimeout(PATIENCE)
    with connection.makefile("rb") as reader, connection.makefile("wb") as writer:
        first: Item | None = None
        with suppress(OSError):
            for message in strict_messages(reader):
                first = message if isinstance(message, BrokenMessage) else request_of(message)
                break
        sender = MessageSender(writer)
        refusal = RequestRefused("another client is being served", show=True)
        match first:
            case Request(number, command):
                sender.refuse(number, command, refusal)
            case BrokenMessage() | ClientGone() | None:
                sender.refuse(0, "", refusal)
        connection.shutdown(socket.SHUT_WR)
