"""RM321: two iterations of a loop that may run at the same time access one element, and one of them writes (TIR-225).

| loop                             | iterations may run at the same time                                            |
|----------------------------------|--------------------------------------------------------------------------------|
| `T.parallel`, `T.vectorized`     | always                                                                         |
| `blockIdx` axis                  | always; shared and private memory belongs to one block                         |
| `threadIdx` axis                 | between two meetings of the threads of a block (TIR-227): every meeting orders |
|                                  | accesses to shared memory, a barrier in the text those to all memory; private  |
|                                  | memory belongs to one thread; a barrier of some of the threads orders those of |
|                                  | its threads (TIX-007, TIW-005), a phase of a barrier in memory those before it |
|                                  | from those of threads that have seen it (TIA-023), an atomic operation that    |
|                                  | acquires what another one released (TIW-010), by vector clocks                 |
| serial, unrolled, virtual thread | never                                                                          |

A block with an init whose reduce axis is bound to `threadIdx` is a reduction across threads, and not a race. A buffer
that a block allocates around the loop and that only the loop uses belongs to each iteration: there only a read of a
value that another iteration wrote is a race (TIR-226). Threads that write the same value to an element of shared memory
do not race: the result is the same. Atomic operations do not race with each other (TIW-006), unless one is atomic in a
block only, and they are of two blocks; with other accesses they do.

The last writer and one reader of each element are enough: iterations run in order, those of threads between two
meetings, so an access that races with any earlier access races with one of these. Where some of the threads meet, an
access may come after that reader and not after another one: there all readers are kept that no later one comes after.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, cast

from refmlc.diag import Diagnostic, Related
from refmlc.diag.catalogue import RACE
from refmlc.lang.ir import tir
from refmlc.lang.ir.asynchronous import is_asynchronous
from refmlc.lang.ir.kinds import ForKind, IterKind
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.scopes import axes_of, is_thread
from refmlc.lang.ir.threads import is_atomic, meets_in_part
from refmlc.lang.ir.visit import walk
from refmlc.observe.addresses import element_size, first_byte
from refmlc.observe.sanitize.clocks import Clock, Clocks
from refmlc.observe.sanitize.detector import Detector, Reach
from refmlc.observe.sanitize.elements import Elements, element
from refmlc.observe.sanitize.facts import FactTable
from refmlc.observe.sanitize.thread_clocks import ORDERING
from refmlc.run.interp.ptx.stores import BEGIN
from refmlc.run.interp.tensorir.block_sites import BlockSite
from refmlc.run.interp.tensorir.frame import ACTIVATION, Frame, Slot
from refmlc.run.interp.tensorir.views import View
from refmlc.run.interp.threads.launch import block_size

Values: TypeAlias = "tuple[int | None, ...]"
LANDED = -1
"""The number of meetings before what a copy writes when a phase completes it: no meeting alone orders that."""
AT_ONCE = (ForKind.PARALLEL, ForKind.VECTORIZED, ForKind.THREAD_BINDING)


@dataclass(slots=True, eq=False)
class ParallelLoop:
    """One execution of a loop whose iterations may run at the same time.

    `block`: the number of threads of a block, where the iterations are the threads of several; 0: they are of one.
    """

    loop: tir.For
    tag: str
    slot: Slot[int]
    block: int = 0

    def is_in_block(self, thread: int, other: int) -> bool:
        """Whether two iterations are threads of one block."""
        return self.tag.startswith("threadIdx") and not (self.block and thread // self.block != other // self.block)


@dataclass(slots=True, eq=False)
class Iteration:
    """The current iteration: the frame with the variable; `reductions`: the open reductions across the loop."""

    frame: Frame
    reductions: int = 0


@dataclass(slots=True)
class Access:
    """An access: the loops around it, the values of their variables, the number of meetings before it, its node.

    `count` and `seen`: its clock. `atomic`: among which threads it is part of an atomic operation; empty: of none.
    """

    loops: tuple[ParallelLoop, ...]
    values: Values
    phase: int
    node: tir.BufferLoad | tir.BufferStore
    value: object = None
    count: int = 1
    seen: Clock | None = None
    atomic: str = ""


@dataclass(slots=True)
class Accesses:
    """The accesses of an element that later ones are compared with.

    `readers`: one, or all that may race with a later access where the last one does not.
    `atomic`: the last atomic operation, and the last one of another iteration than that: they do not race.
    """

    writer: Access | None = None
    readers: tuple[Access, ...] = ()
    atomic: tuple[Access, ...] = ()

    def note_atomic(self, now: Access) -> None:
        """Note an atomic operation."""
        self.atomic = (now, *(access for access in self.atomic if access.values != now.values))[:2]

    def note_reader(self, now: Access, *, every: bool) -> None:
        """Replace the readers that `now` comes after; one that it does not come after stays, alone if not `every`.

        Iterations run in order, so a reader in an earlier iteration races with every access that a later one does.
        """
        plain = replace(now, atomic="") if now.atomic else now
        others = tuple([reader for reader in self.readers if differ(reader, plain) is not None])
        if every or not others:
            self.readers = (*others, now)


class Races(Detector):
    """Compares the accesses of the iterations of loops."""

    code = RACE
    reach = Reach.NOT_PLAIN

    def __init__(self, facts: FactTable) -> None:
        super().__init__(facts)
        self._loops: tuple[ParallelLoop, ...] = ()
        self._iterations: tuple[Iteration, ...] = ()
        self._barriers = 0
        self._meetings = 0
        self._clocks = Clocks()
        self._in_parts = False
        self._partly: dict[tir.For, bool] = {}
        self._atomic = ""
        self._loads = False
        self._double_write: tuple[Access, Access, View, int, Frame] | None = None
        self._accesses: Elements[Accesses] = Elements(replace)
        self._reduce_vars: dict[BlockSite, tuple[tir.Var, ...]] = {}
        self._privacy: dict[tir.Buffer, tuple[tuple[ParallelLoop, ...], tuple[ParallelLoop, ...]]] = {}

    def place(self) -> tuple[object, ...]:
        return self._loops, tuple(Iteration(iteration.frame, iteration.reductions) for iteration in self._iterations)

    def go_to(self, place: tuple[object, ...]) -> None:
        self._loops, self._iterations = cast("tuple[tuple[ParallelLoop, ...], tuple[Iteration, ...]]", place)

    def resume_thread(self, loop: tir.For, frame: Frame) -> None:
        super().resume_thread(loop, frame)
        self._iterations[-1 if self._loops[-1].loop is loop else self._level(loop)].frame = frame  # it has the variable

    def _level(self, loop: tir.For) -> int:
        return next(level for level, parallel_loop in enumerate(self._loops) if parallel_loop.loop is loop)

    def meet(self, node: Node, implied: bool) -> None:
        del node
        self._settle()
        self._meetings += 1
        if not implied:
            self._barriers += 1
            self._clocks.meet_all()

    def meet_in_part(self, node: Node, threads: Sequence[int]) -> None:
        del node
        self._settle()
        self._clocks.meet(threads)

    def release(self, token: object, frame: Frame) -> None:
        del frame
        self._settle()
        self._clocks.release(self._thread(), token)

    def acquire(self, token: object, frame: Frame) -> None:
        del frame
        self._settle()
        self._clocks.acquire(self._thread(), token)

    def strong(self, token: object, order: str, frame: Frame) -> None:
        del frame
        self._loads = order.startswith("ld.")
        if self._in_block():
            self._settle()
            self._clocks.strong(self._thread(), token, order)

    def fence(self, words: tuple[str, ...], frame: Frame) -> None:
        del frame
        if ORDERING.intersection(words) and "proxy" not in words and self._in_block():
            self._settle()
            self._clocks.fence(self._thread())

    def through_proxy(self, access: tir.BufferLoad | tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        self.touch_tile(access, view, offset, frame)

    def landed(self, token: object, access: tir.BufferStore, view: View, offset: int) -> None:
        self._settle()
        copy = self._clocks.land(token)
        values = [
            copy if loop.tag.startswith("threadIdx") else iteration.frame[loop.slot]
            for loop, iteration in zip(self._loops, self._iterations, strict=True)
        ]
        written = Access(self._loops, tuple(values), LANDED, access)
        records, keys = self._accesses.find(view, offset)
        for key in keys:
            records.setdefault(key, Accesses()).writer = written

    def _in_block(self) -> bool:
        """Whether a thread of a block runs."""
        return any(loop.tag.startswith("threadIdx") for loop in self._loops)

    def _thread(self) -> int:
        """The number of the thread that runs."""
        level = next(level for level, loop in enumerate(self._loops) if loop.tag.startswith("threadIdx"))
        return self._iterations[level].frame[self._loops[level].slot]

    def before_atomic(self, call: tir.Call, scope: str, frame: Frame) -> None:
        del call, frame
        self._atomic = scope

    def after_atomic(self, call: tir.Call, frame: Frame) -> None:
        del call, frame
        self._atomic, self._loads = "", False

    def enter_loop(self, loop: tir.For, frame: Frame) -> None:
        if loop.kind in AT_ONCE:
            tag = loop.tag
            if loop.kind is not ForKind.THREAD_BINDING or is_thread(tag):
                slot = cast("Slot[int]", frame[ACTIVATION].layout.slot(loop.loop_var))
                if tag.startswith("threadIdx") and not any(outer.tag.startswith("threadIdx") for outer in self._loops):
                    self._clocks, self._in_parts = Clocks(), self._meets_in_part(loop)
                self._loops = (*self._loops, ParallelLoop(loop, tag, slot, block_size(loop)))
                self._iterations = (*self._iterations, Iteration(frame))

    def _meets_in_part(self, loop: tir.For) -> bool:
        """Whether some of the threads of a loop may meet, without the others."""
        if loop not in self._partly:
            signals = any(is_asynchronous(node) or is_atomic(node) or _is_strong(node) for node in walk(loop.body))
            self._partly[loop] = signals or meets_in_part(loop.body)
        return self._partly[loop]

    def leave_loop(self, loop: tir.For, frame: Frame) -> None:
        del frame
        if self._loops and self._loops[-1].loop is loop:
            self._settle()
            self._loops, self._iterations = self._loops[:-1], self._iterations[:-1]
            if not self._loops:
                self._accesses.clear()

    def enter_block(self, site: BlockSite, frame: Frame) -> None:
        for iteration in self._reduced_iterations(site, frame):
            iteration.reductions += 1

    def leave_block(self, site: BlockSite, frame: Frame) -> None:
        for iteration in self._reduced_iterations(site, frame):
            iteration.reductions -= 1

    def _reduced_iterations(self, site: BlockSite, frame: Frame) -> list[Iteration]:
        """The loops over threads that the block reduces across."""
        if not self._loops:
            return []
        if site not in self._reduce_vars:
            self._reduce_vars[site] = _reduce_vars(site.node)
        layout = frame[ACTIVATION].layout
        slots = {layout.slot(var) for var in self._reduce_vars[site] if layout.knows(var)}
        return [
            iteration
            for loop, iteration in zip(self._loops, self._iterations, strict=True)
            if loop.tag.startswith("threadIdx") and iteration.frame[ACTIVATION].layout is layout and loop.slot in slots
        ]

    def read_element(self, access: tir.BufferLoad, view: View, offset: int, frame: Frame) -> None:
        if not self._loops:
            return
        now = self._access(access, view)
        records, keys = self._accesses.find(view, offset)
        for key in keys:
            accesses = records.get(key)
            if accesses is None:
                records[key] = Accesses() if now.atomic and not self._loads else Accesses(readers=(now,))
                continue
            if accesses.writer is not None:
                self._compare(accesses.writer, now, (), view, offset, frame)
            for atomic in accesses.atomic:
                self._compare(atomic, now, (), view, offset, frame)
            if not now.atomic or self._loads:  # another atomic operation writes, too
                accesses.note_reader(now, every=self._in_parts)

    def write_element(self, access: tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        if not self._loops:
            return
        now = self._access(access, view)
        private_loops = self._private_loops(access.buffer, frame)
        records, keys = self._accesses.find(view, offset)
        for key in keys:
            accesses = records.get(key)
            if accesses is None:
                accesses = records[key] = Accesses()
            for atomic in accesses.atomic:
                self._compare(atomic, now, private_loops, view, offset, frame)
            if (
                accesses.writer is not None
                and not now.atomic
                and _is_shared(view)
                and differ(accesses.writer, now, private_loops) is not None
            ):
                self._double_write = (accesses.writer, now, view, offset, frame)
                now.value = self.content(view, offset)
            elif accesses.writer is not None:
                self._compare(accesses.writer, now, private_loops, view, offset, frame)
            for reader in accesses.readers:
                self._compare(reader, now, private_loops, view, offset, frame)
            if now.atomic:
                accesses.note_atomic(now)
            else:
                accesses.writer = now

    def touch_tile(self, access: tir.BufferLoad | tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        if isinstance(access, tir.BufferLoad):
            self.read_element(access, view, offset, frame)
        else:
            self.write_element(access, view, offset, frame)

    def _private_loops(self, buffer: tir.Buffer, frame: Frame) -> tuple[ParallelLoop, ...]:
        """The loops to whose iterations the buffer belongs."""
        entry = self._privacy.get(buffer)
        if entry is None or entry[0] is not self._loops:
            facts = self.facts.at(frame)
            is_shared = facts.root(buffer).scope.startswith("shared")
            private_loops = tuple(
                loop
                for loop in self._loops
                if facts.is_private(buffer, loop.loop) and not (is_shared and loop.tag.startswith("threadIdx"))
            )
            entry = self._privacy[buffer] = (self._loops, private_loops)
        return entry[1]

    def _access(self, node: tir.BufferLoad | tir.BufferStore, view: View) -> Access:
        """The access with the values of the loop variables; None for loops that cannot race with it."""
        if self._double_write is not None:
            self._settle()
        scope = view.buffer.scope
        private_axes = axes_of(scope)
        values = [
            None
            if iteration.reductions or (loop.tag and loop.tag.startswith(private_axes))
            else iteration.frame[loop.slot]
            for loop, iteration in zip(self._loops, self._iterations, strict=True)
        ]
        phase = self._meetings if scope.startswith("shared") else self._barriers
        if not (self._clocks.threads and self._in_block()):
            return Access(self._loops, tuple(values), phase, node, None, 1, None, self._atomic)
        thread = self._thread()
        clock = self._clocks.of(thread)
        return Access(self._loops, tuple(values), phase, node, None, clock[thread], clock, self._atomic)

    def _settle(self) -> None:
        """Fails: RM321 if two threads wrote different values to an element of shared memory."""
        if self._double_write is not None:
            (earlier, now, view, offset, frame), self._double_write = self._double_write, None
            if self.content(view, offset) != now.value:
                self._compare(earlier, now, (), view, offset, frame)

    def content(self, view: View, offset: int) -> object:
        """The value of an element; two of them are compared."""
        first = first_byte(view, offset)
        return bytes(view.data.storage.bytes[first : first + element_size(view)])

    def _compare(
        self,
        earlier: Access,
        now: Access,
        private_loops: tuple[ParallelLoop, ...],
        view: View,
        offset: int,
        frame: Frame,
    ) -> None:
        level = differ(earlier, now, private_loops)
        if level is not None:
            raise self.undefined(_race(earlier, now, level, element(now.node.buffer, view, offset)), now.node, frame)


def _is_strong(node: Node) -> bool:
    """Whether a node begins a load or store with a memory order."""
    return isinstance(node, tir.Call) and node.callee == BEGIN


def _is_shared(view: View) -> bool:
    """Whether an element is in shared memory, whatever the address that names it says."""
    return view.buffer.scope.startswith("shared") or view.data.storage.space.startswith("shared")


def differ(earlier: Access, later: Access, private_loops: tuple[ParallelLoop, ...] = ()) -> int | None:
    """The level of the outermost loop in whose iterations two accesses race; None: they do not race."""
    for level, (loop, other_loop) in enumerate(zip(earlier.loops, later.loops, strict=False)):
        if loop is not other_loop:
            return None
        a, b = earlier.values[level], later.values[level]
        if a != b and a is not None and b is not None and loop not in private_loops:
            in_block = loop.tag.startswith("threadIdx")
            together = loop.is_in_block(a, b) or "cta" not in (earlier.atomic, later.atomic)
            if earlier.atomic and later.atomic and together:
                return None
            known = later.seen is not None and later.seen.get(a, 0) >= earlier.count
            met = earlier.phase not in (later.phase, LANDED)
            return None if in_block and (known or met) else level
    return None


def _reduce_vars(node: tir.SBlockRealize) -> tuple[tir.Var, ...]:
    """The variables that the reduce axes of a block with an init are bound to."""
    if node.block.init is None:
        return ()
    pairs = zip(node.block.iter_vars, node.iter_values, strict=True)
    values = [value for axis, value in pairs if axis.kind is IterKind.REDUCE]
    return tuple(var for value in values for var in walk(value) if isinstance(var, tir.Var))


def _race(earlier: Access, now: Access, level: int, element_text: str) -> Diagnostic:
    loop = now.loops[level]
    name = loop.loop.loop_var.name
    kind = loop.tag or loop.loop.kind.value
    verbs = ["reads" if isinstance(access.node, tir.BufferLoad) else "writes" for access in (earlier, now)]
    other = "a copy" if earlier.phase == LANDED else f"iteration {name} = {earlier.values[level]}"
    message = f"race on `{element_text}`: iteration {name} = {now.values[level]} {verbs[1]} it, {other} {verbs[0]} it"
    related = (
        Related(f"{other} {verbs[0]} it here", earlier.node.span),
        Related(f"the iterations of this loop may run at the same time ({kind})", loop.loop.span),
    )
    return Diagnostic(RACE, message, now.node.span, "", (), related)
