"""A report on steps of TVM as the text of an issue: the title, one sentence, the module, the script, and the facts."""

import re
from collections.abc import Iterator

from refmlc.diag.layout import plain
from refmlc.diag.render import render_text
from refmlc.oracle.issue.document import CodeBlock, IssueText, Part, is_small, sentence
from refmlc.oracle.issue.facts import clause_parts, duplicate_parts, neighbour_parts, version_parts
from refmlc.oracle.issue.steps import StepReport
from refmlc.oracle.passes.report import stage_difference

WORDS = {"wrong": "wrong-code", "undefined": "wrong-code", "ill-formed": "invalid-ir"}
DOES = {
    "wrong": "changes a result",
    "undefined": "makes undefined code of a defined program",
    "ill-formed": "makes an ill-formed module",
}
ENDS = "ends TVM on a valid program"
DISTANCE = re.compile(r"(?<=expected )([^,]*),.*")


def issue_text(report: StepReport, script_name: str = "") -> IssueText:
    """The report as the text of an issue. `script_name`: the file that the script is written to."""
    finding = report.finding
    word = WORDS.get(finding.verdict, "crash")
    does = f"`{plain(finding.guilty)}` {DOES.get(finding.verdict, ENDS)}"
    trigger = f"{does}: {plain(_short(finding.message))}."
    sections = tuple(_sections(report, script_name))
    return IssueText(f"[Bug][{word}] {trigger.rstrip('.')}", trigger, sections, report.file.id, report.version)


def _short(message: str) -> str:
    """The part of a message that says what is wrong, without distances."""
    line = message.partition("\n")[0].rstrip(".")
    line = line.partition("is not: ")[2] or line
    return DISTANCE.sub(r"\1", line.removeprefix("the program after gives another "))


def _sections(report: StepReport, script_name: str) -> Iterator[tuple[str, list[Part]]]:
    finding = report.finding
    steps = "\n".join(map(plain, finding.steps))
    yield (
        "Module and steps",
        [f"{is_small(finding.text)}.", CodeBlock(finding.text, "python"), "The steps, in order:", CodeBlock(steps)],
    )
    if report.script is not None:
        at = f" (`{script_name}`)" if script_name else ""
        yield f"Reproduce with TVM alone{at}", [CodeBlock(report.script, "python")]
    yield "Expected", _expected(report)
    if finding.broken is not None:
        before = plain(finding.broken.before.name)
        note = f"The stage before, `{before}`, is the last one that keeps the meaning of the module."
        yield f"Cause: {plain(finding.broken.names)}", [note, CodeBlock(stage_difference(finding.broken), "diff")]
    if report.neighbours:
        yield "What passes and what fails", neighbour_parts(report.neighbours)
    yield "Versions", version_parts(report.versions)
    yield "Duplicates", duplicate_parts(report.row, report.alike, "has the same cause, executed in the same TVM")


def _expected(report: StepReport) -> list[Part]:
    """What each step must keep, what it does, and the authority for it."""
    finding = report.finding
    told = finding.message if finding.broken is None else render_text(finding.broken.diagnostic)
    found: list[Part] = [
        "A step of a schedule keeps the result of the program, or TVM refuses it.",
        CodeBlock(told),
    ]
    if report.numpy:
        found.append(sentence(report.numpy))
    return [*found, *clause_parts(report.clauses)]
