"""The answers to the page's requests: what a module means, within budgets.

| `do`    | is answered with                                                                               |
|---------|------------------------------------------------------------------------------------------------|
| `check` | the report of `refmlc check`, places of findings, calls, the layout, the module as `show` prints it |
| `trace` | the page of `refmlc trace` for a call of the report; the first call with a finding by default  |

A failure with a code is an answer: `error`. The calls of the last module are kept, so that a trace follows at once.
"""

from collections.abc import Iterator, Mapping

import refmlc
from refmlc.cli.console import as_failure
from refmlc.cli.playground.layout import layout
from refmlc.debug import Program
from refmlc.debug.trace import record
from refmlc.debug.trace.page import page as trace_page
from refmlc.diag import Diagnostic, RefmlcError, fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.layout import plain, safe
from refmlc.diag.render import render_text, to_json
from refmlc.lang.ir import IRModule
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.check.report import COLUMNS, CheckReport
from refmlc.oracle.check.run import check
from refmlc.oracle.finding import arguments_text
from refmlc.oracle.implementations.implementation import Limits

NAME = "module.py"
CALLS = 12
BUDGET = 3.0
STEPS = 2_000_000
LIMITS = Limits(steps=STEPS, bytes=256 << 20, seconds=10.0, prepare=20.0, clock=True)
MOST_EVENTS = 20_000
WAYS = ("native:guarded", "native")

Reply = dict[str, object]


class Answers:
    """The answers of one process. It keeps the report of the last module."""

    def __init__(self) -> None:
        self._text: str | None = None
        self._report: CheckReport | None = None

    def answer(self, request: Mapping[str, object]) -> Reply:
        """The answer to a request, which the server has validated."""
        text = str(request.get("module", ""))
        try:
            if request.get("do") == "trace":
                call = request.get("call")
                return self._trace(text, call if isinstance(call, int) else None)
            return self._check(text)
        except Exception as problem:  # noqa: BLE001 - `as_failure` tells a failure of the module from a bug
            return failed(as_failure(problem))

    def _check(self, text: str) -> Reply:
        module, report = self._examined(text)
        findings = report.findings
        return {
            "ok": report.ok,
            "summary": plain(report.summary),
            "text": safe(str(report)),
            "columns": list(COLUMNS),
            "rows": [
                [safe(cell) for cell in (line.function, line.path, line.calls, line.proof, line.sanitizer)]
                for line in report.table()
            ],
            "findings": [_finding(finding) for finding in findings],
            "marks": [mark for finding in findings for mark in _marks(finding)],
            "calls": [plain(words) for _, _, words in _calls(report)],
            "layout": layout(module),
            "shown": safe(refmlc.show(module)),
        }

    def _examined(self, text: str) -> tuple[IRModule, CheckReport]:
        """The module and its report. Fails: RM1xx, RM2xx."""
        module = read(text, NAME)
        if self._report is None or self._text != text:
            self._report = None
            report = check(module, calls=CALLS, budget=BUDGET, limits=LIMITS, implementations=WAYS)
            self._text, self._report = text, report
        return module, self._report

    def _trace(self, text: str, number: int | None) -> Reply:
        """The page of a call; None: the first with a finding, else the first. Fails: RM112 for none."""
        _, report = self._examined(text)
        name, arguments, module = _chosen(report, number)
        lines: list[str] = []
        program = Program(module, name, arguments, output=lines.append, max_steps=STEPS)
        recorded = record(program, max_events=MOST_EVENTS)
        return {"page": trace_page(recorded), "function": plain(name), "printed": safe("\n".join(lines))}


def _calls(report: CheckReport) -> Iterator[tuple[int, int, str]]:
    """The calls of a report: the row, the number in it, and words."""
    for at, row in enumerate(report.rows):
        for number, call in enumerate(() if row.program is None else row.program.calls):
            assert row.program is not None  # noqa: S101 - it has calls
            yield at, number, f"{row.name} ({call.purpose}): {arguments_text(row.program, number)}"


def _chosen(report: CheckReport, number: int | None) -> tuple[str, list[object], IRModule]:
    """The function, fresh arguments and module of a call. Fails: RM112."""
    if number is None and report.causes:
        finding = report.causes[0].finding
        return finding.case.func, finding.case.arguments(finding.call), finding.case.module
    calls = list(_calls(report))
    if not 0 <= (number or 0) < len(calls):
        raise fail(BAD_USAGE, "no call can be made: there is nothing to trace")
    at, place, _ = calls[number or 0]
    program = report.rows[at].program
    if program is None:
        raise fail(BAD_USAGE, "no call can be made: there is nothing to trace")
    return program.func, program.arguments(place), program.module


def _finding(diagnostic: Diagnostic) -> Reply:
    """A finding as text, with its code and line."""
    return {
        "code": diagnostic.code.id,
        "message": plain(diagnostic.message),
        "text": safe(render_text(diagnostic)),
        "line": next((mark["line"] for mark in _marks(diagnostic)), None),
    }


def _marks(diagnostic: Diagnostic) -> Iterator[Reply]:
    """The lines of the module that a diagnostic, and those that come with it, are about."""
    for each in (diagnostic, *diagnostic.others):
        if each.span is not None and each.span.source.name == NAME:
            yield {"line": each.span.line, "message": plain(f"{each.code.id}: {each.message}")}


def failed(failure: RefmlcError) -> Reply:
    """The answer for a failure."""
    diagnostic = failure.diagnostic
    return {
        "ok": False,
        "error": to_json(diagnostic),
        "summary": plain(f"{diagnostic.code.id}: {diagnostic.message}"),
        "text": safe(render_text(diagnostic)),
        "findings": [_finding(diagnostic)],
        "marks": list(_marks(diagnostic)),
    }
