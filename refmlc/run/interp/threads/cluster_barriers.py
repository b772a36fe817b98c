"""The barrier of a cluster of blocks (TIX-022).

| text                                       | thread                                                            |
|--------------------------------------------|-------------------------------------------------------------------|
| `T.ptx.barrier.cluster.arrive()`           | arrives; what it did before is done before the phase is complete  |
| `T.ptx.barrier.cluster.arrive.relaxed()`   | arrives; that orders nothing                                      |
| `T.ptx.barrier.cluster.wait()`             | waits until all threads of the cluster have arrived in its phase  |
| `T.cuda.cluster_sync()`                    | arrives, then waits                                               |

A thread that has ended is not waited for. `.release`, `.acquire` and `.aligned` say what these are without them, or
what a compiler may assume. A block that is launched without clusters is a cluster of its own.
"""

from dataclasses import dataclass
from typing import cast

from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.ir import tir
from refmlc.lang.ir.clusters import SYNC
from refmlc.lang.ir.ptx import PtxCall
from refmlc.run.interp.tensorir.frame import Frame, Slot
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.threads.cluster_arrivals import ClusterArrivals
from refmlc.run.interp.threads.group import Go, Group, Meeting, Steps, Thread

KNOWN = frozenset(("cluster", "arrive", "wait", "aligned", "release", "relaxed", "acquire"))


@dataclass(slots=True)
class ClusterPhase:
    """The phase in which a thread arrived that waits."""

    arrivals: ClusterArrivals
    phase: int
    count: int


@dataclass(frozen=True, slots=True)
class AllHaveArrived:
    """What threads at the barrier of a cluster wait for."""

    slot: Slot[ClusterPhase]

    def holds(self, thread: Thread) -> bool:
        """Whether the phase of the thread is complete."""
        waiting = thread.frame[self.slot]
        return waiting.arrivals.phase > waiting.phase

    def lacks(self, thread: Thread) -> str:
        """How many threads have not arrived."""
        waiting = thread.frame[self.slot]
        missing = len(waiting.arrivals.missing(waiting.count))
        return f"the barrier of the cluster lacks {missing} of {waiting.count} threads"

    def place(self, thread: Thread) -> object:
        """The barrier."""
        return thread.frame[self.slot].arrivals

    def holders(self, thread: Thread) -> list[int]:
        """The threads that have not arrived."""
        waiting = thread.frame[self.slot]
        return waiting.arrivals.missing(waiting.count)


def prepare_cluster_barrier(scope: Scope, node: tir.Evaluate) -> Go:
    """The statement, executed by a thread of a group."""
    call = cast("tir.Call", node.value)
    words = _words(call)
    axes = [tag for tag in scope.threads if tag.startswith("threadIdx")]
    if not words or len(axes) != 1:
        return _stopping(scope, call, f"`T.{call.callee}` is not executed here")
    index, slot = scope.axes[axes[0]], cast("Slot[ClusterPhase]", scope.layout.new())
    meeting = Meeting(node, implied=False, part="thread", orders=False, until=AllHaveArrived(slot))
    arrives, waits = "arrive" in words, "wait" in words
    again = scope.failing(UNSUPPORTED_CONSTRUCT, call.span)
    hooks, group_of = scope.machine.hooks, scope.group
    releases = "relaxed" not in words and hooks.watches("release")
    acquires = hooks.watches("acquire")

    def steps(frame: Frame) -> Steps:
        group, thread = cast("Group", frame[group_of]), cast("int", frame[index])
        arrivals = group.arrivals
        if arrives:
            if thread in arrivals.open:
                raise again(frame, "a thread that arrives at the barrier of its cluster again before it waits")
            arrivals.open[thread] = arrivals.phase
            if releases:
                hooks.release((arrivals, arrivals.phase), frame)
            arrivals.arrived.add(thread)
            arrivals.settle(group.threads)
        if waits:
            if thread not in arrivals.open:
                raise again(frame, "a thread that waits at the barrier of its cluster and has not arrived")
            phase = arrivals.open[thread]
            frame[slot] = ClusterPhase(arrivals, phase, group.threads)
            yield meeting
            del arrivals.open[thread]
            if acquires:
                hooks.acquire((arrivals, phase), frame)

    return steps


def _words(call: tir.Call) -> frozenset[str]:
    """The words of a barrier; none: it has others, or operands."""
    if call.callee == SYNC:
        return frozenset(("arrive", "wait"))
    item = PtxCall.of(call)
    words = frozenset(() if item is None else item.modifiers)
    plain = item is not None and item.is_plain and not item.operands
    return words if plain and words <= KNOWN and ("arrive" in words) is not ("wait" in words) else frozenset()


def _stopping(scope: Scope, call: tir.Call, what: str) -> Go:
    stop = scope.unsupported(UNSUPPORTED_CONSTRUCT, what, call.span)

    def steps(frame: Frame) -> Steps:
        stop(frame)
        yield from ()

    return steps
