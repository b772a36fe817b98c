"""Layouts of constant numbers.

| form       | what                                                                           |
|------------|--------------------------------------------------------------------------------|
| `AxisStep` | `extent` places, `stride` apart on `axis`                                       |
| `Tiling`   | shard, replica and offset by axis                                              |
| `Swizzled` | a tiling whose only axis is memory, its addresses permuted                     |

Units: the three lengths of a swizzle are logarithms to the base 2.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TypeAlias

from refmlc.lang.dtypes import INT32
from refmlc.lang.ir import tir
from refmlc.lang.ir.tirx import ComposeLayout, Iter, TileLayout

MEMORY = "m"


@dataclass(frozen=True, slots=True)
class AxisStep:
    """`extent` places, `stride` apart on `axis`."""

    extent: int
    stride: int
    axis: str = MEMORY


@dataclass(frozen=True, slots=True)
class Tiling:
    """Every sum of a place in `shard`, one in `replica`, and `offset`."""

    shard: tuple[AxisStep, ...]
    replica: tuple[AxisStep, ...] = ()
    offset: Mapping[str, int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many elements it places."""
        return prod(step.extent for step in self.shard)

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes that it names. Order: of the shard, the replica, the offset."""
        steps = (*self.shard, *self.replica)
        return tuple(dict.fromkeys((*(step.axis for step in steps), *self.offset)))

    def span(self, axis: str) -> int:
        """How far its places reach on an axis, counted from zero, offset included."""
        steps = (step for step in (*self.shard, *self.replica) if step.axis == axis)
        return 1 + sum((step.extent - 1) * step.stride for step in steps) + self.offset.get(axis, 0)


@dataclass(frozen=True, slots=True)
class Swizzled:
    """A tiling on memory alone, of whose addresses bits are exclusive-ored with others."""

    tiling: Tiling
    per_element: int
    swizzle_len: int
    atom_len: int
    inner: bool = True

    @property
    def size(self) -> int:
        """How many elements it places."""
        return self.tiling.size

    @property
    def axes(self) -> tuple[str, ...]:
        """Memory alone."""
        return self.tiling.axes or (MEMORY,)


Placed: TypeAlias = Tiling | Swizzled
"""A layout of constant numbers."""


def row_major(shape: Sequence[int], axis: str = MEMORY) -> tuple[AxisStep, ...]:
    """The steps of a shape whose last dimension is contiguous."""
    return tuple(AxisStep(extent, prod(shape[place + 1 :]), axis) for place, extent in enumerate(shape))


def bare(steps: Iterable[AxisStep]) -> Tiling:
    """A tiling without replica and offset."""
    return Tiling(tuple(steps))


# --------------------------------------------------------------------------------------------------- from nodes


def form_of(node: TileLayout | ComposeLayout) -> Placed | None:
    """The layout of constant numbers that a node is; None where a part of it is no constant."""
    if isinstance(node, ComposeLayout):
        tiling = form_of(node.tile_layout)
        if not isinstance(tiling, Tiling):
            return None
        return Swizzled(tiling, node.per_element, node.swizzle_len, node.atom_len, node.swizzle_inner)
    shard, replica = _steps(node.shard), _steps(node.replica)
    offset = {axis: value.value for axis, value in node.offset.items() if isinstance(value, tir.IntImm)}
    if shard is None or replica is None or len(offset) != len(node.offset):
        return None
    return Tiling(shard, replica, offset)


def _steps(iters: Sequence[Iter]) -> tuple[AxisStep, ...] | None:
    steps = [
        AxisStep(item.extent.value, item.stride.value, item.axis)
        for item in iters
        if isinstance(item.extent, tir.IntImm) and isinstance(item.stride, tir.IntImm)
    ]
    return tuple(steps) if len(steps) == len(iters) else None


def node_of(form: Placed) -> TileLayout | ComposeLayout:
    """The node of a layout; its numbers are int32."""
    return tile_node(form) if isinstance(form, Tiling) else swizzle_node(form)


def tile_node(form: Tiling) -> TileLayout:
    """The node of a tiling."""
    offset = {axis: tir.IntImm(INT32, value) for axis, value in form.offset.items()}
    return TileLayout(tuple(map(_iter, form.shard)), tuple(map(_iter, form.replica)), offset)


def swizzle_node(form: Swizzled) -> ComposeLayout:
    """The node of a swizzled tiling."""
    return ComposeLayout(form.per_element, form.swizzle_len, form.atom_len, tile_node(form.tiling), form.inner)


def _iter(step: AxisStep) -> Iter:
    return Iter(tir.IntImm(INT32, step.extent), tir.IntImm(INT32, step.stride), step.axis)


def defect(form: Placed) -> str:
    """What makes a layout meaningless: empty extents, or a swizzle that its tiling does not admit; empty if nothing."""
    if isinstance(form, Swizzled):
        if not 0 <= form.swizzle_len <= form.atom_len or form.per_element < 0:
            return "a swizzle has lengths of at least 0, and its atom is no shorter than what is swizzled"
        if set(form.tiling.axes) - {MEMORY}:
            return "a swizzle permutes addresses in memory, and its tiling names other axes"
        return defect(form.tiling)
    if any(step.extent < 1 for step in (*form.shard, *form.replica)):
        return "an extent is at least 1"
    return ""
