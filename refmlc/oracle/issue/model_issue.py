"""A report on an importer as the text of an issue: the title, one sentence, the model, the script, and the facts."""

from collections.abc import Iterator

from refmlc.diag.layout import plain
from refmlc.oracle.fuzz.subjects.imports.import_kinds import KINDS
from refmlc.oracle.issue.document import CodeBlock, IssueText, Part, is_small
from refmlc.oracle.issue.facts import duplicate_parts, neighbour_parts, version_parts
from refmlc.oracle.issue.model import ModelReport

WORDS = {"RM703": "crash", "RM707": "import"}
DOES = {
    "crashed": "ends TVM",
    "failed": "raises an error",
    "count": "has another number of results",
    "dtype": "has a result of another dtype",
    "shape": "has a result of another shape",
    "nan": "has other NaN or infinities",
    "value": "has another result",
}


def issue_text(report: ModelReport, script_name: str = "") -> IssueText:
    """The report as the text of an issue. `script_name`: the file that the script is written to."""
    does = DOES.get(report.how, report.how)
    framework = KINDS[report.file.kind].framework
    meant = f", where {framework} has {plain(report.expected)}" if report.code not in WORDS else ""
    trigger = f"The importer of {framework} {does} for `{plain(report.operators)}`: {plain(report.found)}{meant}."
    word = WORDS.get(report.code, "wrong-code")
    sections = tuple(_sections(report, script_name))
    return IssueText(f"[Bug][{word}] {trigger.rstrip('.')}", trigger, sections, report.file.id, report.version)


def _sections(report: ModelReport, script_name: str) -> Iterator[tuple[str, list[Part]]]:
    kind = KINDS[report.file.kind]
    called = [CodeBlock("\n".join(map(plain, report.arguments)))] if report.arguments else []
    yield "Model", [f"{is_small(report.text)}.", CodeBlock(report.text), "It is called with:", *called]
    if report.script is not None:
        at = f" (`{script_name}`)" if script_name else ""
        yield f"Reproduce with TVM and {kind.framework} alone{at}", [CodeBlock(report.script, "python")]
    results = f"{kind.witness}: {plain(report.expected)}\n{plain(report.version)}: {plain(report.found)}"
    yield "Expected", [f"{kind.witness} executes the model too:", CodeBlock(results)]
    if report.neighbours:
        yield "What passes and what fails", neighbour_parts(report.neighbours)
    yield "Versions", version_parts(report.versions)
    yield "Duplicates", duplicate_parts(report.row, (), "has the same operator, words and kind of difference")
