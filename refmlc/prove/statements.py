"""Statements over terms: those that look at values; the interpreter executes all others.

| statement          | on terms                                                                                |
|--------------------|-----------------------------------------------------------------------------------------|
| a store            | the element has the value; at an index that is a term: undecided                        |
| `if` on data       | both sides, each under its condition; what they wrote becomes a selection               |
| an assertion       | an obligation                                                                           |
| a call             | as the expression                                                                       |
"""

from typing import cast

from refmlc.diag.errors import RefmlcError
from refmlc.lang.ir import tir
from refmlc.prove.expressions import call
from refmlc.prove.memory import Layer, TermMemory
from refmlc.prove.terms import SymbolicTerm, TermValue, Undecided, clipped
from refmlc.run.interp.tensorir import vectors
from refmlc.run.interp.tensorir.elements import check_rank, check_stored, explain, is_undef, offset_of, to_live_memory
from refmlc.run.interp.tensorir.frame import Frame, Run
from refmlc.run.interp.tensorir.jumps import JUMPS
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.tensorir.statements import prepare_stmt as prepare_numbers


def prepare_stmt(scope: Scope, node: tir.Stmt, memory: TermMemory) -> Run:
    """`node` as a closure on frames. A statement at which the proof ends is its place."""
    run = _meaning(scope, node, memory)

    def located(frame: Frame) -> None:
        try:
            run(frame)
        except Undecided as end:
            end.span = end.span or node.span
            raise

    return located


def _meaning(scope: Scope, node: tir.Stmt, memory: TermMemory) -> Run:
    match node:
        case tir.BufferStore() if not is_undef(node.value):
            run = _store(scope, node, memory)
            return to_live_memory(scope, node, run) if scope.machine.frees_memory else run
        case tir.BufferStore():
            return _beyond("an element becomes uninitialised", node)
        case tir.IfThenElse():
            return _if(scope, node, memory)
        case tir.AssertStmt():
            return _assert(scope, node, memory)
        case tir.Evaluate(value=tir.Call() as value):
            evaluate = call(scope, value, memory)
            return lambda frame: cast("None", evaluate(frame))
        case _:
            return prepare_numbers(scope, node)


def _beyond(reason: str, node: tir.Stmt) -> Run:
    def stop(_frame: Frame) -> None:
        raise Undecided(reason, node.span)

    return stop


def _store(scope: Scope, node: tir.BufferStore, memory: TermMemory) -> Run:
    check_rank(node)
    check_stored(node)
    view_slot = scope.buffer(node.buffer, node.span).view
    value, is_vector = scope.expr(node.value), node.value.dtype.is_vector
    positions_of, mask_of, wrong = vectors.positions(scope, node), vectors.mask(scope, node), explain(scope, node)
    width, hooks = node.buffer.dtype.lanes, scope.machine.hooks

    def store(frame: Frame) -> None:
        written = value(frame)
        lanes = cast("tuple[TermValue, ...]", written if is_vector else (written,))
        view = frame[view_slot]
        positions = positions_of(frame)
        active = (True,) * len(positions) if mask_of is None else mask_of(frame)
        for number, (position, is_active) in enumerate(zip(positions, active, strict=True)):
            if isinstance(is_active, SymbolicTerm) or any(isinstance(index, SymbolicTerm) for index in position):
                raise Undecided("where a store goes depends on the values of an argument", node.span)
            if not is_active:
                continue
            offset = offset_of(view, position, wrong, frame)
            hooks.write_element(node, view, offset, frame)
            part = lanes[number * width : (number + 1) * width]
            hooks.store(node, position, part[0] if width == 1 else part, frame)
            for lane, lane_value in enumerate(part, offset * width):
                try:
                    view.shadow[lane] = 1
                except (IndexError, TypeError):
                    raise wrong(frame, position) from None
                memory.store(view, lane, lane_value)

    return store


def _if(scope: Scope, node: tir.IfThenElse, memory: TermMemory) -> Run:
    condition = scope.expr(node.condition)
    then_case = scope.stmt(node.then_case)
    else_case = None if node.else_case is None else scope.stmt(node.else_case)

    def side(case: Run | None, value: SymbolicTerm, frame: Frame, *, holds: bool) -> Layer:
        memory.begin(value, side=holds)
        failure: Undecided | None = None
        try:
            if case is not None:
                case(frame)
        except JUMPS:
            failure = Undecided("a jump depends on the values of an argument", node.span)
        except RefmlcError as problem:
            failure = Undecided(f"under a condition on data: {problem.diagnostic.message}", node.span)
        layer = memory.end()
        if failure is not None:
            raise failure
        return layer

    def choose(frame: Frame) -> None:
        value = condition(frame)
        if isinstance(value, SymbolicTerm):
            layers = side(then_case, value, frame, holds=True), side(else_case, value, frame, holds=False)
            memory.join(value, *layers)
        elif value:
            then_case(frame)
        elif else_case is not None:
            else_case(frame)

    return choose


def _assert(scope: Scope, node: tir.AssertStmt, memory: TermMemory) -> Run:
    of_numbers = prepare_numbers(scope, node)
    condition = scope.expr(node.condition)

    def check(frame: Frame) -> None:
        value = condition(frame)
        if isinstance(value, SymbolicTerm):
            memory.oblige("holds", value.number, f"`{clipped(value)}` holds", node.span)
        else:
            of_numbers(frame)

    return check
