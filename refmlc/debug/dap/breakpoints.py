"""Breakpoints as the client sets them: each request replaces all breakpoints of its kind, and they outlive a restart.

| hit condition            | stops                      |
|--------------------------|----------------------------|
| `N`, `>= N`              | at the Nth hit and after   |
| `> N`                    | after the Nth hit          |
| `== N`, `= N`            | at the Nth hit only        |

A restart resets the counts, and going back takes later hits back. Motions backwards ignore hit conditions. A condition
without a value stops the program; the reason is the text of the stop, an output, and a change of the breakpoint.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from refmlc.debug.dap import capabilities
from refmlc.debug.dap.arguments import Arguments
from refmlc.debug.dap.dap_state import DapState
from refmlc.debug.session import Session
from refmlc.debug.session_data import Breakpoint
from refmlc.diag import RefmlcError

RowData = dict[str, object]
HITS = re.compile(r"\s*(>=|>|==?|)\s*(\d{1,15})\s*\Z")
MODES = {"read": ("read",), "write": ("write",), "readWrite": ("write", "read")}


@dataclass(slots=True)
class ClientBreakpoints:
    """The breakpoints of the client. `requests`: the last one per kind (and source); `numbers`: their numbers.

    `ids` maps the session's numbers to the client's. `watched`: the data breakpoints with their elements and frames.
    """

    state: DapState
    quiet: bool = False
    requests: dict[str, Arguments] = field(default_factory=dict)
    numbers: dict[str, list[int]] = field(default_factory=dict)
    ids: dict[int, int] = field(default_factory=dict)
    watched: dict[str, list[tuple[tuple[str, ...], RowData, tuple[int, ...]]]] = field(default_factory=dict)
    _last: int = 0

    # ------------------------------------------------------------------------------------------- requests

    def lines(self, arguments: Arguments) -> RowData:
        """`setBreakpoints`: replace those of one source."""
        source = self.state.sources.find(arguments.inner("source"))
        rows = arguments.rows("breakpoints", [])
        if "breakpoints" not in arguments and "lines" in arguments:  # the protocol's deprecated form
            numbers = arguments.values["lines"]
            rows = [Arguments({"line": line}) for line in numbers] if isinstance(numbers, list) else []
        if source is None:
            return {"breakpoints": [self._unmet("this text does not belong to the program") for _ in rows]}
        requested = [(row.number("line", least=-1), _options(row)) for row in rows]
        key = f"lines {source}"
        self._drop(key)
        self.requests[key] = arguments
        return {"breakpoints": [self._line(key, source, line, options) for line, options in requested]}

    def functions(self, arguments: Arguments) -> RowData:
        """`setFunctionBreakpoints`: functions, blocks, bindings."""
        requested = [(row.text("name"), _options(row)) for row in arguments.rows("breakpoints")]
        self._drop("functions")
        self.requests["functions"] = arguments
        return {"breakpoints": [self._function(name, options) for name, options in requested]}

    def exceptions(self, arguments: Arguments) -> RowData:
        """`setExceptionBreakpoints`: numbers and failures that stop the program."""
        requested = [(name, "") for name in arguments.texts("filters")]
        requested += [(row.text("filterId"), row.text("condition", "")) for row in arguments.rows("filterOptions", [])]
        self._drop("exceptions")
        self.requests["exceptions"] = arguments
        rows = [self._exception(name, condition) for name, condition in requested]
        filters = frozenset(name for (name, _), row in zip(requested, rows, strict=True) if row["verified"])
        if not self.quiet:
            self.state.session.failures = capabilities.failures(filters)
        return {"breakpoints": rows}

    def data(self, arguments: Arguments) -> RowData:
        """`setDataBreakpoints`: a breakpoint requested again with the same words stays as it is."""
        requested = [
            (
                row.text("dataId"),
                row.text("accessType", "write"),
                row.text("condition", ""),
                row.text("hitCondition", ""),
            )
            for row in arguments.rows("breakpoints")
        ]
        old_entries = self.watched.pop("data", [])
        entries: list[tuple[tuple[str, ...], RowData, tuple[int, ...]]] = []
        for words in requested:
            unchanged = next((entry for entry in old_entries if entry[0] == words and entry[1]["verified"]), None)
            if unchanged is not None:
                old_entries.remove(unchanged)
            entries.append(unchanged or (words, *self._watch(*words)))
        for _, _, numbers in old_entries:
            self._remove(numbers)
        self.watched["data"] = entries
        return {"breakpoints": [row for _, row, _ in entries]}

    def info(self, name: str, frame: int) -> RowData:
        """`dataBreakpointInfo` of an element or region, written as in a frame."""
        session = self.state.stopped_session()
        try:
            watch = session.watch(name, "write", frame=frame)
        except RefmlcError as failure:
            return {"dataId": None, "description": failure.diagnostic.message}
        session.remove(watch.number)
        frames = session.frames()
        function = next(
            (stack_frame.name for stack_frame in frames[frame:] if stack_frame.kind.value in _FUNCTIONS),
            session.program.func,
        )
        level = frames[frame].level if frames else 0
        return {
            "dataId": f"{level} {function} {watch.what}", "description": f"{watch.what} in {function}",
            "accessTypes": list(MODES), "canPersist": False,
        }  # fmt: skip

    def locations(self, source: str, first: int, last: int) -> list[int]:
        """The lines that have a statement."""
        session, lines, line = self.state.session, list[int](), first
        while line <= last:
            placed = session.break_line(line, source)
            session.remove(placed.number)
            if not placed.verified or placed.line > last:
                break
            lines.append(placed.line)
            line = placed.line + 1
        return lines

    # ------------------------------------------------------------------------------------------ the session

    def moved_to(self, session: Session) -> None:
        """Set the breakpoints again in a new session, except those that belong to a frame."""
        self.ids.clear()
        self.numbers.clear()
        self.watched.clear()
        session.failures = frozenset() if self.quiet else capabilities.failures(frozenset(capabilities.DEFAULTS))
        for key, arguments in list(self.requests.items()):
            if key.startswith("lines "):
                self.lines(arguments)
            elif key == "functions":
                self.functions(arguments)
            else:
                self.exceptions(arguments)

    def hit(self, numbers: Iterable[int]) -> list[int]:
        """The client's numbers of the session's breakpoints."""
        return [self.ids[number] for number in numbers if number in self.ids]

    # -------------------------------------------------------------------------------------------- private

    def _drop(self, key: str) -> None:
        self._remove(self.numbers.pop(key, ()))

    def _remove(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            self.state.session.remove(number)
            self.ids.pop(number, None)

    def _unmet(self, why: str) -> RowData:
        self._last += 1
        return {"id": self._last, "verified": False, "message": why}

    def _set(self, key: str, make: Callable[[], Breakpoint], describe: Callable[[Breakpoint], RowData]) -> RowData:
        """Make a breakpoint, and describe the outcome."""
        if self.quiet:
            return self._unmet("the program was launched without debugging")
        try:
            point = make()
        except RefmlcError as failure:
            return self._unmet(failure.diagnostic.message)
        self._last += 1
        self.ids[point.number] = self._last
        self.numbers.setdefault(key, []).append(point.number)
        row: RowData = {"id": self._last, "verified": point.verified}
        return row | describe(point) if point.verified else row | {"message": point.note}

    def _line(self, key: str, source: str, line: int, options: "BreakpointOptions") -> RowData:
        if options.problem:
            return self._unmet(options.problem)
        session_line = max(self.state.client.ours(line), 1)
        return self._set(
            key,
            lambda: self.state.session.break_line(
                session_line,
                source,
                condition=options.condition,
                ignore=options.ignore,
                exactly=options.exactly,
                log=options.log,
            ),
            lambda point: self._at(point, session_line),
        )

    def _at(self, point: Breakpoint, requested: int = 0) -> RowData:
        message = {"message": f"line {requested} has no statement"} if requested and point.line != requested else {}
        if not point.line:
            return {}
        return {
            "line": self.state.client.line(point.line),
            "source": self.state.sources.description(point.source),
            **message,
        }

    def _function(self, name: str, options: "BreakpointOptions") -> RowData:
        if options.problem:
            return self._unmet(options.problem)
        session = self.state.session
        return self._set(
            "functions",
            lambda: session.break_name(
                name, condition=options.condition, ignore=options.ignore, exactly=options.exactly, log=options.log
            ),
            self._at,
        )

    def _exception(self, name: str, condition: str) -> RowData:
        if name in capabilities.NUMBERS:
            session = self.state.session
            return self._set("exceptions", lambda: session.catch(name, condition=condition), lambda _: {})
        if name not in capabilities.GROUPS and name not in capabilities.kinds():
            return self._unmet(f"there is no filter `{name}`")
        if condition:
            return self._unmet(f"`{name}` takes no condition")
        self._last += 1
        return {"id": self._last, "verified": True}

    def _watch(self, data: str, access: str, condition: str, hits: str) -> tuple[RowData, tuple[int, ...]]:
        options, modes = _hits(hits), MODES.get(access)
        level, _, name = data.partition(" ")
        function, _, element = name.partition(" ")
        if options.problem or modes is None or not element:
            return self._unmet(options.problem or f"`{data}` has no access `{access}`"), ()
        if self.quiet:
            return self._unmet("the program was launched without debugging"), ()
        session = self.state.session
        frame = next(
            (
                stack_frame.index
                for stack_frame in session.frames()
                if str(stack_frame.level) == level and _is(session, stack_frame.index, function)
            ),
            0 if self.state.ended else None,
        )
        if frame is None:
            return self._unmet(f"`{function}` is not active: `{element}` has no meaning"), ()
        self._last += 1
        numbers: list[int] = []
        try:
            for mode in modes:
                watch = session.watch(element, mode, condition=condition, frame=frame)
                session.ignore(watch.number, options.ignore, exactly=options.exactly)
                numbers.append(watch.number)
        except RefmlcError as failure:
            self._remove(numbers)
            return self._unmet(failure.diagnostic.message), ()
        self.ids.update(dict.fromkeys(numbers, self._last))
        return {"id": self._last, "verified": True, "message": f"{element} in {function}"}, tuple(numbers)


_FUNCTIONS = ("Relax function", "prim_func")


def _is(session: Session, index: int, function: str) -> bool:
    """True if the frame belongs to a call of `function`."""
    frames = session.frames()
    return next((frame.name for frame in frames[index:] if frame.kind.value in _FUNCTIONS), "") == function


@dataclass(frozen=True, slots=True)
class BreakpointOptions:
    """The options of a breakpoint."""

    condition: str = ""
    ignore: int = 0
    exactly: bool = False
    log: str = ""
    problem: str = ""


def _options(row: Arguments) -> BreakpointOptions:
    hits = _hits(row.text("hitCondition", ""))
    return BreakpointOptions(
        row.text("condition", "").strip(), hits.ignore, hits.exactly, row.text("logMessage", ""), hits.problem
    )


def _hits(text: str) -> BreakpointOptions:
    if not text.strip():
        return BreakpointOptions()
    match = HITS.match(text)
    if match is None or (match[1] != ">" and int(match[2]) == 0):
        return BreakpointOptions(
            problem=f"`{text}` is not a hit condition: write N, >= N, > N or == N, with N from 1 on"
        )
    return BreakpointOptions(ignore=int(match[2]) - (match[1] != ">"), exactly=match[1] in ("=", "=="))
