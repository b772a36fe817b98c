"""Sizes over symbolic dimensions: expressions of int64, numbers in them being computed at once.

| function  | gives                                                            |
|-----------|------------------------------------------------------------------|
| `nbytes`  | the bytes of a compact tensor                                    |
| `aligned` | the next multiple of 64                                          |
| `folded`  | an expression with its constant parts computed                   |
| `key_of`  | what equal expressions share, for tables                         |
"""

from collections.abc import Hashable, Iterable
from math import prod
from typing import TypeVar

from refmlc.lang.dtypes import INT64, DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import field_names, rewrite
from refmlc.lang.ops.evaluate import known
from refmlc.run.memory.cells import cell_size

ALIGNMENT = 64
N = TypeVar("N", bound=Node)


def number(value: int) -> tir.IntImm:
    """The constant `value` as int64."""
    return tir.IntImm(INT64, value)


def as_int64(expr: tir.Expr) -> tir.Expr:
    """`expr`, converted where it is of another dtype."""
    if isinstance(expr, tir.IntImm):
        return number(expr.value)
    return expr if expr.dtype == INT64 else tir.Cast(INT64, expr)


def apply(op: str, a: tir.Expr, b: tir.Expr) -> tir.Expr:
    """`op` of two expressions of one integer dtype; computed where both are numbers."""
    return fold(tir.Apply(op, (a, b), a.dtype))


def total(parts: Iterable[tir.Expr]) -> tir.Expr:
    """The sum of `parts`, 0 of none."""
    result: tir.Expr = number(0)
    for part in parts:
        result = part if _is(result, 0) else apply("add", result, part)
    return result


def count(shape: tuple[tir.Expr, ...]) -> tir.Expr:
    """How many elements a tensor of `shape` has."""
    numbers = [part.value for part in shape if isinstance(part, tir.IntImm)]
    result: tir.Expr = number(prod(numbers))
    for part in shape:
        if not isinstance(part, tir.IntImm) and not _is(result, 0):
            result = as_int64(part) if _is(result, 1) else apply("mul", result, as_int64(part))
    return result


def _is(expr: tir.Expr, value: int) -> bool:
    return isinstance(expr, tir.IntImm) and expr.value == value


def nbytes(dtype: DType, shape: tuple[tir.Expr, ...]) -> tir.Expr:
    """The bytes of a compact tensor."""
    return apply("mul", count(shape), number(cell_size(dtype) * dtype.lanes))


def aligned(size: tir.Expr) -> tir.Expr:
    """`size`, or the next number that 64 divides."""
    return apply(
        "mul", apply("floordiv", apply("add", size, number(ALIGNMENT - 1)), number(ALIGNMENT)), number(ALIGNMENT)
    )


def folded(expr: tir.Expr) -> tir.Expr:
    """`expr` with constant parts computed where they have a value."""
    return rewrite(expr, fold)


def fold(node: N) -> N | tir.IntImm:
    """`node`, whose children are folded, as a number where it is an operator or a conversion of numbers."""
    match node:
        case tir.Apply(args=args, dtype=dtype) if all(isinstance(arg, tir.IntImm) for arg in args):
            value = known(node) if dtype.is_integer else None
        case tir.Cast(dtype, tir.IntImm()):
            value = known(node) if dtype.is_integer else None
        case _:
            return node
    return node if value is None else tir.IntImm(dtype, value)


def key_of(expr: object) -> Hashable:
    """Equal for expressions that are the same, variables being identities."""
    match expr:
        case tir.IntImm(value=value):
            return value
        case tir.Var():
            return id(expr)
        case Node():
            return (type(expr).__name__, *(key_of(getattr(expr, name)) for name in field_names(expr)))
        case tuple():
            return tuple(key_of(part) for part in expr)
        case _:
            return str(expr)
