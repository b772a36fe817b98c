"""Arithmetic on symbolic dimensions: expressions of TensorIR over variables that have a value. RLX-022.

Operators are the rows of `refmlc.ops.scalar`, as in TensorIR. There are no buffers, vectors or calls here.

Decision: transcendental functions are those of mode `cr` (NUM-506) whatever the machine's mode is: dimensions are
integers, and no module is known whose primitive values take an exponential.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import UNDEFINED_SYMBOL, UNSUPPORTED_CONSTRUCT, UNSUPPORTED_DTYPE, UNSUPPORTED_OP
from refmlc.dtypes import DType
from refmlc.ir import tir
from refmlc.ops.contract import Scalar, UndefinedValue
from refmlc.ops.scalar import SCALAR_OPS
from refmlc.ops.scalar.convert import converter

Dims = Mapping[tir.Var, Scalar]


class Unbound(Exception):
    """A variable of the expression has no value yet."""

    def __init__(self, var: tir.Var) -> None:
        """`var` is the variable."""
        super().__init__(var.name)
        self.var = var


def eval_dim(expr: tir.Expr, dims: Dims, span: Span | None = None) -> Scalar:
    """The value of `expr`. Fails: RM211 (no value), RM306, RM307 … (the operator), RM501, RM503, RM504."""
    try:
        return eval_known(expr, dims, span)
    except Unbound as unbound:
        message = f"the symbolic dimension `{unbound.var.name}` has no value here"
        raise fail(UNDEFINED_SYMBOL, message, expr.span or span) from None


def eval_known(expr: tir.Expr, dims: Dims, span: Span | None = None) -> Scalar:
    """The value of `expr`. Raises `Unbound` where a variable has none; fails otherwise as `eval_dim` does."""
    match expr:
        case tir.Var():
            if expr not in dims:
                raise Unbound(expr)
            return dims[expr]
        case tir.IntImm(dtype, value):
            return bool(value) if dtype.kind == "bool" else value
        case tir.FloatImm():
            return expr.value
        case tir.Apply(op, args, dtype):
            operands = [eval_known(arg, dims, span) for arg in args]
            return _apply(_operator(op, tuple(arg.dtype for arg in args), dtype), operands, expr, span)
        case tir.Cast(dtype, value):
            return _apply(_conversion(value.dtype, dtype), [eval_known(value, dims, span)], expr, span)
        case tir.And(a, b):
            return bool(eval_known(a, dims, span)) and bool(eval_known(b, dims, span))
        case tir.Or(a, b):
            return bool(eval_known(a, dims, span)) or bool(eval_known(b, dims, span))
        case tir.Select(condition, true_value, false_value):
            chosen, yes, no = (eval_known(part, dims, span) for part in (condition, true_value, false_value))
            return yes if chosen else no
        case tir.IfThenElseExpr(condition, true_value, false_value):
            return eval_known(true_value if eval_known(condition, dims, span) else false_value, dims, span)
        case tir.Let(var, value, body):
            return eval_known(body, {**dims, var: eval_known(value, dims, span)}, span)
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
