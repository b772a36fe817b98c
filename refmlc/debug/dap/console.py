"""Words of the console beside expressions of TVMScript.

| line                              | shows                                                             |
|-----------------------------------|--------------------------------------------------------------------|
| `why ELEMENT`                     | why an element has its value                                       |
| `threads`, `waits`, `barriers`    | the threads of a kernel, which waits for which, the barriers        |
| `thread 37`                       | the frames and values of another thread, until the program moves    |

A name of the program that is visible comes before a word without an argument.
"""

from refmlc.debug.session import Session
from refmlc.debug.terminal.thread_text import barrier_line, threads_text, waiting_text
from refmlc.observe.why import outline, text

DEPTH = 4


def selected(line: str) -> int | None:
    """The number of the thread that a line selects."""
    word, _, number = line.strip().partition(" ")
    number = number.strip()
    return int(number) if word == "thread" and number.isascii() and number.isdigit() and len(number) < 10 else None


def reply(session: Session, line: str, frame: int) -> str | None:
    """The reply to a line; None: it is an expression."""
    word, _, rest = line.strip().partition(" ")
    if word == "why":
        return text(outline(session.why(rest.strip(), frame), DEPTH))
    if rest or any(variable.name == word for variable in session.visible(frame)):
        return None
    match word:
        case "threads":
            threads = session.threads()
            return threads_text(threads, session.thread) if threads else "no threads take turns here"
        case "waits":
            return waiting_text(session.waiting()) or "no thread waits"
        case "barriers":
            return "\n".join(map(barrier_line, session.barriers())) or "no barrier is in use"
        case _:
            return None
