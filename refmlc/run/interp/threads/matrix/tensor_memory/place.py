"""An instruction on tensor memory at its place in the text, and the state of the thread that executes it."""

from refmlc.diag import fail
from refmlc.diag.catalogue import TENSOR_MEMORY_MISUSE, UNSUPPORTED_CONSTRUCT
from refmlc.diag.errors import RefmlcError
from refmlc.lang.dtypes import INT32, UINT32
from refmlc.lang.ir import tir
from refmlc.lang.ir.ptx import PtxCall
from refmlc.run.interp.asynchronous.place import InstructionSite
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.tensorir.views import view_on
from refmlc.run.interp.threads.group import WARP
from refmlc.run.interp.threads.matrix.shared_matrices import PlaceOf
from refmlc.run.interp.threads.matrix.work import NotExecuted
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.tensor_memory import COLUMNS, LANES, TensorMemory

CELLS = tir.Buffer("tmem", UINT32, (tir.IntImm(INT32, LANES), tir.IntImm(INT32, COLUMNS)), scope="tmem")
"""Tensor memory as messages and hooks see it: a buffer of its cells."""


GROUPS = {"cta_group::1": 1, "cta_group::2": 2}
"""How many blocks an instruction is about, by its modifier."""
NUMBERS = ("int", "uint", "bool")


class TensorInstruction(InstructionSite):
    """An instruction on tensor memory. Fails: NotExecuted where threads of several axes execute it."""

    def __init__(self, scope: Scope, ptx: PtxCall) -> None:
        if sum(tag.startswith("threadIdx") for tag in scope.threads) != 1:
            raise NotExecuted("by threads of several axes")
        super().__init__(scope, ptx)

    def check_count(self, count: int) -> None:
        """Fails: NotExecuted where it has another number of operands."""
        if len(self.operands) != count:
            raise NotExecuted(f"has {len(self.operands)} operands, of which {count} are expected")

    def integer(self, place: int) -> tir.Expr:
        """An operand that is an integer. Fails: NotExecuted."""
        operand = self.operands[place]
        if not isinstance(operand, tir.Expr) or operand.dtype.is_vector or operand.dtype.kind not in NUMBERS:
            raise NotExecuted(f"has an operand {place} that is not a number")
        return operand

    def warp(self, frame: Frame) -> int:
        """The number of the warp in its block."""
        group = self.group(frame)
        thread = self.thread(frame)
        return (thread % group.block if group.block else thread) // WARP

    def is_first(self, frame: Frame) -> bool:
        """Whether the thread is the first of its warp, by which hooks see what the warp does."""
        return self.thread(frame) % WARP == 0

    def memory(self, frame: Frame, block: int | None = None) -> TensorMemory:
        """The tensor memory of a block, that of the thread where none is given. Fails: RM603."""
        memory = self.group(frame).tensor_memory(frame, self.scope.machine.budget, block)
        if memory.base is None:
            memory.base = view_on(CELLS, Pointer(memory.storage), (LANES, COLUMNS), None, 0)
        return memory

    def blocks(self, frame: Frame, count: int) -> tuple[int, ...]:
        """The block of the thread, or the pair of which it is.

        Fails: RM504 where the cluster has no such pair, or the block has executed an instruction with another number.
        """
        group, memory = self.group(frame), self.memory(frame)
        first, name = group.block_of(frame) // count * count, f"`tcgen05.{self.modifiers[0]}` with `cta_group::{count}`"
        if first + count > group.blocks:
            raise fail(UNSUPPORTED_CONSTRUCT, f"{name} in a cluster of {group.blocks} blocks: not executed", self.span)
        if memory.blocks not in (0, count):
            message = f"{name} beside others with `cta_group::{memory.blocks}`: not executed"
            raise fail(UNSUPPORTED_CONSTRUCT, message, self.span)
        memory.blocks = count
        return tuple(range(first, first + count))

    def in_block(self, frame: Frame, block: int) -> PlaceOf:
        """What finds the same place in the shared memory of a block."""
        group = self.group(frame)

        def same(place: Pointer) -> Pointer:
            return group.memory.same(place, block, frame) or place

        return same

    def misuse(self, message: str) -> RefmlcError:
        """The failure of a use of tensor memory that is against its rules: RM351."""
        return fail(TENSOR_MEMORY_MISUSE, message, self.span)
