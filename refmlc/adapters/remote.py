"""An implementation in a process of its own: requests, answers checked, a new process after one that broke."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from refmlc.adapters.implementation import Answer, Ended, Prepared, Stop, Stopped
from refmlc.adapters.limits import Limits
from refmlc.adapters.line_process import Broken, LineProcess
from refmlc.adapters.wire import INLINE, Misspelt, Receiver, Sender, Unsendable
from refmlc.diag import Diagnostic
from refmlc.diag.catalogue import CODES
from refmlc.diag.errors import RefmlcError
from refmlc.diag.source import Source, Span
from refmlc.ir import IRModule
from refmlc.script import show

VERSION = 1
GRACE = 5.0  # seconds that an implementation has to tell by itself that it is late
STOPS = {stop.value: stop for stop in Stop if stop is not Stop.TIMED_OUT}
LONGEST = 400
PLACE = re.compile(r"([1-9]\d{0,8}):([1-9]\d{0,8})")


class Remote:
    """A program that answers requests. `footprint` is the address space it takes by itself. Units: bytes."""

    def __init__(self, command: Sequence[str], limits: Limits, name: str, *, footprint: int = 8 << 30) -> None:
        """Nothing runs yet."""
        self.name = name
        self.promises_verdicts = False
        self.limits = limits
        self.says: Mapping[str, object] = {}
        self._command = list(command)
        self._memory = limits.bytes + footprint
        self._directory = TemporaryDirectory(prefix="refmlc-")
        self._process: LineProcess | None = None
        self._holds: RemoteModule | None = None

    @property
    def folder(self) -> Path:
        """Where the files of tensors lie."""
        return Path(self._directory.name)

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
            return f"it does not say its name, but {str(dict(self.says))[:LONGEST]}"
        self.promises_verdicts = self.says.get("verdicts") is True
        return None

    def prepare(self, module: IRModule) -> Prepared | Stopped:
        """Send the text of `module`."""
        try:
            made = RemoteModule(self, show(module, show_meta=True))
        except RefmlcError as failure:
            return Stopped(Stop.UNSUPPORTED, f"the module has no text: {failure.diagnostic.message}")
        return self.load(made) or made

    def prepare_text(self, text: str) -> Prepared | Stopped:
        """Send `text` as it is, in the dialect of 0.27; places that are answered are places in it."""
        made = RemoteModule(self, text, verbatim=True)
        return self.load(made) or made

    def load(self, module: "RemoteModule") -> Stopped | None:
        """Let the process hold `module`, if it does not; why it does not take it."""
        running = self._process is not None and self._process.alive
        if running and self._holds is module:
            return None
        reply = self.ask({"do": "prepare", "module": module.text}, self.limits.prepare, places=module.verbatim)
        if isinstance(reply, Stopped):
            return reply
        if reply.get("ok") is not True:
            return self.misspelt(reply)
        self._holds = module
        return None

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
            return Stopped(Stop.CRASHED, f"it does not start again: {problem}")
        try:
            reply = self._process.ask(request, seconds + GRACE)
        except Broken as broken:
            return Stopped(broken.why, broken.message)
        return self._stopped(reply, places=places) if "stop" in reply else reply

    def misspelt(self, reply: Mapping[str, object], why: str = "") -> Stopped:
        """An answer that the protocol does not have; the process is not trusted any more."""
        self.close_process()
        text = f"it answers {str(dict(reply))[:LONGEST]}"
        return Stopped(Stop.CRASHED, f"{text}: {why}" if why else text)

    def _stopped(self, reply: Mapping[str, object], *, places: bool) -> Stopped:
        why, message = reply.get("stop"), reply.get("message", "")
        if why == Stop.TIMED_OUT.value:
            return Stopped(Stop.TIMED_OUT, str(message))
        if not isinstance(why, str) or why not in STOPS or not isinstance(message, str):
            return self.misspelt(reply)
        line = " ".join(message.split())[:LONGEST]
        return Stopped(STOPS[why], line or why, _diagnostic(reply, line, places=places))


class RemoteModule:
    """A module that a process has made ready. A process that was started again, or has another, is sent it again."""

    def __init__(self, remote: Remote, text: str, *, verbatim: bool = False) -> None:
        """It is to be loaded. `verbatim`: this is the text that its author wrote."""
        self.text = text
        self.verbatim = verbatim
        self._remote = remote

    def run(self, func: str, args: Sequence[object]) -> Answer:
        """Call `func` on `args`."""
        remote = self._remote
        refused = remote.load(self)
        if refused is not None:
            return refused
        sender = Sender(remote.folder, inline=INLINE if remote.says.get("inline") is True else 0)
        try:
            sent = [sender.value(arg) for arg in args]
        except Unsendable as problem:
            return Stopped(Stop.UNSUPPORTED, str(problem))
        reply = remote.ask({"do": "run", "func": func, "args": sent}, remote.limits.seconds, places=self.verbatim)
        if isinstance(reply, Stopped):
            return reply
        return self._ended(reply, len(args))

    def close(self) -> None:
        """The next module takes its place."""

    def _ended(self, reply: Mapping[str, object], count: int) -> Answer:
        after = reply.get("args")
        if "value" not in reply or not isinstance(after, list) or len(after) != count:
            return self._remote.misspelt(reply, "`value` and all `args` are wanted")
        receiver = Receiver(self._remote.folder)
        try:
            found = [receiver.value(item) for item in after]
            return Ended(receiver.value(reply["value"]), tuple(found))
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
    found = PLACE.fullmatch(place) if isinstance(place, str) else None
    if found is None:
        return None
    line, column = int(found[1]), int(found[2]) - 1
    return Span(Source("the module", ""), line, column, line, column)
