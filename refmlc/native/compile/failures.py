"""Why there is no library, and what users see: one warning per cause and process, then it is interpreted.

| cause          | when                                                                    | then                      |
|----------------|-------------------------------------------------------------------------|---------------------------|
| `NO_COMPILER`  | neither REFMLC_CC nor gcc, clang, cc in PATH is there                   | the interpreter           |
| `FAILED`       | the compiler ends with an error, by a signal, or without a library      | the interpreter           |
| `TIMED_OUT`    | the compiler needs longer than the limit; it is killed                  | the interpreter           |
| `DISK`         | the library, or what the compiler makes on the way, cannot be written   | the interpreter           |
| `NOT_LOADED`   | the system does not load the library, or it lacks a function            | the interpreter           |
| `CACHE`        | the directory of the cache cannot be used, or others could write there  | a cache for one process   |
"""

import warnings
from enum import Enum
from functools import cache


class Cause(Enum):
    """A kind of failure: the same advice helps."""

    NO_COMPILER = "no C compiler is found"
    FAILED = "the C compiler fails"
    TIMED_OUT = "the C compiler takes too long"
    DISK = "the library cannot be written"
    NOT_LOADED = "the library cannot be loaded"
    CACHE = "the cache of libraries is not used"


class BuildFailed(Exception):
    """There is no library. `detail` says what happened, in a few lines at most."""

    def __init__(self, cause: Cause, detail: str) -> None:
        """`detail` follows `cause` in the message: a path, the output of the compiler."""
        super().__init__(f"{cause.value}: {detail}")
        self.cause = cause
        self.detail = detail


class NativeWarning(RuntimeWarning):
    """Compiled code is unavailable or not cached; results are the same, only slower."""


def warn_once(failure: BuildFailed, consequence: str = "the interpreter does the work") -> None:
    """Warn of `failure` and its `consequence`, unless this process has warned of its cause before.

    Decision: once per cause, not per message. A machine without a compiler has one problem however many modules
    are built on it.
    """
    warned = _warned_causes()
    if failure.cause in warned:
        return
    warned.add(failure.cause)
    if failure.cause is Cause.CACHE:
        consequence = "it is kept for this process only"
    warnings.warn(f"{failure}; {consequence}", NativeWarning, stacklevel=2)


@cache
def _warned_causes() -> set[Cause]:
    """The causes that this process has warned of."""
    return set()
