"""Loops. Every kind of `For` runs its iterations one after the other, in the order of the loop variable.

An iteration is a step. Steps are charged in chunks, after they ran, so that a loop left early pays for its iterations
only. Longer bodies have shorter chunks: the budget checks its clock between chunks only.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from typing import cast

from refmlc.diag.catalogue import BAD_EXTENT
from refmlc.lang.dtypes import INT32
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind
from refmlc.lang.ir.scopes import is_thread
from refmlc.lang.ir.subtree import nodes_in
from refmlc.lang.ir.visit import walk
from refmlc.run.interp import fast
from refmlc.run.interp.tensorir.events import around
from refmlc.run.interp.tensorir.frame import Frame, Run, Slot, in_order
from refmlc.run.interp.tensorir.jumps import Breaking, Continuing
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.threads.private_memory import outside

MOST_IN_CHUNK = 4096
NODES_IN_CHUNK = 1 << 15  # evaluated in some milliseconds
LAUNCHED = ("thread_extent", "virtual_thread")
ZERO = tir.IntImm(INT32, 0)


def loop(scope: Scope, node: tir.For) -> Run:
    """Run the body for each value of the loop variable."""
    tag = node.tag
    if tag in scope.threads:
        return in_order((same_thread(scope, tag, node), scope.stmt(node.body)))
    return with_events(scope, node, _iterations(scope, node, tag))


def _iterations(scope: Scope, node: tir.For, tag: str) -> Run:
    domain = (node.min, node.extent) if node.step is None else None
    first, extent = scope.int(node.min), scope.int(node.extent)
    step = None if node.step is None else scope.int(node.step)
    wrong = scope.failing(BAD_EXTENT, node.span)
    sums = fast.loop_sums(scope, node)
    with scope.loop(node.loop_var, domain, tag) as slot, scope.thread(tag, node.loop_var, node.extent):
        scope.sums = sums
        if node.thread is not None and node.thread.var is not None:
            scope.layout.alias(node.thread.var, cast("Slot[object]", slot))
        body = scope.stmt(node.body)
        jumps = scope.jumps
    if is_thread(tag):
        body = _entering(scope, body)
    iterate = iteration(scope, slot, _continuing(body) if jumps else body, node)
    enter = None if sums is None else sums.entering()

    def run(frame: Frame) -> None:
        start = first(frame)
        count = extent(frame)
        stride = 1 if step is None else step(frame)
        if count < 0:
            raise wrong(frame, f"the extent of loop `{node.loop_var.name}` is {count}")
        if stride <= 0:
            raise wrong(frame, f"the step of loop `{node.loop_var.name}` is {stride}")
        if enter is not None:
            enter(frame)
        iterate(frame, start, start + count, stride)

    ending = _breaking(run) if jumps else run
    return _leaving(scope, tag, ending) if is_thread(tag) else ending


def with_events(scope: Scope, node: tir.For, run: Run) -> Run:
    """`run`, the iterations of a loop, with the hooks that watch loops."""
    hooks = scope.machine.hooks
    if not (hooks.watches("enter_loop") or hooks.watches("leave_loop")):
        return run
    return around(hooks.enter_loop, hooks.leave_loop, node, run)


@lru_cache(maxsize=1024)
def chunk(body: tir.Stmt) -> int:
    """The number of iterations of `body` that are charged together."""
    nodes = sum(1 for _ in islice(walk(body), NODES_IN_CHUNK))
    return min(MOST_IN_CHUNK, NODES_IN_CHUNK // nodes)


def _fewest(func: tir.PrimFunc | None) -> int:
    """A number that `chunk` does not fall below for any loop of `func`: most loops are shorter, and need no `chunk`."""
    nodes = NODES_IN_CHUNK if func is None else 2 * len(nodes_in(func.body))
    return max(1, min(MOST_IN_CHUNK, NODES_IN_CHUNK // nodes))


def iteration(scope: Scope, slot: Slot[int], body: Run, node: tir.For) -> Callable[[Frame, int, int, int], None]:
    """`body` with the variable in `slot` going from `start` on in steps of `stride` below `stop`."""
    budget, span, few = scope.machine.budget, node.span, _fewest(scope.func)

    def iterate(frame: Frame, start: int, stop: int, stride: int) -> None:
        count = few if stop - start <= few * stride else chunk(node.body)
        while start < stop:
            end = min(start + count * stride, stop)
            try:
                for value in range(start, end, stride):
                    frame[slot] = value
                    body(frame)
            except BaseException:
                budget.steps += (frame[slot] - start) // stride + 1
                raise
            budget.charge_steps(-(-(end - start) // stride), span)
            start += count * stride

    return iterate


def while_loop(scope: Scope, node: tir.While) -> Run:
    """Run the body as long as the condition holds; evaluating the condition is a step."""
    outer, looping = scope.jumps, scope.looping
    scope.jumps, scope.looping = False, True
    condition = scope.expr(node.condition)
    body = scope.stmt(node.body)
    jumps = scope.jumps
    scope.jumps, scope.looping = outer, looping
    if jumps:
        body = _continuing(body)
    charge = scope.machine.budget.charge_steps
    span = node.span

    def run(frame: Frame) -> None:
        while condition(frame):
            charge(1, span)
            body(frame)

    return _breaking(run) if jumps else run


def as_loop(node: tir.AttrStmt) -> tir.For:
    """`T.launch_thread` as a loop over the indices of a thread axis."""
    thread, extent = cast("tir.ThreadVar", node.node), node.value
    size = tir.IntImm(INT32, extent) if isinstance(extent, int) else cast("tir.Expr", extent)
    var = tir.Var(thread.tag, size.dtype) if thread.var is None else thread.var
    return tir.For(var, ZERO, size, ForKind.THREAD_BINDING, node.body, thread, span=node.span)


def same_thread(scope: Scope, tag: str, node: tir.For) -> Run:
    """The variable of a loop over a thread axis that is bound already is its index. Fails: RM315, other extents."""
    bound, outer_extent = scope.threads[tag]
    scope.layout.alias(node.loop_var, scope.layout.slot(bound))
    outer, inner = scope.int(outer_extent), scope.int(node.extent)
    wrong = scope.failing(BAD_EXTENT, node.span)

    def check(frame: Frame) -> None:
        if outer(frame) != inner(frame):
            raise wrong(frame, f"`{tag}` has extent {inner(frame)} here and {outer(frame)} around it")

    return check


def _entering(scope: Scope, body: Run) -> Run:
    """An iteration over a thread axis, with the private memory of its index."""
    outer = scope.outer

    def run(frame: Frame) -> None:
        for memory, view in frame[outer] or ():
            memory.enter(frame, frame, view)
        body(frame)

    return run


def _leaving(scope: Scope, tag: str, iterations: Run) -> Run:
    """The iterations over a thread axis; afterwards the private memory of its indices is out of scope."""
    axis, memories, outer = scope.axes[tag], scope.memories, scope.outer

    def run(frame: Frame) -> None:
        previous = frame[outer]
        frame[outer] = private = outside(frame, memories, tag)
        iterations(frame)
        frame[axis], frame[outer] = None, previous
        for memory, view in private:
            memory.leave(frame, view)

    return run


def _continuing(body: Run) -> Run:
    def run(frame: Frame) -> None:
        with suppress(Continuing):
            body(frame)

    return run


def _breaking(iterations: Run) -> Run:
    def run(frame: Frame) -> None:
        with suppress(Breaking):
            iterations(frame)

    return run
