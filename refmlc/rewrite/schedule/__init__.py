"""Steps that rewrite a TensorIR function and keep its meaning: the results of a defined call stay the same bits.

>>> schedule = Schedule(module, validate=True)
>>> block = schedule.get_block("product")
>>> i, j, k = schedule.get_loops(block)
>>> outer, inner = schedule.split(i, factors=[None, 4])
>>> schedule.parallel(outer)
>>> schedule.mod.show(), print(schedule.trace)

| step                                        | file         | legal where                                       |
|---------------------------------------------|--------------|---------------------------------------------------|
| `split`, `fuse`                             | `loops`      | the order of iterations stays as it is            |
| `add_unit_loop`, `drop_unit_loop`           | `unit_loops` | the same                                          |
| `reorder`                                   | `order`      | accesses of one element stay in order             |
| `parallel`, `vectorize`, `unroll`, `serial` | `kinds`      | iterations do not touch what others write         |
| `compute_inline`                            | `inline`     | an element is one value wherever it is read       |
| `reverse_compute_inline`                    | `backwards`  | the one reader reads at its own axes              |
| `compute_at`, `reverse_compute_at`          | `at`         | what is read is made before, and kept             |
| `cache_read`, `cache_write`                 | `cache`      | all of the buffer is there to be copied           |
| `decompose_reduction`                       | `reduction`  | an element is started once, before its first term |
| `blockize`                                  | `blocks`     | values of axes divide between loops in and out    |
| `rfactor`                                   | `factor`     | the terms may be gathered anew to the bit         |
| `tensorize`                                 | `intrinsics` | the block is what the intrinsic's pair describes  |
| `bind`                                      | `threads`    | as `parallel`; no thread waits for another        |
| `annotate`, `unannotate`, `storage_align`   | `notes`      | always: they mean nothing                         |
| `set_scope`                                 | `notes`      | there are no threads                              |
| `get_child_blocks`, `get_producers`, …      | `relations`  | they change nothing                               |
| `sample_perfect_tile`, `sample_…`           | `sampling`   | they change nothing                               |

A step is one file: the step as a function of a `PrimFunc`, and a class with the method that TVM's schedule has.
`Schedule` is all of these classes together: a new file is registered here (docs/how-to/add-a-schedule-step.md).

| shared                  | holds                                                                              |
|-------------------------|------------------------------------------------------------------------------------|
| `session`               | what every method uses: the module as it is, handles, how a step is taken          |
| `handles`, `trace`      | `BlockRV`, `LoopRV`, `ExprRV`, which survive steps; the steps that were taken      |
| `draws`                 | targets drawn at random, for `refmlc.strategies`                                   |
| `places`                | where a step applies                                                               |
| `accesses`              | who else touches an element                                                        |
| `boxes`, `whole`        | what of a buffer is touched, whether all of it                                     |
| `linear`, `digits`      | indices as sums, and as digits of sums                                             |
| `described`             | a nest compared with the description of an intrinsic                               |

In functions, loops are named by their variables, blocks by their names: both survive a step, so that another one can
follow. A step looks at the function alone, and refuses with RM504 what it cannot show to be legal: that says nothing of
the function. RM112: there is no such loop or block. Methods fail as the steps do, with RM112 also where a handle holds
nothing any more, and with `validate`, with RM705 where the step changes the meaning (`InvalidStep`). A validator knows
nothing of the rules: `refmlc.testing.Validation` executes calls before and after a step. A step that fails changes
nothing. `check_legality=False` lets a step through of which only the order of accesses is in doubt (`reorder`,
`parallel`, `vectorize`, `bind`, `compute_at`, `reverse_compute_at`): with `validate`, running decides then.

Decision: two parameters are two pieces of memory, as TVM's own schedules assume; a function called with one tensor
twice may change its meaning. Decision: what is kept is the meaning of calls that are defined; where several things are
undefined, another one may be met first.

Not part of it: which steps are worth it (`refmlc.tvm.meta_schedule` searches for those). The answers come from
conditions of this package alone, not from those by which C is generated, so that each can be checked against the
other.
"""

