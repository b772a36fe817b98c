"""A suite asked of one implementation: every case made ready, every call on fresh arguments, every answer scored.

| what the implementation is     | how it is asked                                                              |
|--------------------------------|------------------------------------------------------------------------------|
| an object                      | in this process (`run_suite`); what it raises is its crash                   |
| … that takes several modules   | some at once, as many as `BATCH`                                             |
| … that takes text (`TakesText`) | its own text where places count, or what is shown is refused; else as shown |
| … that offers `features`, or `lacks` some | not on cases that need others: they are unsupported                |
| a word, as `--impl` takes it   | in workers that end alone (`runner_workers`)                                 |

A case whose text refmlc does not read is rejected for whoever is given modules; who takes text is asked.
"""

from collections.abc import Collection, Iterator, Sequence
from fnmatch import fnmatchcase
from time import monotonic
from typing import Protocol, runtime_checkable

from refmlc.adapters.implementation import Answer, Ended, Implementation, Prepared, Stop, Stopped
from refmlc.adapters.inside import answered
from refmlc.adapters.native import Batching
from refmlc.conform.expectations import Expectations, applied, unmatched
from refmlc.conform.result import CallResult, CaseResult, Report, case_result
from refmlc.conform.score import is_scored, score
from refmlc.conform.score_shown import answer_text, differing
from refmlc.conform.suite import Suite
from refmlc.conform.verdict import FAULTS, RIGHT, Verdict
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE, BAD_USAGE
from refmlc.evidence.case_file import CaseFile
from refmlc.evidence.record import DIALECT

BATCH = 48


@runtime_checkable
class TakesText(Protocol):
    """An implementation that reads TVMScript by itself."""

    def prepare_text(self, text: str) -> Prepared | Stopped:
        """Make the module of `text` ready."""
        ...


def chosen(suite: Suite, only: Sequence[str] = ()) -> tuple[CaseFile, ...]:
    """The cases whose ids fit one of the patterns `only`; all without. Fails: RM109 (no case), RM112 (none fits)."""
    if not suite.cases:
        raise fail(BAD_FILE, "the suite holds no case")
    unknown = [pattern for pattern in only if not any(fnmatchcase(case.id, pattern) for case in suite.cases)]
    if unknown:
        raise fail(BAD_USAGE, f"no case of the suite is called `{unknown[0]}`")
    return tuple(case for case in suite.cases if not only or any(fnmatchcase(case.id, one) for one in only))


def run_suite(
    suite: Suite,
    implementation: Implementation,
    expectations: Expectations | None = None,
    only: Sequence[str] = (),
) -> Report:
    """The report on `implementation`. A Ctrl-C ends it early: what was done is in it. Fails: RM109, RM112."""
    cases, begin = chosen(suite, only), monotonic()
    results: list[CaseResult] = []
    interrupted = False
    try:
        for batch in batches(implementation, cases):
            results += run_cases(implementation, batch)
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
) -> Report:
    """The report on `results`, held against the expectations for the implementation `identity`: name, version."""
    name, version = identity
    known = Expectations() if expectations is None else expectations.of(name, version)
    held = applied(results, known)
    problems = [*unmatched(known, (case.id for case in suite.cases))]
    if not any(each.verdict in (*FAULTS, *RIGHT, Verdict.KNOWN) for each in held):
        problems.append("nothing was compared: no case was answered and scored")
    reasons = {row.id: f"{row.title}: {row.why}" if row.title else row.why for row in known.rows}
    return Report(suite.version, name, version, held, tuple(problems), seconds, interrupted, reasons)


def identity(implementation: Implementation) -> tuple[str, str]:
    """Name and version: what it has as `version`, or the second word of what it calls itself over the line."""
    version = getattr(implementation, "version", "")
    says = getattr(implementation, "says", None)
    if not version and isinstance(says, dict):
        version = str(says.get("version") or str(says.get("name", "")).partition(" ")[2])
    return implementation.name, version if isinstance(version, str) else ""


def batches(implementation: Implementation, cases: Sequence[CaseFile]) -> Iterator[Sequence[CaseFile]]:
    """The cases as they are asked together."""
    size = BATCH if isinstance(implementation, Batching) else 1
    for first in range(0, len(cases), size):
        yield cases[first : first + size]


def run_cases(implementation: Implementation, cases: Sequence[CaseFile]) -> Iterator[CaseResult]:
    """The results of `cases`, whose modules are made ready together where that is possible."""
    asked = [case for case in cases if _is_asked(case, implementation)]
    made = _prepared(implementation, asked)
    for case in cases:
        begin = monotonic()
        prepared = made.pop(case.id) if case.id in made else _not_asked(case, implementation)
        calls = [_call(case, number, prepared, implementation) for number in range(len(case.calls))]
        if not isinstance(prepared, Stopped):
            answered(prepared.close)
        yield case_result(case.id, calls, monotonic() - begin)


