"""The exceptions of the assertions: assertion errors that are also findings of refmlc."""

from refmlc.diag import Mismatch, Undefined


class Inequivalent(Mismatch, AssertionError):
    """Two programs that should mean the same do not (RM7xx)."""


class NotDefined(Undefined, AssertionError):
    """A program that should be defined has undefined behaviour (RM3xx)."""
