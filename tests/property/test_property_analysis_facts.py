"""What `Facts` says is never false: every execution of small places is gone through, and evaluated by the rows."""

from itertools import islice

from affine_places import Place, Undefined, evaluate
from hypothesis import given, strategies as st

from refmlc.lang.ir import tir
from refmlc.lang.ops.contract import UndefinedValue
from refmlc.lang.ops.scalar import SCALAR_OPS, converter

EXECUTIONS = 150  # that are looked at of one place
EXACT = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "abs": abs,
    "shift_left": lambda a, b: a << b,
}


def nodes(expr):
    """The nodes of `expr` that are evaluated whenever it is, and where no variable of a `let` is in scope."""
    yield expr
    match expr:
        case tir.Apply():
            for arg in expr.args:
                yield from nodes(arg)
        case tir.Cast() | tir.Let():
            yield from nodes(expr.value)
        case tir.Select():
            for arm in (expr.condition, expr.true_value, expr.false_value):
                yield from nodes(arm)
        case tir.IfThenElseExpr():
            yield from nodes(expr.condition)


def check_bounds(facts, expr, env):
    value = evaluate(expr, env)
    low, high = facts.bounds(expr)
    assert low is None or low <= value, (expr, env, low, value)
    assert high is None or value <= high, (expr, env, high, value)


def check_operator(facts, node, env):
    """`is_defined` and `in_dtype` of one node whose operands are defined."""
    match node:
        case tir.Apply():
            args = [evaluate(arg, env) for arg in node.args]
            try:
                value = SCALAR_OPS[node.op].value(tuple(arg.dtype for arg in node.args), node.dtype)(*args)
            except UndefinedValue:
                assert not facts.is_defined(node), (node, env)
                assert not facts.in_dtype(node), (node, env)
                return
            if node.op in EXACT and facts.in_dtype(node):
                assert value == EXACT[node.op](*args), (node, env)
        case tir.Cast() if facts.in_dtype(node):
            source = evaluate(node.value, env)
            assert converter(node.value.dtype, node.dtype)(source) == source, (node, env)


def check(pick):
    place = Place(pick)
    facts = place.facts
    kind = place.one(place.variables).dtype
    exprs = [place.expr(kind, 3), place.affine(kind)]
    index, extent = place.expr(kind, 2), place.extent(kind)
    condition = place.compare(2)
    holds = facts.holds(condition)
    for env in islice(place.executions(), EXECUTIONS):
        for expr in exprs:
            for node in nodes(expr):
                try:
                    check_operator(facts, node, env)
                    if node.dtype.is_integer:
                        check_bounds(facts, node, env)
                except Undefined:
                    continue
        try:
            if holds is not None:
                assert bool(evaluate(condition, env)) == holds, (condition, env)
            at, size = evaluate(index, env), evaluate(extent, env)
        except Undefined:
            continue
        if facts.within(index, extent):
            assert 0 <= at < size, (index, extent, env)
        if facts.at_least(index, extent):
            assert at >= size, (index, extent, env)


@given(st.data())
def test_facts_say_nothing_false(data):
    check(lambda n: data.draw(st.integers(0, n - 1)))
