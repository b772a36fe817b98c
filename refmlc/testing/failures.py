"""What the assertions raise: assertion errors that are findings of refmlc too, whose text is the whole message."""

from refmlc.diag import Mismatch, Undefined
from refmlc.diag.render import render_text


class Inequivalent(Mismatch, AssertionError):
    """Two programs that should mean the same do not (RM7xx)."""

    def __str__(self) -> str:
        """The message in rustc's manner."""
        return render_text(self.diagnostic)


class NotDefined(Undefined, AssertionError):
    """A program that should be defined has undefined behaviour (RM3xx)."""

    def __str__(self) -> str:
        """The message in rustc's manner."""
        return render_text(self.diagnostic)
