"""The work of `refmlc check`: examine every function of every file, report as tables or data, write evidence.

Of several files one that is not read, or whose options do not fit, is told, and the others are examined.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from refmlc.cli.check_evidence import Evidence, written
from refmlc.cli.console import INTERRUPTED, err, out, print_json, report as tell_failure, tell
from refmlc.cli.sources import Source, sources
from refmlc.diag import RefmlcError
from refmlc.diag.render import to_json
from refmlc.lang.ir import IRModule
from refmlc.oracle.check.report import COLUMNS, NO_ARGUMENTS, FunctionResult, Report, many
from refmlc.oracle.check.run import DEFAULT_PATHS, CheckOptions, examined, functions, known_params, shown_names
from refmlc.oracle.implementations.implementation import Implementation
from refmlc.oracle.implementations.lookup import implementation

COLOURS = {
    "defined": "green",
    "equal": "green",
    "permitted": "green",
    "wrong": "bold red",
    "undefined": "red",
    "crashed": "bold red",
    "timed out": "red",
}


@dataclass(frozen=True)
class Result:
    """A file, and its report or why there is none. `unchecked`: functions that an interrupt left out."""

    source: Source
    report: Report | None = None
    failure: RefmlcError | None = None
    unchecked: tuple[str, ...] = ()

    @property
    def status(self) -> int:
        """The exit status for this file alone."""
        return self.report.status if self.report is not None else self.failure.exit_code if self.failure else 0


def checked(
    files: Sequence[Path],
    func: str | None,
    impls: Sequence[str],
    choices: CheckOptions,
    evidence: Evidence,
    *,
    as_json: bool,
) -> int:
    """Check the modules in `files` and report; returns the exit status of the worst file, a finding first."""
    choices = replace(choices, named=bool(impls))
    found, skipped = sources(files)
    alone = len(found) == 1 and not skipped
    results: list[Result] = []
    with ExitStack() as stack:
        paths = [stack.enter_context(closing(implementation(spec, choices.limits))) for spec in impls or DEFAULT_PATHS]
        for result in _results(found, func, choices, paths, alone=alone):
            results.append(result)
            if not as_json:
                _show(result)
    if as_json:
        print_json(_data(results[0]) if alone else {"files": [_data(one) for one in results], "skipped": skipped})
    elif not alone:
        _sum_up(results, skipped)
    written(evidence, [result.report for result in results if result.report is not None])
    unchecked = [*results[-1].unchecked, *(str(source.path) for source in found[len(results) :])] if results else []
    if unchecked:
        err.print(f"interrupted: {', '.join(unchecked)} not checked")
        return INTERRUPTED
    statuses = {result.status for result in results}
    return next((status for status in (1, 70, 2, 4, 3) if status in statuses), 0)


def _results(
    found: Sequence[Source], func: str | None, choices: CheckOptions, paths: Sequence[Implementation], *, alone: bool
) -> Iterator[Result]:
    """The reports on the files, up to an interrupt; one before the first verdict passes."""
    for number, source in enumerate(found):
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
    """The report on a file. Fails, where it is the only one: as reading does; RM111, RM112."""
    try:
        module = source.read()
        known_params(module, choices.asked)
        names = tuple(functions(module, func))
        rows = _rows(module, names, choices, paths)
    except RefmlcError as failure:
        if alone:
            raise
        return Result(source, failure=failure)
    title = source.title if alone else str(source.path)
    report = Report(title, tuple(rows), shown_names(paths), choices.strict, choices.named)
    return Result(source, report, unchecked=names[len(rows) :])


def _rows(
    module: IRModule, names: Sequence[str], choices: CheckOptions, paths: Sequence[Implementation]
) -> list[FunctionResult]:
    """The functions examined, up to an interrupt; one before the first verdict passes."""
    rows: list[FunctionResult] = []
    try:
        for name in names:
            with err.status(f"checking {name} …"):
                rows.append(examined(module, name, choices, paths))
    except KeyboardInterrupt:
        if not rows:
            raise
    return rows


def _show(result: Result) -> None:
    """Print the table, remarks, findings, and a summary."""
    if result.failure is not None:
        tell_failure(result.failure, as_json=False)
    if result.report is None:
        return
    out.print(table(result.report), soft_wrap=False)
    for remark in result.report.remarks:
        out.print(remark)
    for diagnostic in result.report.findings:
        out.print()
        tell(diagnostic, out)
    out.print(f"\n{result.report.summary}")


def table(report: Report) -> Table:
    """The verdicts, painted."""
    shown = Table(title=Text(report.title), title_justify="left")
    for column in COLUMNS:
        shown.add_column(column, overflow="fold")
    for line in report.table():
        counts = [Text(f"{count} {word}", style=COLOURS.get(word, "yellow")) for count, word in line.counts]
        calls = Text(", ").join(counts) if counts else Text(NO_ARGUMENTS, style="yellow")
        function = Text(line.function, style="" if line.path == "meaning" else "dim")
        shown.add_row(function, Text(line.path), calls, Text(line.sanitizer))
    return shown


def _sum_up(results: Sequence[Result], skipped: int) -> None:
    """All files together, in a line."""
    counts = Counter(result.status for result in results)
    words = {1: "with findings", 2: "not read", 3: "not compared", 0: "without a finding"}
    parts = [f"{counts[status]} {words.get(status, f'with status {status}')}" for status in sorted(counts)]
    rest = f"; {many(skipped, 'file')} without TVMScript skipped" if skipped else ""
    click.echo(f"\n{many(len(results), 'file')}: {', '.join(parts) or 'nothing to check'}{rest}")


def _data(result: Result) -> dict[str, object]:
    """A file for machines."""
    name = {"file": str(result.source.path)}
    if result.report is not None:
        return {**name, **result.report.to_json()}
    return {**name, "error": None if result.failure is None else to_json(result.failure.diagnostic)}
