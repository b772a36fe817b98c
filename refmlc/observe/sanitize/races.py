"""RM321: two iterations of a loop that may run at the same time access one element, and one of them writes (TIR-225).

| loop                             | iterations may run at the same time                                            |
|----------------------------------|--------------------------------------------------------------------------------|
| `T.parallel`, `T.vectorized`     | always                                                                         |
| `blockIdx` axis                  | always; shared and private memory is seen by nobody else                       |
| `threadIdx` axis                 | between two meetings of the threads of a block (TIR-227): every meeting orders |
|                                  | accesses to shared memory, a barrier in the text those to all memory; private  |
|                                  | memory is seen by nobody else                                                  |
| serial, unrolled, virtual thread | never                                                                          |

Where the IR itself says how iterations come together: a block with an init whose reduce axis is bound to `threadIdx` is
a reduction across threads. A buffer that a block allocates around the loop and that only the loop uses belongs to each
iteration: only a read of what another iteration wrote is a race there (TIR-226). Threads that write the same value to
an element of shared memory do not race: each of them leaves what the others do.

For each element are kept the last writer and one reader. That is enough: iterations run in order, those of threads
between two meetings, so an access that races with any access before races with one of these.
"""

from dataclasses import dataclass
from typing import TypeAlias, cast

from refmlc.diag import Diagnostic, Related
from refmlc.diag.catalogue import RACE
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind, IterKind
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.scopes import axes_of, is_thread
from refmlc.lang.ir.visit import walk
from refmlc.observe.sanitize.detector import Detector, Reach
from refmlc.observe.sanitize.elements import Elements, element, size_of
from refmlc.observe.sanitize.facts import FactTable
from refmlc.run.interp.tensorir.block_sites import BlockSite
from refmlc.run.interp.tensorir.frame import ACTIVATION, Frame, Slot
from refmlc.run.interp.tensorir.views import View

Values: TypeAlias = "tuple[int | None, ...]"
AT_ONCE = (ForKind.PARALLEL, ForKind.VECTORIZED, ForKind.THREAD_BINDING)


@dataclass(slots=True, eq=False)
class Racing:
    """One execution of a loop whose iterations may run at the same time."""

    loop: tir.For
    tag: str
    slot: Slot[int]


@dataclass(slots=True, eq=False)
class Iteration:
    """Where in such an execution the run is: the frame that holds the variable. `muted` counts reductions across it."""

    frame: Frame
    muted: int = 0


@dataclass(slots=True)
class Access:
    """An access: the loops around it, the values of their variables, after which meeting, and where it stands."""

    loops: tuple[Racing, ...]
    values: Values
    phase: int
    node: tir.BufferLoad | tir.BufferStore
    value: object = None


@dataclass(slots=True)
class Accesses:
    """The accesses of an element that later ones are compared with."""

    writer: Access | None = None
    reader: Access | None = None

    def note_reader(self, now: Access) -> None:
        """Keep `now` where it is in the same iterations as the reader so far.

        Iterations run in order, so a reader in an earlier iteration races with whatever a later one races with.
        """
        if self.reader is None or differ(self.reader, now) is None:
            self.reader = now


