"""The pytest plugin: findings of refmlc are told as refmlc tells them, not as a traceback.

| option             | does                                                              |
|--------------------|-------------------------------------------------------------------|
| `--refmlc-calls N` | `REFMLC_CALLS`: so many calls in each assertion that names no number |
| `--refmlc-seed N`  | `REFMLC_SEED`: where their arguments come from                      |

Decision: a finding is drawn for `--tb=auto` (the default) and `--tb=short`; who asks for `long`, `native` or `line`
gets that. A bug of refmlc (RM9xx) keeps its traceback, which is what one needs then.

pytest loads this file at every start, so it loads nothing of refmlc but itself: where nothing of refmlc was imported,
no test failed by it.
"""

import os
import sys
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
HELD = pytest.StashKey[dict[str, str | None]]()


@dataclass(frozen=True)
class Place:
    """Where a test fails, and the line that pytest's summary has on it."""

    path: str
    lineno: int
    message: str


@dataclass(eq=False)
class Told(TerminalRepr):
    """A failure as pytest's reports hold it."""

    text: str
    reprcrash: Place

    def __str__(self) -> str:
        return self.text

    def toterminal(self, tw: "TerminalWriter") -> None:
        """Draw the text, what is wrong in red."""
        for line in self.text.splitlines():
            tw.line(line, bold=line.startswith("error"), red=line.startswith("error"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options."""
    group = parser.getgroup("refmlc", "assertions on TVM modules")
    group.addoption("--refmlc-calls", type=int, metavar="N", help="calls in each assertion of refmlc.testing")
    group.addoption("--refmlc-seed", type=int, metavar="N", help="the seed of their arguments")


def pytest_configure(config: pytest.Config) -> None:
    """Hand the options to the assertions, which read the environment."""
    given = {name: config.getoption(option) for option, name in OPTIONS.items()}
    config.stash[HELD] = {name: os.environ.get(name) for name, value in given.items() if value is not None}
    os.environ.update({name: str(value) for name, value in given.items() if value is not None})


def pytest_unconfigure(config: pytest.Config) -> None:
    """Put the environment back."""
    for name, value in config.stash.get(HELD, {}).items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tell a finding in place of the traceback."""
    report = yield
    failure = None if call.excinfo is None else finding_of(call.excinfo.value)
    if report.failed and failure is not None and item.config.option.tbstyle in STYLES:
        report.longrepr = told(failure, item, call)
    return report


def finding_of(problem: BaseException) -> "RefmlcError | None":
    """The finding that `problem` is, if it is one."""
    if "refmlc.diag.errors" not in sys.modules:
        return None
    from refmlc.diag.errors import Internal, RefmlcError  # noqa: PLC0415 - loaded already, see above

    return problem if isinstance(problem, RefmlcError) and not isinstance(problem, Internal) else None


def told(failure: "RefmlcError", item: pytest.Item, call: pytest.CallInfo[None]) -> Told:
    """The whole message; what Hypothesis and others have noted; the line of the test."""
    from refmlc.diag.render import render_text  # noqa: PLC0415 - at the start of pytest nothing may be loaded

    path, line = str(item.path), item.location[1] or 0
    for entry in call.excinfo.traceback if call.excinfo is not None else ():
        if str(entry.path) == path:
            line = entry.lineno
    place = f"{item.location[0]}:{line + 1}"
    notes = [text for note in getattr(failure, "__notes__", ()) for text in str(note).splitlines()]
    text = "\n".join([render_text(failure.diagnostic), *notes, "", f"{place}: {type(failure).__name__}"])
    message = f"{failure.code.id}: {failure.diagnostic.message.splitlines()[0]}"
    return Told(text, Place(path, line + 1, message))
