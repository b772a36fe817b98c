"""Registers of a warp from and to tensor memory, and the waits for them (TMM-003, TMM-004).

| instruction of a warp                               | operands                                                |
|-----------------------------------------------------|---------------------------------------------------------|
| `tcgen05.ld.sync.aligned.SHAPE.xN….b32`             | registers, an address, the distance of the second half  |
| `tcgen05.st.sync.aligned.SHAPE.xN….b32`             | an address, the distance, registers                     |
| `tcgen05.wait::ld.sync.aligned`, `wait::st`         | none                                                    |

Values are taken at the issue. Until the wait, registers that a load writes and cells that a store writes count as not
written. Hooks see the first lane of the warp access the cells.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.dtypes import HANDLE
from refmlc.lang.ir import tir
from refmlc.lang.ops.matrix.tensor_memory import COUNTS, SHAPES, SPLIT, TransferForm
from refmlc.run.interp.asynchronous.operations import Move, OpenOperation, OperationSource
from refmlc.run.interp.tensorir.addresses import Touch, name_of, touching
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.interp.tensorir.intrinsics import pointer
from refmlc.run.interp.threads.matrix.operands import element_of, read
from refmlc.run.interp.threads.matrix.tensor_memory.cells import CellRow, rows, start_of_warp
from refmlc.run.interp.threads.matrix.tensor_memory.place import TensorInstruction
from refmlc.run.interp.threads.matrix.work import Apart, NotExecuted, Posted, WarpWork
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.tensor_memory import CELL, COLUMNS, LANES, TensorMemory

LOADS, STORES = "tcgen05.ld", "tcgen05.st"
"""The groups of each thread that waits complete."""
BITS, HALF = 32, 2
"""The bits of a register, the bytes of its half."""


class OpenLoad(OpenOperation):
    """A load from its issue on: one thread's registers, for the first thread of the warp also the cells."""

    noun: ClassVar[str] = "load of tensor memory"


class OpenStore(OpenOperation):
    """A store of a warp from its issue on."""

    noun: ClassVar[str] = "store to tensor memory"


@dataclass(frozen=True, slots=True)
class _Share:
    """What a thread brings: an address, what it stores."""

    address: int
    memory: TensorMemory
    warp: int
    codes: Sequence[int] = ()


def _form(here: TensorInstruction, packing: str) -> TransferForm:
    """The form of an instruction. Fails: NotExecuted, NoSuchForm."""
    words = here.modifiers[1:]
    packs = packing in words
    if words[:2] != ("sync", "aligned") or len(words) != 5 + packs or words[-1] != "b32" or words[2] not in SHAPES:
        raise NotExecuted(f"with the modifiers {' '.join(here.modifiers)[:100]}")
    if words[3] not in COUNTS or (packs and words[4] != packing):
        raise NotExecuted(f"with the modifiers {' '.join(here.modifiers)[:100]}")
    form = TransferForm(words[2], COUNTS[words[3]], packs)
    here.check_count(form.registers + 1 + (words[2] == SPLIT))
    if words[2] != SPLIT:
        return form
    distance = here.operands[-1 if here.modifiers[0] == "ld" else 1]
    if not isinstance(distance, tir.IntImm):
        raise NotExecuted("has a distance that is no constant")
    return TransferForm(form.shape, form.count, packs, distance.value)


def _common(posted: Posted) -> _Share:
    """What all threads of a warp bring. Fails: Apart."""
    first = cast("_Share", posted[0])
    for other in posted:
        if cast("_Share", other).address != first.address:
            raise Apart("addresses")
    return first


def _rows(here: TensorInstruction, form: TransferForm, share: _Share) -> tuple[tuple[int, int], list[CellRow]]:
    """Where the cells of a warp begin, and all of them. Fails: RM304, RM351."""
    start = start_of_warp(here, share.address, share.warp, form.lanes)
    parts = [rows(here, share.memory, start, range(form.lanes), part) for part in form.parts]
    return start, [row for part in parts for row in part]


