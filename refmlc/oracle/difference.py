"""The difference of two results: the first element, distances, counts, and the likely cause."""

import math
from dataclasses import dataclass, field
from typing import TypeAlias

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
