"""An implementation in a separate process: sends requests, checks answers, restarts a broken process.

`RemoteBatch` sends modules and their calls in one line, the `batch` of the protocol; results equal those of separate
requests:

| instead of an answer                       | then                                                           |
|--------------------------------------------|----------------------------------------------------------------|
| the program ends, or is late               | its module is sent again alone: another may be the culprit     |
| a line that is none, or has another number | that is the answer, a crash; calls left of its module go alone |
| … either                                   | the rest is sent together again: nothing is lost               |

Each answer has the time limit of its request, counted from the answer before.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from refmlc.diag import Diagnostic
from refmlc.diag.catalogue import CODES
from refmlc.diag.errors import RefmlcError
from refmlc.diag.source import Source, Span
from refmlc.lang.ir import IRModule
from refmlc.lang.ir.tree import Json, tree_of
from refmlc.lang.script import read, show
from refmlc.oracle.implementations.implementation import (
    GRACE,
    Answer,
    Answers,
    Ask,
    Ended,
    Limits,
    Prepared,
    Stop,
    Stopped,
)
from refmlc.oracle.implementations.wire import INLINE, Misspelt, Receiver, Sender, Unsendable
from refmlc.system.folders import Folder
from refmlc.system.lines import SHOWN, Broken, LineProcess

VERSION = 1
STOPS = {stop.value: stop for stop in Stop if stop is not Stop.TIMED_OUT}
LONGEST = 400
PLACE = re.compile(r"([1-9]\d{0,8}):([1-9]\d{0,8})")


class Remote:
    """A program that answers requests. `footprint` is the address space it takes by itself. Units: bytes."""

    def __init__(self, command: Sequence[str], limits: Limits, name: str, *, footprint: int = 8 << 30) -> None:
        self.name = name
        self.promises_verdicts = False
        self.limits = limits
        self.says: Mapping[str, object] = {}
        self._command = list(command)
        self._memory = limits.bytes + footprint
        self._directory = Folder("remote")
        self._process: LineProcess | None = None
        self._holds: RemoteModule | None = None

    @property
    def folder(self) -> Path:
        """Where the files of tensors lie."""
        return Path(self._directory.name)

    def process(self) -> LineProcess | None:
        """The process, which will hold other modules from now on; None: it does not run."""
        self._holds = None
        return self._process

    def start(self) -> str | None:
        """Start it, unless it runs; why it does not, in one line."""
        if self._process is not None and self._process.alive:
            return None
        limits = self.limits
        self._holds = None
        try:
            self._process = LineProcess(self._command, memory=self._memory)
            hello = {"do": "hello", "version": VERSION, "folder": str(self.folder), "bytes": limits.bytes}
            times = {"seconds": limits.seconds, "prepare_seconds": limits.prepare}
            start = limits.prepare if limits.start is None else limits.start
            self.says = self._process.ask(hello | times, start, patient=limits.start is not None)
        except OSError as problem:
            return str(problem.strerror or problem)
        except Broken as broken:
            return broken.message
        if not isinstance(self.says.get("name"), str):
            self.close_process()
            return f"its first answer has no name: {str(dict(self.says))[:LONGEST]}"
        self.promises_verdicts = self.says.get("verdicts") is True
        return None

    @property
    def batch(self) -> int:
        """How many modules it takes at once, as it says; 0: it does not."""
        size = self.says.get("batch")
        return size if isinstance(size, int) and not isinstance(size, bool) else 0

    def prepare(self, module: IRModule) -> Prepared | Stopped:
        """Send the text of `module`."""
        module_or_stop = self.module(module)
        return module_or_stop if isinstance(module_or_stop, Stopped) else self.load(module_or_stop) or module_or_stop

    def prepare_text(self, text: str) -> Prepared | Stopped:
        """Send `text` as it is, in the dialect of 0.27; places that are answered are places in it."""
        module = RemoteModule(self, text)
        return self.load(module) or module

    def answer_all(self, requests: Sequence[Ask]) -> Iterator[Answers]:
        """The answers on each of `asked`, in order, as they come."""
        return answered_together(self, requests)

    def module(self, module: IRModule | str) -> "RemoteModule | Stopped":
        """A module that is not yet loaded, by its text, or by the text itself."""
        if isinstance(module, str):
            return RemoteModule(self, module)
        try:
            return RemoteModule(self, show(module, show_meta=True), module)
        except RefmlcError as failure:
            return Stopped(Stop.UNSUPPORTED, f"the module has no text: {failure.diagnostic.message}")

    def load(self, module: "RemoteModule") -> Stopped | None:
        """Let the process hold `module`, if it does not; why it does not take it."""
        running = self._process is not None and self._process.alive
        if running and self._holds is module:
            return None
        reply = self.ask(module.preparing, self.limits.prepare, places=module.verbatim)
        refused = self.refused(reply)
        if refused is None:
            self._holds = module
        return refused

    def refused(self, reply: Mapping[str, object] | Stopped) -> Stopped | None:
        """Why a module is not taken, by the answer to `prepare`."""
        if isinstance(reply, Stopped):
            return replace(reply, building=True)
        return None if reply.get("ok") is True else self.misspelt(reply)

    def close(self) -> None:
        """End the process and forget its files."""
        self.close_process()
        self._directory.cleanup()

    def close_process(self) -> None:
        if self._process is not None:
            self._process.close()

    def ask(
        self, request: Mapping[str, object], seconds: float, *, places: bool = False
    ) -> dict[str, object] | Stopped:
        """The answer, or why there is none. `places`: those of the answer are taken."""
        problem = self.start()
        if problem is not None or self._process is None:
            return Stopped(Stop.CRASHED, f"the process does not start again: {problem}")
        try:
            reply = self._process.ask(request, seconds + GRACE)
        except Broken as broken:
            return Stopped(Stop(broken.why), broken.message)
        return self.understood(reply, places=places)

    def understood(self, reply: dict[str, object], *, places: bool = False) -> dict[str, object] | Stopped:
        """The answer, or why not, as it says. `places`: those of the answer are taken."""
        return self._stopped(reply, places=places) if "stop" in reply else reply

    def misspelt(self, reply: Mapping[str, object], why: str = "") -> Stopped:
        """An answer that the protocol does not have; the process is not trusted any more."""
        self.close_process()
        text = f"unexpected answer: {str(dict(reply))[:LONGEST]}"
        return Stopped(Stop.CRASHED, f"{text}: {why}" if why else text)

    def _stopped(self, reply: Mapping[str, object], *, places: bool) -> Stopped:
        why, message = reply.get("stop"), reply.get("message", "")
        if why == Stop.TIMED_OUT.value:
            return Stopped(Stop.TIMED_OUT, str(message))
        if not isinstance(why, str) or why not in STOPS or not isinstance(message, str):
            return self.misspelt(reply)
        line = " ".join(message.split())[:LONGEST]
        marks = {mark: reply.get(mark) is True for mark in ("refused", "fault", "building")}
        return Stopped(STOPS[why], line or why, _diagnostic(reply, line, places=places), **marks)


class RemoteModule:
    """A module that a process has made ready. A process that was started again, or has another, is sent it again."""

    def __init__(self, remote: Remote, text: str, module: IRModule | None = None) -> None:
        """It is to be loaded. `module`: what `text` shows; None: its author wrote the text (`verbatim`)."""
        self.text = text
        self.verbatim = module is None
        self._remote, self._module = remote, module

    @property
    def preparing(self) -> dict[str, object]:
        """The line that makes it ready, with the tree where the process wants one."""
        line: dict[str, object] = {"do": "prepare", "module": self.text}
        return line | {"tree": self._tree()} if self._remote.says.get("tree") is True else line

    def _tree(self) -> Json:
        """The module as a tree; None: refmlc does not read the text."""
        try:
            return tree_of(read(self.text, "the module") if self._module is None else self._module)
        except RefmlcError:
            return None

    def run(self, func: str, args: Sequence[object]) -> Answer:
        """Call `func` on `args`."""
        remote = self._remote
        refused = remote.load(self)
        if refused is not None:
            return refused
        request = self.request(func, args)
        if isinstance(request, Stopped):
            return request
        reply = remote.ask(request, remote.limits.seconds, places=self.verbatim)
        return self.ended(reply, len(args))

    def request(self, func: str, args: Sequence[object], prefix: str = "") -> dict[str, object] | Stopped:
        """The line that calls `func`; the files of its tensors are written, their names begin with `prefix`."""
        inline = INLINE if self._remote.says.get("inline") is True else 0
        sender = Sender(self._remote.folder, f"{prefix}a", inline)
        try:
            return {"do": "run", "func": func, "args": [sender.value(arg) for arg in args]}
        except Unsendable as problem:
            return Stopped(Stop.UNSUPPORTED, str(problem))

    def close(self) -> None:
        """The next module takes its place."""

    def ended(self, reply: Mapping[str, object] | Stopped, count: int) -> Answer:
        """The answer to a call on `count` arguments, by what came; its files are read."""
        if isinstance(reply, Stopped):
            return reply
        after = reply.get("args")
        if "value" not in reply or not isinstance(after, list) or len(after) != count:
            return self._remote.misspelt(reply, "an answer needs `value` and all `args`")
        receiver = Receiver(self._remote.folder)
        try:
            arguments = [receiver.value(item) for item in after]
            return Ended(receiver.value(reply["value"]), tuple(arguments))
        except Misspelt as problem:
            return self._remote.misspelt(reply, str(problem))


def _diagnostic(reply: Mapping[str, object], message: str, *, places: bool) -> Diagnostic | None:
    """The verdict with its code, where the answer has one."""
    code = reply.get("code")
    if not isinstance(code, str) or code not in CODES:
        return None
    return Diagnostic(CODES[code], message, _span(reply.get("place")) if places else None)


def _span(place: object) -> Span | None:
    """The point `line:column` of the module's text, both from 1."""
    match_ = PLACE.fullmatch(place) if isinstance(place, str) else None
    if match_ is None:
        return None
    line, column = int(match_[1]), int(match_[2]) - 1
    return Span(Source("the module", ""), line, column, line, column)


