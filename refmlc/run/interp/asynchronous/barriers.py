"""Barriers in memory: what their operations do (TIA-021, TIA-022, TIA-024).

| state      | is                                                                                        |
|------------|-------------------------------------------------------------------------------------------|
| `expected` | the number of arrivals of a phase                                                         |
| `pending`  | how many of them the current phase has not got                                            |
| `bytes`    | the bytes that operations have to bring, less those that they have brought                |
| `phase`    | the number of phases that are complete; the parity of the current one is its last bit     |

A phase is complete when no arrival is pending and `bytes` is 0. Then the next one begins.
"""

from dataclasses import dataclass, field
from typing import ClassVar

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import BARRIER_MISUSE
from refmlc.run.interp.asynchronous.operations import Groups, OpenOperation
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.memory.pointer import Numberless, Pointer

MOST_ARRIVALS = (1 << 20) - 1
MOST_BYTES = (1 << 20) - 1
SIZE = 8
"""Units: bytes."""


@dataclass(slots=True, eq=False)
class MemoryBarrier:
    """A barrier at a place in memory.

    `operations`: those that each phase completes, until a thread has seen it. `came`: the threads that have arrived, or
    told of bytes, in any phase.
    """

    name: str
    place: Pointer
    expected: int
    pending: int
    bytes: int = 0
    phase: int = 0
    operations: dict[int, list[OpenOperation]] = field(default_factory=dict)
    came: set[int] = field(default_factory=set)

    def arrive(self, count: int, span: Span | None, *, drop: bool = False) -> None:
        """`count` threads arrive; with `drop` they leave the later phases. Fails: RM342."""
        if not 1 <= count <= self.pending:
            come = "a thread arrives" if count == 1 else f"{count} threads arrive"
            message = f"{come} at `{self.name}`, {self.pending} of {self.expected} are awaited"
            raise fail(BARRIER_MISUSE, message, span, self.state())
        self.pending -= count
        if drop:
            self.expected -= count
        self._settle()

    def state_before(self, count: int, span: Span | None, *, leaves_open: bool) -> "PhaseState":
        """The state before `count` threads arrive. Fails: RM342 where they must not complete the phase, and do."""
        if leaves_open and count == self.pending and self.bytes == 0:
            message = f"an arrival with noComplete completes phase {self.phase} of `{self.name}`"
            raise fail(BARRIER_MISUSE, message, span)
        return PhaseState(self, self.phase, self.pending, leaves_open)

    def expect(self, nbytes: int, span: Span | None, *, settle: bool = True) -> None:
        """Operations bring `nbytes` bytes more, or have brought them where it is negative. Fails: RM342."""
        self.bytes += nbytes
        if abs(self.bytes) > MOST_BYTES:
            message = f"`{self.name}` counts {self.bytes} bytes; {MOST_BYTES} is the most"
            raise fail(BARRIER_MISUSE, message, span)
        if settle:
            self._settle()

    def attach(self, operation: OpenOperation) -> None:
        """The current phase completes `operation`."""
        self.operations.setdefault(self.phase, []).append(operation)

    def bring(self, operation: OpenOperation, nbytes: int, span: Span | None) -> None:
        """The current phase completes an operation that brings bytes. Fails: RM342."""
        self.attach(operation)
        self.expect(-nbytes, span)

    def _settle(self) -> None:
        if self.pending == 0 and self.bytes == 0:
            self.phase += 1
            self.pending = self.expected

    def seen(self, frame: Frame) -> None:
        """A thread has passed a wait: what the phases that are complete have brought is there."""
        for phase in [phase for phase in self.operations if phase < self.phase]:
            for operation in self.operations.pop(phase):
                if operation.is_open:
                    operation.complete(frame, (self, phase))

    def state(self) -> str:
        """What the current phase lacks, as messages have it."""
        lacks = [f"{self.pending} of {self.expected} arrivals"] if self.pending else []
        if self.bytes > 0:
            lacks.append(f"{self.bytes} bytes")
        if self.bytes < 0:
            lacks.append(f"an expectation of {-self.bytes} bytes that copies have brought")
        return f"phase {self.phase} of `{self.name}` lacks {' and '.join(lacks)}"


@dataclass(frozen=True, slots=True, eq=False)
class PhaseState(Numberless):  # TIA-024
    """What a barrier was like before an arrival. `without_completion`: the arrival had to leave its phase open."""

    what: ClassVar[str] = "the state of a barrier"
    barrier: MemoryBarrier
    phase: int
    pending: int
    without_completion: bool


@dataclass(slots=True)
class BlockState:
    """What asynchronous operations of one block of threads share."""

    groups: dict[tuple[str, int], Groups] = field(default_factory=dict)
    barriers: dict[tuple[int, int], MemoryBarrier] = field(default_factory=dict)
    issued: list[OpenOperation] = field(default_factory=list)
    _room: int = 1024

    def issue(self, operation: OpenOperation) -> None:
        """An operation begins. Fails: RM341."""
        operation.issue()
        if len(self.issued) >= self._room:
            self.issued = [earlier for earlier in self.issued if earlier.is_open]
            self._room = max(1024, 2 * len(self.issued))
        self.issued.append(operation)

    def groups_of(self, kind: str, thread: int) -> Groups:
        """The operations of a thread that commit as groups of this kind."""
        return self.groups.setdefault((kind, thread), Groups())

    def initialise(self, name: str, place: Pointer, count: int, span: Span | None) -> None:
        """A barrier begins. Fails: RM342 where there is one, or the count is none that a barrier has."""
        if not 1 <= count <= MOST_ARRIVALS:
            message = f"`{name}` is initialised with {count} arrivals; a barrier has 1 to {MOST_ARRIVALS}"
            raise fail(BARRIER_MISUSE, message, span)
        key = _key(place)
        if key in self.barriers:
            raise fail(BARRIER_MISUSE, f"`{name}` is initialised while it is a barrier", span)
        self.barriers[key] = MemoryBarrier(name, place, count, count)
        place.storage.forget(place.byte_offset, SIZE)
        place.storage.tell_readers(place.byte_offset, SIZE)

    def barrier(self, name: str, place: Pointer, span: Span | None) -> MemoryBarrier:
        """The barrier at a place. Fails: RM342 where there is none, or its memory was written."""
        found = self.barriers.get(_key(place))
        if found is None:
            raise fail(BARRIER_MISUSE, f"`{name}` is used as a barrier before it is initialised", span)
        if place.storage.is_any_initialised(place.byte_offset, SIZE):
            raise fail(BARRIER_MISUSE, f"`{name}` is used as a barrier after a statement wrote its memory", span)
        return found

    def end_barrier(self, name: str, place: Pointer, span: Span | None) -> None:
        """There is no barrier at the place any more. Fails: RM342."""
        self.barrier(name, place, span)
        del self.barriers[_key(place)]

    def end(self) -> None:
        """The block ends. Fails: RM341 where memory of an open operation was accessed, or has still to be read."""
        for operation in self.issued:
            if operation.is_open:
                operation.check()
                operation.end()
        self.issued.clear()


def _key(place: Pointer) -> tuple[int, int]:
    return id(place.storage), place.byte_offset
