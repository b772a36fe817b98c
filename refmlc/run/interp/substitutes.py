"""What may execute parts of a program in the interpreter's place, such as compiled code.

A substitute does exactly what the interpreter would have done, or leaves everything as it was and lets the interpreter
do it. Whether it may take part at all is the machine's to say: not while hooks watch, nor where undefined behaviour is
allowed (NAT-006).
"""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from refmlc.lang.ir import relax
from refmlc.run.interp.graph.activation import Activation

Prepared: TypeAlias = Callable[[Sequence[object]], object]
BlockRun: TypeAlias = Callable[[Activation, int], int]


class Substitutes(Protocol):
    """Asked once for each part of a program, when the part is prepared."""

    def function(self, name: str, interpreted: Callable[[], Prepared]) -> Prepared:
        """What is called as the prim_func `name`; `interpreted` prepares the interpreter's way, where it is wanted."""

    def block(self, function: str, block: relax.DataflowBlock) -> BlockRun | None:
        """What executes bindings of `block`, which stands in `function`; None: nothing does.

        Called with the activation and the number of the next binding, it says how many it has executed; 0: none.
        """
