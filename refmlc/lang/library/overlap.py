"""The overlap of two boxes: the area that both have, divided by the area that one has; 0 where that is not above 0."""

from collections.abc import Callable

from refmlc.lang import te
from refmlc.lang.te import Value

Corner = Callable[[Value | int], Value]


def overlap(first: Corner, second: Corner, dtype: str) -> Value:
    """The area that two boxes share divided by the area they cover; number k of a box is `first(k)`."""
    zero, sides, own = te.const(0.0, dtype), [], []
    for low in (0, 1):
        ends = [(te.minimum(c(low), c(low + 2)), te.maximum(c(low), c(low + 2))) for c in (first, second)]
        (left, right), (begin, end) = ends
        sides.append(te.maximum(zero, te.minimum(right, end) - te.maximum(left, begin)))
        own.append((right - left, end - begin))
    width, height = sides
    shared = height * width
    whole = own[0][0] * own[1][0] + own[0][1] * own[1][1] - shared
    return te.select(whole <= zero, zero, shared / whole)
