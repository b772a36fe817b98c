"""The shell: executes a line on the session, and returns the reply."""

from refmlc.debug.session import Session
from refmlc.debug.terminal import breakpoints, inspection, motions, threads
from refmlc.debug.terminal.prompt_state import PromptState
from refmlc.debug.terminal.show import stop_text
from refmlc.debug.terminal.table import find
from refmlc.diag import Diagnostic, RefmlcError, fail
from refmlc.diag.catalogue import BAD_USAGE, BUG
from refmlc.diag.render import render_text

HANDLERS = {**breakpoints.HANDLERS, **inspection.HANDLERS, **threads.HANDLERS}
MOTIONS = {**motions.MOTIONS, **threads.MOTIONS}


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
        replies = [breakpoints.add_initial(self.state, text) for text in self._breaks]
        if self._breaks and not session.ended:
            stop = session.resume()
        self.state.reset()
        return "\n".join([*replies, stop_text(session, stop), *self.state.display_lines()])

    def execute(self, line: str) -> str:
        """The reply to a line; failures are part of it."""
        line = line.strip()
        if line.startswith("#"):
            return ""
        if not line:
            line = self._last
        word, argument = (*line.split(maxsplit=1), "", "")[:2]
        if not word:
            return ""
        try:
            return self._run(word, argument.strip(), line)
        except RefmlcError as failure:
            problem = failure.diagnostic
        except Exception as bug:  # noqa: BLE001 - the border: a defect of refmlc is shown, and the session continues
            problem = Diagnostic(BUG, f"{type(bug).__name__}: {bug}", notes=("the session continues",))
        self.failed = True
        return render_text(problem)

    def _run(self, word: str, argument: str, line: str) -> str:
        rows = find(word)
        if len(rows) != 1:
            names = ", ".join(row.names[0] for row in rows)
            raise fail(
                BAD_USAGE,
                f"`{word}` {f'is ambiguous: {names}' if rows else 'is not a command'}",
                None,
                "`help` lists all commands",
            )
        row = rows[0]
        name = row.names[0]
        self._last = line if row.repeats else ""
        if name == "quit":
            self.over = True
            return ""
        if argument and not row.takes:
            raise fail(BAD_USAGE, f"`{name}` takes no argument, but `{argument}` is given")
        if name in MOTIONS:
            return self.state.after_motion(MOTIONS[name](self.state, argument))
        return HANDLERS[name](self.state, argument)
