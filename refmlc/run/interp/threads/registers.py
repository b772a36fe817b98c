"""Registers whose value nobody needs: what a lane brings to a shuffle, or gets from one (TIW-009), or moves (TIW-011).

| a statement that stores to a register of a shuffle                        | does                                |
|---------------------------------------------------------------------------|-------------------------------------|
| and reads such a register that was never written                          | leaves the element unwritten        |
| and takes the value of a lane that has not come                           | the same                            |
| is `x[i] = y[j]` between two memories of one thread, without a value there | the same                            |
| is the same, with a value there that has no number                        | moves it                            |
| anything else                                                             | what it says                        |

Any other use of such an element reads one that was never written (RM305).
"""

from collections.abc import Callable, Iterator
from typing import cast

from refmlc.diag.catalogue import UNINITIALISED, UNSUPPORTED_CONSTRUCT
from refmlc.diag.errors import RefmlcError
from refmlc.lang.dtypes import VOID
from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import children
from refmlc.run.interp.tensorir.frame import Eval, Frame, Run
from refmlc.run.interp.tensorir.opaque_values import held, holding
from refmlc.run.interp.tensorir.scope import Scope


class Missing:
    """What stands for a value that a thread does not have: why, as an exception, where it is used after all."""

    def __init__(self, failure: Callable[[Frame], Exception]) -> None:
        self.failure = failure


def brought(scope: Scope, operand: tir.Expr) -> Eval:
    """The value that a lane brings to a shuffle: missing where a register was never written."""
    value = scope.expr(operand)
    if not is_register(scope, operand):
        return value

    def bring(frame: Frame) -> object:
        try:
            return value(frame)
        except RefmlcError as failure:
            if failure.code is not UNINITIALISED:
                raise
            found = failure
            return Missing(lambda _frame: found)

    return bring


def is_register(scope: Scope, node: tir.Expr) -> bool:
    """Whether an expression is an element of memory that shuffles read or write, of one thread."""
    return isinstance(node, tir.BufferLoad) and scope.exchange.is_exchanged(node.buffer)


def stores(scope: Scope, node: tir.Stmt) -> Run:
    """The statement as a closure; a store to a register of a shuffle may leave it without a value."""
    run = scope.stmt(node)
    if not isinstance(node, tir.BufferStore):
        return run
    moved = _is_move(scope, node)
    if not moved and not scope.exchange.is_exchanged(node.buffer):
        return run
    parts = list(_evaluated(scope, node.value))
    sources = [part for part in parts if isinstance(part, tir.BufferLoad)]
    loads = [scope.expr(load) for load in sources if load is moved or is_register(scope, load)]
    results = [scope.exchanged[part] for part in parts if isinstance(part, tir.Call) and part in scope.exchanged]
    clear = scope.stmt(tir.BufferStore(node.buffer, tir.Call("undef", (), VOID), node.indices, span=node.span))

    def lacks(frame: Frame) -> bool:
        return any(_is_unwritten(load, frame) for load in loads) or any(
            isinstance(value, Missing) for slot in results for value in cast("tuple[object, ...]", frame[slot])
        )

    def store(frame: Frame) -> None:
        if lacks(frame):
            clear(frame)
        else:
            run(frame)

    return store if moved is None else _moving(scope, node, moved, store)


def _moving(scope: Scope, node: tir.BufferStore, load: tir.BufferLoad, store: Run) -> Run:
    """The same of a move, which also moves a value without a number."""
    value = held(scope, load)
    hold = holding(scope, tir.BufferLoad(node.buffer, node.indices, span=node.span))

    def move(frame: Frame) -> None:
        try:
            store(frame)
        except RefmlcError as failure:
            found = value(frame) if failure.code is UNSUPPORTED_CONSTRUCT else None
            if found is None:
                raise
            hold(frame, found)

    return move


def _is_move(scope: Scope, node: tir.BufferStore) -> tir.BufferLoad | None:  # TIW-011
    """The element that a store moves from memory of one thread to memory of one thread as it is."""
    load = node.value
    if not isinstance(load, tir.BufferLoad) or load.buffer.dtype != node.buffer.dtype or load.dtype.is_vector:
        return None
    return load if {load.buffer.scope, node.buffer.scope} == {"local"} and scope.exchange.lowered else None


def _evaluated(scope: Scope, node: tir.Expr) -> Iterator[Node]:
    """The parts of a value that are evaluated after the threads have met."""
    yield node
    if not (isinstance(node, tir.Call) and node in scope.exchanged):
        for child in children(node):
            if not isinstance(child, tir.Buffer):
                yield from _evaluated(scope, cast("tir.Expr", child))


def _is_unwritten(load: Eval, frame: Frame) -> bool:
    try:
        load(frame)
    except RefmlcError as failure:
        return failure.code is UNINITIALISED
    return False
