"""Wrong headers against the points: each is compiled, called in a process of its own, and killed by what it gives.

| end          | means                                                                                     |
|--------------|-------------------------------------------------------------------------------------------|
| `killed`     | some helper gives a wrong value or verdict; or the process dies, or does not end             |
| `no C`       | it does not compile: nothing is learnt                                                      |
| `survived`   | every point is right                                                                        |

tcc compiles all helpers in 30 ms; what only gcc reads (`__GNUC__`) is compiled by gcc or clang without optimisation.
"""

import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from c_mutations import mutants_of
from kernel_points import HEADERS, Wrapped, cells, conversions, operators, wrappers

SECONDS = 20
# Not of scalar helpers: the state of a run, and vectors, which whole functions are the test of.
ELSEWHERE = ("rm_guard.h", "rm_vector.h")
SEMANTICS = ("-ffp-contract=off", "-fwrapv")


@dataclass(frozen=True)
class End:
    """What became of a mutant, and why."""

    state: str
    why: str = ""


def headers():
    """The text of each header that scalar helpers are made of."""
    return {path.name: path.read_text() for path in sorted(HEADERS.glob("*.h")) if path.name not in ELSEWHERE}


def mutants():
    """All mutants of all of them."""
    return [one for name, text in headers().items() for one in mutants_of(name, text)]


@cache
def wrapped():
    """The helpers, by what they test: operators and codes; conversions."""
    casts = wrappers.definitions(wrappers.cast_helpers(), wrappers.reinterpret_helpers())
    return Wrapped("operators", operators() + cells()), Wrapped("conversions", conversions(), casts)


def commands(mutant, text):
    """The compilers that read what is wrong."""
    quick = ["tcc"] if shutil.which("tcc") else []
    slow = next(([name, "-O0", *SEMANTICS] for name in ("clang", "gcc") if shutil.which(name)), None)
    above = text[: mutant.start]
    only_gnu = above.rfind("#if defined __GNUC__") > max(above.rfind("\n#else"), above.rfind("\n#endif"))
    return slow if only_gnu or not quick else quick


def judge(mutant):
    """What becomes of one mutant."""
    text = headers()[mutant.header]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in HEADERS.glob("*.h"):
            (folder / path.name).write_text(mutant.applied(text) if path.name == mutant.header else path.read_text())
        order = wrapped() if mutant.header != "rm_convert.h" else reversed(wrapped())
        for unit in order:
            end = judge_unit(unit, commands(mutant, text), folder)
            if end.state != "survived":
                return end
    return End("survived")


def judge_unit(unit, command, folder):
    try:
        library = unit.compiled(command, folder, folder)
    except subprocess.TimeoutExpired:
        return End("no C", "the compiler does not end")
    return End("no C") if library is None else compare(unit, library)


def compare(unit, library):
    """The helpers against the points, in a process that may die."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        with os.fdopen(writing, "w") as out:
            out.write(unit.first_difference(library) or "right")
            out.flush()
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as said:
        text = said.read()
    _, status = os.waitpid(child, 0)
    if text == "right":
        return End("survived")
    return End("killed", text or f"the process dies: signal {os.WTERMSIG(status)}")
