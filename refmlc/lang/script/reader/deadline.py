"""The seconds that reading a text may take: the clock is read every `EXPRESSIONS` expressions.

They are seconds of the processor, which a busy machine does not shorten. Python's parser cannot be stopped: it is
bounded by the size of the text alone (`syntax`).
"""

import time

from refmlc.diag import RefmlcError, Span, fail
from refmlc.diag.catalogue import TIME_EXHAUSTED

SECONDS = 60.0
"""The default: a text of 16 MiB of plain statements needs about that."""

EXPRESSIONS = 256
"""Expressions between two readings of the clock."""


class Deadline:
    """When reading must be done. Units: seconds of the processor in this thread, from the moment that it is made."""

    __slots__ = ("_end", "seconds")

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self._end = time.thread_time() + seconds

    @property
    def over(self) -> bool:
        """True when the time is used up."""
        return time.thread_time() > self._end

    def exhausted(self, span: Span) -> RefmlcError:
        """The finding RM605, at the place that reading got to."""
        return fail(TIME_EXHAUSTED, f"reading takes longer than {self.seconds:g} seconds", span)
