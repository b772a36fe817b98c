"""One client's session: requests one after the other, motions between them.

Motions and requests run in the same thread, so no request sees a moving program. `RequestQueue` pauses it for urgent
requests; a request that does not affect the motion is answered, and the motion continues.
"""

from collections.abc import Callable, Mapping
from functools import partial

from refmlc.debug.dap.arguments import CANCELLED, Arguments, RequestRefused
from refmlc.debug.dap.breakpoints import ClientBreakpoints
from refmlc.debug.dap.capabilities import capabilities
from refmlc.debug.dap.channel import ClientGone, Item, MessageSender, Request, RequestQueue
from refmlc.debug.dap.dap_state import Client, DapState, Launcher, Motion, Phase
from refmlc.debug.dap.door import STRANGER, Door
from refmlc.debug.dap.framing import BrokenMessage
from refmlc.debug.dap.inspection import InspectionRequests
from refmlc.debug.dap.motions import MotionRequests
from refmlc.debug.dap.progress import ProgressReport
from refmlc.debug.dap.sources import Sources, changed
from refmlc.debug.dap.threads import PROGRAM, meant, rows, stopped_thread
from refmlc.debug.session import SNAPSHOTS, Session
from refmlc.debug.session_data import Reason, Stop
from refmlc.debug.terminal.show import results
from refmlc.diag import RefmlcError
from refmlc.diag.render import render_text

Body = dict[str, object]
Answer = Callable[[Arguments], "Body | None"]
MANY_LINES = 100_000
INTERNAL = 2
DESCRIPTIONS = {
    Reason.ENTRY: "At the entry",
    Reason.NUMBER: "About to be stored",
    Reason.FAILURE: "The program fails here",
    Reason.BEGINNING: "The beginning: there is no earlier stop",
    Reason.ENDED: "The program has ended",
}
REASONS = {Reason.FAILURE: "exception", Reason.BEGINNING: "entry", Reason.DIFFERENCE: "data breakpoint"}


