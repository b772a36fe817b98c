"""The tools of `refmlc mcp`: verdicts on modules that a client sends as text, within budgets.

| tool                                        | gives                                                              |
|---------------------------------------------|--------------------------------------------------------------------|
| `check`                                     | findings of `refmlc check`: undefined behaviour, wrong results     |
| `prove`                                     | whether a module may replace another for all arguments             |
| `explain`                                   | what a code or a clause means                                      |
| `why`                                       | the stores, operators and roundings that made an element           |
| `debug_threads`                                         | threads: where each stands, which waits for which    |
| `debug_start`, `debug_move`, `debug_inspect`, `debug_end` | a session that moves forwards and backwards          |

A text is read as data, as every file is. Arguments are generators and numbers: no tool opens a file, starts a program
that the client names, or registers a function; the compiler of C is the only program that runs. Every run has limits of
steps, memory and time, and a session that is idle makes room for a new one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from threading import Lock
from typing import ParamSpec, TypeAlias

from refmlc.cli.inputs import gather, is_number
from refmlc.cli.prove import definedness_data, definedness_lines, proof_data, proof_lines
from refmlc.cli.why import parsed
from refmlc.debug import Program, Session, Stop
from refmlc.debug.terminal import show
from refmlc.debug.terminal.thread_text import barrier_line, threads_text, waiting_text
from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_USAGE, CODES, TEXT_TOO_LARGE
from refmlc.diag.layout import safe
from refmlc.diag.render import render_text, to_json
from refmlc.lang.ir import IRModule
from refmlc.lang.spec.loader import clause
from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.why import SliceLimits, outline, text as outline_text, why as slice_of
from refmlc.oracle.check import check as check_module
from refmlc.oracle.implementations.implementation import Limits
from refmlc.oracle.refine.calls import entry
from refmlc.oracle.refine.proof import prove as prove_pair, prove_defined
from refmlc.oracle.refine.scope import has_sizes
from refmlc.prove.sizes import LIMIT
from refmlc.run.memory.files import is_generator

Reply: TypeAlias = "dict[str, object]"
P = ParamSpec("P")

LONGEST = 1 << 18  # characters of a module
MOST_CALLS = 64
MOST_SESSIONS = 4
MOST_MOVES = 10_000
STEPS = 2_000_000
DEPTH = 8
LIMITS = Limits(steps=STEPS, bytes=256 << 20, seconds=20.0, clock=True)
BUDGET = 5.0
SNAPSHOTS = 64 << 20
MOTIONS = ("in", "over", "out", "back", "back over", "continue", "reverse")


def answered(tool: Callable[P, Reply]) -> Callable[P, Reply]:
    """The tool; a failure with a code is its answer, and text in it is cleaned."""

    @wraps(tool)
    def answer(*args: P.args, **options: P.kwargs) -> Reply:
        try:
            reply = tool(*args, **options)
        except RefmlcError as failure:
            reply = {"text": render_text(failure.diagnostic), "error": to_json(failure.diagnostic)}
        return {**reply, "text": safe(str(reply.get("text", "")))}

    return answer


def _module(text: str) -> IRModule:
    """The module of a text. Fails: RM1xx, RM2xx; RM604 for a text that is too long."""
    if len(text) > LONGEST:
        raise fail(TEXT_TOO_LARGE, f"the text has {len(text)} characters, more than {LONGEST}")
    return read(text, "module.py")


def _call(module: IRModule, func: str, inputs: Mapping[str, str], dims: Mapping[str, int]) -> tuple[str, list[object]]:
    """The function and its arguments. Fails: RM111, RM112, also for an argument that is a file."""
    for name, value in inputs.items():
        if "=" in name:  # the rest would be a part of the value
            raise fail(BAD_USAGE, f"`{name}` is no name of an argument")
        if not is_generator(value) and not is_number(value):
            message = f"`{name}` is `{value}`: arguments are zeros, ones, iota, normal(SEED) or a number"
            raise fail(BAD_USAGE, message)
    name = entry(module, func or None)
    given = tuple(f"{key}={value}" for key, value in inputs.items())
    return name, gather(module, name, given, tuple(f"{key}={size}" for key, size in dims.items()), None).values


@answered
def check(module: str, func: str = "", calls: int = 16, assume: str = "") -> Reply:
    """Find undefined behaviour and wrong results in a TVMScript module.

    Runs each function (or `func`) on up to `calls` generated calls under the sanitizer, and compares compiled C with
    the meaning. `assume`: contracts of arguments, one per line, as `n % 16 == 0`. No finding is no proof: see `prove`.
    """
    if not 1 <= calls <= MOST_CALLS:
        raise fail(BAD_USAGE, f"`calls` is from 1 to {MOST_CALLS}, not {calls}")
    lines = [line for line in assume.split("\n") if line.strip()]
    report = check_module(_module(module), func or None, calls=calls, budget=BUDGET, limits=LIMITS, assume=lines)
    return {
        "ok": report.ok,
        "summary": report.summary,
        "findings": [to_json(finding) for finding in report.findings],
        "text": str(report),
    }


@answered
def prove(before: str, after: str = "", func: str = "", dims: Mapping[str, int] | None = None) -> Reply:
    """Show for all arguments that the module `after` may replace `before`, to the bit.

    Without `after`: that every call of `before` is defined, for all sizes. The verdict is proved, refuted (with a call
    that tells the two apart), or undecided; undecided says nothing. `dims` fixes symbolic sizes.
    """
    first = _module(before)
    name = entry(first, func or None)
    if not after:
        defined = prove_defined(first, name, limit=LIMIT)
        return {**definedness_data(defined), "text": "\n".join(definedness_lines(name, defined))}
    proof = prove_pair(first, _module(after), func=name, dims=dims or {}, limits=LIMITS, limit=LIMIT)
    lines = [*proof_lines(name, proof, is_sized=has_sizes(first, name))]
    lines += [render_text(proof.counterexample)] if proof.counterexample is not None else []
    return {**proof_data(name, proof), "text": "\n".join(lines)}


@answered
def explain(code: str) -> Reply:
    """Explain a diagnostic code (RM304) or a clause of the specification (TIR-006)."""
    row = CODES.get(code.upper())
    if row is not None:
        parts = [f"{row.id}: {row.title}", row.explanation, row.example, f"clause {row.clause}" if row.clause else ""]
        return {"title": row.title, "clause": row.clause, "text": "\n\n".join(filter(None, parts))}
    rule = clause(code.upper())
    return {"title": rule.title, "clause": rule.id, "text": f"{rule.id} ({rule.title}): {rule.text}"}


@answered
def why(
    module: str,
    element: str,
    inputs: Mapping[str, str] | None = None,
    func: str = "",
    dims: Mapping[str, int] | None = None,
) -> Reply:
    """Show which stores, operators and roundings made one element, as `C[3,2]` or `result[0]`, back to the inputs.

    `inputs`: arguments by name, each zeros, ones, iota, normal(SEED) or a number. Outputs need none.
    """
    parsed_module = _module(module)
    name, arguments = _call(parsed_module, func, inputs or {}, dims or {})
    buffer, index = parsed(element)
    found = slice_of(parsed_module, name, arguments, buffer, index, limits=SliceLimits(max_steps=STEPS))
    return {"text": outline_text(outline(found, DEPTH))}


@dataclass
class DebugSessions:
    """The open sessions by number; the one that was used least recently makes room."""

    open: dict[int, Session] = field(default_factory=dict)
    count: int = 0
    lock: Lock = field(default_factory=Lock)

    def add(self, session: Session) -> int:
        """The number of a new session."""
        while len(self.open) >= MOST_SESSIONS:
            self.open.pop(next(iter(self.open))).close()
        self.count += 1
        self.open[self.count] = session
        return self.count

    def use(self, number: int) -> Session:
        """The session of this number, which is the latest now. Fails: RM112."""
        if number not in self.open:
            numbers = ", ".join(map(str, self.open)) or "none"
            raise fail(BAD_USAGE, f"there is no session {number}", None, f"open: {numbers}")
        session = self.open.pop(number)
        self.open[number] = session
        return session

    def close(self) -> None:
        """End all sessions."""
        for session in self.open.values():
            session.close()
        self.open.clear()


class DebugTools:
    """The tools of the debugger, on sessions of one server."""

    def __init__(self) -> None:
        self.sessions = DebugSessions()

    def start(
        self,
        module: str,
        inputs: Mapping[str, str] | None = None,
        func: str = "",
        dims: Mapping[str, int] | None = None,
        catch: str = "",
    ) -> Reply:
        """Start a debug session on a function of a module; it stands before the first statement.

        `inputs` as for `why`. `catch`: what stops the program besides, `nan` or `inf`. Undefined behaviour always does.
        """
        parsed_module = _module(module)
        name, arguments = _call(parsed_module, func, inputs or {}, dims or {})
        program = Program(parsed_module, name, arguments, output=lambda _line: None, max_steps=STEPS)
        session = Session(program, snapshot_bytes=SNAPSHOTS)
        try:
            if catch:
                session.catch(catch)
            with self.sessions.lock:
                number = self.sessions.add(session)
                return {"session": number, **_where(session, session.start())}
        except RefmlcError:
            session.close()
            raise

    def move(self, session: int, how: str = "over", count: int = 1, thread: int | None = None) -> Reply:
        """Move a session: `in`, `over`, `out`, `back`, `back over` (`count` steps), `continue`, `reverse`.

        `continue` and `reverse` run forwards and backwards to the next stop: a failure, what is caught, or the end.
        `thread`: of a kernel, step this thread `in` or `back`; the others run in their turns.
        """
        if not 1 <= count <= MOST_MOVES:
            raise fail(BAD_USAGE, f"`count` is from 1 to {MOST_MOVES}, not {count}")
        with self.sessions.lock:
            used = self.sessions.use(session)
            return _where(used, _moved(used, how, count) if thread is None else _stepped(used, how, count, thread))

    def threads(self, session: int) -> Reply:
        """Show the threads of a kernel where a session stands: their places, which waits for which, the barriers."""
        with self.sessions.lock:
            used = self.sessions.use(session)
            threads, waiting = used.threads(), waiting_text(used.waiting())
            if not threads:
                return {"text": "no threads take turns here"}
            barriers = [barrier_line(barrier) for barrier in used.barriers()]
            return {"text": "\n".join([threads_text(threads, used.thread), *filter(None, [waiting]), *barriers])}

    def inspect(self, session: int, expression: str = "", frame: int = 0, thread: int | None = None) -> Reply:
        """Show the value of an expression of TVMScript where a session stands, as `C[0, 1]`; without one, all names.

        `thread`: where this thread of a kernel stands.
        """
        with self.sessions.lock:
            used = self.sessions.use(session)
            if not used.ended:
                used.select_thread(thread)
            if not expression:
                return {"text": "\n".join(map(show.variable, used.visible(frame))) or "no names are visible here"}
            variable = used.look(expression, frame)
            tensor = variable.tensor
            is_page = tensor is not None and tensor.ndim > 0
            return {"text": show.tensor_page(variable, tensor) if is_page and tensor else show.value_text(variable)}

    def end(self, session: int) -> Reply:
        """End a debug session."""
        with self.sessions.lock:
            self.sessions.use(session).close()
            del self.sessions.open[session]
        return {"text": f"session {session} is closed"}


def _stepped(session: Session, how: str, count: int, thread: int) -> Stop:
    """The stop after steps of one thread. Fails: RM112 for another motion."""
    match how:
        case "in":
            return session.step_thread([thread], count)
        case "back":
            return session.step_thread_back([thread], count)
    raise fail(BAD_USAGE, f"a thread is moved `in` or `back`, not `{how}`")


def _moved(session: Session, how: str, count: int) -> Stop:
    """The stop after a motion. Fails: RM112 for another word."""
    match how:
        case "in":
            return session.step_in(count)
        case "over":
            return session.step_over(count)
        case "out":
            return session.step_out()
        case "back":
            return session.step_back(count)
        case "back over":
            return session.step_back_over(count)
        case "continue":
            return session.resume()
        case "reverse":
            return session.reverse_resume()
    raise fail(BAD_USAGE, f"`how` is {', '.join(MOTIONS)}, not `{how}`")


def _where(session: Session, stop: Stop) -> Reply:
    """Where a session stands."""
    return {
        "reason": stop.reason.value,
        "moment": str(stop.moment),
        "line": None if stop.span is None else stop.span.line,
        "ended": session.ended,
        "text": show.stop_text(session, stop),
    }


def tools() -> dict[str, Callable[..., Reply]]:
    """The tools of one server by their names."""
    debugger = DebugTools()
    return {
        "check": check,
        "prove": prove,
        "explain": explain,
        "why": why,
        "debug_start": answered(debugger.start),
        "debug_move": answered(debugger.move),
        "debug_inspect": answered(debugger.inspect),
        "debug_threads": answered(debugger.threads),
        "debug_end": answered(debugger.end),
    }
