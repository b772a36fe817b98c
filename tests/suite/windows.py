"""Operators of windows by their definition, term by term over arrays of NumPy: nothing of refmlc, and nothing clever.

Images are `N, C` and space, kernels `O, I` and space (transposed: `I, O`); `laid` brings them into another layout. Sums
are taken in float64, or in int64 for integers, so those of small integers are exact.
"""

import itertools
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Moves:
    """How windows of `size` places go over space, by dimension."""

    size: tuple
    stride: tuple
    before: tuple
    after: tuple
    dilation: tuple
    ceil: bool = False

    def counts(self, space):
        found = []
        for n, k, s, b, a, d in zip(space, self.size, self.stride, self.before, self.after, self.dilation, strict=True):
            room = n + b + a - (k - 1) * d - 1
            count = -(-room // s) + 1 if self.ceil else room // s + 1
            while self.ceil and (count - 1) * s >= n + b:
                count -= 1
            found.append(count)
        return found

    def places(self, at):
        """The places of a window, the last dimension innermost; those before and behind the data too."""
        for r in itertools.product(*map(range, self.size)):
            each = zip(at, self.stride, r, self.dilation, self.before, strict=True)
            yield r, tuple(y * s + one * d - b for y, s, one, d, b in each)

    def is_padded(self, place, space):
        """Whether a place is in the data, or in what is added around it."""
        around = zip(place, space, self.before, self.after, strict=True)
        return all(-b <= p < n + a for p, n, b, a in around)


def moves(size, stride=1, padding=0, dilation=1, *, ceil=False):
    rank = len(size)
    every = [one if isinstance(one, (list, tuple)) else [one] * rank for one in (stride, dilation)]
    around = padding if isinstance(padding, (list, tuple)) else [padding] * rank
    around = around if len(around) == 2 * rank else [*around, *around]
    return Moves(tuple(size), tuple(every[0]), tuple(around[:rank]), tuple(around[rank:]), tuple(every[1]), ceil)


def is_inside(place, space):
    return all(0 <= p < n for p, n in zip(place, space, strict=True))


def windows(data, moved):
    """Each window of each channel: image, channel, place of the window, and its places in the data."""
    space = data.shape[2:]
    counts = moved.counts(space)
    for image, channel in np.ndindex(*data.shape[:2]):
        for at in np.ndindex(*counts):
            yield image, channel, at, [p for _, p in moved.places(at)]


def made(data, moved):
    return np.zeros([*data.shape[:2], *moved.counts(data.shape[2:])], data.dtype)


def max_pool(data, moved):
    found, space = made(data, moved), data.shape[2:]
    for image, channel, at, places in windows(data, moved):
        terms = [data[image, channel, *p] for p in places if is_inside(p, space)]
        found[image, channel, *at] = max(terms, default=-np.inf)
    return found


def avg_count(places, moved, space, *, padded):
    return sum(moved.is_padded(p, space) if padded else is_inside(p, space) for p in places)


def avg_pool(data, moved, *, padded):
    found, space = made(data, moved), data.shape[2:]
    for image, channel, at, places in windows(data, moved):
        total = sum(float(data[image, channel, *p]) for p in places if is_inside(p, space))
        found[image, channel, *at] = total / max(avg_count(places, moved, space, padded=padded), 1)
    return found


def adaptive(data, parts):
    space = data.shape[2:]
    found = np.zeros([*data.shape[:2], *parts], data.dtype)
    for at in np.ndindex(*parts):
        ends = [(i * n // m, -(-(i + 1) * n // m)) for i, n, m in zip(at, space, parts, strict=True)]
        part = data[:, :, *(slice(low, high) for low, high in ends)].astype(np.float64)
        found[:, :, *at] = part.mean(axis=tuple(range(2, data.ndim)))
    return found


def max_pool_backward(gradient, data, moved):
    found, space = np.zeros_like(data), data.shape[2:]
    for image, channel, at, places in windows(data, moved):
        inside = [p for p in places if is_inside(p, space)]
        best = max(inside, key=lambda p, of=data[image, channel]: of[p])
        found[image, channel, *best] += gradient[image, channel, *at]
    return found


def avg_pool_backward(gradient, data, moved, *, padded):
    found, space = np.zeros(data.shape), data.shape[2:]
    for image, channel, at, places in windows(data, moved):
        count = avg_count(places, moved, space, padded=padded)
        for p in places:
            if is_inside(p, space):
                found[image, channel, *p] += float(gradient[image, channel, *at]) / count
    return found.astype(data.dtype)


def wide(dtype):
    return np.float64 if np.issubdtype(dtype, np.floating) else np.int64


def conv(data, weight, moved, groups=1, dtype=None):
    images, _channels, *space = data.shape
    filters, depth = weight.shape[:2]
    kind = np.dtype(dtype or data.dtype)
    found = np.zeros([images, filters, *moved.counts(space)], wide(kind))
    for image, o in np.ndindex(images, filters):
        first = o // (filters // groups) * depth
        for at in np.ndindex(*found.shape[2:]):
            for r, p in moved.places(at):
                if is_inside(p, space):
                    for c in range(depth):
                        term = found.dtype.type(data[image, first + c, *p]) * found.dtype.type(weight[o, c, *r])
                        found[image, o, *at] += term
    return found.astype(kind)


def conv_transpose(data, weight, moved, groups=1, more=0, dtype=None):
    images, channels, *space = data.shape
    per, of_group = channels // groups, weight.shape[1]
    kind = np.dtype(dtype or data.dtype)
    added = more if isinstance(more, (list, tuple)) else [more] * len(space)
    each = zip(space, moved.size, moved.stride, moved.dilation, moved.before, moved.after, added, strict=True)
    extents = [(n - 1) * s + (k - 1) * d + 1 - b - a + m for n, k, s, d, b, a, m in each]
    found = np.zeros([images, of_group * groups, *extents], wide(kind))
    for image, c in np.ndindex(images, channels):
        for x in np.ndindex(*space):
            for r, y in moved.places(x):
                if is_inside(y, extents):
                    for o in range(of_group):
                        term = found.dtype.type(data[image, c, *x]) * found.dtype.type(weight[c, o, *r])
                        found[image, c // per * of_group + o, *y] += term
    return found.astype(kind)


def laid(array, layout, letters):
    """An array whose dimensions are those of `letters`, in the order of a layout."""
    return np.ascontiguousarray(array.transpose([letters.index(one) for one in layout]))
