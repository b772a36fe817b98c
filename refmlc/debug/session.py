"""A session: one run of a function that can be stopped, inspected, changed, and moved forwards and backwards in time.

>>> session = Session(Program(module, "main", args))
>>> session.catch("nan")
>>> session.start()             # stops before the first statement
>>> stop = session.resume()     # stops at the statement that is about to store the first NaN
>>> session.frames(), session.variables(0), session.evaluate("exp[0, 3]")
>>> session.reverse_resume()    # runs backwards to the last hit

Stable: every public name of this class, of `Program` and of `refmlc.debug.session_data`. All motions are synchronous:
they return the `Stop` at which the program stands, in the thread that called them. Only `pause` may be called from
another thread. A session is not for concurrent use. `close` ends it in every state and may be repeated; so does `with`.

| state       | `session.stop`               | what works                                               |
|-------------|------------------------------|----------------------------------------------------------|
| not started | None                         | breakpoints, `start`, `close`                            |
| stopped     | a `Stop`                     | everything                                               |
| ended       | a `Stop` with `Reason.ENDED` | backwards motions, `goto`, `restart`, inspection         |
| closed      | unchanged                    | `close`                                                  |
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self

from refmlc.debug import breakpoint_targets, call_exit, motions
from refmlc.debug.breakpoints import ArmedBreakpoint, BreakpointPolicy
from refmlc.debug.edits import EditLog
from refmlc.debug.engine import Engine
from refmlc.debug.history import search, travel
from refmlc.debug.inspection import Inspection
from refmlc.debug.places import PlaceIndex
from refmlc.debug.plan import MotionPlan
from refmlc.debug.program import Program
from refmlc.debug.session_data import BEGINNING, BreakKind, Breakpoint, Moment, Reason, StackFrame, Stop, Variable
from refmlc.debug.snapshots import DEFAULT_RATE, SnapshotRate
from refmlc.debug.thread_data import BarrierState, ThreadState, Waiting
from refmlc.debug.threads import chosen
from refmlc.debug.threads.awaited import waiting
from refmlc.debug.threads.barriers import barriers
from refmlc.debug.threads.standing import states
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.observe.why import Slice

SNAPSHOTS = 256 << 20  # bytes
AGAIN = "`restart` undoes the edits"


class Session:
    """See the docstring of the module. Every method fails with RM112 for an impossible request or an unknown name.

    `failures`: which failures stop the program (None: all; else `undefined`, `trap`, `all`, ids of codes).
    Units: `snapshot_bytes`, what going back may keep in memory. `snapshot_rate`: how often it takes a snapshot.
    """

    def __init__(
        self, program: Program, *, snapshot_bytes: int = SNAPSHOTS, snapshot_rate: SnapshotRate = DEFAULT_RATE
    ) -> None:
        self.program = program
        self._engine = Engine(program, PlaceIndex(program.module), snapshot_bytes, snapshot_rate)
        self._inspection = Inspection(self._engine)
        self._edit_log = EditLog(self._engine, self._inspection)
        self._stop_policy = BreakpointPolicy(self._engine, self._inspection.evaluate_during_run, self._edit_log)
        self._engine.control.follow(self._stop_policy)
        self._number = 0
        self._stop: Stop | None = None
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -------------------------------------------------------------------------------------------- motions

    def start(self) -> Stop:
        """Begin the program: stop at the entry, or at a breakpoint of the first statement."""
        self._check(started=False)
        return self._begin(MotionPlan(every=True))

    def step_in(self, count: int = 1) -> Stop:
        """Step to the next statement or binding, also within a call."""
        return self._repeat(count, lambda: MotionPlan(every=True))

    def step_over(self, count: int = 1, *, threads: Iterable[int] | None = None) -> Stop:
        """Step to the next statement that is not inside this one: calls and whole loops are executed.

        `threads`: only where one of these threads executes it.
        """
        return self._repeat(count, lambda: self._of(threads, motions.over(self._engine)))

    def step_out(self, frame: int = 0, *, threads: Iterable[int] | None = None) -> Stop:
        """Run until `frame` (a loop, a block, a function) is left; `threads`: by one of these threads."""
        self._check()
        return self._move(self._of(threads, motions.out(self._engine, self._inspection.live_frame(frame))))

    def next_block(self) -> Stop:
        """Run to the next instance of any block."""
        return self._move(motions.block(self._engine))

    def next_iteration(self, loop: str = "") -> Stop:
        """Run to the next iteration of the loop over `loop` (empty: the innermost), or until it is left."""
        self._check()
        return self._move(motions.iteration(self._engine, self._inspection.loop(loop)))

    def resume(self) -> Stop:
        """Run to the next breakpoint, or to the end."""
        return self._move(MotionPlan())

    def until(self, line: int = 0) -> Stop:
        """Run to a line of this function after this one (or after `line`), or until the function is left."""
        self._check()
        return self._move(motions.until(self._engine, line))

    def goto(self, moment: Moment) -> Stop:
        """Go to `moment`, forwards or backwards, ignoring breakpoints; to the end if there is no such moment."""
        self._check(ended=True)
        return self._arrived(travel(self._engine, self._stop_policy, moment, pauses=True))

    def step_back(self, count: int = 1) -> Stop:
        """Step back to the previous statement."""
        for _ in range(max(count, 1)):
            now = self._check(ended=True).moment
            if now.step > 1:
                stop = travel(self._engine, self._stop_policy, Moment(now.event, now.step - 1))
                self._arrived(replace(stop, reason=Reason.STEP))
            else:
                self._search(MotionPlan(every=True, breakpoints=False))
        return self._check(ended=True)

    def step_back_over(self, count: int = 1) -> Stop:
        """Step back to the previous statement that is not deeper than this one."""
        for _ in range(max(count, 1)):
            if self._check(ended=True).reason is Reason.ENDED:
                self._search(motions.outermost(self._engine))
            else:
                self._search(motions.not_deeper(self._engine))
        return self._check(ended=True)

    def reverse_resume(self) -> Stop:
        """Run backwards to the last hit of a breakpoint, or to the beginning. Hit counts are ignored."""
        self._check(ended=True)
        return self._search(MotionPlan(silent=True))

    def reverse_to_write(self, element: str, frame: int = 0) -> Stop:
        """Run backwards to the last statement that wrote `element` (`C[3, 7]`, `C[0:4]`, `C`)."""
        self._check(ended=True)
        armed = breakpoint_targets.watch(self._inspection, Breakpoint(0, BreakKind.WRITE, element), frame)
        before, self._stop_policy.armed = self._stop_policy.armed, {0: armed}
        try:
            stop = self._search(MotionPlan(silent=True, failures=False))
        finally:
            self._stop_policy.armed = before
        return self._arrived(replace(stop, hits=()))

    def restart(self) -> Stop:
        """Go to the entry: edits are forgotten, hits start at 0. One-time breakpoints that stopped stay disabled."""
        self._check(ended=True)
        self._edit_log.forget()
        for armed in self._stop_policy.armed.values():
            armed.forget()
        return self._begin(MotionPlan(every=True))

    def restart_frame(self, frame: int = 0) -> Stop:
        """Go back to the entry of `frame`. Fails: RM112 for a loop in which threads meet."""
        now, live = self._check().moment, self._inspection.live_frame(frame)
        stop = self._search(motions.entry(self._engine, live))
        if stop.reason is Reason.BEGINNING and live.around is not None:
            self.goto(now)
            raise fail(BAD_USAGE, "a loop in which threads meet is entered at no moment", None, "step back instead")
        return stop

    def pause(self) -> None:
        """End the motion in progress at the next statement; from another thread. C is not interrupted.

        Without a motion in progress the request ends the next one, unless `unpause` is called first.
        """
        self._engine.pause()

    def unpause(self) -> None:
        """Withdraw a pause that no motion has met."""
        self._engine.unpause()

    def close(self) -> None:
        """End the run and release everything."""
        self._closed = True
        self._engine.end()

    # -------------------------------------------------------------------------------------------- threads

    def threads(self) -> Sequence[ThreadState]:
        """The threads of the block that runs, by number; none where no threads take turns."""
        self._check(ended=True)
        return states(self._engine)

    def waiting(self) -> Waiting:
        """Which threads wait for what, and for whom; the circle where they wait for each other."""
        self._check(ended=True)
        return waiting(self._engine)

    def barriers(self) -> Sequence[BarrierState]:
        """The barriers in memory of the block that runs, and the numbered ones to which threads have come."""
        self._check(ended=True)
        return barriers(self._engine)

    @property
    def thread(self) -> int | None:
        """The number of the selected thread, or of the one that runs; None outside of threads."""
        return self._engine.thread if self.selected is None else self.selected

    @property
    def selected(self) -> int | None:
        """The number of the selected thread; None: the one that runs is shown."""
        selected = self._inspection.selected
        return None if selected is None else selected.number

    def has_thread(self, number: int) -> bool:
        """Whether the block that runs has a thread of this number that takes turns with others."""
        return self._engine.roster.thread(number) is not None

    def select_thread(self, number: int | None = None) -> None:
        """Show frames and values of another thread, until the program moves; None: of the one that runs."""
        self._check()
        tracked = None
        if number is not None and number != self._engine.thread:
            tracked = chosen.thread(self._engine, number)
        self._inspection.select(tracked)

    def step_thread(self, threads: Iterable[int], count: int = 1) -> Stop:
        """Step to the next statement that one of these threads executes; the others run as it is their turn.

        Stops too where all of them have ended.
        """
        numbers = frozenset(threads)
        return self._repeat(count, lambda: MotionPlan(every=True, threads=chosen.live(self._engine, numbers)))

    def step_thread_back(self, threads: Iterable[int], count: int = 1) -> Stop:
        """Step back to the previous statement that one of these threads executed, or to before all threads."""
        numbers = frozenset(threads)
        for _ in range(max(count, 1)):
            self._search(MotionPlan(every=True, breakpoints=False, threads=numbers))
        return self._check(ended=True)

    # ---------------------------------------------------------------------------------------- breakpoints

    def break_line(
        self,
        line: int,
        source: str = "",
        *,
        condition: str = "",
        ignore: int = 0,
        exactly: bool = False,
        log: str = "",
        once: bool = False,
        threads: Iterable[int] = (),
    ) -> Breakpoint:
        """Stop before the first statement or binding on `line` of `source` (empty: the program's own text).

        A line without a statement moves to the next one with a statement (`Breakpoint.line`), else is not `verified`.
        `threads`: stop only where a thread with one of these numbers in its block executes it.
        """
        point = Breakpoint(
            0, BreakKind.LINE, str(line), condition, ignore, exactly, log, once,
            line=line, source=source, threads=tuple(threads),
        )  # fmt: skip
        return self._add(breakpoint_targets.at_line(self._engine, point))

    def break_name(
        self,
        name: str,
        *,
        condition: str = "",
        ignore: int = 0,
        exactly: bool = False,
        log: str = "",
        once: bool = False,
    ) -> Breakpoint:
        """Stop at the function, block or Relax binding of that name, in this order; `f.name`: in `f`.

        If there is none, the breakpoint is not `verified`.
        """
        point = Breakpoint(0, BreakKind.FUNCTION, name, condition, ignore, exactly, log, once)
        return self._add(breakpoint_targets.at_name(self._engine, point))

    def watch(self, element: str, mode: str = "write", *, condition: str = "", frame: int = 0) -> Breakpoint:
        """Stop before a statement writes (`write`), changes (`change`) or reads (`read`) an element or region.

        The name must be visible in a frame: watch after `start`.
        """
        self._check(ended=True)
        point = Breakpoint(0, breakpoint_targets.mode_of(mode), element, condition)
        return self._add(breakpoint_targets.watch(self._inspection, point, frame))

    def catch(self, name: str, *, condition: str = "") -> Breakpoint:
        """Stop before a `nan` (NaN or infinity) or `inf` (infinity) is stored.

        `undefined`, `trap`, `all` and ids of codes are accepted too, although every failure stops the program with its
        frame alive, unless `failures` says otherwise.
        """
        return self._add(ArmedBreakpoint(Breakpoint(0, breakpoint_targets.caught(name), name, condition)))

    def compare(self, name: str, reference: object) -> Breakpoint:
        """Stop before an element of buffer `name` is stored with bits that differ from those of `reference`."""
        return self._add(breakpoint_targets.compared(name, reference))

    def remove(self, number: int) -> None:
        """Remove the breakpoint with this number."""
        self._armed(number)
        del self._stop_policy.armed[number]

    @property
    def breakpoints(self) -> Sequence[Breakpoint]:
        """All breakpoints by number; `enabled` and `log` may be changed."""
        now = BEGINNING if self._stop is None else self._stop.moment
        for armed in self._stop_policy.armed.values():
            armed.back_to(now)
        return [armed.point for _, armed in sorted(self._stop_policy.armed.items())]

    def condition(self, number: int, text: str) -> Breakpoint:
        """Replace the condition of a breakpoint (empty: none)."""
        armed = self._armed(number)
        breakpoint_targets.check_condition(replace(armed, point=replace(armed.point, condition=text)))
        armed.point.condition, armed.failed = text, ""
        return armed.point

    def ignore(self, number: int, count: int, *, exactly: bool = False) -> Breakpoint:
        """Pass a breakpoint `count` times from now on; `exactly`: and again after it stopped once."""
        armed = self._armed(number)
        armed.forget()
        armed.point.ignore, armed.point.exactly = count, exactly
        return armed.point

    @property
    def failures(self) -> frozenset[str] | None:
        """The failures that stop the program; None: all."""
        return self._stop_policy.failures

    @failures.setter
    def failures(self, kinds: frozenset[str] | None) -> None:
        self._stop_policy.failures = kinds

    # ---------------------------------------------------------------------------------------------- state

    @property
    def stop(self) -> Stop | None:
        """The stop where the program stands."""
        return self._stop

    @property
    def ended(self) -> bool:
        """True after the program has ended."""
        return self._stop is not None and self._stop.reason is Reason.ENDED

    @property
    def result(self) -> object:
        """The result of the function; None before it returns."""
        return self._engine.outcome.result

    @property
    def arguments(self) -> Sequence[object]:
        """The arguments in their present state, in the order of `program.names`; writes to them show here."""
        return self._engine.args

    @property
    def snapshots(self) -> tuple[int, int]:
        """The number of snapshots and their size in bytes."""
        return self._engine.snapshots.count, self._engine.snapshots.nbytes

    @property
    def moment(self) -> Moment:
        """The present moment; also during a motion, from any thread."""
        return self._engine.position.moment

    def frames(self) -> Sequence[StackFrame]:
        """The frames, innermost first; none after the end."""
        return self._inspection.frames()

    def variables(self, frame: int = 0) -> Sequence[Variable]:
        """The names declared by `frame`: of a loop its variable, of a block its axes and buffers, and so on."""
        return self._inspection.variables(frame)

    def visible(self, frame: int = 0) -> Sequence[Variable]:
        """Every name visible in `frame`; of equal names the innermost. After the end: the arguments."""
        return self._inspection.visible(frame)

    def evaluate(self, text: str, frame: int = 0) -> object:
        """The value of a TVMScript expression or a name. Fails: RM1xx to RM3xx, as the expression does."""
        return self._inspection.evaluate(text, frame)

    def look(self, text: str, frame: int = 0) -> Variable:
        """An expression or name with its dtype; a name without a value is not `bound`."""
        return self._inspection.look(text, frame)

    def set(self, target: str, text: str, frame: int = 0) -> Variable:
        """Give a variable or an element (`C[3, 7]`) the value of the expression `text`, and continue from there.

        Everything after this moment is executed anew; later moments belong to another run.
        """
        stop = self._check()
        if self._inspection.selected is not None:
            raise fail(BAD_USAGE, "values are set in the thread that runs, and another one is selected")
        changed = self._edit_log.set(target, text, frame)
        if stop.element or stop.failure is not None:  # in the middle of a statement, which is to see the new value
            self._engine.end()
            travel(self._engine, self._stop_policy, stop.moment)
            self._inspection.invalidate()
            self._stop = replace(stop, failure=None, text="", element="", hits=())
        return changed

    def why(self, element: str = "", frame: int = 0) -> Slice:
        """Why an element has its present value (empty: the element about to be stored).

        Fails: RM112 after an edit: the traced run of the program knows nothing of it.
        """
        stop = self._check(ended=True)
        if any(edit.moment <= stop.moment for edit in self._edit_log.edits):
            raise fail(BAD_USAGE, "values were set before this moment, and edits are not traced", None, AGAIN)
        return self._inspection.why(stop, element, frame)

    # -------------------------------------------------------------------------------------------- private

    def _check(self, *, started: bool = True, ended: bool = False) -> Stop:
        if self._closed:
            raise fail(BAD_USAGE, "the session is closed")
        if started and self._stop is None:
            raise fail(BAD_USAGE, "the program has not been started")
        if not started and self._stop is not None:
            raise fail(BAD_USAGE, "the program has already been started")
        if self.ended and not ended:
            raise fail(BAD_USAGE, "the program has ended; go back, or restart it")
        return self._stop or Stop(Reason.BEGINNING, BEGINNING)

    def _add(self, armed: ArmedBreakpoint) -> Breakpoint:
        breakpoint_targets.check_condition(armed)
        self._number += 1
        armed.point.number = self._number
        self._stop_policy.armed[self._number] = armed
        return armed.point

    def _armed(self, number: int) -> ArmedBreakpoint:
        armed = self._stop_policy.armed.get(number)
        if armed is None:
            raise fail(BAD_USAGE, f"there is no breakpoint {number}")
        return armed

    def _of(self, threads: Iterable[int] | None, plan: MotionPlan) -> MotionPlan:
        if threads is None:
            return plan
        return replace(plan, threads=chosen.live(self._engine, frozenset(threads)))

    def _begin(self, plan: MotionPlan) -> Stop:
        self._engine.machines.trace(self._stop_policy.level())
        self._engine.trap(self._stop_policy.places())
        base = self._engine.snapshots.at(BEGINNING)
        assert base is not None  # noqa: S101 - it is taken first and never dropped
        stop = self._engine.launch(base, plan)
        return self._arrived(replace(stop, reason=Reason.ENTRY) if stop.reason is Reason.STEP else stop)

    def _repeat(self, count: int, plan: Callable[[], MotionPlan]) -> Stop:
        for _ in range(max(count, 1)):
            self._check()
            stop = self._move(plan())
            if stop.reason is not Reason.STEP:
                break
        return self._check(ended=True)

    def _move(self, plan: MotionPlan) -> Stop:
        stop = self._check()
        now = stop.moment
        if stop.reason in (Reason.DATA, Reason.NUMBER, Reason.DIFFERENCE):
            plan = replace(plan, current_access=now)
        if self._stop_policy.level() > self._engine.machines.tracing:
            travel(self._engine, self._stop_policy, now)
        self._engine.trap(self._stop_policy.places() | plan.marks)
        if stop.failure is None and call_exit.worth(self._engine, self._stop_policy, plan, now):
            return self._arrived(call_exit.leave(self._engine, plan, now))
        return self._arrived(self._engine.advance(plan))

    def _search(self, plan: MotionPlan) -> Stop:
        now = self._check(ended=True)
        return self._arrived(search(self._engine, self._stop_policy, now.moment, plan))

    def _arrived(self, stop: Stop) -> Stop:
        if stop.reason is Reason.PAUSE:
            self._engine.unpause()
        self._inspection.invalidate()
        logs, self._stop_policy.logs = tuple(self._stop_policy.logs), []
        self._stop = replace(stop, logs=logs)
        return self._stop
