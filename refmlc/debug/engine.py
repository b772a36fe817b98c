"""The engine: executes the program in a worker, stops it where the plan says, takes snapshots, and goes on from them.

Everything marked [run] is executed in the worker's thread, while the owner waits; the rest by the owner, while the
worker waits.
"""

from collections.abc import Sequence

from refmlc.debug import outlined_loops
from refmlc.debug.clock import NEVER, SetTrap, clock
from refmlc.debug.loop_length import LoopLength
from refmlc.debug.outlined_loops import OutlinedLoops
from refmlc.debug.places import BindingPlace, PlaceIndex, ProgramPlace, StmtPlace
from refmlc.debug.plan import MotionPlan
from refmlc.debug.program import Program
from refmlc.debug.reentry import Reentry
from refmlc.debug.session_data import BEGINNING, Moment, Reason, Stop
from refmlc.debug.snapshot_policy import SnapshotPolicy, saved_graph
from refmlc.debug.snapshots import DEFAULT_RATE, SavedCall, Snapshot, SnapshotRate, Snapshots
from refmlc.debug.stepper import STEPPERS
from refmlc.debug.stop_policy import ActiveCall, PreparedMachine, StopPolicy
from refmlc.debug.worker import Worker
from refmlc.diag import RefmlcError
from refmlc.lang.ir import relax, tir
from refmlc.native.tier.choosing import Choosing
from refmlc.native.tier.module import NativeModule
from refmlc.observe.why.copying import copies
from refmlc.run.interp.graph import activation
from refmlc.run.interp.machine import Machine
from refmlc.run.interp.tensorir.frame import Frame, Run
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.tensorir.views import View
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor


