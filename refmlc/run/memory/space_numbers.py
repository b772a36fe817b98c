"""Numbers of addresses in a state space of 18 bits: those of the shared memory of a block (TIM-012)."""

from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.storage import Storage

SPACE, BOUNDARY = 1 << 18, 1024
"""Units: bytes. Each memory begins at a multiple of `BOUNDARY`."""


class SpaceNumbers:
    """The memories that have numbers, in order: a storage has one from the first request on."""

    def __init__(self) -> None:
        self._memories: list[tuple[int, Pointer]] = []
        self._starts: dict[int, int] = {}
        self._end = 0

    def of(self, place: Pointer) -> int | None:
        """The number of a place; None where the space has no room for its memory."""
        storage = place.storage
        if id(storage) not in self._starts:
            if self._end + storage.nbytes > SPACE:
                return None
            self._starts[id(storage)] = self._end
            self._memories.append((self._end, Pointer(storage, 0, place.base)))
            self._end += _rounded(storage)
        return self._starts[id(storage)] + place.byte_offset

    def place(self, number: int) -> Pointer | None:
        """The place with a number; None where no memory has it."""
        for start, memory in self._memories:
            if start <= number < start + memory.storage.nbytes:
                return memory.moved(number - start)
        return None


def _rounded(storage: Storage) -> int:
    return -(-storage.nbytes // BOUNDARY) * BOUNDARY
