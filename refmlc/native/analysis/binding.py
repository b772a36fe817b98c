"""How the loops around a block go through its axes.

| what is proved                                                      | how                                    |
|---------------------------------------------------------------------|----------------------------------------|
| every point of the axes is reached                                  | the box of one instance grows to all   |
| once only                                                           | there are as many points of the loops  |
| for one spatial point the reduction axes go up, the first slowest   | numbered row by row, both are equal    |
| which reduction point comes does not depend on the spatial one      | no loop moves axes of both kinds       |

A predicate may cut the axes to their domains: `T.where(i0 * 4 + i1 < 10)`. Then the loops go through a larger box, once
each point, and the predicate holds exactly at the points of the domain.
"""

from dataclasses import dataclass
from math import prod

from refmlc.lang.arith.polynomial import Poly, constant, single, variables
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind, IterKind
from refmlc.lang.ir.visit import walk
from refmlc.lang.ops.short_text import short_text
from refmlc.native.analysis.boxes import Box, Loop, Span, after_loop, covers, point
from refmlc.native.analysis.facts import Facts
from refmlc.native.nest import Axis


@dataclass(frozen=True, slots=True)
class BlockLoops:
    """A block under its loops: axes in the order of the loops."""

    realize: tir.SBlockRealize
    spatial: tuple[Axis, ...]
    reduce: tuple[Axis, ...]


def bind_axes(stmt: tir.For | tir.SBlockRealize, facts: Facts) -> BlockLoops | str:
    """The block in `stmt` and its axes, if the loops go through them as the table says; else why not."""
    loops, inner = _perfect(stmt)
    if not isinstance(inner, tir.SBlockRealize):
        blocks = sum(isinstance(node, tir.SBlockRealize) for node in walk(inner))
        return "the loops hold more than one block" if blocks else "there is no block: only axes say what may move"
    obstacle = next((reason for loop in loops if (reason := odd_loop(loop))), "") or odd_block(inner)
    if obstacle:
        return obstacle
    for loop in loops:
        facts = facts.bind_range(loop.loop_var, loop.min, loop.extent)
    forms: list[Poly] = []
    for axis, value in zip(inner.block.iter_vars, inner.iter_values, strict=True):
        form = facts.form(value)
        if form is None or not set(variables(form)) <= {loop.loop_var for loop in loops}:
            return (
                f"axis `{axis.var.name}` is bound to `{short_text(value)}`, which is not of the loops around it alone"
            )
        if not _is_defined(facts, value):
            return f"`{short_text(value)}` may overflow"
        forms.append(form)
    box = _swept(inner.block, loops, forms, facts)
    if isinstance(box, str):
        return box
    if not _is_defined(facts, inner.predicate):
        return f"`{short_text(inner.predicate)}` may overflow"
    return _not_cut(inner, forms, box, facts) or _in_order(inner, loops, forms, box)


def _perfect(stmt: tir.Stmt) -> tuple[list[tir.For], tir.Stmt]:
    """The loops of a perfect nest, and what they hold."""
    loops = []
    while isinstance(stmt, tir.For):
        loops.append(stmt)
        stmt = stmt.body
    return loops, stmt


def odd_loop(loop: tir.For) -> str:
    """What in the head of a loop forbids another order; empty: nothing."""
    name = f"loop `{loop.loop_var.name}`"
    if not isinstance(loop.min, tir.IntImm) or not isinstance(loop.extent, tir.IntImm):
        return f"the extent of {name} is `{short_text(loop.extent)}`, not a constant"
    if loop.extent.value < 1:
        return f"{name} has no iteration"
    if loop.step is not None:
        return f"{name} has a step"
    return f"{name} is a thread axis" if loop.kind is ForKind.THREAD_BINDING or loop.thread is not None else ""


def odd_block(realize: tir.SBlockRealize) -> str:
    """What in the axes of a block forbids another order; empty: nothing."""
    block = realize.block
    if len(block.iter_vars) != len(realize.iter_values):
        return f"block `{block.name}` binds not each of its axes"
    for axis in block.iter_vars:
        if axis.kind not in (IterKind.SPATIAL, IterKind.REDUCE):
            return f"axis `{axis.var.name}` is neither spatial nor of a reduction"
        if not isinstance(axis.dom.extent, tir.IntImm) or not isinstance(axis.dom.min, tir.IntImm):
            return f"the extent of axis `{axis.var.name}` is `{short_text(axis.dom.extent)}`, not a constant"
        if axis.dom.min.value != 0 or axis.dom.extent.value < 1:
            return f"axis `{axis.var.name}` does not go from 0 up"
    names = [axis.var for axis in block.iter_vars]
    return "" if len(set(names)) == len(names) else f"block `{block.name}` has an axis twice"


