"""The statements that arrive at a barrier in memory, and the threads that can still reach one.

A statement arrives if it names the memory of the barrier, and neither waits there, nor begins or ends the barrier. A
thread can reach it if it stands after the place of the thread, or in a loop around both that has iterations left, and
every condition around it that does not change during the run of the thread holds. So the answer may name too many
threads, where a condition changes, and never too few.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from refmlc.debug.expressions import PreparedExpression, prepare_node
from refmlc.debug.places import StmtPlace
from refmlc.diag import RefmlcError
from refmlc.lang.ir import tir
from refmlc.lang.ir.asynchronous import is_asynchronous, is_wait
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.ptx import PtxCall
from refmlc.lang.ir.threads import tag_of
from refmlc.lang.ir.visit import walk
from refmlc.run.interp.asynchronous.barriers import MemoryBarrier
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.memory.cells import cell_size

OTHERS = ("init", "inval", "test_wait", "try_wait", "pending_count")
AROUND = (tir.SeqStmt, tir.For, tir.While, tir.IfThenElse, tir.AttrStmt, tir.SBlockRealize, tir.Bind)
DECLARES = (tir.AllocBuffer, tir.DeclBuffer)
SIMPLE = (tir.Var, tir.IntImm, tir.Apply, tir.Cast, tir.And, tir.Or, tir.Select)


def arriving(places: list[StmtPlace], scope: Scope, frame: Frame, barrier: MemoryBarrier) -> list[StmtPlace]:
    """The places that arrive at a barrier; `frame`: of any thread of its block."""
    return [
        place
        for place in places
        if not isinstance(place.node, (*AROUND, *DECLARES))
        and not is_wait(place.node)
        and any(_holds(scope, frame, buffer, barrier) for buffer in _buffers(place.node))
    ]


def _buffers(node: tir.Stmt) -> Iterator[tir.Buffer]:
    """The buffers of a statement, apart from instructions that begin or end a barrier."""
    call = node.value if isinstance(node, tir.Evaluate) and is_asynchronous(node.value) else None
    ptx = None if call is None else PtxCall.of(call)
    if ptx is not None and ptx.one_of(*OTHERS):
        return
    yield from (part for part in walk(node) if isinstance(part, tir.Buffer))


def _holds(scope: Scope, frame: Frame, buffer: tir.Buffer, barrier: MemoryBarrier) -> bool:
    """Whether the memory of a buffer holds the barrier."""
    place = scope.buffers.get(buffer)
    view = None if place is None else frame[place.view]
    if view is None or view.data.storage is not barrier.place.storage:
        return False
    size = cell_size(buffer.dtype) * buffer.dtype.lanes
    first = view.data.byte_offset + view.offset * size
    last = sum((extent - 1) * stride for extent, stride in zip(view.shape, view.strides, strict=True))
    return first <= barrier.place.byte_offset < first + (last + 1) * size


# ------------------------------------------------------------------------------------------------------- reaching


def reaches(scope: Scope, frame: Frame, at: StmtPlace, place: StmtPlace) -> bool:
    """Whether a thread that stands at `at` can execute `place` later."""
    return _may_follow(scope, frame, at, place) and all(
        _may_hold(scope, frame, around, below) for around, below in _branches(place)
    )


def _within_thread(place: StmtPlace) -> list[StmtPlace]:
    """The place and those around it, up to the loop over threads."""
    found: list[StmtPlace] = [place]
    for around in place.around():
        if tag_of(around.node):
            break
        found.append(around)
    return found


def _may_follow(scope: Scope, frame: Frame, at: StmtPlace, place: StmtPlace) -> bool:
    above_at, above_place = [at, *at.around()], [place, *place.around()]
    if at in above_place:
        return True
    shared = next((around for around in above_at if around in above_place), None)
    if shared is None:
        return False
    inner = [around for around in _within_thread(shared) if isinstance(around.node, tir.For | tir.While)]
    if any(_goes_on(scope, frame, loop) for loop in inner):
        return True
    if not isinstance(shared.node, tir.SeqStmt):
        return False
    return above_at[above_at.index(shared) - 1].number < above_place[above_place.index(shared) - 1].number


def _goes_on(scope: Scope, frame: Frame, loop: StmtPlace) -> bool:
    """Whether a loop may have another iteration."""
    match loop.node:
        case tir.For(min=tir.IntImm(value=first), extent=tir.IntImm(value=count), step=None, loop_var=var):
            value = frame[scope.layout.slot(var)] if scope.layout.knows(var) else None
            return not isinstance(value, int) or value < first + count - 1
        case _:
            return True


def _branches(place: StmtPlace) -> Iterator[tuple[StmtPlace, StmtPlace]]:
    """The conditional statements around a place within its thread, each with the branch that it is in."""
    chain = _within_thread(place)
    for below, around in pairwise(chain):
        if isinstance(around.node, tir.IfThenElse):
            yield around, below


def _may_hold(scope: Scope, frame: Frame, around: StmtPlace, branch: StmtPlace) -> bool:
    """Whether the thread may take the branch."""
    node = around.node
    assert isinstance(node, tir.IfThenElse)  # noqa: S101 - `_branches` has looked
    used = _used(around.func, node)
    if used is None or not all(scope.layout.knows(var) for var in used):
        return True
    values: dict[tir.Var | tir.Buffer, object] = {var: frame[scope.layout.slot(var)] for var in used}
    if None in values.values():
        return True
    try:
        value = _prepared(node).value(values)
    except RefmlcError:
        return True
    return bool(value) is (branch.number == 0)


@lru_cache(maxsize=256)
def _prepared(node: tir.IfThenElse) -> PreparedExpression:
    return prepare_node(node.condition)


@lru_cache(maxsize=256)
def _used(func: tir.PrimFunc, node: tir.IfThenElse) -> tuple[tir.Var, ...] | None:
    """The variables of a condition; None where it may change while a thread runs, or is not simple."""
    varying, parts = _varying(func), list[Node](walk(node.condition))
    if any(not isinstance(part, SIMPLE) or part in varying for part in parts):
        return None
    return tuple(part for part in parts if isinstance(part, tir.Var))


@lru_cache(maxsize=16)
def _varying(func: tir.PrimFunc) -> frozenset[Node]:
    """The variables whose values change while a thread runs: of loops, and those bound in loops."""
    found: set[Node] = set()
    for node in walk(func):
        if isinstance(node, tir.For | tir.While) and not tag_of(node):
            found |= {part.var for part in walk(node.body) if isinstance(part, tir.Bind)}
            found |= {node.loop_var} if isinstance(node, tir.For) else set()
    return frozenset(found)
