"""`cache_read` and `cache_write`: a buffer of one's own between a block and memory.

`cache_read` copies all of a buffer at the begin of the function, as TVM's does; the block then reads the copy.
Legal where the function never writes the buffer: a parameter, all of which the caller has written, or the copy would
read what is not initialised. The copy is of the same dtype, so that the same bits are read.

`cache_write` lets the block write a new buffer, and copies that back after it. Legal where the block writes every
element of the buffer, each at its own axes, reading none that it has not written: its reductions have an init. Nothing
else in the same statement at the root touches the buffer.
"""

from collections.abc import Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.ir import tir
from refmlc.ir.kinds import IterKind
from refmlc.ir.visit import substitute, walk
from refmlc.schedule.accesses import problem
from refmlc.schedule.linear import sum_of
from refmlc.schedule.loops import serial_loop
from refmlc.schedule.places import (
    TRUE,
    fresh_name,
    get_block,
    integer,
    place_of_block,
    position,
    refused,
    top,
    with_top,
)
from refmlc.schedule.reduction import begins


def cache_read(func: tir.PrimFunc, block: str, buffer: tir.Buffer, scope: str = "global") -> tir.PrimFunc:
    """The block reads a copy of `buffer`, made before. Fails: RM112, RM504."""
    realize = get_block(func, block)
    if not any(isinstance(node, tir.BufferLoad) and node.buffer is buffer for node in walk(realize)):
        raise fail(BAD_USAGE, f"`{block}` does not read `{buffer.name}`", realize.span)
    why = problem(func, realize)
    if why is not None:
        raise refused("cache_read", why, realize.span)
    if buffer not in func.buffer_map.values() or buffer in _written(func):
        raise refused("cache_read", f"`{buffer.name}` is not a parameter that is only read", realize.span)
    copy = _like(func, buffer, scope)
    statements, at = top(func), position(func, realize)
    changed = substitute(statements[at], {realize: _with(func, realize, buffer, copy)})
    nest = _copying(func, buffer, copy)
    return with_top(func, [nest, *statements[:at], changed, *statements[at + 1 :]], added=(copy,))


def cache_write(func: tir.PrimFunc, block: str, scope: str = "global") -> tir.PrimFunc:
    """The block writes a buffer of its own, which is copied after. Fails: RM112, RM504."""
    realize = get_block(func, block)
    why = problem(func, realize)
    if why is not None:
        raise refused("cache_write", why, realize.span)
    buffer = _output(realize)
    statements, at = top(func), position(func, realize)
    _covers(func, realize, buffer)
    inside = [node for node in walk(realize) if _touches(node, buffer)]
    if len(inside) != len([node for node in walk(statements[at]) if _touches(node, buffer)]):
        raise refused("cache_write", f"something else around `{block}` touches `{buffer.name}`", realize.span)
    copy = _like(func, buffer, scope)
    changed = substitute(statements[at], {realize: _with(func, realize, buffer, copy)})
    nest = _copying(func, copy, buffer)
    return with_top(func, [*statements[:at], changed, nest, *statements[at + 1 :]], added=(copy,))


def _touches(node: object, buffer: tir.Buffer) -> bool:
    return isinstance(node, tir.BufferLoad | tir.BufferStore) and node.buffer is buffer


def _written(func: tir.PrimFunc) -> set[tir.Buffer]:
    return {node.buffer for node in walk(func) if isinstance(node, tir.BufferStore)}


def _like(func: tir.PrimFunc, buffer: tir.Buffer, scope: str) -> tir.Buffer:
    """A compact buffer of the same shape and dtype."""
    suffix = scope.partition(".")[0]
    return tir.Buffer(fresh_name(func, f"{buffer.name}_{suffix}"), buffer.dtype, buffer.shape, scope=scope)


def _with(func: tir.PrimFunc, realize: tir.SBlockRealize, old: tir.Buffer, new: tir.Buffer) -> tir.SBlockRealize:
    """The block with one buffer for another, its accesses and regions with it. Fails: RM504."""
    for one in place_of_block(func, realize.block.name).around:
        declares = isinstance(one, tir.SBlockRealize) and (one.block.reads, one.block.writes) != (None, None)
        if declares and one is not func.body:
            raise refused("cache", f"a block around `{realize.block.name}` declares what it touches", realize.span)
    return substitute(realize, {old: new})


