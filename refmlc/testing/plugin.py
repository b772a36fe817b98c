"""The pytest plugin: a finding of refmlc appears as its message, not as a traceback.

| option             | environment    | meaning                                              |
|--------------------|----------------|------------------------------------------------------|
| `--refmlc-calls N` | `REFMLC_CALLS` | the calls of each assertion without its own number   |
| `--refmlc-seed N`  | `REFMLC_SEED`  | the seed of their arguments                          |

Assertions that prove (`assert_equivalent(…, prove=True)`) log what is known; one line at the end counts how many were
proved, equal over the reals, only tested.

Decision: findings replace the traceback for `--tb=auto` (the default) and `--tb=short`, not for `long`, `native` and
`line`. A bug of refmlc (RM9xx) keeps its traceback, which shows the cause.

pytest imports this file at every start, so it imports no other module of refmlc: without one, no test can fail by a
finding.
"""

import logging
import os
import sys
from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from _pytest._code.code import TerminalRepr

if TYPE_CHECKING:
    from _pytest._io import TerminalWriter

    from refmlc.diag import RefmlcError

OPTIONS = {"refmlc_calls": "REFMLC_CALLS", "refmlc_seed": "REFMLC_SEED"}
STYLES = ("auto", "short")
PROOFS = "refmlc.proofs"
"""The log of proofs, and the property of a test that holds its words."""
SAVED_ENVIRONMENT = pytest.StashKey[dict[str, str | None]]()


@dataclass(frozen=True)
class Place:
    """The place of a failure, and its line in pytest's summary."""

    path: str
    lineno: int
    message: str


@dataclass(eq=False)
class FindingText(TerminalRepr):
    """A finding in place of the traceback in a report of pytest."""

    text: str
    reprcrash: Place

    def __str__(self) -> str:
        return self.text

    def toterminal(self, tw: "TerminalWriter") -> None:
        """Write the text, errors in red."""
        for line in self.text.splitlines():
            tw.line(line, bold=line.startswith("error"), red=line.startswith("error"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("refmlc", "assertions on TVM modules")
    group.addoption("--refmlc-calls", type=int, metavar="N", help="calls in each assertion of refmlc.testing")
    group.addoption("--refmlc-seed", type=int, metavar="N", help="the seed of their arguments")


def pytest_configure(config: pytest.Config) -> None:
    """Set the environment of the assertions from the options."""
    values = {name: config.getoption(option) for option, name in OPTIONS.items()}
    config.stash[SAVED_ENVIRONMENT] = {
        name: os.environ.get(name) for name, value in values.items() if value is not None
    }
    os.environ.update({name: str(value) for name, value in values.items() if value is not None})


def pytest_unconfigure(config: pytest.Config) -> None:
    """Restore the environment."""
    for name, value in config.stash.get(SAVED_ENVIRONMENT, {}).items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


class ProofLog(logging.Handler):
    """Keeps the words of the proofs of a test with the test."""

    def __init__(self, item: pytest.Item) -> None:
        super().__init__(logging.INFO)
        self._item = item

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the word of a proof."""
        self._item.user_properties.append((PROOFS, str(vars(record).get("word"))))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Listen to proofs while a test runs."""
    log, handler = logging.getLogger(PROOFS), ProofLog(item)
    level, disabled = log.level, log.disabled
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.disabled = False  # libraries that configure logging disable the logs that there are
    try:
        return (yield)
    finally:
        log.setLevel(level)
        log.disabled = disabled
        log.removeHandler(handler)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line how many assertions were proved, where some were to be."""
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    words = Counter(
        word
        for report in reports
        if isinstance(report, pytest.TestReport) and report.when == "call"
        for name, word in report.user_properties
        if name == PROOFS
    )
    if words:
        counts = ", ".join(f"{count} {word}" for word, count in words.most_common())
        terminalreporter.write_line(f"refmlc: {words.total()} equivalences to prove: {counts}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Replace the traceback of a finding by its message."""
    report = yield
    failure = None if call.excinfo is None else finding_of(call.excinfo.value)
    if report.failed and failure is not None and item.config.option.tbstyle in STYLES:
        report.longrepr = finding_text(failure, item, call)
    return report


def finding_of(problem: BaseException) -> "RefmlcError | None":
    """`problem` if it is a finding, else None; a bug of refmlc is none."""
    if "refmlc.diag.errors" not in sys.modules:
        return None
    from refmlc.diag.errors import Internal, RefmlcError  # noqa: PLC0415 - already loaded, see above

    return problem if isinstance(problem, RefmlcError) and not isinstance(problem, Internal) else None


def finding_text(failure: "RefmlcError", item: pytest.Item, call: pytest.CallInfo[None]) -> FindingText:
    """The message of a finding, its notes (Hypothesis adds some), and the line of the test."""
    from refmlc.diag.render import render_text  # noqa: PLC0415 - at the start of pytest nothing may be loaded

    path, line = str(item.path), item.location[1] or 0
    for entry in call.excinfo.traceback if call.excinfo is not None else ():
        if str(entry.path) == path:
            line = entry.lineno
    place = f"{item.location[0]}:{line + 1}"
    notes = [text for note in getattr(failure, "__notes__", ()) for text in str(note).splitlines()]
    text = "\n".join([render_text(failure.diagnostic), *notes, "", f"{place}: {type(failure).__name__}"])
    message = f"{failure.code.id}: {failure.diagnostic.message.splitlines()[0]}"
    return FindingText(text, Place(path, line + 1, message))
