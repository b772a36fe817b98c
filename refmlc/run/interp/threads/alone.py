"""What a thread finds out alone.

| call                    | value                                                                              |
|-------------------------|------------------------------------------------------------------------------------|
| `T.cuda.thread_rank()`  | the number of the thread in its block, x fastest                                   |
| `T.cuda.ffs_u32(x)`     | the place of the lowest bit that is 1, counted from 1; 0 where there is none       |
| `T.cuda.thread_fence()` | none: a fence (TIA-031), which orders accesses                                     |
"""

from collections.abc import Callable, Mapping
from typing import cast

from refmlc.diag.catalogue import UNSUPPORTED_INTRINSIC
from refmlc.lang.ir import tir
from refmlc.run.interp.tensorir.frame import Eval, Frame
from refmlc.run.interp.tensorir.scope import Scope


def _rank(scope: Scope, node: tir.Call) -> Eval:  # TIW-004
    axes = [scope.threads[tag] for tag in ("threadIdx.x", "threadIdx.y", "threadIdx.z") if tag in scope.threads]
    if not axes:
        message = f"`T.{node.callee}` is executed by the threads of a kernel only"
        return scope.unsupported(UNSUPPORTED_INTRINSIC, message, node.span)
    parts = [(scope.int(var), scope.int(extent)) for var, extent in axes]

    def rank(frame: Frame) -> object:
        number, size = 0, 1
        for index, extent in parts:
            number += size * index(frame)
            size *= extent(frame)
        return number

    return rank


def _first_bit(scope: Scope, node: tir.Call) -> Eval:  # TIW-003
    value = scope.int(cast("tir.Expr", node.args[0]))

    def first_bit(frame: Frame) -> object:
        bits = value(frame)
        return (bits & -bits).bit_length()

    return first_bit


def _fence(scope: Scope, node: tir.Call) -> Eval:  # TIA-031
    del node
    hooks = scope.machine.hooks
    return (lambda frame: hooks.fence(FENCE, frame)) if hooks.watches("fence") else lambda _frame: None


FENCE = ("acq_rel", "gpu")
EXECUTED: Mapping[str, Callable[[Scope, tir.Call], Eval]] = {
    "cuda.thread_rank": _rank,
    "cuda.ffs_u32": _first_bit,
    "cuda.thread_fence": _fence,
}
