"""The tier switch: the calls and loops of a run that C executes as a whole.

| executed in C      | where                                                                                      |
|--------------------|--------------------------------------------------------------------------------------------|
| a call by Relax    | the motion neither stops, steps nor sets a value within it                                 |
| a loop or a block  | the same, it is long, and the motion steps over it or C has executed it at this moment      |

A loop or call that C executed once is executed by C again after going back: C is faster than the interpreter.
"""

from refmlc.debug import outlined_loops
from refmlc.debug.loop_length import LoopLength
from refmlc.debug.motion_control import MotionControl
from refmlc.debug.outlined_loops import OutlinedLoops
from refmlc.debug.places import ProgramPlace, StmtPlace
from refmlc.debug.plan import MotionPlan
from refmlc.debug.position import Position
from refmlc.debug.resumption import Resumption
from refmlc.debug.session_data import Moment
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.memory.budget import Budget


class TierSwitch:
    """See the docstring of the module. `loops`: those that C executed, by the moment at which they began."""

    def __init__(self, position: Position, control: MotionControl, resumption: Resumption, budget: Budget) -> None:
        self._position, self._control, self._resumption = position, control, resumption
        self._outlined = OutlinedLoops(budget)
        self._events: set[int] = set()
        self._stepped_over: ProgramPlace | None = None
        self.loops: dict[Moment, tuple[StmtPlace, LoopLength]] = {}

    def begin(self, plan: MotionPlan) -> None:
        """A motion with this plan begins."""
        self._stepped_over = plan.stepped_over

    def forget_loops(self) -> None:
        """Forget the loops: the moments belong to another run from here on."""
        self.loops.clear()

    def executed(self, event: int) -> bool:
        """True if C has executed the call that is `event`."""
        return event in self._events

    def loop_places(self) -> frozenset[ProgramPlace]:
        """The places of the loops that C executed."""
        return frozenset(place for place, _ in self.loops.values())

    def takes_call(self, name: str) -> bool:
        """[run] True if C may execute a call of `name`."""
        position, plan, event = self._position, self._control.plan, self._position.event
        if position.bodies or self._resumption.active or self._control.must_pause:
            return False
        if self._control.is_before():
            plan = MotionPlan(breakpoints=False)
        if plan.target is not None and plan.target.event <= event and plan.target.step:
            return False
        steps = plan.every or (plan.marks and position.depth <= plan.level) or position.depth < plan.above
        if steps and not (plan.collects and event in self._events):  # a search passes what C executed before
            return False
        if not self._control.policy.quiet(name, event, plan):
            return False
        self._events.add(event)
        return True

    def run_loop(self, place: StmtPlace, frame: Frame) -> range | None:
        """[run] Let C execute the loop at `place`, if it may: the steps it took, or None."""
        moment, plan, reentry = self._position.moment, self._control.plan, self._position.innermost.reentry
        executed_loop = self.loops.get(moment)
        may_run = place is self._stepped_over or executed_loop is not None
        if reentry is None or self._control.pause_requested or not may_run or plan.looks_into(place):
            return None
        self._stepped_over = None
        length = executed_loop[1] if executed_loop else self._outlined.length(place, frame, reentry)
        if length is None or length.iterations < outlined_loops.LONG:
            return None
        steps = range(moment.step, moment.step + length.statements)
        target = plan.target
        if target is not None and target.event <= moment.event and target < Moment(moment.event, steps.stop):
            return None
        if self._control.policy.concerns(place, plan, steps) or not self._outlined.execute(
            place, frame, reentry, length
        ):
            return None
        self.loops[moment] = (place, length)
        return steps
