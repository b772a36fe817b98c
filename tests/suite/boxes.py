"""What suppression of boxes gives, by NumPy: LIB-074 and LIB-075 step by step, every step rounded in the dtype."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Wish:
    """The attributes of `vision.non_max_suppression`, by their meaning."""

    most: int = -1
    threshold: float = 0.5
    force: bool = False
    top: int = -1
    start: int = 2
    score: int = 1
    label: int = 0
    indices: bool = True
    bottom: bool = False
    sigma: float = 0.0
    least: float = 0.0

    def attributes(self):
        """As the call has them; those that are as usual are left out."""
        names = {
            "max_output_size": ("most", -1),
            "iou_threshold": ("threshold", 0.5),
            "force_suppress": ("force", False),
            "top_k": ("top", -1),
            "coord_start": ("start", 2),
            "score_index": ("score", 1),
            "id_index": ("label", 0),
            "return_indices": ("indices", True),
            "invalid_to_bottom": ("bottom", False),
            "soft_nms_sigma": ("sigma", 0.0),
            "score_threshold": ("least", 0.0),
        }
        told = [(name, getattr(self, own)) for name, (own, usual) in names.items() if getattr(self, own) != usual]
        return "".join(f", {name}={value!r}" for name, value in told)


def overlap(one, two):
    """The area that two boxes share, divided by the one that they cover; 0 where that is not above 0."""
    zero, sides, own = one.dtype.type(0), [], []
    for low in (0, 1):
        ends = [(min(box[low], box[low + 2]), max(box[low], box[low + 2])) for box in (one, two)]
        sides.append(max(zero, min(ends[0][1], ends[1][1]) - max(ends[0][0], ends[1][0])))
        own.append([high - low_ for low_, high in ends])
    shared = sides[1] * sides[0]
    covered = own[0][0] * own[1][0] + own[0][1] * own[1][1] - shared
    return zero if covered <= zero else shared / covered


def suppressed(data, valid, indices, wish):
    """What `vision.non_max_suppression` gives."""
    found = [one_image(rows, int(count), wish) for rows, count in zip(data, valid, strict=True)]
    boxes = np.stack([rows for rows, _ in found])
    if not wish.indices:
        return np.stack([to_the_top(rows, wish.score) for rows in boxes]) if wish.bottom else boxes
    numbers = np.full(indices.shape, -1, np.int32)
    for image, (_, kept) in enumerate(found):
        own = [indices[image, number] for number in kept if number >= 0]
        numbers[image, : len(own)] = own
    counts = np.array([[sum(number >= 0 for number in kept)] for _, kept in found], np.int32)
    return [boxes, numbers, counts] if wish.sigma > 0 else [numbers, counts]


def to_the_top(rows, score):
    """The rows whose score is not negative, then rows of -1."""
    good = rows[rows[:, score] >= 0]
    return np.concatenate([good, np.full((len(rows) - len(good), rows.shape[1]), -1, rows.dtype)])


def one_image(rows, valid, wish):
    """The rows of an image when boxes are chosen, and their numbers; -1 where none is."""
    valid = max(0, min(valid, len(rows)))
    order = sorted(range(valid), key=lambda j: -rows[j, wish.score])
    order = order[: wish.top] if wish.top > 0 else order
    return (soft if wish.sigma > 0 else hard)(rows, order, wish)


def rivals(one, two, wish):
    """Whether one box can suppress the other."""
    return wish.force or wish.label < 0 or one[wish.label] == two[wish.label]


def met(one, two, wish):
    """The overlap of the boxes of two rows."""
    return overlap(*(row[wish.start : wish.start + 4] for row in (one, two)))


def hard(rows, order, wish):
    """Each candidate stays at its place, unless one before it covers it."""
    boxes, numbers, threshold = np.full_like(rows, -1), [-1] * len(rows), rows.dtype.type(wish.threshold)
    for place, number in enumerate(order):
        kept = [rows[one] for one in numbers if one >= 0]
        own = rows[number]
        room = wish.most <= 0 or len(kept) < wish.most
        covered = any(rivals(one, own, wish) and met(one, own, wish) >= threshold for one in kept)
        if own[wish.score] > 0 and room and not covered:
            boxes[place], numbers[place] = own, number
    return boxes, numbers


def soft(rows, order, wish):
    """The best of what is left, again and again; the scores of what it meets fall."""
    kind = rows.dtype.type
    left, kept, least = [(rows[number].copy(), number) for number in order], [], kind(wish.least)
    factor, threshold = kind(np.float32(-0.5 / wish.sigma)), kind(wish.threshold)
    left = [one for one in left if one[0][wish.score] > least]
    while left and (wish.most <= 0 or len(kept) < wish.most):
        best = max(left, key=lambda one: one[0][wish.score])
        kept.append(best)
        rest = [one for one in left if one[1] != best[1]]
        for row, _ in rest:
            if rivals(best[0], row, wish):
                shared = met(best[0], row, wish)
                power = np.float64(factor * shared * shared)
                row[wish.score] = least if shared >= threshold else row[wish.score] * kind(np.exp(power))
        left = [one for one in rest if one[0][wish.score] > least]
    boxes, numbers = np.full_like(rows, -1), [-1] * len(rows)
    for place, (row, number) in enumerate(kept):
        boxes[place], numbers[place] = row, number
    return boxes, numbers


def by_class(boxes, scores, most, threshold, least, form):
    """What `vision.all_class_non_max_suppression` gives."""
    batch, classes, count = scores.shape
    rows = [[] for _ in range(batch)]
    for image in range(batch):
        for label in range(classes):
            for box in kept_of(boxes[image], scores[image, label], most, threshold, least):
                rows[image].append((label, box))
    if form == "onnx":
        flat = [(image, *row) for image in range(batch) for row in rows[image]]
        found = np.zeros((batch * classes * count, 3), np.int64)
        found[: len(flat)] = np.array(flat, np.int64).reshape(-1, 3)
        return [found, np.array([len(flat)], np.int64)]
    found, values = np.zeros((batch, classes * count, 2), np.int64), np.zeros((batch, classes * count), np.float32)
    for image, own in enumerate(rows):
        for place, (label, box) in enumerate(own):
            found[image, place], values[image, place] = (label, box), scores[image, label, box]
    return [found, values, np.array([len(own) for own in rows], np.int64)]


def kept_of(boxes, scores, most, threshold, least):
    """The boxes of one class that are kept."""
    kept = []
    for box in sorted(range(len(scores)), key=lambda j: -scores[j]):
        covered = any(overlap(boxes[one], boxes[box]) >= boxes.dtype.type(threshold) for one in kept)
        if threshold > 0 and scores[box] > scores.dtype.type(least) and len(kept) < most and not covered:
            kept.append(box)
    return kept
