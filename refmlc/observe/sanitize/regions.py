"""RM318: an instance of a block accesses elements that its `T.reads` and `T.writes` do not name (TIR-221).

| access of an instance | allowed where the element is in                                                            |
|-----------------------|--------------------------------------------------------------------------------------------|
| store                 | a region of `T.writes`                                                                     |
| load                  | a region of `T.reads`; of `T.writes` too, if the block may be a reduction (it has an init, |
|                       | a reduce axis, or no axes any more), or if this instance wrote the element before          |

Regions are evaluated for each instance. Memory that is allocated within the instance needs no declaration. Blocks that
declare nothing are not checked, nor is the root block, whose regions TVM leaves empty. A block whose lists are both
empty is opaque: what happens in it is checked neither for itself nor for the blocks around it.
"""

from dataclasses import dataclass, field, replace
from typing import cast
from weakref import WeakKeyDictionary

from refmlc.diag import Diagnostic, Related
from refmlc.diag.catalogue import UNDECLARED_ACCESS
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.lang.ir.scopes import is_global
from refmlc.observe.addresses import element_size, first_byte
from refmlc.observe.sanitize.detector import Detector, Reach
from refmlc.observe.sanitize.elements import Elements, element, indices_of
from refmlc.observe.sanitize.facts import FactTable
from refmlc.run.interp.tensorir.block_sites import BlockSite, Box
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.interp.tensorir.views import View
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.storage import Storage


@dataclass(slots=True)
class Instance:
    """An open instance of a block; `wrote`: the elements that it has written.

    `opaque`: both lists of the block are empty, so that those of the blocks around it, derived from them, say nothing.
    """

    site: BlockSite
    values: tuple[int, ...]
    reads: tuple[Box, ...] | None
    writes: tuple[Box, ...] | None
    allocations_before: int
    folds: bool
    opaque: bool
    wrote: Elements[bool] = field(default_factory=Elements)


