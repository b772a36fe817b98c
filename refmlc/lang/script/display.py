"""TVMScript on a terminal: coloured where it can be, plain text elsewhere (and to the letter when piped); as HTML."""

import sys
from html import escape

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


def highlighted(text: str) -> str:
    """TVMScript as HTML, highlighted where pygments is installed (extra `report`)."""
    try:
        from pygments import highlight  # noqa: PLC0415 - an extra
        from pygments.formatters import HtmlFormatter  # noqa: PLC0415 - the same
        from pygments.lexers import PythonLexer  # noqa: PLC0415 - the same
    except ImportError:
        return f"<pre>{escape(text)}</pre>"
    result: str = highlight(text, PythonLexer(), HtmlFormatter(noclasses=True))
    return result
