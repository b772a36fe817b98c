"""The arguments of a request, read as the expected types. Any other value is refused with a message.

| method                          | takes                                   |
|---------------------------------|-----------------------------------------|
| `text`, `number`, `flag`        | a string, an integer, a boolean         |
| `inner`, `rows`, `texts`        | an object, a list of objects, of strings |

A default makes an argument optional; without one it is required.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

NOT_STOPPED: Final = "notStopped"
CANCELLED: Final = "cancelled"
BIGGEST = 1 << 53  # what every client can say exactly


class RequestRefused(Exception):
    """A request that gets an error response. `short`: a word of the protocol for it, where there is one."""

    def __init__(self, text: str, short: str = "", number: int = 1, *, show: bool = False) -> None:
        """`show`: the client should show the text to the user."""
        super().__init__(text)
        self.text, self.short, self.number, self.show = text, short, number, show


@dataclass(frozen=True, slots=True)
class Arguments:
    """See the table of the module."""

    given: Mapping[str, object]

    def text(self, name: str, default: str | None = None) -> str:
        """A string."""
        found = self._get(name, default)
        if not isinstance(found, str):
            raise RequestRefused(f"`{name}` is not a string")
        return found

    def number(self, name: str, default: int | None = None, *, least: int = 0) -> int:
        """An integer from `least` on."""
        found = self._get(name, default)
        if isinstance(found, bool) or not isinstance(found, int):
            raise RequestRefused(f"`{name}` is not an integer")
        if not least <= found <= BIGGEST:
            raise RequestRefused(f"`{name}` is {found}, which is out of range")
        return found

    def flag(self, name: str, default: bool | None = None) -> bool:
        """A boolean."""
        found = self._get(name, default)
        if not isinstance(found, bool):
            raise RequestRefused(f"`{name}` is not a boolean")
        return found

    def inner(self, name: str, default: Mapping[str, object] | None = None) -> "Arguments":
        """An object."""
        found = self._get(name, default)
        if not isinstance(found, dict):
            raise RequestRefused(f"`{name}` is not an object")
        return Arguments(found)

    def rows(self, name: str, default: Sequence[object] | None = None) -> list["Arguments"]:
        """A list of objects."""
        found = self._list(name, default)
        if not all(isinstance(row, dict) for row in found):
            raise RequestRefused(f"`{name}` is not a list of objects")
        return [Arguments(row) for row in found if isinstance(row, dict)]

    def texts(self, name: str, default: Sequence[object] | None = None) -> list[str]:
        """A list of strings."""
        found = self._list(name, default)
        if not all(isinstance(row, str) for row in found):
            raise RequestRefused(f"`{name}` is not a list of strings")
        return [row for row in found if isinstance(row, str)]

    def __contains__(self, name: str) -> bool:
        """True if the argument is present and not null."""
        return self.given.get(name) is not None

    def _get(self, name: str, default: object) -> object:
        found = self.given.get(name)
        if found is None:
            found = default
        if found is None:
            raise RequestRefused(f"`{name}` is missing")
        return found

    def _list(self, name: str, default: Sequence[object] | None) -> list[object]:
        found = self._get(name, None if default is None else list(default))
        if not isinstance(found, list):
            raise RequestRefused(f"`{name}` is not a list")
        return found
