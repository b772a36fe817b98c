"""The state of the server: the client, and the phase of the program.

| phase       | the program                                     | answered requests                         |
|-------------|-------------------------------------------------|-------------------------------------------|
| `NEW`       | is unknown                                      | initialize, launch                        |
| `LOADED`    | is loaded, has not begun                        | breakpoints, sources, configurationDone    |
| `STOPPED`   | stands; with `stopAtEnd` also at its end         | all                                       |
| `MOVING`    | moves                                           | breakpoints, sources, pause               |
| `OVER`      | is over, and the client has been notified        | disconnect, restart                       |
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from refmlc.debug.dap.arguments import NOT_STOPPED, Arguments, RequestRefused
from refmlc.debug.dap.channel import MessageSender
from refmlc.debug.dap.references import References, ValueParts, VariableScope
from refmlc.debug.dap.sources import Sources
from refmlc.debug.program import Program
from refmlc.debug.session import Session
from refmlc.debug.session_data import Reason, Stop
from refmlc.diag import Span

Say = Callable[[str], object]
Launcher = Callable[[Arguments, Say], Program]
"""Makes the program of a launch request; the program prints through the second argument."""


class Phase(Enum):
    """See the table of the module."""

    NEW = "not launched"
    LOADED = "not begun"
    STOPPED = "stopped"
    MOVING = "moving"
    OVER = "over"


@dataclass(slots=True)
class Client:
    """The client's counting and its capabilities. `initialized`: `initialize` has been answered."""

    initialized: bool = False
    first_line: int = 1
    first_column: int = 1
    pages: bool = False
    progress: bool = False
    invalidated: bool = False
    memory: bool = False

    @classmethod
    def of(cls, arguments: Arguments) -> "Client":
        """Read the arguments of `initialize`."""
        if arguments.text("pathFormat", "path") != "path":
            raise RequestRefused("paths must be plain paths: URIs are not supported")
        return cls(
            initialized=True,
            first_line=int(arguments.flag("linesStartAt1", True)),
            first_column=int(arguments.flag("columnsStartAt1", True)),
            pages=arguments.flag("supportsVariablePaging", False),
            progress=arguments.flag("supportsProgressReporting", False),
            invalidated=arguments.flag("supportsInvalidatedEvent", False),
            memory=arguments.flag("supportsMemoryEvent", False),
        )

    def line(self, number: int) -> int:
        """A line number in the client's counting."""
        return number - 1 + self.first_line

    def ours(self, line: int) -> int:
        """A line number of the client in our counting."""
        return line + 1 - self.first_line

    def place(self, span: Span) -> dict[str, object]:
        """The begin and end of a span."""
        return {
            "line": self.line(span.line), "column": span.column + self.first_column,
            "endLine": self.line(span.end_line), "endColumn": span.end_column + self.first_column,
        }  # fmt: skip


@dataclass(slots=True)
class Motion:
    """A motion of the program. `resumes`: after an interruption it can begin again and continue."""

    run: Callable[[], Stop]
    title: str
    resumes: bool = False


@dataclass(slots=True)
class DapState:
    """The state that all requests share.

    `threads`: the rows of the threads at the last stop. `chosen`: the thread that the console has selected.
    """

    out: MessageSender
    client: Client = field(default_factory=Client)
    phase: Phase = Phase.NEW
    references: References = field(default_factory=References)
    open_session: Session | None = None
    texts: Sources | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    motion: Motion | None = None
    threads: tuple[dict[str, object], ...] = ()
    chosen: int | None = None
    pause_requested: bool = False
    closed: bool = False

    @property
    def session(self) -> Session:
        """The session. Fails: refused before the launch."""
        if self.open_session is None:
            raise RequestRefused("no program has been launched")
        return self.open_session

    @property
    def sources(self) -> Sources:
        """The source texts. Fails: refused before the launch."""
        if self.texts is None:
            raise RequestRefused("no program has been launched")
        return self.texts

    def show(self, thread: int | None) -> None:
        """Show frames and values of a thread of the program; None: of the one that runs. Fails: RM112."""
        session = self.session
        if thread != session.selected:
            session.select_thread(thread)
        self.references.thread = session.selected

    def frame(self, number: int) -> int:
        """The frame with this number, of its thread, which is shown now."""
        frame = self.references.frame(number)
        self.show(self.references.thread_of(number))
        return frame

    def parts(self, number: int) -> VariableScope | ValueParts:
        """The scope or the value with this number, of its thread, which is shown now."""
        parts = self.references.parts(number)
        self.show(self.references.thread_of(number))
        return parts

    def forget(self) -> None:
        """The program moves: numbers and the choice of a thread are valid no longer."""
        self.references.forget()
        self.chosen = None

    def stopped_session(self) -> Session:
        """The session of a program that stands."""
        session = self.session
        if self.phase is not Phase.STOPPED:
            raise RequestRefused(f"the program is {self.phase.value}", NOT_STOPPED)
        return session

    def movable_session(self) -> Session:
        """The session of a program that stands and has not ended."""
        session = self.stopped_session()
        if session.ended:
            raise RequestRefused("the program has ended: step back, or restart it")
        return session

    def stop(self) -> Stop:
        """The stop where the program stands."""
        stop = self.stopped_session().stop
        if stop is None:
            raise RequestRefused("the program has not begun", NOT_STOPPED)
        return stop

    @property
    def ended(self) -> bool:
        """True if the program stands at its end."""
        stop = None if self.open_session is None else self.open_session.stop
        return stop is not None and stop.reason is Reason.ENDED
