"""The program as HTML: coloured by Pygments, with line numbers and remarks at marked lines."""

from dataclasses import dataclass

from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

LIGHT, DARK = "default", "github-dark"
WIDEST = 2000  # characters of a line that are shown


@dataclass(frozen=True)
class Mark:
    """A line of the program that matters. Lines count from 1."""

    line: int
    why: str


@dataclass(frozen=True)
class ListingLine:
    """A line: its number, HTML and remarks."""

    number: int
    html: Markup
    marks: tuple[str, ...]


def lines_of(text: str, marks: list[Mark]) -> list[ListingLine]:
    """The lines of a program. Everything of the text is escaped by Pygments."""
    shortened = "\n".join(line[:WIDEST] for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    lexer = PythonLexer(stripnl=False, ensurenl=False)
    formatter = HtmlFormatter(nowrap=True)
    html = [highlight(line, lexer, formatter) for line in shortened.split("\n")]
    while html and not html[-1].strip():
        html.pop()
    reasons: dict[int, list[str]] = {}
    for mark in marks:
        if mark.why not in reasons.setdefault(mark.line, []):
            reasons[mark.line].append(mark.why)
    return [
        ListingLine(number, Markup(line.rstrip("\n")), tuple(reasons.get(number, ())))  # noqa: S704 - escaped by Pygments
        for number, line in enumerate(html, 1)
    ]


def style(name: str) -> str:
    """The rules of a style of Pygments, for tokens alone."""
    rules = HtmlFormatter(style=name, nobackground=True).get_style_defs(".code").split("\n")
    return "\n".join(rule for rule in rules if rule.startswith(".code ."))
