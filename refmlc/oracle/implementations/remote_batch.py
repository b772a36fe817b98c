"""Modules and their calls in one line, the `batch` of the protocol; results equal those of separate requests.

| instead of an answer                       | then                                                           |
|--------------------------------------------|----------------------------------------------------------------|
| the program ends, or is late               | its module is sent again alone: another may be the culprit     |
| a line that is none, or has another number | that is the answer, a crash; calls left of its module go alone |
| … either                                   | the rest is sent together again: nothing is lost               |

Each answer has the time limit of its request, counted from the answer before.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from refmlc.oracle.implementations.implementation import Answer, Answers, Ask, Stop, Stopped
from refmlc.oracle.implementations.limits import GRACE
from refmlc.system.lines import SHOWN, Broken, LineProcess

if TYPE_CHECKING:
    from refmlc.oracle.implementations.remote import Remote, RemoteModule


def answered_together(remote: "Remote", asked: Sequence[Ask]) -> Iterator[Answers]:
    """The answers on each of `asked`, in order, as they come."""
    rest = list(asked)
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


def _batch(remote: "Remote", asked: Sequence[Ask]) -> Iterator[Answers]:
    """The answers on the first of `asked`, as many as come."""
    process = remote.process() if remote.start() is None else None
    if process is None:
        return
    parts = [_part(remote, number, ask) for number, ask in enumerate(asked)]
    lines = _Lines(remote, process, [request for part in parts for request in part.requests])
    read = 0
    try:
        for part in parts:
            answers = part.read(remote, lines)
            if answers is None:
                return
            read += 1
            yield answers
    finally:
        if read < len(parts):  # nobody waits for the answers that are still to come
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
