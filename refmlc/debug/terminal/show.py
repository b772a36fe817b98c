"""Stops, frames, values and tensors as text."""

from collections.abc import Sequence

from refmlc.debug.session import Session
from refmlc.debug.session_data import BreakKind, Breakpoint, FrameKind, Reason, StackFrame, Stop, Variable
from refmlc.debug.tensors import PAGE, digits, page, shape_of, statistics
from refmlc.debug.terminal.thread_text import place, waiting_text
from refmlc.debug.thread_data import ranges
from refmlc.diag import Source, Span
from refmlc.diag.catalogue import BARRIER_DIVERGENCE, DEADLOCK
from refmlc.diag.render import render_text
from refmlc.lang.dtypes import dtype
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import kind_of

AROUND = 5
CONTEXT = 2
SUMMARY_ELEMENTS = 6
WIDTH = 110

REASONS = {
    Reason.ENTRY: "at the entry",
    Reason.BREAKPOINT: "breakpoint",
    Reason.FUNCTION: "breakpoint",
    Reason.DATA: "watched",
    Reason.NUMBER: "caught",
    Reason.FAILURE: "the program fails here",
    Reason.DIFFERENCE: "differs",
    Reason.PAUSE: "paused",
    Reason.BEGINNING: "the beginning: there is no earlier stop",
}


def stop_text(session: Session, stop: Stop) -> str:
    """The position of the program, and the reason of the stop."""
    lines = [f"log: {text}" for text in stop.logs]
    if stop.reason is Reason.ENDED:
        if stop.failure is not None:
            return "\n".join([*lines, f"the program has failed (moment {stop.moment})", render_text(stop.failure)])
        return "\n".join([*lines, f"the program has ended (moment {stop.moment})", *results(session)])
    why = REASONS.get(stop.reason, "")
    hits = f" {', '.join(map(str, stop.hits))}" if stop.hits else ""
    because = f"{why}{hits}: {stop.text}" if stop.text and stop.failure is None else f"{why}{hits}"
    lines += [line for line in (because, stop.note) if line]
    if stop.failure is not None:
        lines.append(render_text(stop.failure))
        if stop.failure.code in (DEADLOCK, BARRIER_DIVERGENCE):
            lines.append(waiting_text(session.waiting()))
    lines += [f"> {place(stop.span)} {where(session, stop)}", *context(session, stop.span)]
    return "\n".join(lines)


def context(session: Session, span: Span | None) -> list[str]:
    """The line about to be executed, and the lines around it."""
    if span is None:
        return []
    last = min(span.line + CONTEXT, len(span.source.lines))
    return [listing(span.source, span.line, span.line - CONTEXT, last, marked(session, span))]


def marked(session: Session, span: Span) -> frozenset[int]:
    """The lines with breakpoints in the text of `span`."""
    return frozenset(point.line for point in session.breakpoints if point.source == span.source.name)


def where(session: Session, stop: Stop) -> str:
    """The function, the loops around, and the moment."""
    frames = session.frames()
    level = frames[0].level if frames else 0
    loops = [frame.detail for frame in reversed(frames) if frame.kind is FrameKind.LOOP and frame.level == level]
    binding = frames[0].detail if frames and frames[0].kind is FrameKind.GRAPH else ""
    around = binding or ", ".join(loops)
    return f"in {stop.function}{f' ({around})' if around else ''}, moment {stop.moment}"


def results(session: Session) -> list[str]:
    """The result of the function, or the tensors it may have written."""
    if session.result is not None:
        return [f"result = {value(session.result)}"]
    return [
        f"{variable.name} = {value(variable.value)}" for variable in session.visible() if variable.tensor is not None
    ]


def listing(source: Source, line: int, first: int, last: int, marked: frozenset[int]) -> str:
    """Lines of a text; an arrow marks the current one, a B those with breakpoints."""
    width = len(str(last))
    lines = []
    for number in range(max(1, first), min(last, len(source.lines)) + 1):
        arrow = "->" if number == line else "  "
        mark = "B" if number in marked else " "
        lines.append(f"{number:>{width}} {mark}{arrow} {source.line(number)}".rstrip())
    return "\n".join(lines)


def frames(stack: Sequence[StackFrame], current: int) -> str:
    """The frames, innermost first; an arrow marks the selected one."""
    lines = []
    for frame in stack:
        sign = ">" if frame.index == current else " "
        lines.append(f"{sign} #{frame.index} {frame.title} at {place(frame.span)}")
    return "\n".join(lines) or "the program has ended"


def variable(variable: Variable) -> str:
    """A name with its value."""
    extent = f" of {variable.extent[0]}..{variable.extent[1]}" if variable.extent is not None else ""
    edited = "  [edited]" if variable.edited else ""
    return f"{variable.name} = {value_text(variable)}{extent}{edited}"


