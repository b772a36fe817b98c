"""Statements: each kind as C, in the order of `refmlc.lang.ir.tir`."""

from typing import assert_never

from refmlc.lang.ir import tir, tirx
from refmlc.lang.ir.unexecuted import refusal
from refmlc.native.emit import access, blocks, buffers, calls, loops
from refmlc.native.emit.expressions import value
from refmlc.native.emit.state import State, Unsuited
from refmlc.native.emit.tiles import emit_tiles
from refmlc.native.text import bare

LAUNCHES = ("thread_extent", "virtual_thread")


def statement(state: State, node: tir.Stmt) -> None:
    """Append the C of `node` to `state.text`."""
    match node:
        case tir.Bind():
            _bind(state, node)
        case tir.AssertStmt():
            state.check(value(state, node.condition), "the assertion holds", node.span)
            state.facts = state.facts.assume(node.condition)
        case tir.For():
            _for(state, node)
        case tir.While():
            loops.while_loop(state, node, statement)
        case tir.BufferStore():
            _store(state, node)
        case tir.AllocBuffer():
            buffers.allocate(state, node.buffer)
        case tir.DeclBuffer():
            buffers.declare(state, node)
        case tir.AttrStmt(node=tir.ThreadVar()) if node.key in LAUNCHES:
            loops.launch(state, node, statement)
        case tir.AttrStmt():
            statement(state, node.body)
        case tir.SeqStmt(seq):
            with state.with_facts(state.facts):
                _sequence(state, seq)
        case tir.IfThenElse():
            _if(state, node)
        case tir.Evaluate(tir.Call() as call):
            calls.effect(state, call, value)
        case tir.Evaluate():
            value(state, node.value)
        case tir.Break():
            state.text.line("break;", node.span)
        case tir.Continue():
            state.text.line("continue;", node.span)
        case tir.Return():
            calls.leave(state, value(state, node.value), node.value)
        case tir.SBlockRealize():
            blocks.realize(state, node, statement)
        case tirx.ScopeIdDef() | tirx.TilePrimitiveCall():
            raise Unsuited(refusal(node), node.span)
        case _:
            assert_never(node)


def _sequence(state: State, seq: tuple[tir.Stmt, ...]) -> None:
    position = 0
    while position < len(seq):
        emitted = emit_tiles(state, seq, position)
        if emitted == 0:
            statement(state, seq[position])
        position += max(1, emitted)


def _bind(state: State, node: tir.Bind) -> None:
    if node.var.dtype.is_vector or node.var.dtype.kind in ("handle", "void"):
        raise Unsuited(f"`{node.var.name}` is bound to no number", node.span)
    code = value(state, node.value)
    name = state.declare(node.var)
    state.text.line(f"const {state.variable_type(node.var.dtype)} {name} = {bare(code)};", node.span)
    state.facts = state.facts.bind_value(node.var, node.value)


def _for(state: State, node: tir.For) -> None:
    if not emit_tiles(state, (node,), 0):
        loops.loop(state, node, statement)


def _if(state: State, node: tir.IfThenElse) -> None:
    head = f"if ({bare(value(state, node.condition))})"
    with state.text.block(head, node.span), state.with_facts(state.facts.assume(node.condition)):
        statement(state, node.then_case)
    if node.else_case is not None:
        with state.text.block("else"), state.with_facts(state.facts.assume_not(node.condition)):
            statement(state, node.else_case)


def _store(state: State, node: tir.BufferStore) -> None:
    """The value, then the indices, then the cell; a vector is evaluated whole before its first lane is stored."""
    if node.predicate is not None:
        raise Unsuited("it stores with a mask", node.span)
    dtype = tir.loaded_dtype(node.buffer, node.indices)
    if dtype != node.value.dtype or dtype.scalable:
        raise Unsuited(f"a value of {node.value.dtype} is stored", node.span)
    if not dtype.is_vector:
        code = value(state, node.value)
        access.store(state, node, code, [value(state, index) for index in node.indices])
        return
    lanes = state.names.new("lanes")
    lane = state.names.new("lane")
    state.text.line(f"{state.variable_type(dtype.scalar)} {lanes}[{dtype.lanes}];")
    with state.text.block(f"for (int64_t {lane} = 0; {lane} < {dtype.lanes}; ++{lane})", node.span):
        state.lane = lane
        state.text.line(f"{lanes}[{lane}] = {value(state, node.value)};")
    with state.text.block(f"for (int64_t {lane} = 0; {lane} < {dtype.lanes}; ++{lane})"):
        access.store(state, node, f"{lanes}[{lane}]", [value(state, index) for index in node.indices])
    state.lane = ""