def _is_defined(facts: Facts, value: tir.Expr) -> bool:
    match value:
        case tir.Apply(_, args):
            return facts.is_defined(value) and all(_is_defined(facts, arg) for arg in args)
        case tir.Cast(_, inner):
            return facts.is_defined(value) and _is_defined(facts, inner)
        case tir.And(a, b):
            return _is_defined(facts, a) and _is_defined(facts, b)
        case _:
            return isinstance(value, (tir.Var, tir.IntImm))


def _swept(block: tir.SBlock, loops: list[tir.For], forms: list[Poly], facts: Facts) -> list[int] | str:
    """The extents, from 0 on, of the box that the loops go through, each point once; else why they do not."""
    if len({loop.loop_var for loop in loops}) != len(loops):
        return f"two loops of block `{block.name}` have one variable"
    box, remaining = point(tuple(forms)), list(reversed(loops))
    while remaining:
        loop, larger = next(
            ((loop, larger) for loop in remaining if (larger := _box_of_loop(facts, box, loop))), (remaining[0], None)
        )
        if larger is None:
            return f"loop `{loop.loop_var.name}` does not go through the axes of block `{block.name}` one by one"
        remaining.remove(loop)
        box = larger
    extents = [span.extent.only or 0 for span in box if span.low.only == 0]
    domain = tuple(Span(constant(0), constant(axis.extent)) for axis in _axes(block))
    if len(extents) != len(box) or not covers(facts, box, domain):
        return f"the loops do not go through the whole domain of block `{block.name}`"
    instances = prod(_extent(loop) for loop in loops)
    if prod(extents) != instances:
        return f"block `{block.name}` is executed {instances} times and has {prod(extents)} points"
    return extents


def _not_cut(realize: tir.SBlockRealize, forms: list[Poly], box: list[int], facts: Facts) -> str:
    """Why the predicate does not hold exactly at the points of the domain; empty: it does."""
    parts = facts.in_full(realize.predicate)
    axes = _axes(realize.block)
    ends = [constant(axis.extent - 1) - form for axis, form in zip(axes, forms, strict=True)]
    if parts is None or any(part not in ends for part in parts):
        return f"block `{realize.block.name}` has a condition that is not proved: `{short_text(realize.predicate)}`"
    for axis, extent, end in zip(axes, box, ends, strict=True):
        if extent > axis.extent and end not in parts:
            return f"axis `{axis.var.name}` leaves its domain 0 … {axis.extent - 1}"
    return ""


def _box_of_loop(facts: Facts, box: Box, loop: tir.For) -> Box | None:
    """The box of all iterations of one loop, in whatever order they and the other loops are executed."""
    return after_loop(facts, box, Loop(loop.loop_var, constant(_first(loop)), constant(_extent(loop)), runs=True))


def _in_order(realize: tir.SBlockRealize, loops: list[tir.For], forms: list[Poly], box: list[int]) -> BlockLoops | str:
    """The axes in the order of the loops, if the reductions go up."""
    places = {loop.loop_var: place for place, loop in enumerate(loops)}
    axes = list(zip(_axes(realize.block), realize.block.iter_vars, forms, box, strict=True))
    axes.sort(key=lambda row: min((places[var] for var in variables(row[2])), default=len(loops)))
    spatial = [(axis, form) for axis, node, form, _ in axes if node.kind is IterKind.SPATIAL]
    reduce = [(axis, form, extent) for axis, node, form, extent in axes if node.kind is IterKind.REDUCE]
    moving = {var for _, form, _ in reduce for var in variables(form)}
    if not moving.isdisjoint(var for _, form in spatial for var in variables(form)):
        return f"one loop of block `{realize.block.name}` moves spatial and reduction axes at once"
    reductions = [loop for loop in loops if loop.loop_var in moving]
    number = _numbered([(form, extent) for _, form, extent in reduce])
    if number != _numbered([(single(loop.loop_var).plus(-_first(loop)), _extent(loop)) for loop in reductions]):
        return f"the reductions of block `{realize.block.name}` are not in the order of its axes"
    return BlockLoops(realize, tuple(axis for axis, _ in spatial), tuple(axis for axis, _, _ in reduce))


def _numbered(digits: list[tuple[Poly, int]]) -> Poly:
    """The number of a point, row by row."""
    total = constant(0)
    for digit, extent in digits:
        total = total.scaled(extent) + digit
    return total


def _axes(block: tir.SBlock) -> list[Axis]:
    return [
        Axis(axis.var, axis.dom.extent.value) for axis in block.iter_vars if isinstance(axis.dom.extent, tir.IntImm)
    ]


def _extent(loop: tir.For) -> int:
    return loop.extent.value if isinstance(loop.extent, tir.IntImm) else 0


def _first(loop: tir.For) -> int:
    return loop.min.value if isinstance(loop.min, tir.IntImm) else 0
