"""`tvm.s_tir.dlight`: rules that schedule functions for GPUs without a search.

| module     | holds                                                                                  |
|------------|----------------------------------------------------------------------------------------|
| `rules`    | `ScheduleRule`, for rules of a user; the pass `ApplyDefaultSchedule`                   |
| `gpu`      | the rules by their names                                                               |
| `analysis` | the blocks of a function, which rules look at                                          |

Decision: a rule takes the functions that TVM's rule of its name takes, and makes of them a program bound to threads
that means the same to the bit. It is not TVM's program: its rules gather sums in another order, which changes their
bits, and choose tiles for memories that refmlc does not have. Here each spatial element belongs to one thread, as it
does for TVM's `Fallback`. A function that no step can bind, one of symbolic extents, stays as it is, with a warning.
"""

from refmlc.tvm.missing_names import refusal
from refmlc.tvm.s_tir.dlight import analysis, gpu, rules
from refmlc.tvm.s_tir.dlight.rules import ApplyDefaultSchedule, ScheduleRule

__all__ = ["ApplyDefaultSchedule", "ScheduleRule", "analysis", "gpu", "rules"]

_REASONS = {
    "cpu": "its rules tile for caches; refmlc's own search (`tvm.meta_schedule`) measures schedules of the CPU",
    "adreno": "its rules are for one family of GPUs",
    "benchmark": "it measures kernels on a GPU",
}

__getattr__ = refusal(__name__, __all__, reasons=_REASONS)
