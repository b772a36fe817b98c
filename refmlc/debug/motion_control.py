"""The control of a motion: its plan, the stop that ends it, and the worker that executes it.

A motion ends at the first of these:

| order | stop                                                                                    |
|-------|-----------------------------------------------------------------------------------------|
| 1     | `GOTO`: the target of the plan is reached                                                |
| 2     | a breakpoint of the policy                                                              |
| 3     | `STEP`: a place where the plan stops                                                    |
| 4     | `PAUSE`: the owner requested it, from any thread                                         |

A plan that collects keeps the last of 2 and 3 in `last` and continues.
"""

from collections.abc import Callable

from refmlc.debug.places import ProgramPlace
from refmlc.debug.plan import MotionPlan
from refmlc.debug.position import Position
from refmlc.debug.session_data import Reason, Stop
from refmlc.debug.stop_policy import StopPolicy
from refmlc.debug.worker import Worker


class MotionControl:
    """See the docstring of the module. `stop`: where the program stands, None while it moves."""

    def __init__(self, position: Position, is_among: Callable[[frozenset[int]], bool]) -> None:
        """`is_among`: whether the threads of a plan are executed here."""
        self._position = position
        self._is_among = is_among
        self._worker: Worker | None = None
        self.policy = StopPolicy()
        self.plan = MotionPlan()
        self.stop: Stop | None = None
        self.last: Stop | None = None
        self.pause_requested = False

    # ---------------------------------------------------------------------------------------------- owner

    def follow(self, policy: StopPolicy) -> None:
        """Let `policy` decide where the program stops."""
        self.policy = policy

    @property
    def alive(self) -> bool:
        """True after the program has begun and before it has ended."""
        return self._worker is not None and self._worker.alive

    def begin(self, body: Callable[[], None]) -> None:
        """Execute `body` in a worker from the next motion on."""
        self._worker = Worker(body)

    def advance(self, plan: MotionPlan, interrupted: Callable[[], None]) -> None:
        """Execute a motion; afterwards `stop` is None where the program has ended."""
        assert self._worker is not None  # noqa: S101 - `begin` has made it
        self.plan, self.stop, self.last = plan, None, None
        self._worker.go(interrupted)
        if not self._worker.alive:
            self.stop = None

    def finish(self, stop: Stop) -> Stop:
        """The program has ended, with this stop."""
        self.stop = stop
        return stop

    def end(self) -> None:
        """End the run and its worker."""
        if self._worker is not None:
            self._worker.end()

    def request_pause(self, *, active: bool) -> None:
        """Request a pause, or withdraw the request; from any thread."""
        self.pause_requested = active

    # ------------------------------------------------------------------------------------------------ run

    @property
    def must_pause(self) -> bool:
        """[run] True if a pause is requested and the motion allows it."""
        return self.pause_requested and self.plan.pauses

    def is_before(self) -> bool:
        """[run] True until the motion reaches the moment from which stops are checked."""
        return self.plan.after is not None and self._position.moment < self.plan.after

    def consider(self, place: ProgramPlace) -> None:
        """[run] Stop at `place`, if the plan, the policy or a pause says so."""
        position, plan = self._position, self.plan
        moment = position.moment
        self.policy.apply_edits(moment)
        if self.is_before():
            return
        if plan.target is not None and moment >= plan.target:
            self._park(Stop(Reason.GOTO, moment, position.function, place.span))
            return
        stop = None
        if plan.target is None or plan.collects:
            stop = self.policy.hit_at(place, plan, moment) if plan.breakpoints else None
            if stop is None and plan.steps_at(place, position.depth) and self._is_stepped(plan):
                stop = Stop(Reason.STEP, moment, position.function, place.span)
        if self.must_pause and (stop is None or plan.collects):  # pausing here misses no stop
            self._park(Stop(Reason.PAUSE, moment, position.function, place.span))
            return
        self.meet(stop)

    def _is_stepped(self, plan: MotionPlan) -> bool:
        return plan.threads is None or self._is_among(plan.threads)

    def meet(self, stop: Stop | None) -> None:
        """[run] Stop, or keep the stop where the plan collects."""
        if stop is not None and self.plan.collects:
            self.last = stop
        elif stop is not None:
            self._park(stop)

    def limit(self, count: int, snapshot: int) -> int:
        """[run] The next statement, after number `count`, that leaves the fast path; `snapshot`: the next one due."""
        plan, event = self.plan, self._position.event
        limit = snapshot
        if plan.every or self._position.depth < plan.above or self.must_pause:
            limit = 0
        elif plan.target is not None and plan.target.event <= event:
            limit = min(limit, plan.target.step if plan.target.event == event else 0)
        return min(limit, self.policy.next_edit(event, count))

    def _park(self, stop: Stop) -> None:
        assert self._worker is not None  # noqa: S101 - it executes this
        self.stop = stop
        self._worker.park()
