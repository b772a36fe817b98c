"""Boxes on images: what is in them, where they are, which of them count.

| operator                 | the result is                                                                        |
|--------------------------|--------------------------------------------------------------------------------------|
| `roi_align`              | for each box the mean, or the greatest, of samples between the elements of each part |
| `roi_pool`               | for each box the greatest element of each part; 0 where a part has none              |
| `multibox_transform_loc` | boxes moved from their anchors, scores that reach a threshold                        |
| `get_valid_counts`       | the boxes whose score counts, first; how many; where they were                       |

A box of `rois` is (image, left, top, right, bottom), times `spatial_scale`.
"""

from collections.abc import Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, SHAPE_MISMATCH, TYPE_MISMATCH
from refmlc.lang import te
from refmlc.lang.library.definition import Operator, computed
from refmlc.lang.library.layout import Layout, PerAxis, layout_of, numbers
from refmlc.lang.library.normalization import softmax
from refmlc.lang.library.reduction import MAX, over_extents
from refmlc.lang.library.shapes import known, must_agree, require_float, require_rank
from refmlc.lang.te import Tensor, Value

ZERO, ONE = te.const(0, "int64"), te.const(1, "int64")


def _check_boxes(name: str, data: Tensor, rois: Tensor, source: Layout) -> None:
    """Fails: RM105, RM201, RM202 where the boxes are none of these images."""
    require_float(data, name)
    require_rank(rois, 2, name)
    if rois.dtype != data.dtype:
        raise fail(TYPE_MISMATCH, f"`{name}` takes boxes of {data.dtype}, not {rois.dtype}")
    must_agree(rois.shape[1], te.const(5, "int64"), f"the numbers of a box of `{name}`")
    if any(known(extent) == 0 for extent in source.extents(data, f"the data of `{name}`")[2:]):
        raise fail(SHAPE_MISMATCH, f"`{name}` takes elements of images; these have none")


def _beside(data: Tensor, source: Layout, image: Value, channel: Value, y: Value, x: Value) -> Value:
    """The weighed sum of the elements around a place, which is brought into the image; 0 far outside of it."""
    dtype = data.dtype
    spots, parts, out = [], [], []
    for at, n in zip((y, x), source.split(data.shape)[2:], strict=True):
        out += [at < te.const(-1.0, dtype), at > te.cast(n, dtype)]
        inside = te.minimum(te.maximum(at, te.const(0.0, dtype)), te.cast(n - 1, dtype))
        first = te.cast(te.floor(inside), "int64")
        spots.append((first, te.minimum(first + 1, n - 1)))
        parts.append(inside - te.floor(inside))
    (top, bottom), (left, right), (fy, fx), one = *spots, parts, te.const(1.0, dtype)

    def term(weight: Value, row: Value, column: Value) -> Value:
        return weight * data(*source.joined(image, channel, row, column))

    value = term((one - fx) * (one - fy), top, left) + term((one - fx) * fy, bottom, left)
    value = value + term(fx * (one - fy), top, right) + term(fx * fy, bottom, right)
    return te.if_then_else(te.any(*out), te.const(0.0, dtype), value)


def roi_align(
    data: Tensor,
    rois: Tensor,
    *,
    pooled_size: PerAxis,
    spatial_scale: float,
    sample_ratio: int = -1,
    aligned: bool = False,
    layout: str = "NCHW",
    mode: str = "avg",
) -> Tensor:
    """Samples of each part of each box: their mean, or the greatest.

    Shapes: `pooled_size` parts; `sample_ratio` samples in each dimension of a part, or as many as it has elements.
    Order: row-major; each sample is divided by their number, then added. Fails: RM105, RM201, RM202, RM501.
    """
    name, dtype = "vision.roi_align", data.dtype
    source = layout_of(layout, "NCHW", f"`{name}`: layout")
    _check_boxes(name, data, rois, source)
    if mode not in ("avg", "max"):
        raise fail(BAD_ARGUMENTS, f'`{name}` has the modes "avg" and "max"; this is "{mode}"')
    parts, scale = numbers(pooled_size, 2, "pooled_size", 1), te.const(float(spatial_scale), dtype)

    def box(axis: int) -> tuple[Tensor, Tensor, Tensor]:
        """Where each box begins, how long a part is, how many samples it has."""
        low, high = 2 - axis, 4 - axis
        count = te.const(parts[axis], dtype)
        begin = computed(rois.shape[:1], lambda i: rois(i, low) * scale, f"begin_{'hw'[axis]}")

        def length(i: Value) -> Value:
            whole = rois(i, high) * scale - begin(i)
            return (whole if aligned else te.maximum(whole, te.const(1.0, dtype))) / count

        size = computed(rois.shape[:1], length, f"part_{'hw'[axis]}")
        if sample_ratio > 0:
            return begin, size, computed(rois.shape[:1], lambda _i: te.const(sample_ratio, "int64"), "samples")
        return begin, size, computed(rois.shape[:1], lambda i: te.cast(te.ceil(size(i)), "int64"), "samples")

    boxes = [box(axis) for axis in (0, 1)]

    def element(*at: Value) -> object:
        i, channel, *part = source.split(at)
        extents = [te.const(sample_ratio, "int64") if sample_ratio > 0 else samples(i) for _, _, samples in boxes]
        inner, there = over_extents(extents, ["rh", "rw"])
        spots = []
        for (begin, size, samples), place, r in zip(boxes, part, inner, strict=True):
            first = begin(i) + te.cast(place, dtype) * size(i)
            spots.append(first + (te.cast(r, dtype) + te.const(0.5, dtype)) * size(i) / te.cast(samples(i), dtype))
        value = _beside(data, source, te.cast(rois(i, 0), "int64"), channel, *spots)
        if mode == "max":
            return MAX(value, axis=inner, where=there)
        return te.sum(value / te.cast(extents[0] * extents[1], dtype), axis=inner, where=there)

    channels = source.split(data.shape)[1]
    shape = source.joined(rois.shape[0], channels, *(te.const(extent, "int64") for extent in parts))
    return computed(shape, element, "roi_align")


