"""Layouts that TVM 0.27 names: those which instructions of a GPU expect, and those of Trainium's memories.

| name                                    | where an element lies                                                   |
|-----------------------------------------|-------------------------------------------------------------------------|
| `mma_atom(bits, mode)`                  | one period of the swizzle of 32, 64 or 128 bytes that `mode` 1, 2, 3 is |
| `mma_shared(bits, mode, shape)`         | atoms of 8 rows beside each other, rows of atoms first                  |
| `rows_of_threads(columns, rows)`        | a row on each thread of a warpgroup                                     |
| `datapath(letter, rows, columns, half)` | the lane and column of tensor memory, by the letter of PTX's data paths |
| `fragment(instruction, shape, bits)`    | what each thread has of a load or store of tensor memory                |
| `trainium(dimensions, shape)`           | partitions (`P`) and free (`F`) elements of Trainium's memory           |

Source: the PTX ISA (data path layouts and matrix fragments of tcgen05, swizzle modes), and TVM 0.27, whose layouts
these are. What TVM does not have is None.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from refmlc.lang.layouts.algebra import canonical, canonical_tiling, tiled
from refmlc.lang.layouts.forms import AxisStep, Placed, Swizzled, Tiling, bare, row_major

VECTOR = 128
"""The bits of the shortest run that a swizzle leaves together."""
ATOM = 3
"""The logarithm of the rows of an atom."""
REPEATS = {"32x32b": (1, 128), "16x64b": (2, 128), "16x128b": (4, 64), "16x256b": (8, 32)}
"""Instructions that move tensor memory: columns of 32 bits at a time, and the most repetitions."""
PARTITIONS, BANK = 128, 512
"""Partitions of Trainium's memory; elements of a bank of its accumulators."""


