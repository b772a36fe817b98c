"""The evaluator of shapes gives what executing the same expression gives, and is undefined where that is."""

from hypothesis import given, settings, strategies as st

from refmlc.diag import Undefined
from refmlc.lang.dtypes import BOOL, SCALARS
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ops.evaluate import evaluate, known
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.run.interp.machine import Machine

KINDS = [SCALARS[name] for name in ("int8", "int32", "int64", "uint8", "uint32", "uint64")]
WHOLE = [name for name, row in SCALAR_OPS.items() if row.contract.result == "same"]
COMPARED = [name for name, row in SCALAR_OPS.items() if row.contract.result == "bool"]
VARIABLES = {kind: (tir.Var(f"a_{kind}", kind), tir.Var(f"b_{kind}", kind)) for kind in KINDS}


def values(kind):
    """Small numbers, and the limits of the dtype."""
    near = range(max(kind.minimum, -5), 9)
    return st.sampled_from((*near, kind.bits - 1, kind.minimum, kind.maximum, kind.maximum - 1))


def leaves(kind):
    return st.one_of(st.sampled_from(VARIABLES[kind]), values(kind).map(lambda value: tir.IntImm(kind, value)))


@st.composite
def conditions(draw, depth):
    kind = draw(st.sampled_from(KINDS))
    rows = [name for name in COMPARED if SCALAR_OPS[name].contract.accepts_operands((kind, kind))]
    comparison = tir.Apply(draw(st.sampled_from(rows)), (draw(wholes(kind, depth)), draw(wholes(kind, depth))), BOOL)
    if depth == 0 or draw(st.booleans()):
        return comparison
    return draw(st.sampled_from((tir.And, tir.Or)))(comparison, draw(conditions(depth - 1)))


@st.composite
def wholes(draw, kind, depth):
    """An integer expression with any operator, of which nothing says that it is defined."""
    if depth == 0:
        return draw(leaves(kind))
    form = draw(st.sampled_from(("apply", "apply", "apply", "cast", "select", "if", "let")))
    part = wholes(kind, depth - 1)
    match form:
        case "apply":
            contracts = [SCALAR_OPS[name].contract for name in WHOLE]
            fitting = [one for one in contracts if one.accepts_operands((kind,) * one.arity)]
            row = draw(st.sampled_from(fitting))
            return tir.Apply(row.name, tuple(draw(part) for _ in range(row.arity)), kind)
        case "cast":
            return tir.Cast(kind, draw(wholes(draw(st.sampled_from(KINDS)), depth - 1)))
        case "select":
            return tir.Select(draw(conditions(depth - 1)), draw(part), draw(part))
        case "if":
            return tir.IfThenElseExpr(draw(conditions(depth - 1)), draw(part), draw(part))
        case _:
            var = tir.Var("c", kind)  # a variable is bound once
            return tir.Let(var, draw(part), tir.Apply("floordiv", (draw(part), var), kind))


def outcome(value, *args):
    """What it returns, or the code of the error."""
    try:
        return value(*args)
    except Undefined as undefined:
        return undefined.code.id


def test_each_operator_on_integers_is_drawn():
    assert {"truncdiv", "truncmod", "ceildiv", "floordiv", "floormod", "shift_left", "shift_right", "abs"} <= {*WHOLE}
    assert {"eq", "lt", "ge"} <= {*COMPARED}


@settings(max_examples=400)
@given(st.data())
def test_the_value_is_that_of_the_interpreter(data):
    kind = data.draw(st.sampled_from(KINDS))
    expr = data.draw(wholes(kind, 3))
    params = [var for pair in VARIABLES.values() for var in pair]
    args = [data.draw(values(var.dtype)) for var in params]
    machine = Machine(IRModule({"main": tir.PrimFunc(tuple(params), {}, tir.Return(expr), {}, kind)}))
    executed = outcome(machine.call, "main", args)
    bound = dict(zip(params, args, strict=True))
    assert outcome(evaluate, expr, bound) == executed
    assert known(expr, bound) == (None if isinstance(executed, str) else executed)