def value_text(variable: Variable) -> str:
    """The value of a variable, in the digits of its dtype."""
    if not variable.bound:
        return "no value yet"
    if isinstance(variable.value, float) and variable.dtype:
        return digits(variable.value, dtype(variable.dtype))
    return value(variable.value)


def value(content: object) -> str:
    """A value in one line."""
    match content:
        case Tensor():
            return summary(content)
        case bool() | int() | float() | str():
            return repr(content)
        case tuple():
            return f"({', '.join(value(part) for part in content)})"
        case None:
            return "nothing"
        case _:
            return kind_of(content)


def summary(tensor: Tensor) -> str:
    """A tensor in one line: shape, dtype, the first elements, what is special."""
    first = page(tensor, 0, SUMMARY_ELEMENTS)
    texts = ["?" if element is None else digits(element, tensor.dtype) for element in first.values]
    count = statistics(tensor)
    more = ", …" if count.count > SUMMARY_ELEMENTS else ""
    notes = [
        *([f"{count.count - count.initialised} not initialised"] if count.initialised < count.count else []),
        *([f"{count.nan} NaN"] if count.nan else []),
        *([f"{count.inf} inf"] if count.inf else []),
    ]
    return f"{shape_of(tensor)} {tensor.dtype} [{', '.join(texts)}{more}]" + (
        f"  ({', '.join(notes)})" if notes else ""
    )


def tensor_page(variable: Variable, tensor: Tensor, start: int = 0) -> str:
    """A page of a tensor, a row of its last axis per line, columns aligned, and its statistics."""
    elements, numbers = page(tensor, start, _whole_rows(tensor, start)), statistics(tensor)
    lines = [f"{variable.name}: {shape_of(tensor)} {tensor.dtype}"]
    texts = ["?" if element is None else digits(element, tensor.dtype) for element in elements.values]
    labels = [label(index, variable.axes) for index in elements.indices]
    width, label_width = max(map(len, texts), default=0), max(map(len, labels), default=0)
    most = max(1, (WIDTH - label_width) // (width + 1))
    row: list[str] = []
    for index, text, name in zip(elements.indices, texts, labels, strict=True):
        if row and ((index and index[-1] == 0) or len(row) > most):
            lines.append(" ".join(row))
            row = []
        if not row:
            row.append(f"{name:<{label_width}}")
        row.append(f"{text:>{width}}")
    lines += [" ".join(row)] if row else []
    end = elements.start + len(elements.values)
    if end < numbers.count:
        lines.append(f"… {numbers.count - end} more: `x {variable.name} {end}`")
    spread = "" if numbers.least is None else f", {numbers.least:.6g} … {numbers.greatest:.6g}, mean {numbers.mean:.6g}"
    lines.append(f"{numbers.initialised} of {numbers.count} initialised, {numbers.nan} NaN, {numbers.inf} inf{spread}")
    return "\n".join(lines)


def _whole_rows(tensor: Tensor, start: int) -> int:
    """The number of elements of a page: up to the end of a row, unless rows are longer than a page."""
    row = tensor.shape[-1] if tensor.ndim else 1
    return PAGE + (-(start + PAGE) % row if 0 < row <= PAGE else 0)


def label(index: tuple[int, ...], axes: tuple[int | range, ...] | None) -> str:
    """The index of an element in its tensor; for a region, in the tensor it belongs to."""
    if axes is not None:
        inner = iter(index)
        index = tuple(axis if isinstance(axis, int) else axis[next(inner)] for axis in axes)
    return f"[{', '.join(map(str, index))}]"


def breakpoint_line(point: Breakpoint) -> str:
    """A breakpoint in one line."""
    place_text = f" at {point.source}:{point.line}" if point.line else ""
    target = "" if point.what == point.kind.value or point.kind is BreakKind.LINE else f" {point.what}"
    threads = f"{'threads' if len(point.threads) > 1 else 'thread'} {ranges(point.threads)}"
    parts = [
        f"{point.number}: {point.kind.value}{target}{place_text}",
        *([f"of {threads}"] if point.threads else []),
        *([f"if {point.condition}"] if point.condition else []),
        *([f"ignoring {point.ignore}"] if point.ignore else []),
        *([f"log {point.log!r}"] if point.log else []),
        *(["once"] if point.once else []),
        *([] if point.enabled else ["disabled"]),
        *([] if point.verified else [f"not met: {point.note}"]),
        *([f"met {point.count} time{'s' if point.count > 1 else ''}"] if point.count else []),
    ]
    return ", ".join(parts)
