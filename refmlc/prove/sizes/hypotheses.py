"""What a proof for all sizes may assume of the arguments: conditions on sizes and on the integers that tensors hold.

The rooms above translate contracts into them. Arithmetic in a hypothesis is exact: nothing in it wraps or overflows.
"""

from dataclasses import dataclass
from typing import TypeAlias

from refmlc.lang.ir import tir


@dataclass(frozen=True)
class Hypothesis:
    """For all integers `variables` for which each of `domain` holds, `condition` holds.

    `text`: how it was written. `is_inferred`: the program was only guessed to ask for it.
    """

    variables: tuple[tir.Var, ...]
    domain: tuple[tir.Expr, ...]
    condition: tir.Expr
    text: str
    is_inferred: bool = False


@dataclass(frozen=True)
class FloatBounds:
    """Each element of a tensor of floats that is only read is a number from `low` to `high`, so it is not NaN."""

    buffer: tir.Buffer
    low: float
    high: float
    text: str
    is_inferred: bool = False


Assumption: TypeAlias = Hypothesis | FloatBounds
