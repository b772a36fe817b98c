"""The work of `refmlc conform`: run the suite on each implementation, write the reports, show the table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from refmlc.cli.conform_table import show_reports
from refmlc.cli.console import err, print_json, report_failure
from refmlc.cli.reduce import interruptible
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE, BAD_USAGE
from refmlc.diag.errors import RefmlcError
from refmlc.oracle.suite.expectations import Expectations, load_expectations
from refmlc.oracle.suite.report.junit import junit
from refmlc.oracle.suite.report.text import as_data
from refmlc.oracle.suite.result import SuiteReport
from refmlc.oracle.suite.runner import selected_cases
from refmlc.oracle.suite.runner_workers import RunRequest, folder_for_workers, run_named
from refmlc.oracle.suite.suite import Suite, load_suite

EVERY = 30.0  # seconds between lines without a terminal


@dataclass(frozen=True)
class Settings:
    """The options. Units: `seconds` for a call, `prepare` for preparing a module."""

    impls: tuple[str, ...]
    cases: tuple[str, ...]
    suite: Path | None
    known: tuple[Path, ...]
    seconds: float
    prepare: float
    jobs: int


@dataclass(frozen=True)
class ReportPaths:
    """The files of the reports; None: not written."""

    junit: Path | None
    page: Path | None


def conformed(settings: Settings, paths: ReportPaths, *, as_json: bool) -> int:
    """Run every implementation and report; returns the exit status. Fails: RM109, RM112."""
    suite = load_suite(settings.suite)
    selected_cases(suite, settings.cases)
    if paths.page is not None and paths.page == paths.junit:
        raise fail(BAD_USAGE, f"`{paths.page}` cannot be both the page and the JUnit XML")
    for path in (paths.junit, paths.page):
        if path is not None:
            _writable(path)  # before the run, which takes minutes
    page = None if paths.page is None else page_writer()
    reports, failures = _reports(suite, settings)
    if paths.junit is not None:
        failures += _unwritten(paths.junit, junit(reports))
    if paths.page is not None and page is not None:
        failures += _unwritten(paths.page, page(suite, reports))
    if as_json:
        print_json(as_data(reports))
    else:
        show_reports(reports)
    for failure in failures:
        report_failure(failure, as_json=False)
    if failures:
        return failures[0].exit_code
    return 0 if all(report.ok for report in reports) and len(reports) == len(settings.impls) else 1


def _reports(suite: Suite, settings: Settings) -> tuple[list[SuiteReport], list[RefmlcError]]:
    """The result of each implementation, or why it could not run; one failure does not stop the others.

    Fails as the first of them if none could run.
    """
    expectations = _expectations(settings.known)
    reports: list[SuiteReport] = []
    failures: list[RefmlcError] = []
    with interruptible():
        for spec in settings.impls:
            try:
                reports.append(_run(suite, spec, settings, expectations))
            except RefmlcError as failure:
                failures.append(failure)
            except KeyboardInterrupt:  # this one has not begun; the others have reports
                if not reports:
                    raise
                break
            if reports and reports[-1].interrupted:
                break
    if not reports:
        raise failures[0]
    for spec in settings.impls[len(reports) + len(failures) :]:
        err.print(f"{spec}: not run: the run was interrupted")
    return reports, failures


def _run(suite: Suite, spec: str, settings: Settings, expectations: Expectations | None) -> SuiteReport:
    request = RunRequest(spec, folder_for_workers(settings.suite), settings.seconds, settings.prepare, settings.jobs)
    if not err.is_terminal:
        return run_named(suite, request, expectations, settings.cases, _Lines(spec))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as progress:
        bar = progress.add_task(spec.replace("[", r"\["), total=None)
        return run_named(
            suite,
            request,
            expectations,
            settings.cases,
            lambda done, of: progress.update(bar, completed=done, total=of),
        )


class _Lines:
    """Prints a line every `EVERY` seconds, without a terminal."""

    def __init__(self, spec: str) -> None:
        self._spec = spec
        self._last = monotonic()

    def __call__(self, done: int, total: int) -> None:
        if monotonic() - self._last >= EVERY:
            self._last = monotonic()
            err.print(f"{self._spec}: {done:,} of {total:,} cases")


def _expectations(paths: Sequence[Path]) -> Expectations | None:
    """The rows of all files together; None: the expectations of refmlc."""
    if not paths:
        return None
    files = [load_expectations(path) for path in paths]
    return Expectations(", ".join(file.source for file in files), tuple(row for file in files for row in file.rows))


def page_writer() -> Callable[[Suite, Sequence[SuiteReport]], str]:
    """The function that makes the page. Fails: RM112 without the extra, before anything runs."""
    try:
        from refmlc.oracle.suite.report.page import page  # noqa: PLC0415 - needs an extra, which other commands do not
    except ModuleNotFoundError as problem:
        raise fail(BAD_USAGE, f"`--report` needs {problem.name}: pip install 'refmlc[report]'") from None
    return page


def _writable(path: Path) -> None:
    """Fails: RM109 if `path` cannot be a file."""
    if path.is_dir():
        raise fail(BAD_FILE, f"`{path}` is a folder")
    if not path.parent.is_dir():
        raise fail(BAD_FILE, f"`{path}`: there is no folder `{path.parent}`")


def _unwritten(path: Path, text: str) -> list[RefmlcError]:
    """Write a report, which may hold lone surrogates from an adapter. Returns the failure (RM109), if any."""
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as problem:
        return [fail(BAD_FILE, f"`{path}`: {problem.strerror or problem}")]
    return []
