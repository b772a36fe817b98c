"""Where an element lies: an index to its set of places, and a place to the indices that lie there.

The four steps of TVM's documentation (`docs/tirx/layout.rst`), for an index x of a shape with as many elements as the
layout (LAY-001):

1. flatten x, the last dimension fastest;
2. split the number over the extents of the shard, the last one fastest;
3. add component times stride on the axis of each, then the offset;
4. add each combination of the replica's components times their strides: a set.

A swizzle permutes the address that results (LAY-002). A place is a coordinate on each axis that the layout names.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import TypeAlias

from refmlc.lang.layouts.forms import MEMORY, AxisStep, Placed, Swizzled

Place: TypeAlias = tuple[tuple[str, int], ...]
"""A coordinate on each axis. Order: of `axes`."""

LIMIT = 1 << 20
"""The number of elements up to which places are compared one by one."""


def admits(layout: Placed, shape: Sequence[int]) -> bool:
    """Whether a shape has as many elements as the layout."""
    return all(extent >= 0 for extent in shape) and prod(shape) == layout.size


def flattened(index: Sequence[int], shape: Sequence[int]) -> int:
    """The number of an element of a shape, the last dimension fastest."""
    number = 0
    for component, extent in zip(index, shape, strict=True):
        number = number * extent + component
    return number


def split(number: int, extents: Sequence[int]) -> tuple[int, ...]:
    """The components of a number over extents, the last one fastest."""
    components: list[int] = []
    for extent in reversed(extents):
        number, component = divmod(number, extent)
        components.insert(0, component)
    return tuple(components)


def places(layout: Placed, index: Sequence[int], shape: Sequence[int] | None = None) -> frozenset[Place]:
    """All places of an element. Fails: `ValueError` where the shape or the index is none of the layout."""
    extents = (layout.size,) if shape is None else shape
    if not admits(layout, extents):
        raise ValueError(f"a layout of {layout.size} elements has no shape {tuple(extents)}")
    if len(index) != len(extents) or not all(0 <= x < n for x, n in zip(index, extents, strict=True)):
        raise ValueError(f"the shape {tuple(extents)} has no index {tuple(index)}")
    number = flattened(index, extents)
    if isinstance(layout, Swizzled):
        return frozenset(((MEMORY, swizzled(layout, dict(place).get(MEMORY, 0))),) for place in _of(layout, number))
    return frozenset(_of(layout, number))


def _of(layout: Placed, number: int) -> Iterator[Place]:
    """The places of the element of this number, before a swizzle."""
    tiling = layout.tiling if isinstance(layout, Swizzled) else layout
    components = split(number, [step.extent for step in tiling.shard])
    base = dict.fromkeys(tiling.axes, 0)
    for component, step in zip(components, tiling.shard, strict=True):
        base[step.axis] += component * step.stride
    for axis, distance in tiling.offset.items():
        base[axis] += distance
    for copy in product(*(range(step.extent) for step in tiling.replica)):
        place = dict(base)
        for component, step in zip(copy, tiling.replica, strict=True):
            place[step.axis] += component * step.stride
        yield tuple(place.items())


def swizzled(layout: Swizzled, address: int) -> int:
    """The address after the swizzle: of its own inverse, as what is exclusive-ored stays itself."""
    high, low = address >> layout.per_element, address & ((1 << layout.per_element) - 1)
    mask = (1 << layout.swizzle_len) - 1
    if layout.inner:
        high ^= (high >> layout.atom_len) & mask
    else:
        high ^= (high & mask) << layout.atom_len
    return (high << layout.per_element) | low


# ----------------------------------------------------------------------------------------------------- and back


def elements_at(layout: Placed, place: Mapping[str, int]) -> frozenset[int]:
    """The numbers of all elements that lie at a place; an axis that `place` does not name is at 0.

    Each axis is solved alone, its steps of the largest strides first; what the others cannot reach is passed over.
    """
    tiling = layout.tiling if isinstance(layout, Swizzled) else layout
    target = {**dict.fromkeys(tiling.axes, 0), **place}
    if isinstance(layout, Swizzled):
        target[MEMORY] = swizzled(layout, target.get(MEMORY, 0))
    steps = [*enumerate(tiling.shard), *((-1, step) for step in tiling.replica)]
    choices: list[list[dict[int, int]]] = []
    for axis, coordinate in target.items():
        own = sorted((item for item in steps if item[1].axis == axis), key=lambda item: -abs(item[1].stride))
        choices.append(list(_solutions(own, coordinate - tiling.offset.get(axis, 0))))
    found = set()
    for parts in product(*choices):
        components = {number: value for part in parts for number, value in part.items()}
        index = [components[number] for number in range(len(tiling.shard))]
        found.add(flattened(index, [step.extent for step in tiling.shard]))
    return frozenset(found)


def _solutions(steps: Sequence[tuple[int, AxisStep]], target: int) -> Iterator[dict[int, int]]:
    """The components whose places add up to `target`; those of replicas, numbered -1, are left out."""
    if not steps:
        if target == 0:
            yield {}
        return
    (number, step), *rest = steps
    low = sum(min(0, (item.extent - 1) * item.stride) for _, item in rest)
    high = sum(max(0, (item.extent - 1) * item.stride) for _, item in rest)
    for component in range(step.extent):
        remainder = target - component * step.stride
        if low <= remainder <= high:
            for others in _solutions(rest, remainder):
                yield others if number < 0 else {number: component, **others}


def is_injective(layout: Placed) -> bool | None:
    """Whether no place belongs to two elements; None where that takes more than `LIMIT` comparisons."""
    tiling = layout.tiling if isinstance(layout, Swizzled) else layout
    if all(_is_radix([s for s in (*tiling.shard, *tiling.replica) if s.axis == axis]) for axis in tiling.axes):
        return True
    if tiling.size * prod(step.extent for step in tiling.replica) > LIMIT:
        return None
    owners: dict[Place, int] = {}
    return all(
        owners.setdefault(place, number) == number for number in range(layout.size) for place in _of(layout, number)
    )


def _is_radix(steps: Sequence[AxisStep]) -> bool:
    """Whether each stride goes beyond all that the smaller ones reach together."""
    reach = 0
    for step in sorted((step for step in steps if step.extent > 1), key=lambda step: abs(step.stride)):
        if abs(step.stride) <= reach:
            return False
        reach += (step.extent - 1) * abs(step.stride)
    return True


def inverse(layout: Placed, place: Mapping[str, int], shape: Sequence[int] | None = None) -> tuple[int, ...] | None:
    """The index of the element that lies at a place; None where none does. Fails: `ValueError` where several do."""
    found = elements_at(layout, place)
    if len(found) > 1:
        raise ValueError(f"{len(found)} elements lie at this place")
    return split(next(iter(found)), (layout.size,) if shape is None else shape) if found else None
