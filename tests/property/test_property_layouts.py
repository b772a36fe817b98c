"""Laws of layouts: the inverse, the canonical form, tile, direct sum and slice against the places of elements."""

from hypothesis import given, strategies as st

from refmlc.lang.layouts.algebra import canonical, direct_sum, sliced, tiled
from refmlc.lang.layouts.forms import AxisStep, Swizzled, Tiling
from refmlc.lang.layouts.placement import elements_at, is_injective, places, split, swizzled

AXES = ("m", "laneid", "warpid")
STEPS = st.lists(
    st.builds(AxisStep, st.integers(1, 4), st.integers(0, 9), st.sampled_from(AXES)), min_size=1, max_size=4
)
TILINGS = st.builds(
    Tiling,
    STEPS.map(tuple),
    st.lists(st.builds(AxisStep, st.integers(1, 3), st.integers(0, 9), st.sampled_from(AXES)), max_size=2).map(tuple),
    st.dictionaries(st.sampled_from(AXES), st.integers(0, 9), max_size=2),
)
SWIZZLED = st.builds(
    lambda sizes, element, lengths, inner: Swizzled(
        Tiling(tuple(AxisStep(n, stride) for n, stride in sizes)), element, min(lengths), max(lengths), inner
    ),
    st.lists(st.tuples(st.integers(1, 4), st.integers(0, 40)), min_size=1, max_size=3),
    st.integers(0, 3),
    st.tuples(st.integers(0, 3), st.integers(0, 3)),
    st.booleans(),
)


def where(layout, number):
    """The places of an element; an axis at 0 is the same as one that is not named."""
    return {frozenset((axis, x) for axis, x in place if x) for place in places(layout, (number,))}


@given(st.one_of(TILINGS, SWIZZLED))
def test_every_element_lies_where_it_is_looked_for(layout):
    for number in range(layout.size):
        for place in places(layout, (number,)):
            found = elements_at(layout, dict(place))
            assert number in found
            assert all(place in places(layout, (other,)) for other in found)


@given(st.one_of(TILINGS, SWIZZLED))
def test_layouts_are_injective_where_no_place_is_shared(layout):
    found = [place for number in range(layout.size) for place in places(layout, (number,))]
    assert is_injective(layout) is (len(found) == len(set(found)))


@given(SWIZZLED, st.integers(0, 1 << 12))
def test_a_swizzle_is_its_own_inverse(layout, address):
    assert swizzled(layout, swizzled(layout, address)) == address


@given(st.one_of(TILINGS, SWIZZLED))
def test_the_canonical_form_keeps_the_places(layout):
    short = canonical(layout)
    assert canonical(short) == short
    assert all(where(short, number) == where(layout, number) for number in range(layout.size))


@given(TILINGS, STEPS, st.booleans())
def test_tiles_and_sums_are_sums_of_places(inner, steps, scaled):
    outer = Tiling(tuple(steps))
    shapes = (outer.size,), (inner.size,)
    result = tiled(inner, outer, *shapes) if scaled else direct_sum(outer, inner, *shapes)
    named = {step.axis for step in canonical(inner).shard}
    for x in range(outer.size):
        ((distance),) = places(outer, (x,))
        move = {axis: n * (inner.span(axis) if scaled and axis in named else 1) for axis, n in distance}
        for y in range(inner.size):
            expected = set()
            for place in places(inner, (y,)):
                total = {axis: dict(place).get(axis, 0) + move.get(axis, 0) for axis in AXES}
                expected.add(frozenset((axis, n) for axis, n in total.items() if n))
            assert where(result, x * inner.size + y) == expected


@given(st.one_of(TILINGS, SWIZZLED), st.data())
def test_a_slice_has_the_places_of_its_part(layout, data):
    tiling = layout.tiling if isinstance(layout, Swizzled) else layout
    shape = [step.extent for step in tiling.shard]
    region = [
        tuple(sorted(data.draw(st.tuples(st.integers(0, extent - 1), st.integers(1, extent))))) for extent in shape
    ]
    region = [(begin, max(end, begin + 1)) for begin, end in region]
    part = sliced(layout, shape, region)
    assert part is not None  # each dimension is one step
    sizes = [end - begin for begin, end in region]
    for number in range(part.size):
        index = [begin + y for (begin, _), y in zip(region, split(number, sizes), strict=True)]
        flat = 0
        for component, extent in zip(index, shape, strict=True):
            flat = flat * extent + component
        assert where(part, number) == where(layout, flat)
