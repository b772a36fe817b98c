"""Statements in which threads meet, as generators that yield where a thread waits (TIR-227).

A statement without a meeting is prepared as outside of threads and runs in one piece. The statements around a meeting
are here, in the order of `refmlc.lang.ir.tir`.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from refmlc.diag.catalogue import BAD_EXTENT
from refmlc.lang.ir import tir, tirx
from refmlc.lang.ir.asynchronous import is_wait
from refmlc.lang.ir.clusters import is_of_cluster
from refmlc.lang.ir.matrix_units import is_of_matrix_unit
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.scopes import is_thread
from refmlc.lang.ir.threads import is_collective, is_turn, tag_of
from refmlc.lang.ir.visit import children
from refmlc.run.interp.asynchronous import waits
from refmlc.run.interp.tensorir.blocks import allocations, bind_axes, with_init
from refmlc.run.interp.tensorir.frame import Frame, Run
from refmlc.run.interp.tensorir.jumps import JUMPS, Breaking, Continuing
from refmlc.run.interp.tensorir.loops import LAUNCHED, as_loop, same_thread
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.threads import collectives, matrix, parts, registers
from refmlc.run.interp.threads.cluster_barriers import prepare_cluster_barrier
from refmlc.run.interp.threads.group import Go, Meeting, Steps
from refmlc.run.interp.threads.launch import threads
from refmlc.run.interp.threads.parts import is_barrier
from refmlc.run.interp.threads.schedule import Always, is_event
from refmlc.run.interp.threads.turns import turn
from refmlc.run.interp.tirx import tile_calls

Place = TypeVar("Place")
LEAVES = (tir.Evaluate, tir.BufferStore, tir.Bind)
"""Statements that may be an event of synchronisation."""


def prepare_steps(scope: Scope, node: tir.Stmt) -> Go:
    """`node` as a generator on frames; the hooks that watch statements are around it."""
    if scope.machine.schedule is not None and isinstance(node, LEAVES) and is_event(node):
        return _after(_letting(node), _unscheduled(scope, node))
    return _unscheduled(scope, node)


def _letting(node: Node) -> Go:
    """A thread lets others run before an event (TIW-012)."""
    meeting = Meeting(node, implied=False, part="thread", orders=False, until=Always())

    def let(_frame: Frame) -> Steps:
        yield meeting

    return let


def _unscheduled(scope: Scope, node: tir.Stmt) -> Go:
    if not scope.exchange.meets(node) or not scope.exchange.is_open(node):
        return _piece(scope, node)
    steps = _prepare(scope, node)
    before, after = scope.machine.hooks.watches("before_stmt"), scope.machine.hooks.watches("after_stmt")
    return _watched(scope, node, steps) if before or after else steps


def _piece(scope: Scope, node: tir.Stmt) -> Go:
    """A statement that runs in one piece; threads meet before one that touches exchanged memory."""
    run = scope.stmt(node)

    def steps(frame: Frame) -> Steps:
        run(frame)
        yield from ()

    return _after(_implied(scope, node), steps)


def _implied(scope: Scope, node: tir.Stmt) -> Go | None:
    """The meeting before a statement that touches exchanged memory; None: it touches none."""
    if not scope.exchange.is_touching(node):
        return None
    meeting = Meeting(node, implied=True)

    def meet(_frame: Frame) -> Steps:
        yield meeting

    return meet


def _prepare(scope: Scope, node: tir.Stmt) -> Go:
    match node:
        case tirx.TilePrimitiveCall():
            return _seen(scope, node, tile_calls.together(scope, node))
        case tir.For():
            return _loop(scope, node)
        case tir.While():
            return _while(scope, node)
        case tir.AttrStmt(node=tir.ThreadVar()) if node.key in LAUNCHED:
            return _loop(scope, as_loop(node))
        case tir.AttrStmt(key="reduce_scope"):
            return collectives.with_reducer(scope, node, prepare_steps)
        case tir.AttrStmt():
            return prepare_steps(scope, node.body)
        case tir.SeqStmt():
            return _sequence(scope, node)
        case tir.IfThenElse():
            return _if(scope, node)
        case tir.SBlockRealize():
            return _block(scope, node)
        case tir.Evaluate() if is_wait(node):
            return _seen(scope, node, waits.prepare_wait(scope, node))
        case tir.Evaluate(value=tir.Call(callee=callee)) if is_of_matrix_unit(callee):
            return _after(_implied(scope, node), _seen(scope, node, matrix.prepare_matrix(scope, node)))
        case tir.Evaluate() if is_turn(node):
            return turn(scope, node)
        case tir.Evaluate() if is_of_cluster(node.value):
            return _seen(scope, node, prepare_cluster_barrier(scope, node))
        case tir.Evaluate() if is_barrier(node):
            return _seen(scope, node, _leaf(scope, node))
        case tir.Evaluate() if is_collective(node):
            steps = collectives.prepare_collective(scope, node)
            return _seen(scope, node, steps) if _is_barrier_of_block(node) else steps
        case _:
            return _leaf(scope, node)


def _is_barrier_of_block(node: tir.Evaluate) -> bool:
    """Whether a collective is a barrier of all threads, and nothing else."""
    match node.value:
        case tir.Call(callee="tvm_storage_sync", args=(tir.StringImm(value=scope), *_)):
            return scope.startswith("shared")
        case tir.Call(callee="tvm_storage_sync", args=(str() as scope, *_)):
            return scope.startswith("shared")
        case _:
            return False


def _leaf(scope: Scope, node: tir.Stmt) -> Go:
    """A statement of expressions, with the values at which the threads of a part of the block meet before it."""
    meet = parts.exchange(scope, *children(node))
    run = None if is_barrier(node) else registers.stores(scope, node)

    def steps(frame: Frame) -> Steps:
        if meet is not None:
            yield from meet(frame)
        if run is not None:
            run(frame)

    return steps


def _after(meet: Go | None, steps: Go) -> Go:
    """What follows a meeting."""
    if meet is None:
        return steps

    def both(frame: Frame) -> Steps:
        yield from meet(frame)
        yield from steps(frame)

    return both


def _seen(scope: Scope, node: tir.Stmt, steps: Go) -> Go:
    """A meeting with nothing to run of its own: hooks around statements see each thread before it."""
    if not scope.machine.hooks.watches("around"):
        return steps
    come = scope.machine.hooks.around(scope, node, lambda _frame: None)

    def seen(frame: Frame) -> Steps:
        come(frame)
        yield from steps(frame)

    return seen


def _watched(scope: Scope, node: tir.Stmt, steps: Go) -> Go:
    before, after = scope.machine.hooks.before_stmt, scope.machine.hooks.after_stmt

    def watched(frame: Frame) -> Steps:
        before(node, frame)
        yield from steps(frame)
        after(node, frame)

    return watched


def _sequence(scope: Scope, node: tir.SeqStmt) -> Go:
    parts: list[tuple[Run | None, Go | None]] = []
    for part in node.seq:
        if scope.exchange.meets(part) or scope.exchange.is_touching(part):
            parts.append((None, prepare_steps(scope, part)))
        else:
            parts.append((registers.stores(scope, part), None))

    def sequence(frame: Frame) -> Steps:
        for run, steps in parts:
            if run is not None:
                run(frame)
            elif steps is not None:
                yield from steps(frame)

    return sequence


def _before(scope: Scope, condition: tir.Expr) -> Go | None:
    """What comes before a condition: meetings in it, and others that run."""
    meet = parts.exchange(scope, condition)
    if scope.machine.schedule is None or not is_event(condition):
        return meet
    let = _letting(condition)
    return let if meet is None else _after(let, meet)


def _if(scope: Scope, node: tir.IfThenElse) -> Go:
    meet = _before(scope, node.condition)
    condition = scope.expr(node.condition)
    then_case = prepare_steps(scope, node.then_case)
    else_case = None if node.else_case is None else prepare_steps(scope, node.else_case)

    def choose(frame: Frame) -> Steps:
        if condition(frame):
            yield from then_case(frame)
        elif else_case is not None:
            yield from else_case(frame)

    return _after(meet, choose)


def _loop(scope: Scope, node: tir.For) -> Go:
    tag = tag_of(node)
    if tag in scope.threads:
        return _same_thread(scope, tag, node)
    meet = parts.exchange(scope, node.min, node.extent)
    steps = threads(scope, node, prepare_steps) if is_thread(tag) else _iterations(scope, node, tag)
    hooks = scope.machine.hooks
    if not (hooks.watches("enter_loop") or hooks.watches("leave_loop")):
        return _after(meet, steps)
    return _after(meet, _around(hooks.enter_loop, hooks.leave_loop, node, steps))


def _around(
    enter: Callable[[Place, Frame], None], leave: Callable[[Place, Frame], None], place: Place, steps: Go
) -> Go:
    """Report that `place` is entered and left; it is left by a jump too, but not by a failure."""

    def reported(frame: Frame) -> Steps:
        enter(place, frame)
        try:
            yield from steps(frame)
        except JUMPS:
            leave(place, frame)
            raise
        leave(place, frame)

    return reported


def _iterations(scope: Scope, node: tir.For, tag: str) -> Go:
    first, extent = scope.int(node.min), scope.int(node.extent)
    step = None if node.step is None else scope.int(node.step)
    domain = (node.min, node.extent) if node.step is None else None
    wrong = scope.failing(BAD_EXTENT, node.span)
    with scope.loop(node.loop_var, domain, tag) as slot:
        body = prepare_steps(scope, node.body)
    charge, span, name = scope.machine.budget.charge_steps, node.span, node.loop_var.name

    def iterate(frame: Frame) -> Steps:
        start, count, stride = first(frame), extent(frame), 1 if step is None else step(frame)
        if count < 0:
            raise wrong(frame, f"the extent of loop `{name}` is {count}")
        if stride <= 0:
            raise wrong(frame, f"the step of loop `{name}` is {stride}")
        with suppress(Breaking):
            for value in range(start, start + count, stride):
                frame[slot] = value
                charge(1, span)
                with suppress(Continuing):
                    yield from body(frame)

    return iterate


def _same_thread(scope: Scope, tag: str, node: tir.For) -> Go:
    check = same_thread(scope, tag, node)
    body = prepare_steps(scope, node.body)

    def steps(frame: Frame) -> Steps:
        check(frame)
        yield from body(frame)

    return steps


def _while(scope: Scope, node: tir.While) -> Go:
    outer, looping = scope.jumps, scope.looping
    scope.looping = True
    meet = _before(scope, node.condition)
    condition = scope.expr(node.condition)
    body = prepare_steps(scope, node.body)
    scope.jumps, scope.looping = outer, looping
    charge, span = scope.machine.budget.charge_steps, node.span

    def repeat(frame: Frame) -> Steps:
        with suppress(Breaking):
            while True:
                if meet is not None:
                    yield from meet(frame)
                if not condition(frame):
                    return
                charge(1, span)
                with suppress(Continuing):
                    yield from body(frame)

    return repeat


def _block(scope: Scope, node: tir.SBlockRealize) -> Go:
    binds, site = bind_axes(scope, node)
    beginning = allocations(scope, node.block)
    if node.block.init is not None:
        beginning = (*beginning, with_init(scope, node.block, site, lambda _frame: None))
    body, holds, hooks = prepare_steps(scope, node.block.body), scope.expr(node.predicate), scope.machine.hooks

    def instance(frame: Frame) -> Steps:
        for part in beginning:
            part(frame)
        yield from body(frame)

    run = instance if site is None else _around(hooks.enter_block, hooks.leave_block, site, instance)

    def steps(frame: Frame) -> Steps:
        if holds(frame):
            for bind in binds:
                bind(frame)
            yield from run(frame)

    return steps
