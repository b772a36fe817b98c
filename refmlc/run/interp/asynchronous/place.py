"""An instruction at its place in the text, and what threads tell others by it."""

from collections.abc import Callable, Sequence
from typing import TypeAlias, cast

from refmlc.diag import fail
from refmlc.diag.catalogue import BARRIER_MISUSE
from refmlc.lang.ir import tir
from refmlc.lang.ir.asynchronous import Instruction
from refmlc.run.interp.asynchronous.barriers import SIZE, BlockState, MemoryBarrier, PhaseState
from refmlc.run.interp.asynchronous.copies import Groups
from refmlc.run.interp.asynchronous.operands import Address, NotExecutedError, address, element_name
from refmlc.run.interp.tensorir.addresses import Touch, is_address, touching
from refmlc.run.interp.tensorir.frame import Frame, IntEval
from refmlc.run.interp.tensorir.opaque_values import held, holding
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.memory.pointer import Pointer

Do: TypeAlias = Callable[[Frame], None]


class Here:
    """An instruction at its place in the text: what it is prepared with."""

    def __init__(self, scope: Scope, node: tir.Call, parts: Instruction) -> None:
        self.scope = scope
        self.node = node
        self.words = parts.words
        self.operands = parts.operands
        self.predicate = parts.predicate
        self.predicates = parts.predicates
        tags = [tag for tag in scope.threads if tag.startswith("threadIdx")]
        self._thread = scope.axes[tags[0]]
        self._group = scope.group
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
                raise fail(BARRIER_MISUSE, f"{number} is no state that an arrival has given", self.node.span)
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
        """The number of the thread."""
        return cast("int", frame[self._thread])

    def block(self, frame: Frame) -> BlockState:
        """What the threads of the block share."""
        group = frame[self._group]
        assert group is not None  # noqa: S101 - such threads are in a group
        return group.asynchronous

    def groups(self, kind: str, frame: Frame) -> Groups:
        """The groups of the thread."""
        return self.block(frame).groups_of(kind, self.thread(frame))

    def barrier(self, at: Address, frame: Frame, *, proxied: bool = False, waits: bool = False) -> MemoryBarrier:
        """The barrier at an address, for an operation on it. Fails: RM342."""
        place = at.at(frame)
        barrier = self.block(frame).barrier(element_name(place), place, self.node.span)
        self._used(at, place, frame, proxied=proxied)
        if self.scope.machine.schedule is not None and not waits:
            self.scope.machine.schedule.access(barrier, _kind(self.words), self.node)
        return barrier

    def _used(self, at: Address, place: Pointer, frame: Frame, *, proxied: bool) -> None:
        """Tell hooks of an operation on a barrier: it is atomic, and a write as the beginning of the barrier is."""
        hooks = self.scope.machine.hooks
        if at not in self._uses:
            self._uses[at] = touching(self.scope, at.span, written=True, proxied=proxied)
        touch = self._uses[at]
        if touch is not None:
            hooks.before_atomic(self.node, "cta", frame)
            touch(frame, place, SIZE, None)
            hooks.after_atomic(self.node, frame)


def is_state(operand: tir.Attr) -> bool:
    """Whether an operand may hold the state of a barrier: a register of 64 bits."""
    return isinstance(operand, tir.BufferLoad) and operand.dtype.kind in ("int", "uint") and operand.dtype.bits == 64


def is_number(operand: tir.Attr) -> bool:
    """Whether an operand says itself that it is a number, and no address."""
    return isinstance(operand, tir.Expr) and operand.dtype.kind != "handle" and not is_address(operand)


def _kind(words: Sequence[str]) -> str:
    """The kind of an operation on a barrier, as schedules name it (TIW-012)."""
    if "bulk" in words or words[0] == "st_async":
        return "bring"
    counts = {"expect_tx", "noComplete"} & set(words)
    return "arrive" if not counts and words[1] in ("arrive", "mbarrier") else "barrier"


def signal(here: Here, barrier: MemoryBarrier, frame: Frame) -> None:
    """What the thread has done comes before what those do who wait for the current phase."""
    hooks = here.scope.machine.hooks
    if "relaxed" not in here.words and hooks.watches("release"):
        hooks.release((barrier, barrier.phase), frame)