def roi_pool(data: Tensor, rois: Tensor, *, pooled_size: PerAxis, spatial_scale: float, layout: str = "NCHW") -> Tensor:
    """The greatest element of each part of each box; 0 where a part has none.

    Shapes: a box from place to place, both rounded and both in it, at least 1 long; part p of n from `p * length / n`
    rounded down to `(p + 1) * length / n` rounded up. Fails: RM105, RM201, RM202, RM501.
    """
    name, dtype = "vision.roi_pool", data.dtype
    source = layout_of(layout, "NCHW", f"`{name}`: layout")
    _check_boxes(name, data, rois, source)
    parts, scale = numbers(pooled_size, 2, "pooled_size", 1), te.const(float(spatial_scale), dtype)
    _, channels, *space = source.split(data.shape)

    def edge(i: Value, place: int) -> Value:
        return te.cast(te.floor(rois(i, place) * scale + te.const(0.5, dtype)), "int64")

    def ends_of(axis: int) -> tuple[Tensor, Tensor]:
        """Where each part of each box begins and ends, in the image."""

        def end(i: Value, place: Value, *, last: bool) -> Value:
            low = edge(i, 2 - axis)
            length = te.maximum(edge(i, 4 - axis) - low + 1, 1)
            size = te.cast(length, dtype) / te.const(parts[axis], dtype)
            boundary = te.ceil(te.cast(place + 1, dtype) * size) if last else te.floor(te.cast(place, dtype) * size)
            return te.minimum(te.maximum(te.cast(boundary, "int64") + low, 0), space[axis])

        shape = (rois.shape[0], te.const(parts[axis], "int64"))
        name = "hw"[axis]
        return (
            computed(shape, lambda i, place: end(i, place, last=False), f"begin_{name}"),
            computed(shape, lambda i, place: end(i, place, last=True), f"end_{name}"),
        )

    bounds = [ends_of(axis) for axis in (0, 1)]
    inner, there = over_extents(space, ["rh", "rw"])

    def greatest(*at: Value) -> object:
        i, channel, *part = source.split(at)
        inside = [] if there is None else [there]
        for (begin, end), place, r in zip(bounds, part, inner, strict=True):
            inside += [begin(i, place) <= r, r < end(i, place)]
        value = data(*source.joined(te.cast(rois(i, 0), "int64"), channel, *inner))
        return MAX(value, axis=inner, where=te.all(*inside))

    shape = source.joined(rois.shape[0], channels, *(te.const(extent, "int64") for extent in parts))
    pooled = computed(shape, greatest, "roi_pool_max")

    def element(*at: Value) -> Value:
        i, _, *part = source.split(at)
        empty = [end(i, place) <= begin(i, place) for (begin, end), place in zip(bounds, part, strict=True)]
        return te.if_then_else(te.any(*empty), te.const(0.0, dtype), pooled(*at))

    return computed(shape, element, "roi_pool")


