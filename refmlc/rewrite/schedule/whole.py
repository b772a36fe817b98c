"""Blocks that write all of a buffer: what `cache_write`, `compute_at` and their like ask of a block.

| function       | holds where                                                                           |
|----------------|---------------------------------------------------------------------------------------|
| `output`       | the block writes one buffer, at its own spatial axes, reading only its own work of it |
| `tile_output`  | the same of a block of blocks: each instance starts every element of a tile of its own |
| `covers`       | every axis runs over all of its dimension, each reduction begins at its start, once   |
| `loops_around` | nothing but loops and the root is around the block                                    |
| `alone`        | the block and its loops are all of their statement at the root                        |

Each of them fails with RM504 otherwise.
"""

from collections.abc import Mapping, Sequence

from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.lang.ir.visit import walk
from refmlc.rewrite.schedule.accesses import accesses
from refmlc.rewrite.schedule.boxes import box
from refmlc.rewrite.schedule.linear import Sum, atoms, sum_from, sum_of
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


def tile_output(realize: tir.SBlockRealize, step: str) -> tuple[tir.Buffer, dict[tir.Expr, tir.Expr]]:
    """The one buffer that the block writes, and how many values each spatial axis has if all of it is written.

    Of a block of blocks, each instance writes a tile: its init (of a reduction), else its body, stores every element of
    the tile, reading none, and all else that it does with the buffer stays in the tile.
    """
    block = realize.block
    if isinstance(block.body, tir.BufferStore):
        buffer = output(realize, step)
        return buffer, dict(zip(block.body.indices, buffer.shape, strict=True))
    start = block.body if block.init is None else block.init
    stores = [node for node in walk(start) if isinstance(node, tir.BufferStore)]
    buffers = {node.buffer for node in walk(block) if isinstance(node, tir.BufferStore)}
    allocates = any(isinstance(node, tir.SBlock) and (node.alloc_buffers or node.match_buffers) for node in walk(block))
    if len(stores) != 1 or len(buffers) != 1 or allocates:
        raise refused(step, f"`{block.name}` starts more than one buffer, or has memory of its own", realize.span)
    (store,), (buffer,) = stores, buffers
    from_before = any(isinstance(node, tir.BufferLoad) and node.buffer is buffer for node in walk(start))
    reduces = any(axis.kind is not IterKind.SPATIAL for axis in block.iter_vars)
    if from_before or (reduces and block.init is None):
        raise refused(step, f"`{block.name}` reads elements of `{buffer.name}` from before", realize.span)
    sizes = _tile(block, start, store)
    tile, rest = box(accesses(start), buffer), accesses(block.body)
    sides = box(rest, buffer) if buffer in rest.indices else tile
    inside = all(a is not None and b is not None and a.start == b.start and b.length <= a.length
                 for a, b in zip(tile, sides, strict=True))  # fmt: skip
    if sizes is None or not inside:
        raise refused(step, f"`{block.name}` may not start every element of a tile of its own", realize.span)
    return buffer, sizes


def _tile(block: tir.SBlock, start: tir.Stmt, store: tir.BufferStore) -> dict[tir.Expr, tir.Expr] | None:
    """How many values each spatial axis has, where `start` is a nest that stores all of a tile; None: it may not be."""
    loops: dict[tir.Var, tir.For] = {}
    axes: dict[tir.Var, tir.Expr] = {}
    stmt = start
    while stmt is not store:
        if isinstance(stmt, tir.For):
            loops[stmt.loop_var], stmt = stmt, stmt.body
        elif isinstance(stmt, tir.SBlockRealize) and stmt.block.init is None and is_true(stmt.predicate):
            axes |= {axis.var: value for axis, value in zip(stmt.block.iter_vars, stmt.iter_values, strict=True)}
            stmt = stmt.block.body
        else:
            return None
    spatial = {axis.var for axis in block.iter_vars if axis.kind is IterKind.SPATIAL}
    sizes: dict[tir.Expr, tir.Expr] = {}
    used: list[tir.Var] = []
    for index, size in zip(store.indices, store.buffer.shape, strict=True):
        total = sum_of(index, axes)
        if total is None or not isinstance(size, tir.IntImm):
            return None
        terms = atoms(total)
        outer = [atom for atom in terms if atom[0] in spatial]
        inner = sum_from({atom: factor for atom, factor in terms.items() if atom not in outer}, total.constant)
        factor = terms[outer[0]] if outer else size.value
        if len(outer) > 1 or any(op for _, op, _ in outer) or factor < 1 or size.value % factor:
            return None
        variables = digits(inner, factor, loops)
        if variables is None:
            return None
        used += variables
        for var, _, _ in outer:
            if var in sizes:
                return None
            sizes[var] = integer(size.value // factor, var.dtype)
    once = all(_starts(loop) for var, loop in loops.items() if var not in used)
    single = {axis.var for axis in block.iter_vars if _equal(axis.dom.extent, integer(1, axis.var.dtype))}
    whole = once and len(set(used)) == len(used) and spatial - sizes.keys() <= single and store.predicate is None
    return sizes if whole else None


def covers(func: tir.PrimFunc, realize: tir.SBlockRealize, buffer: tir.Buffer, step: str) -> None:
    """Every axis runs over all of its dimension: bound to a loop of its own, or to digits of loops."""
    store = realize.block.body
    if not isinstance(store, tir.BufferStore):
        raise refused(step, f"`{realize.block.name}` does more than one store", realize.span)
    covers_sizes(func, realize, dict(zip(store.indices, buffer.shape, strict=True)), step)


def covers_sizes(func: tir.PrimFunc, realize: tir.SBlockRealize, sizes: Mapping[tir.Expr, tir.Expr], step: str) -> None:
    """As `covers`, each spatial axis having as many values as `sizes` says."""
    block = realize.block
    loops = loops_around(func, realize, step)
    if not is_true(realize.predicate):
        raise refused(step, f"not every instance of `{block.name}` is executed", realize.span)
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
    return None if index_sum is None or not isinstance(size, tir.IntImm) else digits(index_sum, size.value, loops)


def digits(index_sum: Sum, size: int, loops: Mapping[tir.Var, tir.For]) -> Sequence[tir.Var] | None:
    """The variables of a sum, where its values are exactly 0 … size - 1, each once; else None."""
    if index_sum.constant:
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
    return variables if next_factor == size else None


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
