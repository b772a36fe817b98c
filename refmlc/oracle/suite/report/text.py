"""A run in words, the unexpected cases each with its first difference, and as one JSON object.

`schema.json` beside this file describes the object.
"""

from collections.abc import Iterator, Sequence

from refmlc.oracle.reasons import counted, reason_lines
from refmlc.oracle.suite.result import CaseResult, CaseVerdict, SuiteReport

MOST_ROWS = 3
NO_RESULT = (CaseVerdict.CRASH, CaseVerdict.TIMEOUT, CaseVerdict.OVER_STRICT, CaseVerdict.UNSUPPORTED)


def unexpected_lines(report: SuiteReport, most: int | None = None) -> Iterator[str]:
    """Lines on what is not as expected; `most` cases at most, then how many more there are."""
    yield from report.problems
    if report.interrupted:
        count = len(report.results)
        yield f"the run was interrupted after {count:,} case{'' if count == 1 else 's'}"
    cases = report.unexpected
    for case in cases[:most]:
        yield from case_lines(case)
    if most is not None and len(cases) > most:
        yield f"… and {len(cases) - most:,} more"


def case_lines(case: CaseResult) -> Iterator[str]:
    """One case: its verdict, what is wrong, the first elements."""
    verdict = "not scored" if case.verdict is None else case.verdict.value
    yield f"{verdict}: {case.id}{f': {case.why}' if case.why else ''}"
    if case.unexpected:
        yield f"    {case.unexpected}"
    for call in case.calls:
        for row in call.rows[:MOST_ROWS]:
            permitted = f"; permitted: {row.permitted}" if row.permitted else ""
            yield f"    {row.label}{row.index}: {row.got}, recorded {row.recorded}{permitted}"


def refusal_lines(report: SuiteReport, most: int) -> Iterator[str]:
    """Why cases have no result: for each verdict of `NO_RESULT` the most frequent reasons."""
    for verdict in NO_RESULT:
        reasons = counted(case.why or "no reason" for case in report.results if verdict in (case.verdict, case.was))
        if reasons:
            yield f"{verdict.value}, by reason:"
            yield from (f"  {line}" for line in reason_lines(reasons, most))


def summary(report: SuiteReport) -> str:
    """One line: who, the counts, whether all is as expected."""
    counts = ", ".join(f"{count:,} {verdict}" for verdict, count in report.counts.items())
    version = f" {report.version}" if report.version else ""
    bad = len(report.unexpected) + len(report.problems)
    end = (
        "as expected" if report.ok else "interrupted" if report.interrupted and not bad else f"{bad:,} not as expected"
    )
    return f"{report.implementation}{version}: {counts or 'nothing'}: {end}"


def as_data(reports: Sequence[SuiteReport]) -> dict[str, object]:
    return {"ok": all(report.ok for report in reports), "reports": [report.to_json() for report in reports]}
