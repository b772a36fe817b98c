"""Constructs of TensorIR that are expressions: node kinds by name, scalar operators, choices, vectors.

| text                                               | node                       |
|----------------------------------------------------|----------------------------|
| `T.Add(a, b)`, `T.max(a, b)`, `T.floordiv(a, b)` … | `Apply`, operands matched  |
| `T.exp(x)`, `T.pow(x, y)` …                        | `Apply`                    |
| `T.Cast(dtype, x)`, `x.astype(dtype)`              | `Cast`                     |
| `T.And`, `T.Or`, `T.Not`                           | `And`, `Or`, `Apply not`   |
| `T.Select`, `T.if_then_else`                       | `Select`, `IfThenElseExpr` |
| `T.Let(body, where={x: v})`, `T.Let(x, v, body)`   | `Let`                      |
| `T.Ramp`, `T.Broadcast`, `T.Shuffle`               | the same                   |
| `T.BufferLoad(A, indices)`                         | `BufferLoad`               |
"""

from dataclasses import replace

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, TYPE_MISMATCH
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.lang.ops import promote
from refmlc.lang.ops.names import BY_NAME, on_dtype
from refmlc.lang.ops.notation import Operands
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.lang.script.reader.arguments import REQUIRED, CallSite
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.table import CallHandler
from refmlc.lang.script.reader.tir_operands import (
    dtype_of,
    expr_of,
    indices_of,
    int_of,
    operand_of,
    range_of,
    scalable_lanes,
)
from refmlc.lang.script.reader.values import Meta


def _binary(op: str) -> CallHandler:
    """An operator whose operands are brought to one dtype."""
    other = SCALAR_OPS[op].contract.notation.on_integers

    def handler(_ev: Evaluator, site: CallSite) -> Meta:
        arguments = site.take(a=REQUIRED, b=REQUIRED, span=None, dtype=None)
        a, b = operand_of(arguments["a"], site.span), operand_of(arguments["b"], site.span)
        if not other:
            return _as_said(promote.apply_binary(op, a, b, site.span), arguments["dtype"], site)
        x, y = promote.matched(a, b, site.span)
        return _as_said(promote.apply_binary(on_dtype(op, x.dtype), x, y, site.span), arguments["dtype"], site)

    return handler


def _as_said(value: tir.Expr, declared: Meta, site: CallSite) -> tir.Expr:
    """`value`, whose dtype a text may say beside its operands. Fails: RM105 where it says another."""
    if declared is not None and dtype_of(declared, site.span) != value.dtype:
        raise site.misfit(f"is of dtype {value.dtype} and not of that which `dtype` says", site.place("dtype"))
    return value


def _scalar(op: str) -> CallHandler:
    """An operator whose result follows its first operand."""
    contract = SCALAR_OPS[op].contract

    def handler(_ev: Evaluator, site: CallSite) -> Meta:
        kwargs = {key: value for key, value in site.kwargs.items() if key != "dtype"}
        site = replace(site, kwargs=kwargs)
        args = tuple(operand_of(arg, site.span) for arg in site.only_positional(contract.arity, contract.arity))
        first = next((arg for arg in args if not isinstance(arg, (int, float))), None)
        own = contract.rest is not None  # the others have dtypes of their own: the exponent of ldexp
        nodes = tuple(_beside(arg, None if number and own else first, site) for number, arg in enumerate(args))
        dtype = nodes[0].dtype
        if contract.notation.keeps_integers and not dtype.is_float:
            return nodes[0]
        lane = contract.result_dtype([dtype])
        return tir.Apply(op, nodes, lane.with_lanes(dtype.lanes, scalable=dtype.scalable), span=site.span)

    return handler


def _beside(arg: promote.Operand, first: tir.Expr | None, site: CallSite) -> tir.Expr:
    if isinstance(arg, (int, float)) and first is not None and (first.dtype.is_float or isinstance(arg, int)):
        return promote.constant(arg, first.dtype, site.span)
    return promote.literal(arg, site.span)


