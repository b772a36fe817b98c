"""Snapshots: the state needed to continue from a moment without executing what came before.

| part       | is                                                                                             |
|------------|------------------------------------------------------------------------------------------------|
| `levels`   | for each call its active bindings and variables; for the innermost, its frame and place        |
| `storages` | bytes, initialised units and flags of every storage that the calls reach                       |

A storage that did not change since the snapshot before shares its copy. When all copies together take more than the
budget, every second snapshot is dropped, and later ones are taken half as often.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from refmlc.debug.iterations import LoopEntry
from refmlc.debug.places import BindingPlace, StmtPlace
from refmlc.debug.session_data import BEGINNING, Moment
from refmlc.lang.ir import relax, tir
from refmlc.run.interp.tensorir.views import View
from refmlc.run.interp.threads.private_memory import Follower, Private
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Closure


@dataclass(slots=True, eq=False)
class SavedStorage:
    """The contents of a storage."""

    storage: Storage
    data: bytes
    shadow: bytes | None
    alike: bool
    alive: bool
    partial: dict[int, int]
    objects: dict[int, object]
    held: dict[int, tuple[int, object]]

    def restore(self, into: Storage) -> None:
        """Copy the contents into `into`, which has the same size."""
        if into.writable and into.array.flags.writeable:
            into.array[...] = np.frombuffer(self.data, np.uint8)
        into.alive = self.alive
        into._uniform = self.alike  # noqa: SLF001 - restores a state that programs cannot set
        into.unit = self.storage.unit if into.unit == 0 else into.unit
        if self.shadow is not None:
            into.shadow[:] = self.shadow
        elif into._shadow is not None:  # noqa: SLF001 - as above
            into.shadow[:] = (b"\1" if self.alike else b"\0") * len(into.shadow)
        into.extras.partial = dict(self.partial)
        into.extras.objects = dict(self.objects)
        into.extras.held = dict(self.held)


def save(storage: Storage, before: SavedStorage | None) -> SavedStorage:
    """The contents of a storage; the copy `before` if nothing changed."""
    shadow = storage._shadow  # noqa: SLF001 - looking at it through the property would make it
    now = SavedStorage(
        storage,
        b"",
        None if shadow is None else bytes(shadow),
        storage._uniform,  # noqa: SLF001 - as above
        storage.alive,
        dict(storage.partial),
        dict(storage.objects),
        dict(storage.extras.held),
    )
    if (
        before is not None
        and (before.shadow, before.alike, before.alive) == (now.shadow, now.alike, now.alive)
        and (before.partial, before.objects, before.held) == (now.partial, now.objects, now.held)
        and len(before.data) == storage.nbytes
        and bool(np.array_equal(np.frombuffer(before.data, np.uint8), storage.array))
    ):
        return before
    now.data = storage.array.tobytes()
    return now


@dataclass(frozen=True, slots=True)
class SavedMemory:
    """Memory that belongs to threads, with the views of those that have begun."""

    memory: Private | Follower
    views: Mapping[tuple[int | None, ...], View] = field(default_factory=dict)
    block: tuple[int | None, ...] = ()

    def again(self) -> Private | Follower:
        """The memory in its saved state."""
        if isinstance(self.memory, Private):
            self.memory.views, self.memory.block = dict(self.views), self.block
        return self.memory


@dataclass(slots=True)
class SavedCall:
    """A call: of Relax with its variables and active bindings, or of TensorIR with its frame.

    `axes`: the indices of thread axes. `numbers`: those in the slots of the frame: a variable that stands for several
    loops has several. `entered`: what loops were entered with, by the ids of their nodes.
    """

    args: tuple[object, ...]
    values: dict[relax.Var, object] = field(default_factory=dict)
    dims: dict[tir.Var, object] = field(default_factory=dict)
    bindings: tuple[BindingPlace, ...] = ()
    place: StmtPlace | None = None
    variables: dict[tir.Var, object] = field(default_factory=dict)
    views: dict[tir.Buffer, View | None] = field(default_factory=dict)
    axes: dict[str, int | None] = field(default_factory=dict)
    numbers: dict[int, int | float] = field(default_factory=dict)
    entered: dict[int, LoopEntry] = field(default_factory=dict)
    memories: dict[tir.Buffer, SavedMemory] = field(default_factory=dict)

    def holds(self) -> Iterator[object]:
        """Every value of the call."""
        yield from self.args
        yield from self.values.values()
        yield from self.variables.values()
        yield from self.views.values()
        yield from (view for entered in self.entered.values() for _, view in entered.outside)
        yield from (view for owned in self.memories.values() for view in owned.views.values())


@dataclass(slots=True)
class Snapshot:
    """See the docstring of the module. `steps`: the count of the budget; `printed`: lines of output so far."""

    moment: Moment
    levels: tuple[SavedCall, ...]
    storages: tuple[SavedStorage, ...]
    steps: int = 0
    printed: int = 0


def storages_of(values: Iterable[object]) -> Iterator[Storage]:
    """Every storage that the values reach."""
    stack = list(values)
    while stack:
        match stack.pop():
            case Tensor(storage=storage) | Pointer(storage=storage):
                yield storage
            case View(data=data):
                yield data.storage
            case Storage() as storage:
                yield storage
            case Closure(captured=captured):
                stack.extend(captured)
            case tuple() as fields:
                stack.extend(fields)
            case _:
                pass


@dataclass(frozen=True, slots=True)
class SnapshotRate:
    """How often to take snapshots: after this many statements, or seconds at Relax bindings.

    `adapts`: less often if a snapshot takes more than a twentieth of the time between two.
    """

    statements: int = 20_000
    seconds: float = 0.1
    adapts: bool = True


DEFAULT_RATE = SnapshotRate()


class Snapshots:
    """The snapshots of a session, by moment. Units: `budget` in bytes."""

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.sparse = 1
        self._list: list[Snapshot] = []
        self._last: dict[int, SavedStorage] = {}

    def take(self, moment: Moment, levels: tuple[SavedCall, ...], steps: int, printed: int) -> Snapshot:
        """Keep everything that `levels` reach; the moment must have no snapshot yet."""
        unique: Mapping[int, Storage] = {
            id(storage): storage for level in levels for storage in storages_of(level.holds())
        }
        saved = {number: save(storage, self._last.get(number)) for number, storage in unique.items()}
        self._last = saved
        snapshot = Snapshot(moment, levels, tuple(saved.values()), steps, printed)
        insort(self._list, snapshot, key=lambda snapshot: snapshot.moment)
        self._thin()
        return snapshot

    def at(self, moment: Moment) -> Snapshot | None:
        """The last snapshot not after `moment`."""
        number = bisect_left(
            self._list,
            (moment.event, moment.step + 1),
            key=lambda snapshot: (snapshot.moment.event, snapshot.moment.step),
        )
        return self._list[number - 1] if number else None

    def has(self, moment: Moment) -> bool:
        """True if `moment` has a snapshot."""
        snapshot = self.at(moment)
        return snapshot is not None and snapshot.moment == moment

    def before(self, moment: Moment) -> list[Snapshot]:
        """The snapshots before `moment`, last first."""
        return [snapshot for snapshot in reversed(self._list) if snapshot.moment < moment]

    def forget_after(self, moment: Moment) -> None:
        """Drop the snapshots at and after `moment`: they belong to another run."""
        self._list = [snapshot for snapshot in self._list if snapshot.moment < moment or snapshot.moment == BEGINNING]

    def forget(self) -> None:
        """Drop all snapshots and copies."""
        self._list.clear()
        self._last.clear()

    @property
    def nbytes(self) -> int:
        """The size of all copies."""
        copies = {id(saved): saved for snapshot in self._list for saved in snapshot.storages}
        return sum(len(saved.data) + len(saved.shadow or b"") for saved in copies.values())

    @property
    def count(self) -> int:
        """The number of snapshots."""
        return len(self._list)

    def _thin(self) -> None:
        if len(self._list) > 2 and self.nbytes > self.budget:
            self._list = [snapshot for number, snapshot in enumerate(self._list) if number % 2 == 0]
            self.sparse *= 2
