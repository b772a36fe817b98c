"""`compute_at`, `reverse_compute_at`: a block moved into a loop of another one, computing what that needs.

| step                 | what is moved   | into a loop of       | instances in one iteration of the loop               |
|----------------------|-----------------|----------------------|------------------------------------------------------|
| `compute_at`         | a producer      | all of its consumers | a box of what the iteration reads of it              |
| `reverse_compute_at` | a consumer      | its producer         | those that read what the iteration has just finished |

Both ask that the block and its loops are a statement of their own at the root, that it stores one buffer at its own
spatial axes and covers it, and that nothing between the old place and the new one touches what it writes, or writes
what it reads. Loops of reductions go with the block, in their order: so do the terms.

`compute_at` is legal where the buffer is allocated at the root and read only in the loop. Elements may be computed
again: by the same values, since what they are made of is written no more.

Under threads, each index of an axis to which memory of the scope is private (`ir.scopes`) computes what it reads
itself. Shared memory is one for the threads of a block: there the box is that of all of them, and each thread stores
all of it, the same values (TIR-225), so that the loops of the block can be bound to the threads (`bind`). Memory that
blocks share is refused, as two of them would store to the same elements.

`reverse_compute_at` is legal where the iterations of the loop, and of all loops around it, finish different elements
(`accesses`), and the block reads these at its own axes. An element that no iteration writes is read uninitialised
before and is not read after.

Fails: RM112, RM504. `checked=False` leaves out what concerns the order of accesses, for whom validates by running.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.diag.entry import entry_point, entry_points
from refmlc.lang.arith.interval import ANY, Interval
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind, IterKind
from refmlc.lang.ir.scopes import axes_of
from refmlc.lang.ir.threads import Threads
from refmlc.lang.ir.visit import walk
from refmlc.rewrite.schedule.accesses import Accesses, accesses, interval, problem, separates
from refmlc.rewrite.schedule.boxes import Side, box, run_over, targets_of
from refmlc.rewrite.schedule.draws import Choices, Draw, Drawn, blocks, loops as loops_of
from refmlc.rewrite.schedule.handles import INLINED, BlockRV, LoopRV
from refmlc.rewrite.schedule.inline import compute_inline
from refmlc.rewrite.schedule.loops import plain
from refmlc.rewrite.schedule.places import (
    allocated,
    body_without,
    get_block,
    get_loop,
    is_root,
    place_of_loop,
    position,
    refused,
    sequence,
    top,
    touches,
    with_stmt,
    with_top,
)
from refmlc.rewrite.schedule.session import Session
from refmlc.rewrite.schedule.whole import covers, is_true, loops_around, output, place_at_root

SERIAL = (ForKind.SERIAL, ForKind.UNROLLED)
LAST = -1  # the place of a block that is moved into a loop: the last possible one


@entry_point
def compute_at(
    func: tir.PrimFunc, block: str, loop: tir.Var, *, preserve_unit_loops: bool = False, checked: bool = True
) -> tir.PrimFunc:
    """The block in the loop over `loop`, before what reads it there. Fails: RM112, RM504."""
    step = "compute_at"
    realize, node = get_block(func, block), get_loop(func, loop)
    buffer, at = _movable(func, realize, step)
    into = _target(func, loop, at, step)
    uses = accesses(node.body)
    if checked:
        if buffer not in allocated(func):
            raise refused(step, f"`{buffer.name}` is not allocated at the root", realize.span)
        if into < at:
            raise refused(step, f"`{loop.name}` is executed before `{block}`", realize.span)
        _check_readers(func, realize, node, buffer)
        _check_unwritten(top(func)[at:], realize, buffer, step)
    if buffer not in uses.indices:
        raise refused(step, f"nothing in the loop over `{loop.name}` reads `{buffer.name}`", realize.span)
    relaxed = _sharing(func, loop, buffer) if checked else {}
    sides = _by_axis(realize, box(replace(uses, inner={**uses.inner, **relaxed}), buffer))
    moved = run_over(
        func,
        realize,
        targets_of(realize, sides, buffer),
        _reduction_loops(func, realize, step),
        loop,
        unit=preserve_unit_loops,
    )
    parts = node.body.seq if isinstance(node.body, tir.SeqStmt) else (node.body,)
    first = next(number for number, part in enumerate(parts) if touches(part, buffer))
    result = _with_block_moved(func, at, node, (*parts[:first], moved, *parts[first:]))
    if checked:
        private = {stmt.loop_var for stmt in _loops_of_threads(func, loop) if _is_private(stmt, buffer)}
        _check_races(result, loop, realize.block, private | relaxed.keys(), step)
    return result


@entry_point
def reverse_compute_at(
    func: tir.PrimFunc, block: str, loop: tir.Var, *, preserve_unit_loops: bool = False, checked: bool = True
) -> tir.PrimFunc:
    """The block in the loop over `loop`, after all that is there. Fails: RM112, RM504."""
    step = "reverse_compute_at"
    realize, node = get_block(func, block), get_loop(func, loop)
    written, at = _movable(func, realize, step)
    into = _target(func, loop, at, step)
    uses = accesses(node.body)
    loaded = {part.buffer for part in walk(realize.block) if isinstance(part, tir.BufferLoad)} - {written}
    awaited = sorted(loaded & uses.written, key=lambda candidate: candidate.name)
    if not awaited:
        raise refused(step, f"`{block}` reads nothing that is written in the loop over `{loop.name}`", realize.span)
    if checked and into > at:
        raise refused(step, f"`{loop.name}` is executed after `{block}`", realize.span)
    sides: dict[tir.Var, Side | None] = {}
    for buffer in awaited:
        store_uses = Accesses({buffer: _stored(node, buffer)}, frozenset(), uses.axes, uses.inner)
        if not checked:
            continue  # all of it in each iteration
        _check_finished(func, node, buffer, step)
        sides |= _sides_read(realize, buffer, box(store_uses, buffer), sides, step)
    if checked:
        _check_between(top(func)[into:at], realize, written, awaited)
        _check_written_there_only(func, realize, awaited, node)
    moved = run_over(
        func,
        realize,
        targets_of(realize, sides, written),
        _reduction_loops(func, realize, step),
        loop,
        unit=preserve_unit_loops,
    )
    parts = node.body.seq if isinstance(node.body, tir.SeqStmt) else (node.body,)
    result = _with_block_moved(func, at, node, (*parts, moved))
    if checked:
        _check_races(result, loop, realize.block, (), step)
    return result


def _movable(func: tir.PrimFunc, realize: tir.SBlockRealize, step: str) -> tuple[tir.Buffer, int]:
    """What the block writes, and its place at the root."""
    at = place_at_root(func, realize, step)
    obstacle = problem(func, top(func)[at])
    if obstacle is not None:
        raise refused(step, obstacle, realize.span)
    if realize.block.match_buffers or not is_true(realize.predicate):
        raise refused(step, f"`{realize.block.name}` has views or a condition", realize.span)
    buffer = output(realize, step)
    covers(func, realize, buffer, step)
    for loop in loops_around(func, realize, step).values():
        plain(loop, step)
    if any(isinstance(part, tir.Let) for part in walk(realize)):
        raise refused(step, f"`{realize.block.name}` binds variables", realize.span)
    return buffer, at


def _target(func: tir.PrimFunc, loop: tir.Var, at: int, step: str) -> int:
    """The place at the root of the loop, which must be another statement, with loops and the root around it."""
    place = place_of_loop(func, loop)
    into = position(func, place.stmt)
    if into == at:
        raise refused(step, f"`{loop.name}` is a loop of the block itself", place.stmt.span)
    for stmt in place.around:
        simple = isinstance(stmt, tir.For | tir.SeqStmt) or (isinstance(stmt, tir.SBlockRealize) and is_root(stmt))
        if not simple:
            raise refused(step, f"more than loops is around the loop over `{loop.name}`", place.stmt.span)
    obstacle = problem(func, top(func)[into])
    if obstacle is not None:
        raise refused(step, obstacle, place.stmt.span)
    for stmt in (*place.around, place.stmt):
        if isinstance(stmt, tir.For):
            plain(stmt, step, threads=True)
    return into


def _loops_of_threads(func: tir.PrimFunc, loop: tir.Var) -> list[tir.For]:
    """The loops over thread axes around the body of the loop over `loop`, itself among them."""
    place = place_of_loop(func, loop)
    around = (*place.around, place.stmt)
    return [stmt for stmt in around if isinstance(stmt, tir.For) and stmt.thread is not None]


def _is_private(loop: tir.For, buffer: tir.Buffer) -> bool:
    """Whether each index of a thread axis has memory of its own for `buffer`."""
    return any(loop.tag.startswith(axis) for axis in axes_of(buffer.scope))


def _sharing(func: tir.PrimFunc, loop: tir.Var, buffer: tir.Buffer) -> dict[tir.Var, Interval]:
    """The loops over threads that share the memory of `buffer`, with their values; all threads must come by."""
    threads = _loops_of_threads(func, loop)
    if not axes_of(buffer.scope):
        return {}
    sharing = [stmt for stmt in threads if not _is_private(stmt, buffer)]
    place = place_of_loop(func, loop)
    loops = [stmt for stmt in (*place.around, place.stmt) if isinstance(stmt, tir.For)] if sharing else []
    for stmt in loops:
        if interval(stmt) == ANY:
            message = f"threads may not come by together: the bounds of `{stmt.loop_var.name}` are no constants"
            raise refused("compute_at", message, stmt.span)
    if sharing and Threads(func).lowered:
        raise refused("compute_at", "the barriers of the function are in its text already", place.stmt.span)
    return {stmt.loop_var: interval(stmt) for stmt in sharing}


def _check_readers(func: tir.PrimFunc, realize: tir.SBlockRealize, node: tir.For, buffer: tir.Buffer) -> None:
    """All that touches the buffer is the block, or reads it in the loop."""
    if touches(body_without(func, node, realize), buffer):
        raise refused("compute_at", f"`{buffer.name}` is used outside of `{node.loop_var.name}`", realize.span)
    stores = [part for part in walk(node.body) if isinstance(part, tir.BufferStore) and part.buffer is buffer]
    if stores:
        raise refused("compute_at", f"`{buffer.name}` is written by another block too", realize.span)


def _check_unwritten(statements: Sequence[tir.Stmt], realize: tir.SBlockRealize, buffer: tir.Buffer, step: str) -> None:
    """What the block reads is written no more."""
    loaded = {node.buffer for node in walk(realize) if isinstance(node, tir.BufferLoad)} - {buffer}
    stored = {node.buffer for part in statements for node in walk(part) if isinstance(node, tir.BufferStore)}
    if loaded & stored:
        names = ", ".join(sorted(f"`{common.name}`" for common in loaded & stored))
        raise refused(step, f"{names} is written later", realize.span)


def _check_between(
    statements: Sequence[tir.Stmt],
    realize: tir.SBlockRealize,
    written: tir.Buffer,
    awaited: Sequence[tir.Buffer],
) -> None:
    """Nothing before the block touches what it writes, or writes what it reads, but for what it waits for."""
    step = "reverse_compute_at"
    loaded = {part.buffer for part in walk(realize) if isinstance(part, tir.BufferLoad)} - {*awaited, written}
    for part in statements:
        if touches(part, written):
            raise refused(step, f"`{written.name}` is used before `{realize.block.name}`", realize.span)
        stored = {node.buffer for node in walk(part) if isinstance(node, tir.BufferStore)}
        if stored & loaded:
            raise refused(step, f"what `{realize.block.name}` reads is written in between", realize.span)


def _check_written_there_only(
    func: tir.PrimFunc, realize: tir.SBlockRealize, awaited: Sequence[tir.Buffer], node: tir.For
) -> None:
    """What the block waits for is written in the loop only."""
    for buffer in awaited:
        remainder = body_without(func, node)
        if any(isinstance(part, tir.BufferStore) and part.buffer is buffer for part in walk(remainder)):
            message = f"`{buffer.name}` is written outside of `{node.loop_var.name}` too"
            raise refused("reverse_compute_at", message, realize.span)


def _stores(node: tir.For, buffer: tir.Buffer) -> list[tir.BufferStore]:
    return [part for part in walk(node.body) if isinstance(part, tir.BufferStore) and part.buffer is buffer]


def _stored(node: tir.For, buffer: tir.Buffer) -> list[tuple[tir.Expr, ...]]:
    return [store.indices for store in _stores(node, buffer)]


def _check_finished(func: tir.PrimFunc, node: tir.For, buffer: tir.Buffer, step: str) -> None:
    """Each iteration of the loop, and of those around it, writes elements of its own."""
    if buffer not in allocated(func):
        raise refused(step, f"`{buffer.name}` is not allocated at the root", node.span)
    place = place_of_loop(func, node.loop_var)
    loops = [loop for loop in (*place.around, node) if isinstance(loop, tir.For)]
    uses = accesses(loops[0])
    unseparated = {
        loop.loop_var for loop in loops if not (isinstance(loop.extent, tir.IntImm) and loop.extent.value == 1)
    }
    agreed: set[tir.Var] = set()
    while unseparated:
        separating = {var for var in unseparated if separates(var, uses, buffer, agreed)}
        if not separating:
            raise refused(step, f"elements of `{buffer.name}` may be finished in a later iteration", node.span)
        loop = min(separating, key=lambda var: var.name)
        agreed.add(loop)
        unseparated.discard(loop)


def _by_axis(realize: tir.SBlockRealize, sides: Sequence[Side | None]) -> dict[tir.Var, Side | None]:
    """The sides by the axes that the block stores at."""
    body = realize.block.body
    indices = body.indices if isinstance(body, tir.BufferStore) else ()
    return {index: side for index, side in zip(indices, sides, strict=True) if isinstance(index, tir.Var)}


def _sides_read(
    realize: tir.SBlockRealize,
    buffer: tir.Buffer,
    sides: Sequence[Side | None],
    agreed: dict[tir.Var, Side | None],
    step: str,
) -> dict[tir.Var, Side | None]:
    """The sides by the axes that the block reads at; sides that are all of their dimension are read anyhow."""
    spatial = {axis.var for axis in realize.block.iter_vars if axis.kind is IterKind.SPATIAL}
    by_axis: dict[tir.Var, Side | None] = {}
    columns = zip(*(load.indices for load in _loads(realize, buffer)), strict=True)
    for column, side, size in zip(columns, sides, buffer.shape, strict=True):
        if side is not None and side.is_all_of(size):
            continue
        axis = column[0]
        if side is None or axis not in spatial or any(index is not axis for index in column) or axis in by_axis:
            raise refused(step, f"`{buffer.name}` is read where other iterations write it", realize.span)
        if not isinstance(axis, tir.Var) or agreed.get(axis, side) != side:
            raise refused(step, "what is read is made in boxes of different sizes", realize.span)
        by_axis[axis] = side
    return by_axis


def _loads(realize: tir.SBlockRealize, buffer: tir.Buffer) -> list[tir.BufferLoad]:
    return [node for node in walk(realize) if isinstance(node, tir.BufferLoad) and node.buffer is buffer]


def _reduction_loops(func: tir.PrimFunc, realize: tir.SBlockRealize, step: str) -> list[tir.For]:
    """The loops of the reductions of the block, in their order."""
    variables = {
        part
        for axis, value in zip(realize.block.iter_vars, realize.iter_values, strict=True)
        for part in walk(value)
        if axis.kind is not IterKind.SPATIAL
    }
    return [loop for var, loop in loops_around(func, realize, step).items() if var in variables]


def _with_block_moved(func: tir.PrimFunc, at: int, node: tir.For, parts: Sequence[tir.Stmt]) -> tir.PrimFunc:
    """The function with these statements in the loop, and without the one at the root."""
    shortened = with_top(func, [*top(func)[:at], *top(func)[at + 1 :]])
    return with_stmt(shortened, node, replace(node, body=sequence(parts)))


def _check_races(func: tir.PrimFunc, loop: tir.Var, block: tir.SBlock, apart: Collection[tir.Var], step: str) -> None:
    """No loop around the block in its new place has a race for what it touches; the loops of `apart` have none."""
    touched = {part.buffer for part in walk(block) if isinstance(part, tir.BufferLoad | tir.BufferStore)}
    place = place_of_loop(func, loop)
    for stmt in (*place.around, place.stmt):
        if not isinstance(stmt, tir.For) or stmt.kind in SERIAL or stmt.loop_var in apart:
            continue
        uses = accesses(stmt.body)
        if not all(separates(stmt.loop_var, uses, buffer) for buffer in uses.written & touched):
            raise refused(step, f"iterations over `{stmt.loop_var.name}` would touch the same elements", stmt.span)


def _draw(step: Callable[..., tir.PrimFunc], name: str) -> Draw:
    def draw(func: tir.PrimFunc, choices: Choices) -> Drawn:
        block, unit = choices.pick(blocks(func)), choices.chance(50)
        loop = choices.pick(loops_of(func)).loop_var
        option = " preserve_unit_loops" * unit
        return f"{name} {block} at {loop.name}{option}", step(func, block, loop, preserve_unit_loops=unit)

    return draw


@entry_points
class MoveSteps(Session):
    """The methods that move a block into a loop."""

    draws: ClassVar[Mapping[str, Draw]] = {
        "compute_at": _draw(compute_at, "compute_at"),
        "reverse_compute_at": _draw(reverse_compute_at, "reverse_compute_at"),
    }

    def compute_at(
        self, block: BlockRV | str, loop: LoopRV, preserve_unit_loops: bool = False, index: int = LAST
    ) -> None:
        """Move the producer into a loop of what reads it, directly before that."""
        shown = _options("compute_at", index, unit=preserve_unit_loops)
        self._move(compute_at, self._block_handle(block), loop, shown)

    def reverse_compute_at(
        self, block: BlockRV | str, loop: LoopRV, preserve_unit_loops: bool = False, index: int = LAST
    ) -> None:
        """Move the consumer into a loop of what it reads, at its end."""
        shown = _options("reverse_compute_at", index, unit=preserve_unit_loops)
        self._move(reverse_compute_at, self._block_handle(block), loop, shown)

    def _move(
        self, step: Callable[..., tir.PrimFunc], block: BlockRV, loop: LoopRV, shown: Mapping[str, object]
    ) -> None:
        """Move the block as `step` does, or do what was drawn in the place of a loop (`sampling`)."""
        if not loop.instead:
            self._change(step, block, loop, shown=shown, checked=self._checked)
        elif loop.instead == INLINED:
            self._apply(step.__name__, (block, loop), lambda func: (compute_inline(func, block.name), ()), shown)
        else:
            self._apply(step.__name__, (block, loop), lambda func: (func, ()), shown)


def _options(step: str, index: int, *, unit: bool) -> dict[str, object]:
    if index != LAST:
        raise fail(UNSUPPORTED_CONSTRUCT, f"`{step}` puts a block at the last place only: index {index} is not there")
    return {"preserve_unit_loops": True} if unit else {}