def _cast(_ev: Evaluator, site: CallSite) -> Meta:
    """`T.Cast(dtype, value)`; older texts have `T.cast(value, dtype)`."""
    if len(site.args) == 1 and "dtype" in site.kwargs:
        arguments = site.take(value=REQUIRED, dtype=REQUIRED, span=None)
    else:
        arguments = site.take(dtype=REQUIRED, value=REQUIRED, span=None)
    first, second = arguments["dtype"], arguments["value"]
    if not isinstance(first, (str, DType)) and isinstance(second, (str, DType)):
        first, second = second, first
    dtype = dtype_of(first, site.span)
    value = operand_of(second, site.span)
    if isinstance(value, (int, float)):
        value = promote.literal(value, site.span)
    if dtype.is_vector and not value.dtype.is_vector:
        return promote.converted(value, dtype, site.span)
    return tir.Cast(dtype, value, span=site.span)


def _logical(symbol: str) -> CallHandler:
    def handler(_ev: Evaluator, site: CallSite) -> Meta:
        arguments = site.take(a=REQUIRED, b=REQUIRED, span=None)
        a, b = (promote.condition(operand_of(arguments[key], site.span), site.span) for key in ("a", "b"))
        return tir.And(a, b, span=site.span) if symbol == "and" else tir.Or(a, b, span=site.span)

    return handler


def _not(_ev: Evaluator, site: CallSite) -> Meta:
    return promote.unary("not", expr_of(site.take(a=REQUIRED, span=None)["a"], site.span), site.span)


def _any_all(symbol: str) -> CallHandler:
    def handler(_ev: Evaluator, site: CallSite) -> Meta:
        args = [operand_of(arg, site.span) for arg in site.only_positional(1)]
        value = promote.condition(args[0], site.span)
        for arg in args[1:]:
            value = promote.logical(symbol, value, arg, site.span)
        return value

    return handler


def _choice(*, eager: bool) -> CallHandler:
    def handler(_ev: Evaluator, site: CallSite) -> Meta:
        arguments = site.take(condition=REQUIRED, true_value=REQUIRED, false_value=REQUIRED, span=None, dtype=None)
        condition = promote.condition(operand_of(arguments["condition"], site.span), site.span)
        return choice(condition, arguments["true_value"], arguments["false_value"], site, eager=eager)

    return handler


def choice(condition: tir.Expr, yes: Meta, no: Meta, site: CallSite, *, eager: bool) -> tir.Expr:
    """One of two values, brought to one dtype unless both are handles."""
    a, b = operand_of(yes, site.span), operand_of(no, site.span)
    if not isinstance(a, (int, float)) and not isinstance(b, (int, float)) and a.dtype == b.dtype:
        x, y = a, b
    else:
        x, y = promote.matched(a, b, site.span)
    kind = tir.Select if eager else tir.IfThenElseExpr
    return kind(condition, x, y, span=site.span)


def _let(_ev: Evaluator, site: CallSite) -> Meta:
    arguments = site.take(expr=None, where=None, body=None, var=None, value=None)
    bindings = arguments["where"]
    if isinstance(bindings, dict):
        body = expr_of(arguments["expr"], site.span)
        pairs = list(bindings.items())
    else:
        pairs = [(arguments["expr"] or arguments["var"], bindings or arguments["value"])]
        body = expr_of(arguments["body"], site.span)
    for var, value in reversed(pairs):
        if not isinstance(var, tir.Var):
            raise site.wrong("where", var, "a variable")
        body = tir.Let(var, promote.converted(operand_of(value, site.span), var.dtype, site.span), body, span=site.span)
    return body


def _ramp(_ev: Evaluator, site: CallSite) -> Meta:
    arguments = site.take(base=REQUIRED, stride=REQUIRED, lanes=REQUIRED, span=None)
    base, stride = promote.matched(
        operand_of(arguments["base"], site.span), operand_of(arguments["stride"], site.span), site.span, adapting=True
    )
    lanes = expr_of(arguments["lanes"], site.span)
    return tir.Ramp(base, stride, lanes, _with_lanes(base.dtype, lanes, site), span=site.span)


def _broadcast(_ev: Evaluator, site: CallSite) -> Meta:
    arguments = site.take(value=REQUIRED, lanes=REQUIRED, span=None)
    value, lanes = expr_of(arguments["value"], site.span), expr_of(arguments["lanes"], site.span)
    return tir.Broadcast(value, lanes, _with_lanes(value.dtype, lanes, site), span=site.span)


