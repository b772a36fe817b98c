"""Wrong headers against the points: each is compiled, called in a process of its own, and killed by what it gives.

| end          | means                                                                                     |
|--------------|-------------------------------------------------------------------------------------------|
| `killed`     | some helper gives a wrong value or verdict; or the process dies, or does not end             |
| `no C`       | it does not compile: nothing is learnt                                                      |
| `survived`   | every point is right                                                                        |

tcc compiles all helpers in 30 ms; what only gcc reads (`__GNUC__`) is compiled by gcc or clang without optimisation.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from biting import prove
from c_mutations import mutants_of
from kernel_points import HEADERS, ROOT, Wrapped, cells, conversions, operators, stores, transcendentals, wrappers

SECONDS = 6
# Not of scalar helpers: the state of a run, arguments, and vectors, which whole functions are the test of.
ELSEWHERE = ("rm_guard.h", "rm_vector.h", "rm_python.h", "rm_threads.h")
SEMANTICS = ("-ffp-contract=off", "-fwrapv")


@dataclass(frozen=True)
class End:
    """What became of a mutant, and why."""

    state: str
    why: str = ""


@cache
def snapshot():
    """The text of each header, read once: somebody may be editing them."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(HEADERS.glob("*.h"))}


def headers():
    """Those that scalar helpers are made of."""
    return {name: text for name, text in snapshot().items() if name not in ELSEWHERE}


def mutants():
    """All mutants of all of them."""
    return [one for name, text in headers().items() for one in mutants_of(name, text)]


@cache
def wrapped(name):
    """Helpers with what they must give: `operators`, `conversions`, `cr` or `libm`."""
    match name:
        case "operators":
            return Wrapped(name, operators() + cells() + stores())
        case "conversions":
            return Wrapped(
                name, conversions(), wrappers.definitions(wrappers.cast_helpers(), wrappers.reinterpret_helpers())
            )
        case _:
            head = "#define RM_MATH_LIBM\n" if name == "libm" else ""
            return Wrapped(name, transcendentals(name), '#include "rm_transcendental.h"\n', head)


def units_of(header):
    """What includes the header."""
    match header:
        case "rm_types.h" | "rm_dtypes.h":
            return ("operators", "conversions")
        case "rm_convert.h":
            return ("conversions",)
        case "rm_formulas.h":
            return ("libm",)
        case "rm_transcendental.h" | "rm_exponential.h" | "rm_hypot.h" | "rm_platform.h":
            return ("cr", "libm")
        case _:
            return ("operators",)


# As C11: gcc's own dialect evaluates in 16 bits (FLT_EVAL_METHOD is 16) on processors that have such registers.
GCC_LIKE = next((name for name in ("gcc", "clang", "cc") if shutil.which(name)), "cc")
SLOW = [GCC_LIKE, "-std=c11", "-O1", "-march=native", *SEMANTICS]
# What is no gcc reads other lines than gcc does; RM_PLAIN and no instruction set make gcc read those.
QUICK = ["tcc", "-std=c11"] if shutil.which("tcc") else [GCC_LIKE, "-std=c11", "-O0", "-DRM_PLAIN", *SEMANTICS]


def compilers(mutant, text):
    """The compiler that reads what is wrong, and is quick."""
    return SLOW if depends_on_gcc(text[: mutant.start]) else QUICK


def depends_on_gcc(above):
    """Whether the place below `above` is read only by compilers that are like gcc, or have certain instructions."""
    open_ones = []
    for line in re.findall(r"^#\s*(if|ifdef|ifndef|else|elif|endif)\b(.*)", above, re.MULTILINE):
        match line:
            case ("endif", _):
                open_ones.pop()
            case ("else" | "elif", _):
                open_ones[-1] = ""
            case (_, condition):
                open_ones.append(condition)
    return any("__GNUC__" in condition or "__F16C__" in condition for condition in open_ones)


