"""The engine: executes the program in a worker, stops it where the plan says, takes snapshots, and continues from them.

It receives the events of the stepper and passes them to its parts; each part alone writes its own state:

| part              | owns                                                    |
|-------------------|---------------------------------------------------------|
| `position`        | the event, the active calls, the place                  |
| `control`         | the plan of the motion, the stop, the pause, the worker |
| `traps`           | the statements that leave the fast path                 |
| `roster`          | the threads that take turns                             |
| `machines`        | the interpreters, the tracing level                     |
| `tier_switch`     | the calls and loops that C executes                     |
| `snapshots`       | the snapshots                                           |
| `snapshot_policy` | when the next snapshot is taken                         |
| `resumption`      | the snapshot to which the run is returning              |
| `output`          | how much the program has printed                        |
| `outcome`         | the result, the failure                                 |

Methods marked [run] are executed in the worker's thread while the owner waits; the others by the owner while the
worker waits.
"""

from collections.abc import Sequence

from refmlc.debug.clock import NEVER, clock
from refmlc.debug.machines import Machines
from refmlc.debug.motion_control import MotionControl
from refmlc.debug.places import BindingPlace, PlaceIndex, ProgramPlace, StmtPlace
from refmlc.debug.plan import MotionPlan
from refmlc.debug.position import Position
from refmlc.debug.program import Program
from refmlc.debug.program_output import ProgramOutput
from refmlc.debug.reentry import Reentry
from refmlc.debug.resumption import Resumption
from refmlc.debug.run_outcome import RunOutcome
from refmlc.debug.session_data import BEGINNING, Reason, Stop
from refmlc.debug.snapshot_policy import SnapshotPolicy, saved_graph
from refmlc.debug.snapshots import DEFAULT_RATE, SavedCall, Snapshot, SnapshotRate, Snapshots
from refmlc.debug.threads.numbers import indices, number_of
from refmlc.debug.threads.roster import Roster
from refmlc.debug.tier_switch import TierSwitch
from refmlc.debug.traps import Traps
from refmlc.diag import RefmlcError
from refmlc.lang.ir import relax, tir
from refmlc.observe.copies import copies
from refmlc.run.interp.graph import activation
from refmlc.run.interp.machine import Machine
from refmlc.run.interp.tensorir.frame import Frame, Run
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.tensorir.views import View
from refmlc.run.interp.threads.group import Thread
from refmlc.run.memory.budget import Budget


