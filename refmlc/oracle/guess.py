"""Likely causes of wrong values. They are facts about the values, not proofs.

| guess                     | the wrong result is                                                               |
|---------------------------|-----------------------------------------------------------------------------------|
| sign                      | the reference with the other sign, at each wrong element                          |
| transposed                | the reference with two axes exchanged (in memory, where the extents differ)       |
| off by one index          | the reference moved by one along an axis                                          |
| wrapped                   | off by multiples of 2**8, 2**16 or 2**32 (integers)                               |
| rounded to the other side | off by one, toward the side of zero or of minus infinity (integers)               |
| not rounded               | rounded to a narrower format, the reference (a missing cast, a wide intermediate) |
| scaled                    | the reference times one factor, a power of two or a small fraction                |
| stale                     | one and the same value at several wrong elements, or denormal rubbish             |
| edge                      | wrong at the first or last index of an axis only (said besides any other guess)   |

They are tried in this order; the first that explains every wrong element is taken. Two floats agree here within 2e-3
of the larger: the fault, not the rounding, is looked for.
"""

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np

from refmlc.lang.dtypes import SCALARS, DType
from refmlc.lang.dtypes.rounding import rounder

CLOSE = 2e-3
NARROW = ("float16", "bfloat16", "float32")


def guess(actual: np.ndarray, reference: np.ndarray, wrong: np.ndarray, dtype: DType) -> str:
    """The likely cause in words; empty if none fits. Shapes: all alike; `wrong` is the mask of elements."""
    if not wrong.any():
        return ""
    return "; ".join(part for part in (_shape(actual, reference, wrong, dtype), _edge(wrong)) if part)


def _shape(actual: np.ndarray, reference: np.ndarray, wrong: np.ndarray, dtype: DType) -> str:
    got, want = actual[wrong], reference[wrong]
    if not dtype.is_float:
        got, want = got.astype(object), want.astype(object)
    tried: tuple[Callable[[], str], ...] = (
        lambda: "the result has the wrong sign" if _negated(got, want) else "",
        lambda: _moved(actual, reference, wrong),
        lambda: _of_floats(got, want, dtype) if dtype.is_float else _of_integers(got, want, dtype),
        lambda: _stale(got, want),
    )
    return next((description for attempt in tried if (description := attempt())), "")


def _edge(wrong: np.ndarray) -> str:
    """The axis at whose end every wrong element lies, where the axis has more than one index."""
    places = np.argwhere(wrong)
    for axis, extent in enumerate(wrong.shape):
        if extent > 1 and (places[:, axis] == extent - 1).all():
            return f"only the last index of axis {axis} is wrong"
        if extent > 1 and (places[:, axis] == 0).all():
            return f"only index 0 of axis {axis} is wrong"
    return ""


def _negated(got: np.ndarray, want: np.ndarray) -> bool:
    return bool((want != 0).all() and _agree(got, -want).all())


def _agree(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Elementwise: the same number, both NaN, or close floats."""
    if not np.issubdtype(a.dtype, np.floating):
        return np.asarray(a == b)
    with np.errstate(invalid="ignore", over="ignore"):
        near = (np.abs(a - b) <= CLOSE * np.maximum(np.abs(a), np.abs(b))) & np.isfinite(a) & np.isfinite(b)
    return np.asarray(near | (a == b) | (np.isnan(a) & np.isnan(b)))


def _moved(actual: np.ndarray, reference: np.ndarray, wrong: np.ndarray) -> str:
    """Transposed, or off by one along an axis; there must be something that a move changes.

    What is close to the reference where it stands was rounded otherwise, and not moved.
    """
    if _agree(actual[wrong], reference[wrong]).all():
        return ""
    for first, second in combinations(range(reference.ndim), 2):
        other = np.swapaxes(reference, first, second)
        if _agree(actual, other.reshape(actual.shape)).all():
            return f"axes {first} and {second} are transposed"
    if np.count_nonzero(wrong) < 2:  # a zero among zeros is the one beside it, too
        return ""
    for axis, step, ours, theirs in _shifts(actual, reference):
        inside = wrong[_slice(wrong.ndim, axis, step < 0)]
        if ours.size and inside.any() and _agree(ours, theirs).all():
            sign = "+" if step > 0 else "-"
            return f"off by one: element i along axis {axis} is element i {sign} 1 of the expected result"
    return ""


def _shifts(actual: np.ndarray, reference: np.ndarray) -> Iterator[tuple[int, int, np.ndarray, np.ndarray]]:
    for axis in range(reference.ndim):
        low, high = _slice(reference.ndim, axis, False), _slice(reference.ndim, axis, True)
        yield axis, 1, actual[low], reference[high]
        yield axis, -1, actual[high], reference[low]


def _slice(ndim: int, axis: int, later: bool) -> tuple[slice, ...]:
    """All but the last element along `axis`; all but the first where `later`."""
    cut = slice(1, None) if later else slice(None, -1)
    return tuple(cut if each == axis else slice(None) for each in range(ndim))


def _of_integers(got: np.ndarray, want: np.ndarray, dtype: DType) -> str:
    if dtype.kind == "bool":
        return ""
    pairs = [(int(a), int(b)) for a, b in zip(got.tolist(), want.tolist(), strict=True)]
    for bits in (32, 16, 8):
        if all((a - b) % (1 << bits) == 0 for a, b in pairs):
            return f"wrapped around: equal modulo 2**{bits}"
    if all(a - b == 1 for a, b in pairs):
        return "rounded the wrong way: one above the expected value (trunc for floor?)"
    if all(a - b == -1 for a, b in pairs):
        return "rounded the wrong way: one below the expected value (floor for trunc?)"
    return ""


def _of_floats(got: np.ndarray, want: np.ndarray, dtype: DType) -> str:
    for name in NARROW:
        if SCALARS[name].bits > dtype.bits:
            continue
        rounded = rounder(SCALARS[name])
        pairs = list(zip(got.tolist(), want.tolist(), strict=True))
        if all(rounded(a) == b != a for a, b in pairs):
            return f"a rounding is missing: rounded to {name}, the result is right"
        if all(rounded(b) == a != b for a, b in pairs):
            return f"rounded too early: it is the expected value rounded to {name}"
    return _scaled(got, want)


def _scaled(got: np.ndarray, want: np.ndarray) -> str:
    if len(got) < 2 or not np.isfinite(got).all() or not np.isfinite(want).all() or (want == 0).any():
        return ""
    factor = float(got.flat[0]) / float(want.flat[0])
    if factor != 0.0 and abs(factor - 1.0) > 5 * CLOSE and _agree(got, want * np.asarray(factor, want.dtype)).all():
        return f"scaled: the expected value times {factor:.4g}"
    return ""


def _stale(got: np.ndarray, want: np.ndarray) -> str:
    values = {repr(value) for value in got.tolist()}
    others = {repr(value) for value in want.tolist()}
    if len(values) == 1 and len(got) > 1 and len(others) > 1:
        return f"stale: every wrong element is {next(iter(values))}, as if never written"
    floats = np.issubdtype(got.dtype, np.floating)
    if floats and len(got) > 1 and (np.abs(got) < np.finfo(np.float32).tiny).all() and (want != 0).any():
        return "stale: wrong elements are close to zero, as if never written"
    return ""
