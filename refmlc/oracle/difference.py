"""The difference of two results: the first element, distances, counts, and the likely cause.

Likely causes are facts about the values, not proofs:

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

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeAlias

import numpy as np

from refmlc.lang.dtypes import SCALARS, DType
from refmlc.lang.dtypes.rounding import rounder

Number: TypeAlias = int | float | bool


@dataclass(frozen=True)
class Difference:
    """How a result differs from the reference.

    `index` is the first wrong element in row-major order (of a permitted result: the first that differs), `ulps` its
    distance in representable numbers (None: from or to NaN), `bound` what the rule allows there (None: exact bits),
    `histogram` the distances of all elements, `wrong` of `total` the elements that the rule does not permit.
    Units: `bound` absolute, in the result's own unit.
    """

    index: tuple[int, ...]
    actual: Number
    expected: Number
    ulps: int | None
    bound: float | None
    wrong: int
    total: int
    histogram: dict[str, int] = field(default_factory=dict)
    guess: str = ""
    note: str = ""

    def __str__(self) -> str:
        at = ", ".join(map(str, self.index))
        steps = "" if self.ulps is None else f", {self.ulps} ulp away"
        allowed = "" if self.bound is None else f", bound {self.bound:.3g}"
        shape = f"; {self.guess}" if self.guess else ""
        count = f"; {self.wrong} of {self.total} wrong" if self.wrong else ""
        return f"[{at}] is {self.actual!r}, expected {self.expected!r}{steps}{allowed}{count}{shape}"


ILL_CONDITIONED = 0.01


def conditioning(expected: float, bound: float) -> str:
    """A note on ill-conditioned input; empty if the bound is small compared with the result.

    A bound of a hundredth of the result or more leaves less than two digits that any correct implementation shares.
    """
    if not math.isfinite(bound):
        return "ill-conditioned: no finite bound, any finite result is permitted"
    if not bound or not math.isfinite(expected) or bound < ILL_CONDITIONED * abs(expected):
        return ""
    if not expected:
        return f"ill-conditioned: the exact result is 0, the bound {bound:.3g}"
    return f"ill-conditioned: the bound is {bound / abs(expected):.2g} times the result"


CLOSE = 2e-3
NARROW = ("float16", "bfloat16", "float32")


def guess(actual: np.ndarray, reference: np.ndarray, wrong: np.ndarray, dtype: DType) -> str:
    """The likely cause in words; empty if none fits. Shapes: all alike; `wrong` is the mask of elements."""
    if not wrong.any():
        return ""
    with np.errstate(all="ignore"):  # an attempt that overflows does not fit, which is all there is to say
        return "; ".join(part for part in (_shape(actual, reference, wrong, dtype), _edge(wrong)) if part)


def _shape(actual: np.ndarray, reference: np.ndarray, wrong: np.ndarray, dtype: DType) -> str:
    wrong_values, expected_values = actual[wrong], reference[wrong]
    if not dtype.is_float:
        wrong_values, expected_values = wrong_values.astype(object), expected_values.astype(object)
    attempts: tuple[Callable[[], str], ...] = (
        lambda: "the result has the wrong sign" if _negated(wrong_values, expected_values) else "",
        lambda: _displacement(actual, reference, wrong),
        lambda: (
            _of_floats(wrong_values, expected_values, dtype)
            if dtype.is_float
            else _of_integers(wrong_values, expected_values, dtype)
        ),
        lambda: _stale(wrong_values, expected_values),
    )
    return next((description for attempt in attempts if (description := attempt())), "")


def _edge(wrong: np.ndarray) -> str:
    """The axis at whose end every wrong element lies, where the axis has more than one index."""
    places = np.argwhere(wrong)
    for axis, extent in enumerate(wrong.shape):
        if extent > 1 and (places[:, axis] == extent - 1).all():
            return f"only the last index of axis {axis} is wrong"
        if extent > 1 and (places[:, axis] == 0).all():
            return f"only index 0 of axis {axis} is wrong"
    return ""


def _negated(actual: np.ndarray, expected: np.ndarray) -> bool:
    return bool((expected != 0).all() and _agree(actual, -expected).all())


def _agree(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Elementwise: the same number, both NaN, or close floats."""
    if not np.issubdtype(a.dtype, np.floating):
        return np.asarray(a == b)
    with np.errstate(invalid="ignore", over="ignore"):
        near = (np.abs(a - b) <= CLOSE * np.maximum(np.abs(a), np.abs(b))) & np.isfinite(a) & np.isfinite(b)
    return np.asarray(near | (a == b) | (np.isnan(a) & np.isnan(b)))


