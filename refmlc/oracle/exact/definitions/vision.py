"""Boxes on images: samples and greatest elements in them, boxes decoded, boxes that no better one covers.

Decisions (how many samples, which part an element is in, whether a box covers another one) are taken on exact numbers.
Where the rounding of a formula may turn one, the definition does not say which.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from refmlc.oracle.exact.definitions.arrays import Array, filled, form_of, numbers
from refmlc.oracle.exact.definitions.definition import FORMULA, INTEGER, ONNX, SAME, ExactDefinition, NoDefinition
from refmlc.oracle.exact.definitions.functions import function
from refmlc.oracle.exact.definitions.images import ends_of, linear
from refmlc.oracle.exact.definitions.linear import Numbers, several, turned
from refmlc.oracle.exact.definitions.normalization import softmax
from refmlc.oracle.exact.definitions.numbers import (
    UNKNOWN,
    ExactNumber,
    Format,
    constant,
    greatest,
    least,
    special,
    total,
)

ZERO = ExactNumber(Fraction(0))
ONE = ExactNumber(Fraction(1))
HALF = Fraction(1, 2)


def decided(rounding: Callable[[Fraction], int], place: ExactNumber, what: str) -> int:
    """The integer that a place is rounded to, whatever its error. Fails: `NoDefinition`."""
    low, high = (rounding(end) for end in ends_of(place))
    if low != high:
        raise NoDefinition(f"{what}, which a rounding turns")
    return low


def _finite(items: Array, what: str) -> None:
    if any(special(item.value) for item in items.reshape(-1)):
        raise NoDefinition(f"{what} that are not finite")


# ------------------------------------------------------------------------------------------------ roi


def _box(row: Array, axis: int, spatial_scale: float, form: Format | None) -> tuple[ExactNumber, ExactNumber]:
    """Where a box (image, left, top, right, bottom) begins and ends along an axis of (height, width)."""
    scale = constant(float(spatial_scale), form)
    return row[2 - axis] * scale, row[4 - axis] * scale


def roi_align(
    data: Array,
    rois: Array,
    *,
    pooled_size: Numbers,
    spatial_scale: float,
    sample_ratio: int = -1,
    aligned: bool = False,
    layout: str = "NCHW",
    mode: str = "avg",
) -> Array:
    """The mean, or the greatest, of samples between the elements of each part; `aligned`: no least size of 1."""
    form, items, boxes = form_of(data), turned(numbers(data), layout, "NCHW"), numbers(rois)
    _finite(boxes, "boxes")
    parts = several(pooled_size, 2)

    def spots(row: Array, axis: int, part: int) -> list[ExactNumber]:
        first, last = _box(row, axis, spatial_scale, form)
        whole = last - first
        whole = whole if aligned else greatest((whole, ONE))
        size = whole / Fraction(parts[axis])
        count = sample_ratio
        if count <= 0:
            count = decided(math.ceil, size, "the number of samples")
        begin = first + size * part
        return [begin + size * (k + HALF) / Fraction(count) for k in range(count)]

    def sample(image: Array, y: ExactNumber, x: ExactNumber) -> ExactNumber:
        for place, n in zip((y, x), image.shape, strict=True):
            sides = {end < -1 or end > n for end in ends_of(place)}
            if True in sides:
                return ExactNumber(Fraction(0), 0.0, form) if len(sides) == 1 else UNKNOWN
        return _inside(lambda i: _inside(lambda j: image[i, j], x, image.shape[1], form), y, image.shape[0], form)

    def element(at: tuple[int, ...]) -> ExactNumber:
        row = boxes[at[0]]
        image = items[int(row[0].rational), at[1]]
        samples = [sample(image, y, x) for y in spots(row, 0, at[2]) for x in spots(row, 1, at[3])]
        if mode == "max":
            return greatest(samples)
        return total([value / Fraction(len(samples)) for value in samples], form) if samples else UNKNOWN

    shape = (len(rois), items.shape[1], *parts)
    return turned(filled(shape, map(element, np.ndindex(*shape))), "NCHW", layout)


def _inside(look: Callable[[int], ExactNumber], place: ExactNumber, n: int, form: Format | None) -> ExactNumber:
    """The element at a place brought into the image."""
    value = max(Fraction(0), min(Fraction(n - 1), place.rational))
    brought = ExactNumber(value, place.used(), form)
    return linear(lambda spot: look(max(0, min(n - 1, spot))), brought, form)


def roi_pool(data: Array, rois: Array, *, pooled_size: Numbers, spatial_scale: float, layout: str = "NCHW") -> Array:
    """The greatest element of each part of each box, whose ends are rounded; 0 where a part has none."""
    form, items, boxes = form_of(data), turned(numbers(data), layout, "NCHW"), numbers(rois)
    _finite(boxes, "boxes")
    parts = several(pooled_size, 2)

    def ends(row: Array, axis: int, part: int) -> slice:
        edges = _box(row, axis, spatial_scale, form)
        low, high = (decided(lambda end: math.floor(end + HALF), edge, "the edge of a box") for edge in edges)
        size = ExactNumber(Fraction(max(high - low + 1, 1)), 0.0, form) / Fraction(parts[axis])
        first = decided(math.floor, size * part, "a part of a box")
        last = decided(math.ceil, size * (part + 1), "a part of a box")
        n = items.shape[2 + axis]
        return slice(*(max(0, min(n, end + low)) for end in (first, last)))

    def element(at: tuple[int, ...]) -> ExactNumber:
        row = boxes[at[0]]
        try:
            part = items[int(row[0].rational), at[1]][ends(row, 0, at[2]), ends(row, 1, at[3])]
        except NoDefinition:
            return UNKNOWN
        return greatest(part.reshape(-1)) if part.size else ZERO

    shape = (len(rois), items.shape[1], *parts)
    return turned(filled(shape, map(element, np.ndindex(*shape))), "NCHW", layout)


# ------------------------------------------------------------------------------------------------ boxes


def multibox_transform_loc(
    scores: Array,
    moves: Array,
    anchors: Array,
    *,
    clip: bool = False,
    threshold: float = 0.0,
    variances: Sequence[float] = (1.0, 1.0, 1.0, 1.0),
    keep_background: bool = True,
    apply_softmax: bool = True,
) -> tuple[Array, Array]:
    """Boxes (top, left, bottom, right) from anchors (left, top, right, bottom); scores below the threshold are 0."""
    form, offsets, corners = form_of(scores), numbers(moves), numbers(anchors)
    factors = [constant(float(value), form) for value in variances]

    def ends(b: int, a: int, axis: int) -> list[ExactNumber]:
        low, high = corners[0, a, axis], corners[0, a, axis + 2]
        centre = offsets[b, 4 * a + axis] * factors[axis] * (high - low) + (low + high) * HALF
        power = function("exp", offsets[b, 4 * a + axis + 2] * factors[axis + 2])
        reach = power * HALF * (high - low)
        sides = [centre - reach, centre + reach]
        return [greatest((ZERO, least((ONE, side)))) for side in sides] if clip else sides

    def box(b: int, a: int) -> list[ExactNumber]:
        (left, right), (top, bottom) = ends(b, a, 0), ends(b, a, 1)
        return [top, left, bottom, right]

    batch, _classes, count = scores.shape
    boxes = filled((batch, count, 4), (side for b in range(batch) for a in range(count) for side in box(b, a)))
    given = softmax(scores, axis=1) if apply_softmax else numbers(scores)
    limit = constant(float(threshold), form)

    def score(at: tuple[int, ...]) -> ExactNumber:
        value = given[at]
        if at[1] == 0 and not keep_background:
            return ZERO
        if special(value.value) or value.error == math.inf:
            return UNKNOWN
        edge = limit.rational
        kept = {end >= bound for end in ends_of(value) for bound in ends_of(limit)} if edge else {value.rational >= 0}
        return UNKNOWN if len(kept) > 1 else value if True in kept else ZERO

    return boxes, filled(scores.shape, map(score, np.ndindex(*scores.shape)))


def _overlap(first: Sequence[Fraction], second: Sequence[Fraction]) -> Fraction:
    """The shared area by the area of both; corners may be any two opposite ones."""
    sides, areas = [], [Fraction(1), Fraction(1)]
    for low in (0, 1):
        ends = [sorted((box[low], box[low + 2])) for box in (first, second)]
        sides.append(max(Fraction(0), min(ends[0][1], ends[1][1]) - max(ends[0][0], ends[1][0])))
        areas = [area * (end - begin) for area, (begin, end) in zip(areas, ends, strict=True)]
    shared = sides[0] * sides[1]
    whole = sum(areas) - shared
    return shared / whole if whole > 0 else Fraction(0)


def _chosen(
    boxes: Array, scores: Array, most: int, limit: Fraction, minimum: Fraction, margin: Fraction
) -> Iterator[int]:
    """The boxes of one class that are kept, the best first."""
    values: list[ExactNumber] = list(scores)
    order = sorted(range(len(values)), key=lambda at: -values[at].rational)
    corners = [[item.rational for item in row] for row in boxes]
    kept: list[int] = []
    for at in order:
        if values[at].rational <= minimum or len(kept) >= most:
            break
        shares = [_overlap(corners[at], corners[other]) for other in kept]
        if any(abs(share - limit) <= margin for share in shares):
            raise NoDefinition("an overlap that is the threshold, but for rounding")
        if not any(share > limit for share in shares):
            kept.append(at)
            yield at


def all_class_non_max_suppression(
    boxes: Array,
    scores: Array,
    most: Array,
    iou_threshold: Array,
    score_threshold: Array,
    *,
    output_format: str = "onnx",
) -> tuple[Array, ...]:
    """For each class of each image the boxes that no better one covers; rows behind them are not defined."""
    corners, values = numbers(boxes), numbers(scores)
    _finite(corners, "boxes")
    _finite(values, "scores")
    limit, minimum = (numbers(part).reshape(-1)[0].rational for part in (iou_threshold, score_threshold))
    form = form_of(boxes)
    if form is None or limit <= 0:
        raise NoDefinition("an overlap of which the threshold is not above 0")
    scale = max((abs(item.rational) for item in corners.reshape(-1)), default=Fraction(0))
    margin = 16 * Fraction(form.unit) * (limit + 1) if scale else Fraction(0)
    batch, classes, count = scores.shape
    kept = [
        (b, c, at, values[b, c, at])
        for b in range(batch)
        for c in range(classes)
        for at in _chosen(corners[b], values[b, c], int(most.reshape(-1)[0]), limit, minimum, margin)
    ]
    if output_format == "onnx":
        rows = [ExactNumber(Fraction(value)) for row in kept for value in row[:3]]
        rest = [UNKNOWN] * (3 * batch * classes * count - len(rows))
        return filled((batch * classes * count, 3), [*rows, *rest]), np.array([len(kept)], np.int64)
    size = classes * count
    places = filled((batch, size, 2), [UNKNOWN] * (batch * size * 2))
    best = filled((batch, size), [UNKNOWN] * (batch * size))
    for b in range(batch):
        for number, (_b, c, at, value) in enumerate(row for row in kept if row[0] == b):
            places[b, number, 0], places[b, number, 1] = (ExactNumber(Fraction(part)) for part in (c, at))
            best[b, number] = value
    counts = [sum(row[0] == b for row in kept) for b in range(batch)]
    return places, best, np.array(counts, np.int64)


VISION = (
    ExactDefinition(
        "vision.roi_align", roi_align, f"{ONNX} RoiAlign; TVM 0.27 documentation: `aligned` does not shift", FORMULA
    ),
    ExactDefinition("vision.roi_pool", roi_pool, f"{ONNX} MaxRoiPool", SAME),
    ExactDefinition(
        "vision.multibox_transform_loc",
        multibox_transform_loc,
        "TFLite DecodeCenterSizeBoxes, TVM 0.27 documentation",
        FORMULA,
    ),
    ExactDefinition(
        "vision.all_class_non_max_suppression", all_class_non_max_suppression, f"{ONNX} NonMaxSuppression", INTEGER
    ),
)
