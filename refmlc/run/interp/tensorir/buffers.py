"""Buffers get their storage: fresh, as a view of a pointer or of a region. A declaration is matched with its storage.

A match binds each variable of the declaration that has no value yet, then compares every other part.
"""

from collections.abc import Callable
from math import prod
from typing import cast

import numpy as np

from refmlc.diag import Related
from refmlc.diag.catalogue import BAD_EXTENT, BAD_POINTER, MATCH_FAILED, OUT_OF_BOUNDS, UNSUPPORTED_CONSTRUCT
from refmlc.diag.errors import RefmlcError
from refmlc.lang.ir import tir
from refmlc.lang.ir.scopes import axes_of
from refmlc.lang.ir.threads import has_threads
from refmlc.run.interp.tensorir.frame import Frame, IntEval, Run, Slot
from refmlc.run.interp.tensorir.placed import is_placed, reach, refusal, view_placed
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.tensorir.tensor_memory import declare_in_tensor_memory
from refmlc.run.interp.tensorir.views import BufferPlace, View, view_on
from refmlc.run.interp.threads.private_memory import Private, add_private, follow
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.pointer import Pointer, SpaceAddress
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import kind_of


def allocate(scope: Scope, buffer: tir.Buffer, origin: str) -> Run:
    """Fresh, uninitialised storage for `buffer`, at each execution."""
    if refusal(buffer):
        return refused(scope, buffer)
    shape = tuple(scope.int(extent) for extent in buffer.shape)
    strides = tuple(scope.int(stride) for stride in buffer.strides)
    offset = None if buffer.elem_offset is None else scope.int(buffer.elem_offset)
    place = scope.declare_buffer(buffer)
    negative = scope.failing(BAD_EXTENT, buffer.span)
    budget = scope.machine.budget
    unit, placed = cell_size(buffer.dtype), is_placed(buffer)
    memories = scope.memories
    private = _private_axes(scope, buffer)
    allocated = scope.machine.hooks.allocated if scope.machine.hooks.watches("allocated") else None

    def make(frame: Frame) -> View:
        view = fresh(frame)
        if allocated is not None:
            allocated(buffer, view, frame)
        return view

    def fresh(frame: Frame) -> View:
        extents = tuple([extent(frame) for extent in shape])
        if any(extent < 0 for extent in extents):
            raise negative(frame, f"`{buffer.name}` has the shape {extents}")
        steps = tuple([stride(frame) for stride in strides]) or None
        start = 0 if offset is None else offset(frame)
        count = prod(extents) if steps is None else 1 + sum((n - 1) * s for n, s in zip(extents, steps, strict=True))
        if placed:
            count = reach(buffer)
        nbytes = (start + count) * unit * buffer.dtype.lanes
        storage = Storage(nbytes, unit=unit, origin=origin, span=buffer.span, budget=budget)
        if buffer.scope not in ("", "global"):
            storage.extras.space = buffer.scope
        if placed:
            return view_placed(buffer, Pointer(storage), extents, start)
        return view_on(buffer, Pointer(storage), extents, steps, start)

    def run(frame: Frame) -> None:
        place.drop(frame)  # frees the storage of the previous instance
        place.put(frame, make(frame))
        outer = private()
        if outer:
            add_private(frame, memories, Private(place, make, outer))

    return _once_per_block(scope, place, fresh) if scope.steps and buffer.scope.startswith("shared") else run


def refused(scope: Scope, buffer: tir.Buffer) -> Run:
    """The end of what reaches a buffer of TIRx that has no meaning (TIX-003, TIR-299)."""
    scope.declare_buffer(buffer)
    stop = scope.unsupported(UNSUPPORTED_CONSTRUCT, refusal(buffer), buffer.span)
    return lambda frame: cast("None", stop(frame))


def _private_axes(scope: Scope, buffer: tir.Buffer) -> Callable[[], dict[str, Slot[int | None]]]:
    """The slots of the axes, not entered here, to whose indices `buffer` is private; all axes are known at run time."""
    bound, axes, beginnings = set(scope.threads), scope.axes, axes_of(buffer.scope)
    if beginnings and scope.func is not None and has_threads(scope.func) and scope.exchange.is_folded(buffer):
        beginnings = ("blockIdx",)  # threads reduce into it together
    return lambda: {tag: slot for tag, slot in axes.items() if tag.startswith(beginnings) and tag not in bound}


