"""Loops: iterations one after the other, paid for (`refmlc.native.emit.fuel`)."""

from collections.abc import Callable
from typing import cast, get_args

from refmlc.lang.dtypes import INT32, INT64
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind
from refmlc.lang.ir.scopes import is_thread
from refmlc.native.analysis.cost import weight
from refmlc.native.emit.expressions import value
from refmlc.native.emit.fuel import pay, payment
from refmlc.native.emit.looks import Bounds, repeat
from refmlc.native.emit.state import State, Unsuited

Emit = Callable[[State, tir.Stmt], None]


def loop(state: State, node: tir.For, body: Emit) -> None:
    """`node` as a C loop; thread axes are loops like others, one that is bound already is the index that it has."""
    tag = node.tag
    if tag in state.threads:
        _same_thread(state, node, tag, body)
        return
    first, count = value(state, node.min), state.temp("int64_t", value(state, node.extent))
    step = "1"
    extent = state.facts.bounds(node.extent)
    if extent.low is None or extent.low < 0:
        state.check(f"{count} >= 0", f"the extent of loop `{node.loop_var.name}` is not negative", node.span)
    if node.step is not None:
        step = state.temp("int64_t", value(state, node.step))
        lowest = state.facts.bounds(node.step).low
        if lowest is None or lowest <= 0:
            state.check(f"{step} > 0", f"the step of loop `{node.loop_var.name}` is positive", node.span)
    stop = count
    if first != "0":
        first = state.temp("int64_t", first)
        start = state.facts.bounds(node.min)
        if start.high is None or extent.high is None or start.high + extent.high > INT64.maximum:
            state.check(f"{first} <= INT64_MAX - {count}", f"loop `{node.loop_var.name}` ends in int64", node.span)
        stop = state.temp("int64_t", f"{first} + {count}")
    payment_plan = payment(state, node)
    with state.text.apart() as lines, state.paying(payment_plan.scarce):
        name, checked = _body(state, node, tag, count, body)
    iterations = count if step == "1" else state.temp("int64_t", f"{count} / {step} + ({count} % {step} != 0)")
    lines = pay(state, payment_plan, iterations, lines, checked=checked)
    repeat(state, node, payment_plan, Bounds(name, first, stop, step), lines)


def _body(state: State, node: tir.For, tag: str, count: str, body: Emit) -> tuple[str, bool]:
    """What the loop repeats: the C name of its variable, and whether there are checks in it."""
    sites = len(state.sites)
    name = state.declare(node.loop_var)
    if node.thread is not None and node.thread.var is not None:
        state.variables[node.thread.var] = name
    with state.with_facts(state.facts.bind_range(node.loop_var, node.min, node.extent)):
        if is_thread(tag):
            state.threads[tag] = (name, count)
        body(state, node.body)
        state.threads.pop(tag, None)
    return name, len(state.sites) > sites


def launch(state: State, node: tir.AttrStmt, body: Emit) -> None:
    """`T.launch_thread`: a loop over the indices of a thread axis."""
    thread, extent = node.node, node.value
    if not isinstance(thread, tir.ThreadVar) or not isinstance(extent, (int, *get_args(tir.Expr))):
        raise Unsuited("it launches threads in a way of its own", node.span)
    size = tir.IntImm(INT32, extent) if isinstance(extent, int) else cast("tir.Expr", extent)
    var = tir.Var(thread.tag, size.dtype) if thread.var is None else thread.var
    zero = tir.IntImm(INT32, 0)
    loop(state, tir.For(var, zero, size, ForKind.THREAD_BINDING, node.body, thread, span=node.span), body)


def _same_thread(state: State, node: tir.For, tag: str, body: Emit) -> None:
    name, count = state.threads[tag]
    state.variables[node.loop_var] = name
    state.check(f"{value(state, node.extent)} == {count}", f"`{tag}` has one extent", node.span)
    with state.with_facts(state.facts.bind_range(node.loop_var, 0, node.extent)):
        body(state, node.body)


def while_loop(state: State, node: tir.While, body: Emit) -> None:
    """The condition is evaluated before each iteration."""
    with state.text.block("for (;;)", node.span):
        condition = value(state, node.condition)
        state.text.line(f"if (!({condition})) break;", node.condition.span)
        state.text.line(f"RM_PAY({weight(node.body)});")
        with state.with_facts(state.facts.assume(node.condition)):
            body(state, node.body)
