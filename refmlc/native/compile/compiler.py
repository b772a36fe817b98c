"""The C compiler: which one, with which flags; its runs beside this process.

| asked for        | found                                                                  |
|------------------|------------------------------------------------------------------------|
| REFMLC_CC is set | that program (a name in PATH, or a path), and no other                 |
| `tiny`           | tcc, if it is in PATH: compiles in a tenth of the time, to slower code |
| … and `LARGE`    | else clang: its start takes longer, each line half of gcc's time       |
| else             | the first of gcc, clang, cc in PATH                                    |
"""

import os
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from errno import EDQUOT, EFBIG, ENOSPC, EROFS
from functools import lru_cache
from pathlib import Path

from refmlc.native.compile.failures import BuildFailed, Cause
from refmlc.native.compile.pieces import pieces, processors
from refmlc.native.compile.wall import check_unit
from refmlc.native.options import Isa
from refmlc.system.command import GLANCE, Ended, Running

CANDIDATES = ("gcc", "clang", "cc")
TINY = "tcc"
LARGE = 1 << 15  # characters of a text for which clang is quicker than gcc, both without optimisation
HEADERS = Path(__file__).parents[1] / "headers"
SOURCE, LIBRARY = "unit.c", "unit.so"  # relative, so that equal sources give equal libraries
LIMIT = 120.0  # seconds
VERSION_LIMIT = 10.0
MOST_LINES = 6  # of what the compiler prints
WIDEST = 160
IGNORED = ("CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "GCC_EXEC_PREFIX", "COMPILER_PATH")  # are in no key


class Effort(StrEnum):
    """How much of the compiler's time code is worth: its bits are the same.

    Decision: `FULL` is -O3 and not -O2: loops as written become vectors, selects no branches; compiling takes 3 %
    longer (gcc 12). `LESS` takes two thirds of that, `LEAST` a third.
    """

    FULL = "-O3"
    LESS = "-O1"
    LEAST = "-O0"


SEMANTICS = ("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fwrapv", "-fno-strict-aliasing")
SHAPE = ("-std=c11", "-shared", "-fPIC", "-Werror=implicit-function-declaration")  # which -w would silence
# gcc 12 makes vectors of two lanes of straight code, and then takes (double)(float)x for x: 1e-46 stays what it is. A
# campaign found it; without that pass it does not happen, and vectors that are written as such are not touched.
GCC_ONLY = ("-fexcess-precision=standard", "-fno-tree-slp-vectorize")
FLAGS: Mapping[str, tuple[str, ...]] = {
    "gcc": (*SHAPE, *SEMANTICS, *GCC_ONLY),
    "clang": (*SHAPE, *SEMANTICS),
    "tcc": ("-std=c11", "-shared", "-w"),  # without: aligned_alloc is not declared, its pointer is cut to an int
}

LIBRARIES = ("-lm", "-lpthread")
COMPACT = ("-s", "-Wl,-z,noseparate-code")  # two thirds of the bytes to read, digest and map; exported names stay
PLAIN = frozenset(("guard", "dtypes", "convert", "arith", "compare", "bitwise", "vector", "python"))
"""Headers that call nothing but memory functions of libc."""
INCLUDED = re.compile(r'^#include "rm_([a-z]+)\.h"', re.MULTILINE)
FMA = re.compile(r"\bfmaf?\(")


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C compiler. `kind` (gcc, clang, tcc) decides its flags, `version` is what `--version` prints."""

    path: str
    kind: str
    version: str
    effort: Effort = Effort.FULL

    @property
    def is_quick(self) -> bool:
        """Whether one run of it takes a whole text: another one would read the headers anew, and save less time."""
        return self.kind == TINY or self.effort is Effort.LEAST

    def flags(self, isa: Isa) -> tuple[str, ...]:
        """All flags but the paths. tcc has no vectors, whatever the instruction set."""
        flags = FLAGS[self.kind]
        return flags if self.kind == TINY else (self.effort.value, *flags, *isa.flags)


def find_compiler(*, tiny: bool = False, effort: Effort = Effort.FULL, size: int = 0) -> Compiler:
    """The compiler to use for a text of `size` characters.

    Raises BuildFailed (NO_COMPILER, or as running it for its version does). It is looked for again where
    the environment, or the program's file, is another one than before.
    """
    path = _find(os.environ.get("REFMLC_CC", ""), os.environ.get("PATH", ""), tiny, size >= LARGE)
    try:
        status = os.stat(path)  # noqa: PTH116 - this is done in every call of a function that is compiled already
    except OSError as problem:
        raise BuildFailed(Cause.NO_COMPILER, f"{path}: {problem.strerror}") from None
    compiler = _identify(path, status.st_mtime_ns, status.st_size)
    if isinstance(compiler, BuildFailed):
        raise compiler
    return compiler if compiler.effort is effort else replace(compiler, effort=effort)


@lru_cache(maxsize=64)
def _find(program: str, search: str, tiny: bool, is_large: bool) -> str:
    """The path of the program. What is not found is looked for again next time: exceptions are not kept."""
    quickest: tuple[str, ...] = (TINY, "clang") if is_large else (TINY,)
    names: tuple[str, ...] = (program,) if program else (*quickest, *CANDIDATES) if tiny else CANDIDATES
    for name in names:
        path = shutil.which(name, path=search)
        if path is not None:
            return path
    raise BuildFailed(Cause.NO_COMPILER, f"there is no {' or '.join(names)}; REFMLC_CC names one")


@lru_cache(maxsize=64)
def _identify(path: str, _modified: int, _size: int) -> "Compiler | BuildFailed":
    """The program at `path`, or why it is no compiler: that is found out once, however long it takes."""
    try:
        version = _version(path)
    except BuildFailed as failure:
        return failure
    lowered = version.lower()
    kind = TINY if "tcc version" in lowered else "clang" if "clang" in lowered else "gcc"
    return Compiler(path, kind, version)


class Compilation:
    """A translation unit on its way: compiled beside this process, in one run of the compiler or in several."""

    def __init__(self, compiler: Compiler, text: str, isa: Isa, folder: Path, limit: float = LIMIT) -> None:
        """Begin to compile `text` in `folder`, an empty one. Units: `limit` in seconds, of each run.

        Raises BuildFailed (DISK, NO_COMPILER). Fails: RM902 (no generator writes that).
        """
        check_unit(text)  # NAT-008: here, because there is no other way to the compiler
        self._folder, self._limit, self._program = folder, limit, compiler.path
        parts = pieces(text, 1 if compiler.is_quick else processors())
        sources = [SOURCE] if len(parts) == 1 else [f"{number}-{SOURCE}" for number in range(len(parts))]
        for source, part in zip(sources, parts, strict=True):
            self._write(source, part)
        command = [compiler.path, *compiler.flags(isa), f"-I{HEADERS}"]
        library = ["-o", LIBRARY, *_libraries(compiler, text)]
        if len(parts) == 1:
            self._steps = [[[*command, SOURCE, *library]]]
        else:
            objects = [f"{source}.o" for source in sources]
            compiling = [[*command, "-c", source, "-o", name] for source, name in zip(sources, objects, strict=True)]
            self._steps = [compiling, [[*command, *objects, *library]]]
        self._running: list[Running] = []
        self._start()

    def library(self, seconds: float = 0.0) -> Path | None:
        """The library, if it is there within about `seconds`; None: not yet.

        Raises BuildFailed (FAILED, TIMED_OUT, DISK).
        """
        while self._running:
            for running in self._running.copy():
                ended = running.ended(seconds / len(self._running))
                if ended is not None:
                    self._running.remove(running)
                    running.close()
                    _check(self._program, ended, self._limit)
            if self._running:
                return None
            if self._steps:
                self._start()
        if not (self._folder / LIBRARY).is_file():
            raise BuildFailed(Cause.FAILED, f"{self._program} says it has worked, and has written no library")
        return self._folder / LIBRARY

    def wait(self) -> Path:
        """The library, and nothing left that runs. Raises BuildFailed (FAILED, TIMED_OUT, DISK)."""
        try:
            while (path := self.library(GLANCE)) is None:
                pass
        finally:
            self.close()
        return path

    def close(self) -> None:
        """End what still runs."""
        for running in self._running:
            running.close()

    def _start(self) -> None:
        """Start the runs of the next step."""
        for command in self._steps.pop(0):
            try:
                self._running.append(_running(command, self._folder, self._limit))
            except BuildFailed:
                self.close()
                raise

    def _write(self, name: str, text: str) -> None:
        try:
            (self._folder / name).write_text(text, encoding="utf-8")
        except OSError as problem:
            raise BuildFailed(Cause.DISK, f"{problem.filename or self._folder}: {problem.strerror}") from None


def _libraries(compiler: Compiler, text: str) -> tuple[str, ...]:
    """How `text` is linked: with what it may call only, because finding symbols in libc and libm takes 10 ms.

    Every process has libc, in which the loader of libraries finds what headers without mathematics call.
    """
    if compiler.kind != "gcc" or sys.platform != "linux":
        return LIBRARIES
    is_plain = {*INCLUDED.findall(text)} <= PLAIN and not FMA.search(text)
    return (*COMPACT, *(("-nostdlib", "-lgcc") if is_plain else LIBRARIES))


def _running(command: list[str], folder: Path | None, limit: float) -> Running:
    """`command`, started in `folder`."""
    environment = {name: value for name, value in os.environ.items() if name not in IGNORED}
    environment["LC_ALL"] = "C"
    if folder is not None:
        environment["TMPDIR"] = str(folder)
    try:
        return Running(command, limit, environment=environment, folder=folder)
    except OSError as problem:
        raise BuildFailed(Cause.NO_COMPILER, f"{command[0]}: {problem.strerror}") from None


def _check(program: str, ended: Ended, limit: float) -> None:
    """Raises BuildFailed where a run of `program` did not end well."""
    if ended.status is None:
        raise BuildFailed(Cause.TIMED_OUT, f"{program} was ended after {limit:g} s")
    if ended.status:
        raise _failed(program, ended.status, ended.printed)


def _version(path: str) -> str:
    """What `path --version` prints. Raises BuildFailed."""
    running = _running([path, "--version"], None, VERSION_LIMIT)
    try:
        ended = running.wait()
    finally:
        running.close()
    _check(path, ended, VERSION_LIMIT)
    return ended.printed


def _failed(path: str, status: int, output: str) -> BuildFailed:
    ending = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
    lines = [line if len(line) <= WIDEST else f"{line[:WIDEST]} …" for line in output.splitlines() if line.strip()]
    disk_full = any(os.strerror(number) in output for number in (ENOSPC, EDQUOT, EFBIG, EROFS))
    cause = Cause.DISK if disk_full else Cause.FAILED
    return BuildFailed(cause, "\n  ".join((f"{path} {ending}", *lines[:MOST_LINES])))
