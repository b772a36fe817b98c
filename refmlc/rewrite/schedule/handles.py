"""Handles: a block, a loop or a number of a schedule, which stays what it is while steps are taken.

A loop is its variable, a block its name. A step that renames a block (`decompose_reduction`) leaves the handle with the
block of the new name. A loop that a step has taken away is no more: the next step that names it fails with RM112.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from refmlc.lang.ir import tir

STAYS, INLINED = -1, -2  # places that are no loops, as TVM numbers them: the block stays, or is inlined


@dataclass(eq=False)
class BlockRV:
    """A block of a function. `label` is its name in the trace."""

    name: str
    func: str
    label: str

    def __repr__(self) -> str:
        """Its name in the trace."""
        return self.label


@dataclass(eq=False)
class LoopRV:
    """A loop of a function. `label` is its name in the trace. `instead`: a place that is drawn and is no loop."""

    var: tir.Var
    func: str
    label: str
    instead: int = 0

    def __repr__(self) -> str:
        """Its name in the trace."""
        return self.label


@dataclass(eq=False)
class ExprRV:
    """A number that the schedule drew (`sampling`). `label` is its name in the trace."""

    value: int
    label: str

    def __repr__(self) -> str:
        """Its name in the trace."""
        return self.label


def numbers(items: Sequence[int | ExprRV | None]) -> list[int | None]:
    """The items, a number that was drawn by its value."""
    return [item.value if isinstance(item, ExprRV) else item for item in items]
