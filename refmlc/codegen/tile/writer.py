"""Lines of C with indentation."""

from collections.abc import Iterator
from contextlib import contextmanager

INDENT = "  "


class Writer:
    """Lines of C, growing."""

    def __init__(self) -> None:
        """No line yet."""
        self.lines: list[str] = []
        self._depth = 0

    def line(self, code: str) -> None:
        """Append a line."""
        self.lines.append(INDENT * self._depth + code)

    def comment(self, text: str) -> None:
        """Append a comment."""
        self.line(f"/* {text.replace('*/', '* /')} */")

    def pragma(self, text: str) -> None:
        """Append a line that must begin a line."""
        self.lines.append(f"#pragma {text}")

    def paste(self, other: "Writer") -> None:
        """Append the lines of another."""
        self.lines.extend(line if line.startswith("#") else INDENT * self._depth + line for line in other.lines)

    @contextmanager
    def block(self, head: str = "") -> Iterator[None]:
        """Lines in braces after `head`."""
        self.line(f"{head} {{" if head else "{")
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            self.line("}")
