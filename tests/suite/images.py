"""Operators of images as their clauses say them, element by element in NumPy, float64 and fractions.

Nothing of refmlc is in here: `op_images` compares what these functions say with the interpreter.
"""

import itertools
from fractions import Fraction
from math import ceil, floor

import numpy as np

NEAR = {
    "round": round,
    "round_prefer_floor": lambda at: ceil(at - Fraction(1, 2)),
    "round_prefer_ceil": lambda at: floor(at + Fraction(1, 2)),
    "floor": lambda at: floor(at + Fraction(1, 100000)),
    "ceil": lambda at: ceil(at - Fraction(1, 100000)),
}


def place(mode, i, n, m, corners=(0.0, 0.0)):
    """Where place i of m stands in an extent of n (LIB-060)."""
    half, (start, end) = Fraction(1, 2), map(Fraction, corners)
    match mode:
        case "half_pixel":
            return (i + half) * Fraction(n, m) - half
        case "pytorch_half_pixel":
            return (i + half) * Fraction(n, m) - half if m > 1 else Fraction(0)
        case "align_corners":
            return Fraction((n - 1) * i, m - 1) if m > 1 else Fraction(0)
        case "asymmetric":
            return Fraction(n * i, m)
        case "tf_half_pixel_for_nn":
            return (i + half) * Fraction(n, m)
        case "tf_crop_and_resize":
            if m == 1:
                return half * (start + end) * (n - 1)
            return start * (n - 1) + i * (end - start) * (n - 1) / Fraction(m - 1)


def spline(distance, a):
    """The weight of an element so far away."""
    x = abs(distance)
    if x <= 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else Fraction(0)


def weights(at, n, method, rounding, alpha, exclude):
    """How much each of n elements counts at a place; those outside count for the one at the edge."""
    if method == "nearest_neighbor":
        spots = [(NEAR[rounding](at), Fraction(1))]
    else:
        steps = (0, 1) if method == "linear" else (-1, 0, 1, 2)
        spots = [(floor(at) + step, at - floor(at) - step) for step in steps]
        of = (lambda x: 1 - abs(x)) if method == "linear" else (lambda x: spline(x, Fraction(alpha)))
        spots = [(spot, of(away)) for spot, away in spots]
    if exclude:
        kept = [(spot, weight) for spot, weight in spots if 0 <= spot < n]
        total = sum(weight for _, weight in kept)
        spots = [(spot, weight / total) for spot, weight in kept]
    row = [Fraction(0)] * n
    for spot, weight in spots:
        row[min(max(spot, 0), n - 1)] += weight
    return [float(weight) for weight in row]


def resize(x, size, method="linear", mode="half_pixel", rounding="", alpha=-0.75, exclude=0, roi=None, outside=0.0):
    """LIB-060 of (n, c, …)."""
    rank = len(size)
    rounding = rounding or ("round" if mode == "align_corners" else "floor")
    roi = list(roi) if roi else [0.0] * (2 * rank)
    found, out = x.astype(np.float64), np.zeros(size, bool)
    for axis, (n, m) in enumerate(zip(x.shape[2:], size, strict=True)):
        at = [place(mode, i, n, m, (roi[axis], roi[axis + rank])) for i in range(m)]
        rows = np.array([weights(one, n, method, rounding, alpha, exclude and method == "cubic") for one in at])
        found = np.moveaxis(np.tensordot(found, rows, (axis + 2, 1)), -1, axis + 2)
        beyond = np.array([one < 0 or one > n - 1 for one in at])
        out |= beyond.reshape([-1 if other == axis else 1 for other in range(rank)])
    return np.where(out, outside, found) if mode == "tf_crop_and_resize" else found


def between(image, y, x):
    """A sample of (c, h, w) between its elements; 0 far outside (LIB-070)."""
    _, h, w = image.shape
    if y < -1 or x < -1 or y > h or x > w:
        return np.zeros(image.shape[0])
    y, x = min(max(y, 0.0), h - 1), min(max(x, 0.0), w - 1)
    top, left = floor(y), floor(x)
    bottom, right, fy, fx = min(top + 1, h - 1), min(left + 1, w - 1), y - top, x - left
    upper = image[:, top, left] * (1 - fx) + image[:, top, right] * fx
    lower = image[:, bottom, left] * (1 - fx) + image[:, bottom, right] * fx
    return upper * (1 - fy) + lower * fy


