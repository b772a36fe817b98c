"""The greatest element, or the mean, of windows of images.

| operator                   | the element is                                                                     |
|----------------------------|------------------------------------------------------------------------------------|
| `nn.max_pool<n>d`          | the greatest element of the window                                                 |
| `nn.avg_pool<n>d`          | the sum of the elements of the window, divided by how many places it has           |
| `nn.adaptive_avg_pool<n>d` | the mean over the places `i * n // m` … `ceil((i + 1) * n / m)` of n, for m places |

What is added around the data has no elements: the greatest is never one of them. The mean counts its places where
`count_include_pad` says so. Order: row-major in the order of depth, height, width, in the dtype of the data.
"""

from collections.abc import Callable, Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import SHAPE_MISMATCH
from refmlc.lang import te
from refmlc.lang.library.definition import Operator, computed
from refmlc.lang.library.layout import SPATIAL, Layout, PerAxis, Windows, layout_of, numbers, windows
from refmlc.lang.library.reduction import MAX, ONE
from refmlc.lang.library.shapes import known, same
from refmlc.lang.te import Axis, Tensor, Value

ZERO = te.const(0, "int64")


def _axes(space: str, sizes: Sequence[Value | int]) -> list[Axis]:
    return [
        te.reduce_axis((0, te.cast(size, "int64")), f"r{letter.lower()}")
        for letter, size in zip(space, sizes, strict=True)
    ]


def inside(window: Windows, spots: Sequence[Value], space: Sequence[Value], *, ceil: bool) -> Value | None:
    """The condition that places of the data are meant; None: they are."""
    conditions = []
    for place, (spot, extent) in enumerate(zip(spots, space, strict=True)):
        conditions += [spot >= 0] if window.before[place] else []
        conditions += [spot < extent] if window.before[place] or window.after[place] or ceil else []
    return te.all(*conditions) if conditions else None


