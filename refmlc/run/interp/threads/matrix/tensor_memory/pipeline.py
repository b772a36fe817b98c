"""What one thread issues on tensor memory: copies and products, in order (TIM-019).

From its issue until a thread has waited for a barrier that a commit names, an operation reserves what it reads and
writes, as a copy does. The next operations of the same thread come after it: they may read what it writes, and write it
again, so that it leaves these bytes to them.
"""

from dataclasses import dataclass, field
from typing import ClassVar, TypeGuard

from refmlc.diag import fail
from refmlc.diag.catalogue import UNINITIALISED
from refmlc.run.interp.asynchronous.barriers import BlockState, MemoryBarrier
from refmlc.run.interp.asynchronous.operations import Move, OpenOperation
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.reservations import Reserved
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor_memory import CELL, LANE_BYTES

KIND = "tcgen05"
"""The groups of a thread that hold what it has issued."""


@dataclass(slots=True, eq=False)
class TensorOperation(OpenOperation):
    """A copy or a product from its issue on. `moves`: what it writes to tensor memory, from nowhere.

    `pipeline`: what operations have in common that come in order. `form`: what products that continue in the same
    cells have in common; None: it is no product. `signals`: the phases that tell of its end.
    """

    noun: ClassVar[str] = "product or copy"
    pipeline: object = None
    form: object = None
    signals: set[tuple[MemoryBarrier, int]] = field(default_factory=set)
    _data: dict[tuple[int, int], bytes] = field(default_factory=dict)

    def issue(self) -> None:
        """Reserve its bytes; earlier ones of the pipeline leave those that it writes to it.

        Fails: RM341 where another operation has some of them, or a product of another form has cells of D.
        """
        OpenOperation.issue(self)
        self._data = {_key(move.destination.storage, move.destination.byte_offset): move.data for move in self.moves}

    def complete(self, frame: Frame, phase: object = None) -> None:
        """A thread has seen one of its phases: for threads that see another one it is complete too."""
        OpenOperation.complete(self, frame, frozenset(self.signals) if len(self.signals) > 1 else phase)

    def _reserve(self, place: Pointer, nbytes: int, *, written: bool) -> None:
        storage, start = place.storage, place.byte_offset
        for other in reserved(place, nbytes):
            owner = other.owner
            if owner is self or not (written or other.written) or not isinstance(owner, OpenOperation):
                continue
            both = written and other.written
            if not self.follows(owner) or (both and not self._continues(owner, place, nbytes)):
                verb = "writes" if written else "reads"
                raise owner.failure(f"an operation on tensor memory {verb} cells", self.span, written=other.written)
            if both:
                owner.leave(storage, other, start, start + nbytes)
        item = Reserved(start, start + nbytes, written, self)
        storage.extras.reserved.add(item)
        self._reserved.append((storage, item))

    def follows(self, owner: object) -> "TypeGuard[TensorOperation]":
        """Whether an open operation is one of the same pipeline, issued before."""
        return isinstance(owner, TensorOperation) and owner.pipeline == self.pipeline

    def _continues(self, owner: "TensorOperation", place: Pointer, nbytes: int) -> bool:
        """Whether it may write cells that another one writes: not two products of other forms, or other cells."""
        if self.form is None or owner.form is None:
            return True
        return owner.form == self.form and owner.writes(place, nbytes)

    def writes(self, place: Pointer, nbytes: int) -> bool:
        """Whether these bytes are those of one of its moves."""
        return len(self._data.get(_key(place.storage, place.byte_offset), b"")) == nbytes

    def leave(self, storage: Storage, item: Reserved, start: int, end: int) -> None:
        """A later operation writes the bytes `start` … `end` - 1, of which it has reserved `item`."""
        data = self._data.pop(_key(storage, item.start))
        place = next(m for m in self.moves if m.destination == Pointer(storage, item.start, m.destination.base))
        storage.extras.reserved.remove(item)
        self._reserved.remove((storage, item))
        moves = [move for move in self.moves if move is not place]
        for first, last in ((item.start, min(start, item.end)), (max(end, item.start), item.end)):
            if first < last:
                piece = data[first - item.start : last - item.start]
                moves.append(Move(place.destination.moved(first - item.start), None, piece))
                self._data[_key(storage, first)] = piece
                rest = Reserved(first, last, True, self)
                storage.extras.reserved.add(rest)
                self._reserved.append((storage, rest))
        self.moves = moves

    def written_at(self, storage: Storage, item: Reserved) -> bytes:
        """What it writes to bytes that it has reserved."""
        return self._data[_key(storage, item.start)]


def _key(storage: Storage, start: int) -> tuple[int, int]:
    return id(storage), start


def reserved(place: Pointer, nbytes: int) -> list[Reserved]:
    """What reserves any of the bytes, each reservation once."""
    return list({id(item): item for item in place.storage.reserved_at(place.byte_offset, nbytes)}.values())


def issue(block: BlockState, thread: int, operation: TensorOperation) -> None:
    """A thread issues an operation. Fails: RM341."""
    operation.waits_for.add(thread)
    block.issue(operation)
    issued = block.groups_of(KIND, thread)
    issued.uncommitted = [*(earlier for earlier in issued.uncommitted if earlier.is_open), operation]


def content(place: Pointer, nbytes: int, reader: TensorOperation, what: str) -> bytes:
    """What an operation that is being issued finds in cells: also what earlier ones of its pipeline will write there.

    Fails: RM305, RM341.
    """
    storage, start = place.storage, place.byte_offset
    data = bytearray(storage.bytes[start : start + nbytes])
    known = set[int]()
    for item in reserved(place, nbytes):
        owner = item.owner
        if not item.written:
            continue
        if not reader.follows(owner):
            assert isinstance(owner, OpenOperation)  # noqa: S101 - others reserve nothing
            raise owner.failure(f"{what} reads cells", reader.span, written=True)
        first, last = max(item.start, start), min(item.end, start + nbytes)
        data[first - start : last - start] = owner.written_at(storage, item)[first - item.start : last - item.start]
        known.update(range(first, last, CELL))
    lacking = [at for at in range(start, start + nbytes, CELL) if at not in known]
    if lacking and not (len(lacking) * CELL == nbytes and storage.is_initialised(start, nbytes)):
        for at in lacking:
            if not storage.is_initialised(at, min(CELL, start + nbytes - at)):
                raise fail(UNINITIALISED, _never_written(at, what), reader.span)
    return bytes(data)


def _never_written(at: int, what: str) -> str:
    lane, rest = divmod(at, LANE_BYTES)
    return f"{what} reads lane {lane}, column {rest // CELL} of tensor memory, which was never written"


def commit(block: BlockState, thread: int, barrier: MemoryBarrier) -> None:
    """The current phase of a barrier completes what a thread has issued and is not complete."""
    for operation in block.groups_of(KIND, thread).uncommitted:
        if isinstance(operation, TensorOperation) and operation.is_open:
            operation.signals.add((barrier, barrier.phase))
            barrier.attach(operation)
