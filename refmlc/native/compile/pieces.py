"""A translation unit as several that are compiled side by side and linked.

| of the text          | goes                                                              |
|----------------------|-------------------------------------------------------------------|
| lines outside        | into every piece                                                  |
| a function           | into one piece; other pieces that name it declare it              |
| entries              | into one piece together: they share a variable of `rm_python.h`   |
| comments             | nowhere                                                           |

The text has passed the wall (`wall`), so functions and lines outside of them are what the wall says they are. gcc
inlines no function that a library exports, so nothing is lost.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from refmlc.native.compile.wall import COMMENT, FUNCTION, WORD

SMALLEST: Final = 1 << 15
"""Characters of a piece: gcc needs a quarter of a second for them, and a tenth of that for the headers."""

ENTRY: Final = "entry_"
"""How the names of entries begin (`refmlc.native.entries`)."""


@dataclass(frozen=True, slots=True)
class FunctionText:
    """A function of the text. `place`: its number."""

    place: int
    name: str
    text: str

    @property
    def declaration(self) -> str:
        """Its declaration."""
        return f"{self.text.partition(' {')[0]};"


def pieces(text: str, most: int) -> list[str]:
    """`text` in at most `most` pieces of like length, none of them small; itself where it is one piece."""
    most = min(most, len(text) // SMALLEST)
    if most < 2:
        return [text]
    code = COMMENT.sub(" ", text)
    functions = [FunctionText(place, match[1], match[0]) for place, match in enumerate(FUNCTION.finditer(code))]
    head = FUNCTION.sub("", code)
    return [_piece(head, group, functions) for group in _groups(functions, most) if group]


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _groups(functions: list[FunctionText], count: int) -> list[list[FunctionText]]:
    """`functions` in groups of like length: the longest first, each to the shortest group."""
    groups: list[list[FunctionText]] = [[] for _ in range(count)]
    entries = [function for function in functions if function.name.startswith(ENTRY)]
    others = [[function] for function in functions if not function.name.startswith(ENTRY)]
    for together in sorted((*others, entries), key=_length, reverse=True):
        min(groups, key=_length).extend(together)
    return groups


def _length(functions: list[FunctionText]) -> int:
    """Characters of functions."""
    return sum(len(function.text) for function in functions)


def _piece(head: str, group: list[FunctionText], functions: list[FunctionText]) -> str:
    return "\n".join((head, *_declarations(group, functions), *(f.text for f in _ordered(group)), ""))


def _ordered(group: list[FunctionText]) -> list[FunctionText]:
    """The functions in the order of the text: each is defined before it is called."""
    return sorted(group, key=lambda function: function.place)


def _declarations(group: list[FunctionText], functions: list[FunctionText]) -> Iterator[str]:
    """Of the functions that `group` names and does not have."""
    words = {word for function in group for word in WORD.findall(function.text)}
    names = {function.name for function in group}
    yield from (f.declaration for f in functions if f.name in words and f.name not in names)
