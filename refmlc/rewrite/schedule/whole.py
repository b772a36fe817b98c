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
    stores = [store for store in (block.body, block.init) if store is not None]
    if not all(isinstance(store, tir.BufferStore) for store in stores) or block.alloc_buffers:
        raise refused(step, f"`{block.name}` does more than one store", realize.span)
    all_stores = [store for store in stores if isinstance(store, tir.BufferStore)]
    spatial = {axis.var for axis in block.iter_vars if axis.kind is IterKind.SPATIAL}
    reduces = any(axis.kind is not IterKind.SPATIAL for axis in block.iter_vars)
    buffer = all_stores[0].buffer
    for store in all_stores:
        index_vars = {index for index in store.indices if isinstance(index, tir.Var)}
        if (
            store.buffer is not buffer
            or index_vars != spatial
            or len(store.indices) != len(index_vars)
            or store.predicate is not None
        ):
            raise refused(step, f"`{block.name}` does not store at its own spatial axes", realize.span)
    loads = [node for node in walk(all_stores[0].value) if isinstance(node, tir.BufferLoad) and node.buffer is buffer]
    same_element = all(tuple(store.indices) == tuple(all_stores[0].indices) for store in loads)
    if (reduces or loads) and (block.init is None or not same_element):
        raise refused(step, f"`{block.name}` reads elements of `{buffer.name}` from before", realize.span)
    if len(all_stores) == 2 and tuple(all_stores[0].indices) != tuple(all_stores[1].indices):
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
    used_vars: list[tir.Var] = []
    begins(realize, tuple(loops.values()), step)
    for axis, value in zip(block.iter_vars, realize.iter_values, strict=True):
        if axis.kind is not IterKind.SPATIAL:
            used_vars += [part for part in walk(value) if isinstance(part, tir.Var)]
            continue
        size = sizes.get(axis.var, axis.dom.extent)
        variables = _digits(value, size, loops)
        if variables is None:
            raise refused(step, f"axis `{axis.var.name}` may not run over all its dimension", realize.span)
        used_vars += variables
    idle = [var for var in loops if var not in used_vars]
    unsure = any(not isinstance(loops[var].extent, tir.IntImm) or not _starts(loops[var]) for var in idle)
    if len(set(used_vars)) != len(used_vars) or unsure:
        raise refused(step, "the axes share loops, or a loop may not be executed", realize.span)


def _starts(loop: tir.For) -> bool:
    return isinstance(loop.extent, tir.IntImm) and loop.extent.value == 1


def loops_around(func: tir.PrimFunc, realize: tir.SBlockRealize, step: str) -> dict[tir.Var, tir.For]:
    """The loops around a block, there being nothing else around it but the root."""
    around = place_of_block(func, realize.block.name).around
    loops = {stmt.loop_var: stmt for stmt in around if isinstance(stmt, tir.For)}
    obstacles = [stmt for stmt in around if not isinstance(stmt, tir.For | tir.SeqStmt)]
    if any(not isinstance(stmt, tir.SBlockRealize) or stmt is not func.body for stmt in obstacles):
        raise refused(step, "a condition or another block is around the block", realize.span)
    return loops


def _digits(value: tir.Expr, size: tir.Expr, loops: dict[tir.Var, tir.For]) -> Sequence[tir.Var] | None:
    """The variables, where their values together are exactly 0 … size - 1 (the dimension), else None."""
    if isinstance(value, tir.Var) and value in loops:
        loop = loops[value]
        same_extent = loop.extent is size or _equal(loop.extent, size)
        return [value] if same_extent and _equal(loop.min, integer(0, value.dtype)) and loop.step is None else None
    index_sum = sum_of(value, {})
    if index_sum is None or index_sum.constant or not isinstance(size, tir.IntImm):
        return None
    next_factor, variables = 1, []
    for (var, op, _), factor in sorted(atoms(index_sum).items(), key=lambda term: term[1]):
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


def place_at_root(func: tir.PrimFunc, realize: tir.SBlockRealize, step: str) -> int:
    """The place at the root of the statement that is the block and its loops, and nothing else."""
    at = position(func, realize)
    stmt: tir.Stmt = top(func)[at]
    while isinstance(stmt, tir.For):
        stmt = stmt.body
    if stmt is not realize:
        raise refused(step, f"`{realize.block.name}` is not alone in its loops", realize.span)
    return at
