"""What a condition says of the domains of variables: under `1 <= i and i < 57` the values of `i` are 1 … 56.

| condition               | where it holds                  | where it does not               |
|-------------------------|---------------------------------|---------------------------------|
| a variable and a number | the values that satisfy it      | the values that do not          |
| `a and b`               | both                            | nothing is known                |
| `a or b`                | nothing is known                | neither                         |

Domains are those of loops and axes, with numbers as ends; what leaves a gap in one (`i != 3`) is not used.
"""

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from refmlc.lang.arith.interval import Interval
from refmlc.lang.ir import tir

Domain: TypeAlias = tuple[tir.Expr, tir.Expr]
"""The first value, and the number of values."""
NEGATED: Final = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "le": "gt", "gt": "le"}
MIRRORED: Final = {"eq": "eq", "ne": "ne", "lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}


def narrowed(domain: Callable[[tir.Var], Domain | None], condition: tir.Expr, *, holds: bool) -> dict[tir.Var, Domain]:
    """The domains that are smaller where `condition` has this value; `domain`: those around it."""
    result: dict[tir.Var, Domain] = {}
    for var, op, number in _comparisons(condition, holds=holds):
        least, extent = result.get(var) or domain(var) or (None, None)
        if isinstance(least, tir.IntImm) and isinstance(extent, tir.IntImm):
            values = _values(Interval(least.value, least.value + extent.value - 1), op, number)
            if values.low is not None and values.high is not None and not values.is_empty:
                first = tir.IntImm(least.dtype, values.low)
                result[var] = first, tir.IntImm(extent.dtype, values.high - values.low + 1)
    return result


def _comparisons(condition: tir.Expr, *, holds: bool) -> Iterator[tuple[tir.Var, str, int]]:
    """The comparisons of a variable and a number that are known to hold."""
    match condition:
        case tir.And(a, b) if holds:
            yield from _comparisons(a, holds=True)
            yield from _comparisons(b, holds=True)
        case tir.Or(a, b) if not holds:
            yield from _comparisons(a, holds=False)
            yield from _comparisons(b, holds=False)
        case tir.Apply(op=op, args=(tir.Var() as var, tir.IntImm(value=number))) if op in NEGATED:
            yield var, op if holds else NEGATED[op], number
        case tir.Apply(op=op, args=(tir.IntImm(value=number), tir.Var() as var)) if op in NEGATED:
            yield var, MIRRORED[op if holds else NEGATED[op]], number


def _values(values: Interval, op: str, number: int) -> Interval:
    """Those of the values that satisfy the comparison; `ne` only cuts an end off."""
    match op:
        case "eq":
            return values.meet(Interval(number, number))
        case "lt":
            return values.meet(Interval(None, number - 1))
        case "le":
            return values.meet(Interval(None, number))
        case "gt":
            return values.meet(Interval(number + 1, None))
        case "ge":
            return values.meet(Interval(number, None))
        case _ if number == values.low:
            return values.meet(Interval(number + 1, None))
        case _ if number == values.high:
            return values.meet(Interval(None, number - 1))
        case _:
            return values
