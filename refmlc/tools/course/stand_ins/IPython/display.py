"""`Code`, a text that a notebook shows highlighted."""

import sys


class Code:
    """A text in a language."""

    def __init__(self, data: str, language: str | None = None) -> None:
        self.data = data
        self.language = language

    def __repr__(self) -> str:
        return self.data


def display(*objects: object) -> None:
    """Show objects."""
    for one in objects:
        sys.stdout.write(f"{one!r}\n")
