"""How the loops around a block go through its axes.

| what is proved                                                      | how                                    |
|---------------------------------------------------------------------|----------------------------------------|
| every point of the axes is reached                                  | the box of one instance grows to all   |
| once only                                                           | there are as many points of the loops  |
| for one spatial point the reduction axes go up, the first slowest   | numbered row by row, both are equal    |
| which reduction point comes does not depend on the spatial one      | no loop moves axes of both kinds       |
"""

from dataclasses import dataclass
from math import prod

from refmlc.codegen.analysis.boxes import Box, Loop, Span, after_loop, covers, point
from refmlc.codegen.analysis.facts import Facts
from refmlc.codegen.analysis.polynomial import Poly, constant, single, variables
from refmlc.codegen.analysis.words import shown
from refmlc.codegen.nest import Axis
from refmlc.ir import tir
from refmlc.ir.kinds import ForKind, IterKind
from refmlc.ir.visit import walk


@dataclass(frozen=True, slots=True)
class Bound:
    """A block under its loops: axes in the order of the loops."""

    realize: tir.SBlockRealize
    spatial: tuple[Axis, ...]
    reduce: tuple[Axis, ...]


def bind_axes(stmt: tir.For | tir.SBlockRealize, facts: Facts) -> Bound | str:
    """The block in `stmt` and its axes, if the loops go through them as the table says; else why not."""
    loops, inner = _perfect(stmt)
    if not isinstance(inner, tir.SBlockRealize):
        held = sum(isinstance(node, tir.SBlockRealize) for node in walk(inner))
        return "the loops hold more than one block" if held else "there is no block: only axes say what may move"
    wrong = next((reason for loop in loops if (reason := _odd_loop(loop))), "") or _odd_block(inner)
    if wrong:
        return wrong
    for loop in loops:
        facts = facts.bind_range(loop.loop_var, loop.min, loop.extent)
    if facts.holds(inner.predicate) is not True:
        return f"block `{inner.block.name}` has a condition that is not proved: `{shown(inner.predicate)}`"
    forms: list[Poly] = []
    for axis, value in zip(inner.block.iter_vars, inner.iter_values, strict=True):
        form = facts.form(value)
        if form is None or not set(variables(form)) <= {loop.loop_var for loop in loops}:
            return f"axis `{axis.var.name}` is bound to `{shown(value)}`, which is not of the loops around it alone"
        if not _is_defined(facts, value):
            return f"`{shown(value)}` may overflow"
        forms.append(form)
    return _not_bijective(inner.block, loops, forms, facts) or _in_order(inner, loops, forms)


def _perfect(stmt: tir.Stmt) -> tuple[list[tir.For], tir.Stmt]:
    """The loops of a perfect nest, and what they hold."""
    loops = []
    while isinstance(stmt, tir.For):
        loops.append(stmt)
        stmt = stmt.body
    return loops, stmt


def _odd_loop(loop: tir.For) -> str:
    name = f"loop `{loop.loop_var.name}`"
    if not isinstance(loop.min, tir.IntImm) or not isinstance(loop.extent, tir.IntImm):
        return f"the extent of {name} is `{shown(loop.extent)}`, not a constant"
    if loop.extent.value < 1:
        return f"{name} has no iteration"
    if loop.step is not None:
        return f"{name} has a step"
    return f"{name} is a thread axis" if loop.kind is ForKind.THREAD_BINDING or loop.thread is not None else ""


def _odd_block(realize: tir.SBlockRealize) -> str:
    block = realize.block
    if len(block.iter_vars) != len(realize.iter_values):
        return f"block `{block.name}` binds not each of its axes"
    for axis in block.iter_vars:
        if axis.kind not in (IterKind.SPATIAL, IterKind.REDUCE):
            return f"axis `{axis.var.name}` is neither spatial nor of a reduction"
        if not isinstance(axis.dom.extent, tir.IntImm) or not isinstance(axis.dom.min, tir.IntImm):
            return f"the extent of axis `{axis.var.name}` is `{shown(axis.dom.extent)}`, not a constant"
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
        case _:
            return isinstance(value, (tir.Var, tir.IntImm))


def _not_bijective(block: tir.SBlock, loops: list[tir.For], forms: list[Poly], facts: Facts) -> str:
    """Why the loops do not go through each point of the axes exactly once; empty: they do."""
    whole = tuple(Span(constant(0), constant(axis.extent)) for axis in _axes(block))
    points, instances = prod(axis.extent for axis in _axes(block)), prod(_extent(loop) for loop in loops)
    box, left = point(tuple(forms)), list(reversed(loops))
    while left:
        loop, grown = next(((loop, grown) for loop in left if (grown := _grown(facts, box, loop))), (left[0], None))
        if grown is None:
            return f"loop `{loop.loop_var.name}` does not go through the axes of block `{block.name}` one by one"
        left.remove(loop)
        box = grown
    if len({loop.loop_var for loop in loops}) != len(loops) or not covers(facts, box, whole):
        return f"the loops do not go through the whole domain of block `{block.name}`"
    if points != instances:
        return f"block `{block.name}` is executed {instances} times and has {points} points"
    return ""


def _grown(facts: Facts, box: Box, loop: tir.For) -> Box | None:
    """The box of all iterations of one loop, in whatever order they and the other loops are executed."""
    return after_loop(facts, box, Loop(loop.loop_var, constant(_first(loop)), constant(_extent(loop)), runs=True))


def _in_order(realize: tir.SBlockRealize, loops: list[tir.For], forms: list[Poly]) -> Bound | str:
    """The axes in the order of the loops, if the reductions go up."""
    places = {loop.loop_var: place for place, loop in enumerate(loops)}
    axes = list(zip(_axes(realize.block), realize.block.iter_vars, forms, strict=True))
    axes.sort(key=lambda each: min((places[var] for var in variables(each[2])), default=len(loops)))
    spatial = [(axis, form) for axis, node, form in axes if node.kind is IterKind.SPATIAL]
    reduce = [(axis, form) for axis, node, form in axes if node.kind is IterKind.REDUCE]
    moving = {var for _, form in reduce for var in variables(form)}
    if not moving.isdisjoint(var for _, form in spatial for var in variables(form)):
        return f"one loop of block `{realize.block.name}` moves spatial and reduction axes at once"
    reductions = [loop for loop in loops if loop.loop_var in moving]
    number = _numbered([(form, axis.extent) for axis, form in reduce])
    if number != _numbered([(single(loop.loop_var).plus(-_first(loop)), _extent(loop)) for loop in reductions]):
        return f"the reductions of block `{realize.block.name}` are not in the order of its axes"
    return Bound(realize, tuple(axis for axis, _ in spatial), tuple(axis for axis, _ in reduce))


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
