"""The record of a store during the run: just enough to make its tree afterwards.

A store is noted where it writes a cell that is watched. For each watched cell there are times; for each time the
stores are wanted that made the cell what it is then: the last one, and, as long as one read the cell itself (a
reduction, an update in place), the one before.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from refmlc.lang.ir import tir
from refmlc.observe.why.sites import Named, Site
from refmlc.observe.why.values import Cell
from refmlc.run.interp.tensorir.views import View

Lanes: TypeAlias = int | float | bool | tuple[int | float | bool, ...]


class Loaded:
    """One executed load of an element: which, where, when, and what it gave. `storage` is known once it is noted.

    A plain class: one is made for every load of a run.
    """

    __slots__ = ("access", "indices", "offset", "storage", "time", "value", "view")

    def __init__(
        self, access: tir.BufferLoad, indices: tuple[int, ...], value: object, view: View, offset: int, time: int
    ) -> None:
        self.access = access
        self.indices = indices
        self.value = value
        self.view = view
        self.offset = offset
        self.time = time
        self.storage = 0


@dataclass(slots=True)
class Capture:
    """The reads and calls of the current statement so far; `stored`: elements it has written."""

    loads: list[Loaded]
    calls: list[tuple[tir.Call, object]]
    stored: int = 0


@dataclass(slots=True)
class ExecutedBind:
    """A `Bind` that was executed: what its variable is made of."""

    site: Site
    capture: Capture
    variables: dict[tir.Var, object]
    bound: dict[tir.Var, "ExecutedBind"]


def all_loads(capture: Capture, bound: dict[tir.Var, ExecutedBind]) -> Iterator[Loaded]:
    """The loads of a statement and of the binds whose variables it names."""
    yield from capture.loads
    for each in bound.values():
        yield from all_loads(each.capture, each.bound)


@dataclass(slots=True)
class Noted:
    """A store that was executed. `position`: which of the elements that the statement wrote. Units: `size` in bytes."""

    number: int
    site: Site
    function: str
    capture: Capture
    variables: dict[tir.Var, object]
    bound: dict[tir.Var, ExecutedBind]
    position: int
    storage: int
    start: int
    size: int
    loops: Named
    axes: Named
    bindings: tuple[str, ...]
    indices: tuple[int, ...] = ()
    value: Lanes | None = None
    reads_itself: bool = False


@dataclass(slots=True)
class Foreign:
    """A function from outside that was given a tensor to write, the watched cell among it."""

    number: int
    symbol: str
    storage: int
    start: int
    size: int
    bindings: tuple[str, ...]


Event: TypeAlias = Noted | Foreign


@dataclass(slots=True)
class WatchedCell:
    """A cell, the times at which its making is wanted (ascending), the stores so far, the answers."""

    cell: Cell
    times: list[int]
    chain: list[Event] = field(default_factory=list)
    answers: dict[int, tuple[Event, ...]] = field(default_factory=dict)
    _next: int = 0

    def reach(self, number: int) -> None:
        """Store `number` is about to be noted: answer the times before it."""
        while self._next < len(self.times) and self.times[self._next] < number:
            self.answers[self.times[self._next]] = tuple(self.chain)
            self._next += 1

    def add(self, event: Event, most: int) -> None:
        """The cell is written by `event`; `most` stores of a chain are kept, the last ones."""
        keeps = isinstance(event, Noted) and event.reads_itself
        if not keeps:
            self.chain = []
        self.chain.append(event)
        if len(self.chain) > 2 * most:
            del self.chain[:-most]
