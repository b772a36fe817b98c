"""The work of `refmlc check`: examine every function of every file, report as tables or data, write evidence.

With several files, an unreadable file or one that the options do not fit is reported, and the others are examined.
`--report` and `--case` write a file per finding: the first to the named file, the second to one with `-2` before the
suffix, and so on.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from refmlc.cli.check_files import Adoption, Selection
from refmlc.cli.console import INTERRUPTED, err, out, print_json, report_failure, show_diagnostic, show_notes
from refmlc.cli.sources import Source
from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.diag.render import note_json, to_json
from refmlc.lang.ir import IRModule
from refmlc.oracle.check.baseline import BaselineFile
from refmlc.oracle.check.causes import FunctionResult
from refmlc.oracle.check.program import known_params
from refmlc.oracle.check.purposes import purposes_text
from refmlc.oracle.check.report import COLUMNS, NO_ARGUMENTS, CheckReport, many
from refmlc.oracle.check.run import DEFAULT_PATHS, CheckOptions, examined, functions, shown_names
from refmlc.oracle.contracts.assumptions import assumed_beside, known_assumptions
from refmlc.oracle.evidence import case_text, write_page
from refmlc.oracle.finding import Finding
from refmlc.oracle.findings import CheckedFile
from refmlc.oracle.implementations.implementation import Implementation
from refmlc.oracle.implementations.lookup import implementation

COLOURS = {
    "defined": "green",
    "equal": "green",
    "permitted": "green",
    "order of evaluation": "green",
    "wrong": "bold red",
    "undefined": "red",
    "refused": "bold red",
    "compiler error": "bold red",
    "crashed at run time": "bold red",
    "hung": "bold red",
}


MOST_EVIDENCE = 20


@dataclass(frozen=True)
class Evidence:
    """Where findings are written; None: nowhere. `adoption`: what is accepted, and files for other tools."""

    page: Path | None = None
    case: Path | None = None
    adoption: Adoption = field(default_factory=Adoption)


@dataclass(frozen=True)
class Result:
    """A file with its report or failure. `unchecked`: functions that were not examined because of an interrupt."""

    source: Source
    report: CheckReport | None = None
    failure: RefmlcError | None = None
    unchecked: tuple[str, ...] = ()

    @property
    def checked(self) -> CheckedFile:
        """The same for other tools."""
        return CheckedFile(self.source.path, self.report, self.failure, self.source.suffix)

    def with_baseline(self, baseline: BaselineFile | None) -> "Result":
        """The result, of which a baseline accepts findings."""
        if baseline is None or self.report is None:
            return self
        return replace(self, report=replace(self.report, baseline=baseline.of_file(self.checked.place)))

    @property
    def status(self) -> int:
        """The exit status for this file alone."""
        return self.report.status if self.report is not None else self.failure.exit_code if self.failure else 0


def run_check(
    selection: Selection,
    func: str | None,
    impls: Sequence[str | Implementation],
    choices: CheckOptions,
    evidence: Evidence,
    *,
    as_json: bool,
) -> int:
    """Check the selected modules and report; returns the exit status of the worst file, a finding first.

    Where no file is selected, nothing is checked and the status is 0.
    """
    inputs, skipped = selection.sources()
    inputs = [part for source in inputs for part in source.parts()]
    alone = len(inputs) == 1 and not skipped and selection.revision is None
    results: list[Result] = []
    try:
        with ExitStack() as stack:
            paths = [_opened(spec, choices, stack) for spec in impls or DEFAULT_PATHS]
            for result in _results(inputs, func, choices, paths, alone=alone):
                results.append(result.with_baseline(evidence.adoption.baseline))
                if not as_json:
                    _show(results[-1], alone=alone)
    except RefmlcError as failure:
        if alone:
            evidence.adoption.write([CheckedFile(inputs[0].path, failure=failure)])
        raise
    if as_json:
        print_json(_data(results[0]) if alone else {"files": [_data(result) for result in results], "skipped": skipped})
    elif not alone:
        _show_totals(results, skipped)
    write_evidence(evidence, [result.report for result in results if result.report is not None])
    accepted = evidence.adoption.finish([result.checked for result in results])
    unchecked = [*results[-1].unchecked, *(source.place for source in inputs[len(results) :])] if results else []
    if unchecked:
        err.print(f"interrupted: {', '.join(unchecked)} not checked")
        return INTERRUPTED
    return _status([result.with_baseline(accepted) for result in results])


def _opened(spec: str | Implementation, choices: CheckOptions, stack: ExitStack) -> Implementation:
    """An implementation by its name, closed with the stack; one that is open stays so."""
    if not isinstance(spec, str):
        return spec
    return stack.enter_context(closing(implementation(spec, choices.limits, kept=True)))


def _status(results: Sequence[Result]) -> int:
    """The exit status of the worst file, a finding first."""
    statuses = {result.status for result in results}
    return next((status for status in (1, 70, 2, 4, 3) if status in statuses), 0)


def _results(
    inputs: Sequence[Source], func: str | None, choices: CheckOptions, paths: Sequence[Implementation], *, alone: bool
) -> Iterator[Result]:
    """The results of the files, up to an interrupt. An interrupt before the first result is raised."""
    for number, source in enumerate(inputs):
        try:
            result = _result(source, func, choices, paths, alone=alone)
        except KeyboardInterrupt:
            if number == 0:
                raise
            return
        yield result
        if result.unchecked:
            return


def _result(
    source: Source, func: str | None, choices: CheckOptions, paths: Sequence[Implementation], *, alone: bool
) -> Result:
    """The result of a file. Fails, if it is the only one: as reading does; RM111, RM112."""
    try:
        if source.is_model:
            return _model_result(source, func, choices, paths)
        module = source.read()
        choices = with_contracts(choices, source.path)
        known_params(module, choices.request)
        known_assumptions(module, choices.request.assume)
        names = tuple(functions(module, func))
        rows = _rows(module, names, choices, paths)
    except RefmlcError as failure:
        if alone:
            raise
        return Result(source, failure=failure)
    title = source.title if alone else source.place
    report = CheckReport(title, tuple(rows), shown_names(paths), choices.strict, choices.named)
    return Result(source, report, unchecked=names[len(rows) :])


def with_contracts(choices: CheckOptions, path: Path) -> CheckOptions:
    """The options with the contracts beside a module. Fails: RM109, RM112."""
    assume = (*choices.request.assume, *assumed_beside(path))
    return replace(choices, request=replace(choices.request, assume=assume))


def _model_result(source: Source, func: str | None, choices: CheckOptions, paths: Sequence[Implementation]) -> Result:
    """The result of a model; what runs is shown line by line. Fails: as reading does; RM111, RM112."""
    progress(f"{source.title}: import")
    model = source.model(choices.limits)
    options = model.options(choices)
    names = tuple(functions(model.module, func))
    with ExitStack() as stack:
        ways = [*paths, *(stack.enter_context(closing(way)) for way in model.ways(options))]
        absent: list[str] = []
        for importer in filter(None, (model.importer(path.name, options.limits) for path in paths)):
            stack.enter_context(closing(importer))
            if importer.missing:
                absent.append(f"TVM's importer is not compared: its Python has no {importer.missing}")
            else:
                ways.append(importer)
        rows = [model.judged(row, absent) for row in _rows(model.module, names, options, ways, source.title)]
        report = CheckReport(source.title, tuple(rows), shown_names(ways), options.strict, options.named)
    return Result(source, report, unchecked=names[len(rows) :])


def progress(what: str) -> None:
    """Say on standard error what runs now."""
    err.print(f"{what} …", style="dim")


def _rows(
    module: IRModule, names: Sequence[str], choices: CheckOptions, paths: Sequence[Implementation], model: str = ""
) -> list[FunctionResult]:
    """The examined functions, up to an interrupt. An interrupt before the first result is raised.

    `model`: the file of a model, of which lines say what runs.
    """
    told = (lambda what: progress(f"{model}: {what}")) if model else (lambda _what: None)
    rows: list[FunctionResult] = []
    try:
        for name in names:
            with err.status(f"checking {name} …"):
                rows.append(examined(module, name, choices, paths, told))
    except KeyboardInterrupt:
        if not rows:
            raise
    return rows


def _show(result: Result, *, alone: bool) -> None:
    """Print the table, the purposes, remarks, findings, and a summary; `alone`: the reasons of purposes too."""
    show_notes(result.source.notes)
    if result.failure is not None:
        report_failure(result.failure, as_json=False)
    if result.report is None:
        return
    out.print(table(result.report), soft_wrap=False)
    for line in purposes_text(result.report.purposes(), result.report.reasons if alone else {}):
        out.print(line)
    for line in result.report.contracts:
        out.print(Text(line))
    for remark in result.report.remarks:
        out.print(remark)
    for diagnostic in result.report.findings:
        out.print()
        show_diagnostic(diagnostic, out)
    out.print(f"\n{result.report.summary}")


def table(report: CheckReport) -> Table:
    """The verdicts in colour."""
    painted = Table(title=Text(report.title), title_justify="left")
    for column in COLUMNS:
        painted.add_column(column, overflow="fold")
    for line in report.table():
        counts = [
            Text(f"{count} {word}", style=COLOURS.get(word.partition(" (")[0], "yellow")) for count, word in line.counts
        ]
        calls = Text(", ").join(counts) if counts else Text(NO_ARGUMENTS, style="yellow")
        function = Text(line.function, style="" if line.path == "meaning" else "dim")
        painted.add_row(
            function,
            Text(line.path),
            calls,
            Text(line.proof, style="green" if line.proof.startswith("all") else ""),
            Text(line.sanitizer),
        )
    return painted


def _show_totals(results: Sequence[Result], skipped: int) -> None:
    """Print the number of files per exit status, in one line."""
    counts = Counter(result.status for result in results)
    words = {1: "with findings", 2: "not read", 3: "not compared", 0: "without a finding"}
    parts = [f"{counts[status]} {words.get(status, f'with status {status}')}" for status in sorted(counts)]
    omitted = f"; {many(skipped, 'file')} without TVMScript skipped" if skipped else ""
    click.echo(f"\n{many(len(results), 'file')}: {', '.join(parts) or 'nothing to check'}{omitted}")


def _data(result: Result) -> dict[str, object]:
    """The result of a file as JSON."""
    name: dict[str, object] = {"file": result.source.place}
    if result.source.notes:
        name["notes"] = [note_json(note) for note in result.source.notes]
    if result.report is not None:
        return {**name, **result.report.to_json()}
    return {**name, "error": None if result.failure is None else to_json(result.failure.diagnostic)}


def write_evidence(evidence: Evidence, reports: Sequence[CheckReport]) -> None:
    """Write the findings, and print the file of each. Fails: RM109, RM111 (an argument), RM112 (no `[report]`)."""
    if evidence.page is None and evidence.case is None:
        return
    findings = [cause.finding for report in reports for cause in report.causes if not cause.lint]
    if not findings:
        lints = any(report.causes for report in reports)
        err.print(f"no finding{' other than lints' if lints else ''}: nothing is written", style="dim")
    for path, write in ((evidence.page, write_page), (evidence.case, _write_case)):
        if path is not None:
            _write_files(path, write, findings)


def _write_files(path: Path, write: Callable[[Finding, Path], None], findings: Sequence[Finding]) -> None:
    for number, finding in enumerate(findings[:MOST_EVIDENCE], 1):
        file = path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")
        write(finding, file)
        err.print(f"{file}: {finding.code.id}: {finding.diagnostic.message}", style="dim")
    if len(findings) > MOST_EVIDENCE:
        err.print(f"{len(findings) - MOST_EVIDENCE} more findings are not written", style="dim")


def _write_case(finding: Finding, path: Path) -> None:
    try:
        path.write_text(case_text(finding), encoding="utf-8")
    except OSError as problem:
        raise fail(BAD_FILE, f"`{path}`: {problem.strerror}") from problem
