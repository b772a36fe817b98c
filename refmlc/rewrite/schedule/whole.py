"""Blocks that write all of a buffer: what `cache_write`, `compute_at` and their like ask of a block.

| function       | holds where                                                                           |
|----------------|---------------------------------------------------------------------------------------|
| `output`       | the block writes one buffer, at its own spatial axes, reading only its own work of it |
| `covers`       | every axis runs over all of its dimension, each reduction begins at its start, once   |
| `loops_around` | nothing but loops and the root is around the block                                    |
| `alone`        | the block and its loops are all of their statement at the root                        |

Each of them fails with RM504 otherwise.
"""

from collections.abc import Sequence

from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.lang.ir.visit import walk
from refmlc.rewrite.schedule.linear import atoms, sum_of
from refmlc.rewrite.schedule.places import integer, place_of_block, position, refused, top
from refmlc.rewrite.schedule.reduction import begins


def output(realize: tir.SBlockRealize, step: str) -> tir.Buffer:
    """The one buffer that the block writes, by stores at its own spatial axes that are always executed."""
    block = realize.block
    stores = [one for one in (block.body, block.init) if one is not None]
    if not all(isinstance(one, tir.BufferStore) for one in stores) or block.alloc_buffers:
        raise refused(step, f"`{block.name}` does more than one store", realize.span)
    found = [one for one in stores if isinstance(one, tir.BufferStore)]
    spatial = {axis.var for axis in block.iter_vars if axis.kind is IterKind.SPATIAL}
    reduces = any(axis.kind is not IterKind.SPATIAL for axis in block.iter_vars)
    buffer = found[0].buffer
    for one in found:
        own = {index for index in one.indices if isinstance(index, tir.Var)}
        if one.buffer is not buffer or own != spatial or len(one.indices) != len(own) or one.predicate is not None:
            raise refused(step, f"`{block.name}` does not store at its own spatial axes", realize.span)
    loads = [node for node in walk(found[0].value) if isinstance(node, tir.BufferLoad) and node.buffer is buffer]
    same = all(tuple(one.indices) == tuple(found[0].indices) for one in loads)
    if (reduces or loads) and (block.init is None or not same):
        raise refused(step, f"`{block.name}` reads elements of `{buffer.name}` from before", realize.span)
    if len(found) == 2 and tuple(found[0].indices) != tuple(found[1].indices):
        raise refused(step, f"the init of `{block.name}` stores elsewhere", realize.span)
    return buffer


def covers(func: tir.PrimFunc, realize: tir.SBlockRealize, buffer: tir.Buffer, step: str) -> None:
    """Every axis runs over all of its dimension: bound to a loop of its own, or to digits of loops."""
    block = realize.block
    store = block.body
    loops = loops_around(func, realize, step)
    if not isinstance(store, tir.BufferStore) or not is_true(realize.predicate):
        raise refused(step, f"not every instance of `{block.name}` is executed", realize.span)
    sizes = dict(zip(store.indices, buffer.shape, strict=True))
    used: list[tir.Var] = []
    begins(realize, tuple(loops.values()), step)
    for axis, value in zip(block.iter_vars, realize.iter_values, strict=True):
        if axis.kind is not IterKind.SPATIAL:
            used += [part for part in walk(value) if isinstance(part, tir.Var)]
            continue
        size = sizes.get(axis.var, axis.dom.extent)
        variables = _digits(value, size, loops)
        if variables is None:
            raise refused(step, f"axis `{axis.var.name}` may not run over all its dimension", realize.span)
        used += variables
    idle = [var for var in loops if var not in used]
    unsure = any(not isinstance(loops[var].extent, tir.IntImm) or not _starts(loops[var]) for var in idle)
    if len(set(used)) != len(used) or unsure:
        raise refused(step, "the axes share loops, or a loop may not be executed", realize.span)


def _starts(loop: tir.For) -> bool:
    return isinstance(loop.extent, tir.IntImm) and loop.extent.value == 1


def loops_around(func: tir.PrimFunc, realize: tir.SBlockRealize, step: str) -> dict[tir.Var, tir.For]:
    """The loops around a block, there being nothing else around it but the root."""
    around = place_of_block(func, realize.block.name).around
    found = {one.loop_var: one for one in around if isinstance(one, tir.For)}
    others = [one for one in around if not isinstance(one, tir.For | tir.SeqStmt)]
    if any(not isinstance(one, tir.SBlockRealize) or one is not func.body for one in others):
        raise refused(step, "a condition or another block is around the block", realize.span)
    return found


def _digits(value: tir.Expr, size: tir.Expr, loops: dict[tir.Var, tir.For]) -> Sequence[tir.Var] | None:
    """The variables, where their values together are exactly 0 … size - 1 (the dimension), else None."""
    if isinstance(value, tir.Var) and value in loops:
        loop = loops[value]
        same = loop.extent is size or _equal(loop.extent, size)
        return [value] if same and _equal(loop.min, integer(0, value.dtype)) and loop.step is None else None
    found = sum_of(value, {})
    if found is None or found.constant or not isinstance(size, tir.IntImm):
        return None
    next_factor, variables = 1, []
    for (var, op, _), factor in sorted(atoms(found).items(), key=lambda term: term[1]):
        loop_at = loops.get(var)
        if op or loop_at is None or loop_at.step is not None or not isinstance(loop_at.extent, tir.IntImm):
            return None
        if factor != next_factor or not _equal(loop_at.min, integer(0, var.dtype)):
            return None
        next_factor *= loop_at.extent.value
        variables.append(var)
    return variables if next_factor == size.value else None


def _equal(a: tir.Expr, b: tir.Expr) -> bool:
    return isinstance(a, tir.IntImm) and isinstance(b, tir.IntImm) and a.value == b.value


def is_true(expr: tir.Expr) -> bool:
    """Whether a condition is the constant."""
    return isinstance(expr, tir.IntImm) and expr.value == 1


def alone(func: tir.PrimFunc, realize: tir.SBlockRealize, step: str) -> int:
    """The place at the root of the statement that is the block and its loops, and nothing else."""
    at = position(func, realize)
    here: tir.Stmt = top(func)[at]
    while isinstance(here, tir.For):
        here = here.body
    if here is not realize:
        raise refused(step, f"`{realize.block.name}` is not alone in its loops", realize.span)
    return at
