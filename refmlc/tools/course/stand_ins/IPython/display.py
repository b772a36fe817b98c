"""`Code`, a text that a notebook shows highlighted, and `HTML`, whose tags it shows as a page."""

import html
import re
import sys


class Code:
    """A text in a language."""

    def __init__(self, data: str, language: str | None = None) -> None:
        self.data = data
        self.language = language

    def __repr__(self) -> str:
        return self.data


class HTML(Code):
    """A piece of a page, shown as its text."""

    def __repr__(self) -> str:
        return html.unescape(re.sub(r"<[^>]*>", "", self.data))


def display(*objects: object) -> None:
    """Show objects."""
    for one in objects:
        sys.stdout.write(f"{one!r}\n")
