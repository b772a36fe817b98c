"""The requests that move the program. Each is answered at once; an event reports the stop.

| request                  | moves                                                                                  |
|--------------------------|----------------------------------------------------------------------------------------|
| next, stepIn, stepOut    | over, into, out of the innermost frame: a block, a loop, or a function                  |
| stepIn with a target     | to the next instance of any block, or the next iteration of a loop                      |
| stepBack                 | to the previous statement that is not deeper; with granularity `instruction`: any        |
| reverseContinue          | backwards to the last hit                                                              |
| goto                     | in time: to the next or the last time a line is reached                                 |

Steps of one thread of a kernel end at this thread; `continue` and `reverseContinue` are about all of them.

Decision: goto skips no statement, unlike in the protocol: a value that was never computed is undefined.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from refmlc.debug.dap.arguments import Arguments, RequestRefused
from refmlc.debug.dap.dap_state import DapState, Motion
from refmlc.debug.dap.references import MotionTarget
from refmlc.debug.dap.threads import meant
from refmlc.debug.session import Session
from refmlc.debug.session_data import FrameKind, Reason, Stop

Body = dict[str, object]
GRANULARITIES = ("statement", "line", "instruction")


@dataclass(frozen=True, slots=True)
class MotionRequests:
    """The handlers; they store the motion in the state, which executes it."""

    state: DapState

    def proceed(self, arguments: Arguments) -> Body:
        """`continue`: run to the next breakpoint."""
        session, _ = self._of_request(arguments)
        self.state.motion = Motion(session.resume, "running", resumes=True)
        return {"allThreadsContinued": True}

    def step_over(self, arguments: Arguments) -> Body:
        """`next`: step over the statement."""
        session, thread = self._of_request(arguments)
        if thread is not None and (_granularity(arguments) == "instruction" or thread != session.thread):
            return self._moves(partial(session.step_thread, [thread]), f"stepping thread {thread}")
        if thread is not None:
            return self._moves(partial(session.step_over, threads=[thread]), f"stepping thread {thread}")
        fine = _granularity(arguments) == "instruction"
        return self._moves(session.step_in if fine else session.step_over, "stepping")

    def step_in(self, arguments: Arguments) -> Body:
        """`stepIn`: to the next statement, or to a target."""
        session, thread = self._of_request(arguments)
        if "targetId" not in arguments and thread is not None:
            return self._moves(partial(session.step_thread, [thread]), f"stepping thread {thread}")
        if "targetId" not in arguments:
            return self._moves(session.step_in, "stepping in")
        target = self.state.references.target(arguments.number("targetId"))
        match target.kind:
            case "block":
                return self._moves(session.next_block, "going to the next block")
            case "loop":
                return self._moves(partial(session.next_iteration, target.loop), "going to the next iteration")
            case "statement":
                return self._moves(session.step_in, "stepping in")
            case _:
                raise RequestRefused("this target cannot be stepped into")

    def step_out(self, arguments: Arguments) -> Body:
        """`stepOut` of the innermost frame."""
        session, thread = self._of_request(arguments)
        if thread is None:
            return self._moves(session.step_out, "stepping out")

        def run() -> Stop:
            session.select_thread(thread)
            return session.step_out(threads=[thread])

        return self._moves(run, f"stepping out in thread {thread}")

    def step_back(self, arguments: Arguments) -> Body:
        """`stepBack`: to the previous statement."""
        session, thread = self._of_request(arguments, ended=True)
        fine = _granularity(arguments) == "instruction"
        if thread is not None:
            return self._moves(partial(session.step_thread_back, [thread]), f"stepping back thread {thread}")
        return self._moves(session.step_back if fine else session.step_back_over, "stepping back")

    def reverse(self, arguments: Arguments) -> Body:
        """`reverseContinue`: run backwards to the last hit."""
        session, _ = self._of_request(arguments, ended=True)
        return self._moves(session.reverse_resume, "running backwards")

    def restart_frame(self, arguments: Arguments) -> Body:
        """`restartFrame`: back to the entry of a frame."""
        session = self.state.movable_session()
        frame = self.state.frame(arguments.number("frameId"))
        return self._moves(partial(session.restart_frame, frame), "going back to the entry of the frame")

    def goto(self, arguments: Arguments) -> Body:
        """`goto`: in time, to a line."""
        session, _ = self._of_request(arguments, ended=True)
        target = self.state.references.target(arguments.number("targetId"))
        if not target.line:
            raise RequestRefused("this target is not a line")
        return self._moves(partial(arrive, session, target), f"going to line {target.line}")

    # -------------------------------------------------------------------------------------------- targets

    def step_targets(self, arguments: Arguments) -> Body:
        """`stepInTargets`: a statement, a block, an iteration of each loop around."""
        session = self.state.movable_session()
        frame = self.state.frame(arguments.number("frameId"))
        frames = session.frames()
        level = frames[frame].level
        loops = [outer.name for outer in frames[frame:] if outer.level == level and outer.kind is FrameKind.LOOP]
        targets = [
            ("the next statement", MotionTarget(kind="statement")),
            ("the next block instance", MotionTarget(kind="block")),
        ]
        targets += [
            (f"the next iteration of `{name}`", MotionTarget(kind="loop", loop=name)) for name in dict.fromkeys(loops)
        ]
        number = self.state.references.number
        return {"targets": [{"id": number(target), "label": label} for label, target in targets]}

    def goto_targets(self, arguments: Arguments) -> Body:
        """`gotoTargets`: a line, forwards and backwards."""
        session = self.state.stopped_session()
        source = self.state.sources.find(arguments.inner("source"))
        line = max(self.state.client.ours(arguments.number("line", least=-1)), 1)
        if source is None:
            return {"targets": []}
        point = session.break_line(line, source)
        session.remove(point.number)
        if not point.verified:
            return {"targets": []}
        targets = [(f"the last time line {point.line} was reached", MotionTarget(point.line, source, back=True))]
        if not session.ended:
            targets.insert(0, (f"the next time line {point.line} is reached", MotionTarget(point.line, source)))
        number, client_line = self.state.references.number, self.state.client.line(point.line)
        return {"targets": [{"id": number(target), "label": label, "line": client_line} for label, target in targets]}

    # -------------------------------------------------------------------------------------------- private

    def _of_request(self, arguments: Arguments, *, ended: bool = False) -> tuple[Session, int | None]:
        """The session that a request moves, and the thread of its block that it means; None: the program."""
        session = self.state.stopped_session() if ended else self.state.movable_session()
        return session, meant(self.state, arguments)

    def _moves(self, run: Callable[[], Stop], title: str) -> Body:
        self.state.motion = Motion(run, title)
        return {}


def _granularity(arguments: Arguments) -> str:
    granularity = arguments.text("granularity", "statement")
    if granularity not in GRANULARITIES:
        raise RequestRefused(f"there is no granularity `{granularity}`")
    return granularity


def arrive(session: Session, target: MotionTarget) -> Stop:
    """Run to a line, ignoring other breakpoints. If the line is never reached, stay."""
    begin = session.stop
    enabled, failures = {point.number: point.enabled for point in session.breakpoints}, session.failures
    for point in session.breakpoints:
        point.enabled = False
    session.failures = frozenset()
    target_point = session.break_line(target.line, target.source)
    try:
        stop = session.reverse_resume() if target.back else session.resume()
        if target_point.number not in stop.hits and stop.reason is not Reason.PAUSE and begin is not None:
            stop = replace(session.goto(begin.moment), text=f"line {target.line} is never reached")
    finally:
        session.remove(target_point.number)
        session.failures = failures
        for point in session.breakpoints:
            point.enabled = enabled[point.number]
    return stop if stop.reason in (Reason.PAUSE, Reason.ENDED) else replace(stop, reason=Reason.GOTO, hits=())