class Adapter:
    """See the docstring of the module. `delay`: the seconds before the first progress event.

    `door`: the access check; without it, every client has access.
    """

    def __init__(
        self,
        queue: RequestQueue,
        out: MessageSender,
        launcher: Launcher,
        *,
        delay: float = 0.5,
        door: Door | None = None,
    ) -> None:
        self.queue, self.out, self.launcher, self.delay = queue, out, launcher, delay
        self.door = Door() if door is None else door
        self.state = DapState(out)
        self.breakpoints = ClientBreakpoints(self.state)
        self.table = self._table()

    def _table(self) -> Mapping[str, Answer]:
        inspection, motions, breakpoints = (
            InspectionRequests(self.state, self.breakpoints),
            MotionRequests(self.state),
            self.breakpoints,
        )
        return {
            "initialize": self._initialize, "launch": self._launch, "configurationDone": self._begin,
            "restart": self._restart, "terminate": self._terminate, "disconnect": self._disconnect,
            "cancel": self._cancel, "pause": self._pause, "threads": self._threads,
            "setBreakpoints": self._when_loaded(breakpoints.lines),
            "setFunctionBreakpoints": self._when_loaded(breakpoints.functions),
            "setExceptionBreakpoints": self._when_loaded(breakpoints.exceptions),
            "setDataBreakpoints": self._when_loaded(breakpoints.data), "breakpointLocations": self._locations,
            "dataBreakpointInfo": inspection.data_info, "exceptionInfo": inspection.exception,
            "stackTrace": inspection.stack, "scopes": inspection.scopes, "variables": inspection.variables,
            "evaluate": inspection.evaluate, "completions": inspection.complete, "setVariable": inspection.set_variable,
            "setExpression": inspection.set_expression, "readMemory": inspection.memory,
            "continue": motions.proceed, "next": motions.step_over, "stepIn": motions.step_in,
            "stepOut": motions.step_out, "stepBack": motions.step_back, "reverseContinue": motions.reverse,
            "restartFrame": motions.restart_frame, "stepInTargets": motions.step_targets,
            "gotoTargets": motions.goto_targets, "goto": motions.goto,
            "source": self._source, "loadedSources": self._loaded,
        }  # fmt: skip

    # ------------------------------------------------------------------------------------------- the loop

    def serve(self) -> None:
        """Serve until the client disconnects or is gone."""
        try:
            while not (self.state.closed or self.out.is_closed):
                if self.state.motion is None:
                    self.handle(self.queue.take())
                else:
                    self._move(self.state.motion)
        finally:
            if self.state.open_session is not None:
                self.state.open_session.close()

    def handle(self, item: Item) -> None:
        """Answer one queue item."""
        match item:
            case ClientGone():
                self.state.closed = True
            case BrokenMessage(problem, number, command):
                self.state.closed = not self.door.open
                self.out.refuse(number, command, RequestRefused(problem, number=3))
            case Request() if not self.door.passes(item.command, item.arguments):
                self.state.closed = True
                self.out.refuse(item.number, item.command, RequestRefused(STRANGER, show=True))
            case Request() if item.number in self.queue.cancelled:
                self.queue.cancelled.discard(item.number)
                self.out.refuse(item.number, item.command, RequestRefused("the request was cancelled", CANCELLED))
            case Request():
                self._answer(item)

    def _answer(self, request: Request) -> None:
        before = self.state.motion
        try:
            body = self._find(request.command)(Arguments(request.arguments))
        except RequestRefused as refused:
            self.out.refuse(request.number, request.command, refused)
        except RefmlcError as failure:
            show_user = request.command == "launch"
            self.out.refuse(request.number, request.command, RequestRefused(failure.diagnostic.message, show=show_user))
        except Exception as problem:  # noqa: BLE001 - the border: a defect of refmlc is reported, and the session continues
            text = f"a bug in refmlc: {type(problem).__name__}: {problem}"
            self.out.refuse(request.number, request.command, RequestRefused(text, number=INTERNAL, show=True))
        else:
            self.out.answer(request, body)
            self._after(request.command)
            return
        self.state.motion = before

    def _find(self, command: str) -> Answer:
        if command not in self.table:
            raise RequestRefused(f"`{command}` is not supported")
        if command not in ("initialize", "disconnect") and not self.state.client.initialized:
            raise RequestRefused("`initialize` comes first")
        return self.table[command]

    def _after(self, command: str) -> None:
        """Send the events that follow a response."""
        if command == "launch":
            self.out.event("process", {"name": self.state.session.program.func, "startMethod": "launch"})
            self.out.event("initialized")
        elif command == "terminate":
            self._over(0)

    # ---------------------------------------------------------------------------------------------- motion

    def _move(self, motion: Motion) -> None:
        """Execute a motion, and the requests that arrive during it."""
        state = self.state
        session = state.session
        state.phase = Phase.MOVING
        state.forget()
        stop: Stop | None = None
        if not state.pause_requested or session.stop is None:
            progress = self._progress(motion.title, lambda: f"moment {session.moment}")
            if self.queue.begins(session.pause, progress.name, any_request=motion.resumes):
                stop = self._run(motion, progress)
                if stop is None:
                    return
            if stop is not None and stop.reason is not Reason.PAUSE:
                self._arrived(motion, stop)
                return
        handled = self._handle_requests(motion)
        if state.closed or state.motion is not motion:
            return
        if state.pause_requested or (not motion.resumes and stop is not None) or (stop is not None and not handled):
            now = session.stop
            if now is not None:
                self._arrived(motion, now if now.reason is Reason.ENDED else stop or now, by_pause=True)

    def _progress(self, title: str, far: Callable[[], str] | None = None) -> ProgressReport:
        return ProgressReport(self.out, title, self.delay if self.state.client.progress else None, far)

    def _run(self, motion: Motion, progress: ProgressReport) -> Stop | None:
        """The stop; None after an error, which is reported."""
        try:
            with progress:
                stop = motion.run()
            self._log(stop)
            return stop  # noqa: TRY300 - it reads in order
        except RefmlcError as failure:
            self.out.output("stderr", render_text(failure.diagnostic))
        except Exception as problem:  # noqa: BLE001 - the border, as above
            self.out.output("stderr", f"a bug in refmlc: {type(problem).__name__}: {problem}")
        finally:
            self.queue.ends()
            self.state.session.unpause()
        now = self.state.session.stop
        if now is None:
            self._over(1)
        else:
            self._arrived(motion, now)
        return None

    def _handle_requests(self, motion: Motion) -> bool:
        """Answer all waiting requests, unless one of them ends the motion."""
        handled = False
        while self.queue.items and not self.state.closed and self.state.motion is motion:
            self.handle(self.queue.take())
            handled = True
        return handled

    def _arrived(self, motion: Motion, stop: Stop, *, by_pause: bool = False) -> None:
        """Report that the program has stopped."""
        state = self.state
        if state.motion is motion:
            state.motion = None
        state.pause_requested = False
        if stop.reason is Reason.ENDED:
            self._report_end(stop)
            return
        state.phase = Phase.STOPPED
        reason = "pause" if by_pause else REASONS.get(stop.reason, stop.reason.value)
        body: Body = {"reason": reason, "threadId": stopped_thread(state.session), "allThreadsStopped": True}
        if stop.reason in DESCRIPTIONS:
            body["description"] = DESCRIPTIONS[stop.reason]
        text = "; ".join(part for part in (stop.text, stop.note) if part)
        if text:
            body["text"] = text
        hits = self.breakpoints.hit(stop.hits)
        if hits:
            body["hitBreakpointIds"] = hits
        self._note(stop)
        self.out.event("stopped", body)

    def _note(self, stop: Stop) -> None:
        """Report a condition without a value to the user and to the list of breakpoints."""
        if stop.note:
            self.out.output("important", stop.note)
            for number in self.breakpoints.hit(stop.hits):
                row = {"id": number, "verified": True, "message": stop.note}
                self.out.event("breakpoint", {"reason": "changed", "breakpoint": row})

    def _log(self, stop: Stop) -> None:
        """Report the texts of log points."""
        for text in stop.logs:
            self.out.output("console", text)

    def _report_end(self, stop: Stop) -> None:
        """Report that the program has returned or failed."""
        session = self.state.session
        if stop.failure is not None:
            self.out.output("stderr", render_text(stop.failure))
        else:
            self.out.output("console", "\n".join(results(session)))
        if self.state.settings.get("stopAtEnd"):
            self.state.phase = Phase.STOPPED
            details = {"description": DESCRIPTIONS[Reason.ENDED], "text": str(stop.moment)}
            self.out.event("stopped", {"reason": "ended", "threadId": PROGRAM, "allThreadsStopped": True, **details})
        else:
            self._over(int(stop.failure is not None))

    def _over(self, status: int) -> None:
        """Report that there is nothing more to debug."""
        state = self.state
        state.motion, state.pause_requested = None, False
        if state.phase is not Phase.OVER:
            if state.open_session is not None:
                self.out.event("exited", {"exitCode": status})
            state.phase = Phase.OVER
            self.out.event("terminated")

    # ------------------------------------------------------------------------------------------ lifecycle

    def _initialize(self, arguments: Arguments) -> Body:
        if self.state.client.initialized:
            raise RequestRefused("`initialize` was already sent")
        self.state.client = Client.of(arguments)
        return capabilities()

    def _launch(self, arguments: Arguments) -> None:
        if self.state.phase is not Phase.NEW:
            raise RequestRefused("a program was already launched")
        self._load(arguments)
        self.state.phase = Phase.LOADED

    def _load(self, arguments: Arguments) -> None:
        """Make the session of a launch request."""
        for name in ("stopOnEntry", "stopAtEnd", "noDebug"):
            arguments.flag(name, False)
        bytes_kept = arguments.number("memory", SNAPSHOTS >> 20, least=1) << 20
        with self._progress("loading"):
            program = self.launcher(arguments, partial(self.out.output, "stdout"))
        if self.state.open_session is not None:
            self.state.open_session.close()
        self.state.settings = arguments.values
        self.state.open_session = Session(program, snapshot_bytes=bytes_kept)
        before, self.state.texts = (
            self.state.texts,
            Sources(program, self.state.texts.reserved if self.state.texts else {}),
        )
        for reason, sources, other_sources in (
            ("removed", before, self.state.texts),
            ("new", self.state.texts, before),
        ):
            for description in changed(sources, other_sources) if before is not None else ():
                self.out.event("loadedSource", {"reason": reason, "source": description})
        self.breakpoints.quiet = arguments.flag("noDebug", False)
        self.breakpoints.moved_to(self.state.open_session)

    def _begin(self, _arguments: Arguments) -> None:
        if self.state.phase is not Phase.LOADED:
            raise RequestRefused("there is no program to begin")
        self._start(restarts=False)

    def _start(self, *, restarts: bool) -> None:
        """Begin the program: stop at the entry, or run on."""
        session, stops = self.state.session, self.state.settings.get("stopOnEntry") is True

        def run() -> Stop:
            nonlocal restarts
            if restarts or session.stop is None:
                stop = session.restart() if restarts else session.start()
                restarts = False
                if stops or self.state.pause_requested or stop.reason is not Reason.ENTRY:
                    return stop
                self._log(stop)
            return session.resume()

        self.state.phase = Phase.MOVING
        self.state.motion = Motion(run, "running", resumes=not stops)

    def _restart(self, arguments: Arguments) -> None:
        session = self.state.session
        if self.state.phase is Phase.LOADED:
            raise RequestRefused("the program has not begun")
        if "arguments" in arguments:
            self._load(arguments.inner("arguments"))
        self._start(restarts=self.state.session is session and session.stop is not None)

    def _terminate(self, _arguments: Arguments) -> None:
        if self.state.open_session is None:
            raise RequestRefused("no program has been launched")

    def _disconnect(self, _arguments: Arguments) -> None:
        self.state.closed = True

    def _pause(self, arguments: Arguments) -> None:
        meant(self.state, arguments)
        if self.state.phase not in (Phase.MOVING, Phase.STOPPED):
            raise RequestRefused(f"the program is {self.state.phase.value}")
        self.state.pause_requested = self.state.phase is Phase.MOVING

    def _cancel(self, arguments: Arguments) -> None:
        if "requestId" in arguments:
            arguments.number("requestId", least=-1)
        if "progressId" in arguments and arguments.text("progressId") == self.queue.progress:
            self.state.pause_requested = self.state.phase is Phase.MOVING

    # -------------------------------------------------------------------------------------- at any moment

    def _when_loaded(self, answer: Callable[[Arguments], Body]) -> Answer:
        """A request that sets breakpoints."""

        def checked(arguments: Arguments) -> Body:
            if self.state.phase in (Phase.NEW, Phase.OVER):
                raise RequestRefused(f"the program is {self.state.phase.value}")
            return answer(arguments)

        return checked

    def _threads(self, _arguments: Arguments) -> Body:
        return {"threads": list(rows(self.state))}

    def _locations(self, arguments: Arguments) -> Body:
        client = self.state.client
        source = self.state.sources.find(arguments.inner("source"))
        first = max(client.ours(arguments.number("line", least=-1)), 1)
        last = min(client.ours(arguments.number("endLine", client.line(first), least=-1)), first + MANY_LINES)
        lines = [] if source is None else self.breakpoints.locations(source, first, last)
        return {"breakpoints": [{"line": client.line(line)} for line in lines]}

    def _source(self, arguments: Arguments) -> Body:
        source = arguments.inner("source", {"sourceReference": arguments.number("sourceReference", 0), "name": ""})
        return {"content": self.state.sources.content(source), "mimeType": "text/x-python"}

    def _loaded(self, _arguments: Arguments) -> Body:
        sources = self.state.sources
        return {"sources": [sources.description(name) for name in sources.texts]}
