"""The groups of the bench as measurements of one kind: `interp`, `native`, `debug`, `fuzz`, `shell`."""

from collections.abc import Callable, Mapping
from typing import Final

from refmlc.tools.bench import debugger
from refmlc.tools.bench.campaign import bench_campaigns
from refmlc.tools.bench.history import BenchRun, Measurement, begun
from refmlc.tools.bench.interpreter import BY_HAND, LIMIT, bench_interpreter
from refmlc.tools.bench.row import LAST, BenchRow
from refmlc.tools.bench.session import FULL, TINY
from refmlc.tools.bench.shell import LARGE, bench_shell
from refmlc.tools.bench.table import run_table

LIMITS: Final[Mapping[str, str]] = {
    "interp": "a call of Python for each node of the program",
    "debug": "a call of Python for each statement; copies of memory",
    "fuzz": "drawing and preparing programs in Python; the C compiler",
    "shell": "Python's parser and its imports; a call of Python for each node",
    "1": "the processor's multiplications and additions",
    "2": "the processor's multiplications and additions",
    "3": "the processor's multiplications and additions; loads of windows that overlap",
    "4": "memory, exp in plain arithmetic, transposes in registers",
    "5": "the call from Python; memory of the weights",
    "6": "a comparison for each index and each read",
    "7": "the C compiler: its start, headers, and passes over each function",
    "8": "the call from Python, checks of arguments",
    "9": "additions and multiplications of float64",
    "10": "nothing is timed",
    "11": "conversions to float32 and back",
    "12": "cores; making threads; memory that all of them share",
    "13": "checks of each access, values of each thread kept in memory between barriers",
    "14": "the C compiler's optimisation; lowering and analysis in Python",
    "15": "the call from Python; each binding that is in no C function: control flow, casts, packed functions",
}
"""What keeps a number from being better, by group or row."""
TINY_ROUNDS, TINY_STATEMENTS, TINY_BATCH, TINY_TEXT = 1, 6, 4, 5000


def bench_all(
    python: str | None, rounds: int, progress: Callable[[str], None] = lambda _: None, *, tiny: bool = False
) -> BenchRun:
    """Run all groups; `python` has TVM, None: it takes no part. Fails: RM112 (that Python has no TVM)."""
    rounds, sizes = (TINY_ROUNDS, TINY) if tiny else (rounds, FULL)
    report = run_table(python, range(1, LAST + 1), rounds, lambda name: progress(f"native: {name}"), sizes)
    measurements = [_of_row(row) for row in report.rows]
    for name, group in (("interp", _interp), ("debug", _debug), ("fuzz", _fuzz), ("shell", _shell)):
        progress(name)
        measurements += group(rounds, tiny=tiny)
    return begun("tiny" if tiny else "full", report.machine, measurements)


def _interp(rounds: int, *, tiny: bool) -> list[Measurement]:  # noqa: ARG001 - there is one size
    return [
        Measurement(
            "interp",
            f"{timing.kernel}, {timing.candidate}",
            BY_HAND,
            timing.ratio,
            "x",
            "at most",
            LIMIT,
            limit=LIMITS["interp"],
        )
        for timing in bench_interpreter(rounds)
        if timing.candidate != BY_HAND
    ]


def _debug(rounds: int, *, tiny: bool) -> list[Measurement]:
    cost = debugger.bench_debugger(rounds, size=TINY_STATEMENTS if tiny else debugger.LARGE)
    rows = (
        ("a statement", "hooks that do nothing", cost.ratio, "x", debugger.MOST_RATIO),
        ("a step back", "", cost.median_back, "ms", debugger.MOST_MILLISECONDS),
    )
    return [
        Measurement("debug", what, against, measured, unit, "at most", goal, limit=LIMITS["debug"])
        for what, against, measured, unit, goal in rows
    ]


def _fuzz(rounds: int, *, tiny: bool) -> list[Measurement]:
    return [
        Measurement(
            "fuzz",
            speed.candidate,
            "",
            speed.programs,
            "programs/s",
            "at least",
            speed.goal,
            limit=LIMITS["fuzz"],
        )
        for speed in bench_campaigns(rounds, TINY_BATCH if tiny else None)
    ]


def _shell(rounds: int, *, tiny: bool) -> list[Measurement]:
    return [
        Measurement("shell", row.what, row.against, row.measured, row.unit, "at most", row.goal, limit=row.limit)
        for row in bench_shell(rounds, characters=TINY_TEXT if tiny else LARGE)
    ]


def _of_row(row: BenchRow) -> Measurement:
    return Measurement(
        "native",
        f"{row.number} {row.what}",
        row.against,
        None if row.failed else row.measured,
        row.goal.unit,
        row.goal.direction,
        row.goal.value,
        row.failed or row.note,
        LIMITS[str(row.number)],
    )