def answered_together(remote: "Remote", requests: Sequence[Ask]) -> Iterator[Answers]:
    """The answers on each of `asked`, in order, as they come."""
    rest = list(requests)
    while rest:
        count = 0
        for answers in _batch(remote, rest):
            count += 1
            yield answers
        if count < len(rest):
            yield _alone(remote, rest[count])
            count += 1
        rest = rest[count:]


def _alone(remote: "Remote", ask: Ask) -> Answers:
    """The answers to a module that is sent alone."""
    module = remote.module(ask.module)
    if isinstance(module, Stopped):
        return module
    return remote.load(module) or tuple(module.run(*call) for call in ask.calls)


def _batch(remote: "Remote", requests: Sequence[Ask]) -> Iterator[Answers]:
    """The answers on the first of `asked`, as many as come."""
    process = remote.process() if remote.start() is None else None
    if process is None:
        return
    parts = [_part(remote, number, ask) for number, ask in enumerate(requests)]
    lines = _Lines(remote, process, [request for part in parts for request in part.requests])
    answer = 0
    try:
        for part in parts:
            answers = part.read(remote, lines)
            if answers is None:
                return
            answer += 1
            yield answers
    finally:
        if answer < len(parts):  # nobody waits for the answers that are still to come
            process.kill()


class _Lines:
    """The answers of a batch as they come, each with the number of its request."""

    def __init__(self, remote: "Remote", process: LineProcess, requests: Sequence[Mapping[str, object]]) -> None:
        limits = [remote.limits.prepare if each["do"] == "prepare" else remote.limits.seconds for each in requests]
        batch = {"do": "batch", "requests": [{**each, "id": number} for number, each in enumerate(requests)]}
        self._lines = process.answers(batch, [seconds + GRACE for seconds in limits])
        self._remote, self._process, self._number = remote, process, 0

    @property
    def alive(self) -> bool:
        """Whether more may come."""
        return self._process.alive

    def next(self, *, places: bool) -> dict[str, object] | Stopped | None:
        """The next answer; None: there is none, the program has ended, or is late."""
        if not self.alive:
            return None
        try:
            reply = next(self._lines)
        except Broken as broken:
            return Stopped(Stop(broken.why), broken.message) if broken.spoke else None
        number, self._number = self._number, self._number + 1
        if reply.get("id") != number:
            self._process.kill()
            why = "an answer of a batch without an `id`" if "id" not in reply else "a request that was not sent"
            return Stopped(Stop.CRASHED, f"it answers {why}: {str(reply)[:SHOWN]}")
        return self._remote.understood(reply, places=places)


