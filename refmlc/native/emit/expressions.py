"""Expressions: each kind as C, in the order of `refmlc.lang.ir.tir`.

What may be undefined and is not proved becomes a check before the statement; the rest is one C expression. Operands of
lazy kinds that need checks are evaluated in a branch of their own. A vector is emitted lane by lane (`State.lane`).
"""

from typing import assert_never

from refmlc.lang.ir import tir
from refmlc.native.emit import access, calls, scalars
from refmlc.native.emit.state import State, Unsuited


def value(state: State, node: tir.Expr) -> str:
    """`node` as a C expression of the value type of its dtype; checks it needs are emitted before."""
    match node:
        case tir.Var():
            return state.variable(node)
        case tir.IntImm():
            return scalars.integer(state, node.dtype, node.value)
        case tir.FloatImm():
            return scalars.floating(state, node.dtype, node.value)
        case tir.StringImm():
            raise Unsuited("it uses a string", node.span)
        case tir.Apply():
            return scalars.apply(state, node, [value(state, arg) for arg in node.args])
        case tir.Cast():
            return scalars.cast(state, node, value(state, node.value))
        case tir.And(a, b):
            return _both(state, a, b) if node.dtype.is_vector else _lazy(state, a, b, when=True)
        case tir.Or(a, b):
            return _either(state, a, b) if node.dtype.is_vector else _lazy(state, a, b, when=False)
        case tir.Select():
            parts = [value(state, part) for part in (node.condition, node.true_value, node.false_value)]
            return f"({parts[0]} ? {parts[1]} : {parts[2]})"
        case tir.IfThenElseExpr():
            return _if_then_else(state, node)
        case tir.Let():
            return _let(state, node)
        case tir.BufferLoad():
            return access.load(state, node, [value(state, index) for index in node.indices])
        case tir.BufferData():
            raise Unsuited(f"it passes on the pointer `{node.buffer.name}.data`", node.span)
        case tir.Ramp():
            return _ramp(state, node)
        case tir.Broadcast():
            return value(state, node.value)
        case tir.Shuffle():
            raise Unsuited("it shuffles lanes", node.span)
        case tir.Call():
            return calls.call(state, node, value)
        case _:
            assert_never(node)


def _both(state: State, a: tir.Expr, b: tir.Expr) -> str:
    left, right = value(state, a), value(state, b)
    return f"({left} & {right})"


def _either(state: State, a: tir.Expr, b: tir.Expr) -> str:
    left, right = value(state, a), value(state, b)
    return f"({left} | {right})"


def _lazy(state: State, a: tir.Expr, b: tir.Expr, *, when: bool) -> str:
    """`a && b` (`when`), `a || b`: b is evaluated only where a is `when`."""
    first = value(state, a)
    facts = state.facts.assume(a) if when else state.facts.assume_not(a)
    with state.text.apart() as lines, state.with_facts(facts):
        second = value(state, b)
    if not lines:
        return f"({first} {'&&' if when else '||'} {second})"
    name = state.names.new("holds")
    state.text.line(f"bool {name} = {first};")
    with state.text.block(f"if ({name})" if when else f"if (!{name})"):
        state.text.add(lines)
        state.text.line(f"{name} = {second};")
    return name


def _if_then_else(state: State, node: tir.IfThenElseExpr) -> str:
    if node.condition.dtype.is_vector:
        raise Unsuited("the condition of an if_then_else has lanes", node.span)
    condition = value(state, node.condition)
    with state.text.apart() as true_lines, state.with_facts(state.facts.assume(node.condition)):
        yes = value(state, node.true_value)
    with state.text.apart() as false_lines, state.with_facts(state.facts.assume_not(node.condition)):
        no = value(state, node.false_value)
    if not true_lines and not false_lines:
        return f"({condition} ? {yes} : {no})"
    name = state.names.new("chosen")
    state.text.line(f"{state.variable_type(node.dtype)} {name};")
    for head, lines, result in ((f"if ({condition})", true_lines, yes), ("else", false_lines, no)):
        with state.text.block(head):
            state.text.add(lines)
            state.text.line(f"{name} = {result};")
    return name


def _let(state: State, node: tir.Let) -> str:
    if node.var.dtype.is_vector or node.var.dtype.kind == "handle":
        raise Unsuited(f"`{node.var.name}` is bound to no number", node.span)
    code = value(state, node.value)
    name = state.declare(node.var)
    state.text.line(f"const {state.variable_type(node.var.dtype)} {name} = {code};", node.span)
    with state.with_facts(state.facts.bind_value(node.var, node.value)):
        return value(state, node.body)


def _ramp(state: State, node: tir.Ramp) -> str:
    """One lane: base + lane * stride. A lane beyond the dtype overflows, as the sum would."""
    dtype = node.dtype.scalar
    if dtype.element != "int32":
        raise Unsuited(f"it has ramps of {dtype}", node.span)
    base, stride = value(state, node.base), value(state, node.stride)
    lane = f"((int64_t){base} + {state.lane or '0'} * (int64_t){stride})"
    start, step = state.facts.bounds(node.base), state.facts.bounds(node.stride)
    if None not in (start.low, start.high, step.low, step.high):
        reach = [s * node.dtype.lanes for s in (step.low or 0, step.high or 0, 0)]
        if (start.low or 0) + min(reach) >= dtype.minimum and (start.high or 0) + max(reach) <= dtype.maximum:
            return lane
    name = state.temp("int64_t", lane)
    state.check(f"{name} >= INT32_MIN && {name} <= INT32_MAX", "the lane is in int32", node.span)
    return name
