"""`--report` and `--case` of `refmlc check`: a file for each finding, undefined behaviour and wrong implementations.

The first finding is in the file that is named, the second in one with `-2` before the ending, and so on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from refmlc.cli.console import err
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.oracle.check.report import Report
from refmlc.oracle.evidence import case_text, write_page
from refmlc.oracle.finding import Finding

MOST = 20


@dataclass(frozen=True)
class Evidence:
    """Where findings are written; None: nowhere."""

    page: Path | None = None
    case: Path | None = None


def written(evidence: Evidence, reports: Sequence[Report]) -> None:
    """Write the findings, and say which is where. Fails: RM109, RM111 (an argument), RM112 (no extra `[report]`)."""
    if evidence.page is None and evidence.case is None:
        return
    found = [cause.finding for report in reports for cause in report.causes if not cause.lint]
    if not found:
        lints = any(report.causes for report in reports)
        err.print(f"nothing is {'found but lints' if lints else 'found'}: nothing is written", style="dim")
    for path, write in ((evidence.page, write_page), (evidence.case, _write_case)):
        if path is not None:
            _write(path, write, found)


def _write(path: Path, write: Callable[[Finding, Path], None], found: Sequence[Finding]) -> None:
    for number, finding in enumerate(found[:MOST], 1):
        file = path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")
        write(finding, file)
        err.print(f"{file}: {finding.code.id}: {finding.diagnostic.message}", style="dim")
    if len(found) > MOST:
        err.print(f"{len(found) - MOST} more findings are not written", style="dim")


def _write_case(finding: Finding, path: Path) -> None:
    try:
        path.write_text(case_text(finding), encoding="utf-8")
    except OSError as problem:
        raise fail(BAD_FILE, f"`{path}`: {problem.strerror}") from problem
