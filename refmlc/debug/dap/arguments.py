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

    values: Mapping[str, object]

    def text(self, name: str, default: str | None = None) -> str:
        """A string."""
        value = self._get(name, default)
        if not isinstance(value, str):
            raise RequestRefused(f"`{name}` is not a string")
        return value

    def number(self, name: str, default: int | None = None, *, least: int = 0) -> int:
        """An integer from `least` on."""
        value = self._get(name, default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise RequestRefused(f"`{name}` is not an integer")
        if not least <= value <= BIGGEST:
            raise RequestRefused(f"`{name}` is {value}, which is out of range")
        return value

    def flag(self, name: str, default: bool | None = None) -> bool:
        """A boolean."""
        value = self._get(name, default)
        if not isinstance(value, bool):
            raise RequestRefused(f"`{name}` is not a boolean")
        return value

    def inner(self, name: str, default: Mapping[str, object] | None = None) -> "Arguments":
        """An object."""
        value = self._get(name, default)
        if not isinstance(value, dict):
            raise RequestRefused(f"`{name}` is not an object")
        return Arguments(value)

    def rows(self, name: str, default: Sequence[object] | None = None) -> list["Arguments"]:
        """A list of objects."""
        items = self._list(name, default)
        if not all(isinstance(row, dict) for row in items):
            raise RequestRefused(f"`{name}` is not a list of objects")
        return [Arguments(row) for row in items if isinstance(row, dict)]

    def texts(self, name: str, default: Sequence[object] | None = None) -> list[str]:
        """A list of strings."""
        items = self._list(name, default)
        if not all(isinstance(row, str) for row in items):
            raise RequestRefused(f"`{name}` is not a list of strings")
        return [row for row in items if isinstance(row, str)]

    def __contains__(self, name: str) -> bool:
        """True if the argument is present and not null."""
        return self.values.get(name) is not None

    def _get(self, name: str, default: object) -> object:
        value = self.values.get(name)
        if value is None:
            value = default
        if value is None:
            raise RequestRefused(f"`{name}` is missing")
        return value

    def _list(self, name: str, default: Sequence[object] | None) -> list[object]:
        value = self._get(name, None if default is None else list(default))
        if not isinstance(value, list):
            raise RequestRefused(f"`{name}` is not a list")
        return value
