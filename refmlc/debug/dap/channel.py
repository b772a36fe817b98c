"""The two directions of a connection: a queue of incoming items, and numbered outgoing messages.

One thread reads and fills the queue. It never writes, so a client that does not read cannot keep it from reading. An
item that arrives during a motion can interrupt it:

| arrives during a motion                 | interrupts                                                      |
|-----------------------------------------|-----------------------------------------------------------------|
| `URGENT`, a cancel of its progress, the end | every motion                                                |
| any other request                       | motions that can continue unchanged (`any_request`)       |
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from refmlc.debug.dap.arguments import RequestRefused
from refmlc.debug.dap.framing import BrokenMessage, Json, encode

URGENT = frozenset({"pause", "disconnect", "terminate", "restart"})


@dataclass(frozen=True, slots=True)
class Request:
    """A request of the client."""

    number: int
    command: str
    arguments: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ClientGone:
    """The client is gone."""


Item = Request | BrokenMessage | ClientGone


@dataclass(slots=True)
class RequestQueue:
    """The queue of incoming items."""

    items: deque[Item] = field(default_factory=deque)
    cancelled: set[int] = field(default_factory=set)
    progress: str = ""
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _pause: Callable[[], None] | None = None
    _any_request: bool = False

    def put(self, item: Item) -> None:
        """Add an item, from the reading thread."""
        with self._changed:
            if isinstance(item, Request) and item.command == "cancel":
                number = item.arguments.get("requestId")
                if any(isinstance(item, Request) and item.number == number for item in self.items):
                    self.cancelled.add(number)  # type: ignore[arg-type]  # it is the number of one
            self.items.append(item)
            if self._pause is not None and (self._any_request or self._is_urgent(item)):
                self._pause()
            self._changed.notify()

    def take(self) -> Item:
        """Remove the next item; wait for it."""
        with self._changed:
            while not self.items:
                self._changed.wait()
            return self.items.popleft()

    def begins(self, pause: Callable[[], None], progress: str, *, any_request: bool) -> bool:
        """Begin a motion, unless a waiting item would interrupt it. `progress`: the progress that can be cancelled."""
        with self._changed:
            self.progress = progress
            if self.items and (any_request or any(map(self._is_urgent, self.items))):
                return False
            self._pause, self._any_request = pause, any_request
            return True

    def ends(self) -> None:
        """The motion has ended."""
        with self._changed:
            self._pause = None

    def _is_urgent(self, item: Item) -> bool:
        """True if the item ends every motion."""
        if not isinstance(item, Request):
            return isinstance(item, ClientGone)
        return item.command in URGENT or (
            item.command == "cancel" and item.arguments.get("progressId") == self.progress
        )


def read_all(parsed: Iterable[Json | BrokenMessage], queue: RequestQueue) -> None:
    """Put everything that arrives into the queue, until the end."""
    try:
        for message in parsed:
            item = message if isinstance(message, BrokenMessage) else request_of(message)
            if item is not None:
                queue.put(item)
    except (OSError, ValueError):  # the connection is lost, or was closed by us
        pass
    finally:
        queue.put(ClientGone())


def request_of(message: Json) -> Request | BrokenMessage | None:
    """The request in a message; None for responses and events, which nobody awaits."""
    number, command, arguments = message.get("seq"), message.get("command"), message.get("arguments")
    kind = message.get("type")
    if kind in ("response", "event"):
        return None
    if isinstance(number, bool) or not isinstance(number, int):
        return BrokenMessage("`seq` is not an integer")
    if kind != "request" or not isinstance(command, str):
        return BrokenMessage("the message is not a request", number)
    if arguments is not None and not isinstance(arguments, dict):
        return BrokenMessage("`arguments` is not an object", number, command)
    return Request(number, command, arguments or {})


@dataclass(slots=True)
class MessageSender:
    """Sends events and responses, from any thread. `is_closed`: the connection is closed."""

    stream: BinaryIO
    is_closed: bool = False
    _number: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def event(self, name: str, body: Json | None = None) -> None:
        """Send the event `name`."""
        self._send({"type": "event", "event": name, **({} if body is None else {"body": body})})

    def output(self, category: str, text: str) -> None:
        """Send text for the console, if there is any."""
        if text:
            self.event("output", {"category": category, "output": text if text.endswith("\n") else f"{text}\n"})

    def answer(self, request: Request, body: Json | None = None) -> None:
        """Send the response to a request."""
        head = {"type": "response", "request_seq": request.number, "success": True, "command": request.command}
        self._send({**head, **({} if body is None else {"body": body})})

    def refuse(self, number: int, command: str, refused: RequestRefused) -> None:
        """Send an error response."""
        text = refused.text.replace("{", "(").replace("}", ")")  # braces would be names of variables
        error = {"id": refused.number, "format": text, **({"showUser": True} if refused.show else {})}
        self._send({
            "type": "response", "request_seq": number, "success": False, "command": command,
            "message": refused.short or refused.text, "body": {"error": error},
        })  # fmt: skip

    def _send(self, message: Json) -> None:
        with self._lock:
            if self.is_closed:
                return
            self._number += 1
            try:
                self.stream.write(encode({"seq": self._number, **message}))
                self.stream.flush()
            except (OSError, ValueError):  # nobody reads, or the stream was closed by us
                self.is_closed = True
