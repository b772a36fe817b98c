"""The commands: names, arguments, help. Any unambiguous beginning of a name is a shorter name."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PromptCommand:
    """A command. `names`: the first is the handler's; `takes`: its arguments; `words`: completions of the first one.

    `more`: what its own help says in addition.
    """

    names: tuple[str, ...]
    takes: str
    help: str
    words: str = ""
    repeats: bool = False
    more: str = ""


GROUPS: dict[str, tuple[PromptCommand, ...]] = {
    "forwards": (
        PromptCommand(
            ("step", "s"),
            "[COUNT]",
            "step to the next statement, also within a call",
            repeats=True,
            more="in a kernel: the next statement of any thread; `next` and `tstep` stay with one",
        ),
        PromptCommand(
            ("next", "n"),
            "[COUNT]",
            "step to the next statement, over loops, blocks and calls",
            repeats=True,
            more="in a kernel: of the thread in which the program stands, while the others run in their turns",
        ),
        PromptCommand(("return", "r"), "", "run until this function is left"),
        PromptCommand(("out", "o"), "", "run until the innermost loop or block is left", repeats=True),
        PromptCommand(
            ("iteration", "it"),
            "[LOOP]",
            "run to the next iteration of the innermost loop, or of the loop over LOOP",
            "loops",
            repeats=True,
        ),
        PromptCommand(("block", "nb"), "", "run to the next instance of any block", repeats=True),
        PromptCommand(("until", "unt"), "[LINE]", "run to a later line of this function, or to LINE"),
        PromptCommand(("continue", "c", "cont"), "", "run to the next breakpoint, or to the end", repeats=True),
        PromptCommand(("goto", "g"), "MOMENT", "go to a moment, such as 3.41207, forwards or backwards"),
        PromptCommand(("restart", "run"), "", "go to the entry; edits are undone"),
    ),
    "backwards": (
        PromptCommand(("rstep", "rs", "back"), "[COUNT]", "step back to the previous statement", repeats=True),
        PromptCommand(
            ("rnext", "rn"), "[COUNT]", "step back to the previous statement that is not deeper", repeats=True
        ),
        PromptCommand(("rcontinue", "rc"), "", "run backwards to the last hit, or to the beginning", repeats=True),
        PromptCommand(("rwrite", "rw"), "ELEMENT", "run backwards to the last write of C[3, 7], C[0:4] or C", "names"),
        PromptCommand(("rframe", "rf"), "", "go back to the entry of the selected frame"),
    ),
    "breakpoints": (
        PromptCommand(
            ("break", "b"),
            "[[FILE:]LINE | NAME] [thread NUMBER | warp NUMBER] [if EXPRESSION]",
            "stop at a line, function, block or binding; of a line only one thread or warp; alone: list",
            "places",
        ),
        PromptCommand(("tbreak",), "[FILE:]LINE | NAME [if EXPRESSION]", "stop there once", "places"),
        PromptCommand(
            ("log",), "LINE | NAME TEXT", "print TEXT there, with {expressions} replaced, and do not stop", "places"
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
        PromptCommand(("compare",), "NAME FILE.npy", "stop before a store of bits that differ from the file", "names"),
        PromptCommand(("condition",), "NUMBER [EXPRESSION]", "stop only where EXPRESSION holds; alone: always"),
        PromptCommand(("ignore",), "NUMBER COUNT", "pass COUNT times without stopping"),
        PromptCommand(("delete", "cl", "clear"), "NUMBER…", "remove breakpoints"),
        PromptCommand(("enable",), "NUMBER…", "enable breakpoints"),
        PromptCommand(("disable",), "NUMBER…", "disable breakpoints"),
    ),
    "inspection": (
        PromptCommand(("backtrace", "bt", "where"), "", "show the frames, from the innermost block to Relax"),
        PromptCommand(("up", "u"), "[COUNT]", "select the frame around this one"),
        PromptCommand(("down", "d"), "[COUNT]", "select the frame inside this one"),
        PromptCommand(
            ("list", "l"),
            "[FIRST[, LAST] | .]",
            "show the text around the current line, or from FIRST on; repeated: the next lines",
            repeats=True,
        ),
        PromptCommand(("longlist", "ll"), "", "show the whole current function"),
        PromptCommand(
            ("print", "p"),
            "EXPRESSION",
            "show the value of an expression, or a region such as A[0:2, :]",
            "names",
        ),
        PromptCommand(
            ("examine", "x"),
            "NAME | REGION [FIRST]",
            "show the elements of a tensor or region (? if not initialised), and statistics",
            "names",
        ),
        PromptCommand(("variables", "v", "locals"), "", "show the variables of the selected frame"),
        PromptCommand(("args", "a"), "", "show every name visible here"),
        PromptCommand(("display",), "[EXPRESSION]", "show EXPRESSION at every stop; alone: list", "names"),
        PromptCommand(("undisplay",), "[NUMBER]", "remove a display; alone: all"),
        PromptCommand(
            ("why",), "[ELEMENT [DEPTH]]", "show why an element has its value, from the arguments on", "names"
        ),
        PromptCommand(("now",), "", "show the position of the program"),
    ),
    "threads": (
        PromptCommand(
            ("threads", "ths"),
            "[WARP]",
            "list the threads of the block, or of a warp, and what each waits for",
            more="it `runs`, `waits`, `continues` (it waited, and may run again in its turn), `begins` or `ended`",
        ),
        PromptCommand(("thread", "th"), "[NUMBER]", "show and follow another thread; alone: the one that runs"),
        PromptCommand(("warp",), "NUMBER", "list the threads of a warp, show its first one, and follow them all"),
        PromptCommand(
            ("tstep", "ts"),
            "[COUNT]",
            "step the followed threads; the others run in their turns",
            repeats=True,
            more="without `thread` or `warp` before it, the thread that runs is followed",
        ),
        PromptCommand(
            ("rtstep", "rts"), "[COUNT]", "step back to the last statement of the followed threads", repeats=True
        ),
        PromptCommand(("barriers",), "", "show the barriers: arrivals, phases, bytes, and copies in flight"),
        PromptCommand(("waits",), "", "show which thread waits for which, and the circle of a deadlock"),
    ),
    "edits": (PromptCommand(("set",), "NAME | ELEMENT = EXPRESSION", "set a value, and continue from here", "names"),),
    "the session": (
        PromptCommand(("info",), "", "show snapshots, memory, sources, functions"),
        PromptCommand(("help", "h", "?"), "[COMMAND]", "list all commands, or show the help of one", "commands"),
        PromptCommand(("quit", "q", "exit"), "", "end the session"),
    ),
}

ROWS = tuple(row for rows in GROUPS.values() for row in rows)


def find(word: str) -> tuple[PromptCommand, ...]:
    """The commands with this name, or else with a name that begins with `word`."""
    exact = tuple(row for row in ROWS if word in row.names)
    return exact or tuple(row for row in ROWS if any(name.startswith(word) for name in row.names))


def overview() -> str:
    """The list of all commands."""
    width = max(len(", ".join(row.names)) for row in ROWS)
    lines = []
    for title, rows in GROUPS.items():
        lines.append(f"{title}:")
        lines += [f"  {', '.join(row.names):<{width}}  {row.help}" for row in rows]
    return "\n".join([*lines, "`help COMMAND` shows the arguments of a command; an empty line repeats the last motion"])


def usage(row: PromptCommand) -> str:
    """The help of one command."""
    lines = [f"{' | '.join(row.names)} {row.takes}".rstrip(), f"  {row.help}"]
    return "\n".join([*lines, *([f"  {row.more}"] if row.more else [])])
