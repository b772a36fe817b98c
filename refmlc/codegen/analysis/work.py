"""About how many iterations a function executes: what choosing a tier needs to know, before anything is compiled.

| statement       | iterations                                                     |
|-----------------|----------------------------------------------------------------|
| loop            | its extent times those of the body, at least the extent        |
| sequence        | the sum                                                        |
| if              | of the longer arm                                              |
| anything else   | those of what it holds                                         |

An extent that the shapes do not decide counts as 1. Nothing here is proved: it is an estimate.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from refmlc.ir import tir

Count: TypeAlias = Callable[[Mapping[tir.Var, int]], int]
Number: TypeAlias = Callable[[Mapping[tir.Var, int]], int | None]


def count(func: tir.PrimFunc) -> Count:
    """A function of the values of shape variables: the number of innermost iterations of `func`. Units: iterations."""
    return _stmt(func.body)


def _stmt(node: tir.Stmt) -> Count:
    match node:
        case tir.For():
            return _loop(_number(node.extent), _stmt(node.body))
        case tir.AttrStmt(key="thread_extent" | "virtual_thread", value=extent):
            return _loop(_number(extent), _stmt(node.body))
        case tir.SeqStmt(seq):
            parts = [_stmt(part) for part in seq]
            return lambda dims: sum(part(dims) for part in parts)
        case tir.IfThenElse(_, then_case, else_case):
            arms = [_stmt(arm) for arm in (then_case, else_case) if arm is not None]
            return lambda dims: max(arm(dims) for arm in arms)
        case tir.SBlockRealize():
            return _stmt(node.block.body)
        case tir.AttrStmt() | tir.While():
            return _stmt(node.body)
        case _:
            return lambda _dims: 0


def _loop(extent: Number, body: Count) -> Count:
    def iterations(dims: Mapping[tir.Var, int]) -> int:
        known = extent(dims)
        times = 1 if known is None else max(known, 0)
        return times * max(body(dims), 1)

    return iterations


def _number(expr: tir.Attr) -> Number:
    """The value of an extent; None where the shapes do not decide it."""
    match expr:
        case int() | tir.IntImm():
            value = expr if isinstance(expr, int) else expr.value
            return lambda _dims: value
        case tir.Var():
            return lambda dims: dims.get(expr)
        case tir.Cast():
            return _number(expr.value)
        case tir.Apply(op, (a, b)) if op in OPERATORS:
            return _applied(OPERATORS[op], _number(a), _number(b))
        case _:
            return lambda _dims: None


def _applied(operator: Callable[[int, int], int | None], a: Number, b: Number) -> Number:
    def value(dims: Mapping[tir.Var, int]) -> int | None:
        x, y = a(dims), b(dims)
        return None if x is None or y is None else operator(x, y)

    return value


OPERATORS: Mapping[str, Callable[[int, int], int | None]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "min": min,
    "max": max,
    "floordiv": lambda a, b: a // b if b else None,
    "floormod": lambda a, b: a % b if b else None,
    "ceildiv": lambda a, b: -(-a // b) if b else None,
}
