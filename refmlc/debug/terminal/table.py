"""The commands: names, what follows them, what they do. A shorter name is any beginning that only one command has."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """A command. `names`: the first is the handler's; `takes`: what follows; `words`: what completes the first word."""

    names: tuple[str, ...]
    takes: str
    help: str
    words: str = ""
    repeats: bool = False


GROUPS: dict[str, tuple[Row, ...]] = {
    "forwards": (
        Row(("step", "s"), "[COUNT]", "to the next statement, in what it calls too", repeats=True),
        Row(("next", "n"), "[COUNT]", "to the next statement; loops, blocks and calls are executed", repeats=True),
        Row(("return", "r"), "", "until this function is left"),
        Row(("out", "o"), "", "until the innermost loop or block is left", repeats=True),
        Row(
            ("iteration", "it"),
            "[LOOP]",
            "to the next iteration of the innermost loop, or of that over LOOP",
            "loops",
            repeats=True,
        ),
        Row(("block", "nb"), "", "to the next instance of any block", repeats=True),
        Row(("until", "unt"), "[LINE]", "to a later line of this function, or to LINE"),
        Row(("continue", "c", "cont"), "", "until a breakpoint is met, or to the end", repeats=True),
        Row(("goto", "g"), "MOMENT", "to a moment, such as 3.41207, forwards or backwards"),
        Row(("restart", "run"), "", "to the entry; edits are forgotten"),
    ),
    "backwards": (
        Row(("rstep", "rs", "back"), "[COUNT]", "to the statement before", repeats=True),
        Row(("rnext", "rn"), "[COUNT]", "to the statement before that stands no deeper", repeats=True),
        Row(("rcontinue", "rc"), "", "to where a breakpoint was met last, or to the beginning", repeats=True),
        Row(("rwrite", "rw"), "ELEMENT", "to the last write of C[3, 7], C[0:4] or all of C", "names"),
        Row(("rframe", "rf"), "", "to where the frame that is looked at was entered"),
    ),
    "stopping": (
        Row(
            ("break", "b"),
            "[[FILE:]LINE | NAME] [if EXPRESSION]",
            "stop at a line, function, block or binding; alone: list",
            "places",
        ),
        Row(("tbreak",), "[FILE:]LINE | NAME [if EXPRESSION]", "the same, once", "places"),
        Row(("log",), "LINE | NAME TEXT", "say TEXT there, {expressions} replaced, and do not stop", "places"),
        Row(
            ("watch", "w"),
            "ELEMENT [read|change]",
            "stop before an element or region is written (read, changed)",
            "names",
        ),
        Row(
            ("catch",),
            "nan | inf | undefined | trap | all | CODE",
            "stop before a NaN or infinity is stored; at failures",
            "kinds",
        ),
        Row(("compare",), "NAME FILE.npy", "stop where a buffer gets other bits than the file has", "names"),
        Row(("condition",), "NUMBER [EXPRESSION]", "stop only where it holds"),
        Row(("ignore",), "NUMBER COUNT", "pass so often without stopping"),
        Row(("delete", "cl", "clear"), "NUMBER…", "forget breakpoints"),
        Row(("enable",), "NUMBER…", "let them stop again"),
        Row(("disable",), "NUMBER…", "let them stop no more"),
    ),
    "looking": (
        Row(("backtrace", "bt", "where"), "", "the frames, from the innermost block to Relax"),
        Row(("up", "u"), "[COUNT]", "look at the frame around"),
        Row(("down", "d"), "[COUNT]", "look at the frame within"),
        Row(
            ("list", "l"),
            "[FIRST[, LAST] | .]",
            "the text around the current line, or from FIRST on; again: what follows",
            repeats=True,
        ),
        Row(("longlist", "ll"), "", "all of the current function"),
        Row(("print", "p"), "EXPRESSION", "a value; an expression of TVMScript, a region such as A[0:2, :]", "names"),
        Row(
            ("examine", "x"),
            "NAME | REGION [FIRST]",
            "the elements of a tensor or region, ? where not initialised, and statistics",
            "names",
        ),
        Row(("variables", "v", "locals"), "", "what the frame that is looked at brings"),
        Row(("args", "a"), "", "every name that the text sees here"),
        Row(("display",), "[EXPRESSION]", "show it at every stop; alone: list", "names"),
        Row(("undisplay",), "[NUMBER]", "no more"),
        Row(("why",), "[ELEMENT [DEPTH]]", "why an element has its value, back to the arguments", "names"),
        Row(("now",), "", "where the program stands"),
    ),
    "changing": (Row(("set",), "NAME | ELEMENT = EXPRESSION", "give it another value, and go on from here", "names"),),
    "the session": (
        Row(("info",), "", "snapshots, memory, sources, functions"),
        Row(("help", "h", "?"), "[COMMAND]", "this, or one command", "commands"),
        Row(("quit", "q", "exit"), "", "end"),
    ),
}

ROWS = tuple(row for rows in GROUPS.values() for row in rows)


def find(word: str) -> tuple[Row, ...]:
    """The commands that `word` may mean: that of the name, else those whose names begin with it."""
    exact = tuple(row for row in ROWS if word in row.names)
    return exact or tuple(row for row in ROWS if any(name.startswith(word) for name in row.names))


def overview() -> str:
    """All commands."""
    width = max(len(", ".join(row.names)) for row in ROWS)
    lines = []
    for title, rows in GROUPS.items():
        lines.append(f"{title}:")
        lines += [f"  {', '.join(row.names):<{width}}  {row.help}" for row in rows]
    return "\n".join([*lines, "`help COMMAND` tells what it takes; an empty line repeats a motion"])


def usage(row: Row) -> str:
    """One command."""
    return f"{' | '.join(row.names)} {row.takes}".rstrip() + f"\n  {row.help}"
