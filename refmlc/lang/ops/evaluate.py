"""The value of a scalar expression whose variables have values: the one evaluator on the rows of `SCALAR_OPS`.

| function   | gives                                                                                          |
|------------|------------------------------------------------------------------------------------------------|
| `evaluate` | the value; `Unbound` where a variable has none, else the error that executing it would end in  |
| `known`    | the integer that it is; None where it is none, or a variable has no value                      |

Shapes, extents and primitive values of Relax are such expressions (RLX-022): there are no buffers, vectors or calls.

Decision: transcendental functions are those of mode `cr` (NUM-506) whatever the machine's mode is: dimensions are
integers, and no module is known whose primitive values take an exponential.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType

from refmlc.diag import Span, Undefined, Unsupported, fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT, UNSUPPORTED_DTYPE, UNSUPPORTED_OP
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.lang.ops.contract import Scalar, UndefinedValue
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.lang.ops.scalar.convert import converter

Values = Mapping[tir.Var, Scalar]
NOTHING: Values = MappingProxyType({})


class Unbound(Exception):
    """A variable of the expression has no value yet."""

    def __init__(self, var: tir.Var) -> None:
        super().__init__(var.name)
        self.var = var


def known(expr: tir.Expr, values: Values = NOTHING) -> int | None:
    """The integer that `expr` is; None where a variable has no value, an operand no meaning, or it is a float."""
    try:
        value = evaluate(expr, values)
    except (Unbound, Undefined, Unsupported):
        return None
    return None if isinstance(value, float) else int(value)


def evaluate(expr: tir.Expr, values: Values, span: Span | None = None) -> Scalar:
    """The value of `expr`. `span` is the place of errors where an expression has none.

    Raises `Unbound` where a variable has no value. Fails: RM306, RM307 … (an operator), RM501, RM503, RM504.
    """
    match expr:
        case tir.Var():
            if expr not in values:
                raise Unbound(expr)
            return values[expr]
        case tir.IntImm(dtype, value):
            return bool(value) if dtype.kind == "bool" else value
        case tir.FloatImm():
            return expr.value
        case tir.Apply(op, args, dtype):
            operands = [evaluate(arg, values, span) for arg in args]
            return _apply(_operator(op, tuple(arg.dtype for arg in args), dtype), operands, expr, span)
        case tir.Cast(dtype, value):
            return _apply(_conversion(value.dtype, dtype), [evaluate(value, values, span)], expr, span)
        case tir.And(a, b):
            return bool(evaluate(a, values, span)) and bool(evaluate(b, values, span))
        case tir.Or(a, b):
            return bool(evaluate(a, values, span)) or bool(evaluate(b, values, span))
        case tir.Select(condition, true_value, false_value):
            holds, yes, no = (evaluate(part, values, span) for part in (condition, true_value, false_value))
            return yes if holds else no
        case tir.IfThenElseExpr(condition, true_value, false_value):
            return evaluate(true_value if evaluate(condition, values, span) else false_value, values, span)
        case tir.Let(var, value, body):
            return evaluate(body, {**values, var: evaluate(value, values, span)}, span)
        case _:
            message = f"`{type(expr).__name__}` is not supported in a shape or a primitive value of Relax"
            raise fail(UNSUPPORTED_CONSTRUCT, message, expr.span or span)


def _apply(value: Callable[..., Scalar], operands: list[Scalar], expr: tir.Expr, span: Span | None) -> Scalar:
    try:
        return value(*operands)
    except UndefinedValue as undefined:
        raise fail(undefined.code, undefined.detail, expr.span or span) from None


@lru_cache(maxsize=1024)
def _operator(op: str, operands: tuple[DType, ...], result: DType) -> Callable[..., Scalar]:
    row = SCALAR_OPS.get(op)
    if row is None:
        raise fail(UNSUPPORTED_OP, f"operator `{op}` is not supported")
    if any(operand.is_vector for operand in operands) or not row.contract.accepts_operands(operands):
        spelled = ", ".join(map(str, operands))
        raise fail(UNSUPPORTED_DTYPE, f"operator `{op}` is not supported on {spelled}")
    return row.value(operands, result)


@lru_cache(maxsize=1024)
def _conversion(source: DType, target: DType) -> Callable[[Scalar], Scalar]:
    return converter(source, target)
