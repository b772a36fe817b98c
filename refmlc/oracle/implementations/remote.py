"""An implementation in a separate process: sends requests, checks answers, restarts a broken process."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from refmlc.diag import Diagnostic
from refmlc.diag.catalogue import CODES
from refmlc.diag.errors import RefmlcError
from refmlc.diag.source import Source, Span
from refmlc.lang.ir import IRModule
from refmlc.lang.ir.tree import Json, tree_of
from refmlc.lang.script import read, show
from refmlc.oracle.implementations.implementation import Answer, Answers, Ask, Ended, Prepared, Stop, Stopped
from refmlc.oracle.implementations.limits import GRACE, Limits
from refmlc.oracle.implementations.remote_batch import answered_together
from refmlc.oracle.implementations.wire import INLINE, Misspelt, Receiver, Sender, Unsendable
from refmlc.system.folders import Folder
from refmlc.system.lines import Broken, LineProcess

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
            self.says = self._process.ask(hello | times, limits.prepare)
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

    def answer_all(self, asked: Sequence[Ask]) -> Iterator[Answers]:
        """The answers on each of `asked`, in order, as they come."""
        return answered_together(self, asked)

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
            return reply
        return None if reply.get("ok") is True else self.misspelt(reply)

    def close(self) -> None:
        """End the process and forget its files."""
        self.close_process()
        self._directory.cleanup()

    def close_process(self) -> None:
        """End the process."""
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
        refused = reply.get("refused") is True
        return Stopped(
            STOPS[why], line or why, _diagnostic(reply, line, places=places), refused, reply.get("fault") is True
        )


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
