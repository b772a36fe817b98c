"""Buffers in tensor memory: views of what an address points to (TMM-007).

| layout                                   | an element lies                                               |
|------------------------------------------|---------------------------------------------------------------|
| of the axes `TLane` and `TCol`           | in a lane and a column of elements, from `allocated_addr` on  |
| none, after TVM has lowered the accesses | nowhere: nothing accesses the buffer                          |

Only tile primitives access such buffers.
"""

from dataclasses import dataclass, field

from refmlc.diag import fail
from refmlc.diag.catalogue import OUT_OF_BOUNDS, UNSUPPORTED_CONSTRUCT
from refmlc.diag.errors import RefmlcError
from refmlc.lang.ir import tir
from refmlc.lang.ir.tirx import TileLayout
from refmlc.lang.layouts.forms import Tiling, defect
from refmlc.lang.layouts.placement import LIMIT, admits, flattened, places
from refmlc.run.interp.tensorir.frame import Frame, Run
from refmlc.run.interp.tensorir.placed import placement
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.tensorir.views import View, view_on
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor_memory import COLUMNS, LANE_BYTES

LANE, COLUMN = "TLane", "TCol"
BITS = (8, 16, 32)


@dataclass(slots=True, eq=False)
class TensorPlaces:
    """Where the elements of a buffer of this shape lie, in elements of `size` bytes from its address on."""

    buffer: tir.Buffer
    layout: Tiling
    shape: tuple[int, ...]
    size: int
    known: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def offsets(self, position: tuple[int, ...]) -> tuple[int, ...]:
        """All places of an element in bounds, in order."""
        number = flattened(position, self.shape)
        if number not in self.known:
            found = [dict(place) for place in places(self.layout, (number,))]
            stride = LANE_BYTES // self.size
            self.known[number] = tuple(sorted(place.get(LANE, 0) * stride + place.get(COLUMN, 0) for place in found))
        return self.known[number]

    def offset(self, position: tuple[int, ...]) -> int:
        """Fails: RM504, whatever element it is of."""
        del position
        raise _unaddressed(self.buffer)


@dataclass(frozen=True, slots=True)
class NoPlaces:
    """Where the elements of a buffer lie of which the text does not say it."""

    buffer: tir.Buffer

    def offset(self, position: tuple[int, ...]) -> int:
        """Fails: RM504."""
        del position
        raise _unaddressed(self.buffer)


def _unaddressed(buffer: tir.Buffer) -> RefmlcError:
    message = f"`allocated_addr` of `{buffer.name}`: only tile primitives access elements in tensor memory"
    return fail(UNSUPPORTED_CONSTRUCT, message, buffer.span)


def refusal(buffer: tir.Buffer) -> str:
    """Why elements of a buffer in tensor memory are not accessed; empty: tile primitives access them."""
    what = f"the layout of `{buffer.name}`, in tensor memory, is not executed"
    layout = placement(buffer.layout) if isinstance(buffer.layout, TileLayout) else None
    if not isinstance(layout, Tiling):
        return f"{what}: it has none of constant numbers"
    strange = [axis for axis in layout.axes if axis not in (LANE, COLUMN)]
    if defect(layout) or strange or layout.size > LIMIT:
        return f"{what}: {defect(layout) or f'it has {layout.size} elements, and the axes {layout.axes}'}"
    if len(buffer.allocated_addr) != 1 or buffer.dtype.bits not in BITS or buffer.dtype.is_vector:
        return f"{what}: {len(buffer.allocated_addr)} addresses, elements of {buffer.dtype}"
    return ""


def declare_in_tensor_memory(scope: Scope, buffer: tir.Buffer) -> Run:  # TMM-007
    """The buffer, of which nothing is known before a tile primitive uses it: its address may be written later."""
    place = scope.declare_buffer(buffer)
    nothing = view_on(buffer, Pointer(Storage(0)), (0,), None, 0)
    endless = (1 << 62,) * len(buffer.shape)
    view = View(buffer, nothing.data, endless, endless, 0, nothing.cells, nothing.shadow, NoPlaces(buffer))
    return lambda frame: place.put(frame, view)


def bound_in_tensor_memory(scope: Scope, buffer: tir.Buffer) -> Run | None:  # TMM-007
    """The buffer at its address, as a use of it finds it; None where its layout does not say where elements are."""
    if refusal(buffer):
        return None
    place = scope.buffer(buffer)
    address, shape = scope.int(buffer.allocated_addr[0]), tuple(scope.int(extent) for extent in buffer.shape)
    layout, size = placement(buffer.layout), cell_size(buffer.dtype)
    assert isinstance(layout, Tiling)  # noqa: S101 - `refusal` says otherwise
    group_of, budget, span = scope.group, scope.machine.budget, buffer.span

    def run(frame: Frame) -> None:
        group, extents = frame[group_of], tuple([extent(frame) for extent in shape])
        if group is None:
            raise fail(UNSUPPORTED_CONSTRUCT, f"`{buffer.name}` is in tensor memory, which a kernel has", span)
        if not admits(layout, extents):
            message = f"the layout of `{buffer.name}` places {layout.size} elements, its shape is {extents}"
            raise fail(UNSUPPORTED_CONSTRUCT, message, span)
        start = address(frame)
        data = group.tensor_memory(frame, budget).place(start)
        if data is None:
            raise fail(OUT_OF_BOUNDS, f"`{buffer.name}` begins at {start:#x}, beyond tensor memory", span)
        reach = (data.storage.nbytes - data.byte_offset) // size
        memory = view_on(buffer, data, (reach,), None, 0)
        strides = (0,) * len(extents)
        found = TensorPlaces(buffer, layout, extents, size)
        place.put(frame, View(buffer, data, extents, strides, 0, memory.cells, memory.shadow, found))

    return run


def cell_of(byte: int) -> tuple[int, int]:
    """Lane and column of a byte of tensor memory."""
    lane, rest = divmod(byte, LANE_BYTES)
    return lane, rest * COLUMNS // LANE_BYTES
