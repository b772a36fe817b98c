"""The speed at the shell, where people wait: reading large texts, one check, the start of a command.

| row                     | is                                                                                       |
|-------------------------|------------------------------------------------------------------------------------------|
| a text of functions     | five megabytes as TVM prints them: a softmax and a call of it, again and again           |
| a text of one function  | the same size: the loops of a softmax, again and again                                   |
| reading, its memory     | `refmlc.read`, without imports; the most that the process ever had, Python included       |
| showing                 | `refmlc.show` of the module, to the time of reading it                                   |
| a check                 | `refmlc check` of a small function, compiled code in the cache                           |
| `--help`, a small file  | the start of a command: the shortest, and `refmlc show`                                   |

Each number is of a process of its own: its processor time with its children's, the median of the rounds.
"""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from refmlc.diag import fail
from refmlc.diag.catalogue import BUG
from refmlc.system.command import Ended, run
from refmlc.tools.bench.texts import program

LARGE: Final = 5_000_000
"""Characters of a large text."""
PATIENCE: Final = 600.0  # seconds
SMALL: Final = """\
from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def gemm(A: T.Buffer((4, 8), "float32"), B: T.Buffer((8, 4), "float32"), C: T.Buffer((4, 4), "float32")):
    for i, j, k in T.grid(4, 4, 8):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] += A[vi, vk] * B[vk, vj]
"""
PARSER: Final = "Python's parser, twice; a call of Python for each expression"
PRINTER: Final = "a call of Python for each node"
TREES: Final = "nodes of the module; the tree of one piece of the text"
IMPORTS: Final = "imports: NumPy's, and the classes of nodes"
CHECKING: Final = "imports; drawing and interpreting eighteen calls"


@dataclass(frozen=True, slots=True)
class ShellRow:
    """A number, its unit, its goal, and what keeps it from being better."""

    what: str
    against: str
    measured: float
    unit: str
    goal: float
    limit: str

    @property
    def within(self) -> bool:
        """Whether the goal is reached."""
        return self.measured <= self.goal


@dataclass(frozen=True, slots=True)
class ReadingCost:
    """What reading a text cost. Units: seconds of the processor, megabytes."""

    read: float
    show: float
    megabytes: float


def many_functions(characters: int) -> str:
    """A module of at least that many characters: softmax and its caller, numbered."""
    head, _, body = program("softmax", rows=64, cols=128).partition("class Module:\n")
    pieces = [_numbered(body, number) for number in range(-(-characters // len(body)))]
    return f"{head}class Module:\n" + "\n".join(pieces)


def _numbered(body: str, number: int) -> str:
    for name in ("def softmax", "cls.softmax", "def main"):
        body = body.replace(name, f"{name}{number}")
    return body


def single_function(characters: int) -> str:
    """A function of at least that many characters: the loops of softmax, again and again."""
    head, mark, rest = program("softmax", rows=64, cols=128).partition("        for ")
    loops = mark + rest.partition("\n    @R.function")[0]
    return head + loops * -(-characters // len(loops))


def reading_cost(path: Path) -> ReadingCost:
    """What reading and showing the text at `path` costs in a process of its own. Fails: RM901."""
    return ReadingCost(
        **json.loads(_finished([sys.executable, "-m", "refmlc.tools.bench.text_costs", str(path)]).printed)
    )


def seconds_of(*arguments: str) -> float:
    """The processor time of `refmlc` with these arguments, its children's included. Fails: RM901."""
    before = _seconds_of_children()
    _finished([sys.executable, "-m", "refmlc", *arguments])
    return _seconds_of_children() - before


def _seconds_of_children() -> float:
    import resource  # noqa: PLC0415 - not every system has it

    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _finished(command: Sequence[str]) -> Ended:
    ended = run(command, PATIENCE)
    if ended.status != 0:
        raise fail(BUG, f"`{' '.join(command[1:])}` ended with {ended.status}: {ended.printed[-500:]}")
    return ended


def bench_shell(
    rounds: int = 5, progress: Callable[[], None] = lambda: None, *, characters: int = LARGE
) -> tuple[ShellRow, ...]:
    """Measure all rows; `progress` is called for each of the five parts."""
    rows: list[ShellRow] = []
    size = f"{characters / 1e6:g} MB of text"
    with TemporaryDirectory() as name:
        folder = Path(name)
        for title, text in (("functions", many_functions(characters)), ("one function", single_function(characters))):
            path = folder / "large.py"
            path.write_text(text, encoding="utf-8")
            costs = [reading_cost(path) for _ in range(rounds)]
            rows += (
                ShellRow(f"reading {title}", size, median(cost.read for cost in costs), "s", 4.0, PARSER),
                ShellRow(f"memory, {title}", size, max(cost.megabytes for cost in costs), "MB", 300.0, TREES),
                ShellRow(
                    f"showing {title}", "reading", median(cost.show / cost.read for cost in costs), "x", 1.0, PRINTER
                ),
            )
            progress()
        small = folder / "small.py"
        small.write_text(SMALL, encoding="utf-8")
        for what, arguments, factor, unit, goal, limit in (
            ("refmlc check", ("check", str(small)), 1, "s", 0.6, CHECKING),
            ("refmlc --help", ("--help",), 1000, "ms", 120.0, "imports of click and rich"),
            ("refmlc show", ("show", str(small)), 1000, "ms", 120.0, IMPORTS),
        ):
            seconds_of(*arguments)  # fills the caches
            measured = median(seconds_of(*arguments) for _ in range(rounds))
            against = "a small function" if len(arguments) > 1 else ""
            rows.append(ShellRow(what, against, factor * measured, unit, goal, limit))
            progress()
    return tuple(rows)