def _displacement(actual: np.ndarray, reference: np.ndarray, wrong: np.ndarray) -> str:
    """Transposed, or off by one along an axis; there must be something that a move changes.

    What is close to the reference where it stands was rounded otherwise, and not moved.
    """
    if _agree(actual[wrong], reference[wrong]).all():
        return ""
    for axis_a, axis_b in combinations(range(reference.ndim), 2):
        swapped = np.swapaxes(reference, axis_a, axis_b)
        if _agree(actual, swapped.reshape(actual.shape)).all():
            return f"axes {axis_a} and {axis_b} are transposed"
    if np.count_nonzero(wrong) < 2:  # a zero among zeros is the one beside it, too
        return ""
    for axis, step, actual_part, expected_part in _shifts(actual, reference):
        inside = wrong[_slice(wrong.ndim, axis, step < 0)]
        if actual_part.size and inside.any() and _agree(actual_part, expected_part).all():
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
    piece = slice(1, None) if later else slice(None, -1)
    return tuple(piece if number == axis else slice(None) for number in range(ndim))


def _of_integers(actual: np.ndarray, expected: np.ndarray, dtype: DType) -> str:
    if dtype.kind == "bool":
        return ""
    pairs = [(int(a), int(b)) for a, b in zip(actual.tolist(), expected.tolist(), strict=True)]
    for bits in (32, 16, 8):
        if all((a - b) % (1 << bits) == 0 for a, b in pairs):
            return f"wrapped around: equal modulo 2**{bits}"
    if all(a - b == 1 for a, b in pairs):
        return "rounded the wrong way: one above the expected value (trunc for floor?)"
    if all(a - b == -1 for a, b in pairs):
        return "rounded the wrong way: one below the expected value (floor for trunc?)"
    return ""


def _of_floats(actual: np.ndarray, expected: np.ndarray, dtype: DType) -> str:
    for name in NARROW:
        if SCALARS[name].bits > dtype.bits:
            continue
        rounded = rounder(SCALARS[name])
        pairs = list(zip(actual.tolist(), expected.tolist(), strict=True))
        if all(rounded(a) == b != a for a, b in pairs):
            return f"a rounding is missing: rounded to {name}, the result is right"
        if all(rounded(b) == a != b for a, b in pairs):
            return f"rounded too early: it is the expected value rounded to {name}"
    return _scaled(actual, expected)


def _scaled(actual: np.ndarray, expected: np.ndarray) -> str:
    if len(actual) < 2 or not np.isfinite(actual).all() or not np.isfinite(expected).all() or (expected == 0).any():
        return ""
    factor = float(actual.flat[0]) / float(expected.flat[0])
    if (
        factor != 0.0
        and abs(factor - 1.0) > 5 * CLOSE
        and _agree(actual, expected * np.asarray(factor, expected.dtype)).all()
    ):
        return f"scaled: the expected value times {factor:.4g}"
    return ""


def _stale(actual: np.ndarray, expected: np.ndarray) -> str:
    values = {repr(value) for value in actual.tolist()}
    expected_values = {repr(value) for value in expected.tolist()}
    if len(values) == 1 and len(actual) > 1 and len(expected_values) > 1:
        return f"stale: every wrong element is {next(iter(values))}, as if never written"
    floats = np.issubdtype(actual.dtype, np.floating)
    if floats and len(actual) > 1 and (np.abs(actual) < np.finfo(np.float32).tiny).all() and (expected != 0).any():
        return "stale: wrong elements are close to zero, as if never written"
    return ""
