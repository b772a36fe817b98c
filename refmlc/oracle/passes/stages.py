"""Snapshots of a module in order, and the lines that hold them: one JSON object in each.

| line                                | is                                                          |
|-------------------------------------|-------------------------------------------------------------|
| `{"name": PASS, "text": TVMSCRIPT}` | the module as this pass left it; the first one is the input |
| `{"within": PASS}`                  | this pass runs from here on; empty: none. May be left out   |
| `{"refused": WHY}`                  | the compiler refused the module; the last line              |
| `{"done": true}`                    | the compiler ended; the last line                           |

Any compiler whose passes print TVMScript can write them. Without a last line, the compiler ended in the pass that ran.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE

ENDED = "the compiler ended before its passes did"


@dataclass(frozen=True)
class Stage:
    """The module after a pass."""

    name: str
    text: str


@dataclass(frozen=True)
class Trace:
    """All snapshots. `stopped`: why the compiler stopped early; empty if it did not."""

    stages: tuple[Stage, ...]
    stopped: str = ""


def read_trace(lines: Iterable[str], ended: str = ENDED) -> Trace:
    """The snapshots in `lines`; `ended` is the reason if the last line is missing. Fails: RM109."""
    stages: list[Stage] = []
    within = ""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        match _object(line, number):
            case {"name": str(name), "text": str(text)}:
                stages.append(Stage(_shown(name), text))
            case {"within": str(name)}:
                within = f"in `{_shown(name)}`: " if name else ""
            case {"refused": str(why)}:
                return Trace(_some(stages, _shown(why)), within + _shown(why))
            case {"done": True}:
                return Trace(_some(stages, ""))
            case _:
                raise fail(BAD_FILE, f"line {number} is not a snapshot: it has no `name` and `text`")
    return Trace(_some(stages, ended), within + ended)


def _shown(text: str) -> str:
    """A text that can be printed: JSON may hold halves of characters."""
    return text.encode("utf-8", "backslashreplace").decode()


def _some(stages: Sequence[Stage], why: str) -> tuple[Stage, ...]:
    if not stages:
        raise fail(BAD_FILE, f"no snapshot: {why or 'the compiler printed none'}")
    return tuple(stages)


def _object(line: str, number: int) -> object:
    try:
        return json.loads(line)
    except ValueError as problem:
        raise fail(BAD_FILE, f"line {number} is not JSON: {problem}") from None
