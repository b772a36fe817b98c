"""Which element of an operand belongs to an element of the destination (TIP-002).

| rule            | the extents of the operand                                                                     |
|-----------------|------------------------------------------------------------------------------------------------|
| `_aligned`      | at the last dimension with those of the destination, each is equal or 1; further ones are 1     |
| `_aligned_wide` | the same, with the extents of the destination that are not 1                                   |
| `_equal`        | both are the same where extents of 1 are left out                                              |

The first rule that takes all operands of a call decides.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import TypeAlias

Index: TypeAlias = tuple[int, ...]
Pick: TypeAlias = Callable[[Index], Index]
"""The index of an operand's element, from the index in the destination."""

Axes: TypeAlias = tuple[int | None, ...]
"""For each dimension of an operand that of the destination, None where the operand has one element for all."""


def indices(shape: Sequence[int]) -> Iterator[Index]:
    """All indices of a shape. Order: row-major."""
    return product(*[range(extent) for extent in shape])


def wide(shape: Sequence[int]) -> tuple[int, ...]:
    """The dimensions whose extent is not 1."""
    return tuple([axis for axis, extent in enumerate(shape) if extent != 1])


def extents(shape: Sequence[int], axes: Sequence[int]) -> tuple[int, ...]:
    """The extents of these dimensions."""
    return tuple([shape[axis] for axis in axes])


def broadcast(shapes: Sequence[Sequence[int]], onto: Sequence[int]) -> tuple[Pick, ...] | None:
    """How tiles of `shapes` give elements to one of shape `onto`, by one rule for all of them; None: they do not."""
    for rule in (_aligned, _aligned_wide, _equal):
        axes = [rule(shape, onto) for shape in shapes]
        if None not in axes:
            return tuple([_picker(each) for each in axes if each is not None])
    return None


def aligns(shape: Sequence[int], onto: Sequence[int]) -> bool:
    """Whether the first rule takes the shape."""
    return _aligned(shape, onto) is not None


def same(shape: Sequence[int], onto: Sequence[int]) -> Pick | None:
    """The same without repetition: the extents other than 1 are equal (TIP-011)."""
    axes = _equal(shape, onto)
    return None if axes is None else _picker(axes)


def _aligned(shape: Sequence[int], onto: Sequence[int]) -> Axes | None:
    return _beside(shape, onto, range(len(onto)))


def _aligned_wide(shape: Sequence[int], onto: Sequence[int]) -> Axes | None:
    return _beside(shape, onto, wide(onto))


def _beside(shape: Sequence[int], onto: Sequence[int], beside: Sequence[int]) -> Axes | None:
    missing = len(shape) - len(beside)
    axes: list[int | None] = []
    for axis, extent in enumerate(shape):
        target = beside[axis - missing] if axis >= missing else None
        if target is not None and extent == onto[target]:
            axes.append(target)
        elif extent == 1:
            axes.append(None)
        else:
            return None
    return tuple(axes)


def _equal(shape: Sequence[int], onto: Sequence[int]) -> Axes | None:
    own, others = wide(shape), wide(onto)
    if extents(shape, own) != extents(onto, others):
        return None
    targets = dict(zip(own, others, strict=True))
    return tuple([targets.get(axis) for axis in range(len(shape))])


def _picker(axes: Axes) -> Pick:
    if axes == tuple(range(len(axes))):
        return lambda index: index[: len(axes)]
    return lambda index: tuple([0 if axis is None else index[axis] for axis in axes])
