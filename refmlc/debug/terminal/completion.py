"""Completion of the word at the end of a line."""

from refmlc.debug.session import Session
from refmlc.debug.session_data import EXCEPTIONS, FrameKind
from refmlc.debug.terminal.table import ROWS, find
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.visit import walk


def completions(session: Session, line: str) -> list[str]:
    """The words that can complete the last word of `line`."""
    head, _, prefix = line.rpartition(" ")
    if not head.strip():
        return [name for row in ROWS for name in row.names if name.startswith(prefix)]
    rows = find(head.split()[0])
    words = _words(session, rows[0].words) if len(rows) == 1 else []
    start = max(prefix.rfind(character) for character in "[(,*+-") + 1
    return [prefix[:start] + word for word in dict.fromkeys(words) if word.startswith(prefix[start:])]


def _words(session: Session, kind: str) -> list[str]:
    match kind:
        case "commands":
            return [name for row in ROWS for name in row.names]
        case "kinds":
            return list(EXCEPTIONS)
        case "loops":
            return [frame.name for frame in session.frames() if frame.kind is FrameKind.LOOP]
        case "names":
            return [variable.name for variable in session.visible()] if session.stop is not None else []
        case "places":
            return _places(session)
        case _:
            return []


def _places(session: Session) -> list[str]:
    functions = session.program.module.functions
    names = list(functions)
    for func in functions.values():
        for node in walk(func):
            match node:
                case tir.SBlock(name=name):
                    names.append(name)
                case relax.VarBinding(var=var) | relax.MatchCast(var=var):
                    names.append(var.name)
    return names
