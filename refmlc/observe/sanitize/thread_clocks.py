"""A detector that follows what the threads of one loop know of each other (`clocks`)."""

from collections.abc import Sequence
from typing import cast

from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.observe.sanitize.clocks import Clocks
from refmlc.observe.sanitize.detector import Detector
from refmlc.observe.sanitize.facts import FactTable
from refmlc.run.interp.tensorir.frame import ACTIVATION, Frame, Slot

ORDERING = frozenset(("acq_rel", "sc", "acquire", "release"))
"""The words of fences that order accesses of their thread."""


class ThreadClocks(Detector):
    """The clocks of the threads of the outermost loop over `threadIdx`. `_thread`: the one that runs; None: none."""

    def __init__(self, facts: FactTable) -> None:
        super().__init__(facts)
        self._loop: tir.For | None = None
        self._slot: Slot[int] | None = None
        self._thread: int | None = None
        self._clocks = Clocks()

    def place(self) -> tuple[object, ...]:
        return (self._thread,)

    def go_to(self, place: tuple[object, ...]) -> None:
        self._thread = cast("int | None", place[0])

    def enter_loop(self, loop: tir.For, frame: Frame) -> None:
        if loop.tag.startswith("threadIdx") and self._loop is None:
            self._loop, self._clocks = loop, Clocks()
            self._slot = cast("Slot[int]", frame[ACTIVATION].layout.slot(loop.loop_var))
            self.begin(loop)

    def begin(self, loop: tir.For) -> None:
        """The threads begin."""

    def leave_loop(self, loop: tir.For, frame: Frame) -> None:
        if loop is self._loop:
            self.end(frame)
            self._loop = self._slot = self._thread = None

    def end(self, frame: Frame) -> None:
        """All threads have ended."""

    def resume_thread(self, loop: tir.For, frame: Frame) -> None:
        super().resume_thread(loop, frame)
        if loop is self._loop and self._slot is not None:
            self._thread = frame[self._slot]

    # ------------------------------------------------------------------------------------------------- what orders

    def meet(self, node: Node, implied: bool) -> None:
        del node, implied
        self._clocks.meet_all()

    def meet_in_part(self, node: Node, threads: Sequence[int]) -> None:
        del node
        self._clocks.meet(threads)

    def release(self, token: object, frame: Frame) -> None:
        del frame
        if self._thread is not None:
            self._clocks.release(self._thread, token)

    def acquire(self, token: object, frame: Frame) -> None:
        del frame
        if self._thread is not None:
            self._clocks.acquire(self._thread, token)

    def strong(self, token: object, order: str, frame: Frame) -> None:
        del frame
        if self._thread is not None:
            self._clocks.strong(self._thread, token, order)

    def fence(self, words: tuple[str, ...], frame: Frame) -> None:
        del frame
        if self._thread is not None and "proxy" not in words and ORDERING.intersection(words):
            self._clocks.fence(self._thread)
