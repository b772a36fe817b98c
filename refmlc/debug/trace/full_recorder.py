"""The first run: all events are written up to a limit, and only counted beyond it.

Counting is fast: units with a static number of loads run unwatched, and the stored value is read back afterwards, which
finds the first NaN and the first infinity.
"""

from collections import Counter

from refmlc.debug.trace.events import EventKind
from refmlc.debug.trace.recorder import TraceRecorder
from refmlc.debug.trace.units import UnwatchedUnit, quick
from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import IRModule, tir
from refmlc.run.interp.tensorir.block_sites import BlockSite
from refmlc.run.interp.tensorir.frame import Frame, Run, Slot
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.memory.storage import Storage


class FullRecorder(TraceRecorder):
    """Writes at most `most` events. `nan_unit`, `inf_unit`: the units of the first NaN and infinity, or -1."""

    def __init__(self, module: IRModule, function: str, most: int, only: frozenset[str] = frozenset()) -> None:
        super().__init__(module, function, only)
        self.over = False
        self.nan_unit = self.inf_unit = -1
        self._most = most
        self._loaded = self._stored = self._iterated = self._entered = 0  # events that are only counted
        self._others: Counter[str] = Counter()

    @property
    def step(self) -> int:
        """The number of the next event."""
        counted = self._loaded + self._stored + self._iterated + self._entered
        return counted + self._others.total() if self.over else len(self.trace.site)

    @property
    def full(self) -> bool:
        """Whether events are only counted."""
        return self.over

    @property
    def counts(self) -> dict[str, int]:
        """The events by kind."""
        counts = Counter(self._others)
        for site, times in Counter(self.trace.site).items():
            counts[self.trace.sites[site].kind.value] += times
        counts.update(load=self._loaded, store=self._stored, iter=self._iterated, block=self._entered)
        return {kind.value: counts[kind.value] for kind in EventKind if counts[kind.value]}

    def _overflow(self) -> None:
        """Too many events: drop the written ones and keep only their counts."""
        trace = self.trace
        self._others = Counter(self.counts)
        self.over, self.is_writing = True, False
        for column in (trace.site, trace.at, trace.value, trace.ints):
            del column[:]
        trace.contents.clear()
        trace.calls.clear()
        trace.bindings.clear()

    def _always(self, site: int, at: int) -> None:
        if self.over:
            self._others[self.trace.sites[site].kind.value] += 1
            return
        self._cell(site, at, 0.0)
        if len(self.trace.site) > self._most:
            self._overflow()

    def _cell(self, site: int, address: int, value: float) -> None:
        trace = self.trace
        trace.site.append(site)
        trace.at.append(address)
        trace.value.append(value)

    def _omit(self, kind: EventKind, count: int) -> None:
        match kind:
            case EventKind.LOAD:
                self._loaded += count
            case EventKind.STORE:
                self._stored += count
            case _:
                self._others[kind.value] += count

    def enter_block(self, site: BlockSite, frame: Frame) -> None:
        """An instance of a block begins."""
        if self.over:  # the fast path
            self._entered += 1
        else:
            super().enter_block(site, frame)

    def _opens(self, site: int, depth: int, slot: Slot[int] | None, block: BlockSite | None, frame: Frame) -> None:
        del depth
        if self.over:
            self._iterated += block is None
            self._entered += block is not None
            return
        trace = self.trace
        trace.site.append(site)
        if block is None:
            value = 0.0 if slot is None else frame[slot]
            trace.at.append(0)
            trace.value.append(value if isinstance(value, int | float) else 0.0)
        else:
            trace.at.append(len(trace.ints))
            trace.value.append(0.0)
            trace.ints.extend(block.values(frame))

    def _unit(self, scope: Scope, stmt: tir.Stmt, run: Run) -> Run:
        alone, events, most = quick(scope, stmt, self._count), self.trace.site, self._most

        def unit(frame: Frame) -> None:
            self.unit += 1
            if not self.over:
                run(frame)
                if len(events) > most:
                    self._overflow()
            elif alone is None:
                run(frame)
            else:
                counted(alone, run, frame)

        def counted(alone: UnwatchedUnit, run: Run, frame: Frame) -> None:
            before = self._loaded
            try:
                alone.run(frame)
            except RefmlcError:  # it fails again, and is counted up to there
                self._loaded = before
                run(frame)
            self._loaded += alone.loads
            if alone.back is not None:
                value = alone.back(frame)
                if value - value != 0:  # true for NaN and infinities
                    self._special(nan=value != value)  # noqa: PLR0124 - quick
            self._stored += 1

        return unit

    def _count(self) -> None:
        self._loaded += 1

    def _iteration(self, site: int, depth: int, slot: Slot[int] | None, run: Run) -> Run:
        del depth
        trace = self.trace
        sites, ats, values = trace.site.append, trace.at.append, trace.value.append

        def iteration(frame: Frame) -> None:
            if self.over:
                self._iterated += 1
            else:
                sites(site)
                ats(0)
                values(0.0 if slot is None else frame[slot])
            run(frame)

        return iteration

    def _fresh(self, site: int, depth: int, row: int) -> None:
        del depth
        self._always(site, row)

    def _end_of_call(self) -> None:
        pass

    def _changed(self, memory: int, storage: Storage, dtype: DType) -> None:
        pass

    def _special(self, *, nan: bool) -> None:
        trace = self.trace
        if nan and trace.first_nan is None:
            trace.first_nan, self.nan_unit = self.step, self.unit
        elif not nan and trace.first_inf is None:
            trace.first_inf, self.inf_unit = self.step, self.unit
