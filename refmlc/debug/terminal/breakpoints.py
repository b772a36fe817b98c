"""The commands for breakpoints."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from refmlc.debug.breakpoint_targets import MODES
from refmlc.debug.session_data import EXCEPTIONS, Breakpoint
from refmlc.debug.terminal.prompt_state import PromptState, number
from refmlc.debug.terminal.show import breakpoint_line
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE, CODES
from refmlc.run.interp.threads.group import WARP
from refmlc.run.memory.files import read_array

IF = re.compile(r"(?:^|\s)if(?=\s|$)")
OF = re.compile(r"(.*\S)\s+(thread|warp)\s+(\S+)")
NAME = re.compile(r"\w+(\.\w+)?")


def add_initial(state: PromptState, text: str) -> str:
    """Add the breakpoint of a `--break`: an argument of `catch`, `watch ELEMENT`, or an argument of `break`."""
    if not text.strip():
        raise fail(BAD_USAGE, "`--break` needs a line, a name, or something to catch")
    if text in EXCEPTIONS or text in CODES:
        return catch(state, text)
    return watch(state, text[6:].strip()) if text.startswith("watch ") else stop_at(state, text)


def stop_at(state: PromptState, argument: str) -> str:
    """Add a breakpoint; without an argument, list all."""
    if not argument:
        return "\n".join(map(breakpoint_line, state.session.breakpoints)) or "there are no breakpoints"
    return _placed(state, argument, once=False)


def stop_once(state: PromptState, argument: str) -> str:
    """Add a breakpoint that stops once."""
    if not argument:
        raise fail(BAD_USAGE, "`tbreak` needs a line or a name")
    return _placed(state, argument, once=True)


def log(state: PromptState, argument: str) -> str:
    """Add a log point."""
    where, _, text = argument.partition(" ")
    if not text.strip():
        raise fail(BAD_USAGE, "`log` needs a line or a name, and a text")
    return _placed(state, where, once=False, log=text.strip())


def _placed(state: PromptState, argument: str, *, once: bool, log: str = "") -> str:
    where, keyword, condition = (part.strip() for part in _split(argument))
    if keyword and not condition:
        raise fail(BAD_USAGE, "`if` needs an expression")
    where, threads = _threads(where)
    source, colon, line = where.rpartition(":")
    if colon or where[:1].isdigit() or where[:1] == "-":
        stop = state.session.stop
        current_source = "" if stop is None or stop.span is None else stop.span.source.name
        line_number = number(line or where, 0, "a line", least=1)
        point = state.session.break_line(
            line_number,
            _source(state, source) or current_source,
            condition=condition,
            log=log,
            once=once,
            threads=threads,
        )
    elif threads:
        raise fail(BAD_USAGE, "a thread or a warp is named with a line")
    elif NAME.fullmatch(where):
        point = state.session.break_name(where, condition=condition, log=log, once=once)
    else:
        raise fail(BAD_USAGE, f"`{where}` is neither a line nor a name" if where else "which line, or which name?")
    if not point.verified:  # a prompt has no use for a breakpoint that is never met
        state.session.remove(point.number)
        raise fail(BAD_USAGE, point.note)
    return breakpoint_line(point)


def _threads(where: str) -> tuple[str, tuple[int, ...]]:
    """Split off `thread 37` or `warp 1`; the numbers of the threads."""
    match = OF.fullmatch(where)
    if match is None:
        return where, ()
    first = number(match[3], 0, f"a {match[2]}")
    return match[1], (first,) if match[2] == "thread" else tuple(range(first * WARP, (first + 1) * WARP))


def _split(argument: str) -> tuple[str, str, str]:
    """Split into place, `if` and condition."""
    match = IF.search(argument)
    return (argument, "", "") if match is None else (argument[: match.start()], "if", argument[match.end() :])


def _source(state: PromptState, name: str) -> str:
    """The text with this name, or with this last part of its path. Fails: RM112."""
    sources = state.session.program.sources
    names = [text for text in sources if name in (text, Path(text).name)]
    if name and not names:
        raise fail(BAD_USAGE, f"no source text is named `{name}`", None, f"known texts: {', '.join(sources) or 'none'}")
    return names[0] if name else ""


def watch(state: PromptState, argument: str) -> str:
    """Watch an element or a region."""
    if not argument:
        raise fail(BAD_USAGE, "`watch` needs an element, a region, or the name of a tensor")
    element, mode = argument, "write"
    head, _, last = argument.rpartition(" ")
    if last in MODES and head:
        element, mode = head, last
    return breakpoint_line(state.session.watch(element.strip(), mode, frame=state.frame))


def catch(state: PromptState, argument: str) -> str:
    """Catch NaNs, infinities or failures."""
    if not argument:
        raise fail(BAD_USAGE, "`catch` needs something to catch", None, f"{', '.join(EXCEPTIONS)}, or a code")
    kinds = (*EXCEPTIONS, *CODES)
    return breakpoint_line(
        state.session.catch(next((kind for kind in kinds if kind.lower() == argument.lower()), argument))
    )


def compare(state: PromptState, argument: str) -> str:
    """Compare a buffer with a file."""
    name, _, file = argument.partition(" ")
    if not file.strip():
        raise fail(BAD_USAGE, "`compare` needs a name and a file")
    return breakpoint_line(state.session.compare(name, read_array(Path(file.strip()))))


def condition(state: PromptState, argument: str) -> str:
    """Replace the condition of a breakpoint."""
    number_text, _, text = argument.partition(" ")
    point = _breakpoint(state, number_text)
    return breakpoint_line(state.session.condition(point.number, text.strip()))


def ignore(state: PromptState, argument: str) -> str:
    """Set how often to pass a breakpoint."""
    number_text, _, count_text = argument.partition(" ")
    point = _breakpoint(state, number_text)
    return breakpoint_line(state.session.ignore(point.number, number(count_text.strip(), 0)))


def delete(state: PromptState, argument: str) -> str:
    """Remove breakpoints by their numbers."""
    for point in _several(state, argument):
        state.session.remove(point.number)
    return ""


def switch(state: PromptState, argument: str, *, on: bool) -> str:
    """Enable or disable breakpoints by their numbers."""
    breakpoints = _several(state, argument)
    for point in breakpoints:
        point.enabled = on
    return "\n".join(map(breakpoint_line, breakpoints))


def _several(state: PromptState, argument: str) -> list[Breakpoint]:
    if not argument:
        raise fail(BAD_USAGE, "which breakpoints?", None, "`break` lists them")
    return [_breakpoint(state, word) for word in argument.replace(",", " ").split()]


def _breakpoint(state: PromptState, word: str) -> Breakpoint:
    if not word:
        raise fail(BAD_USAGE, "which breakpoint?", None, "`break` lists them")
    index = number(word, 0, "a breakpoint's number")
    for point in state.session.breakpoints:
        if point.number == index:
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
    "enable": partial(switch, on=True),
    "disable": partial(switch, on=False),
}
