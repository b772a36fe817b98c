"""What occurred in programs that ran: kinds of nodes, operators, dtypes, clauses, and how their calls ended.

| family      | of                                                                                              |
|-------------|-------------------------------------------------------------------------------------------------|
| `kinds`     | the classes of nodes                                                                            |
| `operators` | scalar operators, intrinsics, operators of graphs, builtins of graphs                           |
| `dtypes`    | the dtypes of expressions and buffers                                                           |
| `clauses`   | the clauses of those operators, and those that the verdicts follow from                         |
| `outcomes`  | how calls of the reference ended: `defined`, the code of a failure                              |

A clause counts when a program has an operator that cites it, or a verdict follows from it: its meaning was computed
for some operands, not for all. Clauses of node kinds are not counted by themselves. Only
some batches are counted (`batch.COVER`), and whole programs: a statement that no call reached counts too.
"""

from collections.abc import Iterable, Mapping
from functools import cache

from refmlc.diag.catalogue import CODES
from refmlc.lang.dtypes import SCALARS, DType
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import walk
from refmlc.lang.ops.graph import BUILTINS, GRAPH_OPS
from refmlc.lang.ops.intrinsics import INTRINSICS
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.oracle.record import operator_of

FAMILIES = ("clauses", "operators", "kinds", "dtypes", "outcomes")
DEFINED = "defined"
OUTCOMES = ("RM3", "RM4")  # codes of runs that end: undefined behaviour, traps


@cache
def clauses_of_operators() -> Mapping[str, str]:
    """The clause of each operator that a program can name."""
    return {
        **{name: row.contract.clause for name, row in SCALAR_OPS.items()},
        **{name: row.clause for name, row in INTRINSICS.items()},
        **{name: row.clause for name, row in {**GRAPH_OPS, **BUILTINS}.items()},
    }


@cache
def there_is() -> Mapping[str, int]:
    """How many of each family there are."""
    return {family: len(names) for family, names in all_parts().items()}


@cache
def all_parts() -> Mapping[str, frozenset[str]]:
    """The parts of each family."""
    rows = clauses_of_operators()
    clauses = {*rows.values(), *(row.clause for row in CODES.values() if row.clause)}
    return {
        "clauses": frozenset(clauses - {""}),
        "operators": frozenset(rows),
        "kinds": kinds_there_are(),
        "dtypes": frozenset(map(str, SCALARS)),
        "outcomes": frozenset({DEFINED, *(code for code in CODES if code.startswith(OUTCOMES))}),
    }


@cache
def kinds_there_are() -> frozenset[str]:
    """The classes of nodes that programs are made of."""
    return frozenset(
        _kind(each)
        for home in (tir, relax)
        for each in vars(home).values()
        if isinstance(each, type) and issubclass(each, Node) and each.__module__ == home.__name__
    )


def _kind(of: type) -> str:
    return f"{of.__module__.rpartition('.')[2]}.{of.__name__}"


def covered(modules: Iterable[IRModule], ends: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The parts that occur in `modules`, whose calls ended with these codes, or `defined`."""
    ends = set(ends)
    classes: set[type] = set()
    names_by_family: dict[str, set[str]] = {family: set() for family in FAMILIES}
    rows = clauses_of_operators()
    for module in modules:
        for function in module.functions.values():
            for node in walk(function):
                classes.add(type(node))
                _parts(node, names_by_family)
    names_by_family["kinds"] = set(map(_kind, classes))
    names_by_family["clauses"] |= {rows[name] for name in names_by_family["operators"] if name in rows}
    names_by_family["clauses"] |= {CODES[code].clause for code in ends if code in CODES}
    names_by_family["outcomes"] = ends & {DEFINED, *CODES}
    return {family: tuple(sorted(names - {""})) for family, names in names_by_family.items()}


def _parts(node: Node, names_by_family: dict[str, set[str]]) -> None:
    name = operator_of(node)
    if name:
        names_by_family["operators"].add(name)
    dtype = getattr(node, "dtype", None)
    if isinstance(dtype, DType):
        names_by_family["dtypes"].add(dtype.element)
