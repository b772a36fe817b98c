"""Rules of comparison: chosen by the clause of what is compared, not by who compares.

| rule           | permits                                                                          |
|----------------|----------------------------------------------------------------------------------|
| `Exact()`      | the bits of the reference; every NaN is one class (NUM-006)                      |
| `OneOf(…)`     | at each element the bits of one of several results                               |
| `Ulps(n)`      | at most n representable numbers away; NaN only where the reference is NaN        |
| `Certified(…)` | what the certificate's element holds; the bound has a proof                      |

An integer or bool is compared by value under every rule.

The rule for a result follows from the contracts of the operators that make it (`chosen`): where every one of
them is exact (copies, integers, comparisons, max, min, abs, casts) the bits are, the sign of zero included;
where one rounds, or terms are combined in any order, the bound is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from refmlc.observe.bounds.certify import CertifiedTensor


@dataclass(frozen=True)
class Exact:
    """The bits of the reference."""


@dataclass(frozen=True)
class OneOf:
    """The bits of one of `alternatives`, besides the reference's."""

    alternatives: Sequence[np.ndarray]


@dataclass(frozen=True)
class Ulps:
    """Within `distance` representable numbers."""

    distance: int


@dataclass(frozen=True)
class Certified:
    """Inside of the certificate."""

    tensor: CertifiedTensor


Rule: TypeAlias = Exact | OneOf | Ulps | Certified


def chosen(tensor: CertifiedTensor) -> Rule:
    """The rule of a certified result: its bits where its program only has exact operators, else the certificate."""
    return Exact() if tensor.exact else Certified(tensor)
