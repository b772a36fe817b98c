"""The work of `refmlc conform`: each implementation asked, the reports written, the table shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from refmlc.cli.conform_table import tell
from refmlc.cli.console import err, print_json
from refmlc.cli.reduce import interruptible
from refmlc.conform.expectations import Expectations, load_expectations
from refmlc.conform.report.data import as_data
from refmlc.conform.report.junit import junit
from refmlc.conform.result import Report
from refmlc.conform.runner import chosen
from refmlc.conform.runner_workers import Asked, here, run_named
from refmlc.conform.suite import Suite, load_suite
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE, BAD_USAGE

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
    """Ask every implementation and tell; the exit status. Fails: RM109, RM112."""
    suite = load_suite(settings.suite)
    chosen(suite, settings.cases)
    for path in (written.junit, written.page):
        if path is not None and not path.parent.is_dir():  # better now than after a quarter of an hour
            raise fail(BAD_FILE, f"`{path}`: there is no folder `{path.parent}`")
    page = None if written.page is None else _page_writer()
    known = _known(settings.known)
    reports = []
    with interruptible():
        for spec in settings.impls:
            reports.append(_asked(suite, spec, settings, known))
            if reports[-1].interrupted:
                break
    if written.junit is not None:
        _write(written.junit, junit(reports))
    if written.page is not None and page is not None:
        _write(written.page, page(suite, reports))
    if as_json:
        print_json(as_data(reports))
    else:
        tell(reports)
    return 0 if all(report.ok for report in reports) and len(reports) == len(settings.impls) else 1


def _asked(suite: Suite, spec: str, settings: Settings, known: Expectations | None) -> Report:
    asked = Asked(spec, here(settings.suite), settings.seconds, settings.prepare, settings.jobs)
    if not err.is_terminal:
        return run_named(suite, asked, known, settings.cases, _Lines(spec))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as progress:
        bar = progress.add_task(spec.replace("[", r"\["), total=None)
        return run_named(
            suite, asked, known, settings.cases, lambda done, of: progress.update(bar, completed=done, total=of)
        )


class _Lines:
    """A line now and then, where there is no terminal."""

    def __init__(self, spec: str) -> None:
        self._spec = spec
        self._last = monotonic()

    def __call__(self, done: int, total: int) -> None:
        if monotonic() - self._last >= EVERY:
            self._last = monotonic()
            err.print(f"{self._spec}: {done:,} of {total:,} cases", markup=False)


def _known(paths: Sequence[Path]) -> Expectations | None:
    """The rows of all files together; None: those that come with refmlc."""
    if not paths:
        return None
    read = [load_expectations(path) for path in paths]
    return Expectations(", ".join(each.source for each in read), tuple(row for each in read for row in each.rows))


def _page_writer() -> Callable[[Suite, Sequence[Report]], str]:
    """What makes the page. Fails: RM112 where the extra is not there, before anything is run."""
    try:
        from refmlc.conform.report.page import page  # noqa: PLC0415 - needs an extra, which other commands do not
    except ModuleNotFoundError as problem:
        raise fail(BAD_USAGE, f"`--report` needs {problem.name}: pip install 'refmlc[report]'") from None
    return page


def _write(path: Path, text: str) -> None:
    """Write a report; what an adapter says may hold halves of characters. Fails: RM109."""
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as problem:
        raise fail(BAD_FILE, f"`{path}`: {problem.strerror or problem}") from None
