"""Shared memory to tensor memory: `tcgen05.cp` of one thread (TMM-006).

| shape                     | rows | bytes of a row | lanes of row i                                    |
|---------------------------|------|----------------|---------------------------------------------------|
| `128x256b`                | 128  | 32             | i                                                 |
| `128x128b`                | 128  | 16             | i                                                 |
| `4x256b`                  | 4    | 32             | 32 i                                              |
| `64x128b.warpx2::02_13`   | 64   | 16             | i and i + 64                                      |
| `64x128b.warpx2::01_23`   | 64   | 16             | 64 (i div 32) + i mod 32, and the same 32 further |
| `32x128b.warpx4`          | 32   | 16             | i, i + 32, i + 64 and i + 96                      |

Values are taken at the issue. A copy is complete when a thread has seen the phase of a barrier that `tcgen05.commit` of
the same thread arrives at.

Source: PTX ISA, tcgen05.cp; TVM 0.27: its tests of the copy on a device.
"""

from collections.abc import Callable, Mapping
from typing import cast

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.ops.matrix.descriptors import TCGEN05, UNIT
from refmlc.run.interp.asynchronous.operations import Move, OperationSource
from refmlc.run.interp.tensorir.addresses import touching
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.interp.threads.matrix.operands import read
from refmlc.run.interp.threads.matrix.shared_matrices import Chunks, chunk_at, described
from refmlc.run.interp.threads.matrix.tensor_memory.addresses import descriptor
from refmlc.run.interp.threads.matrix.tensor_memory.cells import rows
from refmlc.run.interp.threads.matrix.tensor_memory.pipeline import TensorOperation, issue
from refmlc.run.interp.threads.matrix.tensor_memory.place import GROUPS, TensorInstruction
from refmlc.run.interp.threads.matrix.work import NotExecuted, ThreadWork
from refmlc.run.memory.tensor_memory import CELL, LANE_BITS

SHAPES: Mapping[tuple[str, ...], tuple[int, int, Callable[[int], tuple[int, ...]]]] = {
    ("128x256b",): (128, 2, lambda row: (row,)),
    ("128x128b",): (128, 1, lambda row: (row,)),
    ("4x256b",): (4, 2, lambda row: (32 * row,)),
    ("64x128b", "warpx2::02_13"): (64, 1, lambda row: (row, row + 64)),
    ("64x128b", "warpx2::01_23"): (64, 1, lambda row: (row // 32 * 64 + row % 32, row // 32 * 64 + row % 32 + 32)),
    ("32x128b", "warpx4"): (32, 1, lambda row: (row, row + 32, row + 64, row + 96)),
}
"""Rows, chunks of 16 bytes in a row, and the lanes of a row."""
BITS = 32
ALIGNED = 4
"""Copies begin at a multiple of this number of columns."""


def copy(here: TensorInstruction) -> ThreadWork:  # TMM-006
    """Rows of a matrix in shared memory to lanes."""
    blocks = GROUPS.get(here.modifiers[1] if len(here.modifiers) > 1 else "")
    if blocks is None or here.modifiers[2:] not in SHAPES:
        raise NotExecuted(f"with the modifiers {' '.join(here.modifiers)[:100]}")
    here.check_count(2)
    count, chunks, lanes_of = SHAPES[here.modifiers[2:]]
    at = read(here.scope, [here.operands[0]], BITS)
    code = descriptor(here.scope, here.integer(1))
    reads = touching(here.scope, here.span, written=False, proxied=True)
    writes = touching(here.scope, here.span, written=True)

    def run(frame: Frame) -> None:
        address = at(frame)[0]
        start = address >> LANE_BITS, address & (1 << LANE_BITS) - 1
        if start[1] % ALIGNED:
            message = f"a copy to tensor memory from column {start[1]} on, no multiple of {ALIGNED}: not executed"
            raise fail(UNSUPPORTED_CONSTRUCT, message, here.span)
        width = (0, chunks * UNIT // CELL)
        moves: list[Move] = []
        sources: Chunks = []
        for block in here.blocks(frame, blocks):
            memory, lines = here.memory(frame, block), _lines(here, frame, block, code(frame), (count, chunks))
            sources += [chunk for line in lines for chunk in line]
            moves += [
                Move(row.place, None, b"".join(data for _, data in line))
                for number, line in enumerate(lines)
                for to in lanes_of(number)
                for row in rows(here, memory, start, range(to, to + 1), width)
            ]

        def written(at: Frame, phase: object) -> None:
            for move in moves if writes is not None else ():
                cast("Callable[..., None]", writes)(at, move.destination, move.nbytes, phase)

        for place, data in sources if reads is not None else ():
            cast("Callable[..., None]", reads)(frame, place, len(data), None)
        written(frame, None)
        issued = TensorOperation(moves, "tmem", here.span, written, pipeline=here.thread(frame))
        issued.sources = [OperationSource.read(place, len(data)) for place, data in sources]
        issue(here.block(frame), here.thread(frame), issued)

    return ThreadWork(run)


def _lines(here: TensorInstruction, frame: Frame, block: int, code: int, sizes: tuple[int, int]) -> list[Chunks]:
    """What each row has in the shared memory of a block. Fails: RM304, RM305, RM341."""
    found, numbers, same = described(code, TCGEN05), here.group(frame).numbers(frame), here.in_block(frame, block)
    return [
        [chunk_at(found.address(row, chunk, along_k=True), numbers, same) for chunk in range(sizes[1])]
        for row in range(sizes[0])
    ]
