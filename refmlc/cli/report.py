"""`refmlc report FINDING`: the issue text of a finding, in the form in which maintainers close it quickly."""

from pathlib import Path

import click

from refmlc.cli.console import err, out, print_json
from refmlc.cli.options import PATH, Duration, file_argument, impl_option, json_option, trust_option
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE, BAD_USAGE
from refmlc.oracle.check.model import model_of
from refmlc.oracle.evidence.case_file import LARGEST_CASE, read_case
from refmlc.oracle.evidence.recorded_model import needs_model
from refmlc.oracle.fuzz.finding_file import TracedFindingFile, is_finding, read_traced
from refmlc.oracle.fuzz.subjects.imports.imported_model import ModelFindingFile, read_model
from refmlc.oracle.implementations.lookup import trusted
from refmlc.oracle.issue import (
    AnyReport,
    IssueReport,
    IssueSubject,
    ModelReport,
    StepReport,
    finding_of_case,
    html,
    issue_text,
    markdown,
    model_report,
    read_subject,
    report_of,
    steps_report,
)
from refmlc.system.regular import read_text

IMPL = "The implementation, as tvm:PYTHON; further ones are other versions of it. [default: the one in FILE]"


@click.command("report", epilog="Example: refmlc report finding.toml --impl tvm:PYTHON -o issue.md")
@file_argument
@impl_option(IMPL, "specs")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write Markdown here, besides the page (.html) and the script (.py).  [default: print Markdown]",
)
@click.option("--model", "model", type=PATH, help="The model (.onnx) that a finding of `check MODEL` is on.")
@click.option("--time", "seconds", type=Duration(), default="60s", show_default=True, help="Time for the reduction.")
@trust_option
@json_option
def report(
    file: Path,
    specs: tuple[str, ...],
    output: Path | None,
    *,
    model: Path | None,
    seconds: float,
    trust: bool,
    as_json: bool,
) -> None:
    """Write the report of the finding in FILE: what a maintainer needs to see the bug, and to find its cause.

    FILE is a case of `check --case`, or a finding of `fuzz`. The report has a small module, a script with TVM alone,
    neighbours that pass and fail, the pass or primitive that changes the meaning, the versions affected, the rules that
    decide, and rows of known deviations. A case on the import of a model needs that model: `--model`. An external
    program that only FILE names is started with `--trust` only.
    """
    text = _text(file)
    subject = _subject(text, file, model, trust=trust)
    if not specs:
        trusted(subject.specs, file, trust=trust)
    chosen = specs or subject.specs
    if not chosen:
        raise fail(BAD_USAGE, f"`{file}` names no implementation: `--impl tvm:PYTHON` does")
    facts: AnyReport
    with err.status(f"{file} …") as status:

        def progress(what: str) -> None:
            status.update(f"{file}: {what} …")

        if isinstance(subject, TracedFindingFile):
            facts = steps_report(subject, chosen, seconds=seconds, progress=progress)
        elif isinstance(subject, ModelFindingFile):
            facts = model_report(subject, chosen, seconds=seconds, progress=progress)
        else:
            facts = report_of(subject, chosen, seconds=seconds, progress=progress)
    _write(facts, output)
    if as_json:
        print_json(_as_json(facts))
    elif output is None:
        out.print(markdown(facts))


def _subject(
    text: str, file: Path, model: Path | None, *, trust: bool
) -> TracedFindingFile | ModelFindingFile | IssueSubject:
    """What the text of a file records. Fails: RM109; RM112 for a missing `model`, and one that nothing needs."""
    if is_finding(text):
        if model is not None:
            raise fail(BAD_USAGE, f"`{file}` is a finding of a campaign, which needs no `--model`")
        return read_traced(text) or read_model(text) or read_subject(text, str(file))
    case = read_case(text, str(file))
    if not needs_model(case):
        if model is not None:
            raise fail(BAD_USAGE, f"{case.place} is not on the import of a model: it needs no `--model`")
        return read_subject(text, str(file))
    if model is None:
        message = f"{case.place} is a finding on an importer, of which the case has the module alone"
        raise fail(BAD_USAGE, message, None, "`--model FILE` names the model that was checked")
    return finding_of_case(case, model_of(model, trust=trust))


