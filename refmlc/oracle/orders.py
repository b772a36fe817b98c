"""A call in many orders of its threads (TIW-012): all that differ, or as many as are requested.

    exploration = explore(module, "main", lambda: [a.copy(), b.copy()], Interp(), orders=100)

Two events of different threads at one place depend on each other if their order may matter; two orders differ if such
a pair changes places. The search executes the call from the start for each order, finds pairs that the run did not
force, and turns each round once (dynamic partial-order reduction, Flanagan and Godefroid, POPL 2005).

| events at one place          | depend on each other                                                 |
|------------------------------|----------------------------------------------------------------------|
| operations of a barrier      | unless both arrive in one phase, or both bring bytes                 |
| a wait for a phase, and what | unless it is the phase that is waited for                            |
| completes a phase            |                                                                      |
| atomic operations            | unless both do the same that commutes, and nobody gets the old value; |
|                              | or both leave the value as it is                                     |
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, cast

import numpy as np

from refmlc.diag.errors import error
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.ptx import operator_of
from refmlc.observe.sanitize.kinds import ALL
from refmlc.oracle.implementations.implementation import Answer, Ended, Stop, Stopped
from refmlc.oracle.implementations.interp import Interp, Watched
from refmlc.oracle.implementations.local_calls import stopped
from refmlc.run.interp.asynchronous.barriers import MemoryBarrier
from refmlc.run.interp.threads.group import Thread
from refmlc.run.interp.threads.schedule import ThreadSchedule
from refmlc.run.memory.tensor import Tensor

ThreadId: TypeAlias = tuple[int, int]
Times: TypeAlias = dict[ThreadId, int]
Clock: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int32]]"
VALUES = ("add", "min", "max", "and", "or", "xor")
COMMUTING = (*VALUES, "arrive", "bring", "read")
"""Events that commute with others of their kind; those of values where nobody gets the old one."""


@dataclass(frozen=True, slots=True)
class Event:
    """An event of synchronisation.

    `phase`: that of the barrier before it, or the one that is waited for; `completes`: whether the event ends it;
    `over`: whether a wait finds it complete.
    """

    place: object
    kind: str
    phase: int = 0
    completes: bool = False
    over: bool = False

    def depends_on(self, other: "Event") -> bool:
        """Whether the order of the two may matter."""
        if "wait" in (self.kind, other.kind):
            return self.kind != other.kind and (self.completes or other.completes) and self.phase != other.phase
        if self.kind != other.kind or self.kind not in COMMUTING:
            return True
        return self.phase != other.phase


@dataclass(slots=True)
class OrderTurn:
    """A turn of a thread: those of its block that could have run, and the events in it."""

    thread: ThreadId
    ready: Sequence[Thread]
    events: list[Event] = field(default_factory=list)

    @property
    def enabled(self) -> set[ThreadId]:
        """The threads that could have run."""
        block, _ = self.thread
        return {(block, thread.index) for thread in self.ready}


@dataclass(frozen=True, slots=True)
class Join:
    """Threads have met: each of `members` comes after all of `threads`."""

    members: tuple[ThreadId, ...]
    threads: tuple[ThreadId, ...]


class OrderRecorder(ThreadSchedule):
    """Follows the first choices of an earlier run, then lets each thread run until it waits, as without a schedule."""

    def __init__(self) -> None:
        self.renew()

    def renew(self, prefix: Sequence[ThreadId] = (), *, backwards: bool = False) -> None:
        """Forget what has happened, and follow these choices in the next run."""
        self.steps: list[OrderTurn | Join] = []
        self.turns: list[OrderTurn] = []
        self._prefix, self._backwards = prefix, backwards
        self._block = 0
        self._last: Times = {}
        self._running: Thread | None = None
        self._idle = False
        self._now: list[tuple[object, str, int]] = []
        self._unused: set[tir.Call] = set()
        self._passing: dict[ThreadId, tuple[object, str, int]] = {}

    def begin(self, threads: Sequence[Thread]) -> None:
        del threads
        self._block += 1

    def _id(self, thread: Thread) -> ThreadId:
        return self._block, thread.index

    def choose(self, ready: Sequence[Thread]) -> Thread:
        number = len(self.turns)
        wanted = self._prefix[number] if number < len(self._prefix) else None
        chosen = None if wanted is None else next((thread for thread in ready if self._id(thread) == wanted), None)
        if chosen is None:
            chosen = self._usual(ready)
        self._running, self._idle = chosen, False
        self._last[self._id(chosen)] = number
        self.turns.append(OrderTurn(self._id(chosen), tuple(ready)))
        self.steps.append(self.turns[-1])
        passing = self._passing.pop(self._id(chosen), None)
        self._now = [] if passing is None else [passing]
        return chosen

    def _usual(self, ready: Sequence[Thread]) -> Thread:
        """The thread that runs, unless it looks for what others do; else the one that has waited longest."""
        if self._running in ready and not self._idle:
            return cast("Thread", self._running)
        sign = -1 if self._backwards else 1
        return min(ready, key=lambda thread: (self._last.get(self._id(thread), -1), sign * thread.index))

    def access(self, place: object, kind: str, call: tir.Call, *, idle: bool = False) -> None:
        phase = place.phase if isinstance(place, MemoryBarrier) else 0
        if kind.startswith("wait"):
            kind, phase = "wait", phase - (f"wait {phase % 2}" != kind)
        elif kind in VALUES and call not in self._unused:
            kind = ""
        self._idle = idle
        self._now.append((place, "read" if idle and not kind else kind, phase))

    def paused(self) -> None:
        for place, kind, phase in self._now:
            ended = isinstance(place, MemoryBarrier) and place.phase > phase
            waits = kind == "wait"
            self.turns[-1].events.append(Event(place, kind, phase, ended and not waits, ended and waits))
        self._now = []

    def met(self, members: Sequence[Thread], arrived: Sequence[Thread]) -> None:
        own = tuple(self._id(thread) for thread in members)
        self._last.clear()
        self._running = None
        self.steps.append(Join(own, (*own, *(self._id(thread) for thread in arrived))))

    def woken(self, thread: Thread, place: object) -> None:
        node = None if thread.waits is None else thread.waits.node
        if isinstance(node, tir.Evaluate) and isinstance(node.value, tir.Call) and not _writes_result(node.value):
            self._unused.add(node.value)
        if isinstance(place, MemoryBarrier):
            self._passing[self._id(thread)] = (place, "wait", place.phase - 1)


def _writes_result(call: tir.Call) -> bool:
    """Whether an atomic operation writes the value before to an operand."""
    return operator_of(call.callee) == "ptx.atom"


@dataclass(slots=True)
class TurnChoice:
    """A turn of the search: the thread that runs, those that have run here, and those that are to."""

    thread: ThreadId
    done: set[ThreadId] = field(default_factory=set)
    open: set[ThreadId] = field(default_factory=set)


def _turned(recorder: OrderRecorder) -> Mapping[int, set[ThreadId]]:
    """The threads that should run at earlier turns, so that two events that depend on each other change places."""
    clocks = _Clocks(recorder.turns)
    after: list[tuple[ThreadId, Clock]] = []
    at: dict[object, list[tuple[int, Event]]] = {}
    wanted: dict[int, set[ThreadId]] = {}
    for step in recorder.steps:
        if isinstance(step, Join):
            clocks.meet(step)
            continue
        number, thread = len(after), step.thread
        signals = [
            after[before][1]
            for event in step.events
            if event.over
            for before, other in at.get(event.place, ())
            if other.kind != "wait" and other.phase == event.phase
        ]
        known = clocks.learn(thread, signals)
        earlier = [
            before
            for event in step.events
            for before, other in at.get(event.place, ())
            if after[before][0] != thread and event.depends_on(other)
        ]
        free = [before for before in earlier if not clocks.knows(known, after[before])]
        if free:
            turn = recorder.turns[max(free)]
            wanted.setdefault(max(free), set()).update({thread} if thread in turn.enabled else turn.enabled)
        after.append((thread, clocks.tick(thread, [after[before][1] for before in free])))
        for event in step.events:
            at.setdefault(event.place, []).append((number, event))
    return wanted


class _Clocks:
    """How many turns of each thread come before the next one of a thread, whatever the order: vector clocks.

    Arrays are shared, and never changed.
    """

    def __init__(self, turns: Sequence[OrderTurn]) -> None:
        self._columns = {thread: place for place, thread in enumerate(dict.fromkeys(turn.thread for turn in turns))}
        self._none: Clock = np.zeros(len(self._columns), np.int32)
        self._clocks: dict[ThreadId, Clock] = {}

    def meet(self, join: Join) -> None:
        """Threads have met."""
        total: Clock = np.maximum.reduce([self._clocks.get(thread, self._none) for thread in join.threads])
        for member in join.members:
            self._clocks[member] = total

    def learn(self, thread: ThreadId, signals: Sequence[Clock]) -> Clock:
        """The clock of a thread that comes after others."""
        self._clocks[thread] = np.maximum.reduce([self._clocks.get(thread, self._none), *signals])
        return self._clocks[thread]

    def knows(self, clock: Clock, turn: tuple[ThreadId, Clock]) -> bool:
        """Whether what has this clock comes after a turn."""
        thread, now = turn
        column = self._columns[thread]
        return bool(clock[column] >= now[column])

    def tick(self, thread: ThreadId, others: Sequence[Clock]) -> Clock:
        """The clock of a thread after a turn, which comes after others too."""
        now: Clock = np.maximum.reduce([self._clocks[thread], *others])
        now = now.copy()
        now[self._columns[thread]] += 1
        self._clocks[thread] = now
        return now


@dataclass(frozen=True)
class Exploration:
    """The orders that were executed. `complete`: no other one differs.

    `answer`: of the first order that is undefined, else of the usual one. `results`: how many different ones there are.
    """

    orders: int
    complete: bool
    answer: Answer
    results: int

    @property
    def text(self) -> str:
        """As messages have it."""
        orders = "1 order" if self.orders == 1 else f"{self.orders} orders"
        extent = "complete" if self.complete else "not complete"
        results = f", {self.results} different results" if self.results > 1 else ""
        return f"{orders} of threads, {extent}{results}"


def explore(
    module: IRModule,
    func: str,
    arguments: Callable[[], Sequence[object]],
    interp: Interp,
    *,
    orders: int,
    kinds: Collection[str] = ALL,
) -> Exploration:
    """Execute a function in up to `orders` orders of its threads, under the sanitizer, until one is undefined.

    The first one is the usual order. Where there are more than `orders`, the last one is that in which threads of
    higher numbers come first.
    """
    search = _Search(module, func, arguments, interp, kinds)
    choices: list[TurnChoice] = []
    while True:
        if search.run([choice.thread for choice in choices]):
            return search.result(complete=False)
        choices += [TurnChoice(turn.thread, {turn.thread}) for turn in search.recorder.turns[len(choices) :]]
        for number, threads in _turned(search.recorder).items():
            choices[number].open |= threads
        while choices and not choices[-1].open - choices[-1].done:
            choices.pop()
        if not choices:
            return search.result(complete=search.all_end)
        if search.orders >= orders - 1:
            if search.orders < orders:
                search.run((), backwards=True)
            return search.result(complete=False)
        choices[-1].thread = min(choices[-1].open - choices[-1].done)
        choices[-1].done.add(choices[-1].thread)


class _Search:
    """The orders that were executed so far, by functions that are prepared once."""

    def __init__(
        self,
        module: IRModule,
        func: str,
        arguments: Callable[[], Sequence[object]],
        interp: Interp,
        kinds: Collection[str],
    ) -> None:
        self.recorder = OrderRecorder()
        self.orders = 0
        self.all_end = True
        self._func, self._arguments = func, arguments
        self._watched = Watched(module, interp, kinds, schedule=self.recorder)
        self._answer: Answer | None = None
        self._results: set[bytes] = set()

    def run(self, prefix: Sequence[ThreadId], *, backwards: bool = False) -> bool:
        """Execute one order; whether the search ends with it: it is undefined, or the first one and does not end."""
        self.recorder.renew(prefix, backwards=backwards)
        answer = self._watched.run(self._func, self._arguments())
        self.orders += 1
        if isinstance(answer, Ended):
            self._answer = self._answer or answer
            self._results.add(_contents([answer.value, *answer.args]))
            return False
        self.all_end = False
        if self._answer is not None and answer.why is not Stop.UNDEFINED:
            return False
        explained = self._watched.explained(answer)
        if self.orders > 1 and isinstance(explained, Stopped) and explained.diagnostic is not None:
            notes = (*explained.diagnostic.notes, f"in order {self.orders} of the threads that were tried")
            explained = stopped(error(replace(explained.diagnostic, notes=notes)))
        self._answer = explained
        return True

    def result(self, *, complete: bool) -> Exploration:
        """What the search gives."""
        assert self._answer is not None  # noqa: S101 - an order was executed
        return Exploration(self.orders, complete, self._answer, len(self._results))


def _contents(values: Sequence[object]) -> bytes:
    """The values as bytes, to compare them."""
    arrays = [value.array if isinstance(value, Tensor) else value for value in values]
    return b"|".join(array.tobytes() if isinstance(array, np.ndarray) else repr(array).encode() for array in arrays)
