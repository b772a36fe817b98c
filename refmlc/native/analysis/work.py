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

from refmlc.lang.ir import tir
from refmlc.lang.ops.evaluate import known

Count: TypeAlias = Callable[[Mapping[tir.Var, int]], int]


def count(func: tir.PrimFunc) -> Count:
    """A function of the values of shape variables: the number of innermost iterations of `func`. Units: iterations."""
    return _stmt(func.body)


def _stmt(node: tir.Stmt) -> Count:
    match node:
        case tir.For():
            return _loop(node.extent, _stmt(node.body))
        case tir.AttrStmt(key="thread_extent" | "virtual_thread", value=extent):
            return _loop(extent, _stmt(node.body))
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


def _loop(extent: tir.Attr, body: Count) -> Count:
    def iterations(dims: Mapping[tir.Var, int]) -> int:
        value = known(extent, dims) if isinstance(extent, tir.Expr) else extent
        times = max(value, 0) if isinstance(value, int) else 1
        return times * max(body(dims), 1)

    return iterations
