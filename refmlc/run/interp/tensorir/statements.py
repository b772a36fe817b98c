"""Statements (TIR-201 … TIR-216): the meaning of each kind, in the order of `refmlc.lang.ir.tir`."""

from typing import assert_never, cast

from refmlc.diag import fail
from refmlc.diag.catalogue import ASSERT_FAILED, BAD_LOOP_CONTROL, UNSUPPORTED_CONSTRUCT
from refmlc.lang.ir import tir, tirx
from refmlc.lang.ir.threads import tag_of
from refmlc.lang.ir.unexecuted import unexecuted
from refmlc.run.interp import fast
from refmlc.run.interp.tensorir import calls, elements, events, vectors
from refmlc.run.interp.tensorir.blocks import realize
from refmlc.run.interp.tensorir.buffers import allocate, declare
from refmlc.run.interp.tensorir.frame import Frame, Run, in_order
from refmlc.run.interp.tensorir.jumps import OF_A_THREAD, Breaking, Continuing, Returning
from refmlc.run.interp.tensorir.loops import LAUNCHED, as_loop, loop, while_loop, with_events
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.threads.launch import launch
from refmlc.run.interp.threads.statements import prepare_steps
from refmlc.run.interp.tirx import tile_calls


def prepare_stmt(scope: Scope, node: tir.Stmt) -> Run:
    """`node` as a closure on frames: the fast one of its kind, if there is one, else its meaning.

    The hooks that watch statements are around it.
    """
    run = fast.statement(scope, node) or _meaning(scope, node)
    hooks = scope.machine.hooks
    match hooks.watches("before_stmt"), hooks.watches("after_stmt"):
        case True, True:
            run = events.both(hooks.before_stmt, hooks.after_stmt, node, run)
        case True, False:
            run = events.before(hooks.before_stmt, node, run)
        case False, True:
            run = events.after(hooks.after_stmt, node, run)
    return hooks.around(scope, node, run) if hooks.watches("around") else run


def _meaning(scope: Scope, node: tir.Stmt) -> Run:
    match node:
        case tir.Bind():  # TIR-201
            return _bind(scope, node)
        case tir.AssertStmt():  # TIR-202
            return _assert(scope, node)
        case tir.For():  # TIR-203
            return _loop(scope, node)
        case tir.While():  # TIR-204
            return while_loop(scope, node)
        case tir.BufferStore():  # TIR-205
            run = vectors.store(scope, node) if vectors.has_lanes(node) else elements.store(scope, node)
            return elements.to_live_memory(scope, node, run) if scope.machine.frees_memory else run
        case tir.AllocBuffer():  # TIR-206
            return allocate(scope, node.buffer, f"buffer `{node.buffer.name}`")
        case tir.DeclBuffer():  # TIR-207
            return declare(scope, node)
        case tir.AttrStmt(node=tir.ThreadVar()) if node.key in LAUNCHED:  # TIR-208
            return _loop(scope, as_loop(node), node)
        case tir.AttrStmt(key=tirx.DEVICE_ENTRY):  # TIX-001, as loops
            return _refused(scope, node)
        case tir.AttrStmt():  # TIR-209
            return scope.stmt(node.body)
        case tir.SeqStmt():  # TIR-210
            return in_order(tuple(scope.stmt(part) for part in node.seq))
        case tir.IfThenElse():  # TIR-211
            return _if(scope, node)
        case tir.Evaluate():  # TIR-212
            return _evaluate(scope, node)
        case tir.Break():  # TIR-213
            return _jump(scope, node, Breaking)
        case tir.Continue():  # TIR-214
            return _jump(scope, node, Continuing)
        case tir.Return():  # TIR-215
            return _return(scope, node)
        case tir.SBlockRealize():  # TIR-216
            return realize(scope, node)
        case tirx.ScopeIdDef():  # TIX-002, as bindings
            return _refused(scope, node)
        case tirx.TilePrimitiveCall():  # TIX-005
            return tile_calls.alone(scope, node)
        case _:
            assert_never(node)


def _refused(scope: Scope, node: tir.Stmt) -> Run:
    for var in node.ids if isinstance(node, tirx.ScopeIdDef) else ():
        scope.layout.declare(var)
    stop = scope.unsupported(UNSUPPORTED_CONSTRUCT, f"`{unexecuted(node)}` is not executed here", node.span)
    return lambda frame: cast("None", stop(frame))


def _loop(scope: Scope, node: tir.For, source: tir.Stmt | None = None) -> Run:
    """A loop, or the launch of a block of threads that meet (TIR-227). `source` is its statement, if not `node`."""
    nested = scope.steps or any(tag.startswith("threadIdx") for tag in scope.threads)
    if nested or not tag_of(node).startswith("threadIdx") or not scope.exchange.meets(source or node):
        return loop(scope, node)
    return with_events(scope, node, launch(scope, node, prepare_steps))


def _bind(scope: Scope, node: tir.Bind) -> Run:
    value = scope.expr(node.value)
    slot = scope.layout.declare(node.var)

    def bind(frame: Frame) -> None:
        frame[slot] = value(frame)

    return bind


def _assert(scope: Scope, node: tir.AssertStmt) -> Run:
    condition = scope.expr(node.condition)
    failure = scope.failing(ASSERT_FAILED, node.span)
    message = "".join(node.message)

    def check(frame: Frame) -> None:
        if not condition(frame):
            raise failure(frame, f"{node.kind}: {message}" if message else node.kind)

    return check


def _if(scope: Scope, node: tir.IfThenElse) -> Run:
    condition = scope.expr(node.condition)
    with scope.assuming(node.condition, holds=True):
        then_case = scope.stmt(node.then_case)
    with scope.assuming(node.condition, holds=False):
        else_case = None if node.else_case is None else scope.stmt(node.else_case)

    def choose(frame: Frame) -> None:
        if condition(frame):
            then_case(frame)
        elif else_case is not None:
            else_case(frame)

    return choose


def _evaluate(scope: Scope, node: tir.Evaluate) -> Run:
    value = calls.effect(scope, node.value) if isinstance(node.value, tir.Call) else scope.expr(node.value)

    def evaluate(frame: Frame) -> None:
        value(frame)

    return evaluate


def _jump(scope: Scope, node: tir.Break | tir.Continue, end: type[Exception]) -> Run:
    if not scope.looping:
        raise fail(BAD_LOOP_CONTROL, "there is no loop around this", node.span)
    scope.jumps = True

    def jump(_frame: Frame) -> None:
        raise end

    return jump


def _return(scope: Scope, node: tir.Return) -> Run:
    value = scope.expr(node.value)
    if scope.in_thread:
        return cast("Run", scope.unsupported(UNSUPPORTED_CONSTRUCT, OF_A_THREAD, node.span))

    def leave(frame: Frame) -> None:
        raise Returning(value(frame))

    return leave
