"""Whether an operator takes whatever its symbols turn out to be, or the run has to ask.

An operator compares extents: it refuses those that certainly differ. Of a symbol and a number it cannot tell, and the
function that it gives compares nothing when it runs. So the same call is looked at once more with a number in place of
each symbol, large primes, all different: two extents agree there only where they are one formula, nothing divides one
of them, none is 1. What is refused then is refused for some sizes; the call is lowered when it is executed.

Decision: this is not decided by the polynomials of `lang.arith`, although the comparisons are made with them. The
question is not whether two extents differ, but which comparisons an operator makes, and those stand in its own code:
divisions without a rest (`split`, grouped convolutions), extents that are 1 or not (broadcasting), counts of parts. A
second statement of them as conditions on polynomials could drift from the first. Running the operator's code once more
asks exactly what it asks.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.types import Type
from refmlc.lang.ir.visit import rewrite, walk
from refmlc.lang.te.fold import folded

FIRST_PRIME = 1_000_003  # beyond the extents that programs name, and within int32
LEAST_BITS = 32


def symbols(types: Sequence[Type | None]) -> list[tir.Var]:
    """The variables of types that may be extents, each once, in order."""
    nodes = chain.from_iterable(walk(type_) for type_ in types if type_ is not None)
    variables = dict.fromkeys(node for node in nodes if isinstance(node, tir.Var) and node.dtype.is_integer)
    return [var for var in variables if var.dtype.bits >= LEAST_BITS]


def numbers(variables: Sequence[tir.Var]) -> dict[tir.Var, tir.IntImm]:
    """A prime for each of them."""
    return {var: tir.IntImm(var.dtype, prime) for var, prime in zip(variables, _primes(), strict=False)}


def instance(ty: Type | None, table: Mapping[tir.Var, tir.IntImm]) -> Type | None:
    """The type with the numbers in place of its variables."""

    def change(node: Node) -> Node:
        match node:
            case tir.Var():
                return table.get(node, node)
            case tir.Apply() | tir.Cast():
                return folded(node)
            case _:
                return node

    return None if ty is None else rewrite(ty, change)


def _primes() -> Iterator[int]:
    number = FIRST_PRIME
    while True:
        if all(number % divisor for divisor in range(2, int(number**0.5) + 1)):
            yield number
        number += 1