@dataclass
class _Part:
    """The request for one module. `module` may have no text; a call may have a reason instead of a line."""

    module: "RemoteModule | Stopped"
    ask: Ask
    lines: list[dict[str, object] | Stopped] = field(default_factory=list)

    @property
    def requests(self) -> Iterator[Mapping[str, object]]:
        """The requests, in order."""
        if not isinstance(self.module, Stopped):
            yield self.module.preparing
            yield from (line for line in self.lines if not isinstance(line, Stopped))

    def read(self, remote: "Remote", lines: _Lines) -> Answers | None:
        """The answers, from the lines that come; None: the program has ended, or is late."""
        module = self.module
        if isinstance(module, Stopped):
            return module
        first = lines.next(places=module.verbatim)
        if first is None:
            return None
        refused = remote.refused(first)
        answers: list[Answer] = []
        for line, (func, args) in zip(self.lines, self.ask.calls, strict=True):
            if isinstance(line, Stopped):
                answers.append(line)
            elif refused is not None:
                lines.next(places=False)  # the child answers, since it has a request
            elif not lines.alive:
                answers.append(module.run(func, args))
            else:
                reply = lines.next(places=module.verbatim)
                if reply is None:
                    return None
                answers.append(module.ended(reply, len(args)))
        return refused or tuple(answers)


def _part(remote: "Remote", number: int, ask: Ask) -> _Part:
    """The request for module `number` of a batch; writes the files of the arguments."""
    module = remote.module(ask.module)
    if isinstance(module, Stopped):
        return _Part(module, ask)
    requests = [module.request(*call, f"m{number}c{at}") for at, call in enumerate(ask.calls)]
    return _Part(module, ask, requests)
