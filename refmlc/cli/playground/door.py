"""The door of the server: it answers the page at the address that was printed, and nobody else.

| request                                               | status | keeps out                                          |
|-------------------------------------------------------|--------|----------------------------------------------------|
| `Host` is not the address of the server, or is twice  | 421    | names that lead to loopback (DNS rebinding)        |
| the path does not begin with the token                | 404    | other users and programs of the machine            |
| `Origin` is another one                               | 403    | pages of others in the same browser                |
| a `POST` whose body is not JSON                       | 415    | forms of others, which send no JSON                |
| a `POST` without a length, or in chunks               | 411    | bodies without an end                              |
| a `POST` whose body is too long                       | 413    | large bodies: not a byte of them is read           |
"""

import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import Message
from hmac import compare_digest

LOOPBACK = "127.0.0.1"
LONGEST_BODY = 1 << 20  # bytes
LONGEST_MODULE = 1 << 18  # characters
MOST_DIGITS = 9
ACTIONS = ("check", "trace")


class Refused(Exception):
    """A request that is not answered, with the status, and a line for its sender."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


@dataclass(frozen=True)
class PlayDoor:
    """The door of a server at `port`. The token is drawn once, and has 256 bits."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def host(self) -> str:
        """The address that requests must be for."""
        return f"{LOOPBACK}:{self.port}"

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{self.host}/{self.token}/"

    def place(self, path: str, headers: Message) -> str:
        """What a path names behind the token. Fails: `Refused`."""
        if headers.get_all("Host") != [self.host]:
            raise Refused(421, f"this server answers requests for {self.host} only")
        token, slash, place = path.removeprefix("/").partition("/")
        if not slash or not compare_digest(token.encode("utf-8", "replace"), self.token.encode()):
            raise Refused(404, "the address is not the one that `refmlc play` printed")
        if headers.get_all("Origin") not in (None, [f"http://{self.host}"]):
            raise Refused(403, "the request comes from another page")
        return place

    def length(self, headers: Message) -> int:
        """The length of a body. Fails: `Refused`."""
        if headers.get_content_type() != "application/json":
            raise Refused(415, "a request is JSON")
        lengths = headers.get_all("Content-Length", [])
        if "Transfer-Encoding" in headers or len(lengths) != 1 or not re.fullmatch(r"[0-9]+", lengths[0]):
            raise Refused(411, "a request has a Content-Length")
        if len(lengths[0]) > MOST_DIGITS or int(lengths[0]) > LONGEST_BODY:
            raise Refused(413, f"a request has at most {LONGEST_BODY} bytes")
        return int(lengths[0])


def request_of(body: bytes) -> Mapping[str, object]:
    """The request in a body. Fails: `Refused`."""
    try:
        data = json.loads(body.decode())
    except (ValueError, RecursionError):
        raise Refused(400, "the request is not JSON") from None
    match data:
        case {"do": str(action), "module": str(module), **rest} if action in ACTIONS and rest.keys() <= {"call"}:
            call = rest.get("call")
            if call is not None and (isinstance(call, bool) or not isinstance(call, int)):
                raise Refused(400, "`call` is a number or null")
            return {"do": action, "module": _module(module), "call": call}
    raise Refused(400, "a request has `do`, `module`, and may have `call`")


def _module(text: str) -> str:
    """A text of a module. Fails: `Refused` for one that is too long, or has half of a character."""
    if len(text) > LONGEST_MODULE:
        raise Refused(413, f"a module has at most {LONGEST_MODULE} characters")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Refused(400, "the module has half of a character") from None
    return text
