"""A plan: at which places a motion stops. The engine asks it there; what is not listed is executed the quick way.

| field         | stops                                                                                        |
|---------------|----------------------------------------------------------------------------------------------|
| `target`      | at the first place at or after this moment; nothing else is asked then                        |
| `every`       | at each place that `wanted` takes (None: all)                                                 |
| `marks`       | at these places, where calls nest at most `level` deep                                        |
| `above`       | at any place where calls nest less deep than this: what was being executed has been left       |
| `breakpoints` | where one of the session's is met                                                            |
| `collects`    | nowhere but at `target`: the last place where it would have stopped is kept in `found`         |
"""

from collections.abc import Callable
from dataclasses import dataclass

from refmlc.debug.places import ProgramPlace, StmtPlace
from refmlc.debug.session_data import Moment


@dataclass(frozen=True, slots=True)
class MotionPlan:
    """See the table of the module. `silent`: log points say nothing. `failures`: they stop it too.

    `whole`: a loop or block that is stepped over, which C may execute. `passed`: the moment at which a store or load
    was met already. `pauses`: a pause that is asked for ends it. `after`: what happens before this moment is passed.
    """

    target: Moment | None = None
    every: bool = False
    wanted: Callable[[ProgramPlace, int], bool] | None = None
    marks: frozenset[ProgramPlace] = frozenset()
    level: int = 0
    above: int = 0
    breakpoints: bool = True
    collects: bool = False
    silent: bool = False
    failures: bool = True
    whole: ProgramPlace | None = None
    passed: Moment | None = None
    pauses: bool = True
    after: Moment | None = None

    def looks_into(self, loop: StmtPlace) -> bool:
        """Whether the motion would stop within `loop`, breakpoints aside."""
        return self.every or any(
            isinstance(mark, StmtPlace) and mark is not loop and mark.is_in(loop) for mark in self.marks
        )

    def steps_at(self, place: ProgramPlace, level: int) -> bool:
        """Whether the motion stops at `place`, breakpoints aside."""
        if level < self.above:
            return True
        if self.every:
            return self.wanted is None or self.wanted(place, level)
        return level <= self.level and place in self.marks


def going_to(moment: Moment | None, *, pauses: bool = False) -> MotionPlan:
    """To `moment` (None: to the end), past everything."""
    return MotionPlan(target=moment, breakpoints=False, silent=True, pauses=pauses)