def _once_per_block(scope: Scope, place: BufferPlace, make: Callable[[Frame], View]) -> Run:
    """Shared memory allocated by threads: the first thread allocates it, all use it."""
    slot, hooks = scope.group, scope.machine.hooks
    allocated = hooks.allocated if hooks.watches("allocated") else None

    def run(frame: Frame) -> None:
        group = frame[slot]
        view = make(frame) if group is None else group.shared_view(place, frame, make)
        place.put(frame, view)
        if allocated is not None:
            allocated(place.buffer, view, frame)

    return run


def declare(scope: Scope, node: tir.DeclBuffer) -> Run:
    """The buffer as a view of what `data` points to."""
    if node.buffer.allocated_addr:
        return declare_in_tensor_memory(scope, node.buffer)
    if node.data is None:
        return allocate(scope, node.buffer, f"buffer `{node.buffer.name}`")
    buffer = node.buffer
    if refusal(buffer):
        return refused(scope, buffer)
    pointer = scope.expr(node.data)
    shape = tuple(scope.int(extent) for extent in buffer.shape)
    strides = tuple(scope.int(stride) for stride in buffer.strides)
    offset = None if buffer.elem_offset is None else scope.int(buffer.elem_offset)
    place = scope.declare_buffer(buffer)
    foreign = scope.failing(BAD_POINTER, node.span or buffer.span)
    negative = scope.failing(BAD_EXTENT, buffer.span)
    placed = is_placed(buffer)
    source = node.data.buffer if isinstance(node.data, tir.BufferData) else None
    memories = scope.memories

    def run(frame: Frame) -> None:
        pointed = data = pointer(frame)
        if isinstance(data, Tensor):
            data = Pointer(data.storage, data.byte_offset)
        elif isinstance(data, SpaceAddress):
            data = data.place
        elif data is None or isinstance(data, tuple):
            data = _constant(data)
        if not isinstance(data, Pointer):
            raise foreign(frame, f"`{buffer.name}` is declared on {kind_of(pointed)}")
        extents = tuple([extent(frame) for extent in shape])
        if any(extent < 0 for extent in extents):
            raise negative(frame, f"`{buffer.name}` has the shape {extents}")
        steps = tuple([stride(frame) for stride in strides]) or None
        start = 0 if offset is None else offset(frame)
        view = view_placed(buffer, data, extents, start) if placed else view_on(buffer, data, extents, steps, start)
        place.put(frame, view)
        if source is not None and frame[memories] is not None:
            follow(frame, memories, source, place, run)

    return run


def _constant(data: tuple[int, ...] | None) -> Pointer | None:
    """Read-only memory with the shape or strides of a tensor; null has no element. None: a tuple of other values."""
    values = np.array(data or (), np.int64) if all(isinstance(each, int) for each in data or ()) else None
    if values is None:
        return None
    values.flags.writeable = False
    return Pointer(Storage.from_array(values, origin="null" if data is None else "the shape or strides of a tensor"))


