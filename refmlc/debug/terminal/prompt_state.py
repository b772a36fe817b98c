"""The state of a prompt between two lines: the selected frame, the displays, the end of the last listing.

`followed`: the threads that were chosen to be stepped. `thread`: the one that ran at the last stop.
"""

from dataclasses import dataclass, field

from refmlc.debug.session import Session
from refmlc.debug.session_data import Stop
from refmlc.debug.terminal.show import stop_text, value_text
from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_USAGE

MOST_DIGITS = 18


@dataclass(slots=True)
class PromptState:
    """See the docstring of the module."""

    session: Session
    frame: int = 0
    listed: int = 0
    displays: dict[int, str] = field(default_factory=dict)
    count: int = 0
    followed: frozenset[int] = frozenset()
    thread: int | None = None

    def reset(self) -> None:
        """Select the innermost frame: the program has moved."""
        self.frame = self.listed = 0

    def after_motion(self, stop: Stop) -> str:
        """The reply to a motion."""
        self.reset()
        return "\n".join([*self._other_thread(), stop_text(self.session, stop), *self.display_lines()])

    def _other_thread(self) -> list[str]:
        """That another thread runs than at the last stop, and none of those that were chosen."""
        before, self.thread = self.thread, None if self.session.ended else self.session.thread
        if before is None or self.thread is None or self.thread in {before, *self.followed}:
            return []
        return [f"thread {self.thread} runs now, before it was thread {before}"]

    def display_lines(self) -> list[str]:
        """The expressions shown at every stop."""
        lines = []
        for number, text in self.displays.items():
            try:
                value = value_text(self.session.look(text))
            except RefmlcError as failure:
                value = f"<{failure.diagnostic.message}>"
            lines.append(f"display {number}: {text} = {value}")
        return lines


def number(text: str, default: int, expected: str = "a number", *, least: int = 0) -> int:
    """The number, at least `least`, that follows a command. Fails: RM112."""
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS and int(text) >= least):
        raise fail(BAD_USAGE, f"`{text}` is not {expected}", None, f"expected: a number from {least} on")
    return int(text)


def count(text: str) -> int:
    """A count; 1 by default. Fails: RM112."""
    return number(text, 1, "a count", least=1)
