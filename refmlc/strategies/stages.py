"""Stages of generated programs: each writes one buffer, from buffers of earlier stages.

| stage               | writes                                                                           |
|---------------------|----------------------------------------------------------------------------------|
| `map_stage`         | every element from an expression, in a block                                     |
| `bare_loops`        | the same, in loops without a block                                               |
| `conditional_stage` | one of two values, by an `if` around the stores                                  |
| `nested_blocks`     | in an opaque block over the first axis, around a block over the others           |
| `reduction`         | a sum, product, minimum, maximum or bits over further axes, with or without init |
| `product`           | a matrix product, a product with a vector, a convolution                         |
| `scan`              | the first element, then each from the previous one                               |
| `while_loop`        | in a `while` loop with a counter in memory                                       |
| `early_exit`        | every element, then some again in a loop with break or continue                  |
| `row_window`        | through a `match_buffer` view of a row                                           |
| `flat_view`         | through a `decl_buffer` view of all its storage                                  |
| `scatter`           | every element, then some at indices that are values                              |
| `vectors`           | some lanes at a time, and the remaining elements one by one                      |

A program that aims at RM305 omits an init, a row, or the first element.
"""

from refmlc.lang.ir import tir
from refmlc.strategies.ranges import RangedBuffer
from refmlc.strategies.reductions import Reductions
from refmlc.strategies.scans import Scans
from refmlc.strategies.vectors import Vectors
from refmlc.strategies.views import Views

OF_REDUCTIONS = ("RM319", "RM320", "RM321", "RM326")


class Stages(Reductions, Scans, Views, Vectors):
    """All stages; `regular` programs have those whose loops may be reordered."""

    def stage(self, target: RangedBuffer) -> list[tir.Stmt]:
        """A stage of the table; nothing, in some programs that aim at RM305."""
        forms = (
            [self.map_stage] * 4
            + [self.reduction] * 4
            + [self.bare_loops] * 2
            + [self.nested_blocks, self.conditional_stage]
        )
        if len(target.shape) == 1:
            forms += [self.scan, self.while_loop, self.early_exit]
        if len(target.shape) >= 1:
            forms += [self.row_window, self.scatter]
        if target.shape and isinstance(target.buffer.shape[-1], tir.IntImm) and target.buffer.dtype.kind != "bool":
            forms += [self.vectors]
        if len(target.shape) in (1, 2) and target.buffer.dtype.kind != "bool":
            forms += [self.product] * 3
        if self.regular:
            plain = [self.map_stage] * 4 + [self.reduction] * 3 + [self.bare_loops]
            forms = plain + [self.product] * 4 if self.product in forms else plain
        if self.aim == "RM314" and target.shape:
            forms += [self.row_window] * 30
        if self.aim in OF_REDUCTIONS:
            forms += [self.reduction] * 20
        statements = self.choices.pick(forms)(target)
        target.ready = True
        if self.spoil("RM305", 30):
            return []
        return statements
