"""Pointers: a storage and a byte in it. Null is None."""

from dataclasses import dataclass

from refmlc.run.memory.storage import Storage


@dataclass(frozen=True, slots=True)
class Pointer:
    """A place in memory. Equal pointers have the same storage (identity) and offset; comparing others is undefined."""

    storage: Storage
    byte_offset: int = 0

    def moved(self, nbytes: int) -> "Pointer":
        """The pointer `nbytes` bytes further on; it need not point into the storage until it is used."""
        return Pointer(self.storage, self.byte_offset + nbytes)
