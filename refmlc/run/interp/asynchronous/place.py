"""An instruction at its place in the text, the thread that executes it, and what it tells others."""

from collections.abc import Callable
from typing import TypeAlias, cast

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_POINTER, BARRIER_MISUSE
from refmlc.lang.ir import tir
from refmlc.lang.ir.ptx import PtxCall
from refmlc.run.interp.asynchronous.barriers import SIZE, BlockState, MemoryBarrier, PhaseState
from refmlc.run.interp.asynchronous.operands import Address, NotExecutedError, address, element_name
from refmlc.run.interp.asynchronous.operations import Groups
from refmlc.run.interp.tensorir.addresses import Touch, is_address, name_of, touching
from refmlc.run.interp.tensorir.frame import Frame, IntEval
from refmlc.run.interp.tensorir.opaque_values import held, holding
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.threads.group import Group
from refmlc.run.memory.pointer import Pointer

Do: TypeAlias = Callable[[Frame], None]


class InstructionSite:
    """An instruction at its place in the text: what it is prepared with, and where the state of a thread is."""

    def __init__(self, scope: Scope, ptx: PtxCall) -> None:
        self.scope, self.ptx = scope, ptx
        self.node, self.span = ptx.call, ptx.span
        self.words, self.modifiers, self.operands = ptx.words, ptx.modifiers, ptx.unconverted
        self.hooks = scope.machine.hooks
        axes = [tag for tag in scope.threads if tag.startswith("threadIdx")]
        self._thread, self._group = scope.axes[axes[0]], scope.group
        self._uses: dict[Address, Touch | None] = {}

    def number(self, place: int) -> IntEval:
        """An operand that is a number. Fails: there is none."""
        return self.scope.int(self._operand(place))

    def address(self, place: int) -> Address:
        """An operand that is an address. Fails: there is none."""
        operand = self.operands[place] if place < len(self.operands) else None
        return address(self.scope, operand if isinstance(operand, tir.Buffer) else self._operand(place))

    def state(self, place: int) -> Callable[[Frame], PhaseState]:  # TIA-024
        """An operand that is the state of a barrier. Fails: it is no register of 64 bits; RM342: it holds none."""
        operand = self._operand(place)
        if not isinstance(operand, tir.BufferLoad) or not is_state(operand):
            raise NotExecutedError("a state of it is no register of 64 bits")
        known, value = held(self.scope, operand), self.scope.expr(operand)

        def state(frame: Frame) -> PhaseState:
            found = known(frame)
            if not isinstance(found, PhaseState):
                number = value(frame)
                raise fail(BARRIER_MISUSE, f"{number} is no state that an arrival has given", self.span)
            return found

        return state

    def holding_state(self, place: int) -> Callable[[Frame, PhaseState], None]:  # TIA-024
        """What puts the state of a barrier in an operand. Fails: it is no register of 64 bits."""
        operand = self._operand(place)
        if not isinstance(operand, tir.BufferLoad) or not is_state(operand):
            raise NotExecutedError("a state of it is no register of 64 bits")
        return holding(self.scope, operand)

    def storing(self, place: int) -> Callable[[Frame, int], None]:
        """What writes a number to an operand. Fails: it is no register of an integer."""
        operand = self._operand(place)
        if not isinstance(operand, tir.BufferLoad) or operand.dtype.kind not in ("int", "uint"):
            raise NotExecutedError("what it gives is not written to a register of an integer")
        var = tir.Var("result", operand.dtype)
        slot = self.scope.layout.declare(var)
        store = self.scope.stmt(tir.BufferStore(operand.buffer, var, operand.indices, span=operand.span))

        def write(frame: Frame, value: int) -> None:
            frame[slot] = value
            store(frame)

        return write

    def _operand(self, place: int) -> tir.Expr:
        operand = self.operands[place] if place < len(self.operands) else None
        if not isinstance(operand, tir.Expr):
            raise NotExecutedError(f"operand {place} of it is missing, or not a number")
        return operand

    def thread(self, frame: Frame) -> int:
        """The number of the thread, among those that run together."""
        return cast("int", frame[self._thread])

    def group(self, frame: Frame) -> Group:
        """What the threads that run together share."""
        return cast("Group", frame[self._group])

    def block(self, frame: Frame) -> BlockState:
        """The asynchronous operations of the block."""
        return self.group(frame).asynchronous

    def groups(self, kind: str, frame: Frame) -> Groups:
        """The groups of the thread."""
        return self.block(frame).groups_of(kind, self.thread(frame))

    def barrier(
        self,
        at: Address,
        frame: Frame,
        *,
        proxied: bool = False,
        waits: bool = False,
        own: bool = False,
        place: Pointer | None = None,
    ) -> MemoryBarrier:
        """The barrier at an address, for an operation on it; `own`: it is one of the block of the thread. Fails: RM342.

        `place`: where it is instead of the address.
        """
        place = at.at(frame) if place is None else place
        if own:
            self.check_own(place, frame)
        self.check_alive(place, frame)
        barrier = self.block(frame).barrier(self._name(place, frame), place, self.span)
        self._used(at, place, frame, proxied=proxied)
        if not waits:
            barrier.came.add(self.thread(frame))
        if self.scope.machine.schedule is not None and not waits:
            self.scope.machine.schedule.access(barrier, _kind(self.ptx), self.node)
        return barrier

    def _name(self, place: Pointer, frame: Frame) -> str:
        """The element at a place, and its block where that is another one."""
        group, name = frame[self._group], element_name(place)
        if group is None or not group.block or self.owner(place, frame) == group.block_of(frame):
            return name
        return f"{name}` of block `{self.owner(place, frame)}"

    # ------------------------------------------------------------------------------------- blocks of a cluster

    def owner(self, place: Pointer, frame: Frame) -> int:  # TIX-030
        """The block of the cluster whose memory a place is in."""
        group = frame[self._group]
        own = 0 if group is None else group.block_of(frame)
        owner = None if group is None else group.memory.owner(place)
        return own if owner is None else owner

    def check_own(self, place: Pointer, frame: Frame) -> None:  # TIX-030
        """Fails: RM313 where a place is in memory of another block."""
        group = frame[self._group]
        if group is not None and group.block and self.owner(place, frame) != group.block_of(frame):
            message = f"`{name_of(place)}` is of block {self.owner(place, frame)} of the cluster"
            raise fail(BAD_POINTER, f"{message}, the instruction is for memory of the own block", self.span)

    def check_alive(self, place: Pointer, frame: Frame) -> None:  # TIX-034
        """Fails: RM313 where the block whose memory a place is in has ended."""
        group = frame[self._group]
        owner = None if group is None else group.memory.owner(place)
        if group is not None and owner is not None and group.memory.is_over(owner):
            message = f"`{name_of(place)}` is of block {owner} of the cluster, which has ended"
            raise fail(BAD_POINTER, message, self.span)

    def check_beside(self, into: Pointer, barrier: Pointer, frame: Frame, *, pair: bool = False) -> None:  # TIX-032
        """Fails: RM313 where a barrier is in another block (`pair`: in none of the pair) than what it tells of."""
        size = 2 if pair else 1
        to, at = self.owner(into, frame), self.owner(barrier, frame)
        if to // size != at // size:
            message = f"the destination is in block {to} of the cluster, the barrier in block {at}"
            raise fail(BAD_POINTER, message, self.span)

    def in_blocks(self, place: Pointer, mask: int, frame: Frame) -> list[tuple[int, Pointer]]:  # TIX-033
        """The same place in each block of a mask. Fails: RM313 where the cluster has no such block."""
        group = frame[self._group]
        blocks = 1 if group is None else group.blocks
        if mask <= 0 or mask >> blocks:
            size = "one block" if blocks == 1 else f"{blocks} blocks"
            raise fail(BAD_POINTER, f"a copy to the blocks of the mask {mask:#x}, the cluster has {size}", self.span)
        places = [(block, self.same(place, block, frame)) for block in range(blocks) if mask >> block & 1]
        for _, there in places:
            self.check_alive(there, frame)
        return places

    def same(self, place: Pointer, block: int, frame: Frame) -> Pointer:  # TIX-030
        """The same place in another block."""
        group = frame[self._group]
        there = None if group is None else group.memory.same(place, block, frame)
        return place if there is None else there

    def _used(self, at: Address, place: Pointer, frame: Frame, *, proxied: bool) -> None:
        """Tell hooks of an operation on a barrier: it is atomic, and a write as the beginning of the barrier is."""
        if at not in self._uses:
            self._uses[at] = touching(self.scope, at.span, written=True, proxied=proxied)
        touch = self._uses[at]
        if touch is not None:
            self.hooks.before_atomic(self.node, "cluster", frame)
            touch(frame, place, SIZE, None)
            self.hooks.after_atomic(self.node, frame)


def is_state(operand: tir.Attr) -> bool:
    """Whether an operand may hold the state of a barrier: a register of 64 bits."""
    return isinstance(operand, tir.BufferLoad) and operand.dtype.kind in ("int", "uint") and operand.dtype.bits == 64


def is_number(operand: tir.Attr) -> bool:
    """Whether an operand says itself that it is a number, and no address."""
    return isinstance(operand, tir.Expr) and operand.dtype.kind != "handle" and not is_address(operand)


def _kind(ptx: PtxCall) -> str:
    """The kind of an operation on a barrier, as schedules name it (TIW-012)."""
    if "bulk" in ptx or ptx.family == "st_async":
        return "bring"
    counts = ptx.one_of("expect_tx", "noComplete")
    return "arrive" if not counts and ptx.words[1] in ("arrive", "mbarrier") else "barrier"


def signal(here: InstructionSite, barrier: MemoryBarrier, frame: Frame) -> None:
    """What the thread has done comes before what those do who wait for the current phase."""
    if "relaxed" not in here.ptx and here.hooks.watches("release"):
        here.hooks.release((barrier, barrier.phase), frame)
