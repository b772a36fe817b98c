"""An issue as text: a title, one sentence, and sections; as Markdown and as HTML.

Both are made of the same parts. Text of programs stays text: in Markdown it stands in fences longer than any in it,
with what a terminal would obey replaced; in HTML it is escaped, and the page loads nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from refmlc.diag.layout import plain, safe
from refmlc.oracle.passes.report import fenced

MOST_LINES = 12
STYLE = (
    "body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color-scheme:light dark}"
    "pre{overflow:auto;border:1px solid;padding:.7em}td,th{border:1px solid;padding:.2em .6em;text-align:left}"
    "table{border-collapse:collapse}"
)
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


@dataclass(frozen=True)
class CodeBlock:
    """A block of code, verbatim."""

    text: str
    language: str = ""


@dataclass(frozen=True)
class TextTable:
    """A table of plain text."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Part = str | CodeBlock | TextTable


@dataclass(frozen=True)
class IssueText:
    """The text of an issue. `id`, `version`: of the finding, and of what it is about."""

    title: str
    trigger: str
    sections: tuple[tuple[str, list[Part]], ...]
    id: str
    version: str


def sentence(text: str) -> str:
    """The text with a capital letter and a full stop."""
    return text[:1].upper() + text[1:].rstrip(".") + "."


def is_small(text: str) -> str:
    """How many lines a module has, and whether that is as few as an issue asks for."""
    lines = len(text.strip("\n").split("\n"))
    return f"{lines} lines" if lines <= MOST_LINES else f"{lines} lines; the reduction found none with {MOST_LINES}"


# ------------------------------------------------------------------------------------------ Markdown


def as_markdown(issue: IssueText) -> str:
    """The issue as Markdown, the title as its first heading."""
    lines = [f"# {_inline(issue.title)}", "", _inline(issue.trigger), ""]
    for heading, parts in issue.sections:
        lines += [f"## {_inline(heading)}", ""]
        for part in parts:
            lines += [*_markdown(part), ""]
    lines += [f"Recorded as `{plain(issue.id)}` by refmlc, {issue.version}."]
    return "\n".join(lines) + "\n"


def _markdown(part: Part) -> Sequence[str]:
    match part:
        case CodeBlock(text, language):
            return fenced(safe(text), language)
        case TextTable(head, rows):
            return [_row(head), _row(("---",) * len(head)), *map(_row, rows)]
        case _:
            return [_inline(part)]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(_inline(cell).replace('|', chr(92) + '|') for cell in cells)} |"


def _inline(text: str) -> str:
    """Text in a line of Markdown, in which no markup of a program starts a tag, a link or a picture."""
    return plain(" ".join(text.split())).replace("<", "&lt;").replace("](", "]&#40;")


# ------------------------------------------------------------------------------------------ HTML


def as_html(issue: IssueText) -> str:
    """The issue as a page that loads nothing."""
    name = escape(issue.title)
    body = [f"<h1>{name}</h1>", f"<p>{_code(issue.trigger)}</p>"]
    for heading, parts in issue.sections:
        body += [f"<h2>{_code(heading)}</h2>", *map(_html, parts)]
    body.append(f"<p>Recorded as <code>{escape(plain(issue.id))}</code> by refmlc, {escape(issue.version)}.</p>")
    head = f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}<title>{name}</title><style>{STYLE}</style></head>\n<body>\n'
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _html(part: Part) -> str:
    match part:
        case CodeBlock(text, _):
            return f"<pre>{escape(safe(text))}</pre>"
        case TextTable(head, rows):
            heads = "".join(f"<th>{_code(cell)}</th>" for cell in head)
            lines = "".join(f"<tr>{''.join(f'<td>{_code(cell)}</td>' for cell in row)}</tr>" for row in rows)
            return f"<table><tr>{heads}</tr>{lines}</table>"
        case _:
            return f"<p>{_code(part)}</p>"


def _code(text: str) -> str:
    """Escaped text, in which a pair of backquotes is code."""
    pieces = escape(plain(text)).split("`")
    if len(pieces) % 2 == 0:
        return "`".join(pieces)
    return "".join(f"<code>{piece}</code>" if number % 2 else piece for number, piece in enumerate(pieces))
