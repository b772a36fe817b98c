"""The worker process: reads a line of JSON, writes a line of JSON; `python -m refmlc.oracle.fuzz.worker MIB`.

| request                                                | answer                                                      |
|--------------------------------------------------------|-------------------------------------------------------------|
| `call`: `module:function`, `args`: data, `seconds`     | `result`: what it returned, as data; `cpu`, `memory`        |
|                                                        | `raised`: what it raised, the last line of it; `traceback`  |

Before the answer a line says `starts`: true where a process begins to start that it keeps, false where it has.

It ends when its input does: with the process that waits for it, however that ends; so do the processes that it keeps
(`kept_processes`). What programs print goes nowhere.
"""

import faulthandler
import gc
import json
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from functools import partial
from typing import TextIO

from refmlc.lazy import load
from refmlc.oracle.fuzz.kept_processes import announce_starts, end_kept
from refmlc.system.tree import cpu_seconds_of, started_by

MIB = 1 << 20
GRACE = 20.0  # seconds: a late worker ends itself if its parent has not killed it by then
# Looking for cycles took a third of the time: what is loaded at first is never garbage, and batches leave little.
YOUNG = 2_000_000  # objects between looks at the new ones, within a batch: a larger batch makes most of them
CALLS = 16  # between looks at all


def main() -> None:
    """Answer requests until there are none."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    requests, answers = _streams()
    _limited(int(sys.argv[1]))
    faulthandler.enable()
    gc.set_threshold(YOUNG, 1000, 1000)
    before = cpu_seconds()
    try:
        for number, line in enumerate(requests):
            request = json.loads(line)
            faulthandler.dump_traceback_later(request["seconds"] + GRACE, exit=True)
            with announce_starts(partial(_tell_start, answers, request["seconds"])):
                answer = answer_to(request["call"], request["args"], before)
            faulthandler.cancel_dump_traceback_later()
            _write(answers, answer)
            before = cpu_seconds()  # tidying counts in the next answer
            _tidy(number)
    finally:
        end_kept()


def _write(answers: TextIO, line: Mapping[str, object]) -> None:
    answers.write(json.dumps(line, separators=(",", ":")) + "\n")
    answers.flush()


def _tell_start(answers: TextIO, seconds: float, starts: bool) -> None:
    """Say that an implementation starts, or that it is over; the time of the request begins anew after that."""
    if starts:
        faulthandler.cancel_dump_traceback_later()
    else:
        faulthandler.dump_traceback_later(seconds + GRACE, exit=True)
    _write(answers, {"starts": starts})


def _tidy(number: int) -> None:
    """Free the cycles that some calls left. After the first call, all that it loaded stays."""
    if number % CALLS == 0:
        gc.collect()
    if number == 0:
        gc.freeze()


def _streams() -> tuple[TextIO, TextIO]:
    """Requests and answers; the standard streams are others from now on, for whatever writes to them."""
    requests, answers = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)
    return requests, answers


def _limited(mebibytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (mebibytes * MIB, mebibytes * MIB))


def answer_to(call: str, args: list[object], before: float) -> dict[str, object]:
    """Call the function and make an answer of its result; every exception becomes an answer, too.

    `before`: the processor time that is counted already. Units: seconds.
    """
    try:
        answer: dict[str, object] = {"result": function(call)(*args)}
    except Exception as problem:  # noqa: BLE001 - the border, see above
        last = traceback.format_exception_only(problem)[-1].strip().partition("\n")[0]
        answer = {"raised": last, "traceback": traceback.format_exc()}
    return {**answer, "cpu": cpu_seconds() - before, "memory": memory_bytes(), "worker": str(os.getpid())}


def function(path: str) -> Callable[..., object]:
    """The function at `module:function`."""
    loaded: Callable[..., object] = load(path)
    return loaded


def cpu_seconds() -> float:
    """Seconds of processor time of this process and of all that it has started: implementations live on."""
    own_usage, child_usage = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = own_usage.ru_utime + own_usage.ru_stime + child_usage.ru_utime + child_usage.ru_stime
    return ended + cpu_seconds_of(started_by(os.getpid()))


def memory_bytes() -> int:
    """Bytes of memory that this process holds now; its highest ever where the system tells no more."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - it is read after each batch
            return int(file.read().split()[1]) * resource.getpagesize()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main()
