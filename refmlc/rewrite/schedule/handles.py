"""Handles: a block or a loop of a schedule, which stays what it is while steps are taken.

A loop is its variable, a block its name. A step that renames a block (`decompose_reduction`) leaves the handle with the
block of the new name. A loop that a step has taken away is no more: the next step that names it fails with RM112.
"""

from dataclasses import dataclass

from refmlc.lang.ir import tir


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
    """A loop of a function. `label` is its name in the trace."""

    var: tir.Var
    func: str
    label: str

    def __repr__(self) -> str:
        """Its name in the trace."""
        return self.label
