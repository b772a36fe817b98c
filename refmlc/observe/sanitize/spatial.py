"""RM319: two instances of a block that differ in a spatial axis depend on each other (TIR-222).

Compared are the instances of one execution of the block (`refmlc.observe.sanitize.executions`):

| instance A, earlier | instance B, later, other spatial values | allowed                                             |
|---------------------|------------------------------------------|----------------------------------------------------|
| writes              | writes the same element                  | no, but in memory that is private to each instance |
| reads               | writes the same element                  | no, but in memory that is private to each instance |
| writes              | reads the same element                   | no                                                 |
| reads               | reads the same element                   | yes                                                |

Private memory: a buffer that a block around allocates and that only this block uses (TIR-226).

A buffer that a block around allocates and that is used inside of a loop only is another one in each iteration of it:
there B is compared with A of the same iteration. What an earlier iteration left is read by B where A is the last that
wrote the element, in whatever block; that is not allowed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from refmlc.diag import Diagnostic, Related
from refmlc.diag.catalogue import SPATIAL_CONFLICT
from refmlc.diag.errors import RefmlcError
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.observe.sanitize.detector import Detector, Reach
from refmlc.observe.sanitize.elements import Elements, element
from refmlc.observe.sanitize.executions import Executions, ScopeOfBlocks
from refmlc.observe.sanitize.facts import Facts, FactTable
from refmlc.run.interp.tensorir.block_sites import BlockSite
from refmlc.run.interp.tensorir.frame import ACTIVATION, Frame, Slot
from refmlc.run.interp.tensorir.views import View

Point = tuple[int, ...]


@dataclass(slots=True)
class Touched:
    """Who accessed an element: the last writer, a reader, and a reader of another instance."""

    writer: Point | None = None
    written: tir.BufferStore | None = None
    reader: Point | None = None
    read: tir.BufferLoad | None = None
    other: Point | None = None
    other_read: tir.BufferLoad | None = None
    iteration: Point = ()


@dataclass(slots=True)
class Instance:
    """An instance that is being executed, and what the instances of its execution touched."""

    site: BlockSite
    point: Point
    touched: Elements[Touched]


class SpatialAxes(Detector):
    """Compares the accesses of the instances of each block."""

    code = SPATIAL_CONFLICT
    reach = Reach.NOT_PLAIN

    def __init__(self, facts: FactTable) -> None:
        super().__init__(facts)
        self._executions: Executions[Elements[Touched]] = Executions(facts, Elements)
        self._open: list[Instance | None] = []
        # Of memory that belongs to iterations: the store that wrote an element last, in any block.
        self._last: Elements[tir.BufferStore] = Elements()
        self._owned: dict[tuple[tir.Buffer, BlockSite], tuple[Slot[object], ...]] = {}

    def place(self) -> tuple[object, ...]:
        """The executions and instances that are open."""
        return (self._executions.place(), list(self._open))

    def go_to(self, place: tuple[object, ...]) -> None:
        """Go on there."""
        executions, instances = place
        self._executions.go_to(cast("list[ScopeOfBlocks[Elements[Touched]]]", executions))
        self._open = list(cast("list[Instance | None]", instances))

    def enter_function(self, name: str, args: Sequence[object]) -> None:
        """A call is a scope of blocks."""
        del name, args
        self._executions.enter()

    def leave_function(self, name: str, result: object) -> None:
        """The scope is over."""
        del name, result
        self._executions.leave()

    def enter_block(self, site: BlockSite, frame: Frame) -> None:
        """Find what the instance is compared with."""
        touched = self._executions.enter_block(site, frame)
        point = _point(site, frame)
        self._open.append(Instance(site, point, touched) if touched is not None and point else None)

    def leave_block(self, site: BlockSite, frame: Frame) -> None:
        """The instance is over."""
        del site, frame
        self._executions.leave()
        self._open.pop()

    def read_element(self, access: tir.BufferLoad, view: View, offset: int, frame: Frame) -> None:
        """Fails: RM319."""
        for instance in self._open:
            if instance is None:
                continue
            records, keys = instance.touched.find(view, offset)
            now = self._iteration(access.buffer, instance.site, frame)
            for key in keys:
                touched = records.get(key)
                if touched is None or (touched.iteration != now and self._overwritten(touched, view, offset)):
                    touched = records[key] = Touched(iteration=now)
                if touched.writer is not None and touched.writer != instance.point:
                    raise self._dependent(instance, "reads", access, view, offset, frame, touched)
                if touched.reader is None:
                    touched.reader, touched.read = instance.point, access
                elif touched.reader != instance.point:
                    touched.other, touched.other_read = instance.point, access

    def write_element(self, access: tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        """Fails: RM319."""
        for instance in self._open:
            if instance is None:
                continue
            private = self.facts.at(frame).is_private(access.buffer, instance.site.node)
            records, keys = instance.touched.find(view, offset)
            now = self._iteration(access.buffer, instance.site, frame)
            for key in keys:
                touched = records.get(key)
                if touched is None or touched.iteration != now:
                    touched = records[key] = Touched(iteration=now)
                if not private and _others(touched, instance.point):
                    raise self._dependent(instance, "writes", access, view, offset, frame, touched)
                touched.writer, touched.written = instance.point, access
        facts = self.facts.at(frame)
        if facts.within.get(facts.root(access.buffer)):
            records_of_stores, keys = self._last.find(view, offset)
            for key in keys:
                records_of_stores[key] = access

    def _overwritten(self, touched: Touched, view: View, offset: int) -> bool:
        """Whether another store than the one that is known wrote the element since."""
        records, keys = self._last.find(view, offset)
        return touched.written is None or any(records.get(key) is not touched.written for key in keys)

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
        touched: Touched,
    ) -> RefmlcError:
        block, point = instance.site.node.block, instance.point
        what = element(access.buffer, view, offset)
        node: tir.BufferLoad | tir.BufferStore | None
        before, other, node = "wrote", touched.writer, touched.written
        if other is None or other == point:
            before, (other, node) = "read", _reader(touched, point)
        differ = _spelled(instance.site, point, other), _spelled(instance.site, other, point)
        message = f"block `{block.name}` with {differ[0]} {verb} `{what}`, which it {before} with {differ[1]}"
        related = (
            Related(f"it {before} the element here", None if node is None else node.span),
            Related(f"block `{block.name}` is here", block.span),
        )
        label = "the axes in which the two instances differ are spatial"
        return self.undefined(Diagnostic(SPATIAL_CONFLICT, message, access.span, label, (), related), access, frame)


def _slots(facts: Facts, buffer: tir.Buffer, site: BlockSite, frame: Frame) -> tuple[Slot[object], ...]:
    """Where the values are that `_iteration` gives. Threads of a block have one shared memory."""
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


def _others(touched: Touched, point: Point) -> bool:
    """Whether another instance accessed the element."""
    if touched.writer is not None and touched.writer != point:
        return True
    return (touched.reader is not None and touched.reader != point) or touched.other is not None


def _reader(touched: Touched, point: Point) -> tuple[Point, tir.BufferLoad | None]:
    """A reader that is not `point`."""
    if touched.reader is not None and touched.reader != point:
        return touched.reader, touched.read
    assert touched.other is not None  # noqa: S101 - somebody else read it
    return touched.other, touched.other_read


def _spelled(site: BlockSite, point: Point, other: Point) -> str:
    """The spatial axes in which `point` is not `other`."""
    axes = [axis.var.name for axis in site.node.block.iter_vars if axis.kind is IterKind.SPATIAL]
    return ", ".join(f"{name} = {a}" for name, a, b in zip(axes, point, other, strict=True) if a != b)