from collections.abc import Mapping
from typing import NoReturn

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.rewrite.schedule.at import MoveSteps, compute_at, reverse_compute_at
from refmlc.rewrite.schedule.backwards import ReverseInlineSteps, reverse_compute_inline
from refmlc.rewrite.schedule.blocks import BlockSteps, blockize
from refmlc.rewrite.schedule.cache import CacheSteps, cache_read, cache_write
from refmlc.rewrite.schedule.draws import Draw
from refmlc.rewrite.schedule.factor import FactorSteps, rfactor
from refmlc.rewrite.schedule.handles import BlockRV, ExprRV, LoopRV
from refmlc.rewrite.schedule.inline import InlineSteps, compute_inline
from refmlc.rewrite.schedule.intrinsics import IntrinsicSteps, TensorIntrin, tensorize
from refmlc.rewrite.schedule.kinds import KindSteps, parallel, serial, unroll, vectorize
from refmlc.rewrite.schedule.loops import LoopSteps, fuse, split
from refmlc.rewrite.schedule.notes import NoteSteps, annotate, set_scope, storage_align, unannotate
from refmlc.rewrite.schedule.order import OrderSteps, reorder
from refmlc.rewrite.schedule.places import get_block, get_loop, get_loops
from refmlc.rewrite.schedule.reduction import ReductionSteps, decompose_reduction
from refmlc.rewrite.schedule.relations import (
    Relations,
    get_child_blocks,
    get_consumers,
    get_output_blocks,
    get_producers,
)
from refmlc.rewrite.schedule.sampling import SamplingSteps
from refmlc.rewrite.schedule.session import Session, Validator
from refmlc.rewrite.schedule.threads import ThreadSteps, bind
from refmlc.rewrite.schedule.trace import Step, Trace
from refmlc.rewrite.schedule.unit_loops import UnitLoopSteps, add_unit_loop, drop_unit_loop


class Schedule(
    LoopSteps,
    OrderSteps,
    KindSteps,
    UnitLoopSteps,
    InlineSteps,
    CacheSteps,
    ReductionSteps,
    ReverseInlineSteps,
    MoveSteps,
    FactorSteps,
    BlockSteps,
    IntrinsicSteps,
    ThreadSteps,
    NoteSteps,
    Relations,
    SamplingSteps,
    Session,
):
    """A module that is changed step by step, under TVM's names; with `validate`, each step is checked by running."""

    def __getattr__(self, name: str) -> object:
        """A method of TVM's schedule that is not here, which refuses the step when it is called."""
        for reason, names in NOT_HERE.items():
            if name in names:
                return Refusal(name, reason)
        message = f"'Schedule' object has no attribute {name!r}"
        raise AttributeError(message)


class Refusal:
    """A method that is not here."""

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self.reason = reason

    def __call__(self, *_args: object, **_options: object) -> NoReturn:
        """Refuse the step by its name. Fails: RM504."""
        raise fail(UNSUPPORTED_CONSTRUCT, f"`Schedule.{self.name}` is not supported: {self.reason}")


NOT_HERE: Mapping[str, tuple[str, ...]] = {
    "a search here has no postprocessors": ("enter_postproc",),
    "it is of how TVM keeps a schedule": ("func_working_on", "get_sref", "remove_rv", "state"),
    "no step here changes what is stored where": (
        "cache_index", "cache_inplace", "can_decompose_padding", "decompose_padding", "pad_einsum", "read_at",
        "reindex", "reindex_cache_read", "reindex_cache_write", "rolling_buffer", "transform_block_layout",
        "transform_layout", "write_at",
    ),
    "it may change what the function means": (
        "annotate_buffer_access", "unsafe_hide_buffer_access", "unsafe_set_dtype",
    ),
    "this step is not built": ("fuse_reduction_epilogue", "loop_partition", "merge", "reorder_block_iter_var"),
}  # fmt: skip
"""Methods of TVM's schedule that are refused by name, by the reason; a step that is built leaves the list."""

DRAWS: Mapping[str, Draw] = {
    name: draw for kind in Schedule.__bases__ if issubclass(kind, Session) for name, draw in kind.draws.items()
}
"""Targets drawn at random for each step that can be taken on a function without more knowledge of it."""

__all__ = [
    "DRAWS",
    "BlockRV",
    "ExprRV",
    "LoopRV",
    "Schedule",
    "Step",
    "TensorIntrin",
    "Trace",
    "Validator",
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