def _cells(memory: TensorMemory) -> NDArray[np.uint32]:
    return memory.storage.array.view("<u4").reshape(LANES, COLUMNS)


# ------------------------------------------------------------------------------------------------------------ loads


def load(here: TensorInstruction) -> WarpWork:  # TMM-003
    """Cells to registers."""
    form = _form(here, "pack::16b")
    places = [_register(here, operand) for operand in here.operands[: form.registers]]
    at = read(here.scope, [here.operands[form.registers]], BITS)
    lanes, columns = form.cells()
    touches = _Touches(here)

    def act(posted: Posted) -> Posted:
        share = _common(posted)
        start, found = _rows(here, form, share)
        sources = [OperationSource.read(row.place, row.nbytes) for row in _checked(here, form, found)]
        cells = _cells(share.memory)[lanes + start[0], columns + start[1]]
        if form.packs:
            cells = ((cells[:, ::2] & 0xFFFF) | cells[:, 1::2] << 16).astype(np.uint32)
        return [(codes, sources if number == 0 else []) for number, codes in enumerate(cells)]

    def finish(frame: Frame, result: object) -> None:
        codes, sources = cast("tuple[NDArray[np.uint32], list[OperationSource]]", result)
        into = [place(frame) for place in places]
        if len(set(into)) < len(into):
            raise fail(UNSUPPORTED_CONSTRUCT, "a load with one register for two cells is not executed", here.span)

        def written(at: Frame, _phase: object) -> None:
            touches.cells(at, [(source.place, source.nbytes) for source in sources], written=False)
            touches.registers(at, into)

        copy = OpenLoad(_moves(into, codes), name_of(into[0]), here.span, written, {here.thread(frame)})
        copy.sources = sources
        touches.cells(frame, [(source.place, source.nbytes) for source in sources], written=False)
        here.block(frame).issue(copy)
        here.block(frame).groups_of(LOADS, here.thread(frame)).uncommitted.append(copy)

    return WarpWork(lambda frame: _Share(at(frame)[0], here.memory(frame), here.warp(frame)), act, finish)


def _checked(here: TensorInstruction, form: TransferForm, found: Sequence[CellRow]) -> Sequence[CellRow]:
    """What is read; of cells that give a half, the lower one. Fails: RM305, RM341."""
    if form.packs:
        found = [CellRow(row.place.moved(at), HALF) for row in found for at in range(0, row.nbytes, CELL)]
    for row in found:
        row.check(here)
    return found


def _register(here: TensorInstruction, operand: tir.Attr) -> Callable[[Frame], Pointer]:
    element = element_of(operand, BITS)
    if not isinstance(element, tir.BufferLoad) or element.buffer.scope != "local":
        raise NotExecuted("has a register that is no element of a buffer in local memory")
    return pointer(here.scope, tir.Call("address_of", (element,), HANDLE, span=element.span))


def _moves(places: Sequence[Pointer], codes: NDArray[np.uint32]) -> list[Move]:
    """A move for registers that follow each other in memory."""
    data = codes.astype("<u4").tobytes()
    moves: list[Move] = []
    first = 0
    for number in range(1, len(places) + 1):
        if number == len(places) or places[number] != places[first].moved(CELL * (number - first)):
            moves.append(Move(places[first], None, data[CELL * first : CELL * number]))
            first = number
    return moves


# ----------------------------------------------------------------------------------------------------------- stores


