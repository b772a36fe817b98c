"""Blocks as C: predicate, axes, allocations, matched regions, the init where a reduction starts, the body."""

from collections.abc import Callable

from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.native.emit.buffers import allocate, match_region
from refmlc.native.emit.expressions import value
from refmlc.native.emit.state import State, Unsuited
from refmlc.native.text import bare

Emit = Callable[[State, tir.Stmt], None]


def realize(state: State, node: tir.SBlockRealize, body: Emit) -> None:
    """One instance of the block, if the predicate holds."""
    if len(node.iter_values) != len(node.block.iter_vars):
        raise Unsuited(f"block `{node.block.name}` has {len(node.iter_values)} bindings", node.span)
    block, note = node.block, f"block {node.block.name}"
    if isinstance(node.predicate, tir.IntImm) and node.predicate.value:
        if block.iter_vars or block.name != "root":
            state.text.comment(note)
        with state.with_facts(state.facts), state.counting(block.name, block.span, block):
            _instance(state, node, body)
        return
    braces = state.text.block(f"if ({bare(value(state, node.predicate))})", block.span, note)
    facts = state.facts.assume(node.predicate)
    with braces, state.with_facts(facts), state.counting(block.name, block.span, block):
        _instance(state, node, body)


def _instance(state: State, node: tir.SBlockRealize, body: Emit) -> None:
    block = node.block
    for axis, bound in zip(block.iter_vars, node.iter_values, strict=True):
        _bind(state, axis, bound)
    for buffer in block.alloc_buffers:
        allocate(state, buffer)
    for match in block.match_buffers:
        match_region(state, match)
    if block.init is not None:
        _init(state, block, block.init, body)
    body(state, block.body)


def _bind(state: State, axis: tir.IterVar, binding: tir.Expr) -> None:
    """Give one axis its value, inside of its domain."""
    code = value(state, binding)
    name = state.declare(axis.var)
    state.text.line(f"const int64_t {name} = {bare(code)};")
    low, extent = axis.dom.min, axis.dom.extent
    from_zero = isinstance(low, tir.IntImm) and low.value == 0
    if state.proving and from_zero and state.facts.within(binding, extent):
        state.proved(f"axis `{axis.var.name}`: {state.facts.why(binding, extent)}")
    else:
        start = state.temp("int64_t", value(state, low))
        distance = name if start == "0" else f"{name} - {start}"
        condition = f"RM_WITHIN({distance}, {value(state, extent)})"
        state.check(condition, f"axis `{axis.var.name}` is in its domain", binding.span or axis.span)
    state.facts = state.facts.bind_axis(axis.var, low, extent, binding)


def _init(state: State, block: tir.SBlock, init: tir.Stmt, body: Emit) -> None:
    """The init, where every reduction axis is at its first value."""
    starts = [
        f"{state.variable(axis.var)} == {value(state, axis.dom.min)}"
        for axis in block.iter_vars
        if axis.kind is IterKind.REDUCE
    ]
    head = f"if ({' && '.join(starts)})" if starts else ""
    with state.text.block(head, init.span, "init"), state.with_facts(state.facts):
        body(state, init)
