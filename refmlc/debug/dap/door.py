"""Access over a socket: only for the client that presents the token printed by the server.

| request before the token             | is                                             |
|--------------------------------------|------------------------------------------------|
| initialize                           | answered: it lists the server's capabilities   |
| launch, attach, with the token       | accepted, and so is everything after it        |
| launch, attach, without; any other   | refused, and the connection is closed          |

The standard streams need no token: their owner has started the server.
"""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hmac import compare_digest

STRANGER = "`token` is not the token printed by `refmlc dap --port`: the connection is closed"


def new_token() -> str:
    """A random token of 256 bits."""
    return secrets.token_urlsafe(32)


@dataclass(slots=True)
class Door:
    """The access of a connection. `token`: the token that opens it, None: it is open; `opened` is called then."""

    token: str | None = None
    opened: Callable[[], None] | None = None

    @property
    def open(self) -> bool:
        """True if all requests pass."""
        return self.token is None

    def passes(self, command: str, arguments: Mapping[str, object]) -> bool:
        """True if the request is handled. The right token opens the door for the following ones."""
        if self.token is None or command == "initialize":
            return True
        if command not in ("launch", "attach") or not _same(arguments.get("token"), self.token):
            return False
        self.token = None
        if self.opened is not None:
            self.opened()
        return True


def _same(presented: object, token: str) -> bool:
    """True for equal tokens; the time taken does not depend on the common part."""
    return isinstance(presented, str) and compare_digest(presented.encode("utf-8", "surrogatepass"), token.encode())
