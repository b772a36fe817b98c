"""RM319: two instances of a block that differ in a spatial axis depend on each other (TIR-222).

The instances of one execution of the block (`refmlc.observe.sanitize.executions`) are compared:

| instance A, earlier | instance B, later, other spatial values | allowed                                             |
|---------------------|------------------------------------------|----------------------------------------------------|
| writes              | writes the same element                  | only in memory that is private to each instance    |
| reads               | writes the same element                  | only in memory that is private to each instance    |
| writes              | reads the same element                   | no                                                 |
| reads               | reads the same element                   | yes                                                |

A block whose lists of regions are both empty (TIR-221) and whose axes are threads is not compared: RM321 judges
threads, which may synchronise.

Private memory: a buffer that a block around allocates and that only this block uses (TIR-226).

A buffer that a block around allocates and that only a loop uses is a separate one in each iteration of the loop: there
B is compared with A of the same iteration. If the last store to the element, in any block, was by A of an earlier
iteration, then B reads the value of that iteration, which is not allowed.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import cast

from refmlc.diag import Diagnostic, Related
from refmlc.diag.catalogue import SPATIAL_CONFLICT
from refmlc.diag.errors import RefmlcError
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.lang.ir.visit import walk
from refmlc.observe.sanitize.detector import Reach
from refmlc.observe.sanitize.elements import Elements, element
from refmlc.observe.sanitize.executions import ExecutionDetector
from refmlc.observe.sanitize.facts import Facts, FactTable
from refmlc.run.interp.tensorir.block_sites import BlockSite
from refmlc.run.interp.tensorir.frame import ACTIVATION, Frame, Slot
from refmlc.run.interp.tensorir.views import View

Point = tuple[int, ...]


@dataclass(slots=True)
class ElementAccesses:
    """The accesses of an element: its last writer, a reader, and a reader in another instance."""

    writer: Point | None = None
    write: tir.BufferStore | None = None
    reader: Point | None = None
    read: tir.BufferLoad | None = None
    other: Point | None = None
    other_read: tir.BufferLoad | None = None
    iteration: Point = ()


@dataclass(slots=True)
class Instance:
    """An open instance, and the accesses of the instances of its execution."""

    site: BlockSite
    point: Point
    accesses: Elements[ElementAccesses]


class SpatialAxes(ExecutionDetector[Elements[ElementAccesses]]):
    """Compares the accesses of the instances of each block."""

    code = SPATIAL_CONFLICT
    reach = Reach.NOT_PLAIN

    def __init__(self, facts: FactTable) -> None:
        super().__init__(facts, partial(Elements, replace))
        self._open: list[Instance | None] = []
        # The last store to each element, in any block, of memory that belongs to iterations.
        self._last: Elements[tir.BufferStore] = Elements()
        self._owned: dict[tuple[tir.Buffer, BlockSite], tuple[Slot[object], ...]] = {}

    def place(self) -> tuple[object, ...]:
        return (*super().place(), list(self._open))

    def go_to(self, place: tuple[object, ...]) -> None:
        super().go_to(place)
        self._open = list(cast("list[Instance | None]", place[1]))

    def enter_block(self, site: BlockSite, frame: Frame) -> None:
        accesses = self.enter_execution(site, frame)
        point = _point(site, frame)
        compared = accesses is not None and point and not self._of_threads(site, frame)
        self._open.append(Instance(site, point, accesses) if compared and accesses is not None else None)

    def _of_threads(self, site: BlockSite, frame: Frame) -> bool:
        """Whether threads alone bind the axes of an opaque block: they may wait for each other."""
        block = site.node.block
        if not block.reads == block.writes == ():
            return False
        around = self.facts.at(frame).around.get(site.node, ())
        threads = {place.loop_var for place in around if isinstance(place, tir.For) and place.tag}
        bound = {part for value in site.node.iter_values for part in walk(value) if isinstance(part, tir.Var)}
        return bool(bound) and bound <= threads

    def leave_block(self, site: BlockSite, frame: Frame) -> None:
        super().leave_block(site, frame)
        self._open.pop()

    def read_element(self, access: tir.BufferLoad, view: View, offset: int, frame: Frame) -> None:
        for instance in self._open:
            if instance is None:
                continue
            records, keys = instance.accesses.find(view, offset)
            iteration = self._iteration(access.buffer, instance.site, frame)
            for key in keys:
                accesses = records.get(key)
                if accesses is None or (accesses.iteration != iteration and self._overwritten(accesses, view, offset)):
                    accesses = records[key] = ElementAccesses(iteration=iteration)
                if accesses.writer is not None and accesses.writer != instance.point:
                    raise self._dependent(instance, "reads", access, view, offset, frame, accesses)
                if accesses.reader is None:
                    accesses.reader, accesses.read = instance.point, access
                elif accesses.reader != instance.point:
                    accesses.other, accesses.other_read = instance.point, access

    def write_element(self, access: tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        for instance in self._open:
            if instance is None:
                continue
            is_private = self.facts.at(frame).is_private(access.buffer, instance.site.node)
            records, keys = instance.accesses.find(view, offset)
            iteration = self._iteration(access.buffer, instance.site, frame)
            for key in keys:
                accesses = records.get(key)
                if accesses is None or accesses.iteration != iteration:
                    accesses = records[key] = ElementAccesses(iteration=iteration)
                if not is_private and _is_shared(accesses, instance.point):
                    raise self._dependent(instance, "writes", access, view, offset, frame, accesses)
                accesses.writer, accesses.write = instance.point, access
        facts = self.facts.at(frame)
        if facts.within.get(facts.root(access.buffer)):
            records_of_stores, keys = self._last.find(view, offset)
            for key in keys:
                records_of_stores[key] = access

    def _overwritten(self, accesses: ElementAccesses, view: View, offset: int) -> bool:
        """True if a store outside `accesses` wrote the element last."""
        records, keys = self._last.find(view, offset)
        return accesses.write is None or any(records.get(key) is not accesses.write for key in keys)

    def _iteration(self, buffer: tir.Buffer, site: BlockSite, frame: Frame) -> Point:
        """The values of the loops between the block and the one around it, to whose iterations `buffer` belongs."""
        slots = self._owned.get((buffer, site))
        if slots is None:
            slots = self._owned[buffer, site] = _slots(self.facts.at(frame), buffer, site, frame)
        return tuple([cast("int", frame[slot]) for slot in slots])

    def _dependent(
        self,
        instance: Instance,
        verb: str,
        access: tir.BufferLoad | tir.BufferStore,
        view: View,
        offset: int,
        frame: Frame,
        accesses: ElementAccesses,
    ) -> RefmlcError:
        block, point = instance.site.node.block, instance.point
        name = element(access.buffer, view, offset)
        node: tir.BufferLoad | tir.BufferStore | None
        earlier_verb, other, node = "wrote", accesses.writer, accesses.write
        if other is None or other == point:
            earlier_verb, (other, node) = "read", _reader(accesses, point)
        axes = _axes_text(instance.site, point, other), _axes_text(instance.site, other, point)
        message = f"block `{block.name}` with {axes[0]} {verb} `{name}`, which it {earlier_verb} with {axes[1]}"
        related = (
            Related(f"it {earlier_verb} the element here", None if node is None else node.span),
            Related(f"block `{block.name}` is here", block.span),
        )
        label = "the axes in which the two instances differ are spatial"
        return self.undefined(Diagnostic(SPATIAL_CONFLICT, message, access.span, label, (), related), access, frame)


def _slots(facts: Facts, buffer: tir.Buffer, site: BlockSite, frame: Frame) -> tuple[Slot[object], ...]:
    """The slots of the values of `_iteration`. Threads of a block have one shared memory."""
    layout = frame[ACTIVATION].layout
    slots: list[Slot[object]] = []
    threads_share = facts.root(buffer).scope.startswith("shared")
    for place in reversed(facts.around.get(site.node, ())):
        if isinstance(place, tir.SBlockRealize):
            break
        if isinstance(place, tir.For) and facts.is_private(buffer, place):
            thread = place.thread is not None and place.thread.tag.startswith("threadIdx")
            if not (thread and threads_share):
                slots.append(layout.slot(place.loop_var))
    return tuple(slots)


def _point(site: BlockSite, frame: Frame) -> Point:
    axes = zip(site.axes, site.node.block.iter_vars, strict=True)
    return tuple([frame[slot] for slot, axis in axes if axis.kind is IterKind.SPATIAL])


def _is_shared(accesses: ElementAccesses, point: Point) -> bool:
    """True if another instance accessed the element."""
    if accesses.writer is not None and accesses.writer != point:
        return True
    return (accesses.reader is not None and accesses.reader != point) or accesses.other is not None


def _reader(accesses: ElementAccesses, point: Point) -> tuple[Point, tir.BufferLoad | None]:
    """A reader that is not `point`."""
    if accesses.reader is not None and accesses.reader != point:
        return accesses.reader, accesses.read
    assert accesses.other is not None  # noqa: S101 - another instance read it
    return accesses.other, accesses.other_read


def _axes_text(site: BlockSite, point: Point, other: Point) -> str:
    """The spatial axes in which `point` differs from `other`, with their values."""
    axes = [axis.var.name for axis in site.node.block.iter_vars if axis.kind is IterKind.SPATIAL]
    return ", ".join(f"{name} = {a}" for name, a, b in zip(axes, point, other, strict=True) if a != b)
