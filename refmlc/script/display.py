"""TVMScript on a terminal: coloured where it can be, plain text elsewhere (and to the letter when piped)."""

import sys

from rich.console import Console
from rich.syntax import Syntax


def display(text: str, console: Console | None = None) -> None:
    """Print TVMScript to `console` (standard output where none is given)."""
    console = Console() if console is None else console
    if console.is_terminal:
        console.print(
            Syntax(text.rstrip("\n"), "python", theme="ansi_dark", background_color="default"), soft_wrap=True
        )
    else:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
