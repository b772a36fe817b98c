"""The commands: names, what follows them, what they do. A shorter name is any beginning that only one command has."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PromptCommand:
    """A command. `names`: the first is the handler's; `takes`: what follows; `words`: what completes the first word."""

    names: tuple[str, ...]
    takes: str
    help: str
    words: str = ""
    repeats: bool = False


GROUPS: dict[str, tuple[PromptCommand, ...]] = {
    "forwards": (
        PromptCommand(("step", "s"), "[COUNT]", "to the next statement, in what it calls too", repeats=True),
        PromptCommand(
            ("next", "n"), "[COUNT]", "to the next statement; loops, blocks and calls are executed", repeats=True
        ),
        PromptCommand(("return", "r"), "", "until this function is left"),
        PromptCommand(("out", "o"), "", "until the innermost loop or block is left", repeats=True),
        PromptCommand(
            ("iteration", "it"),
            "[LOOP]",
            "to the next iteration of the innermost loop, or of that over LOOP",
            "loops",
            repeats=True,
        ),
        PromptCommand(("block", "nb"), "", "to the next instance of any block", repeats=True),
        PromptCommand(("until", "unt"), "[LINE]", "to a later line of this function, or to LINE"),
        PromptCommand(("continue", "c", "cont"), "", "until a breakpoint is met, or to the end", repeats=True),
        PromptCommand(("goto", "g"), "MOMENT", "to a moment, such as 3.41207, forwards or backwards"),
        PromptCommand(("restart", "run"), "", "to the entry; edits are forgotten"),
    ),
    "backwards": (
        PromptCommand(("rstep", "rs", "back"), "[COUNT]", "to the statement before", repeats=True),
        PromptCommand(("rnext", "rn"), "[COUNT]", "to the statement before that stands no deeper", repeats=True),
        PromptCommand(("rcontinue", "rc"), "", "to where a breakpoint was met last, or to the beginning", repeats=True),
        PromptCommand(("rwrite", "rw"), "ELEMENT", "to the last write of C[3, 7], C[0:4] or all of C", "names"),
        PromptCommand(("rframe", "rf"), "", "to where the frame that is looked at was entered"),
    ),
    "stopping": (
        PromptCommand(
            ("break", "b"),
            "[[FILE:]LINE | NAME] [if EXPRESSION]",
            "stop at a line, function, block or binding; alone: list",
            "places",
        ),
        PromptCommand(("tbreak",), "[FILE:]LINE | NAME [if EXPRESSION]", "the same, once", "places"),
        PromptCommand(
            ("log",), "LINE | NAME TEXT", "say TEXT there, {expressions} replaced, and do not stop", "places"
        ),
        PromptCommand(
            ("watch", "w"),
            "ELEMENT [read|change]",
            "stop before an element or region is written (read, changed)",
            "names",
        ),
        PromptCommand(
            ("catch",),
            "nan | inf | undefined | trap | all | CODE",
            "stop before a NaN or infinity is stored; at failures",
            "kinds",
        ),
        PromptCommand(("compare",), "NAME FILE.npy", "stop where a buffer gets other bits than the file has", "names"),
        PromptCommand(("condition",), "NUMBER [EXPRESSION]", "stop only where it holds"),
        PromptCommand(("ignore",), "NUMBER COUNT", "pass so often without stopping"),
        PromptCommand(("delete", "cl", "clear"), "NUMBER…", "forget breakpoints"),
        PromptCommand(("enable",), "NUMBER…", "let them stop again"),
        PromptCommand(("disable",), "NUMBER…", "let them stop no more"),
    ),
    "looking": (
        PromptCommand(("backtrace", "bt", "where"), "", "the frames, from the innermost block to Relax"),
        PromptCommand(("up", "u"), "[COUNT]", "look at the frame around"),
        PromptCommand(("down", "d"), "[COUNT]", "look at the frame within"),
        PromptCommand(
            ("list", "l"),
            "[FIRST[, LAST] | .]",
            "the text around the current line, or from FIRST on; again: what follows",
            repeats=True,
        ),
        PromptCommand(("longlist", "ll"), "", "all of the current function"),
        PromptCommand(
            ("print", "p"), "EXPRESSION", "a value; an expression of TVMScript, a region such as A[0:2, :]", "names"
        ),
        PromptCommand(
            ("examine", "x"),
            "NAME | REGION [FIRST]",
            "the elements of a tensor or region, ? where not initialised, and statistics",
            "names",
        ),
        PromptCommand(("variables", "v", "locals"), "", "what the frame that is looked at brings"),
        PromptCommand(("args", "a"), "", "every name that the text sees here"),
        PromptCommand(("display",), "[EXPRESSION]", "show it at every stop; alone: list", "names"),
        PromptCommand(("undisplay",), "[NUMBER]", "no more"),
        PromptCommand(("why",), "[ELEMENT [DEPTH]]", "why an element has its value, back to the arguments", "names"),
        PromptCommand(("now",), "", "where the program stands"),
    ),
    "changing": (
        PromptCommand(("set",), "NAME | ELEMENT = EXPRESSION", "give it another value, and go on from here", "names"),
    ),
    "the session": (
        PromptCommand(("info",), "", "snapshots, memory, sources, functions"),
        PromptCommand(("help", "h", "?"), "[COMMAND]", "this, or one command", "commands"),
        PromptCommand(("quit", "q", "exit"), "", "end"),
    ),
}

ROWS = tuple(row for rows in GROUPS.values() for row in rows)


def find(word: str) -> tuple[PromptCommand, ...]:
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


def usage(row: PromptCommand) -> str:
    """One command."""
    return f"{' | '.join(row.names)} {row.takes}".rstrip() + f"\n  {row.help}"
