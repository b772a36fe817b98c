"""Storage: bytes, and a shadow that marks those that were written.

The shadow holds one byte per *unit* of `unit` bytes: not 0 when the whole unit was written. A write makes it 1; it is 2
from when an asynchronous operation reads the unit until the next write (`overwrites`). A unit of which only
some bytes were written (through a view with smaller or shifted elements) is 0 in the shadow and has its bytes in
`partial`, a bit each. So a half written unit never counts as written, and all views of one storage stay coherent
whatever their element size.

| unit | chosen                                                                                  |
|------|-----------------------------------------------------------------------------------------|
| n    | by the allocation: the element size                                                     |
| 0    | later, by the first typed view (workspaces, storages that hold several tensors)         |

There is no shadow until one is read or only some bytes are written: `_uniform` says that all are written, or none.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from weakref import ReferenceType, ref

import numpy as np

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import BAD_EXTENT, MEMORY_EXHAUSTED
from refmlc.run.memory.array_memory import ByteArray, bytes_of
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.reservations import Reservations, Reserved

ALIGNMENT = 64
WRITTEN, READ = 1, 2
"""Marks of units in the shadow."""


@dataclass(slots=True)
class Extras:
    """The state that few storages need.

    `partial`: the written bytes of units that are not written as a whole, a bit each, by the number of the unit.
    `objects`: the objects of stored handles, by the number in memory. `pieces`: start, end and storage of each
    piece. `lent`: how many foreign functions hold the storage at this moment. `reserved`: the bytes of operations
    that are not complete. `space`: the scope of the buffer that it was allocated for. `held`: values without a number
    that stand in place of elements, and their sizes, by the first byte. `block`: the block of a cluster whose shared
    memory it is; None: of none.
    """

    partial: dict[int, int] = field(default_factory=dict)
    objects: dict[int, object] = field(default_factory=dict)
    pieces: list[tuple[int, int, ReferenceType["Storage"]]] = field(default_factory=list)
    lent: int = 0
    reserved: Reservations = field(default_factory=Reservations)
    space: str = "global"
    held: dict[int, tuple[int, object]] = field(default_factory=dict)
    block: int | None = None


class Storage:
    """A piece of memory with identity, byte addressed.

    `bytes` and `array` are the same memory; `origin` and `span` say what allocated it, and where;
    `alive` is False after a kill; `writable` is False for read-only memory of a caller; `whole` is the storage that
    this one is a piece of. Fresh memory is zero (so that runs repeat exactly) but not initialised.
    """

    __slots__ = (
        "__weakref__",
        "_array",
        "_charged",
        "_extras",
        "_room",
        "_shadow",
        "_uniform",
        "alive",
        "budget",
        "nbytes",
        "origin",
        "span",
        "unit",
        "whole",
        "writable",
    )

    def __init__(
        self,
        nbytes: int,
        *,
        unit: int = 1,
        initialised: bool = False,
        origin: str = "",
        span: Span | None = None,
        budget: Budget | None = None,
    ) -> None:
        """Allocate `nbytes` bytes and charge them to `budget` until the storage is killed or unreachable.

        Fails: RM315 (negative size), RM603.
        """
        self._charged = 0
        self.budget = budget
        what = origin or "an allocation"
        if nbytes < 0:
            raise fail(BAD_EXTENT, f"{what} has a negative size: {nbytes} bytes", span)
        if budget is not None:
            budget.charge_bytes(nbytes, span, what=what)
            self._charged = nbytes
        try:
            room = np.zeros(nbytes + ALIGNMENT - 1, np.uint8)
            self._adopt(_aligned(room, nbytes), unit, initialised=initialised)
        except (MemoryError, ValueError, OverflowError):
            self._give_back()
            raise fail(MEMORY_EXHAUSTED, f"{what} takes {nbytes} bytes, more than the machine gives", span) from None
        self.origin = origin
        self.span = span

    @classmethod
    def from_array(cls, array: np.ndarray, *, origin: str = "", span: Span | None = None) -> "Storage":
        """The memory that `array` lies in, shared, from its lowest address on; all of it counts as initialised."""
        self = cls.__new__(cls)
        self._charged = 0
        self.budget = None
        self._adopt(bytes_of(array), array.itemsize, initialised=True)
        self.origin = origin
        self.span = span
        return self

    @classmethod
    def filled(cls, room: ByteArray, nbytes: int, unit: int, budget: Budget, origin: str) -> "Storage":
        """The `nbytes` bytes of `room` from the first address that `ALIGNMENT` divides, all written already.

        `room` holds `ALIGNMENT` bytes more, or one less. They are charged to `budget`, which must have them. This
        is the fastest way to a storage: it computes the first address when `array` is first read.
        """
        self = cls.__new__(cls)
        budget.bytes += nbytes
        self._charged = self.nbytes = nbytes
        self.budget = budget
        self._room, self._array = room, None
        self.unit = unit
        self.alive = self.writable = self._uniform = True
        self.whole = self.span = self._shadow = self._extras = None
        self.origin = origin
        return self

    @classmethod
    def piece_of(
        cls, whole: "Storage", offset: int, nbytes: int, unit: int, *, origin: str = "", span: Span | None = None
    ) -> "Storage":
        """`nbytes` bytes of `whole` as a storage of its own, uninitialised; earlier pieces that lay there are killed.

        The range must lie inside. A write to a piece counts as written in that piece only.
        """
        self = cls.__new__(cls)
        self._charged = 0
        self.budget = None
        self._adopt(whole.array[offset : offset + nbytes], unit, initialised=False)
        self.origin = origin
        self.span = span
        self.whole = whole
        disjoint = []
        for start, end, reference in whole.extras.pieces:
            earlier = reference()
            if earlier is not None and start < offset + nbytes and offset < end:
                earlier.kill()
            elif earlier is not None:
                disjoint.append((start, end, reference))
        whole.extras.pieces = [*disjoint, (offset, offset + nbytes, ref(self))]
        return self

    def _adopt(self, array: ByteArray, unit: int, *, initialised: bool) -> None:
        self._room = array
        self._array: ByteArray | None = array
        self.nbytes = array.nbytes
        self.writable = array.flags.writeable
        self.unit = unit
        self.alive = True
        self.whole: Storage | None = None
        self._uniform = initialised
        self._shadow: bytearray | None = None
        self._extras: Extras | None = None

    def __del__(self) -> None:
        """Give the bytes back to the budget."""
        if self._charged and self.budget is not None:
            self.budget.bytes -= self._charged

    @property
    def extras(self) -> Extras:
        """The state that few storages need, made when first read."""
        if self._extras is None:
            self._extras = Extras()
        return self._extras

    @property
    def space(self) -> str:
        """The scope of the buffer that it was allocated for; memory of a caller is global."""
        return "global" if self._extras is None else self._extras.space

    @property
    def block(self) -> int | None:
        """The block of a cluster whose shared memory it is; None: of none."""
        return None if self._extras is None else self._extras.block

    @property
    def partial(self) -> dict[int, int]:
        """The written bytes of units that are not written as a whole, a bit each, by the number of the unit."""
        return self.extras.partial

    @property
    def objects(self) -> dict[int, object]:
        """The objects of stored handles, by the number in memory."""
        return self.extras.objects

    @property
    def array(self) -> ByteArray:
        """The memory, as an array of bytes."""
        if self._array is None:
            self._array = _aligned(self._room, self.nbytes)
        return self._array

    @property
    def bytes(self) -> memoryview:
        """The memory, byte by byte."""
        return self.array.data

    @property
    def shadow(self) -> bytearray:
        """One byte per unit, not 0 when the whole unit is initialised. An undecided unit becomes 1 byte."""
        if self._shadow is None:
            self.settle(1)
            count = -(-self.nbytes // self.unit)
            self._shadow = bytearray(b"\1") * count if self._uniform else bytearray(count)
        return self._shadow

    @property
    def all_initialised(self) -> bool:
        """True if all bytes are written and there is no shadow."""
        return self._uniform and self._shadow is None

    def settle(self, unit: int) -> None:
        """Decide the unit, if it is not decided yet."""
        if self.unit == 0:
            self.unit = unit

    def kill(self) -> None:
        """End the life of this memory: its bytes go back to the budget, and no element counts as initialised."""
        self.alive = self._uniform = False
        if self._shadow is not None:
            self._shadow[:] = bytes(len(self._shadow))
        if self._extras is not None:
            self._extras.partial.clear()
        self._give_back()

    def _give_back(self) -> None:
        if self.budget is not None and self._charged:
            self.budget.release_bytes(self._charged)
            self._charged = 0

    def initialise(self, offset: int, nbytes: int) -> None:
        """Mark `nbytes` bytes from `offset` on as written."""
        if self._shadow is None and (self._uniform or (offset == 0 and nbytes == self.nbytes)):
            self._uniform = True
            return
        shadow = self.shadow
        unit, last = self.unit, offset + nbytes
        first_whole = -(-offset // unit)
        end_whole = len(shadow) if last >= self.nbytes else last // unit
        if first_whole < end_whole:
            shadow[first_whole:end_whole] = b"\1" * (end_whole - first_whole)
        if first_whole * unit > offset:
            self._mark(offset // unit, offset % unit, min(unit, offset % unit + nbytes))
        if end_whole >= first_whole and end_whole * unit < last:
            self._mark(end_whole, 0, last - end_whole * unit)

    def is_initialised(self, offset: int, nbytes: int) -> bool:
        """Whether all of `nbytes` bytes from `offset` on were written."""
        if self._shadow is None:
            return self._uniform or nbytes == 0
        shadow, unit, last = self._shadow, self.unit, offset + nbytes
        end = -(-last // unit)
        first_open = shadow.find(0, offset // unit, end)
        if first_open < 0:
            return True
        for number in range(first_open, end):
            if not shadow[number]:
                needed = self.mask(number, offset, last)
                if self.partial.get(number, 0) & needed != needed:
                    return False
        return True

    def forget(self, offset: int, nbytes: int) -> None:
        """Mark `nbytes` bytes from `offset` on as not written; other bytes of their units stay as they are."""
        if nbytes == 0:
            return
        shadow, unit, last = self.shadow, self.unit, offset + nbytes
        first, end = offset // unit, -(-last // unit)
        rewritten = self.extras.reserved.rewritten
        for number in [number for number in rewritten if first <= number < end and shadow[number] == WRITTEN]:
            rewritten[number] = self.mask(number)
        borders = {first, end - 1} if offset % unit or nbytes % unit else ()
        left = {number: self._written(number) & ~self.mask(number, offset, last) for number in borders}
        shadow[first:end] = bytes(end - first)
        for number in [number for number in self.partial if first <= number < end]:
            del self.partial[number]
        self.partial.update((number, bits) for number, bits in left.items() if bits)
        self.let_go(offset, nbytes)

    def is_any_initialised(self, offset: int, nbytes: int) -> bool:
        """Whether any of `nbytes` bytes from `offset` on was written."""
        unit, last = self.unit, offset + nbytes
        first, end = offset // unit, -(-last // unit)
        if self.shadow.find(WRITTEN, first, end) >= 0 or self.shadow.find(READ, first, end) >= 0:
            return True
        numbers = (number for number in self.partial if first <= number < end)
        return any(self.partial[number] & self.mask(number, offset, last) for number in numbers)

    def hold(self, offset: int, nbytes: int, value: object) -> None:
        """Put a value without a number in place of an element, which counts as not written."""
        self.forget(offset, nbytes)
        self.extras.held[offset] = nbytes, value
        self.tell_readers(offset, nbytes)

    def let_go(self, offset: int, nbytes: int) -> None:
        """Elements among `nbytes` bytes from `offset` on hold no value without a number any more."""
        if self._extras is not None and self._extras.held:
            for start, (size, _) in list(self._extras.held.items()):
                if start < offset + nbytes and offset < start + size:
                    del self._extras.held[start]

    def held_at(self, offset: int, nbytes: int) -> object:
        """The value without a number that stands in place of an element; None: there is none."""
        if self._extras is None or not self._extras.held:
            return None
        size, value = self._extras.held.get(offset, (0, None))
        return value if size == nbytes and not self.is_any_initialised(offset, nbytes) else None

    def reserved_at(self, offset: int, nbytes: int) -> Iterator[Reserved]:
        """What reserves any of `nbytes` bytes from `offset` on."""
        return iter(()) if self._extras is None else self._extras.reserved.at(offset, offset + nbytes)

    def tell_readers(self, offset: int, nbytes: int) -> None:
        """A statement has written `nbytes` bytes from `offset` on, which count as not written now."""
        for item in self.reserved_at(offset, nbytes):
            item.overwritten = True

    def _mark(self, number: int, start: int, stop: int) -> None:
        """Bytes `start` … `stop` - 1 of unit `number` were written."""
        shadow, bits, mark = self.shadow, _mask(start, stop), WRITTEN
        rewritten = self.extras.reserved.rewritten
        if number in rewritten and shadow[number] != WRITTEN:
            rewritten[number] |= bits
            mark = READ
        written = self._written(number) | bits
        if written == self.mask(number):
            shadow[number] = mark
            self.partial.pop(number, None)
        else:
            self.partial[number] = written

    def _written(self, number: int) -> int:
        """The bytes of a unit that were written, a bit each."""
        return self.mask(number) if self.shadow[number] else self.partial.get(number, 0)

    def mask(self, number: int, offset: int = 0, end: int | None = None) -> int:
        """The bytes of unit `number` that are in `offset` … `end` - 1, a bit each; the last unit may be shorter."""
        start, last = number * self.unit, self.nbytes if end is None else end
        return _mask(max(offset - start, 0), min(last - start, self.unit))


def _aligned(room: ByteArray, nbytes: int) -> ByteArray:
    """The part of `room` from the first address that `ALIGNMENT` divides, as TVM requires of DLPack's memory."""
    first = -room.__array_interface__["data"][0] % ALIGNMENT
    return room[first : first + nbytes]


def _mask(start: int, stop: int) -> int:
    return (1 << stop) - (1 << start)