def _copying(func: tir.PrimFunc, source: tir.Buffer, target: tir.Buffer) -> tir.Stmt:
    """`target[…] = source[…]` for every element, in a block."""
    loops = [tir.Var(f"ax{number}", size.dtype) for number, size in enumerate(source.shape)]
    axes = [tir.Var(f"v{number}", size.dtype) for number, size in enumerate(source.shape)]
    kinds = [
        tir.IterVar(var, tir.Range(integer(0, var.dtype), size), IterKind.SPATIAL)
        for var, size in zip(axes, source.shape, strict=True)
    ]
    store = tir.BufferStore(target, tir.BufferLoad(source, tuple(axes)), tuple(axes))
    block = tir.SBlock(fresh_name(func, target.name), tuple(kinds), None, None, store)
    body: tir.Stmt = tir.SBlockRealize(tuple(loops), TRUE, block)
    for var, size in zip(reversed(loops), reversed(source.shape), strict=True):
        body = serial_loop(var, size, body)
    return body


def _output(realize: tir.SBlockRealize) -> tir.Buffer:
    """The one buffer that the block writes, by stores at its own spatial axes that are always executed."""
    block = realize.block
    stores = [one for one in (block.body, block.init) if one is not None]
    if not all(isinstance(one, tir.BufferStore) for one in stores) or block.alloc_buffers:
        raise refused("cache_write", f"`{block.name}` does more than one store", realize.span)
    found = [one for one in stores if isinstance(one, tir.BufferStore)]
    spatial = {axis.var for axis in block.iter_vars if axis.kind is IterKind.SPATIAL}
    reduces = any(axis.kind is not IterKind.SPATIAL for axis in block.iter_vars)
    buffer = found[0].buffer
    for one in found:
        own = {index for index in one.indices if isinstance(index, tir.Var)}
        if one.buffer is not buffer or own != spatial or len(one.indices) != len(own) or one.predicate is not None:
            raise refused("cache_write", f"`{block.name}` does not store at its own spatial axes", realize.span)
    loads = [node for node in walk(found[0].value) if isinstance(node, tir.BufferLoad) and node.buffer is buffer]
    same = all(tuple(one.indices) == tuple(found[0].indices) for one in loads)
    if (reduces or loads) and (block.init is None or not same):
        raise refused("cache_write", f"`{block.name}` reads elements of `{buffer.name}` from before", realize.span)
    if len(found) == 2 and tuple(found[0].indices) != tuple(found[1].indices):
        raise refused("cache_write", f"the init of `{block.name}` stores elsewhere", realize.span)
    return buffer


def _covers(func: tir.PrimFunc, realize: tir.SBlockRealize, buffer: tir.Buffer) -> None:
    """Every axis runs over all of its dimension: bound to a loop of its own, or to digits of loops."""
    block = realize.block
    store = block.body
    loops = _loops(func, realize)
    if not isinstance(store, tir.BufferStore) or not _is_true(realize.predicate):
        raise refused("cache_write", f"not every instance of `{block.name}` is executed", realize.span)
    sizes = dict(zip(store.indices, buffer.shape, strict=True))
    used: list[tir.Var] = []
    begins(realize, tuple(loops.values()), "cache_write")
    for axis, value in zip(block.iter_vars, realize.iter_values, strict=True):
        if axis.kind is not IterKind.SPATIAL:
            used += [part for part in walk(value) if isinstance(part, tir.Var)]
            continue
        size = sizes.get(axis.var, axis.dom.extent)
        variables = _digits(value, size, loops)
        if variables is None:
            raise refused("cache_write", f"axis `{axis.var.name}` may not run over all its dimension", realize.span)
        used += variables
    idle = [var for var in loops if var not in used]
    unsure = any(not isinstance(loops[var].extent, tir.IntImm) or not _starts(loops[var]) for var in idle)
    if len(set(used)) != len(used) or unsure:
        raise refused("cache_write", "the axes share loops, or a loop may not be executed", realize.span)


def _starts(loop: tir.For) -> bool:
    return isinstance(loop.extent, tir.IntImm) and loop.extent.value == 1


def _loops(func: tir.PrimFunc, realize: tir.SBlockRealize) -> dict[tir.Var, tir.For]:
    """The loops around a block, there being nothing else around it but the root."""
    around = place_of_block(func, realize.block.name).around
    found = {one.loop_var: one for one in around if isinstance(one, tir.For)}
    others = [one for one in around if not isinstance(one, tir.For | tir.SeqStmt)]
    if any(not isinstance(one, tir.SBlockRealize) or one is not func.body for one in others):
        raise refused("cache_write", "a condition or another block is around the block", realize.span)
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
    for (var, op, _), factor in sorted(found.terms.items(), key=lambda term: term[1]):
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


def _is_true(expr: tir.Expr) -> bool:
    return isinstance(expr, tir.IntImm) and expr.value == 1