class Engine:
    """See the docstring of the module. `standing` is where the worker waits."""

    def __init__(
        self, program: Program, places: PlaceIndex, snapshot_bytes: int, snapshot_rate: SnapshotRate = DEFAULT_RATE
    ) -> None:
        self.program = program
        self.places = places
        self.judge = StopPolicy()
        self.args = copies(program.args)
        self.snapshots = Snapshots(snapshot_bytes)
        self.budget = Budget(max_steps=program.max_steps) if program.max_steps else Budget()
        self.clock = clock(self._slow, self._fell)
        self.level = 0  # which stepper
        self.plan = MotionPlan()
        self.stop: Stop | None = None
        self.place: ProgramPlace | None = None
        self.frame: Frame | None = None
        self.levels: list[ActiveCall] = []
        self.event = 0
        self.result: object = None
        self.problem: Exception | None = None
        self.emitted = 0
        self.quick: set[int] = set()  # the events that C executed
        self._printed = 0
        self._tir = 0
        self._failure: RefmlcError | None = None
        self._pausing = False
        self._worker: Worker | None = None
        self._prepared: dict[int, PreparedMachine] = {}
        self._heats: dict[StmtPlace, list[SetTrap]] = {}
        self._hot: frozenset[ProgramPlace] = frozenset()
        self._resuming: Snapshot | None = None
        self._taking = SnapshotPolicy(
            snapshot_rate, self.snapshots, self._heats, lambda place: place in self._hot or place.calls
        )
        self._native: Choosing | None = None
        self.outlined_loops = OutlinedLoops(self.budget)
        self.wholes: dict[Moment, tuple[StmtPlace, LoopLength]] = {}  # loops that C executed
        self.snapshots.take(BEGINNING, (SavedCall(tuple(self.args)),), 0, 0)

    # ---------------------------------------------------------------------------------------------- owner

    @property
    def moment(self) -> Moment:
        """Now."""
        return Moment(self.event, self.clock.count())

    @property
    def alive(self) -> bool:
        """Whether the program has begun and not ended."""
        return self._worker is not None and self._worker.alive

    def heat(self, hot: frozenset[ProgramPlace]) -> None:
        """Let these places, and no others but those that call functions, leave the quick way."""
        hot = hot.union(place for place, _ in self.wholes.values())
        for place in self._hot ^ hot:
            if isinstance(place, StmtPlace):
                for set_heat in self._heats.get(place, ()):
                    set_heat(place in hot or place.calls)
        self._hot = hot

    def advance(self, plan: MotionPlan) -> Stop:
        """Go on from where the program stands."""
        assert self._worker is not None  # noqa: S101 - there is one once `launch` was called
        self.plan = plan
        self.stop = None
        self._worker.go(self.pause)
        if self.problem is not None:
            raise self.problem
        if self.stop is None or not self._worker.alive:
            self.stop = self._end()
        return self.stop

    def launch(self, base: Snapshot, plan: MotionPlan) -> Stop:
        """Begin at `base`, and go on."""
        self.end()
        for saved in base.storages:
            saved.restore(saved.storage)
        self.levels = []
        self.event = self._tir = 0
        self.clock.begin(0)
        self.clock.limit(NEVER)
        self.result, self._failure, self.place, self.frame = None, None, None, None
        self._resuming = base if base.levels and base.moment != BEGINNING else None
        self._printed = base.printed
        self._taking.begin(base)
        machine = self._machine()
        machine.depth = machine.groups = 0
        self.budget.renew()
        self.budget.bytes = 0
        self._worker = Worker(lambda: self._execute(machine))
        return self.advance(plan)

    def end(self) -> None:
        """End the run."""
        if self._worker is not None:
            self._worker.end()

    def diverge(self) -> None:
        """From here on it is another run: what was foreseen is forgotten, and output is written again."""
        self.snapshots.forget_after(self.moment)
        self.wholes.clear()
        self.emitted = self._printed

    def pause(self) -> None:
        """Stop at the next place; from any thread. It holds until `unpause`, whatever is executed till then."""
        self._pausing = True
        self.clock.limit(0)

    def unpause(self) -> None:
        """No pause is asked for any more."""
        self._pausing = False

    def _machine(self) -> Machine:
        if self.level not in self._prepared:
            native = self._choosing()
            machine = Machine(
                self.program.module,
                hooks=STEPPERS[self.level](self),
                budget=self.budget,
                registry=self.program.registry,
                output=self._print,
                substitutes=native,
            )
            self._prepared[self.level] = PreparedMachine(machine)
        return self._prepared[self.level].machine

    def _choosing(self) -> Choosing:
        if self._native is None:
            self._native = Choosing(NativeModule(self.program.module, "cr"), self.budget, waits=True)
        return self._native

    def _end(self) -> Stop:
        self.place = self.frame = None
        moment = Moment(self.event + 1, 0)
        if self._failure is not None:
            diagnostic = self._failure.diagnostic
            return Stop(Reason.ENDED, moment, self.program.func, None, diagnostic.message, failure=diagnostic)
        return Stop(Reason.ENDED, moment, self.program.func)

    # -------------------------------------------------------------------------------- the run, functions

    def _execute(self, machine: Machine) -> None:
        """[run] All of the program."""
        try:
            self.result = machine.call(self.program.func, list(self.args))
        except RefmlcError as failure:
            self._failure = failure
        except Exception as problem:  # noqa: BLE001 - the owner raises it, who waits in another thread
            self.problem = problem

    def _print(self, text: str) -> None:
        """[run] The program's own output; what was written before is not written again."""
        self._printed += 1
        if self._printed > self.emitted:
            self.emitted = self._printed
            self.program.output(text)

    def entered(self, name: str, args: Sequence[object]) -> None:
        """[run] A call begins."""
        if self.levels:
            self.levels[-1].calls += 1
        self.levels.append(ActiveCall(name, tuple(args)))
        if self._tir == 0:
            self._begin_event()

    def left(self) -> None:
        """[run] A call ended."""
        self.levels.pop()
        if self._tir == 0:
            self._begin_event()
        elif len(self.levels) < self.plan.above:
            self._arm()

    def _begin_event(self) -> None:
        self.event += 1
        self.clock.begin(0)
        self._taking.begin_event()
        self._arm()

    def quiet(self, name: str) -> bool:
        """[run] Whether C may execute a call of `name`."""
        plan = self.plan
        if self._tir or self._resuming is not None or (self._pausing and plan.pauses):
            return False
        if self._passes():
            plan = MotionPlan(breakpoints=False)
        if plan.target is not None and plan.target.event <= self.event and plan.target.step:
            return False
        steps = plan.every or (plan.marks and len(self.levels) <= plan.level) or len(self.levels) < plan.above
        if steps and not (plan.collects and self.event in self.quick):  # backwards, over what C did in one go
            return False
        if not self.judge.quiet(name, self.event, plan):
            return False
        self.quick.add(self.event)
        return True

    # ------------------------------------------------------------------------------------- TensorIR [run]

    def statement(self, scope: Scope, stmt: tir.Stmt, run: Run) -> Run:
        """[run] The statement, counted; the body of a function also begins and ends it."""
        assert scope.func is not None  # noqa: S101 - statements stand in functions
        place = self.places.at(scope.func, scope.function, stmt)
        reentries = self._prepared[self.level].reentries
        if id(scope.func) not in reentries:
            reentries[id(scope.func)] = Reentry(scope, self.budget, self._fell)
        reentry = reentries[id(scope.func)]
        watched = run if place is None else reentry.prepare(stmt, run)
        if place is not None and place.counted:
            watched, heat = self.clock.wrap(place, watched, place in self._hot or place.calls)
            self._heats.setdefault(place, []).append(heat)
        reentry.runs[id(stmt)] = watched
        return self._body(reentry, watched) if place is not None and place.above is None else watched

    def _body(self, reentry: Reentry, run: Run) -> Run:
        def body(frame: Frame) -> None:
            level = self.levels[-1]
            level.reentry, level.frame = reentry, frame
            self._tir += 1
            try:
                if self._resuming is not None and len(self.levels) == len(self._resuming.levels):
                    self._land(self._resuming, reentry, frame)
                else:
                    run(frame)
            finally:
                self._tir -= 1

        return body

    def _slow(self, place: StmtPlace, frame: Frame, run: Run) -> None:
        """[run] A statement at which something is to be done."""
        count = self.clock.count()
        self.levels[-1].place, self.levels[-1].frame = place, frame
        if self._taking.due(place, count):
            self._snapshot(place, frame)
        moment = Moment(self.event, count)
        self._consider(place, frame, moment)
        self._arm()
        if self._whole(place, frame, moment):
            return
        try:
            run(frame)
        except RefmlcError as failure:
            self._fell(place, frame, failure)
            raise
        if place.calls and self.levels:
            self.levels[-1].place = place

    def _whole(self, place: StmtPlace, frame: Frame, moment: Moment) -> bool:
        """[run] Let C execute a loop, if nothing within it is waited for, and it is long; whether it has."""
        plan, reentry, known = self.plan, self.levels[-1].reentry, self.wholes.get(moment)
        if reentry is None or self._pausing or not (place is plan.whole or known) or plan.looks_into(place):
            return False
        plan.whole = None
        length = known[1] if known else self.outlined_loops.length(place, frame, reentry)
        if length is None or length.iterations < outlined_loops.LONG:
            return False
        steps = range(moment.step, moment.step + length.statements)
        target = plan.target
        if target is not None and target.event <= moment.event and target < Moment(moment.event, steps.stop):
            return False
        if self.judge.inside(place, plan, steps) or not self.outlined_loops.done(place, frame, reentry, length):
            return False
        self.wholes[moment] = (place, length)
        self.clock.begin(steps[-1])
        self._taking.next = steps.stop
        self._arm()
        return True

    def _consider(self, place: ProgramPlace, frame: Frame | None, moment: Moment) -> None:
        self.place, self.frame = place, frame
        self.judge.reached(moment)
        plan = self.plan
        if self._passes():
            return
        function = self.levels[-1].name
        if plan.target is not None and moment >= plan.target:
            self._park(Stop(Reason.GOTO, moment, function, place.span))
            return
        found = None
        if plan.target is None or plan.collects:
            found = self.judge.met(place, plan, moment) if plan.breakpoints else None
            if found is None and plan.steps_at(place, len(self.levels)):
                found = Stop(Reason.STEP, moment, function, place.span)
        if self._pausing and plan.pauses and (found is None or plan.collects):  # nothing is missed by pausing here
            self._park(Stop(Reason.PAUSE, moment, function, place.span))
            return
        self._meet(found)

    def _passes(self) -> bool:
        """[run] Whether the motion has not come to where it begins to look."""
        return self.plan.after is not None and self.moment < self.plan.after

    def _meet(self, found: Stop | None) -> None:
        """[run] Stop, or keep in mind that here one would have."""
        if found is not None and self.plan.collects:
            self.plan.found = found
        elif found is not None:
            self._park(found)

    def _park(self, stop: Stop) -> None:
        assert self._worker is not None  # noqa: S101 - it is the one that executes this
        self.stop = stop
        self._worker.park()

    def _arm(self) -> None:
        """[run] Set the limit: the next statement at which something is to be done, hot ones aside."""
        plan, count = self.plan, self.clock.count()
        limit = self._taking.next
        if plan.every or len(self.levels) < plan.above:
            limit = 0
        elif plan.target is not None and plan.target.event <= self.event:
            limit = min(limit, plan.target.step if plan.target.event == self.event else 0)
        limit = min(limit, self.judge.edits(self.event, count))
        self.clock.limit(limit)
        if self._pausing and plan.pauses:
            self.clock.limit(0)

    def _fell(self, place: StmtPlace, frame: Frame, failure: RefmlcError) -> None:
        """[run] A statement failed: stop in it, once."""
        if failure is self._failure:
            return
        self._failure = failure
        self.place, self.frame = place, frame
        self.levels[-1].place, self.levels[-1].frame = place, frame
        self._failed(place, failure)

    def _failed(self, place: ProgramPlace, failure: RefmlcError) -> None:
        diagnostic = failure.diagnostic
        if not self.plan.failures or not self.judge.fails(diagnostic):
            return
        stop = Stop(
            Reason.FAILURE, self.moment, self.levels[-1].name, place.span, diagnostic.message, failure=diagnostic
        )
        self._meet(stop)

    # -------------------------------------------------------------------------------- loads and stores [run]

    def wrote(self, access: tir.BufferStore, view: View, offset: int, value: object, frame: Frame) -> None:
        """[run] An element is about to be written."""
        if self.plan.breakpoints and self._resuming is None and not self._passes():
            self._stands_in(access, frame)
            self._touched(self.judge.stored(access, view, offset, value))

    def read(self, access: tir.BufferLoad, view: View, offset: int, frame: Frame) -> None:
        """[run] An element is about to be read."""
        if self.plan.breakpoints and self._resuming is None and not self._passes():
            self._stands_in(access, frame)
            self._touched(self.judge.loaded(access, view, offset))

    def _stands_in(self, access: tir.BufferLoad | tir.BufferStore, frame: Frame) -> None:
        """Conditions are evaluated where the access stands, which may have been come to the quick way."""
        place = self.places.accessing(access)
        if place is not None:
            self.place, self.frame = place, frame
            self.levels[-1].place, self.levels[-1].frame = place, frame

    def _touched(self, stop: Stop | None) -> None:
        if stop is None or stop.span is None or stop.moment == self.plan.passed:
            return
        self._meet(stop)
        self._arm()

    # ---------------------------------------------------------------------------------------- Relax [run]

    def bound(self, binding: relax.Binding, run: activation.Run) -> activation.Run:
        """[run] A binding, counted as an event."""
        place = self.places.binding(binding)

        def watched(env: activation.Activation) -> None:
            level = self.levels[-1]
            level.env = env
            if self._resuming is not None and not self._on_the_way(self._resuming, place, level):
                return
            level.bindings.append(place)
            level.calls = 0
            if self._resuming is None:
                self._begin_event()
                self._at_binding(place)
            try:
                run(env)
            except RefmlcError as failure:
                if failure is not self._failure:
                    self._failure = failure
                    self.place, self.frame = place, None
                    self._failed(place, failure)
                raise
            level.bindings.pop()

        return watched

    def _at_binding(self, place: BindingPlace) -> None:
        moment = Moment(self.event, 0)
        if self._taking.since(moment):
            levels = saved_graph(self.levels, len(self.levels) - 1)
            if levels is not None:
                self._taking.take(moment, levels, self.budget.steps, self._printed)
        self._consider(place, None, moment)
        self._arm()

    def _on_the_way(self, base: Snapshot, place: BindingPlace, level: ActiveCall) -> bool:
        """Whether a binding leads to where a snapshot was taken, or is that; others have been executed."""
        number = len(self.levels) - 1
        saved = base.levels[number] if number < len(base.levels) else None
        if saved is None or level.env is None:  # called on the way to evaluate what leads there
            return True
        depth = len(level.bindings)
        if depth >= len(saved.bindings) or saved.bindings[depth].node is not place.node:
            return False
        level.env.values.clear()
        level.env.values.update(saved.values)
        level.env.dims.clear()
        level.env.dims.update(saved.dims)  # type: ignore[arg-type]  # they are what was taken from there
        if number == len(base.levels) - 1 and depth == len(saved.bindings) - 1:
            self._resuming = None
            self.event, self.budget.steps = base.moment.event - 1, base.steps
            self._printed = base.printed
        return True

    # ------------------------------------------------------------------------------------ snapshots [run]

    def _snapshot(self, place: StmtPlace, frame: Frame) -> None:
        """Take one before `place`, where one can be taken."""
        moment, taking, level = self.moment, self._taking, self.levels[-1]
        taking.passed(moment.step)
        if self._tir != 1 or level.reentry is None or self.snapshots.has(moment) or self.judge.sets(moment.event):
            return
        graph = saved_graph(self.levels[:-1], len(self.levels) - 1)
        if graph is None or self.program.module.functions.get(level.name) is not place.func:
            return
        saved = level.reentry.save(frame, place, level.args) if place.restartable else None
        if saved is None:
            taking.look_out(place, frame, level)
        else:
            taking.take(moment, (*graph, saved), self.budget.steps, self._printed)

    def _land(self, base: Snapshot, reentry: Reentry, frame: Frame) -> None:
        """Go on where `base` was taken."""
        saved, level = base.levels[-1], self.levels[-1]
        assert saved.place is not None  # noqa: S101 - it was taken in a prim_func
        moved: dict[int, Storage] = {}
        for before, now in zip(saved.args, level.args, strict=True):
            if isinstance(before, Tensor) and isinstance(now, Tensor) and before.storage is not now.storage:
                moved[id(before.storage)] = now.storage
        reentry.restore(frame, saved, moved)
        for one in base.storages:
            if id(one.storage) in moved:
                one.restore(moved[id(one.storage)])
        self._resuming = None
        self.event, self.budget.steps, self._printed = base.moment.event, base.steps, base.printed
        self.clock.begin(base.moment.step - 1)
        self._taking.next = base.moment.step + self._taking.interval
        self._arm()
        reentry.go_on(frame, saved.place)
