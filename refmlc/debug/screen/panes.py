"""The contents of each part of the screen, as rich text of a given height and width, free of markup."""

from rich.text import Text

from refmlc.debug.screen.heat import INF, NAN, UNSET, heat_map
from refmlc.debug.session import Session
from refmlc.debug.session_data import Reason
from refmlc.debug.tensors import shape_of
from refmlc.debug.terminal import show
from refmlc.debug.terminal.thread_text import rows
from refmlc.diag import Span

STYLES = {NAN: "bold white on red", INF: "bold black on yellow", UNSET: "dim"}
TITLE = "bold reverse"


def status(session: Session, busy: str) -> Text:
    """One line: where and why the program stands."""
    stop = session.stop
    if busy:
        return Text(f" {busy} … (ctrl+p pauses)", style=TITLE)
    if stop is None:
        return Text(" not started", style=TITLE)
    if stop.reason is Reason.ENDED:
        return Text(f" {'failed' if stop.failure else 'ended'}, moment {stop.moment}", style=TITLE)
    why = f": {stop.text}" if stop.text else ""
    return Text(f" {stop.function}, moment {stop.moment}, {stop.reason.value}{why}", style=TITLE)


def source(session: Session, frame: int, height: int) -> Text:
    """The lines around the current one of the selected frame."""
    span = span_of(session, frame)
    if span is None:
        return Text("no text", style="dim")
    lines = span.source.lines
    first = max(1, min(span.line - height // 2, len(lines) - height + 1))
    marked = {point.line for point in session.breakpoints if point.enabled and point.source == span.source.name}
    text = Text(no_wrap=True, overflow="crop")
    for number in range(first, min(first + height, len(lines) + 1)):
        is_current = number == span.line
        mark = "●" if number in marked else " "
        style = "bold black on green" if is_current else ""
        text.append(f"{mark}", style="red")
        text.append(f"{number:>4} {'▶' if is_current else ' '} {span.source.line(number)}\n", style=style)
    return text


def span_of(session: Session, frame: int) -> Span | None:
    """The statement being executed in a frame; after the end, the function."""
    frames = session.frames()
    if frame < len(frames):
        return frames[frame].span
    return session.program.module.functions[session.program.func].span


def frames(session: Session, frame: int, width: int) -> Text:
    """The frames, innermost first."""
    text = Text(no_wrap=True, overflow="ellipsis")
    for stack_frame in session.frames():
        text.append(stack_frame.title[:width] + "\n", style="reverse" if stack_frame.index == frame else "")
    return text


def threads(session: Session, size: tuple[int, int]) -> Text:
    """The threads of the block, those in the same state in one line, with the selected one in sight.

    Empty where no threads take turns. `size`: rows and columns.
    """
    text = Text(no_wrap=True, overflow="ellipsis")
    if session.stop is None or session.ended:
        return text
    found, (height, width) = rows(session.threads(), session.thread), size
    selected = next((item for item, row in enumerate(found) if row.current), 0)
    first = max(0, min(selected - height // 2, len(found) - height))
    for row in found[first : first + height]:
        text.append(f"{row.numbers} {row.where}"[:width] + "\n", style="reverse" if row.current else "")
    return text


def variables(session: Session, frame: int, width: int) -> Text:
    """Every visible name, tensors in short."""
    text = Text(no_wrap=True, overflow="ellipsis")
    if session.stop is None:
        return text
    for variable in session.visible(frame):
        style = "yellow" if variable.edited else ""
        text.append(show.variable(variable)[:width] + "\n", style=style)
    return text


def heat(session: Session, name: str, frame: int, size: tuple[int, int]) -> Text:
    """A tensor as a heat map; `size`: rows and columns."""
    height, width = size
    tensor = (
        next((variable.tensor for variable in session.visible(frame) if variable.name == name), None)
        if session.stop
        else None
    )
    if tensor is None:
        return Text(
            f"{name}: no tensor here; `heat NAME` shows one" if name else "`heat NAME` shows a tensor", style="dim"
        )
    shown_map = heat_map(tensor, height - 1, width)
    ends = "" if shown_map.least is None else f" {shown_map.least:.4g}…{shown_map.greatest:.4g}"
    text = Text(no_wrap=True, overflow="crop")
    text.append(f"{name} {shape_of(tensor)} {tensor.dtype}{ends}\n", style="bold")
    for row in shown_map.rows:
        for character in row:
            text.append(character, style=STYLES.get(character, "cyan"))
        text.append("\n")
    return text