def roi_align(x, rois, parts, scale, ratio=-1, aligned=False, mode="avg"):
    """LIB-070 of (n, c, h, w)."""
    found = np.zeros((len(rois), x.shape[1], *parts))
    for i, (image, *ends) in enumerate(rois.astype(np.float64)):
        left, top, right, bottom = (end * scale for end in ends)
        lengths = [bottom - top, right - left]
        sizes = [(one if aligned else max(one, 1.0)) / part for one, part in zip(lengths, parts, strict=True)]
        counts = [ratio if ratio > 0 else ceil(size) for size in sizes]
        for p, q in itertools.product(*map(range, parts)):
            spots = itertools.product(*map(range, counts))
            samples = [
                between(
                    x[int(image)].astype(np.float64),
                    top + p * sizes[0] + (r + 0.5) * sizes[0] / counts[0],
                    left + q * sizes[1] + (s + 0.5) * sizes[1] / counts[1],
                )
                for r, s in spots
            ]
            if mode == "max":
                found[i, :, p, q] = np.max(samples, axis=0) if samples else -np.inf
            elif samples:
                found[i, :, p, q] = np.mean(samples, axis=0)
    return found


def roi_pool(x, rois, parts, scale):
    """LIB-071 of (n, c, h, w)."""
    found = np.zeros((len(rois), x.shape[1], *parts), x.dtype)
    for i, (image, *ends) in enumerate(rois.astype(np.float64)):
        left, top, right, bottom = (floor(end * scale + 0.5) for end in ends)
        spans = []
        for first, last, count, extent in zip((top, left), (bottom, right), parts, x.shape[2:], strict=True):
            length = Fraction(max(last - first + 1, 1), count)
            edges = [(floor(p * length) + first, ceil((p + 1) * length) + first) for p in range(count)]
            spans.append([slice(*(min(max(edge, 0), extent) for edge in pair)) for pair in edges])
        for p, q in itertools.product(*map(range, parts)):
            part = x[int(image)][:, spans[0][p], spans[1][q]]
            found[i, :, p, q] = part.max((1, 2)) if part.size else 0
    return found


def boxes_of(moved, anchor, variances, clip):
    """The boxes of LIB-072, top, left, bottom, right."""
    given = moved.astype(np.float64).reshape(len(moved), -1, 4)
    anchor = anchor.astype(np.float64)
    size, middle = anchor[..., 2:] - anchor[..., :2], (anchor[..., 2:] + anchor[..., :2]) / 2
    centre = given[..., :2] * np.array(variances[:2]) * size + middle
    reach = np.exp(given[..., 2:] * np.array(variances[2:])) * size / 2
    (left, top), (right, bottom) = (np.moveaxis(one, -1, 0) for one in (centre - reach, centre + reach))
    found = np.stack([top, left, bottom, right], -1)
    return np.clip(found, 0, 1) if clip else found


def scores_of(scores, threshold, background, softmax):
    """The scores of LIB-072."""
    found = scores.astype(np.float64)
    if softmax:
        powers = np.exp(found - found.max(1, keepdims=True))
        found = powers / powers.sum(1, keepdims=True)
    found = np.where(found >= threshold, found, 0.0)
    if not background:
        found[:, 0] = 0
    return found


def valid_counts(x, threshold, id_index, score_index):
    """LIB-073."""
    boxes, places = np.full(x.shape, -1, x.dtype), np.full(x.shape[:2], -1, np.int32)
    counts = np.zeros(len(x), np.int32)
    for b, j in itertools.product(range(x.shape[0]), range(x.shape[1])):
        if x[b, j, score_index] > threshold and (id_index < 0 or x[b, j, id_index] >= 0):
            boxes[b, counts[b]], places[b, counts[b]] = x[b, j], j
            counts[b] += 1
    return [counts, boxes, places]


def affine_grid(maps, size, align):
    """LIB-062 of (n, d, d + 1), each step rounded in the dtype of the maps."""
    rank, kind = len(size), maps.dtype.type
    found = np.zeros((len(maps), rank, *size), kind)
    for at in itertools.product(*map(range, size)):
        value = maps[..., rank]
        for axis, (i, n) in enumerate(zip(at, size, strict=True)):
            start, step = (-1.0, (2 - 1e-7) / (n - 1)) if align else (-1 + 1 / n, 2 / n)
            value = value + maps[..., rank - 1 - axis] * (kind(start) + kind(i) * kind(step))
        found[(..., *at)] = value
    return found
