"""Loops: iterations one after the other, paid for before they are executed."""

from collections.abc import Callable
from typing import cast, get_args

from refmlc.codegen.emit.expressions import value
from refmlc.codegen.emit.state import State, Unsuited
from refmlc.dtypes import INT32, INT64
from refmlc.ir import tir
from refmlc.ir.kinds import ForKind
from refmlc.ir.scopes import is_thread

Emit = Callable[[State, tir.Stmt], None]


def loop(state: State, node: tir.For, body: Emit) -> None:
    """`node` as a C loop; thread axes are loops like others, one that is bound already is the index that it has."""
    tag = "" if node.thread is None else node.thread.tag
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
        least = state.facts.bounds(node.step).low
        if least is None or least <= 0:
            state.check(f"{step} > 0", f"the step of loop `{node.loop_var.name}` is positive", node.span)
    stop = count
    if first != "0":
        first = state.temp("int64_t", first)
        start = state.facts.bounds(node.min)
        if start.high is None or extent.high is None or start.high + extent.high > INT64.maximum:
            state.check(f"{first} <= INT64_MAX - {count}", f"loop `{node.loop_var.name}` ends in int64", node.span)
        stop = state.temp("int64_t", f"{first} + {count}")
    pay(state, node, count)
    name = state.declare(node.loop_var)
    if node.thread is not None and node.thread.var is not None:
        state.variables[node.thread.var] = name
    facts = state.facts.bind_range(node.loop_var, node.min, node.extent)
    advance = f"++{name}" if step == "1" else f"{name} += {step}"
    head = f"for (int64_t {name} = {first}; {name} < {stop}; {advance})"
    with state.text.block(head, node.span), state.knowing(facts):
        if is_thread(tag):
            state.threads[tag] = (name, count)
        body(state, node.body)
        state.threads.pop(tag, None)


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
    with state.knowing(state.facts.bind_range(node.loop_var, 0, node.extent)):
        body(state, node.body)


def pay(state: State, node: tir.For, count: str) -> None:
    """Charge the iterations of `node`, and of the loops below it where their number is known: they do not pay again."""
    if node in state.paid:
        return
    total = _countable(node)
    if total is None:
        state.text.line(f"RM_PAY({count});")
        return
    state.text.line(f"RM_PAY(INT64_C({min(total, 1 << 62)}));")
    state.paid.update(_loops(node))


def _loops(node: tir.Stmt) -> list[tir.For]:
    """The loops of a countable nest."""
    match node:
        case tir.For():
            return [node, *_loops(node.body)]
        case tir.SeqStmt(seq):
            return [found for part in seq for found in _loops(part)]
        case tir.SBlockRealize(block=block):
            return [*([] if block.init is None else _loops(block.init)), *_loops(block.body)]
        case tir.AttrStmt(body=body):
            return _loops(body)
        case tir.IfThenElse(then_case=then_case, else_case=else_case):
            return [*_loops(then_case), *([] if else_case is None else _loops(else_case))]
        case _:
            return []


def iterations(node: tir.For) -> int:
    """At most how many iterations a nest of constant extents executes."""
    return min(_countable(node) or 1, 1 << 62)


def _countable(node: tir.Stmt) -> int | None:
    """At most how many iterations `node` executes; None where that is not known, or a loop may be left early."""
    match node:
        case tir.For(extent=tir.IntImm(value=count), body=body):
            inner = _countable(body)
            return None if inner is None else count * (1 + inner)
        case tir.For() | tir.While() | tir.Break() | tir.Return():
            return None
        case tir.SeqStmt(seq):
            return _sum([_countable(part) for part in seq])
        case tir.SBlockRealize(block=block):
            return _sum([0 if block.init is None else _countable(block.init), _countable(block.body)])
        case tir.AttrStmt(key=key, body=body):
            return None if "thread" in key else _countable(body)
        case tir.IfThenElse(then_case=then_case, else_case=else_case):
            return _sum([_countable(then_case), 0 if else_case is None else _countable(else_case)])
        case _:
            return 0


def _sum(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def while_loop(state: State, node: tir.While, body: Emit) -> None:
    """The condition is evaluated before each iteration."""
    with state.text.block("for (;;)", node.span):
        condition = value(state, node.condition)
        state.text.line(f"if (!({condition})) break;", node.condition.span)
        state.text.line("RM_PAY(1);")
        with state.knowing(state.facts.assume(node.condition)):
            body(state, node.body)