class Engine:
    """See the docstring of the module."""

    def __init__(
        self, program: Program, places: PlaceIndex, snapshot_bytes: int, snapshot_rate: SnapshotRate = DEFAULT_RATE
    ) -> None:
        self.program = program
        self.places = places
        self.args = copies(program.args)
        self._budget = Budget(max_steps=program.max_steps) if program.max_steps else Budget()
        self._clock = clock(self._slow, self._on_failure)
        self.position = Position(self._clock)
        self.control = MotionControl(self.position, self.is_among)
        self.traps = Traps()
        self.roster = Roster()
        self.output = ProgramOutput(program.output)
        self.outcome = RunOutcome()
        self.machines = Machines(program, self._budget, self, self._on_failure, self.output)
        self._resumption = Resumption(self.position, self._budget, self.output)
        self.tier_switch = TierSwitch(self.position, self.control, self._resumption, self._budget)
        self.snapshots = Snapshots(snapshot_bytes)
        self._snapshot_policy = SnapshotPolicy(snapshot_rate, self.snapshots, self.traps)
        self.snapshots.take(BEGINNING, (SavedCall(tuple(self.args)),), 0, 0)

    # ---------------------------------------------------------------------------------------------- owner

    def trap(self, places: frozenset[ProgramPlace]) -> None:
        """Let the program report at these places, at no others but calls and the loops that C executes."""
        self.traps.mark(places | self.tier_switch.loop_places())

    def advance(self, plan: MotionPlan) -> Stop:
        """Execute a motion from the current position."""
        self.tier_switch.begin(plan)
        self.control.advance(plan, self.pause)
        self.outcome.raise_defect()
        if self.control.stop is not None:
            return self.control.stop
        self.position.clear_place()
        return self.control.finish(self.outcome.stop(self.position.event, self.program.func))

    def launch(self, base: Snapshot, plan: MotionPlan) -> Stop:
        """Begin at `base`, and execute a motion."""
        self.end()
        self._resumption.begin(base)
        self.position.reset()
        self.roster.reset()
        self._clock.limit(NEVER)
        self.outcome.reset()
        self._snapshot_policy.begin(base)
        machine = self.machines.fresh()
        self.control.begin(lambda: self._execute(machine))
        return self.advance(plan)

    def end(self) -> None:
        """End the run and its worker."""
        self.control.end()

    def diverge(self) -> None:
        """Begin another run at this moment: forget everything about later moments."""
        self.snapshots.forget_after(self.position.moment)
        self.tier_switch.forget_loops()
        self.output.diverge()

    def forget(self) -> None:
        """Forget everything about the run except its beginning."""
        self.snapshots.forget_after(BEGINNING)
        self.tier_switch.forget_loops()
        self.output.forget()

    def pause(self) -> None:
        """Stop at the next place; from any thread. The request holds until `unpause`."""
        self.control.request_pause(active=True)
        self._clock.limit(0)

    def unpause(self) -> None:
        """Withdraw the request for a pause."""
        self.control.request_pause(active=False)

    # -------------------------------------------------------------------------------- the run, functions

    def _execute(self, machine: Machine) -> None:
        """[run] Execute the whole program."""
        try:
            self.outcome.returned(machine.call(self.program.func, list(self.args)))
        except RefmlcError as failure:
            self.outcome.failed(failure)
        except Exception as defect:  # noqa: BLE001 - the owner raises it in the other thread
            self.outcome.broke(defect)

    def enter_call(self, name: str, args: Sequence[object]) -> None:
        """[run] A call begins."""
        self.position.enter_call(name, args)
        if not self.position.bodies:
            self._begin_event()

    def leave_call(self) -> None:
        """[run] A call ends."""
        self.position.leave_call()
        if not self.position.bodies:
            self._begin_event()
        elif self.position.depth < self.control.plan.above:
            self._arm()

    def _begin_event(self) -> None:
        self.position.next_event()
        self._snapshot_policy.begin_event()
        self._arm()

    # ---------------------------------------------------------------------------------------- threads [run]

    def begin_threads(self, loop: tir.For, threads: Sequence[Thread]) -> None:
        """[run] The threads of `loop`, which take turns, are about to begin."""
        self.roster.begin(loop, threads)

    def arrive(self, token: object) -> None:
        """[run] A thread has arrived at a barrier."""
        self.roster.arrive(token)

    def met(self, token: object) -> None:
        """[run] The barrier of this arrival has opened."""
        self.roster.met(token)

    @property
    def thread(self) -> int | None:
        """The number of the thread that executes this place; None outside of threads."""
        position = self.position
        if self.roster.running is not None:
            return self.roster.running.number
        if not isinstance(position.place, StmtPlace) or position.frame is None:
            return None
        return number_of(indices(position.innermost, position.place, position.frame))

    def is_among(self, threads: frozenset[int]) -> bool:
        """[run] Whether one of `threads` executes this place, or none of them executes anything any more."""
        number = self.thread
        return number is None or number in threads or self.roster.is_over(threads)

    def may_run_in_c(self, name: str) -> bool:
        """[run] Whether C may execute a call of `name`."""
        return self.tier_switch.takes_call(name)

    def _arm(self) -> None:
        """[run] Set the limit: the next statement that leaves the fast path without a trap.

        A pause is checked afterwards: another thread may request it meanwhile.
        """
        self._clock.limit(self.control.limit(self._clock.count(), self._snapshot_policy.next))
        if self.control.must_pause:
            self._clock.limit(0)

    def _consider(self, place: ProgramPlace) -> None:
        self.control.consider(place)
        self._arm()

    # ------------------------------------------------------------------------------------- TensorIR [run]

    def wrap_statement(self, scope: Scope, stmt: tir.Stmt, run: Run) -> Run:
        """[run] The statement, counted; the outermost one of a function also begins and ends its body."""
        assert scope.func is not None  # noqa: S101 - statements stand in functions
        place = self.places.at(scope.func, scope.function, stmt)
        reentry = self.machines.reentry(scope)
        watched = run if place is None else reentry.prepare(stmt, run)
        if place is not None and place.counted:
            watched, set_trap = self._clock.wrap(place, watched, self.traps.is_set(place))
            self.traps.add(place, set_trap)
        reentry.runs[id(stmt)] = watched
        return self._body(reentry, watched) if place is not None and place.above is None else watched

    def _body(self, reentry: Reentry, run: Run) -> Run:
        def body(frame: Frame) -> None:
            self.position.enter_body(reentry, frame)
            try:
                if self._resumption.is_in():
                    self._land(reentry, frame)
                else:
                    run(frame)
            finally:
                self.position.leave_body()

        return body

    def _slow(self, place: StmtPlace, frame: Frame, run: Run) -> None:
        """[run] Execute a statement that is trapped, or beyond the limit."""
        self.position.at_statement(place, frame)
        if self._snapshot_policy.due(place, self._clock.count()):
            self._snapshot(place, frame)
        self._consider(place)
        steps = self.tier_switch.run_loop(place, frame)
        if steps is not None:
            self.position.skip_to(steps[-1])
            self._snapshot_policy.skip_to(steps.stop)
            self._arm()
            return
        try:
            run(frame)
        except RefmlcError as failure:
            self._on_failure(place, frame, failure)
            raise
        if place.calls:
            self.position.after_call(place)

    def _on_failure(self, place: StmtPlace, frame: Frame, failure: RefmlcError) -> None:
        """[run] A statement failed: stop in the innermost one."""
        if self.outcome.failed(failure):
            self.position.at_statement(place, frame)
            self._failed(place, failure)

    def _failed(self, place: ProgramPlace, failure: RefmlcError) -> None:
        control, diagnostic = self.control, failure.diagnostic
        if control.plan.failures and control.policy.fails(diagnostic):
            moment, function, text = self.position.moment, self.position.function, diagnostic.message
            control.meet(Stop(Reason.FAILURE, moment, function, place.span, text, failure=diagnostic))

    # -------------------------------------------------------------------------------- loads and stores [run]

    def before_store(self, access: tir.BufferStore, view: View, offset: int, value: object, frame: Frame) -> None:
        """[run] An element is about to be written."""
        if self._watches():
            self._at_access(access, frame)
            self._touched(self.control.policy.on_store(access, view, offset, value))

    def before_load(self, access: tir.BufferLoad, view: View, offset: int, frame: Frame) -> None:
        """[run] An element is about to be read."""
        if self._watches():
            self._at_access(access, frame)
            self._touched(self.control.policy.on_load(access, view, offset))

    def _watches(self) -> bool:
        return self.control.plan.breakpoints and not self._resumption.active and not self.control.is_before()

    def _at_access(self, access: tir.BufferLoad | tir.BufferStore, frame: Frame) -> None:
        """Evaluate conditions at the access, even when it was reached on the fast path."""
        place = self.places.of_access(access)
        if place is not None:
            self.position.at_statement(place, frame)

    def _touched(self, stop: Stop | None) -> None:
        if stop is None or stop.span is None or stop.moment == self.control.plan.current_access:
            return
        self.control.meet(stop)
        self._arm()

    # ---------------------------------------------------------------------------------------- Relax [run]

    def wrap_binding(self, binding: relax.Binding, run: activation.Run) -> activation.Run:
        """[run] A binding, counted as an event."""
        place = self.places.binding(binding)

        def watched(env: activation.Activation) -> None:
            call = self.position.enter_env(env)
            if not self._resumption.evaluates(place, call):
                return
            self.position.begin_binding(call, place)
            if not self._resumption.active:
                self._begin_event()
                self._at_binding(place)
            try:
                run(env)
            except RefmlcError as failure:
                if self.outcome.failed(failure):
                    self.position.at_binding(place)
                    self._failed(place, failure)
                raise
            self.position.end_binding(call)

        return watched

    def _at_binding(self, place: BindingPlace) -> None:
        position = self.position
        position.at_binding(place)
        if self._snapshot_policy.since(position.moment):
            calls = saved_graph(position.calls, position.depth - 1)
            if calls is not None:
                self._take(calls)
        self._consider(place)

    # ------------------------------------------------------------------------------------ snapshots [run]

    def _snapshot(self, place: StmtPlace, frame: Frame) -> None:
        """Take one before `place`, where one can be taken."""
        position, policy, call = self.position, self._snapshot_policy, self.position.innermost
        policy.postpone(position.moment.step)
        if position.bodies != 1 or call.reentry is None or self.snapshots.has(position.moment):
            return
        if self.control.policy.sets(position.event):
            return
        graph = saved_graph(position.calls[:-1], position.depth - 1)
        if graph is None or self.program.module.functions.get(call.name) is not place.func:
            return
        saved = call.reentry.save(frame, place, call.args) if place.restartable else None
        if saved is None:
            policy.wait(place, frame, call)
        else:
            self._take((*graph, saved))

    def _take(self, calls: tuple[SavedCall, ...]) -> None:
        self._snapshot_policy.take(self.position.moment, calls, self._budget.steps, self.output.printed)

    def _land(self, reentry: Reentry, frame: Frame) -> None:
        """Continue from the place of the snapshot."""
        base = self._resumption.land(reentry, frame)
        place = base.levels[-1].place
        assert place is not None  # noqa: S101 - it was taken in a prim_func
        self._snapshot_policy.resume(base)
        self._arm()
        reentry.continue_from(frame, place)
