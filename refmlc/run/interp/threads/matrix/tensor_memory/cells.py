"""The cells that an instruction reaches: in allocated columns, of lanes that its warp may access, and written."""

from dataclasses import dataclass

from refmlc.diag import fail
from refmlc.diag.catalogue import OUT_OF_BOUNDS, UNINITIALISED, UNSUPPORTED_CONSTRUCT
from refmlc.run.interp.asynchronous.operations import OpenOperation
from refmlc.run.interp.threads.group import WARP
from refmlc.run.interp.threads.matrix.tensor_memory.allocation import allocations
from refmlc.run.interp.threads.matrix.tensor_memory.place import TensorInstruction
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.tensor_memory import CELL, COLUMNS, LANE_BITS, TensorMemory

QUARTERS, HALF = 4, 16
"""The parts of the lanes of which each warp of a warpgroup has one; where a part may be entered. Units: lanes."""


@dataclass(frozen=True, slots=True)
class CellRow:
    """Cells of a lane that follow each other."""

    place: Pointer
    nbytes: int

    def check(self, here: TensorInstruction) -> None:
        """Fails: RM305, RM341 where one has no value."""
        if not self.place.storage.is_initialised(self.place.byte_offset, self.nbytes):
            raise _unwritten(here, self)


def _unwritten(here: TensorInstruction, row: CellRow) -> Exception:
    storage, start = row.place.storage, row.place.byte_offset
    for item in storage.reserved_at(start, row.nbytes):
        if item.written and isinstance(item.owner, OpenOperation):
            return item.owner.failure("an instruction reads tensor memory", here.span, written=True)
    first = next(at for at in range(start, start + row.nbytes) if not storage.is_initialised(at, 1))
    lane, column = divmod(first // CELL, COLUMNS)
    message = f"`tmem[{lane}, {column}]` is read, which was not written since its allocation"
    return fail(UNINITIALISED, message, here.span)


def rows(
    here: TensorInstruction, memory: TensorMemory, start: tuple[int, int], lanes: range, columns: tuple[int, int]
) -> list[CellRow]:
    """The cells of `lanes`, counted from a start in lanes and columns, in a range of columns, a first one and a number.

    Fails: RM304 where there are none, RM351 where they are not allocated.
    """
    first, count = start[1] + columns[0], columns[1]
    if first < 0 or first + count > COLUMNS or start[0] + lanes[-1] >= 1 << 7:
        last = f"lane {start[0] + lanes[-1]}, column {first + count - 1}"
        raise fail(OUT_OF_BOUNDS, f"the cells up to {last} are accessed, tensor memory has 128 lanes of 512", here.span)
    if not memory.is_allocated(first, count):
        message = f"columns {first} to {first + count - 1} of tensor memory are accessed"
        raise here.misuse(f"{message}; {allocations(memory)}")
    address = start[0] << LANE_BITS | first
    found = [memory.place(address, lane) for lane in lanes]
    return [CellRow(place, count * CELL) for place in found if place is not None]


def start_of_warp(here: TensorInstruction, address: int, warp: int, lanes: int) -> tuple[int, int]:
    """Lane and column of an address, for a warp that reaches over `lanes` from it on. Fails: RM351, RM504.

    Decision: lanes 0 to 31 of an address are those of the part of the warp, whichever that is, as on devices.
    """
    lane, column = address >> LANE_BITS, address & (1 << LANE_BITS) - 1
    part = warp % QUARTERS
    if lane // WARP not in (0, part) or lane % WARP + lanes > WARP:
        message = f"warp {warp} accesses lanes {lane} to {lane + lanes - 1} of tensor memory"
        raise here.misuse(f"{message}; it may access {WARP * part} to {WARP * part + WARP - 1}")
    if lane % HALF:
        message = f"tensor memory from lane {lane} on, which is no multiple of {HALF}: not executed"
        raise fail(UNSUPPORTED_CONSTRUCT, message, here.span)
    return WARP * part + lane % WARP, column