def lacking(case: CaseFile, implementation: Implementation) -> list[str]:
    """The features of the case that the implementation does not have, as far as it says."""
    says = getattr(implementation, "says", None)
    told = says if isinstance(says, dict) else {}
    offers = getattr(implementation, "features", told.get("features"))
    lacks = getattr(implementation, "lacks", told.get("lacks"))
    missing = set(case.features) - _names(offers) if isinstance(offers, Collection) else set()
    return sorted(missing | (set(case.features) & _names(lacks)))


def _names(listed: object) -> set[str]:
    return set(map(str, listed)) if isinstance(listed, Collection) and not isinstance(listed, str) else set()


def _is_asked(case: CaseFile, implementation: Implementation) -> bool:
    """Whether any of its calls is scored, and needs no feature that is not there."""
    if lacking(case, implementation):
        return False
    return any(is_scored(case, number, **promised(implementation)) for number in range(len(case.calls)))


def promised(implementation: Implementation) -> dict[str, bool]:
    """What it promises to find: as `score` takes it."""
    promises = implementation.promises_verdicts
    return {"promises": promises, "detectors": promises and getattr(implementation, "detectors", False) is True}


def _not_asked(case: CaseFile, implementation: Implementation) -> Stopped:
    missing = lacking(case, implementation)
    return Stopped(Stop.UNSUPPORTED, f"it does not offer {', '.join(missing)}" if missing else "it is not asked")


def _prepared(implementation: Implementation, cases: Sequence[CaseFile]) -> dict[str, "Prepared | Stopped"]:
    if not isinstance(implementation, Batching):
        return {case.id: Later(implementation, case) for case in cases}
    modules = {case.id: answered(lambda case=case: case.module) for case in cases}  # type: ignore[misc]
    read = {name: module for name, module in modules.items() if not isinstance(module, Stopped)}
    made = answered(lambda: [*implementation.prepare_all(list(read.values()))])
    if isinstance(made, Stopped) or len(made) != len(read):  # then it is asked for one after the other
        return {case.id: Later(implementation, case) for case in cases}
    ready = dict(zip(read, made, strict=True))
    return {name: module if isinstance(module, Stopped) else ready[name] for name, module in modules.items()}


class Later:
    """A module that is made ready when it is called first, so that only one is at a time."""

    def __init__(self, implementation: Implementation, case: CaseFile) -> None:
        """Nothing is made yet."""
        self._implementation = implementation
        self._case = case
        self._made: Prepared | Stopped | None = None

    def run(self, func: str, args: Sequence[object]) -> Answer:
        """Call `func` on `args`."""
        if self._made is None:
            self._made = answered(self._make)
        return self._made if isinstance(self._made, Stopped) else self._made.run(func, args)

    def close(self) -> None:
        """Give back what the module holds."""
        if self._made is not None and not isinstance(self._made, Stopped):
            self._made.close()

    def _make(self) -> Prepared | Stopped:
        case, implementation = self._case, self._implementation
        module = answered(lambda: case.module)
        verbatim = implementation.promises_verdicts or isinstance(module, Stopped)
        if isinstance(implementation, TakesText) and case.dialect == DIALECT and verbatim:
            return implementation.prepare_text(case.text)
        if isinstance(module, Stopped):
            return module
        made = implementation.prepare(module)
        if isinstance(implementation, TakesText) and isinstance(made, Stopped) and case.dialect == DIALECT:
            written = implementation.prepare_text(case.text)  # to refuse one spelling is not to refuse the module
            return made if isinstance(written, Stopped) else written
        return made


def _call(case: CaseFile, number: int, prepared: Prepared | Stopped, implementation: Implementation) -> CallResult:
    """One call, scored."""
    promises = promised(implementation)
    if not is_scored(case, number, **promises):
        return CallResult(None)
    if isinstance(prepared, Stopped):
        answer: Answer = prepared
    else:
        args = case.arguments(number)
        answer = answered(lambda: prepared.run(case.func, args))
    match answer:
        case Ended(args=tuple()) | Stopped(why=Stop(), message=str()):
            pass
        case _:
            answer = Stopped(Stop.CRASHED, f"it answers {type(answer).__name__} that is no answer")
    scored = score(case, number, answer, **promises)
    if scored.verdict is Verdict.PASS:
        return CallResult(Verdict.PASS)
    return CallResult(scored.verdict, scored.why, answer_text(case, answer), differing(case, number, answer))
