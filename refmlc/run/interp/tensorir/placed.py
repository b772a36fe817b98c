"""Buffers with a layout: where their elements lie (TIX-003, TIX-004).

| layout                             | memory of the buffer                                                       |
|------------------------------------|----------------------------------------------------------------------------|
| memory alone, swizzled or not      | as far as its addresses reach; an element lies at the address of its index |
| axes of threads too, scope `local` | the same in each thread, for the elements whose coordinates are its own    |

Axes of threads: `laneid`, `warpid`, `wid_in_wg`, `wgid`, `tid_in_wg`, `tx`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.ir import tir
from refmlc.lang.ir.scope_ids import WARP, WARPGROUP
from refmlc.lang.ir.tirx import ComposeLayout, TileLayout
from refmlc.lang.layouts.forms import MEMORY, Placed, Swizzled, Tiling, defect, form_of
from refmlc.lang.layouts.placement import LIMIT, Place, admits, flattened, places, split
from refmlc.run.interp.tensorir.views import View, view_on
from refmlc.run.memory.pointer import Pointer

OWNERS = ("laneid", "warpid", "wid_in_wg", "wgid", "tid_in_wg", "tx")


def is_placed(buffer: tir.Buffer) -> bool:
    """Whether the buffer has a layout of its own, or is in tensor memory."""
    return isinstance(buffer.layout, TileLayout | ComposeLayout) or bool(buffer.allocated_addr)


@lru_cache(maxsize=256)
def placement(layout: TileLayout | ComposeLayout) -> Placed | None:
    """The layout of constant numbers; None where it is not constant."""
    return form_of(layout)


def form(buffer: tir.Buffer) -> Placed:
    """The layout of a buffer that is not refused."""
    layout = placement(buffer.layout) if isinstance(buffer.layout, TileLayout | ComposeLayout) else None
    assert layout is not None  # noqa: S101 - `refusal` comes before
    return layout


def refusal(buffer: tir.Buffer) -> str:
    """Why a buffer is not executed; empty: it is."""
    if buffer.allocated_addr:
        return f"`allocated_addr` of `{buffer.name}` is not executed: it is a place in tensor memory"
    if not isinstance(buffer.layout, TileLayout | ComposeLayout):
        return ""
    what = f"the layout of `{buffer.name}` is not executed"
    layout = placement(buffer.layout)
    if layout is None:
        return f"{what}: it is not constant"
    reason = defect(layout)
    if reason:
        return f"{what}: {reason}"
    strange = [axis for axis in layout.axes if axis not in (MEMORY, *OWNERS)]
    if strange:
        return f"{what}: it has the axis `{strange[0]}`"
    if owners(layout) and buffer.scope != "local":
        return f"{what}: it has axes of threads, in scope `{buffer.scope}`"
    if layout.size > LIMIT:
        return f"{what}: it has {layout.size} elements"
    tiling = layout.tiling if isinstance(layout, Swizzled) else layout
    if any(step.axis == MEMORY for step in tiling.replica):
        return f"{what}: it has a replica in memory"
    if _goes_below(tiling):
        return f"{what}: it has places before the first element of its memory, or a negative stride"
    if buffer.strides:
        return f"{what}: it has strides too"
    return ""


def _goes_below(tiling: Tiling) -> bool:
    """Whether addresses in memory do not begin at 0 and grow."""
    negative = any(step.axis == MEMORY and step.stride < 0 and step.extent > 1 for step in tiling.shard)
    return negative or tiling.offset.get(MEMORY, 0) < 0


def owners(layout: Placed) -> tuple[str, ...]:
    """The axes of threads that a layout names."""
    return tuple(axis for axis in layout.axes if axis in OWNERS)


def is_owned(buffer: tir.Buffer) -> bool:
    """Whether the elements of a buffer belong to threads."""
    layout = placement(buffer.layout) if isinstance(buffer.layout, TileLayout | ComposeLayout) else None
    return layout is not None and bool(owners(layout))


def coordinates(thread: int) -> Mapping[str, int]:
    """The coordinates of the thread of this number in its block, on the axes of threads."""
    warp = thread // WARP
    return {
        "laneid": thread % WARP,
        "warpid": warp,
        "wid_in_wg": warp % (WARPGROUP // WARP),
        "wgid": thread // WARPGROUP,
        "tid_in_wg": thread % WARPGROUP,
        "tx": thread,
    }


@dataclass(slots=True, eq=False)
class Addresses:
    """The places of the elements of a buffer of this shape, and their addresses in memory."""

    layout: Placed
    shape: tuple[int, ...]
    known: dict[int, tuple[Place, ...]] = field(default_factory=dict)

    def places(self, position: tuple[int, ...]) -> tuple[Place, ...]:
        """All places of an element in bounds, in order."""
        number = flattened(position, self.shape)
        found = self.known.get(number)
        if found is None:
            index = split(number, (self.layout.size,))
            found = self.known[number] = tuple(sorted(places(self.layout, index)))
        return found

    def offset(self, position: tuple[int, ...]) -> int:
        """The address of an element in bounds, in elements."""
        if owners(self.layout):  # TIX-004
            raise fail(UNSUPPORTED_CONSTRUCT, "an element of a buffer that belongs to several threads is accessed")
        return address(self.places(position)[0])


def address(place: Place) -> int:
    """The coordinate in memory."""
    return dict(place).get(MEMORY, 0)


@lru_cache(maxsize=256)
def reach(buffer: tir.Buffer) -> int:
    """How many elements of memory the addresses of a buffer reach over."""
    layout = form(buffer)
    if isinstance(layout, Tiling):
        return layout.span(MEMORY)
    return 1 + max(address(place) for number in range(layout.size) for place in places(layout, (number,)))


def view_placed(buffer: tir.Buffer, data: Pointer, shape: tuple[int, ...], offset: int) -> View:
    """View `data` as a buffer with a layout. Fails: RM504 where the shape is none of the layout."""
    layout = form(buffer)
    if not admits(layout, shape):
        message = f"the layout of `{buffer.name}` places {layout.size} elements, its shape is {shape}"
        raise fail(UNSUPPORTED_CONSTRUCT, message, buffer.span)
    memory = view_on(buffer, data, (reach(buffer),), None, offset)
    strides = (0,) * len(shape)
    addresses = Addresses(layout, shape)
    return View(buffer, data, shape, strides, offset, memory.cells, memory.shadow, addresses)
