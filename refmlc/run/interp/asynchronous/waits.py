"""The wait for a phase of a barrier in memory (TIA-023).

| text                                                  | afterwards                                              |
|-------------------------------------------------------|---------------------------------------------------------|
| `T.cuda.mbarrier_wait(bar, parity)`                   | the phase of this parity is complete                    |
| `T.ptx.mbarrier.try_wait.parity.shared.b64(p, bar, …)` | the same, and `p` is 1                                  |

PTX lets `try_wait` give up after a time that the machine chooses. Decision: that time is long.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from refmlc.diag import fail
from refmlc.diag.catalogue import BARRIER_MISUSE, UNSUPPORTED_INTRINSIC
from refmlc.lang.ir import tir
from refmlc.lang.ir.asynchronous import WAIT, Instruction, instruction
from refmlc.run.interp.asynchronous.barriers import MemoryBarrier
from refmlc.run.interp.asynchronous.instructions import ORDERS
from refmlc.run.interp.asynchronous.operands import NotExecutedError
from refmlc.run.interp.asynchronous.place import Here
from refmlc.run.interp.tensorir.frame import Frame, Run, Slot
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.threads.group import Go, Meeting, Steps, Thread


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


def prepare_wait(scope: Scope, node: tir.Evaluate) -> Go:  # TIA-023
    """The statement, executed by a thread of a group."""
    call = cast("tir.Call", node.value)
    parts = _parts(call)
    known = {*ORDERS, "mbarrier", "try_wait", "parity", "cuda", "mbarrier_wait"}
    if not set(parts.words) <= known or sum(tag.startswith("threadIdx") for tag in scope.threads) != 1:
        stop = scope.unsupported(UNSUPPORTED_INTRINSIC, f"`{parts.name}` is not executed here", call.span)
        return _stopping(stop)
    here = Here(scope, call, parts)
    try:
        at, parity = here.address(1), here.number(2)
    except NotExecutedError as reason:
        message = f"`{parts.name}` is not executed: {reason}"
        return _stopping(scope.unsupported(UNSUPPORTED_INTRINSIC, message, call.span))
    slot = cast("Slot[PhaseWait]", scope.layout.new())
    until = PhaseIsComplete(slot)
    meeting = Meeting(node, implied=False, part="thread", orders=False, until=until)
    tell = _told(scope, parts)
    condition = None if parts.predicate is None else scope.expr(cast("tir.Expr", parts.predicate))
    hooks, orders = scope.machine.hooks, "relaxed" not in parts.words
    watched, schedule = orders and hooks.watches("acquire"), scope.machine.schedule

    def wait(frame: Frame) -> Steps:
        if condition is not None and not condition(frame):
            return
        barrier, bit = here.barrier(at, frame, waits=True), parity(frame)
        if bit not in (0, 1):
            raise fail(BARRIER_MISUSE, f"the parity of a wait for `{barrier.name}` is {bit}", call.span)
        if schedule is not None:
            schedule.access(barrier, f"wait {bit}", call)
        waiting = frame[slot] = PhaseWait(barrier, bit, barrier.phase)
        if not waiting.is_over:
            yield meeting
        if barrier.phase - waiting.since > 1:
            message = f"phases {waiting.since} and {barrier.phase - 1} of `{barrier.name}` are complete"
            raise fail(BARRIER_MISUSE, f"{message} before a thread that waits for the first has passed", call.span)
        barrier.seen(frame)
        if watched and barrier.phase:
            hooks.acquire((barrier, barrier.phase - 1), frame)
        if tell is not None:
            tell(frame)

    return wait


def _parts(call: tir.Call) -> Instruction:
    """The instruction; that of CUDA has no result."""
    if call.callee == WAIT:
        return Instruction(tuple(WAIT.split(".")), (None, *call.args))
    return instruction(call)


def _told(scope: Scope, parts: Instruction) -> Run | None:
    """The store of the result."""
    result = parts.operands[0]
    if not isinstance(result, tir.BufferLoad):
        return None
    value = tir.IntImm(result.dtype, 1, span=result.span)
    return scope.stmt(tir.BufferStore(result.buffer, value, result.indices, span=result.span))


def _stopping(stop: Callable[[Frame], object]) -> Go:
    def steps(frame: Frame) -> Steps:
        stop(frame)
        yield from ()

    return steps
