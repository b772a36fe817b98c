"""`blockize`: the loops from one inward, and the block in them, as a block of their own.

Before `for i0, i1: B(vi = i0 * 4 + i1)`, after, at `i1`: `for i0: B_o(vo = i0) with: for i1: B(v = i1)`, `vi` being
`vo * 4 + v` in the text of B.

| the value of an axis             | its outer axis           | its inner axis  | it stands for     |
|----------------------------------|--------------------------|-----------------|-------------------|
| of loops outside only            | the axis itself          | none            | outer             |
| of loops inside only             | of extent 1              | the axis itself | inner             |
| outside · E + inside, in 0 … E-1 | of extent (the axis) / E | of extent E     | outer · E + inner |

An axis of extent 1 has no inner one. A reduction has its init in the outer block, for all elements of that at once.

Legal where

* nothing but loops stands between the loop and the block, and all values divide as above;
* the condition of the block is one of the loops outside, and one of those inside;
* of a reduction: the loops inside could be decomposed at the first of them (`reduction`).

The instances are executed in the order that they had. An element is started before the first of its terms as before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.diag.entry import entry_point, entry_points
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import substitute, walk
from refmlc.rewrite.schedule.boxes import expression
from refmlc.rewrite.schedule.draws import Choices, Draw, Drawn, loops as loops_of
from refmlc.rewrite.schedule.handles import BlockRV, LoopRV
from refmlc.rewrite.schedule.linear import Sum, atoms, sum_from, sum_of
from refmlc.rewrite.schedule.loops import conjunction, plain
from refmlc.rewrite.schedule.places import TRUE, conjuncts, fresh_name, get_loop, integer, refused, with_stmt
from refmlc.rewrite.schedule.reduction import Nest, init_nest, same_place
from refmlc.rewrite.schedule.session import Session

STEP = "blockize"


@dataclass(frozen=True)
class AxisSplit:
    """An axis as an outer and an inner one with what they are bound to, and what the axis is in terms of both."""

    outer: tir.IterVar
    outer_value: tir.Expr
    inner: tir.IterVar | None
    inner_value: tir.Expr | None
    value: tir.Expr


@entry_point
def blockize(func: tir.PrimFunc, loop: tir.Var) -> tuple[tir.PrimFunc, str]:
    """The loop and what is in it as a block. Returns the function and the name of that. Fails: RM112, RM504."""
    loops, realize = _perfect_nest(get_loop(func, loop))
    block = realize.block
    variables = {node.loop_var for node in loops}
    pairs = zip(block.iter_vars, realize.iter_values, strict=True)
    rows = [_divide(axis, value, loops, variables) for axis, value in pairs]
    outside, inside = _conditions(realize, variables)
    table: dict[Node, Node] = {axis.var: row.value for axis, row in zip(block.iter_vars, rows, strict=True)}
    inner_axes = [(row.inner, row.inner_value) for row in rows if row.inner is not None and row.inner_value is not None]
    values = tuple(value for _, value in inner_axes)
    inner_block = replace(
        substitute(replace(block, iter_vars=()), table), iter_vars=tuple(axis for axis, _ in inner_axes)
    )
    first = None
    if inner_block.init is not None and any(row.outer.kind is not IterKind.SPATIAL for row in rows):
        nest = _nest(loops, inner_axes, realize.span)
        same_place(func, realize, nest, STEP)
        first = init_nest(func, tir.SBlockRealize(values, inside, inner_block), nest, inner_block.init, STEP)
        inner_block = replace(inner_block, init=None)
    body: tir.Stmt = tir.SBlockRealize(values, inside, inner_block)
    for node in reversed(loops):
        body = replace(node, body=body)
    name = fresh_name(func, f"{block.name}_o")
    outer_block = tir.SBlock(name, tuple(row.outer for row in rows), None, None, body, first)
    return with_stmt(
        func, loops[0], tir.SBlockRealize(tuple(row.outer_value for row in rows), outside, outer_block)
    ), name


def _perfect_nest(first: tir.For) -> tuple[tuple[tir.For, ...], tir.SBlockRealize]:
    """The loops from the given one inward, and the block in them."""
    loops: list[tir.For] = []
    stmt: tir.Stmt = first
    while isinstance(stmt, tir.For):
        plain(stmt, STEP)
        loops.append(stmt)
        stmt = stmt.body
    if not isinstance(stmt, tir.SBlockRealize):
        raise refused(STEP, f"not only loops and one block are in the loop over `{first.loop_var.name}`", first.span)
    return tuple(loops), stmt


def _divide(axis: tir.IterVar, value: tir.Expr, loops: Sequence[tir.For], variables: set[tir.Var]) -> AxisSplit:
    """The axis divided between the loops inside and those outside."""
    var, dtype = axis.var, axis.var.dtype
    outer, inner = tir.Var(f"{var.name}_o", dtype), tir.Var(f"{var.name}_i", dtype)
    variables_used = {part for part in walk(value) if isinstance(part, tir.Var)}
    if not variables_used & variables:
        return AxisSplit(replace(axis, var=outer), value, None, None, outer)
    size = axis.dom.extent.value if isinstance(axis.dom.extent, tir.IntImm) else None
    if variables_used <= variables:
        if size == 1:  # there is one value that the axis can have
            return AxisSplit(replace(axis, var=outer), axis.dom.min, None, None, outer)
        unit = tir.Range(integer(0, dtype), integer(1, dtype))
        whole_axis = replace(axis, var=inner)
        return AxisSplit(tir.IterVar(outer, unit, axis.kind), integer(0, dtype), whole_axis, value, inner)
    index_sum = sum_of(value, {})
    parts = None if index_sum is None else _parts(index_sum, loops, variables)
    begin = isinstance(axis.dom.min, tir.IntImm) and axis.dom.min.value == 0
    if parts is None or size is None or not begin or size % parts[2]:
        raise refused(STEP, f"`{var.name}` does not divide between the loops outside and inside", value.span)
    outside, inside, factor = expression(parts[0], dtype), expression(parts[1], dtype), parts[2]
    if outside is None or inside is None:
        raise refused(STEP, f"the loops of `{var.name}` are of another dtype", value.span)
    zero, times = integer(0, dtype), integer(factor, dtype)
    base = tir.Apply("mul", (outer, times), dtype)
    return AxisSplit(
        tir.IterVar(outer, tir.Range(zero, integer(size // factor, dtype)), axis.kind), outside,
        tir.IterVar(inner, tir.Range(zero, times), axis.kind), inside,
        tir.Apply("add", (base, inner), dtype),
    )  # fmt: skip


def _parts(index_sum: Sum, loops: Sequence[tir.For], variables: set[tir.Var]) -> tuple[Sum, Sum, int] | None:
    """Outer and inner part and E, where the value is outer · E + inner, and inner is exactly 0 … E - 1."""
    by_var = {loop.loop_var: loop for loop in loops}
    inner = {atom: factor for atom, factor in atoms(index_sum).items() if atom[0] in variables}
    factor = 1
    for (var, op, _), times in sorted(inner.items(), key=lambda term: term[1]):
        low, extent = by_var[var].min, by_var[var].extent
        if op or times != factor or not isinstance(low, tir.IntImm) or low.value or not isinstance(extent, tir.IntImm):
            return None
        factor *= extent.value
    outer = {atom: times for atom, times in atoms(index_sum).items() if atom not in inner}
    if factor < 1 or index_sum.constant % factor or any(times % factor for times in outer.values()):
        return None
    divided = {atom: times // factor for atom, times in outer.items()}
    return sum_from(divided, index_sum.constant // factor), sum_from(inner), factor


def _conditions(realize: tir.SBlockRealize, variables: set[tir.Var]) -> tuple[tir.Expr, tir.Expr]:
    """What the condition of the block says of the loops outside, and of those inside."""
    sides: dict[bool, tir.Expr] = {False: TRUE, True: TRUE}
    for condition in conjuncts(realize.predicate):
        variables_used = {part for part in walk(condition) if isinstance(part, tir.Var)}
        inside = bool(variables_used & variables)
        if (inside and variables_used - variables) or any(
            isinstance(part, tir.BufferLoad | tir.Call) for part in walk(condition)
        ):
            raise refused(STEP, "the condition is of loops outside and inside together", realize.span)
        sides[inside] = conjunction(sides[inside], condition)
    return sides[False], sides[True]


def _nest(loops: tuple[tir.For, ...], inner_axes: Sequence[tuple[tir.IterVar, tir.Expr]], span: Span | None) -> Nest:
    """The loops inside by the kind of the axes that they are bound to, which must not share any."""
    used: dict[bool, set[tir.Var]] = {True: set(), False: set()}
    for axis, value in inner_axes:
        used[axis.kind is IterKind.SPATIAL] |= {part for part in walk(value) if isinstance(part, tir.Var)}
    once = {loop.loop_var for loop in loops if isinstance(loop.extent, tir.IntImm) and loop.extent.value == 1}
    idle = {loop.loop_var for loop in loops} - used[True] - used[False]
    if used[True] & used[False] or idle - once:
        raise refused(STEP, "axes of both kinds share a loop, or a loop is of no axis", span)
    return Nest(loops, frozenset(used[True]), frozenset(used[False] | idle))


def _draw(func: tir.PrimFunc, choices: Choices) -> Drawn:
    loop = choices.pick(loops_of(func)).loop_var
    return f"blockize {loop.name}", blockize(func, loop)[0]


@entry_points
class BlockSteps(Session):
    """The method that makes a block of loops."""

    draws: ClassVar[Mapping[str, Draw]] = {"blockize": _draw}

    def blockize(self, target: LoopRV, *, preserve_unit_iters: bool = True) -> BlockRV:
        """Make a block of the loop and what is in it; that block. Axes of extent 1 stay."""
        if not isinstance(target, LoopRV):
            raise fail(UNSUPPORTED_CONSTRUCT, "`blockize` makes a block of a loop; of blocks it is not there")
        del preserve_unit_iters
        return self._change_block(blockize, target)
