"""The work of `refmlc conform`: run the suite on each implementation, write the reports, show the table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from refmlc.cli.conform_table import tell
from refmlc.cli.console import err, print_json, report as report_failure
from refmlc.cli.reduce import interruptible
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE, BAD_USAGE
from refmlc.diag.errors import RefmlcError
from refmlc.oracle.suite.expectations import Expectations, load_expectations
from refmlc.oracle.suite.report.data import as_data
from refmlc.oracle.suite.report.junit import junit
from refmlc.oracle.suite.result import Report
from refmlc.oracle.suite.runner import chosen
from refmlc.oracle.suite.runner_workers import RunRequest, here, run_named
from refmlc.oracle.suite.suite import Suite, load_suite

EVERY = 30.0  # seconds between lines where there is no terminal


@dataclass(frozen=True)
class Settings:
    """The options. Units: seconds for a call, and for making a module ready."""

    impls: tuple[str, ...]
    cases: tuple[str, ...]
    suite: Path | None
    known: tuple[Path, ...]
    seconds: float
    prepare: float
    jobs: int


@dataclass(frozen=True)
class Written:
    """Where reports go."""

    junit: Path | None
    page: Path | None


def conformed(settings: Settings, written: Written, *, as_json: bool) -> int:
    """Run every implementation and report; returns the exit status. Fails: RM109, RM112."""
    suite = load_suite(settings.suite)
    chosen(suite, settings.cases)
    if written.page is not None and written.page == written.junit:
        raise fail(BAD_USAGE, f"`{written.page}` cannot be both the page and the JUnit XML")
    for path in (written.junit, written.page):
        if path is not None:
            _writable(path)  # better now than after a quarter of an hour
    page = None if written.page is None else page_writer()
    reports, failures = _reports(suite, settings)
    if written.junit is not None:
        failures += _unwritten(written.junit, junit(reports))
    if written.page is not None and page is not None:
        failures += _unwritten(written.page, page(suite, reports))
    if as_json:
        print_json(as_data(reports))
    else:
        tell(reports)
    for failure in failures:
        report_failure(failure, as_json=False)
    if failures:
        return failures[0].exit_code
    return 0 if all(report.ok for report in reports) and len(reports) == len(settings.impls) else 1


def _reports(suite: Suite, settings: Settings) -> tuple[list[Report], list[RefmlcError]]:
    """The result of each implementation, or why it could not run; one failure does not stop the others.

    Fails as the first of them where none could be asked.
    """
    known = _known(settings.known)
    reports: list[Report] = []
    failures: list[RefmlcError] = []
    with interruptible():
        for spec in settings.impls:
            try:
                reports.append(_asked(suite, spec, settings, known))
            except RefmlcError as failure:
                failures.append(failure)
            except KeyboardInterrupt:  # it had not begun; those before it have their reports
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


def _asked(suite: Suite, spec: str, settings: Settings, known: Expectations | None) -> Report:
    asked = RunRequest(spec, here(settings.suite), settings.seconds, settings.prepare, settings.jobs)
    if not err.is_terminal:
        return run_named(suite, asked, known, settings.cases, _Lines(spec))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as progress:
        bar = progress.add_task(spec.replace("[", r"\["), total=None)
        return run_named(
            suite, asked, known, settings.cases, lambda done, of: progress.update(bar, completed=done, total=of)
        )


class _Lines:
    """A line from time to time, without a terminal."""

    def __init__(self, spec: str) -> None:
        self._spec = spec
        self._last = monotonic()

    def __call__(self, done: int, total: int) -> None:
        if monotonic() - self._last >= EVERY:
            self._last = monotonic()
            err.print(f"{self._spec}: {done:,} of {total:,} cases")


def _known(paths: Sequence[Path]) -> Expectations | None:
    """The rows of all files together; None: those of refmlc."""
    if not paths:
        return None
    read = [load_expectations(path) for path in paths]
    return Expectations(", ".join(each.source for each in read), tuple(row for each in read for row in each.rows))


def page_writer() -> Callable[[Suite, Sequence[Report]], str]:
    """What makes the page. Fails: RM112 where the extra is not there, before anything is run."""
    try:
        from refmlc.oracle.suite.report.page import page  # noqa: PLC0415 - needs an extra, which other commands do not
    except ModuleNotFoundError as problem:
        raise fail(BAD_USAGE, f"`--report` needs {problem.name}: pip install 'refmlc[report]'") from None
    return page


def _writable(path: Path) -> None:
    """Fails: RM109 where `path` cannot be a file."""
    if path.is_dir():
        raise fail(BAD_FILE, f"`{path}` is a folder")
    if not path.parent.is_dir():
        raise fail(BAD_FILE, f"`{path}`: there is no folder `{path.parent}`")


def _unwritten(path: Path, text: str) -> list[RefmlcError]:
    """Write a report; what an adapter says may hold halves of characters. Why it is not written (RM109)."""
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as problem:
        return [fail(BAD_FILE, f"`{path}`: {problem.strerror or problem}")]
    return []
