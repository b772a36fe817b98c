"""Memory of the blocks of a cluster: the n-th allocation of a buffer in each of them (TIX-030).

The shared memory of a block is there before its threads run: another block may be the first to reach it. Two places are
*the same* in two blocks where they are the same bytes of the same allocation.
"""

from collections.abc import Callable
from typing import TypeAlias

from refmlc.run.interp.tensorir.frame import Frame, Slot
from refmlc.run.interp.tensorir.placed import view_placed
from refmlc.run.interp.tensorir.views import BufferPlace, View, view_on
from refmlc.run.memory.pointer import Pointer

Key: TypeAlias = "tuple[Slot[View], int, int]"
"""The buffer, the number of the allocation, and the block."""
Make: TypeAlias = Callable[[Frame], View]


class ClusterMemory:
    """The buffers that the threads of each block allocate together."""

    def __init__(self) -> None:
        self._views: dict[Key, View] = {}
        self._origins: dict[int, tuple[Key, Make]] = {}
        self._counts: dict[tuple[Slot[View], int], int] = {}
        self._frames: list[Frame] = []
        self._left: dict[int, int] = {}

    def allocate(self, place: BufferPlace, frame: Frame, block: int, make: Make) -> View:
        """The buffer of a block: the same for the n-th allocation of each of its threads."""
        thread = (place.view, id(frame))
        if thread not in self._counts:
            self._frames.append(frame)  # alive, so that its id stays its own
        number = self._counts.get(thread, 0)
        self._counts[thread] = number + 1
        return self._at((place.view, number, block), frame, make)

    def _at(self, key: Key, frame: Frame, make: Make) -> View:
        view = self._views.get(key)
        if view is None:
            view = self._views[key] = make(frame)
            self._origins[id(view.data.storage)] = key, make
            view.data.storage.extras.block = key[2]
        return view

    def owner(self, place: Pointer) -> int | None:
        """The block whose memory a place is in; None: it is of none."""
        origin = self._origins.get(id(place.storage))
        return None if origin is None else origin[0][2]

    def end(self, block: int, threads: int) -> None:
        """One of the threads of a block has ended."""
        self._left[block] = self._left.get(block, threads) - 1

    def is_over(self, block: int) -> bool:
        """Whether all threads of a block have ended, and its memory with them."""
        return self._left.get(block, 1) == 0

    def same(self, place: Pointer, block: int, frame: Frame) -> Pointer | None:
        """The same place in another block; None: it is in memory of no block."""
        origin = self._origins.get(id(place.storage))
        if origin is None:
            return None
        (slot, number, owner), make = origin
        if owner == block:
            return place
        storage = self._at((slot, number, block), frame, make).data.storage
        return Pointer(storage, place.byte_offset, _moved(place, Pointer(storage)))


def _moved(place: Pointer, storage: Pointer) -> object:
    """The view by which a place is named, on the memory of another block."""
    view = place.base
    if not isinstance(view, View) or view.data.storage is not place.storage:
        return view
    data = storage.moved(view.data.byte_offset)
    if view.addresses is not None:
        return view_placed(view.buffer, data, view.shape, view.offset)
    return view_on(view.buffer, data, view.shape, view.strides, view.offset)
