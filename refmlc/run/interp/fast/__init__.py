"""The fast way of the commonest nodes: closures of their own, to the bit the same as the cases of the `match`.

The interpreter asks here first, in four places (`prepare_expr`, `prepare_stmt`, the init of a block, a loop); None
means that the case of the `match` is executed. `Machine(fast=False)` never asks: results, failures and steps are the
same.

| part       | holds                                                              |
|------------|--------------------------------------------------------------------|
| `numbers`  | scalar operators: integers, floats, comparisons                    |
| `elements` | loads and stores of single elements, by the rank of the buffer     |
| `offsets`  | offsets as sums over loop variables, computed once per loop        |
| `inits`    | whether an instance of a block begins a reduction                  |
"""

from refmlc.lang.ir import tir
from refmlc.run.interp.fast import elements, inits, numbers
from refmlc.run.interp.tensorir.elements import is_undef, to_live_memory
from refmlc.run.interp.tensorir.frame import Eval, Run
from refmlc.run.interp.tensorir.loop_sums import LoopSums
from refmlc.run.interp.tensorir.placed import is_placed
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.tensorir.vectors import has_lanes


def expression(scope: Scope, node: tir.Expr) -> Eval | None:
    """The closure of a scalar operator, or of an element that no hook sees read."""
    if not scope.machine.fast:
        return None
    hooks = scope.machine.hooks
    match node:
        case tir.Apply() if not any(arg.dtype.is_vector for arg in node.args):
            return numbers.apply(scope, node)
        case tir.BufferLoad(buffer=buffer) if is_placed(buffer):
            return None
        case tir.BufferLoad() if not (has_lanes(node) or hooks.watches("load") or hooks.watches("read_element")):
            return elements.load(scope, node)
        case _:
            return None


def statement(scope: Scope, node: tir.Stmt) -> Run | None:
    """The closure of a store of an element that no hook sees written."""
    if not scope.machine.fast or not isinstance(node, tir.BufferStore) or is_placed(node.buffer):
        return None
    hooks = scope.machine.hooks
    if has_lanes(node) or is_undef(node.value) or hooks.watches("store") or hooks.watches("write_element"):
        return None
    run = elements.store(scope, node)
    return to_live_memory(scope, node, run) if scope.machine.frees_memory else run


def init(scope: Scope, reductions: list[tir.IterVar], run_init: Run, body: Run) -> Run | None:
    """The closure that runs the init of a block where its reductions begin, and its body."""
    return inits.init(scope, reductions, run_init, body) if scope.machine.fast else None


def loop_sums(scope: Scope, node: tir.For) -> LoopSums | None:
    """The sums of the loop that is prepared next; None: its entry is not seen by who continues amidst a run."""
    machine = scope.machine
    return scope.loop_sums(node.extent) if machine.fast and not machine.hooks.watches("around") else None
