"""Stages of generated programs: each writes one buffer, from those that were written before.

| stage       | writes                                                                           |
|-------------|----------------------------------------------------------------------------------|
| `mapped`    | every element from an expression, in a block                                     |
| `reduced`   | a sum, product, minimum, maximum or bits over further axes, with or without init |
| `product`   | a matrix product, a product with a vector, a convolution                         |
| `plain`     | the same as mapped, in loops without a block                                     |
| `scanned`   | each element from the one before                                                 |
| `counted`   | in a `while` loop                                                                |
| `broken`    | in a loop with break and continue                                                |
| `windowed`  | through a `match_buffer` view of a row                                           |
| `viewed`    | through a `decl_buffer` view of all its storage                                  |
| `scattered` | at places that another buffer holds                                              |
| `vectors`   | some lanes at a time                                                             |
| `tiled`     | in an opaque block around another one                                            |

A program that aims at RM305 leaves something out: an init, a row, the first element.
"""

from refmlc.lang.ir import tir
from refmlc.strategies.ranges import RangedBuffer
from refmlc.strategies.reductions import Reductions
from refmlc.strategies.scans import Scans
from refmlc.strategies.vectors import Vectors
from refmlc.strategies.views import Views

OF_REDUCTIONS = ("RM319", "RM320", "RM321", "RM326")


class Stages(Reductions, Scans, Views, Vectors):
    """Makes stages. `regular` programs have loops that may be reordered."""

    def stage(self, target: RangedBuffer) -> list[tir.Stmt]:
        """Statements that write all of `held`, which is ready then (or not, where the program aims at that)."""
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
