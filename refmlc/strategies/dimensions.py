"""Extents that are expressions of symbolic dimensions: their variables, and their values."""

from collections.abc import Callable, Iterator

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.ir import tir
from refmlc.ir.visit import walk

Meaning = Callable[[int, int], int]
MEANING: dict[str, Meaning] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "max": max,
    "min": min,
    "floordiv": lambda a, b: a // b if b else 0,
    "truncdiv": lambda a, b: a // b if b else 0,
    "div": lambda a, b: a // b if b else 0,
    "ceildiv": lambda a, b: -(-a // b) if b else 0,
    "floormod": lambda a, b: a % b if b else 0,
    "truncmod": lambda a, b: a % b if b else 0,
}


def variables(extent: tir.Expr) -> Iterator[tir.Var]:
    """The variables in an extent."""
    return (node for node in walk(extent) if isinstance(node, tir.Var))


def extent_of(expr: tir.Expr, size: Callable[[tir.Var], int]) -> int:
    """The value of an extent, 0 where it would be negative. Fails: RM504 for what is no arithmetic of extents."""
    return max(_value(expr, size), 0)


def _value(expr: tir.Expr, size: Callable[[tir.Var], int]) -> int:
    match expr:
        case tir.IntImm(value=value):
            return value
        case tir.Var():
            return size(expr)
        case tir.Cast(value=inner):
            return _value(inner, size)
        case tir.Apply(op=op, args=(a, b)) if op in MEANING:
            return MEANING[op](_value(a, size), _value(b, size))
        case _:
            raise fail(UNSUPPORTED_CONSTRUCT, "an extent is no arithmetic of dimensions", expr.span)
