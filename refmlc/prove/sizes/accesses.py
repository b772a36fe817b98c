"""Each access of a function with the loops around it: places, conditions, and the order in which accesses happen.

A position is a path from the function's body to the access: the number of a statement in a list, or a loop. The loops
that two paths share are executed together; after them, the path with the smaller number comes first in each iteration.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import z3

from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind
from refmlc.lang.ir.unexecuted import refusal
from refmlc.prove.terms import Undecided


@dataclass(frozen=True, eq=False)
class LoopFrame:
    """A loop around an access. `variables`: its variable, or its digits, the first is the slowest.

    `first`: values of its first iteration. `made`: how many constants there were before its body.
    """

    node: tir.Stmt
    variables: tuple["z3.ArithRef", ...]
    first: tuple["z3.ArithRef", ...]
    made: int

    @property
    def is_in_order(self) -> bool:
        """Whether iterations follow each other."""
        return isinstance(self.node, tir.For) and self.node.kind in (ForKind.SERIAL, ForKind.UNROLLED)


@dataclass(frozen=True, eq=False)
class SizedAccess:
    """A load or a store. `path`: when it is executed, without what is merely known; `conditions`: all that is known."""

    node: "tir.BufferLoad | tir.BufferStore"
    indices: tuple["z3.ArithRef", ...]
    position: tuple["int | LoopFrame", ...]
    path: tuple["z3.BoolRef", ...]
    conditions: tuple["z3.BoolRef", ...]
    unknown: tuple["z3.ExprRef", ...]

    @property
    def buffer(self) -> tir.Buffer:
        """The buffer that is accessed."""
        return self.node.buffer

    @property
    def loops(self) -> tuple[LoopFrame, ...]:
        """The loops around it, from outside."""
        return tuple(part for part in self.position if isinstance(part, LoopFrame))


def shared(a: SizedAccess, b: SizedAccess) -> tuple[tuple[LoopFrame, ...], int]:
    """The loops that two accesses share, and whether `a` comes before (-1) or after (1) `b` in an iteration of them."""
    frames: list[LoopFrame] = []
    for one, other in zip(a.position, b.position, strict=False):
        if one is not other and one != other:
            return tuple(frames), -1 if _number(one) < _number(other) else 1
        if isinstance(one, LoopFrame):
            frames.append(one)
    return tuple(frames), -1 if len(a.position) < len(b.position) else 1


def _number(part: "int | LoopFrame") -> int:
    return part if isinstance(part, int) else 0


def renaming(
    constants: Sequence["z3.ExprRef"], since: int, suffix: str
) -> tuple[tuple["z3.ExprRef", "z3.ExprRef"], ...]:
    """Another instance of everything that was made since: pairs for `z3.substitute`."""
    return tuple((each, z3.Const(f"{each}{suffix}", each.sort())) for each in constants[since:])


def refuse_unexecuted(node: tir.Stmt | tir.Buffer) -> None:
    """Fails: `Undecided` where `node` is of TIRx and has no meaning yet."""
    if refusal(node):
        raise Undecided(refusal(node), node.span)
