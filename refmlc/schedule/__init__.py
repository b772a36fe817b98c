"""Steps that rewrite a TensorIR function and keep its meaning: the results of a defined call stay the same bits.

| step                                        | module      | legal where                                       |
|---------------------------------------------|-------------|---------------------------------------------------|
| `split`, `fuse`                             | `loops`     | the order of iterations stays as it is            |
| `add_unit_loop`, `drop_unit_loop`           | `loops`     | the same                                          |
| `reorder`                                   | `order`     | accesses of one element stay in order             |
| `parallel`, `vectorize`, `unroll`, `serial` | `kinds`     | iterations do not touch what others write         |
| `compute_inline`                            | `inline`    | an element is one value wherever it is read       |
| `cache_read`, `cache_write`                 | `cache`     | all of the buffer is there to be copied           |
| `decompose_reduction`                       | `reduction` | an element is started once, before its first term |

Loops are named by their variables, blocks by their names: both survive a step, so that another one can follow.
A step looks at the function alone, and refuses with RM504 what it cannot show to be legal: that says nothing of the
function. RM112: there is no such loop or block.

Decision: two parameters are two pieces of memory, as TVM's own schedules assume; a function called with one tensor
twice may change its meaning. Decision: what is kept is the meaning of calls that are defined; where several things are
undefined, another one may be met first.

Not part of it: which steps are worth it. The answers come from conditions of this package alone, not from those by
which C is generated, so that the two can be held against each other.
"""

from refmlc.schedule.cache import cache_read, cache_write
from refmlc.schedule.inline import compute_inline
from refmlc.schedule.kinds import parallel, serial, unroll, vectorize
from refmlc.schedule.loops import add_unit_loop, drop_unit_loop, fuse, split
from refmlc.schedule.order import reorder
from refmlc.schedule.places import get_block, get_loop, get_loops
from refmlc.schedule.reduction import decompose_reduction

__all__ = [
    "add_unit_loop",
    "cache_read",
    "cache_write",
    "compute_inline",
    "decompose_reduction",
    "drop_unit_loop",
    "fuse",
    "get_block",
    "get_loop",
    "get_loops",
    "parallel",
    "reorder",
    "serial",
    "split",
    "unroll",
    "vectorize",
]
