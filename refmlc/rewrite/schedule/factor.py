"""`rfactor`: a reduction in parts, one for each iteration of a loop, which are reduced in their turn.

Before `for k, m: X = X ∘ f(k, m)`, after at `k`: `for k, m: R[k] = R[k] ∘ f(k, m)`, then `for k: X = X ∘ R[k]`.

Legal where the terms may be gathered anew to the bit: ∘ is the greatest or least of integers, a bitwise operator, or
the sum or product of integers that wrap (of less than 32 bits). Sums of floats are rounded in their
order, sums of wide integers may overflow in one order and not in another (RM306): both are refused.

Also asked: the block and its loops are a statement at the root and cover what they write (`whole`), it is one store
`X[…] = X[…] ∘ term` whose term does not read X, and the loop is one of the reduction, from 0, of constant extent.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.entry import entry_point, entry_points
from refmlc.lang.dtypes import INT32, DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import substitute, walk
from refmlc.rewrite.schedule.accesses import problem
from refmlc.rewrite.schedule.draws import Choices, Draw, Drawn, blocks
from refmlc.rewrite.schedule.handles import BlockRV, LoopRV
from refmlc.rewrite.schedule.loops import is_constant, plain
from refmlc.rewrite.schedule.places import (
    TRUE,
    fresh_name,
    get_block,
    get_loop,
    get_loops,
    integer,
    refused,
    same_indices,
    top,
    with_top,
)
from refmlc.rewrite.schedule.relations import get_child_blocks
from refmlc.rewrite.schedule.session import Session
from refmlc.rewrite.schedule.whole import covers, is_true, loops_around, output, place_at_root

STEP = "rfactor"
IDEMPOTENT = ("max", "min", "bitwise_and", "bitwise_or")
NEUTRAL = {"add": 0, "mul": 1, "bitwise_xor": 0}


@dataclass(frozen=True)
class Parts:
    """The reduction: its operator, the term, the buffer, what an element is started with."""

    op: str
    term: tir.Expr
    store: tir.BufferStore
    start: tir.Expr


@entry_point
def rfactor(func: tir.PrimFunc, block: str, loop: tir.Var, factor_axis: int = 0) -> tuple[tir.PrimFunc, str]:
    """The reduction in parts along `loop`, a dimension `factor_axis` of their buffer.

    Returns the function and the name of the block that computes the parts. Fails: RM112, RM504.
    """
    realize, node = get_block(func, block), get_loop(func, loop)
    at = place_at_root(func, realize, STEP)
    reduction = _reduction(func, realize, at)
    loops = loops_around(func, realize, STEP)
    rank = len(reduction.store.indices)
    if not -rank - 1 <= factor_axis <= rank:
        raise fail(BAD_USAGE, f"the parts have {rank + 1} dimensions; there is no place {factor_axis}", realize.span)
    spatial, reducing = _loops_by_kind(realize)
    if loop in spatial or loop not in reducing or loop not in loops:
        raise refused(STEP, f"`{loop.name}` is no loop of the reduction", node.span)
    if not is_constant(node.min, 0):
        raise refused(STEP, f"`{loop.name}` does not start at 0", node.span)
    for stmt in loops.values():
        plain(stmt, STEP)
        if not isinstance(stmt.extent, tir.IntImm) and stmt.loop_var in reducing:
            raise refused(STEP, f"the extent of `{stmt.loop_var.name}` is no constant", stmt.span)
    place = factor_axis % (rank + 1)
    shape = list(reduction.store.buffer.shape)
    shape.insert(place, node.extent)
    parts = tir.Buffer(
        fresh_name(func, f"{reduction.store.buffer.name}_rf"), reduction.store.buffer.dtype, tuple(shape)
    )
    name = fresh_name(func, f"{block}_rf")
    first = _nested(loops.values(), _partial(realize, reduction, parts, loops, loop, place, name))
    second = _final(
        realize, reduction, parts, [loops[var] for var in loops if var in spatial or var is loop], loop, place
    )
    statements = top(func)
    return with_top(func, [*statements[:at], first, second, *statements[at + 1 :]], added=(parts,)), name


def _reduction(func: tir.PrimFunc, realize: tir.SBlockRealize, at: int) -> Parts:
    """The reduction that the block is."""
    block = realize.block
    obstacle = problem(func, top(func)[at])
    if obstacle is not None:
        raise refused(STEP, obstacle, realize.span)
    buffer = output(realize, STEP)
    covers(func, realize, buffer, STEP)
    body, init = block.body, block.init
    if not isinstance(body, tir.BufferStore) or not isinstance(init, tir.BufferStore) or not is_true(realize.predicate):
        raise refused(STEP, f"`{block.name}` is no reduction with an init", realize.span)
    match body.value:
        case tir.Apply(op, (tir.BufferLoad(loaded, indices), term), dtype) if (
            loaded is buffer and indices == body.indices
        ):
            pass
        case _:
            raise refused(STEP, f"`{block.name}` does not store its own element with a term", realize.span)
    reads = any(isinstance(node, tir.BufferLoad) and node.buffer is buffer for node in walk(term))
    if reads or not same_indices(init, body) or any(isinstance(node, tir.Let) for node in walk(block)):
        raise refused(STEP, f"a term of `{block.name}` reads what is reduced", realize.span)
    if not _regroups(op, dtype):
        raise refused(STEP, f"`{op}` of {dtype} depends on the order of its terms", realize.span)
    return Parts(op, term, body, init.value)


def _regroups(op: str, dtype: DType) -> bool:
    """Whether terms may be gathered anew to the bit."""
    if not dtype.is_integer or dtype.is_vector:
        return False
    wraps = dtype.bits < INT32.bits
    return op in IDEMPOTENT or op == "bitwise_xor" or (op in NEUTRAL and wraps)


def _loops_by_kind(realize: tir.SBlockRealize) -> tuple[set[tir.Var], set[tir.Var]]:
    """The loops of spatial axes, and those of reductions."""
    by_kind: dict[bool, set[tir.Var]] = {True: set(), False: set()}
    for axis, value in zip(realize.block.iter_vars, realize.iter_values, strict=True):
        by_kind[axis.kind is IterKind.SPATIAL] |= {part for part in walk(value) if isinstance(part, tir.Var)}
    return by_kind[True], by_kind[False]


def _partial(
    realize: tir.SBlockRealize,
    reduction: Parts,
    parts: tir.Buffer,
    loops: dict[tir.Var, tir.For],
    loop: tir.Var,
    place: int,
    name: str,
) -> tir.SBlockRealize:
    """The block of the parts: an axis for the loop, one for each other loop of the reduction."""
    block = realize.block
    part_axis = tir.Var(f"v{loop.name}", loop.dtype)
    axes = [_axis(part_axis, loops[loop], IterKind.SPATIAL)]
    values: list[tir.Expr] = [loop]
    table: dict[Node, Node] = {loop: part_axis}
    for axis, value in zip(block.iter_vars, realize.iter_values, strict=True):
        if axis.kind is IterKind.SPATIAL:
            axis_var = tir.Var(axis.var.name, axis.var.dtype)
            axes.append(replace(axis, var=axis_var))
            values.append(value)
            table[axis.var] = axis_var
    for var in (var for var in loops if var in _loops_by_kind(realize)[1] and var is not loop):
        axis_var = tir.Var(f"v{var.name}", var.dtype)
        axes.append(_axis(axis_var, loops[var], IterKind.REDUCE))
        values.append(var)
        table[var] = axis_var
    for axis, value in zip(block.iter_vars, realize.iter_values, strict=True):
        if axis.kind is not IterKind.SPATIAL:
            table[axis.var] = substitute(value, table)
    indices = [substitute(index, table) for index in reduction.store.indices]
    indices.insert(place, part_axis)
    dtype = parts.dtype
    start = integer(NEUTRAL[reduction.op], dtype) if reduction.op in NEUTRAL else substitute(reduction.start, table)
    load = tir.BufferLoad(parts, tuple(indices))
    update = tir.BufferStore(
        parts, tir.Apply(reduction.op, (load, substitute(reduction.term, table)), dtype), tuple(indices)
    )
    body = tir.SBlock(name, tuple(axes), None, None, update, tir.BufferStore(parts, start, tuple(indices)))
    return tir.SBlockRealize(tuple(values), TRUE, body)


def _axis(var: tir.Var, loop: tir.For, kind: IterKind) -> tir.IterVar:
    return tir.IterVar(var, tir.Range(loop.min, loop.extent), kind)


def _final(
    realize: tir.SBlockRealize, reduction: Parts, parts: tir.Buffer, loops: Sequence[tir.For], loop: tir.Var, place: int
) -> tir.Stmt:
    """The nest that reduces the parts."""
    block = realize.block
    table: dict[Node, Node] = {
        loop_node.loop_var: tir.Var(loop_node.loop_var.name, loop_node.loop_var.dtype) for loop_node in loops
    }
    part_axis = tir.Var(f"v{loop.name}", loop.dtype)
    reduced = next(loop_node for loop_node in loops if loop_node.loop_var is loop)
    pairs = zip(block.iter_vars, realize.iter_values, strict=True)
    spatial = [(axis, value) for axis, value in pairs if axis.kind is IterKind.SPATIAL]
    indices = list(reduction.store.indices)
    indices.insert(place, part_axis)
    partial_result = tir.BufferLoad(reduction.store.buffer, reduction.store.indices)
    value = tir.Apply(reduction.op, (partial_result, tir.BufferLoad(parts, tuple(indices))), parts.dtype)
    axes = (*(axis for axis, _ in spatial), _axis(part_axis, reduced, IterKind.REDUCE))
    body = replace(block, iter_vars=axes, body=replace(reduction.store, value=value), reads=None, writes=None)
    values = (*(substitute(value, table) for _, value in spatial), substitute(loop, table))
    stmt: tir.Stmt = tir.SBlockRealize(values, TRUE, body)
    for loop_node in reversed(loops):
        stmt = replace(loop_node, loop_var=substitute(loop_node.loop_var, table), body=stmt)
    return stmt


def _nested(loops: Iterable[tir.For], body: tir.Stmt) -> tir.Stmt:
    for loop in reversed([*loops]):
        body = replace(loop, body=body)
    return body


def _draw(func: tir.PrimFunc, choices: Choices) -> Drawn:
    block = choices.pick(blocks(func))
    loop = choices.pick(get_loops(func, block))
    return f"rfactor {block} by {loop.name}", rfactor(func, block, loop)[0]


@entry_points
class FactorSteps(Session):
    """The method that divides a reduction into parts."""

    draws: ClassVar[Mapping[str, Draw]] = {"rfactor": _draw}

    def rfactor(self, loop: LoopRV, factor_axis: int = 0) -> BlockRV:
        """Compute the reduction around which the loop stands in parts; the block that computes them."""
        inside = get_child_blocks(self._function(loop.func), loop.var)
        if len(inside) != 1:
            raise fail(BAD_USAGE, f"{len(inside)} blocks are in the loop over `{loop.var.name}`")

        def change(func: tir.PrimFunc) -> tuple[tir.PrimFunc, tuple[BlockRV]]:
            after, name = rfactor(func, inside[0], loop.var, factor_axis)
            return after, (self._block(loop.func, name),)

        return self._apply("rfactor", (loop, factor_axis), change)[0]
