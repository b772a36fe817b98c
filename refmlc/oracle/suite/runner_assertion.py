"""Conformance as a test: one function for the test-suite of another project.

>>> from refmlc.oracle.suite import run_conformance_test
>>> def test_conformance():
...     run_conformance_test("cmd:./my-implementation --serve")

The adapter is a word as `refmlc conform --impl` takes it, the words of a command, or an object of this process with the
methods of `refmlc.oracle.implementations.implementation.Implementation`.
"""

import shlex
from collections.abc import Sequence
from pathlib import Path

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.errors import RefmlcError
from refmlc.oracle.implementations.implementation import Implementation
from refmlc.oracle.suite.expectations import load_expectations
from refmlc.oracle.suite.report.text import summary, unexpected_lines
from refmlc.oracle.suite.result import SuiteReport
from refmlc.oracle.suite.runner import run_suite
from refmlc.oracle.suite.runner_workers import RunRequest, folder_for_workers, run_named
from refmlc.oracle.suite.suite import load_suite

MOST = 25


class Nonconformant(AssertionError):
    """An implementation is not as expected; the text says in which cases, and how. `report`: everything."""

    def __init__(self, report: SuiteReport) -> None:
        super().__init__("\n".join([summary(report), *unexpected_lines(report, MOST)]))
        self.report = report


def run_conformance_test(
    adapter: str | Sequence[str] | Implementation,
    *,
    cases: Sequence[str] = (),
    known: Path | str | None = None,
    suite: Path | str | None = None,
    seconds: float = 10.0,
    jobs: int = 1,
) -> SuiteReport:
    """Run every case of the suite in `adapter`; an object runs in this process.

    `cases`: patterns of ids, to run only some; `known`: a file of expectations; `suite`: another one than
    refmlc's. Units: seconds for a call. Fails: `Nonconformant`; RM109, RM112; KeyboardInterrupt at Ctrl-C, which ends
    more than this test.
    """
    __tracebackhide__ = True
    folder = None if suite is None else Path(suite)
    try:
        report = _report(adapter, cases, None if known is None else Path(known), folder, seconds, jobs)
    except RefmlcError as failure:
        raise failure.with_traceback(None) from None  # the frames of refmlc say nothing to who wrote the test
    if report.interrupted:
        raise KeyboardInterrupt(summary(report))
    if not report.ok:
        raise Nonconformant(report)
    return report


def _report(
    adapter: str | Sequence[str] | Implementation,
    cases: Sequence[str],
    known_file: Path | None,
    folder: Path | None,
    seconds: float,
    jobs: int,
) -> SuiteReport:
    """The report on `adapter`. Fails: RM109, RM112."""
    word = "" if isinstance(adapter, Implementation) else _word(adapter)
    loaded = load_suite(folder)
    expectations = None if known_file is None else load_expectations(known_file)
    if isinstance(adapter, Implementation):
        return run_suite(loaded, adapter, expectations, cases)
    return run_named(loaded, RunRequest(word, folder_for_workers(folder), seconds, jobs=jobs), expectations, cases)


def _word(adapter: object) -> str:
    """The word for an adapter. Fails: RM112 for what is none."""
    if isinstance(adapter, str):
        return adapter
    if isinstance(adapter, Sequence) and adapter and all(isinstance(part, str) for part in adapter):
        return f"cmd:{shlex.join(adapter)}"
    missing_methods = [name for name in ("name", "promises_verdicts", "prepare", "close") if not hasattr(adapter, name)]
    raise fail(BAD_USAGE, f"{type(adapter).__name__} is not an implementation: it lacks {', '.join(missing_methods)}")