def mma_atom_shape(bits: int, mode: int, rank: int = 2) -> tuple[int, ...] | None:
    """Rows and columns of an atom, with dimensions of 1 in front."""
    if mode not in (1, 2, 3) or not 0 < bits <= VECTOR or rank < 2:
        return None
    return (*(1,) * (rank - 2), 1 << ATOM, (VECTOR << mode) // bits)


def mma_atom(bits: int, mode: int) -> Swizzled | None:
    """One period of a swizzle."""
    if mode not in (0, 1, 2, 3) or not 0 < bits <= VECTOR:
        return None
    element = (VECTOR // bits).bit_length() - 1
    return Swizzled(bare([AxisStep(1 << (element + mode + ATOM), 1)]), element, mode, ATOM)


def mma_shared(bits: int, mode: int, shape: Sequence[int]) -> Placed | None:
    """A matrix in shared memory as matrix instructions and bulk copies expect it."""
    if len(shape) < 2 or not 0 < bits <= VECTOR or any(extent < 1 for extent in shape):
        return None
    if mode == 0:
        return _packed(VECTOR // bits, shape)
    atom, small = mma_atom(bits, mode), mma_atom_shape(bits, mode, len(shape))
    if atom is None or small is None:
        return None
    tall = (*small[:-2], shape[-2], small[-1])
    return _repeated(_repeated(atom, small, tall), tall, shape)


def _packed(run: int, shape: Sequence[int]) -> Tiling:
    """Runs of 128 bits of all rows beside each other; row-major where rows are no multiple of them."""
    *lead, rows, columns = shape
    if columns % run:
        return canonical_tiling(bare(row_major(shape)))
    outer = [AxisStep(step.extent, step.stride * rows * columns) for step in row_major(lead)]
    inner = [AxisStep(rows, run), AxisStep(columns // run, rows * run), AxisStep(run, 1)]
    return canonical_tiling(bare([*outer, *inner]))


def _repeated(layout: Placed | None, shape: Sequence[int], whole: Sequence[int]) -> Placed | None:
    """A layout of `shape` beside itself until `whole` is full."""
    if layout is None or any(large % small for large, small in zip(whole, shape, strict=True)):
        return None
    counts = [large // small for large, small in zip(whole, shape, strict=True)]
    result = tiled(layout, bare(row_major(counts)), counts, shape)
    return None if result is None else canonical(result)


def repeated(layout: Placed, shape: Sequence[int], whole: Sequence[int]) -> Placed | None:
    """`layout.tile_to(whole, shape)`: as many copies as go into `whole`, without its canonical form."""
    if len(shape) != len(whole) or any(small < 1 or large < small for large, small in zip(whole, shape, strict=True)):
        return None
    counts = [large // small for large, small in zip(whole, shape, strict=True)]
    return tiled(layout, bare(row_major(counts)), counts, shape)


def rows_of_threads(columns: int, rows: int = 128) -> Tiling:
    """A row on each thread of a warpgroup, its columns in the thread's memory."""
    return bare([AxisStep(rows, 1, "tid_in_wg"), AxisStep(columns, 1)])


def datapath(letter: str, rows: int, columns: int, half: int = 0) -> Tiling | None:
    """Where the accumulator of a matrix instruction lies in tensor memory."""
    demanded = {"A": 128, "B": 64, "C": 64, "D": 128, "E": 64, "F": 64, "G": 32}.get(letter)
    parts = {"B": 2, "E": 2, "G": 4}.get(letter, 1)
    scattered = letter in ("C", "F")
    if rows != demanded or columns < 1 or columns % parts or half not in ((0, 1) if scattered else (0,)):
        return None
    column = AxisStep(columns // parts, 1, "TCol")
    if scattered:
        tiling = bare([AxisStep(4, 32, "TLane"), AxisStep(16, 1, "TLane"), column])
        return replace(tiling, offset={"TLane": 16}) if half else tiling
    folded = [AxisStep(parts, 128 // parts, "TLane")] if parts > 1 else []
    return bare([AxisStep(rows, 1, "TLane"), *folded, column])


def fragment(instruction: str, shape: Sequence[int], bits: int) -> Tiling | None:
    """What each thread of a warpgroup has of a tile that the instruction moves between tensor memory and registers."""
    if instruction not in REPEATS or len(shape) != 2 or bits not in (16, 32) or shape[0] not in (64, 128):
        return None
    rows, columns = shape
    width, most = REPEATS[instruction]
    packed = 32 // bits
    if instruction == "32x32b" and rows == 64:
        half = columns // 2
        fits = bits == 32 and columns % 2 == 0 and _is_repeat(half, most)
        return bare([AxisStep(64, 1, "tid_in_wg"), AxisStep(2, 64, "tid_in_wg"), AxisStep(half, 1)]) if fits else None
    repeats = columns // (width * packed)
    if columns % (width * packed) or not _is_repeat(repeats, most):
        return None
    if instruction == "32x32b":
        return rows_of_threads(columns, rows)
    registers = repeats * width // 2
    slab = [AxisStep(2, registers * packed)] if rows == 128 else []
    eight, four = AxisStep(8, 4, "laneid"), AxisStep(4, 1, "laneid")
    lanes, low = {
        "16x64b": (AxisStep(2, 1, "laneid"), [AxisStep(repeats, packed), AxisStep(2, 2, "laneid")]),
        "16x128b": (AxisStep(2, packed), [AxisStep(repeats, 2 * packed), four]),
        "16x256b": (
            AxisStep(2, 2 * packed),
            [AxisStep(repeats, 4 * packed), four, AxisStep(2, packed)],
        ),
    }[instruction]
    pair = [AxisStep(packed, 1)] if packed > 1 else []
    return bare([AxisStep(4, 1, "wid_in_wg"), *slab, lanes, eight, *low, *pair])


def _is_repeat(count: int, most: int) -> bool:
    return 1 <= count <= most and count & (count - 1) == 0


# ----------------------------------------------------------------------------------------------------- Trainium


def trainium(dimensions: str, shape: Sequence[int], *, accumulator: bool = False) -> Tiling | None:
    """A shape of which each dimension lies on partitions (`P`) or in them (`F`), row-major on either.

    One partition dimension of more than 128 is split: what goes beyond is the outermost of the free ones.
    """
    if len(dimensions) != len(shape) or set(dimensions) - set("PF") or any(extent < 1 for extent in shape):
        return None
    partitions = [extent for extent, kind in zip(shape, dimensions, strict=True) if kind == "P"]
    free = [extent for extent, kind in zip(shape, dimensions, strict=True) if kind == "F"]
    over = partitions[0] // PARTITIONS if len(partitions) == 1 and partitions[0] > PARTITIONS else 1
    if prod(partitions) > PARTITIONS and (over == 1 or partitions[0] % PARTITIONS):
        return None
    inside = iter(row_major(free, "F"))
    across = iter(row_major(partitions if over == 1 else [PARTITIONS], "P"))
    steps: list[AxisStep] = []
    for kind in dimensions:
        if kind == "P" and over > 1:
            steps.append(AxisStep(over, prod(free), "F"))
        steps.append(next(across if kind == "P" else inside))
    tiling = bare(steps)
    return banked(tiling) if accumulator else tiling


def banked(tiling: Tiling) -> Tiling | None:
    """A layout of Trainium in its accumulators: free elements in banks of 512; replica and offset are no part of it."""
    shard: list[AxisStep] = []
    for step in tiling.shard:
        if step.axis != "F":
            shard.append(step)
        elif step.stride % BANK == 0:
            shard.append(AxisStep(step.extent, step.stride // BANK, "Bank"))
        elif step.stride < 1 or BANK % step.stride:
            return None
        elif step.extent < BANK // step.stride:
            shard.append(step)
        elif step.extent % (BANK // step.stride) == 0:
            inside = BANK // step.stride
            shard += [AxisStep(step.extent // inside, 1, "Bank"), AxisStep(inside, step.stride, "F")]
        else:
            return None
    return bare(shard)
