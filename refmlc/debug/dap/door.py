"""Who is let in over a socket: the client that presents the token that the server printed, and nobody else.

| before the token, a request          | is                                              |
|--------------------------------------|-------------------------------------------------|
| initialize                           | answered: it says what the server is able to do |
| launch, attach, with the token       | let in, and everything after it                 |
| launch, attach, without; any other   | refused, and the connection ends                |

Over the standard streams there is no token: who holds those has started the server.
"""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hmac import compare_digest

STRANGER = "`token` is not the one that `refmlc dap --port` printed: the connection ends"


def new_token() -> str:
    """A word that nobody guesses: 256 bits."""
    return secrets.token_urlsafe(32)


@dataclass(slots=True)
class Door:
    """The state of a connection. `token`: what opens it, None: it is open; `opened` is called when it opens."""

    token: str | None = None
    opened: Callable[[], None] | None = None

    @property
    def open(self) -> bool:
        """Whether all requests pass."""
        return self.token is None

    def passes(self, command: str, arguments: Mapping[str, object]) -> bool:
        """Whether a request is looked at. The right token opens the door for what follows."""
        if self.token is None or command == "initialize":
            return True
        if command not in ("launch", "attach") or not _same(arguments.get("token"), self.token):
            return False
        self.token = None
        if self.opened is not None:
            self.opened()
        return True


def _same(presented: object, token: str) -> bool:
    """Whether the token is the right one, in a time that does not tell how much of it is."""
    return isinstance(presented, str) and compare_digest(presented.encode("utf-8", "surrogatepass"), token.encode())