def multibox_transform_loc(
    cls_pred: Tensor,
    loc_pred: Tensor,
    anchor: Tensor,
    *,
    clip: bool = False,
    threshold: float = 0.0,
    variances: Sequence[float] = (1.0, 1.0, 1.0, 1.0),
    keep_background: bool = True,
    apply_softmax: bool = True,
) -> tuple[Tensor, Tensor]:
    """Boxes (top, left, bottom, right) moved from their anchors, and the scores that reach the threshold, others 0.

    Shapes: (b, c, n), (b, n * 4) and anchors (1, n, 4), left, top, right, bottom, give (b, n, 4) and (b, c, n). Fails:
    RM105, RM201, RM202.
    """
    name, dtype = "vision.multibox_transform_loc", cls_pred.dtype
    require_float(cls_pred, name)
    for tensor, rank in ((cls_pred, 3), (loc_pred, 2), (anchor, 3)):
        require_rank(tensor, rank, name)
        if tensor.dtype != dtype:
            raise fail(TYPE_MISMATCH, f"`{name}` takes tensors of one dtype; `{tensor.name}` is {tensor.dtype}")
    batch, classes, count = cls_pred.shape
    must_agree(batch, loc_pred.shape[0], f"the images of `{name}`")
    must_agree(count * 4, loc_pred.shape[1], f"the boxes of `{name}`, 4 numbers each")
    must_agree(count, anchor.shape[1], f"the anchors of `{name}`")
    if len(variances) != 4:
        raise fail(BAD_ARGUMENTS, f"`{name}` takes 4 variances; {len(variances)} are given")
    half, zero, one = (te.const(value, dtype) for value in (0.5, 0.0, 1.0))

    def ends(b: Value, a: Value, axis: int) -> tuple[Value, Value]:
        low, high = anchor(0, a, axis), anchor(0, a, axis + 2)
        offset, grown = loc_pred(b, a * 4 + axis), loc_pred(b, a * 4 + axis + 2)
        centre = offset * te.const(float(variances[axis]), dtype) * (high - low) + (low + high) * half
        reach = half * te.exp(grown * te.const(float(variances[axis + 2]), dtype)) * (high - low)
        first, last = centre - reach, centre + reach
        if not clip:
            return first, last
        return te.maximum(zero, te.minimum(one, first)), te.maximum(zero, te.minimum(one, last))

    def box(b: Value, a: Value, k: Value) -> Value:
        (left, right), (top, bottom) = ends(b, a, 0), ends(b, a, 1)
        return te.if_then_else(k == 0, top, te.if_then_else(k == 1, left, te.if_then_else(k == 2, bottom, right)))

    scores, least = softmax(cls_pred, axis=1) if apply_softmax else cls_pred, te.const(float(threshold), dtype)

    def score(b: Value, c: Value, a: Value) -> Value:
        value = scores(b, c, a) * te.cast(scores(b, c, a) >= least, dtype)
        return value if keep_background else te.if_then_else(c == 0, zero, value)

    boxes = computed((batch, count, te.const(4, "int64")), box, "multibox_boxes")
    return boxes, computed((batch, classes, count), score, "multibox_scores")


def get_valid_counts(
    data: Tensor, *, score_threshold: float = 0, id_index: int = 0, score_index: int = 1
) -> tuple[Tensor, Tensor, Tensor]:
    """How many boxes have a score above the threshold; these boxes in their order, then rows of -1; where they were.

    Shapes: (b, n, k) gives (b,), (b, n, k) and (b, n); counts and places are int32. A box whose number `id_index` is
    negative does not count, unless `id_index` is. Fails: RM105.
    """
    name = "vision.get_valid_counts"
    require_rank(data, 3, name)
    batch, count, length = data.shape
    have = known(length)
    if score_index < 0 or (have is not None and max(score_index, id_index) >= have):
        raise fail(BAD_ARGUMENTS, f"`{name}`: a box has no number {max(score_index, id_index)}")
    least = te.const(score_threshold, data.dtype)

    def counts(b: Value, j: Value) -> Value:
        is_valid = data(b, j, score_index) > least
        is_valid = is_valid if id_index < 0 else te.all(is_valid, data(b, j, id_index) >= te.const(0, data.dtype))
        return te.if_then_else(is_valid, ONE, ZERO)

    valid = computed((batch, count), counts, "valid")
    (t,), there = over_extents([count], ["t"])
    total = computed((batch,), lambda b: te.sum(valid(b, t), axis=[t], where=there), "total")

    def earlier(b: Value, j: Value) -> object:
        return te.sum(te.if_then_else(t < j, valid(b, t), ZERO), axis=[t], where=there)

    before = computed((batch, count), earlier, "before")

    def source(b: Value, p: Value) -> object:
        is_source = te.all(valid(b, t) == 1, before(b, t) == p)
        return te.sum(te.if_then_else(is_source, t, ZERO), axis=[t], where=there)

    place = computed((batch, count), source, "place")
    none = te.const(-1, data.dtype)
    boxes = computed(
        data.shape, lambda b, p, k: te.if_then_else(p < total(b), data(b, place(b, p), k), none), "out_tensor"
    )
    places = computed(
        (batch, count),
        lambda b, p: te.if_then_else(p < total(b), te.cast(place(b, p), "int32"), te.const(-1, "int32")),
        "out_indices",
    )
    return computed((batch,), lambda b: te.cast(total(b), "int32"), "valid_count"), boxes, places


VISION = (
    Operator("vision.roi_align", roi_align, "LIB-070"),
    Operator("vision.roi_pool", roi_pool, "LIB-071"),
    Operator("vision.multibox_transform_loc", multibox_transform_loc, "LIB-072"),
    Operator("vision.get_valid_counts", get_valid_counts, "LIB-073"),
)
