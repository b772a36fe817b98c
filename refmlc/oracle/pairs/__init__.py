"""Pairs that need no rule: where nothing is written, an implementation still must not contradict itself.

| pair                                          | file          | the other program                                  |
|-----------------------------------------------|---------------|----------------------------------------------------|
| serial against unrolled, vectorised, parallel | `equivalents` | loops of another kind, as schedules allow          |
| constant against loaded operand               | `equivalents` | constants in a buffer, numbers written in          |
| both branches of every `if`                   | `branches`    | the same, on arguments that reach the other branch |
| arguments after the call against before       | `agreement`   | the same: what it leaves as it was must be so      |

`variants` makes the other programs. A variant counts for the calls in which it is defined as the program is: a race, or
what a variant cannot say, drops it.
"""

from collections.abc import Iterator

from refmlc.oracle.pairs.equivalents import Variant, loop_variants, operand_variants
from refmlc.oracle.reference import Program

__all__ = ["Variant", "variants"]


def variants(program: Program) -> Iterator[Variant]:
    """Programs that must agree with `program`."""
    yield from loop_variants(program)
    yield from operand_variants(program)
