"""A report as text: the title, one sentence, the module, the script, and the facts; as Markdown and as HTML.

Both are made of the same sections. Text of programs stays text: in Markdown it stands in fences longer than any in it,
with what a terminal would obey replaced; in HTML it is escaped, and the page loads nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from refmlc.diag.layout import plain, safe
from refmlc.diag.render import render_text
from refmlc.oracle.issue.report import IssueReport
from refmlc.oracle.issue.subject import REPORTED
from refmlc.oracle.passes.report import fenced, stage_difference

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


def title(report: IssueReport) -> str:
    """The title of the issue."""
    word = REPORTED[report.subject.code]
    return f"[Bug][{word}] {plain(trigger(report)).rstrip('.')}"


def trigger(report: IssueReport) -> str:
    """What happens, in one sentence."""
    finding, difference = report.finding, report.finding.verdict.difference
    subject = report.stage.names if report.stage is not None else report.version
    if difference is None:
        how = finding.verdict.why or finding.verdict.kind.value
        return f"{report.version} does not run a valid program: {how.split(chr(10))[0]}."
    index = f"[{', '.join(map(str, difference.index))}]" if difference.index else ""
    made = "changes a result" if report.stage is not None else "computes a wrong result"
    return f"{subject} {made}: {finding.part.strip('`')}{index} is {difference.actual!r}, not {difference.expected!r}."


def sections(report: IssueReport, script_name: str = "") -> Iterator[tuple[str, list[Part]]]:
    """The sections in order: a heading and its parts. `script_name`: the file that the script is written to."""
    lines = len(report.text.split("\n"))
    small = f"{lines} lines" if lines <= MOST_LINES else f"{lines} lines; the reduction found none with {MOST_LINES}"
    unfinished = "" if report.full else "; it stopped at its limit of time"
    calls = [f"`{report.case.func}` is called with" + (":" if report.case.calls[0] else " no arguments.")]
    arguments = "\n".join(plain(str(recipe)) for recipe in report.case.calls[0])
    module: list[Part] = [f"{small}{unfinished}.", CodeBlock(report.text, "python"), *calls]
    yield "Module", [*module, *([CodeBlock(arguments)] if arguments else [])]
    if report.script is not None:
        at = f" (`{script_name}`)" if script_name else ""
        yield f"Reproduce with TVM alone{at}", [CodeBlock(report.script, "python")]
    yield "Expected", _expected(report)
    if report.stage is not None:
        before = report.stage.before.name
        note = f"The stage before, `{plain(before)}`, is the last one that keeps the meaning of the module."
        yield f"Cause: {plain(report.stage.names)}", [note, CodeBlock(stage_difference(report.stage), "diff")]
    elif report.stage_note:
        yield "Cause", [f"{_sentence(plain(report.stage_note))}"]
    if report.neighbours:
        rows = tuple((each.name, "ok" if each.right else "fails", plain(each.word)) for each in report.neighbours)
        yield "What passes and what fails", [TextTable(("instead", "", "verdict"), rows)]
    yield "Versions", _versions(report)
    yield "Duplicates", _duplicates(report)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."


def _expected(report: IssueReport) -> list[Part]:
    """The expected result, and the authority for it."""
    name = f"`{report.finding.implementation}`"
    found: list[Part] = [CodeBlock(render_text(report.finding.diagnostic).replace(name, report.version))]
    if report.numpy:
        found.append(report.numpy)
    rows = tuple((each.id, each.title, each.text) for each in report.clauses)
    if rows:
        found += ["The rules that decide, of refmlc's specification:", TextTable(("clause", "of", "says"), rows)]
        sources = dict.fromkeys(f"{each.id}: {each.source}" for each in report.clauses if each.source)
        found += [f"Sources: {'; '.join(sources)}."] if sources else []
    return found


def _versions(report: IssueReport) -> list[Part]:
    rows = tuple(
        (each.version, "affected" if each.affected else "not affected", f"{plain(each.word)}{_inferred(each.inferred)}")
        for each in report.versions
    )
    return [TextTable(("version", "", "verdict"), rows)]


def _inferred(inferred: bool) -> str:
    return " (not run: it lies between versions with this verdict)" if inferred else ""


def _duplicates(report: IssueReport) -> list[Part]:
    """The recorded rows."""
    found: list[Part] = []
    if report.row:
        found.append(f"This is on record: `{plain(report.row)}` of `conformance/known` explains it, by execution.")
    else:
        found.append("No row of `conformance/known` explains it.")
    if report.alike:
        rows = tuple((each.id, each.title) for each in report.alike)
        found += ["Rows that look alike, to be read before this is filed:", TextTable(("row", "title"), rows)]
    return found


# ------------------------------------------------------------------------------------------ Markdown


def markdown(report: IssueReport, script_name: str = "") -> str:
    """The report as Markdown, the title as its first heading."""
    lines = [f"# {_inline(title(report))}", "", _inline(trigger(report)), ""]
    for heading, parts in sections(report, script_name):
        lines += [f"## {_inline(heading)}", ""]
        for part in parts:
            lines += [*_markdown(part), ""]
    lines += [f"Recorded as `{plain(report.subject.id)}` by refmlc, {report.version}."]
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


def html(report: IssueReport, script_name: str = "") -> str:
    """The report as a page that loads nothing."""
    name = escape(title(report))
    body = [f"<h1>{name}</h1>", f"<p>{_code(trigger(report))}</p>"]
    for heading, parts in sections(report, script_name):
        body += [f"<h2>{_code(heading)}</h2>", *map(_html, parts)]
    body.append(
        f"<p>Recorded as <code>{escape(plain(report.subject.id))}</code> by refmlc, {escape(report.version)}.</p>"
    )
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
