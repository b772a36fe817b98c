"""Where a piece of text stands: `Source` (a named text) and `Span` (a range in it)."""

from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True)
class Source:
    """A named text. Compared by identity of content; `name` is what messages print before the line."""

    name: str
    text: str = field(repr=False)

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text without their ends, split as Python's tokenizer splits them."""
        return self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def line(self, number: int) -> str:
        """Line `number` (from 1), or the empty text beyond the end."""
        return self.lines[number - 1] if 1 <= number <= len(self.lines) else ""


@dataclass(frozen=True, slots=True)
class Span:
    """A range of `source`: lines count from 1, columns from 0 in characters; the end is exclusive."""

    source: Source = field(repr=False)
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def place(self) -> str:
        """`name:line:column` with the column from 1, as compilers print it."""
        return f"{self.source.name}:{self.line}:{self.column + 1}"
