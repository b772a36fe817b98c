"""The search: edits are tried in order, the first that keeps what is wanted is made, until none does.

A candidate is swept up (`tidy`), checked, shown as text and read back: what is judged is the module of the text, so
the text is all that there is to a result. It counts only where it is smaller (`size`), so the search ends. A text that
was judged before is not judged again.

With several jobs, several candidates are judged at once and the first in order is taken: the result is the same as
with one.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from time import monotonic
from types import TracebackType
from typing import Self

from refmlc.check.module import check_module
from refmlc.diag import RefmlcError
from refmlc.reduce.order import GROUPS
from refmlc.reduce.size import Size, size_of
from refmlc.reduce.subject import Calls, Edit, Pass, Subject
from refmlc.reduce.tidy import tidied
from refmlc.script import read, show


@dataclass(frozen=True)
class Candidate:
    """A valid subject with its text and size."""

    subject: Subject
    text: str
    size: Size


@dataclass(frozen=True)
class Limits:
    """What a search may use. Units: seconds; `tries` are judgements. None: as much as it takes."""

    seconds: float | None = None
    tries: int | None = None
    jobs: int = 1


class Stopped(Exception):
    """A limit is reached."""


class Search:
    """A subject that becomes smaller while `holds`; `on_smaller` is told of each step."""

    def __init__(
        self,
        best: Candidate,
        holds: Callable[[Candidate], bool],
        limits: Limits,
        on_smaller: Callable[["Search"], None],
    ) -> None:
        """Begin at `best`, for which `holds` is known to be true."""
        self.best = best
        self.tries = 0
        self.steps = 0
        self._holds = holds
        self._limits = limits
        self._on_smaller = on_smaller
        self._end = None if limits.seconds is None else monotonic() + limits.seconds
        self._seen: set[tuple[str, Calls]] = {(best.text, best.subject.calls)}
        self._stack = ExitStack()
        self._executor: Executor | None = None

    def __enter__(self) -> Self:
        """Start the threads that judge, where there are several."""
        if self._limits.jobs > 1:
            self._executor = self._stack.enter_context(ThreadPoolExecutor(self._limits.jobs))
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _problem: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """End them."""
        self._stack.close()

    def run(self) -> bool:
        """Make the subject as small as it gets; whether that was done before a limit was reached."""
        try:
            while self._round():
                pass
        except Stopped:
            return False
        return True

    def _round(self) -> bool:
        """Every group until nothing in it helps; whether anything did."""
        before = self.steps
        for group in GROUPS:
            helped = True
            while helped:
                helped = sum(self._exhaust(one) for one in group) > 0
        return self.steps > before

    def _exhaust(self, one: Pass) -> bool:
        """Make every edit of a pass that helps. After one the pass goes on at the same place in the new subject."""
        before, place = self.steps, 0
        while True:
            found = self._first(islice(one(self.best.subject), place, None))
            if found is None:
                return self.steps > before
            place += found

    def _first(self, edits: Iterator[Edit]) -> int | None:
        """Make the first edit that helps; its number."""
        waiting: list[tuple[int, Candidate]] = []
        for number, edit in enumerate(edits):
            self._check_time()
            candidate = self._candidate(edit)
            if candidate is not None:
                waiting.append((number, candidate))
            if len(waiting) == self._limits.jobs:
                made = self._judge(waiting)
                if made is not None:
                    return made
                waiting = []
        return self._judge(waiting)

    def _judge(self, waiting: list[tuple[int, Candidate]]) -> int | None:
        """The number of the first candidate that holds, which is the best now."""
        if not waiting:
            return None
        if self._limits.tries is not None and self.tries + len(waiting) > self._limits.tries:
            raise Stopped
        self.tries += len(waiting)
        candidates = [candidate for _, candidate in waiting]
        answers = (
            map(self._holds, candidates) if self._executor is None else self._executor.map(self._holds, candidates)
        )
        for (number, candidate), holds in zip(waiting, answers, strict=True):
            if holds:
                self.best = candidate
                self.steps += 1
                self._on_smaller(self)
                return number
        return None

    def _check_time(self) -> None:
        if self._end is not None and monotonic() > self._end:
            raise Stopped

    def _candidate(self, edit: Edit) -> Candidate | None:
        """What the edit gives, where it is valid, new and smaller."""
        subject = edit()
        subject = subject.with_module(tidied(subject.module))
        try:
            if check_module(subject.module):
                return None
            text = show(subject.module)
            key = (text, subject.calls)
            if key in self._seen:
                return None
            self._seen.add(key)
            found = candidate_of(subject, text)
        except RefmlcError:
            return None
        return found if found is not None and found.size < self.best.size else None


def candidate_of(subject: Subject, text: str | None = None) -> Candidate | None:
    """The subject as its text says it; None where a static rule is broken. Fails: as showing and reading does."""
    text = show(subject.module) if text is None else text
    module = read(text, "reduced.py")
    if check_module(module):
        return None
    again = subject.with_module(module)
    return Candidate(again, text, size_of(again, text))
