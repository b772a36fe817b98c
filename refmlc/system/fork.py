"""Try a piece of work in a fork of this process, which may die of it.

Code of others that may end its process (a compiler, say) is tried so before it runs here. The fork has everything that
this process holds, objects without a text included; what it makes is lost with it.
"""

import faulthandler
import os
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from refmlc.system.lines import how_ended

BLOCK = 1 << 16


@dataclass(frozen=True)
class Death:
    """The death of a fork. `words`: the last that the work said; `ended`: the signal or status, in words."""

    words: str
    ended: str


def death_of(work: Callable[[Callable[[str], None]], object], seconds: float) -> Death | None:
    """How a fork dies of `work`, which may say where it is; None: it ends by itself, raises, or takes longer.

    Decision: a fork that takes longer is killed and nothing is concluded: a lock that another thread held at the fork
    stays closed in it. Units: seconds.
    """
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        faulthandler.disable()  # the other side reports its death
        with suppress(BaseException):  # what it raises, it raises again in this process
            os.close(ours)
            work(lambda words: _say(theirs, words))
        os._exit(0)
    os.close(theirs)
    late, words = _last_words(ours, time.monotonic() + seconds)
    os.close(ours)
    if late:
        os.kill(pid, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return None if late or status == 0 else Death(words, how_ended(status))


def _say(pipe: int, words: str) -> None:
    os.write(pipe, f"{words}\n".encode(errors="backslashreplace"))


def _last_words(pipe: int, deadline: float) -> tuple[bool, str]:
    """Whether time ran out before the other end was closed; the last whole line."""
    line, rest = b"", b""
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([pipe], [], [], left)[0]:
            return True, line.decode(errors="replace")
        block = os.read(pipe, BLOCK)
        if not block:
            return False, line.decode(errors="replace")
        *lines, rest = (rest + block).split(b"\n")
        line = lines[-1] if lines else line
