"""The record of a store during the run: just enough to build its tree afterwards.

A store is recorded if it writes a watched cell. Each watched cell has demanded times; the answer for a time is the
chain of stores that made the value: the last one, and, as long as a store read the cell itself (a reduction, an update
in place), the one before it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from refmlc.lang.ir import tir
from refmlc.observe.why.sites import NamedValues, Site
from refmlc.observe.why.values import Cell
from refmlc.run.interp.tensorir.views import View

Lanes: TypeAlias = int | float | bool | tuple[int | float | bool, ...]


class LoadRecord:
    """One executed load of an element: place, time and value. `storage` is set once the store is recorded.

    A plain class for speed: a run makes one for every load.
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
    """The loads and calls of the current statement so far; `stored`: the number of elements it has written."""

    loads: list[LoadRecord]
    calls: list[tuple[tir.Call, object]]
    stored: int = 0


@dataclass(slots=True)
class ExecutedBind:
    """A `Bind` that was executed: the sources of its variable's value."""

    site: Site
    capture: Capture
    variables: dict[tir.Var, object]
    binds: dict[tir.Var, "ExecutedBind"]


def all_loads(capture: Capture, binds: dict[tir.Var, ExecutedBind]) -> Iterator[LoadRecord]:
    """The loads of a statement and of the binds whose variables it reads."""
    yield from capture.loads
    for bind in binds.values():
        yield from all_loads(bind.capture, bind.binds)


@dataclass(slots=True)
class StoreRecord:
    """A store that was executed. `position`: its number among the elements of the statement. Units: `size` in bytes."""

    number: int
    site: Site
    function: str
    capture: Capture
    variables: dict[tir.Var, object]
    binds: dict[tir.Var, ExecutedBind]
    position: int
    storage: int
    start: int
    size: int
    loops: NamedValues
    axes: NamedValues
    bindings: tuple[str, ...]
    indices: tuple[int, ...] = ()
    value: Lanes | None = None
    reads_itself: bool = False


@dataclass(slots=True)
class ExternalWrite:
    """A call of an external function whose outputs contain the watched cell."""

    number: int
    symbol: str
    storage: int
    start: int
    size: int
    bindings: tuple[str, ...]


Event: TypeAlias = StoreRecord | ExternalWrite


@dataclass(slots=True)
class WatchedCell:
    """A cell, its demanded times (ascending), the chain of stores so far, the answers."""

    cell: Cell
    times: list[int]
    chain: list[Event] = field(default_factory=list)
    answers: dict[int, tuple[Event, ...]] = field(default_factory=dict)
    _next: int = 0

    def reach(self, number: int) -> None:
        """Answer the demanded times before store `number`."""
        while self._next < len(self.times) and self.times[self._next] < number:
            self.answers[self.times[self._next]] = tuple(self.chain)
            self._next += 1

    def add(self, event: Event, limit: int) -> None:
        """Add a store of the cell: it begins a chain unless it reads the cell. The last `limit` stores are kept."""
        if not (isinstance(event, StoreRecord) and event.reads_itself):
            self.chain = []
        self.chain.append(event)
        if len(self.chain) > 2 * limit:
            del self.chain[:-limit]
