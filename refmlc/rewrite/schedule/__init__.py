"""Steps that rewrite a TensorIR function and keep its meaning: the results of a defined call stay the same bits.

| step                                        | module      | legal where                                       |
|---------------------------------------------|-------------|---------------------------------------------------|
| `split`, `fuse`                             | `loops`     | the order of iterations stays as it is            |
| `add_unit_loop`, `drop_unit_loop`           | `loops`     | the same                                          |
| `reorder`                                   | `order`     | accesses of one element stay in order             |
| `parallel`, `vectorize`, `unroll`, `serial` | `kinds`     | iterations do not touch what others write         |
| `compute_inline`                            | `inline`    | an element is one value wherever it is read       |
| `reverse_compute_inline`                    | `backwards` | the one reader reads at its own axes              |
| `compute_at`, `reverse_compute_at`          | `at`        | what is read is made before, and kept             |
| `cache_read`, `cache_write`                 | `cache`     | all of the buffer is there to be copied           |
| `decompose_reduction`                       | `reduction` | an element is started once, before its first term |
| `blockize`                                  | `blocks`    | values of axes divide between loops in and out    |
| `rfactor`                                   | `factor`    | the terms may be gathered anew to the bit         |
| `tensorize`                                 | `intrinsics` | the block is what the intrinsic's pair describes |
| `bind`                                      | `threads`   | as `parallel`; no thread waits for another        |
| `annotate`, `unannotate`, `storage_align`   | `notes`     | always: they mean nothing                         |
| `set_scope`                                 | `notes`     | there are no threads                              |
| `get_child_blocks`, `get_producers`, …      | `relations` | they change nothing                               |

Shared: `places` (where a step applies), `accesses` (who else touches an element), `boxes`, `whole` (what of a buffer),
`linear` (indices as sums), `described` (a nest and an intrinsic).

Loops are named by their variables, blocks by their names: both survive a step, so that another one can follow.
A step looks at the function alone, and refuses with RM504 what it cannot show to be legal: that says nothing of the
function. RM112: there is no such loop or block.

Decision: two parameters are two pieces of memory, as TVM's own schedules assume; a function called with one tensor
twice may change its meaning. Decision: what is kept is the meaning of calls that are defined; where several things are
undefined, another one may be met first.

Not part of it: which steps are worth it. The answers come from conditions of this package alone, not from those by
which C is generated, so that the two can be held against each other.
"""

from refmlc.rewrite.schedule.at import compute_at, reverse_compute_at
from refmlc.rewrite.schedule.backwards import reverse_compute_inline
from refmlc.rewrite.schedule.blocks import blockize
from refmlc.rewrite.schedule.cache import cache_read, cache_write
from refmlc.rewrite.schedule.factor import rfactor
from refmlc.rewrite.schedule.inline import compute_inline
from refmlc.rewrite.schedule.intrinsics import TensorIntrin, tensorize
from refmlc.rewrite.schedule.kinds import parallel, serial, unroll, vectorize
from refmlc.rewrite.schedule.loops import add_unit_loop, drop_unit_loop, fuse, split
from refmlc.rewrite.schedule.notes import annotate, set_scope, storage_align, unannotate
from refmlc.rewrite.schedule.order import reorder
from refmlc.rewrite.schedule.places import get_block, get_loop, get_loops
from refmlc.rewrite.schedule.reduction import decompose_reduction
from refmlc.rewrite.schedule.relations import get_child_blocks, get_consumers, get_output_blocks, get_producers
from refmlc.rewrite.schedule.threads import bind

__all__ = [
    "TensorIntrin",
    "add_unit_loop",
    "annotate",
    "bind",
    "blockize",
    "cache_read",
    "cache_write",
    "compute_at",
    "compute_inline",
    "decompose_reduction",
    "drop_unit_loop",
    "fuse",
    "get_block",
    "get_child_blocks",
    "get_consumers",
    "get_loop",
    "get_loops",
    "get_output_blocks",
    "get_producers",
    "parallel",
    "reorder",
    "reverse_compute_at",
    "reverse_compute_inline",
    "rfactor",
    "serial",
    "set_scope",
    "split",
    "storage_align",
    "tensorize",
    "unannotate",
    "unroll",
    "vectorize",
]
