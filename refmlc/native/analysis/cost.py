"""About how long a statement takes, in units: a load, a store, a sum or a product is one.

| part                                         | units                                     |
|----------------------------------------------|-------------------------------------------|
| function, as `exp` or `pow`                  | 32                                        |
| division, remainder                          | 8                                         |
| any other operator, load, store, call        | 1                                         |
| loop of a constant extent                    | the extent times its body                 |
| any other loop                               | its body, as if executed once             |
| if                                           | the longer arm, and the condition         |

Nothing here is proved: it is an estimate, of what decides where loops look whether to stop, and what iterations cost.
"""

from collections.abc import Iterable
from typing import Final

from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import walk
from refmlc.lang.ops.scalar.floating import FLOATING
from refmlc.lang.ops.scalar.transcendental import TRANSCENDENTAL

FUNCTION: Final = 32
DIVISION: Final = 8
MOST: Final = 1 << 62
DIVISIONS: Final = frozenset(("div", "truncdiv", "floordiv", "ceildiv", "truncmod", "floormod", "fmod"))
CHEAP: Final = frozenset(("copysign", "nextafter", "ldexp", "sqrt"))
FUNCTIONS: Final = frozenset(row.contract.name for row in (*FLOATING, *TRANSCENDENTAL)) - DIVISIONS - CHEAP
UNITS_OF_AN_ITERATION: Final = 16
"""Units that an iteration costs no fuel for: as vectors, a processor does so many in a nanosecond."""
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
    return sum(_node(node) for value in values for node in walk(value))


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
