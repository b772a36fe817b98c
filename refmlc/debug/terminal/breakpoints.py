"""The commands for breakpoints."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from refmlc.debug.breakpoint_targets import MODES
from refmlc.debug.session_data import EXCEPTIONS, Breakpoint
from refmlc.debug.terminal.prompt_state import PromptState, number
from refmlc.debug.terminal.show import breakpoint_line
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE, CODES
from refmlc.run.memory.files import read_array

IF = re.compile(r"(?:^|\s)if(?=\s|$)")
NAME = re.compile(r"\w+(\.\w+)?")


def wanted(state: PromptState, text: str) -> str:
    """Add the breakpoint of a `--break`: an argument of `catch`, `watch ELEMENT`, or an argument of `break`."""
    if not text.strip():
        raise fail(BAD_USAGE, "`--break` needs a line, a name, or something to catch")
    if text in EXCEPTIONS or text in CODES:
        return catch(state, text)
    return watch(state, text[6:].strip()) if text.startswith("watch ") else stop_at(state, text)


def stop_at(state: PromptState, rest: str) -> str:
    """Add a breakpoint; without an argument, list all."""
    if not rest:
        return "\n".join(map(breakpoint_line, state.session.breakpoints)) or "there are no breakpoints"
    return _placed(state, rest, once=False)


def stop_once(state: PromptState, rest: str) -> str:
    """Add a breakpoint that stops once."""
    if not rest:
        raise fail(BAD_USAGE, "`tbreak` needs a line or a name")
    return _placed(state, rest, once=True)


def log(state: PromptState, rest: str) -> str:
    """Add a log point."""
    where, _, text = rest.partition(" ")
    if not text.strip():
        raise fail(BAD_USAGE, "`log` needs a line or a name, and a text")
    return _placed(state, where, once=False, log=text.strip())


def _placed(state: PromptState, rest: str, *, once: bool, log: str = "") -> str:
    where, asks, condition = (part.strip() for part in _split(rest))
    if asks and not condition:
        raise fail(BAD_USAGE, "`if` needs an expression")
    source, colon, line = where.rpartition(":")
    if colon or where[:1].isdigit() or where[:1] == "-":
        stop = state.session.stop
        here = "" if stop is None or stop.span is None else stop.span.source.name
        wanted = number(line or where, 0, "a line", least=1)
        point = state.session.break_line(
            wanted, _source(state, source) or here, condition=condition, log=log, once=once
        )
    elif NAME.fullmatch(where):
        point = state.session.break_name(where, condition=condition, log=log, once=once)
    else:
        raise fail(BAD_USAGE, f"`{where}` is neither a line nor a name" if where else "which line, or which name?")
    if not point.verified:  # a prompt has no use for a breakpoint that is never met
        state.session.remove(point.number)
        raise fail(BAD_USAGE, point.note)
    return breakpoint_line(point)


def _split(rest: str) -> tuple[str, str, str]:
    """Split into place, `if` and condition."""
    match = IF.search(rest)
    return (rest, "", "") if match is None else (rest[: match.start()], "if", rest[match.end() :])


def _source(state: PromptState, name: str) -> str:
    """The text with this name, or with this last part of its path. Fails: RM112."""
    known = state.session.program.sources
    names = [text for text in known if name in (text, Path(text).name)]
    if name and not names:
        raise fail(BAD_USAGE, f"no source text is named `{name}`", None, f"known texts: {', '.join(known) or 'none'}")
    return names[0] if name else ""


def watch(state: PromptState, rest: str) -> str:
    """Watch an element or a region."""
    if not rest:
        raise fail(BAD_USAGE, "`watch` needs an element, a region, or the name of a tensor")
    element, mode = rest, "write"
    head, _, last = rest.rpartition(" ")
    if last in MODES and head:
        element, mode = head, last
    return breakpoint_line(state.session.watch(element.strip(), mode, frame=state.frame))


def catch(state: PromptState, rest: str) -> str:
    """Catch NaNs, infinities or failures."""
    if not rest:
        raise fail(BAD_USAGE, "`catch` needs something to catch", None, f"{', '.join(EXCEPTIONS)}, or a code")
    known = (*EXCEPTIONS, *CODES)
    return breakpoint_line(state.session.catch(next((kind for kind in known if kind.lower() == rest.lower()), rest)))


def compare(state: PromptState, rest: str) -> str:
    """Compare a buffer with a file."""
    name, _, file = rest.partition(" ")
    if not file.strip():
        raise fail(BAD_USAGE, "`compare` needs a name and a file")
    return breakpoint_line(state.session.compare(name, read_array(Path(file.strip()))))


def condition(state: PromptState, rest: str) -> str:
    """Replace a condition."""
    which, _, text = rest.partition(" ")
    point = _breakpoint(state, which)
    return breakpoint_line(state.session.condition(point.number, text.strip()))


def ignore(state: PromptState, rest: str) -> str:
    """Set how often to pass a breakpoint."""
    which, _, many = rest.partition(" ")
    point = _breakpoint(state, which)
    return breakpoint_line(state.session.ignore(point.number, number(many.strip(), 0)))


def delete(state: PromptState, rest: str) -> str:
    """Remove breakpoints."""
    for point in _several(state, rest):
        state.session.remove(point.number)
    return ""


def enable(state: PromptState, rest: str) -> str:
    """Enable breakpoints."""
    return _enabled(state, rest, on=True)


def disable(state: PromptState, rest: str) -> str:
    """Disable breakpoints."""
    return _enabled(state, rest, on=False)


def _enabled(state: PromptState, rest: str, *, on: bool) -> str:
    breakpoints = _several(state, rest)
    for point in breakpoints:
        point.enabled = on
    return "\n".join(map(breakpoint_line, breakpoints))


def _several(state: PromptState, rest: str) -> list[Breakpoint]:
    if not rest:
        raise fail(BAD_USAGE, "which breakpoints?", None, "`break` lists them")
    return [_breakpoint(state, word) for word in rest.replace(",", " ").split()]


def _breakpoint(state: PromptState, word: str) -> Breakpoint:
    if not word:
        raise fail(BAD_USAGE, "which breakpoint?", None, "`break` lists them")
    wanted_number = number(word, 0, "a breakpoint's number")
    for point in state.session.breakpoints:
        if point.number == wanted_number:
            return point
    raise fail(BAD_USAGE, f"there is no breakpoint {word}", None, "`break` lists them")


HANDLERS: Mapping[str, Callable[[PromptState, str], str]] = {
    "break": stop_at,
    "tbreak": stop_once,
    "log": log,
    "watch": watch,
    "catch": catch,
    "compare": compare,
    "condition": condition,
    "ignore": ignore,
    "delete": delete,
    "enable": enable,
    "disable": disable,
}
