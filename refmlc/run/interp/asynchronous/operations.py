"""Open operations: what they reserve, and when they are complete (TIA-002).

All that is asynchronous is one: copies, boxes, stores, products of matrices, loads and stores of tensor memory. From
its issue to its completion an operation reserves its destination, which counts as not written, and its sources. So

| access while it is open                 | is found                                                                  |
|-----------------------------------------|---------------------------------------------------------------------------|
| a read of the destination               | at once: no element of it counts as written                               |
| a write to the destination              | at the completion, or the end of the block: it counts as written          |
| a write to the source, of any value     | at the completion, or the end of the block: its marks tell (`overwrites`) |
| another operation on either             | at once, unless both only read it                                         |

An operation is complete when everyone it waits for has waited: the threads that issued it, or a phase of a barrier.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

from refmlc.diag import Diagnostic, Related, Span, error
from refmlc.diag.catalogue import OPEN_OPERATION
from refmlc.diag.errors import RefmlcError
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.memory.overwrites import is_overwritten, land, settle, watch
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.reservations import Reserved
from refmlc.run.memory.storage import Storage

Report: TypeAlias = Callable[[Frame, object], None]


@dataclass(frozen=True, slots=True)
class Move:
    """Bytes from a place to a place; where `source` is None, `data` comes from nowhere: zeros."""

    destination: Pointer
    source: Pointer | None
    data: bytes

    @property
    def nbytes(self) -> int:
        """The number of bytes."""
        return len(self.data)


@dataclass(frozen=True, slots=True)
class OperationSource:
    """Bytes that an operation has read, which do not stay together in its destination. They are watched."""

    place: Pointer
    nbytes: int

    @classmethod
    def read(cls, place: Pointer, nbytes: int) -> "OperationSource":
        """Bytes that are read now."""
        watch(place.storage, place.byte_offset, nbytes)
        return cls(place, nbytes)


@dataclass(slots=True, eq=False)
class OpenOperation:
    """An operation from its issue on. `into`: the name of its destination.

    `written` reports its elements to hooks: as written by a thread, or by the operation when a phase completes it, or
    several threads do.
    `outlives`: its destination is in memory that stays when the block ends.
    `sources`: what it reads beside the sources of its moves. `noun`: as messages call it.
    """

    noun: ClassVar[str] = "copy"
    moves: Sequence[Move]
    into: str
    span: Span | None
    written: "Report"
    waits_for: set[int] = field(default_factory=set)
    outlives: bool = False
    of_several: bool = False
    sources: Sequence[OperationSource] = ()
    _reserved: list[tuple[Storage, Reserved]] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        """Whether it has been issued and is not complete."""
        return bool(self._reserved)

    def issue(self) -> None:
        """Reserve its bytes. Fails: RM341 where another open operation has some of them."""
        for move in self.moves:
            to = move.destination
            self._reserve(to, move.nbytes, written=True)
            settle(to.storage, to.byte_offset, move.nbytes)
            to.storage.forget(to.byte_offset, move.nbytes)
            if move.source is not None:
                watch(move.source.storage, move.source.byte_offset, move.nbytes)
                self._reserve(move.source, move.nbytes, written=False)
        for source in self.sources:
            self._reserve(source.place, source.nbytes, written=False)

    def _reserve(self, place: Pointer, nbytes: int, *, written: bool) -> None:
        storage, start = place.storage, place.byte_offset
        for other in storage.reserved_at(start, nbytes):
            if (written or other.written) and other.owner is not self and isinstance(other.owner, OpenOperation):
                verb = "writes" if written else "reads"
                raise other.owner.failure(f"a {self.noun} {verb} memory", self.span, written=other.written)
        item = Reserved(start, start + nbytes, written, self)
        storage.extras.reserved.add(item)
        self._reserved.append((storage, item))

    def complete(self, frame: Frame, phase: object = None) -> None:
        """Write the destination: a thread has waited for its group, or for a phase.

        Fails: RM341 where an element was accessed meanwhile.
        """
        self.check()
        self.written(frame, phase)
        self._write()

    def _write(self) -> None:
        for storage, item in self._reserved:
            storage.extras.reserved.remove(item)
        self._reserved.clear()
        for move in self.moves:
            land(move.destination.storage, move.destination.byte_offset, move.data)

    def end_sources(self) -> None:
        """Its sources have been read. Fails: RM341 where one was written since its issue."""
        self._check_sources()
        for storage, item in [pair for pair in self._reserved if not pair[1].written]:
            storage.extras.reserved.remove(item)
        self._reserved = [pair for pair in self._reserved if pair[1].written]
        self.moves = [Move(move.destination, None, move.data) for move in self.moves]
        self.sources = ()

    def end(self) -> None:
        """The block ends: what only has to be written to memory that stays is there for who comes after.

        Fails: RM341 where an operation on such memory has not read its sources.
        """
        if self.waits_for and self.outlives:
            if self.sources or any(move.source is not None for move in self.moves):
                raise self.failure("the block ends, and with it the shared memory", self.span, written=False)
            self._write()

    def check(self) -> None:
        """Fails: RM341 where its destination or its source was written since its issue."""
        for move in self.moves:
            to = move.destination
            if to.storage.is_any_initialised(to.byte_offset, move.nbytes):
                raise self.failure("a statement writes memory", self.span, written=True)
        self._check_sources()

    def _check_sources(self) -> None:
        for storage, item in self._reserved:
            if not item.written and (item.overwritten or is_overwritten(storage, item.start, item.end - item.start)):
                raise self.failure("a statement writes memory", self.span, written=False)

    def failure(self, what: str, span: Span | None, *, written: bool) -> RefmlcError:
        """The failure of an access to memory that this operation reads or writes."""
        verb = "writes" if written else "reads"
        message = f"{what} that a {self.noun} into `{self.into}`, which is not complete, {verb}"
        related = () if span is self.span else (Related(f"the {self.noun} is issued here", self.span),)
        return error(Diagnostic(OPEN_OPERATION, message, span, "", (), related))


@dataclass(slots=True)
class Groups:
    """The operations of one thread: not committed, and the groups that are, in order."""

    uncommitted: list[OpenOperation] = field(default_factory=list)
    committed: list[list[OpenOperation]] = field(default_factory=list)

    def commit(self) -> None:
        """All that is not committed becomes a group, even where it is none."""
        self.committed.append(self.uncommitted)
        self.uncommitted = []

    def wait(self, thread: int, left: int, frame: Frame) -> None:
        """All groups but the `left` last ones are complete, as far as the thread is concerned."""
        count = max(len(self.committed) - left, 0)
        for group in self.committed[:count]:
            for operation in group:
                operation.waits_for.discard(thread)
                if not operation.waits_for:
                    operation.complete(frame, operation if operation.of_several else None)
        del self.committed[:count]

    def wait_for_sources(self, left: int) -> None:
        """All groups but the `left` last ones have read their sources."""
        for group in self.committed[: max(len(self.committed) - left, 0)]:
            for operation in group:
                operation.end_sources()