def places_there(
    window: Windows, at: Sequence[Value], sizes: Sequence[int], space: Sequence[Value], *, added: bool
) -> Value:
    """How many places a window has in the data, or in the data and what is `added`; 1 where there is none."""
    count: Value = ONE
    for place, (y, size, extent) in enumerate(zip(at, sizes, space, strict=True)):
        first, apart = y * window.stride[place] - window.before[place], window.dilation[place]
        end = extent + window.after[place] if added else extent
        last = te.minimum((end - 1 - first) // apart, size - 1)
        begin = ZERO if added else te.maximum((apart - 1 - first) // apart, 0)
        count = count * te.maximum(last - begin + 1, 0)
    return te.maximum(count, 1)


def _window(rank: int, *, greatest: bool) -> Callable[..., Tensor]:
    """`nn.max_pool<rank>d` or `nn.avg_pool<rank>d`."""
    name, space = f"nn.{'max' if greatest else 'avg'}_pool{rank}d", SPATIAL[rank]

    def pool(  # noqa: PLR0913 - the attributes are TVM's
        data: Tensor,
        *,
        pool_size: PerAxis = (1,) * rank,
        strides: PerAxis = (1,) * rank,
        padding: PerAxis = (0,) * rank,
        dilation: PerAxis = (1,) * rank,
        ceil_mode: bool = False,
        count_include_pad: bool = not greatest and rank != 2,
        layout: str = f"NC{space}",
        out_layout: str | None = None,
    ) -> Tensor:
        sizes, window = numbers(pool_size, rank, "pool_size", 1), windows(rank, strides, padding, dilation)
        source = layout_of(layout, f"NC{space}", f"`{name}`: layout")
        target = layout_of(out_layout or layout, f"NC{space}", f"`{name}`: out_layout")
        images, channels, *extents = source.extents(data, f"the data of `{name}`")
        counts = window.counts(extents, [te.const(size, "int64") for size in sizes], name, ceil=bool(ceil_mode))
        shape = target.joined(images, channels, *counts)
        inner = _axes(space, sizes)

        def element(*i: Value) -> object:
            image, channel, *at = target.split(i)
            spots = [spot - low for spot, low in zip(window.spots(at, inner), window.before, strict=True)]
            there = inside(window, spots, extents, ceil=bool(ceil_mode))
            return (MAX if greatest else te.sum)(data(*source.joined(image, channel, *spots)), axis=inner, where=there)

        pooled = computed(shape, element, "pool_max" if greatest else "pool_sum")
        return pooled if greatest else _mean(pooled, target, window, sizes, extents, added=bool(count_include_pad))

    kind, rest = ("greatest element", "") if greatest else ("mean", ", in the dtype of the data")
    pool.__doc__ = f"""The {kind} of each window{rest}.

        Shapes: space has `(n + before + after - (k - 1) * dilation - 1) // stride + 1` windows, or with `ceil_mode` the
        quotient rounded up. Order: row-major. Fails: RM105, RM202 a window that does not fit, RM501 blocked layouts.
        """
    return pool


def _mean(
    total: Tensor, target: Layout, window: Windows, sizes: Sequence[int], extents: Sequence[Value], *, added: bool
) -> Tensor:
    def element(*i: Value) -> Value:
        _image, _channel, *at = target.split(i)
        return te.div(total(*i), te.cast(places_there(window, at, sizes, extents, added=added), total.dtype))

    return computed(total.shape, element, "pool_avg")


def _part(at: Value, extent: Value, parts: Value) -> tuple[Value, Value]:
    """Where part `at` of an extent begins and ends."""
    return at * extent // parts, ((at + 1) * extent + parts - 1) // parts


def _greatest_part(extent: Value, parts: Value) -> tuple[Value, bool]:
    """The greatest number of places in a part, at least 1; true if all parts have it."""
    have, count = known(extent), known(parts)
    if same(extent, parts):
        return ONE, True
    if count == 1 and have != 0:
        return te.maximum(extent, 1) if have is None else extent, have is not None
    if have is None or count is None:
        return (extent + parts - 1) // parts + 1, False
    whole = {-(-(at + 1) * have // count) - at * have // count for at in range(count)}
    return te.const(max(whole, default=1), "int64"), len(whole) == 1


def _adaptive(rank: int) -> Callable[..., Tensor]:
    """`nn.adaptive_avg_pool<rank>d`."""
    name, space = f"nn.adaptive_avg_pool{rank}d", SPATIAL[rank]

    def pool(
        data: Tensor,
        *,
        output_size: PerAxis | None = None,
        layout: str = f"NC{space}",
        out_layout: str | None = None,
    ) -> Tensor:
        """The means of as many parts as there are wanted, which overlap where the extent is no multiple.

        Shapes: `output_size` in space; None: as the data. Order: row-major over the part. Fails: RM105, RM202 where
        the data has no places, RM501 blocked layouts.
        """
        source = layout_of(layout, f"NC{space}", f"`{name}`: layout")
        target = layout_of(out_layout or layout, f"NC{space}", f"`{name}`: out_layout")
        images, channels, *extents = source.extents(data, f"the data of `{name}`")
        if any(known(item) == 0 for item in extents):
            raise fail(SHAPE_MISMATCH, f"`{name}` takes the mean over places; the data has none")
        sizes = None if output_size is None else numbers(output_size, rank, "output_size", 1)
        parts = extents if sizes is None else [te.const(item, "int64") for item in sizes]
        greatest = [_greatest_part(extent, count) for extent, count in zip(extents, parts, strict=True)]
        inner = _axes(space, [size for size, _ in greatest])

        def element(*i: Value) -> object:
            image, channel, *at = target.split(i)
            spots, there = [], []
            for place, (y, r) in enumerate(zip(at, inner, strict=True)):
                begin, end = _part(y, extents[place], parts[place])
                spots.append(begin + r)
                there += [] if greatest[place][1] else [spots[-1] < end]
            term = data(*source.joined(image, channel, *spots))
            return te.sum(term, axis=inner, where=te.all(*there) if there else None)

        total = computed(target.joined(images, channels, *parts), element, "adaptive_pool_sum")

        def mean(*i: Value) -> Value:
            count: Value = ONE
            for y, extent, part in zip(target.split(i)[2:], extents, parts, strict=True):
                begin, end = _part(y, extent, part)
                count = count * (end - begin)
            return te.div(total(*i), te.cast(count, data.dtype))

        return computed(total.shape, mean, "adaptive_pool_avg")

    return pool


POOLING = (
    *(Operator(f"nn.max_pool{rank}d", _window(rank, greatest=True), "LIB-020") for rank in (1, 2, 3)),
    *(Operator(f"nn.avg_pool{rank}d", _window(rank, greatest=False), "LIB-021") for rank in (1, 2, 3)),
    *(Operator(f"nn.adaptive_avg_pool{rank}d", _adaptive(rank), "LIB-022") for rank in (1, 2, 3)),
)
