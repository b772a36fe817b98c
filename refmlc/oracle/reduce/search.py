"""The search: try edits in order, apply the first that keeps the predicate, until none does.

A candidate counts only if it is valid, new and smaller, so the search ends; the subject of the search decides
that is the case (`Matter`). With several jobs, several candidates are judged at once and the first in order is taken:
the result is the same as with one.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from time import monotonic
from typing import Generic, Protocol, Self, TypeAlias, TypeVar

T = TypeVar("T")

Pass: TypeAlias = Callable[[T], Iterator[Callable[[], T]]]
Size: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Candidate(Generic[T]):
    """A valid subject with its text and size."""

    subject: T
    text: str
    size: Size


@dataclass(frozen=True)
class SubjectText(Generic[T]):
    """A subject that may be valid, as text; two with one key are the same."""

    subject: T
    text: str
    key: Hashable


class Matter(Protocol[T]):
    """The subject of a search: its edits, valid candidates, and sizes."""

    groups: Sequence[Sequence[Pass[T]]]

    def shown(self, subject: T) -> SubjectText[T] | None:
        """The subject as text; None where it is not valid."""
        ...

    def read(self, shown: SubjectText[T]) -> Candidate[T] | None:
        """The subject of the text; None if it is not valid."""
        ...


@dataclass(frozen=True)
class SearchLimits:
    """The limits of a search. Units: seconds; `tries` are evaluations of the predicate. None: unlimited."""

    seconds: float | None = None
    tries: int | None = None
    jobs: int = 1


class LimitReached(Exception):
    """A limit is reached."""


class Search(Generic[T]):
    """Reduces a subject while `holds`; calls `on_smaller` after each step."""

    def __init__(
        self,
        matter: Matter[T],
        best: Candidate[T],
        holds: Callable[[Candidate[T]], bool],
        limits: SearchLimits,
        on_smaller: Callable[["Search[T]"], None],
    ) -> None:
        """Begin at `best`, for which `holds` is known to be true."""
        self.best = best
        self.tries = 0
        self.steps = 0
        self._matter = matter
        self._holds = holds
        self._limits = limits
        self._on_smaller = on_smaller
        self._end = None if limits.seconds is None else monotonic() + limits.seconds
        self._seen: set[Hashable] = set()
        self._executor = ThreadPoolExecutor(limits.jobs) if limits.jobs > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nobody waits for judgements that are not needed any more."""
        if self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)

    def run(self) -> bool:
        """Make the subject as small as it gets; whether that was done before a limit was reached."""
        try:
            while self._round():
                pass
        except LimitReached:
            return False
        return True

    def _round(self) -> bool:
        """Every group until nothing in it helps; whether anything did."""
        before = self.steps
        for group in self._matter.groups:
            helped = True
            while helped:
                helped = sum(self._exhaust(each_pass) for each_pass in group) > 0
        return self.steps > before

    def _exhaust(self, pass_: Pass[T]) -> bool:
        """Apply every edit of a pass that helps; after each, continue at the same place in the new subject."""
        before, place = self.steps, 0
        while True:
            improved_at = self._first(islice(pass_(self.best.subject), place, None))
            if improved_at is None:
                return self.steps > before
            place += improved_at

    def _first(self, edits: Iterator[Callable[[], T]]) -> int | None:
        """Make the first edit that helps; its number."""
        waiting: list[tuple[int, Candidate[T]]] = []
        for number, edit in enumerate(edits):
            self._check_time()
            candidate = self._candidate(edit)
            if candidate is not None:
                waiting.append((number, candidate))
            if len(waiting) == self._limits.jobs:
                position = self._judge(waiting)
                if position is not None:
                    return position
                waiting = []
        return self._judge(waiting)

    def _judge(self, waiting: list[tuple[int, Candidate[T]]]) -> int | None:
        """The number of the first candidate that holds, which is the best now."""
        if not waiting:
            return None
        if self._limits.tries is not None and self.tries + len(waiting) > self._limits.tries:
            raise LimitReached
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
            raise LimitReached

    def _candidate(self, edit: Callable[[], T]) -> Candidate[T] | None:
        """The candidate of an edit if it is valid, new and smaller, else None."""
        text = self._matter.shown(edit())
        if text is None or text.key in self._seen:
            return None
        self._seen.add(text.key)
        candidate = self._matter.read(text)
        return candidate if candidate is not None and candidate.size < self.best.size else None
