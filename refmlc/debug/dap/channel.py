"""The two directions of a connection: what comes, kept in order until it is taken; what goes, numbered.

One thread reads, and only puts what it read into the line: it never writes, so that a client that does not read cannot
keep it from reading. While the program moves, what comes may ask it to pause:

| comes while the program moves           | interrupts                                                      |
|-----------------------------------------|-----------------------------------------------------------------|
| `URGENT`, a cancel of its progress, the end | every motion                                                |
| any other request                       | those that go on afterwards as if nothing was (`everything`)     |
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
    """What a client asks."""

    number: int
    command: str
    arguments: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ClientGone:
    """The client is not there any more."""


Item = Request | BrokenMessage | ClientGone


@dataclass(slots=True)
class Incoming:
    """What came and was not taken yet."""

    waiting: deque[Item] = field(default_factory=deque)
    cancelled: set[int] = field(default_factory=set)
    progress: str = ""
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _pause: Callable[[], None] | None = None
    _everything: bool = False

    def put(self, item: Item) -> None:
        """One more, from the thread that reads."""
        with self._changed:
            if isinstance(item, Request) and item.command == "cancel":
                number = item.arguments.get("requestId")
                if any(isinstance(one, Request) and one.number == number for one in self.waiting):
                    self.cancelled.add(number)  # type: ignore[arg-type]  # it is the number of one
            self.waiting.append(item)
            if self._pause is not None and (self._everything or self._is_urgent(item)):
                self._pause()
            self._changed.notify()

    def take(self) -> Item:
        """The next; waits for it."""
        with self._changed:
            while not self.waiting:
                self._changed.wait()
            return self.waiting.popleft()

    def begins(self, pause: Callable[[], None], progress: str, *, everything: bool) -> bool:
        """A motion begins, unless something is waiting that would interrupt it. `progress`: what may be cancelled."""
        with self._changed:
            self.progress = progress
            if self.waiting and (everything or any(map(self._is_urgent, self.waiting))):
                return False
            self._pause, self._everything = pause, everything
            return True

    def ends(self) -> None:
        """It has ended."""
        with self._changed:
            self._pause = None

    def _is_urgent(self, item: Item) -> bool:
        """Whether every motion ends for it."""
        if not isinstance(item, Request):
            return isinstance(item, ClientGone)
        return item.command in URGENT or (
            item.command == "cancel" and item.arguments.get("progressId") == self.progress
        )


def read_all(parsed: Iterable[Json | BrokenMessage], incoming: Incoming) -> None:
    """Put what is read into the line, until the end."""
    try:
        for message in parsed:
            item = message if isinstance(message, BrokenMessage) else request_of(message)
            if item is not None:
                incoming.put(item)
    except (OSError, ValueError):  # the connection is lost, or was closed by us
        pass
    finally:
        incoming.put(ClientGone())


def request_of(message: Json) -> Request | BrokenMessage | None:
    """The request that a message is; None: an answer, or an event, for which nobody waits."""
    number, command, arguments = message.get("seq"), message.get("command"), message.get("arguments")
    kind = message.get("type")
    if kind in ("response", "event"):
        return None
    if isinstance(number, bool) or not isinstance(number, int):
        return BrokenMessage("`seq` is no integer")
    if kind != "request" or not isinstance(command, str):
        return BrokenMessage("the message is no request", number)
    if arguments is not None and not isinstance(arguments, dict):
        return BrokenMessage("`arguments` is no object", number, command)
    return Request(number, command, arguments or {})


@dataclass(slots=True)
class Outgoing:
    """What is said; any thread may. `lost`: nobody listens any more."""

    stream: BinaryIO
    lost: bool = False
    _number: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def event(self, name: str, body: Json | None = None) -> None:
        """An event."""
        self._send({"type": "event", "event": name, **({} if body is None else {"body": body})})

    def output(self, category: str, text: str) -> None:
        """What a person reads in the console; nothing for no text."""
        if text:
            self.event("output", {"category": category, "output": text if text.endswith("\n") else f"{text}\n"})

    def answer(self, request: Request, body: Json | None = None) -> None:
        """The request was done."""
        head = {"type": "response", "request_seq": request.number, "success": True, "command": request.command}
        self._send({**head, **({} if body is None else {"body": body})})

    def refuse(self, number: int, command: str, refused: RequestRefused) -> None:
        """The request was not done."""
        text = refused.text.replace("{", "(").replace("}", ")")  # braces would be names of variables
        error = {"id": refused.number, "format": text, **({"showUser": True} if refused.show else {})}
        self._send({
            "type": "response", "request_seq": number, "success": False, "command": command,
            "message": refused.short or refused.text, "body": {"error": error},
        })  # fmt: skip

    def _send(self, message: Json) -> None:
        with self._lock:
            if self.lost:
                return
            self._number += 1
            try:
                self.stream.write(encode({"seq": self._number, **message}))
                self.stream.flush()
            except (OSError, ValueError):  # nobody reads, or the stream was closed by us
                self.lost = True