class Races(Detector):
    """Compares the accesses of the iterations of loops."""

    code = RACE
    reach = Reach.NOT_PLAIN

    def __init__(self, facts: FactTable) -> None:
        super().__init__(facts)
        self._loops: tuple[Racing, ...] = ()
        self._iterations: tuple[Iteration, ...] = ()
        self._barriers = 0
        self._meetings = 0
        self._twice: tuple[Access, Access, View, int, Frame] | None = None
        self._accesses: Elements[Accesses] = Elements()
        self._reduce_vars: dict[BlockSite, tuple[tir.Var, ...]] = {}
        self._privacy: dict[tir.Buffer, tuple[tuple[Racing, ...], tuple[Racing, ...]]] = {}

    def place(self) -> tuple[object, ...]:
        """The loops around, and where in them the run is."""
        return self._loops, tuple(Iteration(one.frame, one.muted) for one in self._iterations)

    def go_to(self, place: tuple[object, ...]) -> None:
        """Go on there."""
        self._loops, self._iterations = cast("tuple[tuple[Racing, ...], tuple[Iteration, ...]]", place)

    def resume_thread(self, loop: tir.For, frame: Frame) -> None:
        """The variable of the loop is in the thread's own frame."""
        super().resume_thread(loop, frame)
        self._iterations[-1 if self._loops[-1].loop is loop else self._level(loop)].frame = frame

    def _level(self, loop: tir.For) -> int:
        return next(level for level, racing in enumerate(self._loops) if racing.loop is loop)

    def meet(self, node: Node, implied: bool) -> None:
        """What came before is done, for all threads of the block. Fails: RM321."""
        del node
        self._settle()
        self._meetings += 1
        if not implied:
            self._barriers += 1

    def enter_loop(self, loop: tir.For, frame: Frame) -> None:
        """Iterations that may run at the same time begin."""
        if loop.kind in AT_ONCE:
            tag = loop.tag
            if loop.kind is not ForKind.THREAD_BINDING or is_thread(tag):
                slot = cast("Slot[int]", frame[ACTIVATION].layout.slot(loop.loop_var))
                self._loops = (*self._loops, Racing(loop, tag, slot))
                self._iterations = (*self._iterations, Iteration(frame))

    def leave_loop(self, loop: tir.For, frame: Frame) -> None:
        """They are over. Fails: RM321."""
        del frame
        if self._loops and self._loops[-1].loop is loop:
            self._settle()
            self._loops, self._iterations = self._loops[:-1], self._iterations[:-1]
            if not self._loops:
                self._accesses.clear()

    def enter_block(self, site: BlockSite, frame: Frame) -> None:
        """A reduction across threads begins, perhaps."""
        for iteration in self._reduced(site, frame):
            iteration.muted += 1

    def leave_block(self, site: BlockSite, frame: Frame) -> None:
        """It is over."""
        for iteration in self._reduced(site, frame):
            iteration.muted -= 1

    def _reduced(self, site: BlockSite, frame: Frame) -> list[Iteration]:
        """The loops over threads that the block reduces across."""
        if not self._loops:
            return []
        if site not in self._reduce_vars:
            self._reduce_vars[site] = _reduce_vars(site.node)
        layout = frame[ACTIVATION].layout
        slots = {layout.slot(var) for var in self._reduce_vars[site] if layout.knows(var)}
        return [
            iteration
            for racing, iteration in zip(self._loops, self._iterations, strict=True)
            if racing.tag.startswith("threadIdx")
            and iteration.frame[ACTIVATION].layout is layout
            and racing.slot in slots
        ]

    def read_element(self, access: tir.BufferLoad, view: View, offset: int, frame: Frame) -> None:
        """Fails: RM321."""
        if not self._loops:
            return
        now = self._access(access, view)
        records, keys = self._accesses.find(view, offset)
        for key in keys:
            known = records.get(key)
            if known is None:
                records[key] = Accesses(reader=now)
                continue
            if known.writer is not None:
                self._compare(known.writer, now, (), view, offset, frame)
            known.note_reader(now)

    def write_element(self, access: tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        """Fails: RM321."""
        if not self._loops:
            return
        now = self._access(access, view)
        private = self._private(access.buffer, frame)
        records, keys = self._accesses.find(view, offset)
        for key in keys:
            known = records.get(key)
            if known is None:
                records[key] = Accesses(writer=now)
                continue
            if known.writer is not None and _is_shared(view) and differ(known.writer, now, private) is not None:
                self._twice = (known.writer, now, view, offset, frame)
                now.value = _content(view, offset)
            elif known.writer is not None:
                self._compare(known.writer, now, private, view, offset, frame)
            if known.reader is not None:
                self._compare(known.reader, now, private, view, offset, frame)
            known.writer = now

    def _private(self, buffer: tir.Buffer, frame: Frame) -> tuple[Racing, ...]:
        """The loops to whose iterations the buffer belongs."""
        found = self._privacy.get(buffer)
        if found is None or found[0] is not self._loops:
            facts = self.facts.at(frame)
            shared = facts.root(buffer).scope.startswith("shared")
            private = tuple(
                racing
                for racing in self._loops
                if facts.is_private(buffer, racing.loop) and not (shared and racing.tag.startswith("threadIdx"))
            )
            found = self._privacy[buffer] = (self._loops, private)
        return found[1]

    def _access(self, node: tir.BufferLoad | tir.BufferStore, view: View) -> Access:
        """The access, with the values of the variables of the loops; None for loops that do not matter to it."""
        if self._twice is not None:
            self._settle()
        scope = view.buffer.scope
        own = axes_of(scope)
        values = [
            None if iteration.muted or (racing.tag and racing.tag.startswith(own)) else iteration.frame[racing.slot]
            for racing, iteration in zip(self._loops, self._iterations, strict=True)
        ]
        phase = self._meetings if scope.startswith("shared") else self._barriers
        return Access(self._loops, tuple(values), phase, node)

    def _settle(self) -> None:
        """Two threads wrote an element of shared memory: was it the same value? Fails: RM321."""
        if self._twice is not None:
            (one, now, view, offset, frame), self._twice = self._twice, None
            if _content(view, offset) != now.value:
                self._compare(one, now, (), view, offset, frame)

    def _compare(
        self, one: Access, now: Access, private: tuple[Racing, ...], view: View, offset: int, frame: Frame
    ) -> None:
        level = differ(one, now, private)
        if level is not None:
            raise self.undefined(_race(one, now, level, element(now.node.buffer, view, offset)), now.node, frame)


def _is_shared(view: View) -> bool:
    return view.buffer.scope.startswith("shared")


def _content(view: View, offset: int) -> bytes:
    """The bytes of an element."""
    size = size_of(view)
    first = view.data.byte_offset + (view.offset + offset) * size
    return bytes(view.data.storage.bytes[first : first + size])


def differ(one: Access, other: Access, private: tuple[Racing, ...] = ()) -> int | None:
    """The outermost loop of which the two are in different iterations."""
    for level, (mine, its) in enumerate(zip(one.loops, other.loops, strict=False)):
        if mine is not its:
            return None
        a, b = one.values[level], other.values[level]
        if a != b and a is not None and b is not None and mine not in private:
            return None if mine.tag.startswith("threadIdx") and one.phase != other.phase else level
    return None


def _reduce_vars(node: tir.SBlockRealize) -> tuple[tir.Var, ...]:
    """The variables that the reduce axes of a block with an init are bound to."""
    if node.block.init is None:
        return ()
    pairs = zip(node.block.iter_vars, node.iter_values, strict=True)
    values = [value for axis, value in pairs if axis.kind is IterKind.REDUCE]
    return tuple(var for value in values for var in walk(value) if isinstance(var, tir.Var))


def _race(one: Access, now: Access, level: int, what: str) -> Diagnostic:
    racing = now.loops[level]
    name = racing.loop.loop_var.name
    kind = racing.tag or racing.loop.kind.value
    verbs = ["reads" if isinstance(access.node, tir.BufferLoad) else "writes" for access in (one, now)]
    message = (
        f"race on `{what}`: iteration {name} = {now.values[level]} {verbs[1]} it, "
        f"iteration {name} = {one.values[level]} {verbs[0]} it"
    )
    related = (
        Related(f"iteration {name} = {one.values[level]} {verbs[0]} it here", one.node.span),
        Related(f"the iterations of this loop may run at the same time ({kind})", racing.loop.span),
    )
    return Diagnostic(RACE, message, now.node.span, "", (), related)
