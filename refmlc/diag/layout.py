"""Cells of a terminal: how wide a piece of text is, which characters are unsafe to show, what part of a line to show.

| character                           | shown as                         | cells |
|-------------------------------------|----------------------------------|-------|
| tab                                 | blanks to the next multiple of 4 | 1 … 4 |
| control, format, surrogate, unknown | U+FFFD                           | 1     |
| East Asian wide or full width       | itself                           | 2     |
| combining mark                      | itself                           | 0     |
| any other                           | itself                           | 1     |
"""

import re
import unicodedata
from dataclasses import dataclass

TAB = 4
UNSAFE = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
REPLACEMENT = "\ufffd"
BEFORE, LONGEST = 80, 200
DOUBTFUL = re.compile(r"\r\n|[^\n\t\x20-\x7e]+")


@dataclass(frozen=True, slots=True)
class ClippedLine:
    """A line as shown, and the cells that a range of it takes: start inclusive, end exclusive."""

    text: str
    start: int
    end: int


def plain(text: str) -> str:
    """`text` on one line, without what a terminal would obey."""
    return "".join(REPLACEMENT if unicodedata.category(char) in UNSAFE else char for char in text)


def safe(text: str) -> str:
    """`text` without what a terminal would obey; its lines and tabs stay."""
    return DOUBTFUL.sub(lambda found: "\n" if found[0] == "\r\n" else plain(found[0]), text)


def plain_lines(text: str) -> list[str]:
    """`plain` of each line; at least one line."""
    return [plain(line) for line in text.split("\n")]


def clipped(line: str, column: int, end_column: int) -> ClippedLine:
    """The part of `line` around columns `column` … `end_column`, and where these stand in it.

    Units: columns count characters from 0. A caret after the end of the line takes one cell.
    """
    low = max(0, column - BEFORE) if len(line) > LONGEST else 0
    high = min(len(line), low + LONGEST)
    shown: list[str] = ["…"] if low else []
    cells = len(shown)
    start = end = cells
    for index in range(low, high):
        if index == column:
            start = cells
        text, width = _cell(line[index], cells)
        shown.append(text)
        cells += width
        if index < end_column:
            end = cells
    if column >= high:
        start = cells
    if high < len(line):
        shown.append("…")
    return ClippedLine("".join(shown), start, max(end, start + 1))


def _cell(char: str, cells: int) -> tuple[str, int]:
    """How `char` is shown after `cells` cells, and how many it takes."""
    if char == "\t":
        width = TAB - cells % TAB
        return " " * width, width
    if " " <= char <= "~":
        return char, 1
    category = unicodedata.category(char)
    if category in UNSAFE:
        return REPLACEMENT, 1
    if category in ("Mn", "Me"):
        return char, 0
    return char, 2 if unicodedata.east_asian_width(char) in "WF" else 1
