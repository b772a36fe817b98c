"""Estimates, nothing is proved: how long a statement takes, and how many iterations a function executes.

The first decides where loops look whether to stop and what an iteration costs; a load, a store, a sum or a product is
one unit. The second is what choosing a tier needs to know before anything is compiled.

| part                                  | units                         | iterations                                |
|---------------------------------------|-------------------------------|-------------------------------------------|
| function, as `exp` or `pow`           | 32                            | –                                         |
| division, remainder                   | 8                             | –                                         |
| any other operator, load, store, call | 1                             | –                                         |
| loop of a constant extent             | the extent times its body     | the same, at least the extent             |
| any other loop                        | its body, as if executed once | the same, an unknown extent counting as 1 |
| loop over the axis of a loop around   | as any loop                   | of its body: the index is the same        |
| if                                    | the longer arm, the condition | of the longer arm                         |
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Final, TypeAlias, cast

from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.threads import tag_of
from refmlc.lang.ir.visit import walk
from refmlc.lang.ops.evaluate import known
from refmlc.lang.ops.scalar.floating import FLOATING
from refmlc.lang.ops.scalar.transcendental import TRANSCENDENTAL

FUNCTION: Final = 32
DIVISION: Final = 8
MOST: Final = 1 << 62
DIVISIONS: Final = frozenset(("div", "truncdiv", "floordiv", "ceildiv", "truncmod", "floormod", "fmod"))
CHEAP: Final = frozenset(("copysign", "nextafter", "ldexp", "sqrt"))
FUNCTIONS: Final = frozenset(row.contract.name for row in (*FLOATING, *TRANSCENDENTAL)) - DIVISIONS - CHEAP
UNITS_OF_AN_ITERATION: Final = 16
"""Units that an iteration costs no fuel for: as vectors, a processor does them in a nanosecond."""
LONG: Final = 1 << 22
"""Units of a loop that should look whether to stop: at most some milliseconds."""
DEAR: Final = 1 << 12
"""Units of an iteration at which a loop may look: at least a microsecond, where they are vectors."""
STRIP: Final = 1 << 18
"""Units between two looks of a loop of shorter iterations."""


def units(node: tir.Stmt) -> int:
    """The units of one execution of `node`."""
    return min(_units(node), MOST)


def weight(body: tir.Stmt) -> int:
    """The fuel of one iteration of `body`, loops in it apart."""
    return max(1, _units_outside_loops(body) // UNITS_OF_AN_ITERATION)


def units_of(values: Iterable[tir.Expr]) -> int:
    """The units of evaluating these."""
    return sum(_units_of_nodes(value) for value in values)


def _units(node: tir.Stmt) -> int:
    match node:
        case tir.For(extent=tir.IntImm(value=count), body=body):
            return max(0, count) * min(1 + _units(body), MOST)
        case tir.For(body=body) | tir.While(body=body) | tir.AttrStmt(body=body):
            return 1 + _units(body)
        case tir.SeqStmt(seq):
            return sum(_units(part) for part in seq)
        case tir.SBlockRealize(block=block):
            return len(block.iter_vars) + (0 if block.init is None else _units(block.init)) + _units(block.body)
        case tir.IfThenElse(condition, then_case, else_case):
            otherwise = 0 if else_case is None else _units(else_case)
            return units_of((condition,)) + max(_units(then_case), otherwise)
        case _:
            return _units_of_nodes(node)


@lru_cache(maxsize=2048)
def _units_of_nodes(node: Node) -> int:
    """The units of all nodes of an expression, or of a statement that holds no other. Each loop around asks again."""
    return sum(_node(part) for part in walk(node))


def _units_outside_loops(node: tir.Stmt) -> int:
    """The units of `node` without those of loops in it."""
    match node:
        case tir.For():
            return 0
        case tir.While(body=body) | tir.AttrStmt(body=body):
            return _units_outside_loops(body)
        case tir.SeqStmt(seq):
            return sum(_units_outside_loops(part) for part in seq)
        case tir.SBlockRealize(block=block):
            return _units_outside_loops(block.body)
        case tir.IfThenElse(condition, then_case, else_case):
            return units_of((condition,)) + max(
                _units_outside_loops(then_case), 0 if else_case is None else _units_outside_loops(else_case)
            )
        case _:
            return _units(node)


def _node(node: Node) -> int:
    match node:
        case tir.Apply(op=op):
            if op in DIVISIONS:
                return DIVISION
            return FUNCTION if op in FUNCTIONS else 1
        case tir.BufferLoad() | tir.BufferStore() | tir.Call():
            return 1
        case _:
            return 0


Count: TypeAlias = Callable[[Mapping[tir.Var, int]], int]


def count(func: tir.PrimFunc) -> Count:
    """A function of the values of shape variables: the number of innermost iterations of `func`. Units: iterations."""
    return _stmt(func.body, frozenset())


def _stmt(node: tir.Stmt, axes: frozenset[str]) -> Count:
    """`axes` are the tags of the thread axes that are bound around `node`."""
    tag = tag_of(node)
    if tag in axes:
        return _stmt(cast("tir.For | tir.AttrStmt", node).body, axes)
    inside = axes | {tag} if tag else axes
    match node:
        case tir.For():
            return _loop(node.extent, _stmt(node.body, inside))
        case tir.AttrStmt(key="thread_extent" | "virtual_thread", value=extent):
            return _loop(extent, _stmt(node.body, inside))
        case tir.SeqStmt(seq):
            parts = [_stmt(part, axes) for part in seq]
            return lambda dims: sum(part(dims) for part in parts)
        case tir.IfThenElse(_, then_case, else_case):
            arms = [_stmt(arm, axes) for arm in (then_case, else_case) if arm is not None]
            return lambda dims: max(arm(dims) for arm in arms)
        case tir.SBlockRealize():
            return _stmt(node.block.body, axes)
        case tir.AttrStmt() | tir.While():
            return _stmt(node.body, axes)
        case _:
            return lambda _dims: 0


def _loop(extent: tir.Attr, body: Count) -> Count:
    def iterations(dims: Mapping[tir.Var, int]) -> int:
        value = known(extent, dims) if isinstance(extent, tir.Expr) else extent
        times = max(value, 0) if isinstance(value, int) else 1
        return times * max(body(dims), 1)

    return iterations
