"""The shell: executes a line on the session, and returns the reply."""

from collections.abc import Callable, Mapping

from refmlc.debug.session import Session
from refmlc.debug.terminal import breakpoints, inspection, motions
from refmlc.debug.terminal.prompt_state import PromptState
from refmlc.debug.terminal.show import stopped
from refmlc.debug.terminal.table import find
from refmlc.diag import Diagnostic, RefmlcError, fail
from refmlc.diag.catalogue import BAD_USAGE, BUG
from refmlc.diag.render import render_text

Handler = Callable[[PromptState, str], str]

HANDLERS: Mapping[str, Handler] = {**motions.HANDLERS, **breakpoints.HANDLERS, **inspection.HANDLERS}


class Shell:
    """Executes command lines on a session. `over`: `quit` was entered; `failed`: a command failed."""

    def __init__(self, session: Session, breaks: tuple[str, ...] = ()) -> None:
        """The session must not have been started; `breaks` are its first breakpoints, as `--break` takes them."""
        self.state = PromptState(session)
        self.over = False
        self.failed = False
        self._breaks = breaks
        self._last = ""

    def begin(self) -> str:
        """Start the program and run to the first of the breakpoints; the text to show."""
        session = self.state.session
        stop = session.start()
        shown = [breakpoints.wanted(self.state, wanted) for wanted in self._breaks]
        if self._breaks and not session.ended:
            stop = session.resume()
        self.state.moved()
        return "\n".join([*shown, stopped(session, stop), *self.state.displayed()])

    def execute(self, line: str) -> str:
        """The reply to a line; failures are part of it."""
        line = line.strip()
        if line.startswith("#"):
            return ""
        if not line:
            line = self._last
        word, rest = (*line.split(maxsplit=1), "", "")[:2]
        if not word:
            return ""
        try:
            return self._run(word, rest.strip(), line)
        except RefmlcError as failure:
            problem = failure.diagnostic
        except Exception as bug:  # noqa: BLE001 - the border: a defect of refmlc is shown, and the session goes on
            problem = Diagnostic(BUG, f"{type(bug).__name__}: {bug}", notes=("the session goes on",))
        self.failed = True
        return render_text(problem)

    def _run(self, word: str, rest: str, line: str) -> str:
        rows = find(word)
        if len(rows) != 1:
            many = ", ".join(row.names[0] for row in rows)
            raise fail(
                BAD_USAGE,
                f"`{word}` {f'is ambiguous: {many}' if rows else 'is not a command'}",
                None,
                "`help` lists all commands",
            )
        row = rows[0]
        self._last = line if row.repeats else ""
        if row.names[0] == "quit":
            self.over = True
            return ""
        if rest and not row.takes:
            raise fail(BAD_USAGE, f"`{row.names[0]}` takes no argument, but `{rest}` is given")
        return HANDLERS[row.names[0]](self.state, rest)
