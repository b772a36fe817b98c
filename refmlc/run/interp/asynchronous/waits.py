"""Waits for a phase of a barrier in memory, and questions whether it is complete (TIA-023, TIA-024).

| text                                                   | afterwards                                             |
|--------------------------------------------------------|--------------------------------------------------------|
| `T.cuda.mbarrier_wait(bar, parity)`                    | the phase of this parity is complete                   |
| `T.ptx.mbarrier.try_wait.parity.shared.b64(p, bar, …)` | the same, and `p` is 1                                 |
| `T.ptx.mbarrier.try_wait.shared.b64(p, bar, state)`    | the same of the phase in which an arrival gave `state` |
| `T.ptx.mbarrier.test_wait…`                            | others have run where it was not complete; `p` tells   |
|                                                        | whether it is now                                      |

PTX lets `try_wait` give up after a time that the machine chooses. Decision: that time is long.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import cast

from refmlc.diag import fail
from refmlc.diag.catalogue import BARRIER_MISUSE, UNSUPPORTED_INTRINSIC
from refmlc.lang.ir import tir
from refmlc.lang.ir.ptx import PtxCall
from refmlc.run.interp.asynchronous.barriers import MemoryBarrier
from refmlc.run.interp.asynchronous.instructions import ORDERS
from refmlc.run.interp.asynchronous.operands import Address, NotExecutedError
from refmlc.run.interp.asynchronous.place import InstructionSite
from refmlc.run.interp.tensorir.frame import Frame, Slot
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.threads.group import Awaited, Go, Meeting, Steps, Thread
from refmlc.run.interp.threads.schedule import Always

KNOWN = {*ORDERS, "mbarrier", "try_wait", "test_wait", "parity", "cuda", "mbarrier_wait"}


@dataclass(slots=True)
class PhaseWait:
    """A thread waits for a phase of this parity; `since`: the phase that was the current one when it began."""

    barrier: MemoryBarrier
    parity: int
    since: int

    @property
    def is_over(self) -> bool:
        """Whether the phase is complete: the current one has the other parity, or was another before."""
        return self.barrier.phase % 2 != self.parity or self.barrier.phase > self.since


@dataclass(frozen=True, slots=True)
class PhaseIsComplete:
    """What the threads at one wait wait for."""

    slot: Slot[PhaseWait]

    def holds(self, thread: Thread) -> bool:
        """Whether the thread may continue."""
        return thread.frame[self.slot].is_over

    def lacks(self, thread: Thread) -> str:
        """What it waits for."""
        return thread.frame[self.slot].barrier.state()

    def place(self, thread: Thread) -> object:
        """The barrier."""
        return thread.frame[self.slot].barrier

    def holders(self, thread: Thread) -> Collection[int] | None:
        """The threads that have arrived at the barrier, or issued copies for it; None: nobody has."""
        return thread.frame[self.slot].barrier.came or None


@dataclass(frozen=True, slots=True)
class Question:
    """A wait at its place in the text: of which barrier and phase, and what it tells.

    `waits`: it is no question, the thread continues when the phase is complete.
    """

    here: InstructionSite
    at: Address
    phase: Callable[[Frame, MemoryBarrier], tuple[int, int]]
    tell: Callable[[Frame, int], None] | None
    waits: bool

    @classmethod
    def of(cls, scope: Scope, ptx: PtxCall) -> "Question":
        """The wait that an instruction is. Fails: its words or operands are not known, or it is in no kernel."""
        if sum(tag.startswith("threadIdx") for tag in scope.threads) != 1:
            raise NotExecutedError("only the threads of a kernel execute it")
        here = InstructionSite(scope, ptx)
        timed = "try_wait" in ptx
        if not set(ptx.words) <= KNOWN or not 3 <= len(here.operands) <= 3 + timed:
            raise NotExecutedError("refmlc does not define it yet")
        named = ptx.family == "cuda" or "parity" in ptx
        phase = _of_parity(here) if named else _of_state(here)
        result = here.operands[0]
        tell = here.storing(0) if isinstance(result, tir.BufferLoad) else None
        return cls(here, here.address(1), phase, tell, "test_wait" not in ptx)

    def begin(self, frame: Frame) -> PhaseWait:
        """The wait of a thread. Fails: RM342."""
        barrier = self.here.barrier(self.at, frame, waits=True, own=True)
        return PhaseWait(barrier, *self.phase(frame, barrier))


def _of_parity(here: InstructionSite) -> Callable[[Frame, MemoryBarrier], tuple[int, int]]:
    parity, span = here.number(2), here.span

    def phase(frame: Frame, barrier: MemoryBarrier) -> tuple[int, int]:
        bit = parity(frame)
        if bit not in (0, 1):
            raise fail(BARRIER_MISUSE, f"the parity of a wait for `{barrier.name}` is {bit}", span)
        return bit, barrier.phase

    return phase


def _of_state(here: InstructionSite) -> Callable[[Frame, MemoryBarrier], tuple[int, int]]:  # TIA-024
    state, span = here.state(2), here.span

    def phase(frame: Frame, barrier: MemoryBarrier) -> tuple[int, int]:
        found = state(frame)
        if found.barrier is not barrier:
            raise fail(BARRIER_MISUSE, f"a wait for `{barrier.name}` has a state of another barrier", span)
        return found.phase % 2, found.phase

    return phase


def prepare_wait(scope: Scope, node: tir.Evaluate) -> Go:  # TIA-023, TIA-024
    """The statement, executed by a thread of a group."""
    call = cast("tir.Call", node.value)
    ptx = _instruction(call)
    try:
        question = Question.of(scope, ptx)
    except NotExecutedError as reason:
        message = f"`{ptx.name}` is not executed: {reason}"
        return _stopping(scope.unsupported(UNSUPPORTED_INTRINSIC, message, call.span))
    slot = cast("Slot[PhaseWait]", scope.layout.new())
    until: Awaited = PhaseIsComplete(slot) if question.waits else Always()
    meeting = Meeting(node, implied=False, part="thread", orders=False, until=until)
    condition = None if ptx.predicate is None else scope.expr(cast("tir.Expr", ptx.predicate))
    hooks, orders = scope.machine.hooks, "relaxed" not in ptx
    watched, schedule = orders and hooks.watches("acquire"), scope.machine.schedule

    def wait(frame: Frame) -> Steps:
        if condition is not None and not condition(frame):
            return
        waiting = frame[slot] = question.begin(frame)
        barrier, open_ = waiting.barrier, not waiting.is_over
        if schedule is not None:
            kind = f"wait {waiting.parity}" if question.waits else ""
            schedule.access(barrier, kind, call, idle=open_ and not question.waits)
        if open_ and (question.waits or schedule is None):
            yield meeting
            if not question.waits:
                waiting = question.begin(frame)
        if barrier.phase - waiting.since > 1:
            message = f"phases {waiting.since} and {barrier.phase - 1} of `{barrier.name}` are complete"
            raise fail(BARRIER_MISUSE, f"{message} before a thread that waits for the first has passed", call.span)
        if waiting.is_over:
            barrier.seen(frame)
            if watched and barrier.phase:
                hooks.acquire((barrier, barrier.phase - 1), frame)
        if question.tell is not None:
            question.tell(frame, int(waiting.is_over))

    return wait


def _instruction(call: tir.Call) -> PtxCall:
    """The instruction; that of CUDA has no result."""
    ptx = PtxCall.of(call)
    return PtxCall(call, "cuda", ("mbarrier_wait",), (None, *call.args)) if ptx is None else ptx


def _stopping(stop: Callable[[Frame], object]) -> Go:
    def steps(frame: Frame) -> Steps:
        stop(frame)
        yield from ()

    return steps
