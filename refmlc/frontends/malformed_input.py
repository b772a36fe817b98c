"""Input that is not as its format says: what Python raises while it is read becomes a message with the place."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE

RAISED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What reading a part raises that is missing, too short, or of another kind than its format says."""


@contextmanager
def malformed(place: Callable[[], str]) -> Iterator[None]:
    """Read input in this block. Fails: RM109 with the `place` reached, where the input is not as its format says."""
    try:
        yield
    except RAISED as bad:
        what = " ".join(str(bad).split())[:200]
        raise fail(BAD_FILE, f"{place()} does not have its format ({type(bad).__name__}: {what})") from bad
