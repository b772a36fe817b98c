"""What compiling is measured with: an empty cache, and the time of all processes."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

VARIABLE = "REFMLC_CACHE_DIR"


@contextmanager
def cache_in(folder: Path) -> Iterator[None]:
    """Libraries are in `folder`, and nowhere else."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before


def processor_time() -> int:
    """Nanoseconds that this process and its children that have ended took."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return round(1e9 * sum(part.ru_utime + part.ru_stime for part in used))
