"""Extents that are expressions of symbolic dimensions: their variables, and their values."""

from collections.abc import Callable, Iterator

from refmlc.diag import Undefined
from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.lang.ops.evaluate import evaluate


def variables(extent: tir.Expr) -> Iterator[tir.Var]:
    """The variables in an extent."""
    return (node for node in walk(extent) if isinstance(node, tir.Var))


def extent_of(expr: tir.Expr, size: Callable[[tir.Var], int]) -> int:
    """The value of an extent; 0 where it would be negative, or has none: the call on it then says what is wrong.

    Fails: RM501, RM503, RM504 for expressions that are not arithmetic on extents.
    """
    values = {var: size(var) for var in variables(expr)}
    try:
        return max(int(evaluate(expr, values)), 0)
    except Undefined:
        return 0
