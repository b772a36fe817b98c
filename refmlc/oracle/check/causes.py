"""Causes of findings: findings of several calls that are one fault, the one nearest to its cause first.

| finding                 | is the same cause where these are equal                                           |
|-------------------------|-----------------------------------------------------------------------------------|
| undefined behaviour     | code and place                                                                    |
| of an implementation    | function, part of the result, code, implementation; what it says of a failure;    |
|                         | of an operator against its definition: the operator                               |
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from refmlc.diag import Diagnostic
from refmlc.diag.catalogue import (
    COMPILER_ERROR,
    CONTRADICTION,
    CRASHED,
    INACCURATE,
    NO_ANSWER,
    NOT_FINITE,
    REFUSED_PROGRAM,
    WRONG_IMPORT,
    WRONG_RESULT,
    WRONG_VERDICT,
)
from refmlc.oracle.arguments import Trial
from refmlc.oracle.check.baseline import BaselineRow, row_of
from refmlc.oracle.check.program import CheckedProgram
from refmlc.oracle.check.proofs import CheckedPair
from refmlc.oracle.check.suppressions import Acceptance, acceptance
from refmlc.oracle.examine import Examination
from refmlc.oracle.finding import Finding, arguments_text, call_title
from refmlc.oracle.outcome import UNCOMPARED, Kind, Verdict


@dataclass(frozen=True)
class FunctionResult:
    """A checked function: its program and examination, or the reason why no call can be made.

    `notes`: what the user should know about the execution of the function. `pairs`: what is known of pairs of programs
    for all arguments.
    """

    name: str
    program: CheckedProgram | None = None
    examination: Examination | None = None
    trial: Trial | None = None
    problem: Diagnostic | None = None
    notes: tuple[str, ...] = ()
    pairs: tuple[CheckedPair, ...] = ()

    @property
    def compared(self) -> bool:
        """True if the result or verdict of some call was compared."""
        if self.examination is None:
            return False
        kinds = {verdict.kind for verdicts in self.examination.verdicts.values() for verdict in verdicts}
        return bool(kinds - UNCOMPARED)

    @property
    def executed(self) -> bool:
        """True if the meaning of some call is known but nothing was compared with it."""
        return (
            self.examination is not None
            and not self.compared
            and any(reference.verdict == "defined" for reference in self.examination.reference)
        )


@dataclass(frozen=True)
class FindingCause:
    """A finding, and the number of calls with the same cause. Undefined behaviour belongs to no implementation.

    `accepted`: why it is not reported, None: it is. `elsewhere`: the first finding of each other function with the
    cause, which is in a macro or in a function that both call.
    """

    finding: Finding
    count: int = 1
    lint: bool = False
    guesses: tuple[str, ...] = ()
    accepted: Acceptance | None = None
    elsewhere: tuple[Finding, ...] = ()

    @property
    def of_functions(self) -> tuple[Finding, ...]:
        """The first finding of each function: what a baseline has a row of each for."""
        return (self.finding, *self.elsewhere)

    def again(self, other: "FindingCause") -> "FindingCause":
        """The cause with another call that has it; what that one looks like is kept."""
        difference = other.finding.verdict.difference
        own = self.finding.verdict.difference
        guess = "" if difference is None else difference.guess
        new = guess and guess not in self.guesses and (own is None or guess != own.guess)
        known = {finding.case.func for finding in self.of_functions}
        elsewhere = tuple(finding for finding in other.of_functions if finding.case.func not in known)
        return replace(
            self,
            count=self.count + 1,
            guesses=(*self.guesses, guess) if new else self.guesses,
            elsewhere=(*self.elsewhere, *elsewhere),
        )

    @property
    def diagnostic(self) -> Diagnostic:
        """The finding, with the count, and what it looks like in other calls."""
        first = self.finding.diagnostic
        if self.count == 1:
            return first
        counted = first.noting(f"{self.count} calls have this finding; this is the first")
        return counted.noting(f"in others: {'; '.join(self.guesses)}") if self.guesses else counted


NEAREST = (
    *(COMPILER_ERROR, REFUSED_PROGRAM, CRASHED, NO_ANSWER, WRONG_VERDICT),
    *(WRONG_IMPORT, INACCURATE, WRONG_RESULT, CONTRADICTION, NOT_FINITE),
)
"""The codes of findings, the one nearest to its cause first: what fails before it runs, then what runs and is wrong,
an operator alone before the whole; undefined behaviour of the program itself comes before all."""


def distance_from_cause(cause: FindingCause) -> int:
    """The place of a finding in a report: undefined behaviour is at 0, lints are last."""
    code = cause.finding.code
    if cause.lint:
        return len(NEAREST) + 1
    return NEAREST.index(code) + 1 if code in NEAREST else 0


def undefined(row: FunctionResult, *, strict: bool) -> Iterator[tuple[object, FindingCause]]:
    """The sanitizer's reports on each call, each with the key of its cause."""
    for lints in (False, True) if strict else (False,):
        for number, diagnostic in reported(row, lints=lints):
            if row.examination is None or row.program is None:
                continue
            note = f"{call_title(row.program, number)}: {arguments_text(row.program, number)}"
            noted = diagnostic if lints else diagnostic.noting(note)
            verdict, reference = Verdict(Kind.UNDEFINED, report=diagnostic), row.examination.reference[number]
            span = diagnostic.span
            key = (diagnostic.code.id, None if span is None else (span.line, span.column))
            yield (
                key,
                FindingCause(Finding(diagnostic.code, row.program, number, "", verdict, noted, reference), lint=lints),
            )


