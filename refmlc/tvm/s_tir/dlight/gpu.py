"""`tvm.s_tir.dlight.gpu`: the rules of TVM, by their names; `refmlc.rewrite.kernels` says what each takes.

| rule               | takes                                                                    |
|--------------------|--------------------------------------------------------------------------|
| `Matmul`           | a product of matrices, a convolution                                     |
| `GEMV`             | a product of a matrix and a vector along the last axis                   |
| `LowBatchGEMV`     | the same, one spatial extent being symbolic: refused where it is one     |
| `Reduction`        | a sum                                                                    |
| `GeneralReduction` | softmax, norms                                                           |
| `Transpose`        | a transposition of a matrix                                              |
| `RMSNorm`          | a root mean square norm                                                  |
| `Fallback`         | whatever has blocks that can be bound                                    |
"""

import warnings
from collections.abc import Callable

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.ir import tir
from refmlc.rewrite.kernels import (
    inline,
    is_general_reduction,
    is_matmul,
    is_matrix_vector,
    is_reduction,
    is_root_mean_square,
    is_transposition,
    kernel_blocks,
    map_to_threads,
)
from refmlc.rewrite.schedule import Schedule
from refmlc.rewrite.transform import deduced_function
from refmlc.tvm.devices import Target
from refmlc.tvm.missing_names import refusal
from refmlc.tvm.s_tir.dlight.rules import ScheduleRule

__all__ = [
    "GEMV",
    "Fallback",
    "GPUScheduleRule",
    "GeneralReduction",
    "LowBatchGEMV",
    "Matmul",
    "RMSNorm",
    "Reduction",
    "Transpose",
]


class GPUScheduleRule(ScheduleRule):
    """A rule for targets that are GPUs."""

    def is_target_available(self, target: Target) -> bool:
        """Whether the target is one."""
        return "gpu" in target.keys


class ThreadRule(GPUScheduleRule):
    """A rule that binds the spatial loops of the functions that it takes."""

    def takes(self, schedule: Schedule) -> bool:
        """Whether the function is of the rule's kind. May take steps on the schedule, which is dropped."""
        raise NotImplementedError

    def apply(self, func: tir.PrimFunc, target: Target, tunable: bool) -> Schedule | None:
        """The schedule; None for other functions and targets, and, with a warning, for symbolic extents."""
        del tunable
        if not isinstance(func, tir.PrimFunc) or not self.is_target_available(target):
            return None
        func = _with_regions(func)
        if not self.takes(Schedule(func)):
            return None
        schedule = Schedule(func)
        blocks = kernel_blocks(schedule)
        if blocks is None:
            return None
        try:
            map_to_threads(schedule, inline(schedule, blocks), target.max_num_threads)
        except RefmlcError as reason:
            warnings.warn(f"a function is left as it is: {reason.diagnostic.message}", stacklevel=4)
            return None
        return schedule


def _with_regions(func: tir.PrimFunc) -> tir.PrimFunc:
    deduced = deduced_function(func)
    return deduced if isinstance(deduced, tir.PrimFunc) else func


def _rule(name: str, doc: str, takes: Callable[[Schedule], bool]) -> type[ThreadRule]:
    return type(name, (ThreadRule,), {"__doc__": doc, "takes": lambda _, schedule: takes(schedule)})


Matmul = _rule("Matmul", "Products of matrices.", is_matmul)
GEMV = _rule("GEMV", "Products of a matrix and a vector.", is_matrix_vector)
Reduction = _rule("Reduction", "Sums.", is_reduction)
GeneralReduction = _rule("GeneralReduction", "Reductions along the same last axes.", is_general_reduction)
Transpose = _rule("Transpose", "Transpositions.", is_transposition)
RMSNorm = _rule("RMSNorm", "Root mean square norms.", is_root_mean_square)
Fallback = _rule("Fallback", "Any function of blocks.", lambda _: True)


class LowBatchGEMV(GPUScheduleRule):
    """Products of a matrix and a few vectors, whose number is symbolic."""

    def __init__(self, bucket: int = 4) -> None:
        self.bucket = bucket

    def apply(self, func: tir.PrimFunc, target: Target, tunable: bool) -> None:
        """None, where all extents are numbers. Fails: RM504 where one spatial extent of a sum is symbolic."""
        del tunable
        if not isinstance(func, tir.PrimFunc) or not self.is_target_available(target):
            return
        blocks = kernel_blocks(Schedule(_with_regions(func))) or []
        for block in blocks:
            symbolic = [axis for axis in block.iters if not isinstance(axis.extent, tir.IntImm)]
            if block.is_reduction() and [axis.kind for axis in symbolic] == ["S"]:
                message = "`LowBatchGEMV` is not supported: it binds loops of symbolic extents"
                raise fail(UNSUPPORTED_CONSTRUCT, message, func.span)


__getattr__ = refusal(__name__, __all__)