def _with_lanes(dtype: DType, lanes: tir.Expr, site: CallSite) -> DType:
    """`dtype` in as many lanes as `lanes` says: a constant, or a constant times `vscale`."""
    count = lanes.value if isinstance(lanes, tir.IntImm) else scalable_lanes(lanes)
    if count is None:
        raise fail(BAD_ARGUMENTS, "the number of lanes is not constant", site.span)
    scalable = not isinstance(lanes, tir.IntImm)
    if not (1 if scalable else 2) <= count <= 1 << 16:  # one lane is no vector, and TVM builds none
        raise fail(BAD_ARGUMENTS, f"the number of lanes is {count}", site.span)
    if dtype.is_vector:
        raise fail(TYPE_MISMATCH, f"a vector of {dtype} is no vector", site.span)
    return dtype.with_lanes(count, scalable=scalable)


def _shuffle(_ev: Evaluator, site: CallSite) -> Meta:
    arguments = site.take(vectors=REQUIRED, indices=REQUIRED, span=None)
    vectors = indices_of(arguments["vectors"], site.span)
    indices = indices_of(arguments["indices"], site.span)
    if not vectors or not indices:
        raise site.misfit("takes at least one vector and one index")
    for index in indices:
        int_of(index, site.span, "a constant index")
    element = vectors[0].dtype
    dtype = (
        DType(element.element, element.kind, element.bits) if len(indices) == 1 else element.with_lanes(len(indices))
    )
    return tir.Shuffle(vectors, indices, dtype, span=site.span)


def _buffer_load(_ev: Evaluator, site: CallSite) -> Meta:
    arguments = site.take(buffer=REQUIRED, indices=REQUIRED, predicate=None)
    buffer = arguments["buffer"]
    if not isinstance(buffer, tir.Buffer):
        raise site.wrong("buffer", buffer, "a buffer")
    predicate = None if arguments["predicate"] is None else expr_of(arguments["predicate"], site.span)
    return tir.BufferLoad(buffer, indices_of(arguments["indices"], site.span), predicate, span=site.span)


def _immediate(_ev: Evaluator, site: CallSite) -> Meta:
    arguments = site.take(dtype=REQUIRED, value=REQUIRED, span=None)
    value = operand_of(arguments["value"], site.span)
    if not isinstance(value, (int, float)):
        raise site.wrong("value", value, "a number")
    return promote.constant(value, dtype_of(arguments["dtype"], site.span), site.span)


def _string(_ev: Evaluator, site: CallSite) -> Meta:
    value = site.take(value=REQUIRED)["value"]
    if not isinstance(value, str):
        raise site.wrong("value", value, "a string")
    return tir.StringImm(value, span=site.span)


def _const(_ev: Evaluator, site: CallSite) -> Meta:
    arguments = site.take(value=REQUIRED, dtype=None)
    value = operand_of(arguments["value"], site.span)
    if arguments["dtype"] is None or not isinstance(value, (int, float)):
        return promote.literal(value, site.span)
    return promote.constant(value, dtype_of(arguments["dtype"], site.span), site.span)


def _range(_ev: Evaluator, site: CallSite) -> Meta:
    arguments = site.take(begin=REQUIRED, end=REQUIRED)
    return range_of((operand_of(arguments["begin"], site.span), operand_of(arguments["end"], site.span)), site.span)


def _operator(op: str) -> CallHandler:
    """The construct that is an operator: what becomes of its operands is said by its row."""
    return _scalar(op) if SCALAR_OPS[op].contract.notation.operands is Operands.FIRST else _binary(op)


CALLS: dict[str, CallHandler] = {
    **{f"T.{name}": _operator(op) for name, op in BY_NAME.items()},
    "T.Cast": _cast,
    "T.And": _logical("and"),
    "T.Or": _logical("or"),
    "T.Not": _not,
    "T.all": _any_all("and"),
    "T.any": _any_all("or"),
    "T.Select": _choice(eager=True),
    "T.if_then_else": _choice(eager=False),
    "T.Let": _let,
    "T.Ramp": _ramp,
    "T.Broadcast": _broadcast,
    "T.Shuffle": _shuffle,
    "T.BufferLoad": _buffer_load,
    "T.IntImm": _immediate,
    "T.FloatImm": _immediate,
    "T.StringImm": _string,
    "T.const": _const,
    "T.Range": _range,
}
