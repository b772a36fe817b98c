"""A report on a program as the text of an issue: the title, one sentence, the module, the script, and the facts."""

from collections.abc import Iterator

from refmlc.diag.layout import plain
from refmlc.diag.render import render_text
from refmlc.lang.script import show
from refmlc.oracle.issue.document import CodeBlock, IssueText, Part, is_small, sentence
from refmlc.oracle.issue.facts import clause_parts, duplicate_parts, neighbour_parts, version_parts
from refmlc.oracle.issue.report import IssueReport
from refmlc.oracle.issue.subject import REPORTED
from refmlc.oracle.passes.report import stage_difference


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
    if finding.other is not None:
        how = getattr(finding.other, "label", "said otherwise")
        element = f"{finding.part.strip('`')}{index}"
        values = f"{element} is {difference.expected!r}, and {how} {difference.actual!r}"
        return f"{subject} has two results for one program: {values}."
    made = "changes a result" if report.stage is not None else "computes a wrong result"
    return f"{subject} {made}: {finding.part.strip('`')}{index} is {difference.actual!r}, not {difference.expected!r}."


def sections(report: IssueReport, script_name: str = "") -> Iterator[tuple[str, list[Part]]]:
    """The sections in order: a heading and its parts. `script_name`: the file that the script is written to."""
    small = is_small(report.text)
    unfinished = "" if report.full else "; it stopped at its limit of time"
    calls = [f"`{report.case.func}` is called with" + (":" if report.case.calls[0] else " no arguments.")]
    arguments = "\n".join(plain(str(recipe)) for recipe in report.case.calls[0])
    module: list[Part] = [f"{small}{unfinished}.", CodeBlock(report.text, "python"), *calls]
    yield "Module", [*module, *([CodeBlock(arguments)] if arguments else [])]
    other = report.finding.other
    if other is not None:
        text = show(other.module, show_meta=True).strip("\n")
        yield f"The same program, {plain(getattr(other, 'label', 'said otherwise'))}", [CodeBlock(text, "python")]
    if report.script is not None:
        at = f" (`{script_name}`)" if script_name else ""
        yield f"Reproduce with TVM alone{at}", [CodeBlock(report.script, "python")]
    yield "Expected", _expected(report)
    if report.stage is not None:
        before = report.stage.before.name
        note = f"The stage before, `{plain(before)}`, is the last one that keeps the meaning of the module."
        yield f"Cause: {plain(report.stage.names)}", [note, CodeBlock(stage_difference(report.stage), "diff")]
    elif report.stage_note:
        yield "Cause", [f"{sentence(plain(report.stage_note))}"]
    if report.neighbours:
        yield "What passes and what fails", neighbour_parts(report.neighbours)
    yield "Versions", version_parts(report.versions)
    yield "Duplicates", duplicate_parts(report.row, report.alike, "explains it, by execution")


def _expected(report: IssueReport) -> list[Part]:
    """The expected result, and the authority for it."""
    name = f"`{report.finding.implementation}`"
    found: list[Part] = [CodeBlock(render_text(report.finding.diagnostic).replace(name, report.version))]
    if report.numpy:
        found.append(report.numpy)
    return [*found, *clause_parts(report.clauses)]


def issue_text(report: IssueReport, script_name: str = "") -> IssueText:
    """The report as the text of an issue. `script_name`: the file that the script is written to."""
    parts = tuple(sections(report, script_name))
    return IssueText(title(report), trigger(report), parts, report.subject.id, report.version)
