"""Columns of tensor memory: allocated, freed, the permit to allocate, and how a kernel leaves them (TMM-002).

| instruction of a warp                                    | operands                                          |
|----------------------------------------------------------|---------------------------------------------------|
| `tcgen05.alloc.cta_group::1.sync.aligned….b32`           | where the address is written, columns             |
| `tcgen05.dealloc.cta_group::1.sync.aligned.b32`          | an address, columns                               |
| `tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned` | none                                           |

A warp that finds no room waits until another one frees columns. Decision: the first free columns are allocated.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from refmlc.diag import Span
from refmlc.run.interp.asynchronous.operands import NotExecutedError
from refmlc.run.interp.asynchronous.operations import OpenOperation
from refmlc.run.interp.tensorir.addresses import touching
from refmlc.run.interp.tensorir.frame import Frame, Slot
from refmlc.run.interp.threads.group import Meeting, Steps, Thread
from refmlc.run.interp.threads.matrix.tensor_memory.place import GROUPS, TensorInstruction
from refmlc.run.interp.threads.matrix.work import Apart, NotExecuted, Posted, WarpWork
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.tensor_memory import CELL, COLUMNS, LANE_BYTES, LANES, LEAST, TensorMemory

ALIGNED = ("sync", "aligned")
ADDRESSED = (*ALIGNED, "b32")
SPACED = (*ALIGNED, "shared::cta", "b32")


@dataclass(slots=True)
class ColumnRequest:
    """The allocation that a warp waits for. `address`: that of the columns, once it has them."""

    memory: TensorMemory
    columns: int
    span: Span | None
    address: int | None = None

    def is_met(self) -> bool:
        """Whether the warp has its columns, from now on where there is room."""
        if self.address is None:
            self.address = self.memory.allocate(self.columns, self.span)
        return self.address is not None


@dataclass(frozen=True, slots=True)
class RoomIsFree:
    """What threads that wait for columns wait for."""

    slot: Slot[ColumnRequest]

    def holds(self, thread: Thread) -> bool:
        """Whether the thread may continue."""
        return thread.frame[self.slot].is_met()

    def lacks(self, thread: Thread) -> str:
        """What it waits for."""
        request = thread.frame[self.slot]
        taken = sum(request.memory.allocated.values())
        return f"{taken} of {COLUMNS} columns of tensor memory are allocated, {request.columns} are requested"

    def place(self, thread: Thread) -> object:
        """The memory."""
        return thread.frame[self.slot].memory

    def holders(self, thread: Thread) -> None:
        """Who frees columns is not known."""
        del thread


def allocate(here: TensorInstruction) -> WarpWork:  # TMM-002
    """Columns, whose address is written to shared memory."""
    memory_of = _memory(here, ADDRESSED, SPACED)
    here.check_count(2)
    try:
        into = here.address(0)
    except NotExecutedError as reason:
        raise NotExecuted(f"is not executed: {reason}") from None
    count = here.scope.int(here.integer(1))
    writes = touching(here.scope, here.span, written=True)
    slot = cast("Slot[ColumnRequest]", here.scope.layout.new())
    meeting = Meeting(here.node, implied=False, part="thread", orders=False, until=RoomIsFree(slot))

    def post(frame: Frame) -> object:
        place = into.bytes_at(frame, CELL, "an allocation writes", "shared")
        into.aligned(place, CELL)
        return place, count(frame), memory_of(frame)

    def act(posted: Posted) -> Posted:
        place, columns, memory = _common(posted)
        if not memory.has_permit:
            raise here.misuse("columns of tensor memory are allocated after the block gave its permit back")
        _check_columns(here, columns)
        return [(ColumnRequest(memory, columns, here.span), place)] * len(posted)

    def wait(frame: Frame, result: object) -> Steps:
        request = frame[slot] = cast("tuple[ColumnRequest, Pointer]", result)[0]
        while not request.is_met():
            yield meeting

    def finish(frame: Frame, result: object) -> None:
        request, place = cast("tuple[ColumnRequest, Pointer]", result)
        if here.is_first(frame):
            if writes is not None:
                writes(frame, place, CELL, None)
            start = place.byte_offset
            place.storage.bytes[start : start + CELL] = cast("int", request.address).to_bytes(CELL, "little")
            place.storage.initialise(start, CELL)

    return WarpWork(post, act, finish, wait=wait)


def _memory(here: TensorInstruction, *endings: tuple[str, ...]) -> Callable[[Frame], TensorMemory]:
    """The memory of the block: each block of a pair allocates in its own. Fails: NotExecuted, RM504."""
    count = GROUPS.get(here.modifiers[1] if len(here.modifiers) > 1 else "")
    if count is None or here.modifiers[2:] not in endings:
        raise NotExecuted(f"with the modifiers {' '.join(here.modifiers)[:100]}")

    def memory(frame: Frame) -> TensorMemory:
        here.blocks(frame, count)
        return here.memory(frame)

    return memory


def _common(posted: Sequence[object]) -> tuple[Pointer, int, TensorMemory]:
    """What all lanes bring. Fails: Apart."""
    first = posted[0]
    if any(other != first for other in posted):
        raise Apart("addresses, or numbers of columns")
    return cast("tuple[Pointer, int, TensorMemory]", first)


def _check_columns(here: TensorInstruction, columns: int) -> None:
    if not LEAST <= columns <= COLUMNS or columns & columns - 1:
        raise here.misuse(f"{columns} columns of tensor memory: {LEAST}, {2 * LEAST}, … {COLUMNS} can be allocated")


def free(here: TensorInstruction) -> WarpWork:  # TMM-002
    """The columns of an address are free again."""
    memory_of = _memory(here, ADDRESSED)
    here.check_count(2)
    at, count = (here.scope.int(here.integer(place)) for place in range(2))

    def act(posted: Posted) -> Posted:
        first, columns, memory = cast("tuple[int, int, TensorMemory]", posted[0])
        if any(other != posted[0] for other in posted):
            raise Apart("addresses, or numbers of columns")
        if memory.allocated.get(first) != columns:
            message = f"{columns} columns of tensor memory from {first:#x} on are freed"
            raise here.misuse(f"{message}; {allocations(memory)}")
        check_closed(here, memory, first, columns)
        memory.free(first)
        return list(posted)

    return WarpWork(lambda frame: (at(frame), count(frame), memory_of(frame)), act, lambda _frame, _result: None)


def check_closed(here: TensorInstruction, memory: TensorMemory, first: int, columns: int) -> None:
    """Fails: RM341 where an operation on columns that are freed is not complete."""
    for lane in range(LANES):
        for item in memory.storage.reserved_at(lane * LANE_BYTES + first * CELL, columns * CELL):
            owner = cast("OpenOperation", item.owner)
            raise owner.failure("columns of tensor memory are freed", here.span, written=item.written)


def allocations(memory: TensorMemory) -> str:
    """Which columns are allocated, as messages have it."""
    if not memory.allocated:
        return "no columns are allocated"
    parts = [f"{columns} from {first:#x} on" for first, columns in sorted(memory.allocated.items())]
    return f"allocated are {', '.join(parts)}"


def relinquish(here: TensorInstruction) -> WarpWork:  # TMM-002
    """The block allocates nothing any more."""
    memory_of = _memory(here, ALIGNED)
    here.check_count(0)

    def act(posted: Posted) -> Posted:
        cast("TensorMemory", posted[0]).has_permit = False
        return list(posted)

    return WarpWork(memory_of, act, lambda _frame, _result: None)
