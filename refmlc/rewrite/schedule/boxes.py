"""Boxes: what of a buffer one iteration of a loop touches, and the loops that run over a box.

The arithmetic is that of `lang.arith`. Which boxes follow from it is decided here, apart from `native.analysis.boxes`
(what is certainly written, by which C is generated), on purpose: each can then be checked against the other.

A side of a box is known where every access has, in that dimension, the same sum of what is fixed in the iteration, and
all that varies inside of it has constant bounds. A side that is not known is all of the dimension.

    for i in 8: for j in 4: … A[i * 2 + j]     in one iteration over `i`: from i * 2 on, 4 elements
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from refmlc.lang.arith.interval import ANY, EMPTY, Interval
from refmlc.lang.dtypes import BOOL, DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.lang.ir.visit import walk
from refmlc.rewrite.schedule.accesses import Accesses, interval
from refmlc.rewrite.schedule.linear import Sum, atoms, sum_from, sum_of
from refmlc.rewrite.schedule.loops import serial_loop
from refmlc.rewrite.schedule.places import TRUE, fresh_name, integer, place_of_loop


@dataclass(frozen=True)
class Side:
    """One dimension of a box: `length` elements from `start` on, a sum of what is fixed."""

    start: Sum
    length: int

    def is_all_of(self, size: tir.Expr) -> bool:
        """Whether it holds a dimension of this size."""
        start = self.start.only
        if start is None or not isinstance(size, tir.IntImm):
            return False
        return start <= 0 and start + self.length >= size.value


def box(uses: Accesses, buffer: tir.Buffer) -> list[Side | None]:
    """The sides of what `uses` touches of a buffer; None: all of the dimension, as far as is known."""
    columns = zip(*uses.indices[buffer], strict=True)
    return [_side([sum_of(index, uses.axes) for index in column], uses) for column in columns]


def _side(column: Sequence[Sum | None], uses: Accesses) -> Side | None:
    fixed: set[frozenset[tuple[object, int]]] = set()
    spread = EMPTY
    for index_sum in column:
        bounds = None if index_sum is None else _bounds(index_sum, uses)
        if bounds is None:
            return None
        fixed.add(bounds[0])
        spread = spread.join(bounds[1])
    if index_sum is None or len(fixed) != 1 or spread.low is None or spread.high is None:
        return None
    terms = {atom: factor for atom, factor in atoms(index_sum).items() if atom[0] not in uses.inner}
    return Side(sum_from(terms, spread.low), spread.high - spread.low + 1)


def _bounds(index_sum: Sum, uses: Accesses) -> tuple[frozenset[tuple[object, int]], Interval] | None:
    """What is fixed, and the values of the rest."""
    rest = Interval(index_sum.constant, index_sum.constant)
    fixed: set[tuple[object, int]] = set()
    for atom, factor in atoms(index_sum).items():
        var, op, divisor = atom
        if var not in uses.inner:
            fixed.add((atom, factor))
            continue
        values = uses.inner[var]
        if values == ANY:
            return None
        if op:
            by = Interval(divisor, divisor)
            values = values.floordiv(by) if op == "floordiv" else values.floormod(by)
        rest = rest.plus(values.scaled(factor))
    return frozenset(fixed), rest


def expression(index_sum: Sum, dtype: DType) -> tir.Expr | None:
    """The sum as an expression; None where its variables are of another dtype."""
    total: tir.Expr | None = None
    for (var, op, divisor), factor in atoms(index_sum).items():
        if var.dtype != dtype:
            return None
        term: tir.Expr = tir.Apply(op, (var, integer(divisor, dtype)), dtype) if op else var
        term = term if factor == 1 else tir.Apply("mul", (term, integer(factor, dtype)), dtype)
        total = term if total is None else tir.Apply("add", (total, term), dtype)
    if total is None:
        return integer(index_sum.constant, dtype)
    return tir.Apply("add", (total, integer(index_sum.constant, dtype)), dtype) if index_sum.constant else total


@dataclass(frozen=True)
class Target:
    """An axis of a block, the size of its dimension, and the side that it is to run over."""

    axis: tir.IterVar
    size: tir.Expr
    side: Side | None


def run_over(
    func: tir.PrimFunc,
    realize: tir.SBlockRealize,
    targets: Sequence[Target],
    inner_loops: Sequence[tir.For],
    at: tir.Var,
    *,
    unit: bool,
) -> tir.Stmt:
    """The block with its spatial axes run over sides, in loops of their own, then in the loops `inner_loops`.

    It stands in the loop over `at`. Instances that are not in the dimension are guarded. Loops of one iteration are
    made where `unit` says so.
    """
    values = dict(zip((axis.var for axis in realize.block.iter_vars), realize.iter_values, strict=True))
    loops: list[tuple[tir.Var, tir.Expr]] = []
    condition: tir.Expr = TRUE
    ranges = _enclosing(func, at)
    for number, target in enumerate(targets):
        var = tir.Var(fresh_name(func, f"ax{number}"), target.axis.var.dtype)
        value, length, guards = _run(target, var, ranges, unit=unit)
        values[target.axis.var] = value
        loops += [] if length is None else [(var, length)]
        for guard in guards:
            condition = guard if condition is TRUE else tir.And(condition, guard)
    iter_values = tuple(values[axis.var] for axis in realize.block.iter_vars)
    body: tir.Stmt = replace(realize, iter_values=iter_values, predicate=condition)
    for loop in reversed(inner_loops):
        body = replace(loop, body=body)
    for var, length in reversed(loops):
        body = serial_loop(var, length, body)
    return body


def _run(
    target: Target, var: tir.Var, ranges: Mapping[tir.Var, Interval], *, unit: bool
) -> tuple[tir.Expr, tir.Expr | None, list[tir.Expr]]:
    """The value of an axis, the extent of the loop over `var` that it needs (None: no loop), and its guards."""
    dtype = target.axis.var.dtype
    start = None if target.side is None else expression(target.side.start, dtype)
    if target.side is None or start is None or target.side.is_all_of(target.size):
        is_unit = isinstance(target.size, tir.IntImm) and target.size.value == 1
        return (integer(0, dtype), None, []) if is_unit and not unit else (var, target.size, [])
    length = target.side.length
    value: tir.Expr = start
    if length > 1 or unit:
        zero = isinstance(start, tir.IntImm) and start.value == 0
        value = var if zero else tir.Apply("add", (start, var), dtype)
    bounds = _bounds(target.side.start, Accesses({}, frozenset(), {}, ranges))
    start_range = ANY if bounds is None or bounds[0] else bounds[1]
    guards: list[tir.Expr] = []
    if start_range.low is None or start_range.low < 0:
        guards.append(tir.Apply("le", (integer(0, dtype), value), BOOL))
    if (
        start_range.high is None
        or not isinstance(target.size, tir.IntImm)
        or start_range.high + length > target.size.value
    ):
        guards.append(tir.Apply("lt", (value, target.size), BOOL))
    return value, None if length == 1 and not unit else integer(length, dtype), guards


def _enclosing(func: tir.PrimFunc, at: tir.Var) -> dict[tir.Var, Interval]:
    """The values of the loops in which the body of the loop over `at` stands."""
    place = place_of_loop(func, at)
    loops = [stmt for stmt in (*place.around, place.stmt) if isinstance(stmt, tir.For)]
    return {stmt.loop_var: interval(stmt) for stmt in loops}


def targets_of(realize: tir.SBlockRealize, sides: Mapping[tir.Var, Side | None], buffer: tir.Buffer) -> list[Target]:
    """The spatial axes of a block that stores at them, with the sizes of their dimensions."""
    stores = [node for node in walk(realize.block.body) if isinstance(node, tir.BufferStore)]
    sizes = dict(zip(stores[0].indices, buffer.shape, strict=True))
    spatial = [axis for axis in realize.block.iter_vars if axis.kind is IterKind.SPATIAL]
    return [Target(axis, sizes[axis.var], sides.get(axis.var)) for axis in spatial]
