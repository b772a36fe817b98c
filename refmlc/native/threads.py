"""On how many threads compiled code runs: as many as REFMLC_THREADS says, else one.

Decision: one, unless more are requested: threads that share a machine with others' work wait for each other.
"""

import os

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE

VARIABLE = "REFMLC_THREADS"
MOST = 256
"""RM_MOST_THREADS (rm_threads.h)."""


def detect_threads() -> int:
    """The number in REFMLC_THREADS, or 1. Fails: RM112."""
    text = os.environ.get(VARIABLE, "1")
    return check_threads(int(text) if text.isdecimal() and text.isascii() else 0, f"{VARIABLE} is `{text}`")


def check_threads(threads: int, what: str) -> int:
    """`threads`, a number of threads that `what` tells of. Fails: RM112."""
    if not 1 <= threads <= MOST:
        raise fail(BAD_USAGE, f"{what}, a number of threads is one of 1 to {MOST}")
    return threads
