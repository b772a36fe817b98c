"""`copy_async` between tensor memory and registers, or from shared memory to it (TMM-007).

| destination, source   | threads      | is complete when                                                             |
|-----------------------|--------------|------------------------------------------------------------------------------|
| registers, tensor     | a warpgroup  | each thread has waited with `tcgen05.wait::ld`                               |
| tensor, registers     | a warpgroup  | each warp has waited with `tcgen05.wait::st`                                 |
| tensor, shared        | one          | a thread has seen the phase that `tcgen05.commit` of this one arrives at     |

Registers have a layout that says which thread has which element; its warp is one that may access the lane of the cell.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from refmlc.diag import fail
from refmlc.diag.catalogue import OUT_OF_BOUNDS, TENSOR_MEMORY_MISUSE
from refmlc.lang.ir.tirx import TilePrimitiveCall
from refmlc.run.interp.asynchronous.barriers import BlockState
from refmlc.run.interp.asynchronous.operations import Move, OpenOperation, OperationSource
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.tensorir.tensor_memory import TensorPlaces, cell_of
from refmlc.run.interp.threads.group import WARP, Thread
from refmlc.run.interp.threads.matrix.tensor_memory.allocation import allocations
from refmlc.run.interp.threads.matrix.tensor_memory.cells import QUARTERS
from refmlc.run.interp.threads.matrix.tensor_memory.pipeline import TensorOperation, issue
from refmlc.run.interp.threads.matrix.tensor_memory.transfers import LOADS, STORES, OpenLoad, OpenStore
from refmlc.run.interp.tirx.primitives.elementwise import same_element
from refmlc.run.interp.tirx.primitives.operands import TileOperands
from refmlc.run.interp.tirx.primitives.shapes import indices
from refmlc.run.interp.tirx.tiles import MemoryTile, OwnedTile
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.tensor_memory import LANES, TensorMemory

MEMORY = "tmem"
Pairs: TypeAlias = Sequence[tuple[tuple[int, ...], tuple[int, ...]]]
"""The index of each element in the destination, and in the source."""


def is_in_tensor_memory(tile: object) -> bool:
    """Whether a tile is of a buffer in tensor memory."""
    return isinstance(tile, MemoryTile) and tile.corner.view.buffer.scope == MEMORY


@dataclass(slots=True)
class MovedPart:
    """What one thread, or the warp that it is the first of, moves."""

    moves: list[tuple[Pointer, bytes]] = field(default_factory=list)
    sources: list[tuple[Pointer, bytes]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class TensorCopy:
    """A call whose destination or source is in tensor memory, with its operands."""

    call: TilePrimitiveCall
    scope: Scope
    operands: TileOperands
    members: Sequence[Thread]
    frame: Frame

    def issue(self, to: MemoryTile | OwnedTile, source: MemoryTile | OwnedTile) -> None:
        """The threads issue it. Fails: RM201, RM202, RM304, RM305, RM341, RM351, RM504, as the views do."""
        pick = same_element(self.operands).pick
        assert pick is not None  # noqa: S101 - a source that is a tile has one
        pairs = [(index, pick(index)) for index in indices(to.shape)]
        if isinstance(to, OwnedTile) and isinstance(source, MemoryTile) and is_in_tensor_memory(source):
            self._load(to, source, pairs)
        elif isinstance(source, OwnedTile) and isinstance(to, MemoryTile) and is_in_tensor_memory(to):
            self._store(to, source, pairs)
        elif isinstance(to, MemoryTile) and isinstance(source, MemoryTile) and len(self.members) == 1:
            self._copy(to, source, pairs)
        else:
            raise self.operands.unsupported("these two memories, or by this number of threads")

    def _load(self, to: OwnedTile, source: MemoryTile, pairs: Pairs) -> None:
        size, parts = cell_size(to.dtype), dict[int, MovedPart]()
        memory = self._memory()
        for index, place in pairs:
            cell = _pointers(source, place, size)[0]
            self._check_lane(cell)
            source.load(place)
            data = bytes(cell.storage.bytes[cell.byte_offset : cell.byte_offset + size])
            for thread, view, offset in to.homes(index, "writes"):
                self._check(memory, cell, thread)
                register = Pointer(view.data.storage, view.data.byte_offset + (view.offset + offset) * size, view)
                parts.setdefault(thread, MovedPart()).moves.append((register, data))
                parts.setdefault(thread // WARP * WARP, MovedPart()).sources.append((cell, data))
        for member in self._by_number(parts):
            part = parts[member.number]
            moves = [Move(place, None, data) for place, data in joined(part.moves)]
            copy = OpenLoad(moves, to.corner.view.buffer.name, self.call.span, _untold, {member.index})
            copy.sources = [OperationSource.read(place, len(data)) for place, data in joined(part.sources)]
            self._begin(copy, LOADS, member)

    def _store(self, to: MemoryTile, source: OwnedTile, pairs: Pairs) -> None:
        size, parts = cell_size(to.dtype), dict[int, MovedPart]()
        memory = self._memory()
        for index, place in pairs:
            source.load(place)
            thread, view, offset = source.homes(place, "reads")[0]
            start = view.data.byte_offset + (view.offset + offset) * size
            data = bytes(view.data.storage.bytes[start : start + size])
            to.offset(index)  # in bounds
            for cell in _pointers(to, index, size):
                self._check(memory, cell, thread)
                parts.setdefault(thread // WARP * WARP, MovedPart()).moves.append((cell, data))
        for member in self._by_number(parts):
            moves = [Move(place, None, data) for place, data in joined(parts[member.number].moves)]
            name = to.corner.view.buffer.name
            self._begin(OpenStore(moves, name, self.call.span, _untold, {member.index}), STORES, member)

    def _copy(self, to: MemoryTile, source: MemoryTile, pairs: Pairs) -> None:
        if not (is_in_tensor_memory(to) and source.corner.view.buffer.scope.startswith("shared")):
            raise self.operands.unsupported("these two memories, or by this number of threads")
        size, part, memory = cell_size(to.dtype), MovedPart(), self._memory()
        for index, place in pairs:
            source.load(place)
            view = source.corner.view
            start = view.data.byte_offset + (view.offset + source.offset(place)) * size
            data = bytes(view.data.storage.bytes[start : start + size])
            if to.writing is not None:
                to.writing(to.offset(index))
            part.sources.append((Pointer(view.data.storage, start, view), data))
            for cell in _pointers(to, index, size):
                self._check(memory, cell, None)
                part.moves.append((cell, data))
        moves = [Move(place, None, data) for place, data in joined(part.moves)]
        (member,) = self.members
        name = to.corner.view.buffer.name
        copy = TensorOperation(moves, name, self.call.span, _untold, pipeline=member.index)
        copy.sources = [OperationSource.read(place, len(data)) for place, data in joined(part.sources)]
        issue(self._block(), member.index, copy)

    def _begin(self, copy: OpenOperation, kind: str, member: Thread) -> None:
        self._block().issue(copy)
        self._block().groups_of(kind, member.index).uncommitted.append(copy)

    def _block(self) -> BlockState:
        group = self.frame[self.scope.group]
        assert group is not None  # noqa: S101 - such threads are in a group
        return group.asynchronous

    def _memory(self) -> TensorMemory:
        group = self.frame[self.scope.group]
        assert group is not None  # noqa: S101 - such threads are in a group
        return group.tensor_memory(self.frame, self.scope.machine.budget)

    def _by_number(self, parts: dict[int, MovedPart]) -> Iterable[Thread]:
        return (member for member in self.members if member.number in parts)

    def _check(self, memory: TensorMemory, cell: Pointer, thread: int | None) -> None:
        """Fails: RM304, RM351 where a cell is not allocated, RM504 where the warp of the thread may not access it."""
        self._check_lane(cell)
        lane, column = cell_of(cell.byte_offset)
        if not memory.is_allocated(column):
            message = f"`{self.operands.name}` accesses column {column} of tensor memory; {allocations(memory)}"
            raise fail(TENSOR_MEMORY_MISUSE, message, self.call.span)
        if thread is not None and lane // WARP != thread // WARP % QUARTERS:
            raise self.operands.unsupported(f"lane {lane} of tensor memory and registers of thread {thread}")

    def _check_lane(self, cell: Pointer) -> None:
        """Fails: RM304 where a layout puts an element, or a copy of it, into a lane that there is not."""
        lane, _ = cell_of(cell.byte_offset)
        if not 0 <= lane < LANES:
            message = f"`{self.operands.name}` reaches lane {lane} of tensor memory, which has {LANES}"
            raise fail(OUT_OF_BOUNDS, message, self.call.span)


def _untold(_frame: Frame, _phase: object) -> None:
    """Hooks see no registers of several threads, as of any tile primitive."""


def _pointers(tile: MemoryTile, index: tuple[int, ...], size: int) -> list[Pointer]:
    """The cells of an element in bounds."""
    view = tile.corner.view
    position = tuple([low + place for low, place in zip(tile.corner.mins, index, strict=True)])
    offsets = view.addresses.offsets(position) if isinstance(view.addresses, TensorPlaces) else ()
    return [Pointer(view.data.storage, view.data.byte_offset + offset * size, view) for offset in offsets]


def joined(pieces: Sequence[tuple[Pointer, bytes]]) -> list[tuple[Pointer, bytes]]:
    """Pieces by their places, those that follow each other as one; a place has one piece."""
    ordered = sorted({(id(place.storage), place.byte_offset): (place, data) for place, data in pieces}.items())
    found: list[tuple[Pointer, list[bytes], int]] = []
    for _, (place, data) in ordered:
        if found and found[-1][0].storage is place.storage and found[-1][2] == place.byte_offset:
            first, parts, _ = found[-1]
            parts.append(data)
            found[-1] = first, parts, place.byte_offset + len(data)
        else:
            found.append((place, [data], place.byte_offset + len(data)))
    return [(place, b"".join(parts)) for place, parts, _ in found]
