"""The instructions of the family, by the word that says what they do.

| instruction                                              | executed by |
|----------------------------------------------------------|-------------|
| `tcgen05.alloc`, `dealloc`, `relinquish_alloc_permit`    | a warp      |
| `tcgen05.ld`, `st`, `wait::ld`, `wait::st`               | a warp      |
| `tcgen05.cp`                                             | a thread    |
| `tcgen05.fence::before_thread_sync`, `after_thread_sync` | a thread    |

What one thread executes may be under a predicate.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias, cast

from refmlc.lang.ir import tir
from refmlc.lang.ir.ptx import PtxCall
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.threads.matrix.tensor_memory import allocation, copies, fences, products, transfers
from refmlc.run.interp.threads.matrix.tensor_memory.place import TensorInstruction
from refmlc.run.interp.threads.matrix.work import NotExecuted, ThreadWork, WarpWork

Rule: TypeAlias = Callable[[TensorInstruction], WarpWork | ThreadWork]

RULES: Mapping[str, Rule] = {
    "alloc": allocation.allocate,
    "dealloc": allocation.free,
    "relinquish_alloc_permit": allocation.relinquish,
    "mma": products.multiply,
    "commit": products.commit,
    "cp": copies.copy,
    "ld": transfers.load,
    "st": transfers.store,
    "wait::ld": transfers.wait_for_loads,
    "wait::st": transfers.wait_for_stores,
    **dict.fromkeys(("fence::before_thread_sync", "fence::after_thread_sync"), fences.order),
}


def prepare_tensor_memory(scope: Scope, call: tir.Call) -> WarpWork | ThreadWork:
    """An instruction of the family. Fails: NotExecuted."""
    ptx = cast("PtxCall", PtxCall.of(call))
    action = ptx.modifiers[0] if ptx.modifiers else ""
    if action not in RULES:
        raise NotExecuted(f"with the modifiers {' '.join(ptx.modifiers)[:100]}")
    work = RULES[action](TensorInstruction(scope, ptx))
    if ptx.predicate is None:
        return work
    if isinstance(work, WarpWork):
        raise NotExecuted("of a warp under a predicate")
    condition, run = scope.expr(cast("tir.Expr", ptx.predicate)), work.run

    def guarded(frame: Frame) -> None:
        if condition(frame):
            run(frame)

    return ThreadWork(guarded)
