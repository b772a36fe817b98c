"""Who runs next (TIW-012): without a schedule threads take turns in one order; with one it chooses at each event.

Events of synchronisation are operations on barriers in memory and atomic operations. A thread lets others run before
each of them, so a schedule decides in which order they come; between two events nothing interrupts a thread. What
others may have written meanwhile is no matter: accesses that are not ordered race, in whichever order they come.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from refmlc.lang.ir import tir
from refmlc.lang.ir.asynchronous import is_asynchronous
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.ptx import PtxCall
from refmlc.lang.ir.threads import is_atomic
from refmlc.lang.ir.visit import walk

if TYPE_CHECKING:
    from refmlc.run.interp.threads.group import Thread


class ThreadSchedule:
    """Chooses the thread that runs next, the first one that may; subclasses choose otherwise, and note what happens."""

    def begin(self, threads: "Sequence[Thread]") -> None:
        """The threads of a block begin."""

    def choose(self, ready: "Sequence[Thread]") -> "Thread":
        """One of the threads that may run."""
        return ready[0]

    def access(self, place: object, kind: str, call: tir.Call, *, idle: bool = False) -> None:
        """The running thread has an event at a place, a barrier or an element; `idle`: it leaves the value as it is.

        | kind                        | is                                                            |
        |-----------------------------|---------------------------------------------------------------|
        | `arrive`, `bring`           | an arrival, or a copy that brings bytes                       |
        | `barrier`                   | another operation on a barrier                                |
        | `wait 0`, `wait 1`          | a wait for the phase of this parity                           |
        | `add`, `min`, …             | an atomic operation whose order does not matter for the value |
        | empty                       | another atomic operation                                      |
        """

    def paused(self) -> None:
        """The running thread waits, or lets others run."""

    def met(self, members: "Sequence[Thread]", arrived: "Sequence[Thread]") -> None:
        """Threads have met; those that arrived do not wait for the others."""

    def woken(self, thread: "Thread", place: object) -> None:
        """A thread may pass, that waited for the state of a place."""


class Always:
    """What a thread waits for that only lets others run."""

    def holds(self, thread: "Thread") -> bool:
        """It may continue."""
        del thread
        return True

    def lacks(self, thread: "Thread") -> str:
        """Nothing."""
        del thread
        return "lacks nothing"

    def place(self, thread: "Thread") -> object:
        """There is none but itself."""
        del thread
        return self

    def holders(self, thread: "Thread") -> tuple[int, ...]:
        """Nobody."""
        del thread
        return ()


def is_event(*nodes: Node) -> bool:
    """Whether there is an event of synchronisation in statements or expressions."""
    return any(is_atomic(part) or _is_of_barrier(part) for node in nodes for part in walk(node))


def _is_of_barrier(node: Node) -> bool:
    if not is_asynchronous(node):
        return False
    ptx = PtxCall.of(node)
    words = (str(cast("tir.Call", node).callee),) if ptx is None else ptx.words
    return any("mbarrier" in word for word in words)