class DeclaredRegions(Detector):
    """Compares accesses with the regions of the blocks around them."""

    code = UNDECLARED_ACCESS
    reach = Reach.NOT_PLAIN

    def __init__(self, facts: FactTable) -> None:
        super().__init__(facts)
        self._open: list[Instance] = []
        self._allocated: WeakKeyDictionary[Storage, int] = WeakKeyDictionary()
        self._buffers: WeakKeyDictionary[Storage, tir.Buffer] = WeakKeyDictionary()
        self._allocations = 0
        self._folds: dict[BlockSite, bool] = {}

    def place(self) -> tuple[object, ...]:
        return (list(self._open),)

    def go_to(self, place: tuple[object, ...]) -> None:
        self._open = list(cast("list[Instance]", place[0]))

    def allocated(self, buffer: tir.Buffer, view: View, frame: Frame) -> None:
        del frame
        self._buffers[view.data.storage] = buffer
        self._allocations += 1
        self._allocated[view.data.storage] = self._allocations

    def enter_block(self, site: BlockSite, frame: Frame) -> None:
        block = site.node.block
        root = not site.axes and not self.facts.at(frame).around.get(site.node)
        opaque = not root and block.reads == block.writes == ()
        reads, writes = (None, None) if root or opaque else (site.reads(frame), site.writes(frame))
        if site not in self._folds:
            self._folds[site] = writes is not None and _folds(block)
        instance = Instance(site, site.values(frame), reads, writes, self._allocations, self._folds[site], opaque)
        self._open.append(instance)

    def leave_block(self, site: BlockSite, frame: Frame) -> None:
        del site, frame
        self._open.pop()

    def read_element(self, access: tir.BufferLoad, view: View, offset: int, frame: Frame) -> None:
        allocation = self._allocated.get(view.data.storage, 0) if self._open else 0
        for instance in reversed(self._open):
            if allocation > instance.allocations_before or instance.opaque:
                return
            reads = instance.reads
            if reads is None or self._contains(reads, view, offset):
                continue
            writes = instance.writes or ()
            if instance.folds and self._contains(writes, view, offset):
                continue
            records, keys = instance.wrote.find(view, offset)
            if not all(key in records for key in keys):
                raise self.undefined(_undeclared_access("reads", instance, reads, access, view, offset), access, frame)

    def write_element(self, access: tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        allocation = self._allocated.get(view.data.storage, 0) if self._open else 0
        for instance in reversed(self._open):
            if allocation > instance.allocations_before or instance.opaque:
                return
            if instance.reads is not None and not instance.folds:
                records, keys = instance.wrote.find(view, offset)
                records.update(dict.fromkeys(keys, True))
            writes = instance.writes
            if writes is not None and not self._contains(writes, view, offset):
                raise self.undefined(
                    _undeclared_access("writes", instance, writes, access, view, offset), access, frame
                )

    def _contains(self, boxes: tuple[Box, ...], view: View, offset: int) -> bool:
        """True if the element is in one of the regions, which a block around the threads may declare."""
        if contains(boxes, view, offset):
            return True
        buffer = self._buffers.get(view.data.storage)
        if buffer is None or is_global(buffer.scope):
            return False
        outer_views = [box.view for box in boxes if self._buffers.get(box.view.data.storage) is buffer]
        outer_boxes = [replace(view, data=Pointer(outer.data.storage, view.data.byte_offset)) for outer in outer_views]
        return any(contains(boxes, candidate, offset) for candidate in outer_boxes)


def _folds(block: tir.SBlock) -> bool:
    """True if a block may be a reduction. TVM lowers inits, then axes, and keeps the regions unchanged."""
    return block.init is not None or not block.iter_vars or any(a.kind is IterKind.REDUCE for a in block.iter_vars)


def contains(boxes: tuple[Box, ...], view: View, offset: int) -> bool:
    """True if element `offset` of `view` is in one of the regions, or may be."""
    storage = view.data.storage
    for box in boxes:
        region_view = box.view
        if region_view.data.storage is not storage:
            continue
        distance = offset if region_view is view else _distance(region_view, view, offset)
        if distance is None:
            return True
        if distance < 0:
            continue
        indices = indices_of(region_view, distance)
        if indices is None:
            if _overlaps(region_view):
                return True
            continue
        for index, axis in zip(indices, box.axes, strict=True):
            if axis is not None and not axis[0] <= index < axis[0] + axis[1]:
                break
        else:
            return True
    return False


def _distance(whole: View, view: View, offset: int) -> int | None:
    """The number of element `offset` of `view` in `whole`; None if it is not one element of it."""
    size, start = element_size(view), first_byte(view, offset) - whole.data.byte_offset
    if element_size(whole) != size or start % size:
        return None
    return start // size - whole.offset


def _overlaps(view: View) -> bool:
    """True if elements of a view share memory, or its strides allow it."""
    return any(stride <= 0 for stride, extent in zip(view.strides, view.shape, strict=True) if extent != 1)


def _undeclared_access(
    verb: str,
    instance: Instance,
    boxes: tuple[Box, ...],
    access: tir.BufferLoad | tir.BufferStore,
    view: View,
    offset: int,
) -> Diagnostic:
    block = instance.site.node.block
    axes = [f"{axis.var.name} = {value}" for axis, value in zip(block.iter_vars, instance.values, strict=True)]
    regions = [_region_text(box) for box in boxes if box.view.data.storage is view.data.storage]
    label = f"`T.{verb}` here: {', '.join(regions)}" if regions else f"`T.{verb}` does not name `{access.buffer.name}`"
    message = f"block `{block.name}` {verb} `{element(access.buffer, view, offset)}`, which it does not declare"
    notes = (f"the instance {', '.join(axes)}",) if axes else ()
    related = Related(f"block `{block.name}` is here", block.span)
    return Diagnostic(UNDECLARED_ACCESS, message, access.span, label, notes, (related,))


def _region_text(box: Box) -> str:
    axes = ["…" if axis is None else _axis(*axis) for axis in box.axes]
    return f"{box.declared.buffer.name}[{', '.join(axes)}]"


def _axis(first: int, count: int) -> str:
    return str(first) if count == 1 else f"{first}:{first + count}"
