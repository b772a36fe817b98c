"""Layouts from layouts, as TVM 0.27 makes them: canonical form, grouping, tile, direct sum, slice.

| operation                        | the places of the result                                                  |
|----------------------------------|---------------------------------------------------------------------------|
| `canonical(L)`                   | those of L                                                                 |
| `grouped(L, shape)`              | those of L; each dimension has steps of its own                            |
| `tiled(I, O, outer, inner)`      | at `o * inner + i`: those of I at i, and those of O at o, whose shard is    |
|                                  | times the reach of I on the same axis                                      |
| `direct_sum(A, B, left, right)`  | at `o * right + i`: those of A at o plus those of B at i                   |
| `sliced(L, shape, region)`       | at y: those of L at `begin + y`                                            |

None: TVM has no such layout. A swizzle stays as it is, around what becomes of its tiling.
Decision: the replica is in the order of its extents; TVM sorts it by a hash, which means the same set.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

from refmlc.lang.layouts.forms import AxisStep, Placed, Swizzled, Tiling, bare, row_major


def canonical(layout: Placed) -> Placed:
    """The same places with few steps: none of one element, none that continues the one before."""
    return (
        canonical_tiling(layout)
        if isinstance(layout, Tiling)
        else replace(layout, tiling=canonical_tiling(layout.tiling))
    )


def canonical_tiling(layout: Tiling) -> Tiling:
    """The canonical form of a tiling (LAY-003)."""
    steps = [step for step in layout.shard if step.extent != 1]
    if not steps and layout.shard:
        steps = [AxisStep(1, 1, layout.shard[0].axis)]
    shard: list[AxisStep] = []
    for step in steps:
        if shard and shard[-1].axis == step.axis and shard[-1].stride == step.extent * step.stride:
            shard[-1] = AxisStep(shard[-1].extent * step.extent, step.stride, step.axis)
        else:
            shard.append(step)
    offset = {axis: distance for axis, distance in layout.offset.items() if distance}
    replica = tuple(sorted(layout.replica, key=lambda step: (step.axis, step.stride, step.extent)))
    return Tiling(tuple(shard), replica, offset)


def grouped(layout: Tiling, shape: Sequence[int]) -> list[tuple[AxisStep, ...]] | None:
    """The steps of each dimension of a shape; None where a dimension ends inside of a step that it does not divide."""
    groups: list[tuple[AxisStep, ...]] = []
    rest = list(reversed(layout.shard))
    last = layout.shard[-1] if layout.shard else None
    for extent in shape:
        own: list[AxisStep] = []
        filled = 1
        while extent < 1 or filled % extent:
            if not rest or extent < 1:
                return None
            own.append(rest.pop())
            filled *= own[-1].extent
        left = filled // extent
        if left > 1:  # the last step is of this dimension and of the next one
            end = own.pop()
            if end.extent % left:
                return None
            rest.append(AxisStep(left, end.stride, end.axis))
            own.append(AxisStep(end.extent // left, end.stride * left, end.axis))
        idle = own or [AxisStep(1, step.stride, step.axis) for step in (*rest[-1:], last) if step is not None][:1]
        groups.append(tuple(step for step in own if step.extent != 1) or tuple(idle[:1]))
    return None if any(step.extent != 1 for step in rest) else groups


def tiled(inner: Placed, outer: Tiling, outer_shape: Sequence[int], inner_shape: Sequence[int]) -> Placed | None:
    """A tiling of tiles: `inner` in each place of `outer` (LAY-004)."""
    if isinstance(inner, Swizzled):
        result = tiled(_of_shape(inner.tiling, inner_shape), outer, outer_shape, inner_shape)
        return replace(inner, tiling=result) if isinstance(result, Tiling) else None
    small, large = canonical_tiling(inner), canonical_tiling(outer)
    named = {step.axis for step in small.shard}
    scaled = [
        replace(step, stride=step.stride * small.span(step.axis)) if step.axis in named else step
        for step in large.shard
    ]
    return _interleaved(replace(large, shard=tuple(scaled)), small, outer_shape, inner_shape)


def direct_sum(left: Tiling, right: Tiling, left_shape: Sequence[int], right_shape: Sequence[int]) -> Tiling | None:
    """Both layouts at once, nothing scaled: the dimensions of `left` are outside of those of `right` (LAY-005)."""
    return _interleaved(canonical_tiling(left), canonical_tiling(right), left_shape, right_shape)


def _interleaved(outer: Tiling, inner: Tiling, outer_shape: Sequence[int], inner_shape: Sequence[int]) -> Tiling | None:
    first, second = grouped(outer, outer_shape), grouped(inner, inner_shape)
    if first is None or second is None or len(outer_shape) != len(inner_shape):
        return None
    shard = [step for parts in zip(first, second, strict=True) for part in parts for step in part]
    if not shard:
        shard = list((*outer.shard, *inner.shard)[:1])
    return canonical_tiling(Tiling(tuple(shard), (*inner.replica, *outer.replica), _added(inner.offset, outer.offset)))


def _added(a: Mapping[str, int], b: Mapping[str, int]) -> dict[str, int]:
    return {axis: a.get(axis, 0) + b.get(axis, 0) for axis in (*a, *(axis for axis in b if axis not in a))}


def _of_shape(tiling: Tiling, shape: Sequence[int]) -> Tiling:
    """A tiling; a contiguous one, which only says the period of a swizzle, in the size of a shape."""
    return bare(row_major((prod(shape),))) if is_contiguous(tiling) else tiling


def is_contiguous(tiling: Tiling) -> bool:
    """Whether it is one step of stride 1 in memory, and nothing else."""
    plain = not tiling.replica and not tiling.offset and len(tiling.shard) <= 1
    return plain and all(step.stride == 1 and step.axis == "m" for step in tiling.shard)


# ------------------------------------------------------------------------------------------------------- slices


def sliced(layout: Placed, shape: Sequence[int], region: Sequence[tuple[int, int]]) -> Placed | None:
    """The part of a layout of this shape from each `begin` to below each `end` (LAY-006)."""
    if isinstance(layout, Swizzled):
        part = sliced(_of_shape(layout.tiling, shape), shape, region)
        return replace(layout, tiling=part) if isinstance(part, Tiling) else None
    whole = canonical_tiling(layout)
    groups = grouped(whole, shape)
    if groups is None:
        return None
    shard: list[AxisStep] = []
    offset = dict(whole.offset)
    for steps, (begin, end), extent in zip(groups, region, shape, strict=True):
        own = _part(canonical_tiling(Tiling(steps)).shard, begin, end - begin, extent)
        if own is None:
            return None
        shard += own
        for step, component in zip(steps, _components(begin, [step.extent for step in steps]), strict=True):
            offset = _added(offset, {step.axis: component * step.stride})
    return Tiling(tuple(shard), whole.replica, offset)


def _components(number: int, extents: Sequence[int]) -> list[int]:
    result: list[int] = []
    for extent in reversed(extents):
        number, component = divmod(number, extent)
        result.insert(0, component)
    return result


def _part(steps: Sequence[AxisStep], begin: int, count: int, extent: int) -> list[AxisStep] | None:
    """The steps of `count` elements from `begin` on, of one dimension; None where they are no sum of steps."""
    if not (begin >= 0 and count >= 1 and begin + count <= extent):
        return None
    if not steps:
        return []
    first = _components(begin, [step.extent for step in steps])
    whole: list[AxisStep] = []  # steps that the part runs through completely, the fastest
    place = len(steps) - 1
    while place >= 0 and first[place] == 0 and count % steps[place].extent == 0:
        whole.insert(0, steps[place])
        count //= steps[place].extent
        place -= 1
    if place < 0:
        return whole if count == 1 else None
    step = steps[place]
    if first[place] + count <= step.extent:
        return [AxisStep(count, step.stride, step.axis), *whole]
    return _across(steps, first, place, count, whole)


def _across(
    steps: Sequence[AxisStep], first: Sequence[int], place: int, count: int, whole: list[AxisStep]
) -> list[AxisStep] | None:
    """A part that lies half at the end of one run of a step and half at the beginning of the next one."""
    step, half = steps[place], count // 2
    if count % 2 or first[place] + half != step.extent or place == 0:
        return None
    above = steps[place - 1]
    if above.axis != step.axis or first[place - 1] + 1 >= above.extent:
        return None
    jump = above.stride - (step.extent - half) * step.stride
    return [AxisStep(2, jump, step.axis), AxisStep(half, step.stride, step.axis), *whole]
