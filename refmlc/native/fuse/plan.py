"""What is fused: bindings of a block, one after the other, as one C function; what its caller must know.

The C function takes, in this order:

| C parameters                 | what                                                                       |
|------------------------------|----------------------------------------------------------------------------|
| `rm_run *`                   | as every generated function                                                |
| `void *` for each `inputs`   | the first element of a compact tensor, all initialised                     |
| `void *` for each `outputs`  | fresh memory of the shape, which the function fills                        |
| `void *`                     | `workspace` bytes for what lives between the calls, 64 divides its address |
| `int64_t` for each `numbers` | the expression's value, computed once for each binding of the dimensions   |

It returns a `Status`. Unless that is `DONE` the interpreter executes the bindings: only fresh memory was written.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from refmlc.lang.dtypes import DType
from refmlc.lang.ir import relax, tir


@dataclass(frozen=True, slots=True)
class Operand:
    """A compact tensor that the C function takes: a variable of the graph, or a constant."""

    value: relax.Var | relax.Constant
    dtype: DType
    shape: tuple[tir.Expr, ...]


@dataclass(frozen=True, slots=True)
class Fused:
    """Bindings `start` … `stop` - 1 of `block`, a block of the Relax function `function` or of one inside it.

    `inputs` are bound before `start` (or are constants), `outputs` are those of the variables bound here that are
    used after `stop` or outside of the block. Expressions are over the symbolic dimensions of the graph. The bindings
    are executed so where every pair of `equal` is equal; `allocated` is how many bytes the interpreter allocates in
    them, of which the budget must have as many left. `calls` are the functions called, in order. `tuples` are the
    variables bound to tuples of outputs, with the numbers of these. Functions of Relax that are executed inside take
    `charged` of the `steps`, and are `levels` calls deep.
    """

    function: str
    block: relax.Block
    start: int
    stop: int
    symbol: str
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    numbers: tuple[tir.Expr, ...]
    equal: tuple[tuple[tir.Expr, tir.Expr], ...]
    workspace: tir.Expr
    allocated: tir.Expr
    calls: tuple[str, ...]
    tuples: tuple[tuple[relax.Var, tuple[int, ...]], ...] = ()
    charged: int = 0
    levels: int = 0

    @property
    def steps(self) -> int:
        """The steps that the interpreter charges besides those of loops: for each binding, and for each call."""
        return self.stop - self.start + len(self.calls) + self.charged


@dataclass(frozen=True, slots=True)
class UnfusedBinding:
    """A binding that is in no run, and why."""

    function: str
    binding: relax.Binding
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What is fused in a module, the C text of it, to follow that of the module's functions, and what is not fused."""

    text: str
    runs: Sequence[Fused]
    apart: Sequence[UnfusedBinding] = ()