def match_region(scope: Scope, node: tir.MatchBufferRegion) -> Run:
    """The buffer as a view of a region; leading axes of the region that the buffer does not have must be single."""
    buffer, source = node.buffer, node.source
    if is_placed(buffer) or is_placed(source.buffer):
        scope.declare_buffer(buffer)
        message = f"the region of `{source.buffer.name}` is of a buffer with a layout: matching it is not executed"
        stop = scope.unsupported(UNSUPPORTED_CONSTRUCT, message, node.span)
        return lambda frame: cast("None", stop(frame))
    source_view = scope.buffer(source.buffer, node.span).view
    mins = tuple(scope.int(axis.min) for axis in source.region)
    extents = tuple(scope.int(axis.extent) for axis in source.region)
    place = scope.declare_buffer(buffer, strided=True)
    dropped = len(source.region) - len(buffer.shape)
    span = node.span or buffer.span
    outside = scope.failing(
        OUT_OF_BOUNDS, span, Related(f"`{source.buffer.name}` is declared here", source.buffer.span)
    )
    matcher = DeclarationMatch(scope, buffer, scope.failing(MATCH_FAILED, span)).close(scope)
    memories = scope.memories

    def run(frame: Frame) -> None:
        view = frame[source_view]
        starts, sizes = [low(frame) for low in mins], [extent(frame) for extent in extents]
        for axis, (low, size, extent) in enumerate(zip(starts, sizes, view.shape, strict=True)):
            if size < 0 or low < 0 or low + size > extent:
                label = f"axis {axis} is {low} … {low + size - 1}, extent is {extent}"
                raise outside(frame, f"the region of `{source.buffer.name}` is out of bounds", label=label)
        if any(size != 1 for size in sizes[: max(dropped, 0)]) or dropped < 0:
            raise matcher.failure(frame, f"`{buffer.name}` has {len(buffer.shape)} axes, its region has shape {sizes}")
        offset = view.offset + sum(low * step for low, step in zip(starts, view.strides, strict=True))
        shape, strides = tuple(sizes[dropped:]), view.strides[dropped:]
        matcher.bind(frame, shape, strides, offset)
        matcher.check(frame, shape, strides, offset)
        place.put(frame, view_on(buffer, view.data, shape, strides, offset))
        if frame[memories] is not None:
            follow(frame, memories, source.buffer, place, run)

    return run


# TIR-004
class DeclarationMatch:
    """The declaration of a buffer, matched with an actual shape, strides and offset (all in elements).

    Several buffers are matched in two rounds: every `bind`, which gives their variables values, then every `check`.
    """

    def __init__(self, scope: Scope, buffer: tir.Buffer, failure: Callable[..., RefmlcError]) -> None:
        """Declare the variables that this declaration is the first to name."""
        self.buffer = buffer
        self.failure = failure
        offset = () if buffer.elem_offset is None else (buffer.elem_offset,)
        self._parts = (*buffer.shape, *buffer.strides, *offset)
        self._names = (
            *(f"extent {axis}" for axis in range(len(buffer.shape))),
            *(f"stride {axis}" for axis in range(len(buffer.strides))),
            "the element offset",
        )
        self._binds: dict[int, Slot[int]] = {}
        self._checks: list[tuple[int, IntEval]] = []
        for number, part in enumerate(self._parts):
            if isinstance(part, tir.Var) and not scope.layout.knows(part):
                self._binds[number] = scope.declare(part)

    def close(self, scope: Scope) -> "DeclarationMatch":
        """Prepare the comparisons: every variable is declared by now."""
        numbers = (number for number in range(len(self._parts)) if number not in self._binds)
        self._checks = [(number, scope.int(self._parts[number])) for number in numbers]
        return self

    def bind(self, frame: Frame, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> None:
        """Give the variables values. Fails if the rank differs, or a variable's dtype has no such value."""
        if len(shape) != len(self.buffer.shape):
            ranks = f"{len(self.buffer.shape)} axes, what it is matched with has {len(shape)}"
            raise self.failure(frame, f"`{self.buffer.name}` has {ranks}: {shape}")
        actual = self._actual(shape, strides, offset)
        for number, slot in self._binds.items():
            value, dtype = actual[number], self._parts[number].dtype
            if not dtype.minimum <= value <= dtype.maximum:
                raise self.failure(frame, f"{self._names[number]} of `{self.buffer.name}` is {value}, beyond {dtype}")
            frame[slot] = value

    def check(self, frame: Frame, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> None:
        """Compare the parts that were not bound here."""
        actual = self._actual(shape, strides, offset)
        for number, part in self._checks:
            declared = part(frame)
            if declared != actual[number]:
                name, text = self._names[number], self._declared(number, declared)
                raise self.failure(frame, f"{name} of `{self.buffer.name}` is {actual[number]}, declared is {text}")
        factor = self.buffer.offset_factor
        if self.buffer.elem_offset is not None and offset % factor:  # TIR-004, TIR-220
            raise self.failure(
                frame, f"the element offset of `{self.buffer.name}` is {offset}, not a multiple of its factor {factor}"
            )

    def _actual(self, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> tuple[int, ...]:
        return (*shape, *(strides if self.buffer.strides else ()), offset)

    def _declared(self, number: int, value: int) -> str:
        part = self._parts[number]
        return f"{part.name} = {value}" if isinstance(part, tir.Var) else str(value)
