"""`gemm_async` on logical tiles: a product into tensor memory that a thread issues (TIP-052).

| operand      | memory                          | extents                                     |
|--------------|---------------------------------|---------------------------------------------|
| `C`          | tensor memory                   | m, n                                        |
| `A`          | shared or tensor memory         | m, k; with `transA` k, m                    |
| `B`          | shared memory                   | n, k; with `transB` k, n; of a pair half of n |
| `SFA`, `SFB` | tensor memory                   | m, s and n, s: a factor for k / s elements  |

Elements of `C` have their values when a thread has seen the phase of a barrier that `tcgen05.commit` names (TIM-019).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from refmlc.diag.catalogue import SHAPE_MISMATCH, TENSOR_MEMORY_MISUSE, UNINITIALISED
from refmlc.lang.dtypes.bits import decoder, encoder
from refmlc.lang.ir import tir
from refmlc.lang.ir.tirx import TilePrimitiveCall
from refmlc.lang.ops.tile_operators import SCALED_GEMM_ASYNC
from refmlc.run.interp.asynchronous.operations import Move, OperationSource
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.tensorir.tensor_memory import TensorPlaces, cell_of
from refmlc.run.interp.threads.group import WARP, Group, Thread
from refmlc.run.interp.threads.matrix.tensor_memory.allocation import allocations
from refmlc.run.interp.threads.matrix.tensor_memory.pipeline import TensorOperation, content, issue
from refmlc.run.interp.tirx.primitives.matmul import Matrix, matrix
from refmlc.run.interp.tirx.primitives.operands import TileOperands, shown
from refmlc.run.interp.tirx.primitives.settings import TUNING
from refmlc.run.interp.tirx.tensor_copies import is_in_tensor_memory, joined
from refmlc.run.interp.tirx.tile_view import Scalar
from refmlc.run.interp.tirx.tiles import MemoryTile
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.tensor_memory import TensorMemory

Numbers: TypeAlias = NDArray[np.float32] | NDArray[np.int64]
Decode: TypeAlias = Callable[[int], Scalar]
WAYS = ("mma_m", "mma_n", "smem_desc", "weight_stationary")
"""Settings that choose instructions and descriptors: the layouts say where elements lie."""
NONE: Mapping[str, tuple[object, ...]] = {"cta_group": (1, 2, None), "descI": (None,)}
"""Settings that change nothing where they have one of these values."""
SHARES: Mapping[str, int] = {"float8_e8m0fnu": 32, "float8_e4m3fn": 16}
"""For how many elements along k a factor of a dtype is."""
STEPS = (32, 64)
"""The extent of k of one instruction, for elements of 8 and of 4 bits."""
BYTE = 8
READS = "a product"
INT32_BITS = 32


def refusal(call: TilePrimitiveCall) -> str:
    """What a setting asks for that is not executed; empty: nothing."""
    for key, value in call.config.items():
        plain = value.value if isinstance(value, tir.IntImm) else value
        if key not in (*TUNING, *WAYS) and plain not in NONE.get(key, ()):
            return f"the setting `{key}`, which may change what it computes"
    return ""


@dataclass(frozen=True, slots=True)
class TensorCells:
    """The cells of a block that an operation uses."""

    memory: TensorMemory
    operands: TileOperands

    def of(self, tile: MemoryTile, index: tuple[int, ...]) -> list[Pointer]:
        """All places of an element. Fails: RM304, RM351."""
        view, size = tile.corner.view, cell_size(tile.dtype)
        tile.offset(index)  # in bounds
        position = tuple([low + place for low, place in zip(tile.corner.mins, index, strict=True)])
        starts = [view.data.byte_offset + at * size for at in cast("TensorPlaces", view.addresses).offsets(position)]
        for start in starts:
            if not self.memory.is_allocated(cell_of(start)[1]):
                message = f"`{self.operands.name}` accesses column {cell_of(start)[1]} of tensor memory"
                raise self.operands.refuse(TENSOR_MEMORY_MISUSE, f"{message}; {allocations(self.memory)}")
        return [Pointer(self.memory.storage, start, view) for start in starts]


@dataclass(slots=True)
class TensorGemm:
    """A call, with its operands, while threads issue it. `sources`: what it reads."""

    call: TilePrimitiveCall
    scope: Scope
    operands: TileOperands
    members: Sequence[Thread]
    frame: Frame
    sources: list[tuple[Pointer, bytes]] = field(default_factory=list)

    def issue(self) -> None:
        """One thread, or the first of a warp, issues it. Fails: RM202, RM305, RM341, RM351, RM504."""
        operands = self.operands
        what = refusal(self.call)
        if what or len(self.members) not in (1, WARP):
            raise operands.unsupported(what or f"{len(self.members)} threads: one thread, or a warp, issues it")
        blocks = self._blocks()
        a, b, c = self._matrices(len(blocks))
        self._check_dtypes(a, b, c)
        thread = self.members[0].index
        name = cast("MemoryTile", c.tile).corner.view.buffer.name
        operation = TensorOperation((), name, self.call.span, _untold, pipeline=thread)
        operation.form = (self.call.op, a.extents, b.extents, c.tile.dtype)
        right = np.concatenate([self._values(operation, b, block) for block in blocks], axis=1)
        pieces = [
            piece
            for block in blocks
            for piece in self._written(c, block, self._product(operation, (a, c), cast("Numbers", right), block))
        ]
        operation.moves = [Move(place, None, data) for place, data in joined(pieces)]
        operation.sources = [OperationSource.read(place, len(data)) for place, data in joined(self.sources)]
        issue(self._group.asynchronous, thread, operation)

    @property
    def _group(self) -> Group:
        group = self.frame[self.scope.group]
        assert group is not None  # noqa: S101 - such threads are in a group
        return group

    def _blocks(self) -> tuple[int, ...]:
        """The block of the thread, or the pair of which it is. Fails: RM504 where the cluster has no such pair."""
        setting = self.call.config.get("cta_group")
        count = int(cast("int", setting.value if isinstance(setting, tir.IntImm) else setting or 1))
        group = self._group
        first = group.block_of(self.frame) // count * count
        if first + count > group.blocks:
            raise self.operands.unsupported(f"`cta_group={count}` in a cluster of {group.blocks} blocks")
        return tuple(range(first, first + count))

    def _written(self, c: Matrix, block: int, total: Numbers) -> list[tuple[Pointer, bytes]]:
        """The elements of C in a block, as bytes."""
        encode, size, cells = encoder(c.tile.dtype), cell_size(c.tile.dtype), self._cells(block)
        return [
            (place, encode(total[row, column].item()).to_bytes(size, "little"))
            for row in range(c.extents[0])
            for column in range(c.extents[1])
            for place in cells.of(cast("MemoryTile", c.tile), c.index(row, column))
        ]

    def _matrices(self, blocks: int) -> tuple[Matrix, Matrix, Matrix]:
        operands = self.operands
        a = matrix(operands, "A", transposed=operands.flag("transA"))
        b = matrix(operands, "B", transposed=not operands.flag("transB"))
        c = matrix(operands, "C")
        for name, found in (("A", a), ("B", b), ("C", c)):
            in_tensor_memory = is_in_tensor_memory(found.tile)
            in_shared = isinstance(found.tile, MemoryTile) and found.tile.corner.view.buffer.scope.startswith("shared")
            if not (in_tensor_memory if name == "C" else in_shared or (name == "A" and in_tensor_memory)):
                raise operands.unsupported(f"`{name}` in another memory than it may be in")
        (rows, depth), (other_depth, columns) = a.extents, b.extents
        if depth != other_depth or c.extents != (rows, columns * blocks):
            message = f"`{operands.name}` multiplies {shown(a.extents)} by {shown(b.extents)} into {shown(c.extents)}"
            raise operands.refuse(SHAPE_MISMATCH, message)
        return a, b, c

    def _check_dtypes(self, a: Matrix, b: Matrix, c: Matrix) -> None:
        total, dtypes = c.tile.dtype, (a.tile.dtype, b.tile.dtype)
        floats = total.element == "float32" and all(kind.is_float and kind.bits <= INT32_BITS for kind in dtypes)
        integers = total.element == "int32" and all(kind.is_integer and kind.bits == BYTE for kind in dtypes)
        if not (floats or integers):
            raise self.operands.unsupported(f"elements of {dtypes[0]} and {dtypes[1]}, and sums of {total}")

    def _product(
        self, operation: TensorOperation, operands: tuple[Matrix, Matrix], right: Numbers, block: int
    ) -> Numbers:
        """C, or C + A B, of a block: terms are added in the order of k, floats as float32."""
        a, c = operands
        left = self._values(operation, a, block)
        if len(self.call.args) == len(SCALED_GEMM_ASYNC):
            step = STEPS[a.tile.dtype.bits < BYTE]
            left = self._scaled(operation, "SFA", left, block, step)
            right = self._scaled(operation, "SFB", right.T, block, step).T
        total = np.zeros(c.extents, left.dtype)
        if self.operands.flag("accum"):
            read = len(self.sources)
            total = self._values(operation, c, block)
            del self.sources[read:]  # it is what the product writes
        with np.errstate(all="ignore"):
            for k in range(a.extents[1]):
                total = total + left[:, k : k + 1] * right[k : k + 1, :]
        if c.tile.dtype.is_float:
            return total
        return (total + (1 << INT32_BITS - 1)) % (1 << INT32_BITS) - (1 << INT32_BITS - 1)

    def _scaled(self, operation: TensorOperation, name: str, values: Numbers, block: int, step: int) -> Numbers:
        """Each row of a matrix, times its factors: those of a step of k are used again. Fails: RM202, RM504."""
        factors = matrix(self.operands, name)
        (rows, count), depth = factors.extents, values.shape[1]
        if not is_in_tensor_memory(factors.tile) or rows < len(values):
            message = f"`{name}` of `{self.operands.name}` has the shape {shown(factors.tile.shape)}"
            raise self.operands.refuse(SHAPE_MISMATCH, f"{message}, which does not fit {shown(values.shape)}")
        share = SHARES.get(factors.tile.dtype.element, 0)
        if not share or count not in (step // share, depth // share) or depth % step:
            raise self.operands.unsupported(f"{count} factors of {factors.tile.dtype} for {depth} elements")
        found = np.repeat(self._values(operation, factors, block)[: len(values)], share, axis=1)
        return values * np.tile(found, (1, depth // found.shape[1]))

    def _values(self, operation: TensorOperation, operand: Matrix, block: int) -> Numbers:
        """All elements of a matrix in a block, which the product reads. Fails: RM305, RM341, RM351."""
        tile, dtype = cast("MemoryTile", operand.tile), operand.tile.dtype
        rows, columns = operand.extents
        found = np.zeros((rows, columns), np.float32 if dtype.is_float else np.int64)
        decode, cells = decoder(dtype), self._cells(block)
        for row in range(rows):
            for column in range(columns):
                index = operand.index(row, column)
                if is_in_tensor_memory(tile):
                    found[row, column] = self._in_cells(operation, cells, tile, index, decode)
                else:
                    found[row, column] = decode(int.from_bytes(self._in_shared(tile, index, block), "little"))
        return found

    def _in_shared(self, tile: MemoryTile, index: tuple[int, ...], block: int) -> bytes:
        """An element of shared memory, of the same place in a block. Fails: RM304, RM305, RM341."""
        size, own = cell_size(tile.dtype), self._group.block_of(self.frame) == block
        place = _place(tile, index, size)
        if own:
            tile.load(index)
        else:
            place = self._group.memory.same(place, block, self.frame) or place
            if not place.storage.is_initialised(place.byte_offset, size):
                message = f"`{self.operands.name}` reads elements of block {block} of the cluster"
                raise self.operands.refuse(UNINITIALISED, f"{message}, of which some were never written")
        data = bytes(place.storage.bytes[place.byte_offset : place.byte_offset + size])
        self.sources.append((place, data))
        return data

    def _in_cells(
        self, operation: TensorOperation, cells: TensorCells, tile: MemoryTile, index: tuple[int, ...], decode: Decode
    ) -> Scalar:
        """An element of tensor memory, the same at each of its places. Fails: RM504 where it is not."""
        size = cell_size(tile.dtype)
        pieces = [(place, content(place, size, operation, READS)) for place in cells.of(tile, index)]
        if len({data for _, data in pieces}) > 1:
            raise self.operands.unsupported("an element of tensor memory whose copies differ")
        self.sources += pieces
        return decode(int.from_bytes(pieces[0][1], "little"))

    def _cells(self, block: int) -> TensorCells:
        return TensorCells(self._group.tensor_memory(self.frame, self.scope.machine.budget, block), self.operands)


def _untold(_frame: Frame, _phase: object) -> None:
    """Hooks see the elements that the tiles report."""


def _place(tile: MemoryTile, index: tuple[int, ...], size: int) -> Pointer:
    view = tile.corner.view
    return Pointer(view.data.storage, view.data.byte_offset + (view.offset + tile.offset(index)) * size, view)