def wrong(row: FunctionResult) -> Iterator[tuple[object, FindingCause]]:
    """The findings on implementations, each with the key of its cause."""
    for finding in row.examination.findings if row.examination is not None else ():
        yield (row.name, finding.part, *finding.signature), FindingCause(finding)


def reported(row: FunctionResult, *, lints: bool) -> Iterator[tuple[int, Diagnostic]]:
    """The sanitizer's reports with their call numbers: either the lints or the others."""
    for number, reference in enumerate(row.examination.reference if row.examination is not None else ()):
        for report in reference.report.findings if reference.report is not None else ():
            if report.is_lint is lints and report.diagnostic.code.id.startswith("RM3"):
                yield number, report.diagnostic


def causes_of(rows: Iterable[FunctionResult], *, strict: bool) -> tuple[FindingCause, ...]:
    """The causes of the findings on these functions; `strict`: lints are findings."""
    first: dict[object, FindingCause] = {}
    for row in rows:
        found = [*undefined(row, strict=strict), *wrong(row)]
        for key, cause in sorted(found, key=lambda each: distance_from_cause(each[1])):
            earlier = first.get(key)
            first[key] = cause if earlier is None else earlier.again(cause)
    return tuple(first.values())


def with_acceptances(causes: Iterable[FindingCause], rows: Sequence[BaselineRow]) -> tuple[FindingCause, ...]:
    """The causes; those that a comment or the baseline accepts say so: a row for each function accepts one cause."""
    left = list(rows)
    judged = []
    for cause in causes:
        accepted = acceptance(cause.finding.diagnostic)
        if accepted is None:
            own = [_row(left, finding) for finding in cause.of_functions]
            chosen = [row for row in own if row is not None]
            if len(chosen) == len(own):
                accepted = Acceptance(chosen[0].reason, external=True)
                for row in chosen:
                    left.remove(row)
        judged.append(replace(cause, accepted=accepted))
    return tuple(judged)


def _row(rows: Iterable[BaselineRow], finding: Finding) -> BaselineRow | None:
    """The first row that accepts the finding."""
    return next((row for row in rows if row.key == row_of(finding, row.file).key), None)
