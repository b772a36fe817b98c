"""The findings of one check: collected in any order, given out by place, one for each mistake.

Two findings are one mistake when code and place agree, or code and subject (the variable, the buffer, the function):
a variable that is used ten times outside its scope is one mistake.
"""

from collections.abc import Hashable, Iterable

from refmlc.diag import Diagnostic, Related, Span
from refmlc.diag.catalogue import Code


class Findings:
    """The findings of a check so far."""

    def __init__(self) -> None:
        self._found: list[Diagnostic] = []
        self._seen: set[Hashable] = set()

    def __len__(self) -> int:
        """How many findings there are."""
        return len(self._found)

    def report(
        self,
        code: Code,
        message: str,
        span: Span | None,
        *,
        label: str = "",
        notes: Iterable[str] = (),
        related: Iterable[Related] = (),
        subject: Hashable = None,
    ) -> None:
        """Add a finding, unless it is a mistake already reported. `subject` is what the mistake is about."""
        marks = [(code, mark) for mark in (span, subject) if mark is not None] or [(code, message)]
        if any(mark in self._seen for mark in marks):
            return
        self._seen.update(marks)
        self._found.append(Diagnostic(code, message, span, label, tuple(notes), tuple(related)))

    def ordered(self) -> tuple[Diagnostic, ...]:
        """All findings in the order of the text; those without a place last."""
        return tuple(sorted(self._found, key=_place))


def _place(finding: Diagnostic) -> tuple[bool, int, int]:
    """Sorting key."""
    span = finding.span
    return (True, 0, 0) if span is None else (False, span.line, span.column)