def store(here: TensorInstruction) -> WarpWork:  # TMM-003
    """Registers to cells."""
    form = _form(here, "unpack::16b")
    if form.shape == SPLIT and abs(form.distance) < form.parts[0][1]:
        raise NotExecuted(f"has halves that are {form.distance} columns apart and overlap")
    at = read(here.scope, [here.operands[0]], BITS)
    values = read(here.scope, here.operands[len(here.operands) - form.registers :], BITS)
    lanes, columns = form.cells()
    touches = _Touches(here)

    def post(frame: Frame) -> object:
        return _Share(at(frame)[0], here.memory(frame), here.warp(frame), values(frame))

    def act(posted: Posted) -> Posted:
        share = _common(posted)
        start, found = _rows(here, form, share)
        codes = np.array([cast("_Share", other).codes for other in posted], np.uint32)
        if form.packs:
            codes = np.stack((codes & 0xFFFF, codes >> 16), axis=-1).reshape(len(codes), -1)
        cells = np.zeros((LANES, COLUMNS), np.uint32)
        cells[lanes + start[0], columns + start[1]] = codes
        data = cells.astype("<u4").tobytes()
        size = HALF if form.packs else 0
        moves = [
            Move(place, None, data[place.byte_offset : place.byte_offset + nbytes])
            for row in found
            for place, nbytes in _pieces(row, size)
        ]
        return [(moves if number == 0 else [], found) for number in range(len(posted))]

    def finish(frame: Frame, result: object) -> None:
        moves, found = cast("tuple[list[Move], list[CellRow]]", result)
        if not moves:
            return

        def written(at: Frame, _phase: object) -> None:
            touches.cells(at, [(move.destination, move.nbytes) for move in moves], written=True)

        written(frame, None)
        for row in found:
            row.place.storage.forget(row.place.byte_offset, row.nbytes)
        copy = OpenStore(moves, "tmem", here.span, written, {here.thread(frame)})
        here.block(frame).issue(copy)
        here.block(frame).groups_of(STORES, here.thread(frame)).uncommitted.append(copy)

    return WarpWork(post, act, finish)


def _pieces(row: CellRow, size: int) -> list[tuple[Pointer, int]]:
    """The row, or the first `size` bytes of each of its cells."""
    if not size:
        return [(row.place, row.nbytes)]
    return [(row.place.moved(at), size) for at in range(0, row.nbytes, CELL)]


# ------------------------------------------------------------------------------------------------------------ waits


def wait_for_loads(here: TensorInstruction) -> WarpWork:  # TMM-004
    """The loads of the thread are complete."""
    return _wait(here, LOADS)


def wait_for_stores(here: TensorInstruction) -> WarpWork:  # TMM-004
    """The stores of the warp are complete."""
    return _wait(here, STORES)


def _wait(here: TensorInstruction, kind: str) -> WarpWork:
    if here.modifiers[1:] != ("sync", "aligned"):
        raise NotExecuted(f"with the modifiers {' '.join(here.modifiers)[:100]}")
    here.check_count(0)

    def complete(frame: Frame) -> None:
        groups = here.block(frame).groups_of(kind, here.thread(frame))
        groups.commit()
        groups.wait(here.thread(frame), 0, frame)

    def act(posted: Posted) -> Posted:
        if kind == STORES:  # the first thread, which hooks see run, has issued them
            complete(cast("Frame", posted[0]))
        return list(posted)

    return WarpWork(lambda frame: frame, act, lambda frame, _result: complete(frame))


class _Touches:
    """What reports accesses to hooks."""

    def __init__(self, here: TensorInstruction) -> None:
        self._reads = touching(here.scope, here.span, written=False)
        self._writes = touching(here.scope, here.span, written=True)

    def cells(self, frame: Frame, places: Sequence[tuple[Pointer, int]], *, written: bool) -> None:
        """Cells of tensor memory."""
        _report(self._writes if written else self._reads, frame, places)

    def registers(self, frame: Frame, places: Sequence[Pointer]) -> None:
        """Registers that a load has written."""
        _report(self._writes, frame, [(place, CELL) for place in places])


def _report(touch: Touch | None, frame: Frame, places: Sequence[tuple[Pointer, int]]) -> None:
    if touch is not None:
        for place, nbytes in places:
            touch(frame, place, nbytes, None)
