"""A suite asked of one implementation: every case made ready, every call on fresh arguments, every answer scored.

| the implementation           | its requests                                                   |
|------------------------------|----------------------------------------------------------------|
| an object                    | in this process (`run_suite`); what it raises is its crash     |
| a word, as `--impl` takes it | in workers that end alone (`runner_workers`)                   |

Both ask some cases at once (`batches`), as `runner_cases` says.
"""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from time import monotonic

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE, BAD_USAGE
from refmlc.oracle.evidence.case_file import CaseFile
from refmlc.oracle.implementations.implementation import Answering, Implementation
from refmlc.oracle.implementations.native import Batching
from refmlc.oracle.suite.expectations import Expectations, applied, unmatched
from refmlc.oracle.suite.result import FAULTS, RIGHT, CaseResult, CaseVerdict, SuiteReport
from refmlc.oracle.suite.runner_border import user_interrupts
from refmlc.oracle.suite.runner_cases import run_cases
from refmlc.oracle.suite.suite import Suite

BATCH = 48


def selected_cases(suite: Suite, only: Sequence[str] = ()) -> tuple[CaseFile, ...]:
    """The cases whose ids fit one of the patterns `only`; all without. Fails: RM109 (no case), RM112 (none fits)."""
    if not suite.cases:
        raise fail(BAD_FILE, "the suite has no case")
    unknown = [pattern for pattern in only if not any(fnmatchcase(case.id, pattern) for case in suite.cases)]
    if unknown:
        raise fail(BAD_USAGE, f"no case of the suite is called `{unknown[0]}`")
    return tuple(case for case in suite.cases if not only or any(fnmatchcase(case.id, glob) for glob in only))


def run_suite(
    suite: Suite,
    implementation: Implementation,
    expectations: Expectations | None = None,
    only: Sequence[str] = (),
) -> SuiteReport:
    """The report on `implementation`. A Ctrl-C ends it early: what was done is in it. Fails: RM109, RM112."""
    cases, begin = selected_cases(suite, only), monotonic()
    results: list[CaseResult] = []
    interrupted = False
    try:
        with user_interrupts() as border:
            for batch in batches(implementation, cases):
                results += run_cases(implementation, batch, border)
    except KeyboardInterrupt:
        interrupted = True
    name, version = identity(implementation)
    return reported(suite, (name, version), results, expectations, seconds=monotonic() - begin, interrupted=interrupted)


def reported(
    suite: Suite,
    identity: tuple[str, str],
    results: Sequence[CaseResult],
    expectations: Expectations | None = None,
    *,
    seconds: float = 0.0,
    interrupted: bool = False,
) -> SuiteReport:
    """The report on `results`, compared with the expectations for the implementation `identity`: name, version."""
    name, version = identity
    applicable = Expectations() if expectations is None else expectations.of(name, version)
    final_results = applied(results, applicable)
    problems = [*unmatched(applicable, (case.id for case in suite.cases))]
    if not interrupted and not any(each.verdict in (*FAULTS, *RIGHT, CaseVerdict.KNOWN) for each in final_results):
        problems.append("nothing was compared: no case has a scored answer")
    reasons = {row.id: f"{row.title}: {row.why}" if row.title else row.why for row in applicable.rows}
    return SuiteReport(suite.version, name, version, final_results, tuple(problems), seconds, interrupted, reasons)


def identity(implementation: Implementation) -> tuple[str, str]:
    """Name and version: its `version`, or the second word of its name over the line."""
    version = getattr(implementation, "version", "")
    says = getattr(implementation, "says", None)
    if not version and isinstance(says, dict):
        version = str(says.get("version") or str(says.get("name", "")).partition(" ")[2])
    return implementation.name, version if isinstance(version, str) else ""


def batches(implementation: Implementation, cases: Sequence[CaseFile]) -> Iterator[Sequence[CaseFile]]:
    """The cases in groups that are sent together."""
    size = at_once(implementation)
    for first in range(0, len(cases), size):
        yield cases[first : first + size]


def at_once(implementation: Implementation) -> int:
    """The number of cases that are sent together."""
    if isinstance(implementation, Batching):
        return BATCH
    return max(1, min(BATCH, implementation.batch)) if isinstance(implementation, Answering) else 1