def _text(file: Path) -> str:
    try:
        return read_text(file, LARGEST_CASE)
    except (OSError, UnicodeDecodeError) as problem:
        raise fail(BAD_FILE, f"`{file}`: {getattr(problem, 'strerror', None) or problem}") from None


def _write(facts: AnyReport, output: Path | None) -> None:
    """Write the report, the page and the script. Fails: RM109."""
    if output is None:
        return
    script = output.with_suffix(".py") if facts.script is not None else None
    texts = {output: markdown(facts, script.name if script else "")}
    texts[output.with_suffix(".html")] = html(facts, script.name if script else "")
    if script is not None and facts.script is not None:
        texts[script] = facts.script
    for path, text in texts.items():
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as problem:
            raise fail(BAD_FILE, f"`{path}`: {problem.strerror}") from None
        err.print(f"{path}", style="dim")


def _as_json(facts: AnyReport) -> dict[str, object]:
    """The report as JSON."""
    match facts:
        case ModelReport():
            return _data_of_model(facts)
        case StepReport():
            return _data_of_steps(facts)
        case _:
            return _data(facts)


def _data(facts: IssueReport) -> dict[str, object]:
    """The report as JSON."""
    return {
        "id": facts.subject.id,
        "title": issue_text(facts).title,
        "code": facts.subject.code,
        "version": facts.version,
        "module": facts.text,
        "func": facts.case.func,
        "arguments": [str(recipe) for recipe in facts.case.calls[0]],
        "verdict": str(facts.finding.verdict),
        "pass": None if facts.stage is None else facts.stage.name,
        "pass_note": facts.stage_note,
        "neighbours": [{"name": each.name, "ok": each.right, "verdict": each.word} for each in facts.neighbours],
        "versions": [vars(each) for each in facts.versions],
        "clauses": [each.id for each in facts.clauses],
        "numpy": facts.numpy,
        "known": facts.row,
        "alike": [each.id for each in facts.alike],
        "script": facts.script,
    }


def _data_of_steps(facts: StepReport) -> dict[str, object]:
    """The report on steps as JSON."""
    finding = facts.finding
    return {
        "id": facts.file.id,
        "title": issue_text(facts).title,
        "code": finding.code,
        "version": facts.version,
        "module": finding.text,
        "steps": list(finding.steps),
        "func": finding.broken.func if finding.broken is not None else "",
        "arguments": [],
        "verdict": finding.message,
        "pass": finding.guilty,
        "pass_note": "",
        "neighbours": [{"name": each.name, "ok": each.right, "verdict": each.word} for each in facts.neighbours],
        "versions": [vars(each) for each in facts.versions],
        "clauses": [each.id for each in facts.clauses],
        "numpy": facts.numpy,
        "known": facts.row,
        "alike": [each.id for each in facts.alike],
        "script": facts.script,
    }


def _data_of_model(facts: ModelReport) -> dict[str, object]:
    """The report on a model as JSON."""
    return {
        "id": facts.file.id,
        "title": issue_text(facts).title,
        "code": facts.code,
        "version": facts.version,
        "module": facts.text,
        "func": "main",
        "arguments": list(facts.arguments),
        "verdict": f"{facts.how}: {facts.found}, meant {facts.expected}",
        "pass": None,
        "pass_note": "",
        "neighbours": [{"name": each.name, "ok": each.right, "verdict": each.word} for each in facts.neighbours],
        "versions": [vars(each) for each in facts.versions],
        "clauses": [],
        "numpy": "",
        "known": facts.row,
        "alike": [],
        "script": facts.script,
    }
