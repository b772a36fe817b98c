"""A plan: the places at which a motion stops. Everything else takes the fast path.

| field         | stops                                                                                        |
|---------------|----------------------------------------------------------------------------------------------|
| `target`      | at the first place at or after this moment, and nowhere else                                  |
| `every`       | at each place                                                                                 |
| `marks`       | at these places, where calls nest at most `level` deep                                        |
| `threads`     | only where one of these threads is executed, or all of them have ended                        |
| `above`       | at any place where calls nest less deep than this: a call has been left                        |
| `breakpoints` | where a breakpoint of the session is met                                                      |
| `collects`    | only at `target`; the engine keeps the last place where it would have stopped                  |
"""

from dataclasses import dataclass

from refmlc.debug.places import ProgramPlace, StmtPlace
from refmlc.debug.session_data import Moment


@dataclass(frozen=True, slots=True)
class MotionPlan:
    """See the table of the module. `silent`: log points print nothing. `failures`: failures stop the motion too.

    `stepped_over`: a loop or block that C may execute. `current_access`: the moment of the store or load at which the
    program stands already. `pauses`: a request for a pause ends the motion. `after`: no stop before this moment.
    """

    target: Moment | None = None
    every: bool = False
    marks: frozenset[ProgramPlace] = frozenset()
    level: int = 0
    above: int = 0
    breakpoints: bool = True
    collects: bool = False
    silent: bool = False
    failures: bool = True
    stepped_over: ProgramPlace | None = None
    current_access: Moment | None = None
    pauses: bool = True
    after: Moment | None = None
    threads: frozenset[int] | None = None

    def looks_into(self, loop: StmtPlace) -> bool:
        """True if the motion can stop within `loop`, apart from breakpoints."""
        return self.every or any(
            isinstance(mark, StmtPlace) and mark is not loop and mark.is_in(loop) for mark in self.marks
        )

    def steps_at(self, place: ProgramPlace, level: int) -> bool:
        """True if the motion stops at `place`, apart from breakpoints."""
        return level < self.above or self.every or (level <= self.level and place in self.marks)


def going_to(moment: Moment | None, *, pauses: bool = False) -> MotionPlan:
    """A plan that goes to `moment` (None: to the end) and stops nowhere else."""
    return MotionPlan(target=moment, breakpoints=False, silent=True, pauses=pauses)
