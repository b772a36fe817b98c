"""Collectives, which threads execute together: the barrier, and the reduction over threads.

| intrinsic                                     | meaning                                                              |
|-----------------------------------------------|----------------------------------------------------------------------|
| `tvm_storage_sync("shared")`                  | all threads of the block wait for each other; outside of threads     |
|                                               | nothing happens                                                      |
| `tvm_thread_allreduce(n, n values, condition, | the values of all threads that differ in the axes only are folded by |
| n elements for results, axes)`                | the reducer of the attribute around, in the order of their indices;  |
|                                               | each of these threads gets the result                                |

A thread whose condition is false counts with the identity.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.ir import tir
from refmlc.lang.ir.attrs import CommReducer
from refmlc.run.interp.tensorir.frame import Eval, Frame, Run, Slot
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.threads.group import Go, Meeting, Posted, Steps


def prepare_collective(scope: Scope, node: tir.Evaluate) -> Go:
    """A barrier or a reduction, executed by a thread of a group."""
    call = cast("tir.Call", node.value)
    if call.callee == "tvm_thread_allreduce":
        return _reduce(scope, call)
    if not _text(call).startswith("shared"):
        return _without_meeting(scope.stmt(node))
    meets = Meeting(call, implied=False)

    def wait(_frame: Frame) -> Steps:
        yield meets

    return wait


def _without_meeting(run: Run) -> Go:
    def steps(frame: Frame) -> Steps:
        run(frame)
        yield from ()

    return steps


def _text(call: tir.Call) -> str:
    scope = call.args[0] if call.args else ""
    return scope.value if isinstance(scope, tir.StringImm) else str(scope)


def _sync(scope: Scope, node: tir.Call) -> Eval:  # TIR-227
    """A barrier that is reached without a group of threads around it in its function."""
    name = _text(node)
    failure = scope.failing(UNSUPPORTED_CONSTRUCT, node.span)
    machine = scope.machine

    def wait(frame: Frame) -> object:
        if not name.startswith("shared"):
            raise failure(frame, f"a barrier of scope `{name}` is not executed")
        if machine.groups:
            raise failure(frame, "a barrier in a function that threads call is not executed")
        return None

    return wait


def _alone(scope: Scope, node: tir.Call) -> Eval:  # TIR-228
    return scope.unsupported(UNSUPPORTED_CONSTRUCT, "`T.tvm_thread_allreduce` is executed by threads only", node.span)


EXECUTED: Mapping[str, Callable[[Scope, tir.Call], Eval]] = {
    "tvm_storage_sync": _sync,
    "tvm_thread_allreduce": _alone,
}


def with_reducer(scope: Scope, node: tir.AttrStmt, prepare: Callable[[Scope, tir.Stmt], Go]) -> Go:
    """The body of an attribute that declares the reducer of reductions within."""
    outer = scope.reducer
    scope.reducer = node.node if isinstance(node.node, CommReducer) else None
    steps = prepare(scope, node.body)
    scope.reducer = outer
    return steps


@dataclass(frozen=True, slots=True)
class Reducer:
    """The function of two tuples of values, and its identity."""

    lhs: tuple[Slot[object], ...]
    rhs: tuple[Slot[object], ...]
    result: tuple[Eval, ...]
    identity: tuple[Eval, ...]

    def fold(self, frame: Frame, parts: list[Posted]) -> tuple[object, ...]:
        """Fold the values in order; a thread that does not count gives the identity."""
        total: tuple[object, ...] | None = None
        for part in parts:
            values = part.values if part.counts else tuple([value(frame) for value in self.identity])
            if total is not None:
                for slots, side in ((self.lhs, total), (self.rhs, values)):
                    for slot, value in zip(slots, side, strict=True):
                        frame[slot] = value
                values = tuple([result(frame) for result in self.result])
            total = values
        return () if total is None else total


def _reducer(scope: Scope, reducer: CommReducer) -> Reducer:
    lhs, rhs = (tuple(scope.layout.declare(var) for var in side) for side in (reducer.lhs, reducer.rhs))
    result = tuple(scope.expr(value) for value in reducer.result)
    return Reducer(lhs, rhs, result, tuple(scope.expr(value) for value in reducer.identity))


def _reduce(scope: Scope, call: tir.Call) -> Go:  # TIR-228
    """Fails: RM504 if the call does not have the form that TVM writes."""
    parts = _parts(call)
    if parts is None or scope.reducer is None:
        return _without_meeting(
            cast("Run", scope.unsupported(UNSUPPORTED_CONSTRUCT, "not a reduction as TVM writes it", call.span))
        )
    summands, condition, loads, axes = parts
    reducer = _reducer(scope, scope.reducer)
    values, counts = tuple(scope.expr(value) for value in summands), scope.expr(condition)
    over = {scope.slot(var) for var in axes}
    slots = [slot for tag, slot in scope.axes.items() if tag in scope.threads and tag.startswith("threadIdx")]
    outer_slots = tuple(slot for slot in slots if slot not in over)
    results = tuple(tir.Var(f"result_{number}", load.dtype) for number, load in enumerate(loads))
    places = tuple(scope.layout.declare(var) for var in results)
    stores = [
        scope.stmt(tir.BufferStore(load.buffer, var, load.indices, span=call.span))
        for load, var in zip(loads, results, strict=True)
    ]
    meets, group = Meeting(call, implied=False), scope.group

    def reduce(frame: Frame) -> Steps:
        members = frame[group]
        assert members is not None  # noqa: S101 - threads are in a group
        outer_indices = tuple([frame[slot] for slot in outer_slots])
        members.post(call, Posted(outer_indices, tuple([value(frame) for value in values]), bool(counts(frame))))
        yield meets
        total = members.folded.get((call, outer_indices))
        if total is None:
            parts = [part for part in members.met[call] if part.outer_indices == outer_indices]
            total = members.folded[call, outer_indices] = reducer.fold(frame, parts)
        for place, value in zip(places, total, strict=True):
            frame[place] = value
        for store in stores:
            store(frame)

    return reduce


def _parts(
    call: tir.Call,
) -> tuple[tuple[tir.Expr, ...], tir.Expr, tuple[tir.BufferLoad, ...], tuple[tir.Var, ...]] | None:
    """The values, the condition, the elements for the results, and the variables of the axes."""
    match call.args:
        case (tir.IntImm(value=count), *operands) if count > 0 and len(operands) > 2 * count:
            values, condition = tuple(operands[:count]), operands[count]
            loads = tuple(load for load in operands[count + 1 : 2 * count + 1] if isinstance(load, tir.BufferLoad))
            axes = tuple(var for var in operands[2 * count + 1 :] if isinstance(var, tir.Var))
            if len(loads) == count and len(axes) == len(operands) - 2 * count - 1:
                return cast("tuple[tir.Expr, ...]", values), cast("tir.Expr", condition), loads, axes
            return None
        case _:
            return None
