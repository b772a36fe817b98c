"""`copy_async` on regions: copies that its threads issue together (TIP-015).

| destination, source | `mbar`  | threads        | is complete when                                              |
|---------------------|---------|----------------|---------------------------------------------------------------|
| shared, global      | none    | of any scope   | each of them has waited for its group of cp.async             |
| shared, global      | given   | one            | a thread has seen the phase; the copy brings its bytes        |
| global, shared      | none    | one            | the thread has waited for its group of bulk copies            |

Which thread moves an element is left to a variant, so an element is there when all of them have waited.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import cast

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_POINTER, UNSUPPORTED_CONSTRUCT
from refmlc.diag.errors import RefmlcError
from refmlc.lang.ir import tir
from refmlc.lang.ir.tirx import TilePrimitiveCall
from refmlc.run.interp.asynchronous.operands import ZERO, Address, NotExecutedError, address, element_name
from refmlc.run.interp.asynchronous.operations import Move, OpenOperation
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.threads.group import Thread
from refmlc.run.interp.tirx.primitives.elementwise import same_element
from refmlc.run.interp.tirx.primitives.operands import TileOperands
from refmlc.run.interp.tirx.primitives.settings import TUNING
from refmlc.run.interp.tirx.primitives.shapes import indices
from refmlc.run.interp.tirx.tensor_copies import MEMORY, TensorCopy, is_in_tensor_memory
from refmlc.run.interp.tirx.tiles import MemoryTile, OwnedTile
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.pointer import Pointer

BARRIER = ("mbar", "mbarrier_addr")
CP, BULK = "cp", "bulk"
FILLING = "tma_explicit"
"""The dispatch whose regions may reach out of bounds."""

GROUP, PAIR = "cta_group", 2
"""The setting by which the barrier may be in the other block of a pair."""
NONE: Mapping[str, tuple[object, ...]] = {GROUP: (1, None), "oob": (None,), "cta_mask": (None,)}
"""Settings that change nothing where they have one of these values."""


WAYS = ("shape", "multicast")
"""Settings that name an instruction for a copy to tensor memory: the layouts say where elements lie."""


@dataclass(frozen=True, slots=True)
class TileCopy:
    """A call of `copy_async`, prepared. `barrier`: the address of the barrier whose phase completes it.

    `blocks`: of this number of blocks beside each other one has the barrier.
    """

    call: TilePrimitiveCall
    scope: Scope
    barrier: Address | None
    refusal: str
    blocks: int = 1

    def issue(self, members: Sequence[Thread], operands: TileOperands, frame: Frame) -> None:
        """The threads issue it. Fails: RM201, RM202, RM341, RM342, as the views do."""
        to, source = (cast("MemoryTile | OwnedTile", operands.tile(name)) for name in ("dst", "src"))
        if self.refusal:
            raise operands.unsupported(self.refusal)
        if is_in_tensor_memory(to) or is_in_tensor_memory(source):
            if self.barrier is not None:
                raise operands.unsupported("a barrier, and tensor memory")
            TensorCopy(self.call, self.scope, operands, members, frame).issue(to, source)
            return
        if not isinstance(to, MemoryTile) or not isinstance(source, MemoryTile):
            raise operands.unsupported("registers")
        if self.call.dispatch == FILLING and not _is_inside(source):
            raise operands.unsupported("elements beyond the bounds of its source, in whose place it moves zeros or NaN")
        kind = self._kind(operands, to, source, len(members))
        pick = same_element(operands).pick
        assert pick is not None  # noqa: S101 - a source that is a tile has one
        pairs = [(index, pick(index)) for index in indices(to.shape)]
        moves = _joined(self._moves(to, source, pairs))
        copy = OpenOperation(moves, to.corner.view.buffer.name, self.call.span, self._report(to, pairs))
        group = frame[self.scope.group]
        assert group is not None  # noqa: S101 - such threads are in a group
        block = group.asynchronous
        if self.barrier is not None:
            at = self.barrier
            place = at.at(frame)
            self._check_beside(place, frame)
            barrier = block.barrier(element_name(place), place, self.call.span)
            block.issue(copy)
            hooks = self.scope.machine.hooks
            if hooks.watches("release"):
                hooks.release((barrier, barrier.phase), frame)
            barrier.bring(copy, prod(to.shape) * to.dtype.bits // 8, self.call.span)
            return
        copy.waits_for.update(member.index for member in members)
        copy.outlives, copy.of_several = kind == BULK, len(members) > 1
        block.issue(copy)
        for member in members:
            block.groups_of(kind, member.index).uncommitted.append(copy)

    def _check_beside(self, barrier: Pointer, frame: Frame) -> None:
        """Fails: RM313 where the barrier is in another block than the copy, or with `cta_group=2` in another pair."""
        group = frame[self.scope.group]
        assert group is not None  # noqa: S101 - such threads are in a group
        owner, own = group.memory.owner(barrier), group.block_of(frame)
        if owner is not None and owner // self.blocks != own // self.blocks:
            message = f"the copy is of block {own} of the cluster, its barrier is in block {owner}"
            raise fail(BAD_POINTER, message, self.call.span)

    def _kind(self, operands: TileOperands, to: MemoryTile, source: MemoryTile, count: int) -> str:
        """The groups that complete it. Fails: RM504 where the pair of memories has no completion."""
        into, of = to.corner.view.buffer.scope, source.corner.view.buffer.scope
        bulk = self.barrier is not None or of.startswith("shared")
        if bulk and count > 1:
            raise operands.unsupported("several threads: one thread issues a bulk copy")
        if into.startswith("shared") and of == "global":
            return CP
        if into == "global" and of.startswith("shared") and self.barrier is None:
            return BULK
        raise self._refused(operands, f"memory of scope `{into}` as destination and `{of}` as source")

    def _refused(self, operands: TileOperands, what: str) -> RefmlcError:
        completes = "" if self.barrier is None else ", and a barrier that completes it"
        return operands.refuse(UNSUPPORTED_CONSTRUCT, f"`{operands.name}` is not executed with {what}{completes}")

    def _moves(
        self, to: MemoryTile, source: MemoryTile, pairs: Sequence[tuple[tuple[int, ...], tuple[int, ...]]]
    ) -> Iterator[Move]:
        """Each element; it is read, and known to be in bounds."""
        size = cell_size(to.dtype)
        for index, place in pairs:
            source.load(place)
            from_ = _pointer(source, place, size)
            start = from_.byte_offset
            into = _pointer(to, index, size)
            if to.writing is not None:
                to.writing(to.offset(index))
            yield Move(into, from_, bytes(from_.storage.bytes[start : start + size]))

    def _report(
        self, to: MemoryTile, pairs: Sequence[tuple[tuple[int, ...], tuple[int, ...]]]
    ) -> Callable[[Frame, object], None]:
        hooks, view = self.scope.machine.hooks, to.corner.view
        if to.writing is None:
            return lambda _frame, _phase: None
        buffer = view.buffer
        access = tir.BufferStore(buffer, ZERO, tuple(ZERO for _ in buffer.shape), span=self.call.span)

        def report(frame: Frame, phase: object) -> None:
            for index, _ in pairs:
                if phase is None:
                    hooks.touch_tile(access, view, to.offset(index), frame)
                else:
                    hooks.landed(phase, access, view, to.offset(index))
            if isinstance(phase, OpenOperation) and hooks.watches("acquire"):
                hooks.acquire(phase, frame)

        return report


def prepare(scope: Scope, call: TilePrimitiveCall) -> TileCopy:
    """The call with its settings."""
    barrier: Address | None = None
    blocks = 1
    for key, value in call.config.items():
        if key in BARRIER and value is not None:
            try:
                barrier = address(scope, value)
            except NotExecutedError as reason:
                return TileCopy(call, scope, None, f"`{key}`: {reason}")
        elif key in WAYS and _is_tensor(call):
            continue
        elif (
            key == GROUP and _number(value) == PAIR and not _is_tensor(call) and call.config.get(BARRIER[0]) is not None
        ):
            blocks = PAIR
        elif key not in (*TUNING, *BARRIER) and _number(value) not in NONE.get(key, ()):
            return TileCopy(call, scope, None, f"the setting `{key}`, which may change what it moves")
    return TileCopy(call, scope, barrier, "", blocks)


def _is_tensor(call: TilePrimitiveCall) -> bool:
    """Whether the destination is in tensor memory."""
    to = call.args[0]
    return isinstance(to, tir.BufferRegion) and to.buffer.scope == MEMORY


def _is_inside(tile: MemoryTile) -> bool:
    corner = tile.corner
    ranges = zip(corner.mins, corner.extents, corner.view.shape, strict=True)
    return all(low >= 0 and low + count <= extent for low, count, extent in ranges)


def _number(value: tir.Attr) -> object:
    return value.value if isinstance(value, tir.IntImm) else value


def _pointer(tile: MemoryTile, index: tuple[int, ...], size: int) -> Pointer:
    view = tile.corner.view
    return Pointer(view.data.storage, view.data.byte_offset + (view.offset + tile.offset(index)) * size)


def _joined(moves: Iterator[Move]) -> list[Move]:
    """Moves that follow each other in both memories as one."""
    joined: list[Move] = []
    parts: list[bytes] = []
    nbytes = 0
    for move in moves:
        if joined and _follows(joined[-1], nbytes, move):
            parts.append(move.data)
            nbytes += move.nbytes
            continue
        if joined:
            joined[-1] = Move(joined[-1].destination, joined[-1].source, b"".join(parts))
        joined.append(move)
        parts, nbytes = [move.data], move.nbytes
    if joined:
        joined[-1] = Move(joined[-1].destination, joined[-1].source, b"".join(parts))
    return joined


def _follows(first: Move, nbytes: int, then: Move) -> bool:
    a, b = cast("Pointer", first.source), cast("Pointer", then.source)
    return (
        first.destination.storage is then.destination.storage
        and a.storage is b.storage
        and first.destination.byte_offset + nbytes == then.destination.byte_offset
        and a.byte_offset + nbytes == b.byte_offset
    )
