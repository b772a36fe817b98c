"""Every element of a shape with what the steps of LAY-001 make of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from refmlc.lang.layouts.forms import Placed, Swizzled
from refmlc.lang.layouts.placement import Place, places, split

MOST = 4096
"""The elements, times copies, of the largest shape that is listed."""


@dataclass(frozen=True, slots=True)
class PlacedElement:
    """An element: its index, its number, the components over the shard, its places in order."""

    index: tuple[int, ...]
    number: int
    components: tuple[int, ...]
    places: tuple[Place, ...]

    def on(self, axis: str) -> tuple[int, ...]:
        """Its coordinates on an axis, each once, in order."""
        return tuple(sorted({coordinate for place in self.places for name, coordinate in place if name == axis}))


def amount(layout: Placed) -> int:
    """How many places the elements have together."""
    tiling = layout.tiling if isinstance(layout, Swizzled) else layout
    return layout.size * prod(step.extent for step in tiling.replica)


def elements(layout: Placed, shape: Sequence[int]) -> Iterator[PlacedElement]:
    """The elements of a shape, the last dimension fastest."""
    tiling = layout.tiling if isinstance(layout, Swizzled) else layout
    extents = [step.extent for step in tiling.shard]
    for number in range(layout.size):
        index = split(number, shape)
        yield PlacedElement(index, number, split(number, extents), tuple(sorted(places(layout, index, shape))))
