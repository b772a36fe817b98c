"""Predicates for reduction that keep a verdict the same.

| predicate     | holds as long as                                                                           |
|---------------|--------------------------------------------------------------------------------------------|
| `ends_in`     | some call of the case ends in this code under the sanitizer, or meets it as a lint         |
| `same_verdict` | an implementation has a finding of the same code on the case: never another kind of one   |
| `fails_to_read` | a text is refused with this code                                                         |
"""

from collections.abc import Callable

from refmlc.diag import RefmlcError
from refmlc.diag.catalogue import CONTRADICTION
from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.sanitize.report import Finding as Noted
from refmlc.oracle.examine import examine
from refmlc.oracle.finding import Finding
from refmlc.oracle.implementations.implementation import Implementation, Limits
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.reference import references
from refmlc.strategies.case import Case


def ends_in(code: str, limits: Limits | None = None) -> Callable[[Case], bool]:
    """The predicate: the interpreter and its sanitizer tell `code` of a call of the case."""
    interp = Interp(Limits() if limits is None else limits)

    def keep(case: Case) -> bool:
        return any(finding.diagnostic.code.id == code for finding in _noted(case, interp))

    return keep


def codes_of(case: Case, limits: Limits | None = None) -> list[str]:
    """The codes that the interpreter and its sanitizer tell of the calls of the case. Order: as met."""
    interp = Interp(Limits() if limits is None else limits)
    return list(dict.fromkeys(finding.diagnostic.code.id for finding in _noted(case, interp)))


def _noted(case: Case, interp: Interp) -> list[Noted]:
    reports = [reference.report for reference in references(case, interp, sanitize=True)]
    return [finding for report in reports if report is not None for finding in report.findings]


def findings_of(
    case: Case, implementation: Implementation, limits: Limits | None = None, *, pairs: bool = False
) -> tuple[Finding, ...]:
    """The oracle's findings on an implementation for a case. `pairs`: on its variants too."""
    (examined,) = examine([case], [implementation], limits=limits, pairs=pairs)
    return tuple(finding for finding in examined.findings if finding.implementation == implementation.name)


def same_verdict(implementation: Implementation, code: str, limits: Limits | None = None) -> Callable[[Case], bool]:
    """The predicate: the implementation has a finding of `code` on the case, or on a pair with a variant of it."""
    pairs = code == CONTRADICTION.id

    def keep(case: Case) -> bool:
        return any(finding.code.id == code for finding in findings_of(case, implementation, limits, pairs=pairs))

    return keep


def fails_to_read(code: str) -> Callable[[str], bool]:
    """The predicate on texts: reading one, static rules among it, fails with `code`."""

    def keep(text: str) -> bool:
        try:
            read(text, "reduced.py")
        except RefmlcError as failure:
            return failure.code.id == code
        return False

    return keep
