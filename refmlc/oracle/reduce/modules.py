"""Modules as the matter of a search.

A candidate is swept up (`tidy`), checked, shown as text and read back: what is judged is the module of the text, so
the text is all that there is to a result.
"""

from collections.abc import Sequence

from refmlc.diag import RefmlcError
from refmlc.lang.script import read, show
from refmlc.lang.wellformed.module import check_module
from refmlc.oracle.reduce.order import GROUPS
from refmlc.oracle.reduce.search import Candidate, Pass, SubjectText
from refmlc.oracle.reduce.size import size_of
from refmlc.oracle.reduce.subject import Subject
from refmlc.oracle.reduce.tidy import tidied


class Modules:
    """Subjects: modules, and calls of them."""

    groups: Sequence[Sequence[Pass[Subject]]] = GROUPS

    def shown(self, subject: Subject) -> SubjectText[Subject] | None:
        """The subject, swept up, as text; None where a static rule is broken."""
        swept = subject.with_module(tidied(subject.module))
        try:
            return None if check_module(swept.module) else as_text(swept)
        except RefmlcError:
            return None

    def read(self, shown: SubjectText[Subject]) -> Candidate[Subject] | None:
        """The module of the text; None if it breaks a static rule."""
        try:
            return as_read(shown)
        except RefmlcError:
            return None


def as_text(subject: Subject) -> SubjectText[Subject]:
    """The subject with its text. Fails: as showing does."""
    text = show(subject.module, show_meta=True)
    return SubjectText(subject, text, (text, subject.calls))


def as_read(shown: SubjectText[Subject]) -> Candidate[Subject] | None:
    """The subject as its text says it; None where a static rule is broken. Fails: as reading does."""
    module = read(shown.text, "reduced.py")
    if check_module(module):
        return None
    subject = shown.subject.with_module(module)
    return Candidate(subject, shown.text, size_of(subject, shown.text))
