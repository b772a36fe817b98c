"""Arithmetic on symbolic dimensions in a graph that is executed. RLX-022."""

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import UNDEFINED_SYMBOL
from refmlc.lang.ir import tir
from refmlc.lang.ops.contract import Scalar
from refmlc.lang.ops.evaluate import Unbound, Values, evaluate


def eval_dim(expr: tir.Expr, dims: Values, span: Span | None = None) -> Scalar:
    """The value of `expr`. Fails: RM211 (no value), RM306, RM307 … (the operator), RM501, RM503, RM504."""
    try:
        return evaluate(expr, dims, span)
    except Unbound as unbound:
        message = f"the symbolic dimension `{unbound.var.name}` has no value here"
        raise fail(UNDEFINED_SYMBOL, message, expr.span or span) from None
