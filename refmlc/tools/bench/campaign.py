"""The speed of campaigns: generated programs per second of processor time of one worker, its compilers included.

| candidate                                | each program is                                                   |
|------------------------------------------|-------------------------------------------------------------------|
| interpreter                              | generated, and run by the interpreter                             |
| … and guarded C                          | that, and compiled as written (`native:tiny`), run, compared      |
| … and reordered C                        | that, and where a loop may move, in reordered C (`moved`) as well |
| … and real TVM                           | generated, run by the interpreter and by TVM, compared            |

The candidates take turns batch by batch, in workers as campaigns have them; a number is the median over the batches.
The time of TVM's process counts, its start does not. What limits: of a program with TVM, its parser takes about 30 %,
LLVM 50 %; in C, the compiler takes half without tcc, next to nothing with it: then our analysis takes most.
The sanitizer is off: in a campaign it has its own share of batches.
"""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from refmlc.lang.ir.visit import walk
from refmlc.lang.script import show
from refmlc.oracle.fuzz.batch import program
from refmlc.oracle.fuzz.cage import Cages
from refmlc.oracle.fuzz.jobs import Batches
from refmlc.oracle.fuzz.settings import CampaignSettings

CANDIDATES = (
    ("interpreter", ("interp",), 800),
    ("… and guarded C", ("native:tiny",), None),
    ("… and reordered C", ("native:tiny", "moved"), 150),
)
WITH_TVM, GOAL_WITH_TVM = "… and real TVM", 25


def candidates(python: str | None) -> tuple[tuple[str, tuple[str, ...], int | None], ...]:
    """The candidates: their names, implementations, goals. `python`: one with apache-tvm, or None."""
    return CANDIDATES if python is None else (*CANDIDATES, (WITH_TVM, (f"tvm:{python}",), GOAL_WITH_TVM))


@dataclass(frozen=True, slots=True)
class Speed:
    """One candidate: programs per second of processor time, and the goal where there is one."""

    candidate: str
    implementations: tuple[str, ...]
    programs: float
    goal: int | None

    @property
    def within(self) -> bool:
        """Whether the goal is reached."""
        return self.goal is None or self.programs >= self.goal


@dataclass(frozen=True, slots=True)
class Population:
    """The programs of some batches: how many, how many of them differ as text, how many nodes they have on average."""

    programs: int
    distinct: int
    nodes: float


def population(batches: int, size: int | None = None) -> Population:
    """The programs that `bench_campaigns` measures: a speed says nothing where they are trivial."""
    settings = CampaignSettings() if size is None else CampaignSettings(size=size)
    modules = [
        program(settings, number).module for batch in range(1, batches + 1) for number in settings.programs(batch)
    ]
    nodes = sum(1 for module in modules for function in module.functions.values() for _ in walk(function))
    return Population(len(modules), len({show(module) for module in modules}), nodes / len(modules))


def bench_campaigns(
    batches: int = 9, size: int | None = None, progress: Callable[[], None] = lambda: None, python: str | None = None
) -> tuple[Speed, ...]:
    """Measure each candidate on the same batches; the first, in which a worker loads what it needs, does not count.

    Units: `size` in programs of a batch; None: as campaigns have it. `python`: one with apache-tvm.
    """
    rows = candidates(python)
    seconds: dict[str, list[float]] = {name: [] for name, _, _ in rows}
    cages_by_name = {name: Cages() for name, _, _ in rows}
    programs = CampaignSettings.size if size is None else size
    try:
        for batch in range(batches + 1):
            for name, implementations, _ in rows:
                settings = CampaignSettings(implementations=implementations, sanitize=0, size=programs)
                result = Batches(settings, cages_by_name[name]).done(batch)
                if batch:
                    seconds[name].append(result.cpu / result.programs)
            progress()
    finally:
        for cages in cages_by_name.values():
            cages.close()
    return tuple(Speed(name, paths, 1 / median(seconds[name]), goal) for name, paths, goal in rows)
