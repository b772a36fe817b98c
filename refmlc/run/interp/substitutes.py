"""Substitutes: executors of parts of a program in the interpreter's place, such as compiled code.

A substitute has exactly the effect of the interpreter, or changes nothing and leaves the part to the interpreter. The
machine decides whether it takes part: not with hooks, nor where undefined behaviour is allowed (NAT-006).
"""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from refmlc.lang.ir import relax
from refmlc.run.interp.graph.activation import Activation

Prepared: TypeAlias = Callable[[Sequence[object]], object]
BlockRun: TypeAlias = Callable[[Activation, int], int]


class Substitutes(Protocol):
    """The executors of one program; called once for each part, when it is prepared."""

    def function(self, name: str, interpreted: Callable[[], Prepared]) -> Prepared:
        """The callable for the prim_func `name`; `interpreted` prepares the interpreter's own."""

    def block(self, function: str, block: relax.Block) -> BlockRun | None:
        """The executor of bindings of `block` in `function`; None if there is none.

        Called with the activation and the number of the next binding, it returns how many it has executed; 0: none.
        """
