"""The second run: some units are kept, each with the loops, blocks and allocations around it.

The events around a unit wait (`_open`) until a unit within them is kept. An event ends all that wait at its depth or
deeper, as it does in the trace; allocations wait half a level above, so that the events after them do not end them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import ReferenceType, ref

from refmlc.debug.trace.events import EventKind
from refmlc.debug.trace.recorder import TraceRecorder
from refmlc.debug.trace.units import UnwatchedUnit, quick
from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import IRModule, tir
from refmlc.run.interp.tensorir.block_sites import BlockSite
from refmlc.run.interp.tensorir.frame import Frame, Run, Slot
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.tensorir.views import View
from refmlc.run.memory.storage import Storage


@dataclass(frozen=True, slots=True)
class Sampling:
    """Keeps every `stride`-th unit, and those in `units`."""

    stride: int = 1
    units: frozenset[int] = frozenset()

    def next_unit(self, unit: int) -> int:
        """The first kept unit after `unit`."""
        regular = (unit // self.stride + 1) * self.stride
        return min([regular, *(extra for extra in self.units if extra > unit)])


OpenEvent = tuple[float, int, int, int, Slot[int] | None, BlockSite | None, Frame | None]
"""An open event: depth, step, site, the row of a buffer, and the slot, block and frame that give its values."""


class SampledRecorder(TraceRecorder):
    """Writes at most `most` events; `cut` is the step at which the limit was reached, or None."""

    def __init__(
        self, module: IRModule, function: str, most: int, sampling: Sampling, only: frozenset[str] = frozenset()
    ) -> None:
        super().__init__(module, function, only)
        self.trace.stride = sampling.stride
        self.is_writing = False
        self.cut: int | None = None
        self._most = most
        self._sampling = sampling
        self._step = 0
        self._next = 0
        self._epoch = 0  # changes whenever buffers get other memories
        self._open: list[OpenEvent] = []  # in the innermost call; those around a call are written when it begins
        self._stale: dict[int, tuple[ReferenceType[Storage], DType]] = {}

    @property
    def step(self) -> int:
        """The number of the next event."""
        return self._step

    @property
    def full(self) -> bool:
        """True when there is no more room."""
        return self.cut is not None

    # --------------------------------------------------------------------------------------------------- writing

    def _write(self, step: int, site: int, at: int, value: float) -> None:
        trace = self.trace
        if len(trace.site) >= self._most:
            self.cut = self._step if self.cut is None else self.cut
            self.is_writing = False
            self._next = 1 << 62
        if self.cut is None or trace.sites[site].kind is EventKind.FAIL:
            trace.steps.append(step)
            trace.site.append(site)
            trace.at.append(at)
            trace.value.append(value)

    def _flush(self) -> None:
        for _, step, site, row, slot, block, frame in self._open:
            at, value = row, 0.0
            if frame is not None and block is not None:
                at = len(self.trace.ints)
                self.trace.ints.extend(block.values(frame))
            elif frame is not None and slot is not None:
                number = frame[slot]
                value = number if isinstance(number, int | float) else 0.0
            self._write(step, site, at, value)
        self._open.clear()

    def _always(self, site: int, at: int) -> None:
        self._flush()
        self._write(self._step, site, at, 0.0)
        self._step += 1

    def _cell(self, site: int, address: int, value: float) -> None:
        if self._open:
            self._flush()
        self._write(self._step, site, address, value)
        self._step += 1

    def _omit(self, kind: EventKind, count: int) -> None:
        del kind
        self._step += count

    def _special(self, *, nan: bool) -> None:
        """Nothing to do: the first run has recorded it."""

    # --------------------------------------------------------------------------------------------------- waiting

    def _opens(self, site: int, depth: int, slot: Slot[int] | None, block: BlockSite | None, frame: Frame) -> None:
        opened = self._open
        while opened and opened[-1][0] >= depth:
            opened.pop()
        opened.append((depth, self._step, site, 0, slot, block, frame))
        self._step += 1

    def enter_block(self, site: BlockSite, frame: Frame) -> None:
        """An instance of a block begins."""
        number, depth = self._blocks.get(id(site)) or self._block(site, frame)
        opened = self._open
        while opened and opened[-1][0] >= depth:
            opened.pop()
        opened.append((depth, self._step, number, 0, None, site, frame))
        self._step += 1

    def _fresh(self, site: int, depth: int, row: int) -> None:
        self._stale.pop(self.memories.tensors[row].memory, None)
        self._epoch += 1
        while self._open and self._open[-1][0] >= depth:
            self._open.pop()
        self._open.append((depth - 0.5, self._step, site, row, None, None, None))
        self._step += 1

    def enter_function(self, name: str, args: Sequence[object]) -> None:
        """Record the call, in memories of its own."""
        super().enter_function(name, args)
        self._epoch += 1

    def leave_function(self, name: str, result: object) -> None:
        """The call ends, and drops what waits in it."""
        self._open.clear()
        super().leave_function(name, result)
        self._epoch += 1

    # ---------------------------------------------------------------------------------------------------- memory

    def _changed(self, memory: int, storage: Storage, dtype: DType) -> None:
        self._stale[memory] = (ref(storage), dtype)

    def _end_of_call(self) -> None:
        """Save the memories that omitted stores changed."""
        for memory, (storage, dtype) in self._stale.items():
            contents = storage()
            if contents is not None:
                self._contents(memory, contents, dtype)
        self._stale.clear()
        self._epoch += 1

    # ----------------------------------------------------------------------------------------------------- units

    def _unit(self, scope: Scope, stmt: tir.Stmt, run: Run) -> Run:
        alone = quick(scope, stmt, self._count)
        if alone is None:
            return self._watched(run)
        return self._unwatched(alone, run)

    def _count(self) -> None:
        self._step += 1

    def _watched(self, run: Run) -> Run:
        def unit(frame: Frame) -> None:
            self.unit += 1
            before, self.is_writing = self.is_writing, self.unit >= self._next
            if self.is_writing:
                self._next = self._sampling.next_unit(self.unit)
            try:
                run(frame)
            finally:
                self.is_writing = before

        return unit

    def _unwatched(self, alone: UnwatchedUnit, run: Run) -> Run:
        run_unwatched, events, view_of = alone.run, alone.loads + 1, alone.view
        run_recorded = self._recorded(run)
        last_view: ReferenceType[View] | None = None
        epoch = -1

        def unit(frame: Frame) -> None:
            nonlocal last_view, epoch
            self.unit = number = self.unit + 1
            if number >= self._next:
                self._next = self._sampling.next_unit(number)
                run_recorded(frame)
                return
            view = frame[view_of]
            if epoch != self._epoch or last_view is None or last_view() is not view:
                last_view, epoch = ref(view), self._epoch
                self._changed(self.memories.place(view)[2], view.data.storage, view.buffer.dtype)
            before = self._step
            try:
                run_unwatched(frame)
            except RefmlcError:
                self._step = before
                run_recorded(frame)  # it fails again, with all that it reads
            self._step += events

        return unit

    def _recorded(self, run: Run) -> Run:
        def recorded(frame: Frame) -> None:
            before, self.is_writing = self.is_writing, self.cut is None
            try:
                run(frame)
            finally:
                self.is_writing = before

        return recorded

    def _iteration(self, site: int, depth: int, slot: Slot[int] | None, run: Run) -> Run:
        opened = self._open

        def iteration(frame: Frame) -> None:
            while opened and opened[-1][0] >= depth:
                opened.pop()
            opened.append((depth, self._step, site, 0, slot, None, frame))
            self._step += 1
            run(frame)

        return iteration
