"""The screen. It fits 80 columns and 24 rows; the prompt below accepts every command of the line prompt.

| key                | does               | key                    | does                |
|--------------------|--------------------|------------------------|---------------------|
| F11                | step               | F7                     | step back           |
| F10                | next               | F8                     | reverse continue    |
| F5                 | continue           | F6                     | next iteration      |
| F4                 | leave this frame    | F9                     | breakpoint here      |
| page up, page down | frame around, within | ctrl+p, ctrl+q        | pause, quit          |
| F2                 | the waits of threads | F3                     | step this thread     |

Where the threads of a kernel take turns, they stand above the frames.
"""

from typing import ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, RichLog, Static

from refmlc.debug.screen import panes
from refmlc.debug.terminal.shell import Shell
from refmlc.diag import RefmlcError
from refmlc.diag.layout import safe

NARROW = 10  # columns that a part is taken to have before it is laid out

KEYS = {
    "f2": "waits",
    "f3": "tstep",
    "f11": "step",
    "f10": "next",
    "f5": "continue",
    "f4": "out",
    "f6": "iteration",
    "f7": "rstep",
    "f8": "rcontinue",
    "pageup": "up",
    "pagedown": "down",
}


class Screen(App[None]):
    """The full screen of the session of `shell`, which has not begun."""

    CSS = """
    #status { height: 1; }
    #top { height: 2fr; }
    Static { text-wrap: nowrap; text-overflow: clip; }
    #source { width: 3fr; height: 100%; }
    #side { width: 2fr; }
    #threads { height: 1fr; border-top: solid gray; display: none; }
    #frames { height: 1fr; border-top: solid gray; }
    #variables { height: 1fr; border-top: solid gray; }
    #bottom { height: 1fr; }
    #heat { width: 2fr; height: 100%; border-top: solid gray; }
    #said { width: 3fr; height: 100%; border-top: solid gray; }
    #prompt { height: 1; border: none; padding: 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"command('{word}')", word, priority=True) for key, word in KEYS.items()),
        Binding("f9", "breakpoint", "breakpoint", priority=True),
        Binding("ctrl+p", "pause", "pause", priority=True),
    ]
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, shell: Shell) -> None:
        super().__init__()
        self.shell = shell
        self.busy = ""
        self.watched = ""
        self.problem: RefmlcError | None = None

    def compose(self) -> ComposeResult:
        """Lay out the parts."""
        yield Static(id="status")
        with Horizontal(id="top"):
            yield Static(id="source")
            with Vertical(id="side"):
                yield Static(id="threads")
                yield Static(id="frames")
                yield Static(id="variables")
        with Horizontal(id="bottom"):
            yield Static(id="heat")
            yield RichLog(id="said", wrap=True, markup=False)
        yield Input(id="prompt", placeholder="a command; help; F11 step, F10 next, F5 continue, F7 back")

    def on_mount(self) -> None:
        """Start the program in a thread."""
        self.query_one("#prompt").focus()
        self._work("starting", "")

    def on_resize(self) -> None:
        """Redraw for the new size."""
        self._show()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Execute the typed line."""
        event.input.clear()
        word, _, name = event.value.strip().partition(" ")
        if word == "heat":
            self.watched = name.strip()
            self._show()
        else:
            self.action_command(event.value)

    def action_command(self, line: str) -> None:
        """Execute a command, unless another one is running."""
        if not self.busy:
            self._work(line or "again", line)

    def action_breakpoint(self) -> None:
        """Add a breakpoint at the current line, or remove it."""
        session, state = self.shell.state.session, self.shell.state
        span = None if session.stop is None else panes.span_of(session, state.frame)
        if span is None:
            return
        numbers = [
            point.number for point in session.breakpoints if (point.source, point.line) == (span.source.name, span.line)
        ]
        self.action_command(f"delete {' '.join(map(str, numbers))}" if numbers else f"break {span.line}")

    def action_pause(self) -> None:
        """Pause the motion, if one is running."""
        if self.busy:
            self.shell.state.session.pause()

    def _work(self, title: str, line: str) -> None:
        self.busy = title
        self._show()
        self.run_worker(lambda: self._execute(line), thread=True, exclusive=False, exit_on_error=True)

    def _execute(self, line: str) -> None:
        """Execute in a thread, so that the screen stays alive; end if a first breakpoint is wrong."""
        try:
            reply = self.shell.execute(line) if self.shell.state.session.stop is not None else self.shell.begin()
        except RefmlcError as failure:
            self.problem, reply, self.shell.over = failure, "", True
        self.call_from_thread(self._show_reply, line, reply)

    def _show_reply(self, line: str, reply: str) -> None:
        self.busy = ""
        if self.shell.over:
            self.exit()
            return
        log = self.query_one("#said", RichLog)
        if line:
            log.write(Text(safe(f"> {line}"), style="bold"))
        if reply:
            log.write(Text(safe(reply)))
        self._show()

    def _show(self) -> None:
        """Redraw every part; only the status while the program runs."""
        session, frame = self.shell.state.session, self.shell.state.frame
        self._fill("status", panes.status(session, self.busy))
        if self.busy:
            return
        self._watch()
        room = {name: self._room(name) for name in ("source", "threads", "frames", "variables", "heat")}
        threads = panes.threads(session, room["threads"])
        pane = self.query_one("#threads", Static)
        if pane.display != bool(threads.plain):  # the rooms of its neighbours change too
            pane.display = bool(threads.plain)
            self.call_after_refresh(self._show)
        self._fill("threads", threads)
        self._fill("source", panes.source(session, frame, room["source"][0]))
        self._fill("frames", panes.frames(session, frame, room["frames"][1]))
        self._fill("variables", panes.variables(session, frame, room["variables"][1]))
        self._fill("heat", panes.heat(session, self.watched, frame, room["heat"]))

    def _room(self, name: str) -> tuple[int, int]:
        size = self.query_one(f"#{name}", Static).content_size
        return max(size.height, 1), max(size.width, NARROW)

    def _fill(self, name: str, text: Text) -> None:
        text.plain = safe(text.plain)
        self.query_one(f"#{name}", Static).update(text)

    def _watch(self) -> None:
        """Select a tensor if none is: the one about to be stored to, else the last visible one."""
        session = self.shell.state.session
        stop = session.stop
        if self.watched or stop is None:
            return
        names = [variable.name for variable in session.visible(self.shell.state.frame) if variable.tensor is not None]
        stored = stop.element.partition("[")[0]
        self.watched = stored if stored in names else names[-1] if names else ""
