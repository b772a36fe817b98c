"""What the assertions raise: assertion errors that are findings of refmlc too."""

from refmlc.diag import Mismatch, Undefined


class Inequivalent(Mismatch, AssertionError):
    """Two programs that should mean the same do not (RM7xx)."""


class NotDefined(Undefined, AssertionError):
    """A program that should be defined has undefined behaviour (RM3xx)."""
