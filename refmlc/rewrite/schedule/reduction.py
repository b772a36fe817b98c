"""`decompose_reduction`: the init of a block as a block of its own, before a loop around the block.

Before `for i: for k: if k is at its start: C[i] = 0; C[i] += …`, after, at `k`: `for i: C[i] = 0; for k: C[i] += …`.

Legal where

* from the loop inward there are loops only, down to the block, and statements beside it which do not touch what it
  writes; all loops that its reduction axes are bound to are among them, each executed at least once (their extents are
  positive constants, so that the init was executed);
* the loops of reduction axes and of spatial axes are different ones, the first iteration of the former is the
  reduction's start, and the condition of the block says nothing of both together;
* init and update store to one buffer (a block that is one store: at the same place), and its indices, those of all
  accesses in the block, tell spatial instances apart; the init reads no memory.

Each element is then started once for each execution of the loop, before its first term, by the same value as before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.entry import entry_point, entry_points
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import substitute, walk
from refmlc.rewrite.schedule.accesses import accesses, problem, separates
from refmlc.rewrite.schedule.draws import Choices, Draw, Drawn, blocks
from refmlc.rewrite.schedule.handles import BlockRV, LoopRV
from refmlc.rewrite.schedule.linear import atoms, sum_of
from refmlc.rewrite.schedule.loops import conjunction, plain
from refmlc.rewrite.schedule.places import (
    TRUE,
    conjuncts,
    fresh_name,
    get_block,
    get_loops,
    place_of_block,
    refused,
    same_indices,
    touches,
    with_stmt,
)
from refmlc.rewrite.schedule.session import Session

STEP = "decompose_reduction"


@dataclass(frozen=True)
class Nest:
    """The loops from the given one inward, outermost first, and which of them the two kinds of axes are bound to."""

    loops: tuple[tir.For, ...]
    spatial: frozenset[tir.Var]
    reduce: frozenset[tir.Var]


@entry_point
def decompose_reduction(func: tir.PrimFunc, block: str, loop: tir.Var) -> tir.PrimFunc:
    """The block without its init, which stands before `loop`. Fails: RM112, RM504."""
    realize = get_block(func, block)
    init = realize.block.init
    if init is None:
        raise fail(BAD_USAGE, f"`{block}` has no init", realize.span)
    nest = _nest(func, realize, loop)
    same_place(func, realize, nest, STEP)
    first = init_nest(func, realize, nest, init, STEP)
    update = replace(realize, block=replace(realize.block, init=None, name=fresh_name(func, f"{block}_update")))
    updating = substitute(nest.loops[0], {realize: update})
    return with_stmt(func, nest.loops[0], tir.SeqStmt((first, updating)))


def _nest(func: tir.PrimFunc, realize: tir.SBlockRealize, loop: tir.Var) -> Nest:
    """The loops, which are alone around the block."""
    loops: list[tir.For] = []
    stored = {part.buffer for part in walk(realize) if isinstance(part, tir.BufferStore)}
    within: tir.Stmt = realize
    for stmt in reversed(place_of_block(func, realize.block.name).around):
        if isinstance(stmt, tir.SeqStmt):
            beside = [part for part in stmt.seq if part is not within]
            if any(touches(part, buffer) for part in beside for buffer in stored):
                raise refused(STEP, "what is beside the block touches what it writes", realize.span)
            within = stmt
            continue
        if not isinstance(stmt, tir.For):
            break
        within = stmt
        plain(stmt, STEP)
        loops.append(stmt)
        if stmt.loop_var is loop:
            break
    if not loops or loops[-1].loop_var is not loop:
        raise refused(STEP, f"the block is not alone in the loop over `{loop.name}`", realize.span)
    variables = {loop_node.loop_var for loop_node in loops}
    used: dict[bool, set[tir.Var]] = {True: set(), False: set()}
    for axis, value in zip(realize.block.iter_vars, realize.iter_values, strict=True):
        variables_of_axis = {part for part in walk(value) if isinstance(part, tir.Var)}
        used[axis.kind is IterKind.SPATIAL] |= variables_of_axis
    outside = used[False] - variables
    if outside or used[True] & used[False]:
        raise refused(STEP, "loops of the reduction are outside, or spatial axes share them", realize.span)
    idle = variables - used[True] - used[False]
    if any(not _once(loop_node) for loop_node in loops if loop_node.loop_var in idle):
        raise refused(STEP, "a loop that no axis is bound to is among them", realize.span)
    return Nest(tuple(reversed(loops)), frozenset(used[True] & variables), frozenset(used[False] | idle))


def _once(loop: tir.For) -> bool:
    return isinstance(loop.extent, tir.IntImm) and loop.extent.value == 1


def same_place(func: tir.PrimFunc, realize: tir.SBlockRealize, nest: Nest, step: str) -> None:
    """One buffer, one place, which tells spatial instances apart; what is started is what is accumulated."""
    block = realize.block
    init, body = block.init, block.body
    obstacle = problem(func, nest.loops[0], inside=True)
    if obstacle is not None:
        raise refused(step, obstacle, realize.span)
    stores = [
        part for part in (*walk(body), *(() if init is None else walk(init))) if isinstance(part, tir.BufferStore)
    ]
    buffers = {store.buffer for store in stores}
    if (
        init is None
        or len(buffers) != 1
        or any(isinstance(part, tir.SBlock) and part.alloc_buffers for part in walk(block))
    ):
        raise refused(step, f"`{block.name}` writes more than one buffer, or has memory of its own", realize.span)
    single = isinstance(init, tir.BufferStore) and isinstance(body, tir.BufferStore)
    if single and not same_indices(*stores):
        raise refused(step, "init and update store to different places", realize.span)
    if any(isinstance(part, tir.BufferLoad | tir.Call) for part in walk(init)):
        raise refused(step, "the init reads memory", realize.span)
    reduction = {axis.var for axis in block.iter_vars if axis.kind is not IterKind.SPATIAL}
    if any(part in reduction for part in walk(init)):
        raise refused(step, "the init depends on the reduction", realize.span)
    (buffer,) = buffers
    uses, agreed = accesses(nest.loops[0]), set[tir.Var]()
    for _ in nest.spatial:
        agreed |= {var for var in nest.spatial - agreed if separates(var, uses, buffer, agreed)}
    if agreed != nest.spatial:
        raise refused(step, f"different instances may touch the same elements of `{buffer.name}`", realize.span)


def init_nest(func: tir.PrimFunc, realize: tir.SBlockRealize, nest: Nest, init: tir.Stmt, step: str) -> tir.Stmt:
    """The init of the block for every spatial instance of the loops of the nest, in a block of its own."""
    block = realize.block
    begins(realize, nest.loops, step)
    axes = [
        (axis, value)
        for axis, value in zip(block.iter_vars, realize.iter_values, strict=True)
        if axis.kind is IterKind.SPATIAL
    ]
    init_loops = {
        loop_node.loop_var: tir.Var(f"{loop_node.loop_var.name}_init", loop_node.loop_var.dtype)
        for loop_node in nest.loops
    }
    table: dict[Node, Node] = dict(init_loops.items())
    init_axes = {axis.var: tir.Var(f"{axis.var.name}_init", axis.var.dtype) for axis, _ in axes}
    init_iters = tuple(replace(axis, var=init_axes[axis.var]) for axis, _ in axes)
    name = fresh_name(func, f"{block.name}_init")
    inner = tir.SBlock(name, init_iters, None, None, substitute(init, dict(init_axes.items())))
    values = tuple(substitute(value, table) for _, value in axes)
    body: tir.Stmt = tir.SBlockRealize(values, substitute(_condition(realize, nest, step), table), inner)
    for loop in reversed(nest.loops):
        if loop.loop_var in nest.spatial:
            body = replace(loop, loop_var=init_loops[loop.loop_var], body=body)
    return body


def begins(realize: tir.SBlockRealize, loops: Sequence[tir.For], step: str) -> None:
    """The first iteration of `loops` is the start of each reduction of the block, no other one is, and there is one.

    Fails: RM504 where that is not seen: bounds that depend on other loops, bindings that are no sums of loops.
    """
    first = {loop_node.loop_var: loop_node.min for loop_node in loops}
    for loop in loops:
        if any(part in first for part in (*walk(loop.min), *walk(loop.extent))):
            raise refused(step, f"the bounds of `{loop.loop_var.name}` depend on another loop", realize.span)
    moving: set[tir.Var] = set()
    for axis, value in zip(realize.block.iter_vars, realize.iter_values, strict=True):
        if axis.kind is IterKind.SPATIAL:
            continue
        index_sum, first_value, start = sum_of(value, {}), sum_of(value, first), sum_of(axis.dom.min, {})
        if axis.kind is not IterKind.REDUCE or index_sum is None or first_value is None or first_value != start:
            raise refused(step, f"the reduction over `{axis.var.name}` may not begin at its start", realize.span)
        if any(op or factor < 1 for (_, op, _), factor in atoms(index_sum).items()):
            raise refused(step, f"the reduction over `{axis.var.name}` may start again", realize.span)
        summed_vars = {var for var, _, _ in atoms(index_sum)}
        moving |= summed_vars
        if any(isinstance(part, tir.Var) and part not in summed_vars for part in walk(value)):
            raise refused(step, f"the reduction over `{axis.var.name}` may start again", realize.span)
    for loop in loops:
        if loop.loop_var in moving and not (isinstance(loop.extent, tir.IntImm) and loop.extent.value > 0):
            raise refused(step, f"the loop over `{loop.loop_var.name}` may not be executed", realize.span)


def _condition(realize: tir.SBlockRealize, nest: Nest, step: str) -> tir.Expr:
    """What the condition says of spatial loops; what it says of the others must hold at their start."""
    result: tir.Expr = TRUE
    for conjunct in conjuncts(realize.predicate):
        variables = {part for part in walk(conjunct) if isinstance(part, tir.Var)}
        if variables & nest.reduce and not _holds_at_start(conjunct, nest):
            raise refused(step, "the condition of the block says something of the reduction", realize.span)
        if not variables & nest.reduce:
            result = conjunction(result, conjunct)
    return result


def _holds_at_start(condition: tir.Expr, nest: Nest) -> bool:
    """Whether `a < b` holds by constants in the first iteration of the reduction."""
    if not isinstance(condition, tir.Apply) or condition.op != "lt":
        return False
    first = {loop_node.loop_var: loop_node.min for loop_node in nest.loops if loop_node.loop_var in nest.reduce}
    a, b = (None if side is None else side.only for side in (sum_of(arg, first) for arg in condition.args))
    return a is not None and b is not None and a < b


def _draw(func: tir.PrimFunc, choices: Choices) -> Drawn:
    block = choices.pick(blocks(func))
    loop = choices.pick(get_loops(func, block))
    return f"{STEP} {block} at {loop.name}", decompose_reduction(func, block, loop)


@entry_points
class ReductionSteps(Session):
    """The method that takes the init out of a reduction."""

    draws: ClassVar[Mapping[str, Draw]] = {STEP: _draw}

    def decompose_reduction(self, block: BlockRV | str, loop: LoopRV) -> BlockRV:
        """Put the init in a block of its own, before `loop`; that block. The handle then holds the update."""
        target = self._block_handle(block)
        old = target.name
        args = (target, loop)
        init = self._add_block(STEP, args, target, lambda func: decompose_reduction(func, old, loop.var), "_init")
        names = [node.name for node in walk(self._function(target.func)) if isinstance(node, tir.SBlock)]
        self._rename(target, next(name for name in names if name.startswith(f"{old}_update")))
        return init
