"""Whether a result is what it must be: to the bit, NaN as one class; a peer's within its declared bound."""

import numpy as np

from refmlc.tools.bench.witness import Array


def differences(got: Array, expected: Array) -> int:
    """How many elements differ in their bits; NaN equals NaN. All of them where shapes or dtypes differ."""
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return max(got.size, expected.size, 1)
    kind = np.dtype(f"u{got.dtype.itemsize}")
    bits = np.ascontiguousarray(got).view(kind) == np.ascontiguousarray(expected).view(kind)
    if got.dtype.kind not in "iub":
        bits |= (got != got) & (expected != expected)  # noqa: PLR0124 - of all dtypes that have a NaN
    return int(np.count_nonzero(~bits))


def difference(got: Array, expected: Array) -> float:
    """The greatest distance of two elements, as a share of the greatest element expected."""
    far = np.abs(got.astype(np.float64) - expected.astype(np.float64))
    greatest = float(np.abs(expected.astype(np.float64)).max(initial=0))
    return float(far.max(initial=0)) / greatest if greatest else float(far.max(initial=0))


def complaint(who: str, got: Array, expected: Array, bound: float = 0) -> str:
    """The error in `got`; empty if there is none. `bound`: of `difference`; 0: equal bits."""
    count = differences(got, expected)
    if not count or (bound and got.shape == expected.shape and difference(got, expected) <= bound):
        return ""
    return f"{who}: {count} of {expected.size} elements differ" + (f" by more than {bound:g}" if bound else "")
