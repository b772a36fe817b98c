"""`bind`: a loop becomes a thread axis: its iterations are threads of a kernel.

Legal where

* the loop is plain, starts at 0, and its extent is a positive constant; the tag is `blockIdx.x` … `threadIdx.z`;
* each iteration touches nothing that another one writes (`accesses`), as for `parallel`; one alone has no other;
* no loop around it or in it has the same tag, and no other loop beside it, in one kernel, is bound to a thread: threads
  would have to wait for each other; but for work that threads share;
* memory that would be private to a thread (`ir.scopes`) is touched in the loop only.

A loop inside of a loop over threads of the same tag and extent is *shared work* (cooperative fetching): before, each
thread executes all its iterations, after, the one of its index. That is legal where

* each iteration stores to shared memory only, and reads nothing that the kernel writes: each thread stores the same;
* nothing in it depends on the threads around, and nothing but loops of constant bounds is around: all threads come by;
* the function has no barriers in its text: those that are implied (TIR-229) let every reader wait for all threads.
"""

from dataclasses import replace

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.entry import entry_point, entry_points
from refmlc.lang.arith.interval import ANY
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind
from refmlc.lang.ir.scopes import axes_of
from refmlc.lang.ir.threads import Threads
from refmlc.lang.ir.visit import walk
from refmlc.rewrite.schedule.accesses import accesses, interval, problem, separates
from refmlc.rewrite.schedule.handles import LoopRV
from refmlc.rewrite.schedule.loops import plain
from refmlc.rewrite.schedule.places import (
    body_without,
    get_loop,
    is_root,
    place_of_loop,
    refused,
    touches,
    with_stmt,
)
from refmlc.rewrite.schedule.session import Session

TAGS = tuple(f"{kind}.{axis}" for kind in ("blockIdx", "threadIdx") for axis in "xyz")


@entry_point
def bind(func: tir.PrimFunc, loop: tir.Var, tag: str, *, checked: bool = True) -> tir.PrimFunc:
    """The loop bound to a thread axis; `checked=False`: races are looked for by running. Fails: RM112, RM504."""
    node = get_loop(func, loop)
    if tag not in TAGS:
        raise fail(BAD_USAGE, f"`{tag}` is no thread axis: {', '.join(TAGS)}", node.span)
    plain(node, "bind")
    starts = isinstance(node.min, tir.IntImm) and node.min.value == 0
    if not starts or not isinstance(node.extent, tir.IntImm) or node.extent.value < 1:
        raise refused("bind", f"`{loop.name}` does not run from 0 to a positive constant", node.span)
    if _is_same_thread(func, node, tag):
        _check_shared_work(func, node)
    else:
        _check_other_threads(func, node, tag)
    if checked and node.extent.value > 1:
        _check_independent(func, node, tag)
    return with_stmt(func, node, replace(node, kind=ForKind.THREAD_BINDING, thread=tir.ThreadVar(tag)))


def _thread_loops(stmt: tir.Stmt) -> list[tir.For]:
    return [node for node in walk(stmt) if isinstance(node, tir.For) and node.thread is not None]


def _outer_threads(func: tir.PrimFunc, node: tir.For) -> list[tir.For]:
    """The loops over thread axes around a loop, outermost first."""
    return [loop for loop in place_of_loop(func, node.loop_var).around if isinstance(loop, tir.For) and loop.thread]


def _is_same_thread(func: tir.PrimFunc, node: tir.For, tag: str) -> bool:
    """Whether a loop over this axis of threads, of the same extent, is around."""
    return tag.startswith("threadIdx") and any(
        loop.tag == tag and isinstance(loop.extent, tir.IntImm) and isinstance(node.extent, tir.IntImm)
        and loop.extent.value == node.extent.value
        for loop in _outer_threads(func, node)
    )  # fmt: skip


def _check_shared_work(func: tir.PrimFunc, node: tir.For) -> None:
    """Every thread around stores the same to shared memory, and what reads it waits for all of them."""
    threads = _outer_threads(func, node)
    place = place_of_loop(func, node.loop_var)
    why = ""
    stored = {part.buffer for part in walk(node.body) if isinstance(part, tir.BufferStore)}
    kernel_stores = {part.buffer for part in walk(threads[0]) if isinstance(part, tir.BufferStore)}
    loaded = {part.buffer for part in walk(node.body) if isinstance(part, tir.BufferLoad)}
    around = [stmt for stmt in place.around if not isinstance(stmt, tir.SeqStmt)]
    if _thread_loops(node.body) or not all(buffer.scope.startswith("shared") for buffer in stored):
        why = "each thread would do a part of what it does"
    elif loaded & kernel_stores:
        why = "it reads what threads write"
    elif not all(is_root(stmt) or (isinstance(stmt, tir.For) and interval(stmt) != ANY) for stmt in around):
        why = "not all threads come by together"
    elif {loop.loop_var for loop in threads if loop.tag.startswith("threadIdx")} & set(walk(node)):
        why = "what it does depends on the thread"
    elif Threads(func).lowered:
        why = "the barriers of the function are in its text already"
    if why:
        raise refused("bind", f"`{node.loop_var.name}` is in a loop over `{threads[-1].tag}`, and {why}", node.span)


def _check_other_threads(func: tir.PrimFunc, node: tir.For, tag: str) -> None:
    """No loop of this tag around or inside, and no threads beside this one in the same kernel."""
    outer_loops = _outer_threads(func, node)
    inner_loops = _thread_loops(node.body)
    if any(loop.thread is not None and loop.thread.tag == tag for loop in (*outer_loops, *inner_loops)):
        raise refused("bind", f"`{tag}` is bound around `{node.loop_var.name}`, or inside", node.span)
    kernel = outer_loops[0] if outer_loops else node
    if len(_thread_loops(kernel)) != len(outer_loops) + len(inner_loops):
        raise refused("bind", "threads beside would have to wait for each other", node.span)
    for loop in inner_loops:
        nested = [other for other in _thread_loops(loop.body) if other is not loop]
        if len(nested) + 1 + _loops_containing(inner_loops, loop) != len(inner_loops):
            raise refused("bind", "threads inside would have to wait for each other", node.span)


def _loops_containing(loops: list[tir.For], loop: tir.For) -> int:
    """How many of the loops contain this one."""
    return sum(other is not loop and any(part is loop for part in walk(other.body)) for other in loops)


def _check_independent(func: tir.PrimFunc, node: tir.For, tag: str) -> None:
    obstacle = problem(func, node.body)
    if obstacle is not None:
        raise refused("bind", obstacle, node.span)
    uses = accesses(node.body)
    for buffer in uses.written:
        if not separates(node.loop_var, uses, buffer):
            message = f"iterations over `{node.loop_var.name}` may touch the same elements of `{buffer.name}`"
            raise refused("bind", message, node.span)
    for buffer in uses.indices:
        private = any(tag.startswith(axis) for axis in axes_of(buffer.scope))
        if private and touches(body_without(func, node), buffer):
            raise refused("bind", f"`{buffer.name}` would be private to each thread", node.span)


@entry_points
class ThreadSteps(Session):
    """The method that binds a loop to threads."""

    def bind(self, loop: LoopRV, thread_axis: str) -> None:
        """Bind `loop` to a thread axis."""
        self._change(bind, loop, thread_axis, checked=self._checked)
