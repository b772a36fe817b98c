"""The arguments of a request, read as the expected types. Any other value is refused with a message.

| method                          | takes                                   |
|---------------------------------|-----------------------------------------|
| `text`, `number`, `flag`        | a string, an integer, a boolean         |
| `inner`, `rows`, `texts`        | an object, a list of objects, of strings |

A default makes an argument optional; without one it is required.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

NOT_STOPPED: Final = "notStopped"
CANCELLED: Final = "cancelled"
T = TypeVar("T")
BIGGEST = 1 << 53  # integers that every client represents exactly


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
        """The string `name`."""
        return self._of_type(name, default, str, "a string")

    def number(self, name: str, default: int | None = None, *, least: int = 0) -> int:
        """The integer `name`, from `least` on."""
        value = self._of_type(name, default, int, "an integer")
        if isinstance(value, bool):
            raise RequestRefused(f"`{name}` is not an integer")
        if not least <= value <= BIGGEST:
            raise RequestRefused(f"`{name}` is {value}, which is out of range")
        return value

    def flag(self, name: str, default: bool | None = None) -> bool:
        """The boolean `name`."""
        return self._of_type(name, default, bool, "a boolean")

    def inner(self, name: str, default: Mapping[str, object] | None = None) -> "Arguments":
        """The object `name`."""
        return Arguments(self._of_type(name, default, dict, "an object"))

    def rows(self, name: str, default: Sequence[object] | None = None) -> list["Arguments"]:
        """The list of objects `name`."""
        return [Arguments(row) for row in self._list(name, default, dict, "objects")]

    def texts(self, name: str, default: Sequence[object] | None = None) -> list[str]:
        """The list of strings `name`."""
        return self._list(name, default, str, "strings")

    def __contains__(self, name: str) -> bool:
        """True if the argument is present and not null."""
        return self.values.get(name) is not None

    def _of_type(self, name: str, default: object, kind: type[T], noun: str) -> T:
        value = self.values.get(name)
        if value is None:
            value = default
        if value is None:
            raise RequestRefused(f"`{name}` is missing")
        if not isinstance(value, kind):
            raise RequestRefused(f"`{name}` is not {noun}")
        return value

    def _list(self, name: str, default: Sequence[object] | None, kind: type[T], noun: str) -> list[T]:
        items: list[object] = self._of_type(name, None if default is None else list(default), list, "a list")
        values = [item for item in items if isinstance(item, kind)]
        if len(values) < len(items):
            raise RequestRefused(f"`{name}` is not a list of {noun}")
        return values