@contextmanager
def applied(mutant):
    """A folder with all headers, one of them wrong."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for header, text in snapshot().items():
            (folder / header).write_text(mutant.applied(text) if header == mutant.header else text, encoding="utf-8")
        yield folder


@dataclass(frozen=True)
class Planted:
    """A header with `text` at its end: what the helpers there are to others afterwards."""

    header: str
    text: str
    start = 0

    def applied(self, right):
        """The text of the header."""
        return f"{right}\n{self.text}\n"


def prove_itself():
    """A helper that gives 7, whatever it is asked, is killed, by either compiler; headers as they are survive."""
    for name, header in (("operators", "rm_arith.h"), ("cr", "rm_transcendental.h")):
        helper = wrapped(name).expected[0].helper.name
        for command in (QUICK, SLOW):
            ends = []
            for text in (f"#define {helper}(...) 7", ""):
                with applied(Planted(header, text)) as folder:
                    ends.append(by_points(wrapped(name), command, folder))
            told = f"{helper} that gives 7: {ends[0]}; unchanged: {ends[1]} ({' '.join(command)})"
            prove(
                "the judge of headers", notices=ends[0].state == "killed", passes=ends[1].state == "survived", why=told
            )


def prove_slowly(*, tests):
    """The same of what looks at survivors."""
    ends = [judge_slowly(Planted("rm_arith.h", text), tests=tests) for text in ("#define rm_add_int32(...) 7", "")]
    told = f"rm_add_int32 that gives 7: {ends[0]}; unchanged: {ends[1]}"
    killed, survived = (end.state for end in ends)
    prove("who looks at survivors slowly", notices=killed == "killed", passes=survived == "survived", why=told)


def judge(mutant):
    """What becomes of one mutant."""
    command = compilers(mutant, headers()[mutant.header])
    with applied(mutant) as folder:
        for name in units_of(mutant.header):
            end = by_points(wrapped(name), command, folder)
            if end.state != "survived":
                return end
        for name in units_of(mutant.header):
            warning = by_warnings(wrapped(name), folder)
            if warning:
                return End("killed", warning)
    return End("survived")


def judge_slowly(mutant, *, tests):
    """What becomes of one that survived, under the sanitizer and in the tests of the headers themselves."""
    with applied(mutant) as folder:
        for name in units_of(mutant.header):
            command = ["clang", "-O1", "-fsanitize=undefined", "-fsanitize-trap=all", *SEMANTICS]
            end = by_points(wrapped(name), command, folder)
            if end.state == "killed":
                return End("killed", f"sanitizer: {end.why}")
        failed = by_tests(folder) if tests else ""
    return End("killed", failed) if failed else End("survived")


def by_points(unit, command, folder):
    """Compiled, called, compared."""
    try:
        library = unit.compiled(command, folder, folder)
    except subprocess.TimeoutExpired:
        return End("no C", "the compiler does not end")
    return End("no C") if library is None else compare(unit, library)


def by_warnings(unit, folder):
    """What a compiler warns of: the headers are clean."""
    source = folder / "clean.c"
    source.write_text(unit.text, encoding="ascii")
    for name in ("gcc", "clang"):
        if shutil.which(name):
            flags = ["-fsyntax-only", *wrappers.STRICT, f"-I{folder}"]
            done = subprocess.run([name, *flags, str(source)], capture_output=True, text=True, check=False)
            if done.returncode:
                return f"{name} warns: {next(line for line in done.stderr.splitlines() if 'error' in line)}"
    return ""


def by_tests(folder):
    """The first test of `tests/unit/kernels` that fails with these headers; empty: none does."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        shutil.copytree(ROOT / "tests" / "unit" / "kernels", root / "tests" / "unit" / "kernels")
        shutil.copytree(folder, root / "kernels_c")
        for part in (ROOT / "setup.cfg", *(ROOT / "tests").glob("*.py")):
            shutil.copy(part, root / part.relative_to(ROOT))
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-xq", "--no-header", "-p", "no:cacheprovider", "tests/unit/kernels"],
            cwd=root, capture_output=True, text=True, check=False,
        )  # fmt: skip
        failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
        return failed[0][:200] if failed else "" if done.returncode == 0 else done.stdout[-300:]


def compare(unit, library):
    """The helpers against the points, in a process that may die."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # pytest-timeout has a handler of its own
        signal.alarm(SECONDS)
        with os.fdopen(writing, "w") as out:
            try:
                out.write(unit.first_difference(library) or "right")
            except OSError:  # a function that is declared nowhere
                out.write("no C")
            out.flush()
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as said:
        text = said.read()
    _, status = os.waitpid(child, 0)
    if text in ("right", "no C"):
        return End("survived" if text == "right" else text)
    return End("killed", text or f"the process dies: signal {os.WTERMSIG(status)}")
