"""The commands that show frames and values, and the one that changes a value."""

from collections.abc import Callable, Mapping

from refmlc.debug.expressions import parsed
from refmlc.debug.terminal import show
from refmlc.debug.terminal.prompt_state import PromptState, count, number
from refmlc.debug.terminal.show import AROUND
from refmlc.debug.terminal.table import find, overview, usage
from refmlc.diag import Span, fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.observe.why import outline, text

DEPTH = 4


def backtrace(state: PromptState, _argument: str) -> str:
    """Show the frames of the stack."""
    return show.frames(state.session.frames(), state.frame)


def up(state: PromptState, argument: str) -> str:
    """Select the frame around this one."""
    return _look(state, state.frame + count(argument))


def down(state: PromptState, argument: str) -> str:
    """Select the frame inside this one."""
    return _look(state, state.frame - count(argument))


def _look(state: PromptState, frame: int) -> str:
    frames = state.session.frames()
    if not 0 <= frame < len(frames):
        raise fail(BAD_USAGE, "there is no frame further out" if frame > 0 else "there is no frame further in")
    state.frame, state.listed = frame, 0
    return "\n".join([show.frames(frames[frame : frame + 1], frame), *show.context(state.session, frames[frame].span)])


def _span(state: PromptState) -> Span:
    frames = state.session.frames()
    span = frames[state.frame].span if frames else None
    if span is None:
        func = state.session.program.module.functions[state.session.program.func]
        span = func.span
    if span is None:
        raise fail(BAD_USAGE, "there is no source text here")
    return span


def source(state: PromptState, argument: str) -> str:
    """List the text around the current line."""
    span = _span(state)
    first, _, last = argument.replace(",", " ").strip().partition(" ")
    if first == ".":
        first, state.listed = "", 0
    begin = number(first, state.listed + 1 if state.listed else max(span.line - AROUND, 1), "a line", least=1)
    end = number(last.strip(), begin + 2 * AROUND, "a line, or how many", least=1)
    if end < begin:  # as in pdb: how many after the first
        end += begin
    most = len(span.source.lines)
    if begin > most:
        return f"the text has {most} lines"
    end = state.listed = min(end, most)
    return show.listing(span.source, span.line, begin, end, show.marked(state.session, span))


def whole_function(state: PromptState, _argument: str) -> str:
    """List the whole function."""
    span = _span(state)
    spans = [
        func.span
        for func in state.session.program.module.functions.values()
        if func.span is not None
        and func.span.source is span.source
        and func.span.line <= span.line <= func.span.end_line
    ]
    around = spans[0] if spans else span
    return show.listing(span.source, span.line, around.line, around.end_line, show.marked(state.session, span))


def print_value(state: PromptState, argument: str) -> str:
    """Show a value; of a tensor with axes, a page of its elements."""
    if not argument:
        raise fail(BAD_USAGE, "`print` needs an expression")
    variable = state.session.look(argument, state.frame)
    if variable.tensor is not None and variable.tensor.ndim:
        return show.tensor_page(variable, variable.tensor)
    return show.value_text(variable)


def examine(state: PromptState, argument: str) -> str:
    """Show elements of a tensor or region, from a number on."""
    name, _, first = argument.rpartition(" ")
    if not (name and first.isdigit()):
        name, first = argument, ""
    variable = state.session.look(name, state.frame) if name else None
    if variable is None or variable.tensor is None:
        raise fail(BAD_USAGE, f"`{name}` is not a tensor" if name else "`examine` needs the name of a tensor")
    start = number(first, 0)
    if start and start >= variable.tensor.size:
        raise fail(BAD_USAGE, f"`{name}` has {variable.tensor.size} elements")
    return show.tensor_page(variable, variable.tensor, start)


def variables(state: PromptState, _argument: str) -> str:
    """Show the variables of the frame."""
    names = state.session.variables(state.frame) if state.session.frames() else state.session.visible()
    return "\n".join(map(show.variable, names)) or "nothing"


def visible(state: PromptState, _argument: str) -> str:
    """Show every visible name."""
    return "\n".join(map(show.variable, state.session.visible(state.frame))) or "nothing"


def display(state: PromptState, argument: str) -> str:
    """Show an expression at every stop."""
    if argument:
        parsed(argument)
        state.count += 1
        state.displays[state.count] = argument
        return state.display_lines()[-1]
    return "\n".join(state.display_lines()) or "there are no displays"


def undisplay(state: PromptState, argument: str) -> str:
    """Stop showing an expression."""
    if not argument:
        state.displays.clear()
    elif state.displays.pop(number(argument, 0), None) is None:
        raise fail(BAD_USAGE, f"there is no display {argument}")
    return ""


def why(state: PromptState, argument: str) -> str:
    """Show why an element has its value."""
    element, depth = argument, DEPTH
    head, _, last = argument.rpartition(" ")
    if head.endswith("]") and last.isdigit():
        element, depth = head, int(last)
    elif argument.isdigit():
        element, depth = "", int(argument)
    backward_slice = state.session.why(element, state.frame)
    return text(outline(backward_slice, max(depth, 1)))


def now(state: PromptState, _argument: str) -> str:
    """Show where the program stands."""
    stop = state.session.stop
    return "" if stop is None else show.stop_text(state.session, stop)


def change(state: PromptState, argument: str) -> str:
    """Give a variable or an element another value."""
    target, equals, value = argument.partition("=")
    if not (equals and target.strip() and value.strip()) or value.startswith("="):
        raise fail(BAD_USAGE, "`set` needs NAME = EXPRESSION, or an element of a tensor in place of the name")
    changed = state.session.set(target.strip(), value.strip(), state.frame)
    variable = state.session.look(target.strip(), state.frame)
    return f"{target.strip()} = {show.value_text(variable)}" if changed.tensor is not None else show.variable(changed)


def info(state: PromptState, _argument: str) -> str:
    """Show facts about the session."""
    count, nbytes = state.session.snapshots
    program = state.session.program
    return "\n".join(
        [
            f"{count} snapshots, {nbytes / 1e6:.1f} MB",
            f"texts: {', '.join(program.sources) or 'none'}",
            f"functions: {', '.join(program.module.functions)}",
        ]
    )


def explain(_state: PromptState, argument: str) -> str:
    """Show the help of one command, or the overview."""
    if not argument:
        return overview()
    rows = find(argument)
    if not rows:
        raise fail(BAD_USAGE, f"`{argument}` is not a command", None, "`help` lists all commands")
    return "\n".join(map(usage, rows))


HANDLERS: Mapping[str, Callable[[PromptState, str], str]] = {
    "backtrace": backtrace,
    "up": up,
    "down": down,
    "list": source,
    "longlist": whole_function,
    "print": print_value,
    "examine": examine,
    "variables": variables,
    "args": visible,
    "display": display,
    "undisplay": undisplay,
    "why": why,
    "now": now,
    "set": change,
    "info": info,
    "help": explain,
}
