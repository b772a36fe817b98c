"""One line in, its effect on the session, the text that follows out."""

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
    """A session at the other end of a line. `over`: it was asked to end; `failed`: a command could not be done."""

    def __init__(self, session: Session, breaks: tuple[str, ...] = ()) -> None:
        """The session must not have been started; `breaks` are what it stops at first, as `--break` takes them."""
        self.state = PromptState(session)
        self.over = False
        self.failed = False
        self._breaks = breaks
        self._last = ""

    def begin(self) -> str:
        """Start the program, go to the first of the breaks: what to show."""
        session = self.state.session
        stop = session.start()
        shown = [breakpoints.wanted(self.state, wanted) for wanted in self._breaks]
        if self._breaks and not session.ended:
            stop = session.resume()
        self.state.moved()
        return "\n".join([*shown, stopped(session, stop), *self.state.displayed()])

    def execute(self, line: str) -> str:
        """What a line makes to be shown; failures are shown too."""
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
        except Exception as bug:  # noqa: BLE001 - the border: a mistake of ours is told, and the session goes on
            problem = Diagnostic(BUG, f"{type(bug).__name__}: {bug}", notes=("the session goes on",))
        self.failed = True
        return render_text(problem)

    def _run(self, word: str, rest: str, line: str) -> str:
        rows = find(word)
        if len(rows) != 1:
            many = ", ".join(row.names[0] for row in rows)
            raise fail(BAD_USAGE, f"`{word}` {f'may be {many}' if rows else 'is no command'}", None, "`help` lists all")
        row = rows[0]
        self._last = line if row.repeats else ""
        if row.names[0] == "quit":
            self.over = True
            return ""
        if rest and not row.takes:
            raise fail(BAD_USAGE, f"`{row.names[0]}` takes nothing, `{rest}` is given")
        return HANDLERS[row.names[0]](self.state, rest)
