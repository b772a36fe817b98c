"""Threads as a program without threads: the rounds in which they take turns (TIR-227), written as loops.

The interpreter runs the threads of a block one after the other from one meeting to the next. Where the meetings are
implied (TIR-229) and stand where all threads pass, the same order is that of serial loops: the loops over threads go
around each statement between two meetings.

    for t in threads:                          for k in 4:
        for k in 4:                                for t in threads: S[…] = A[…]
            S[…] = A[…]     (shared)     →         for t in threads: X[…] = X[…] + S[…]
            X[…] = X[…] + S[…]

| what                                        | becomes                                                             |
|---------------------------------------------|---------------------------------------------------------------------|
| a loop over a thread axis                   | a serial loop                                                       |
| a loop over the axis of a loop around it    | its body, for the index of that loop; both extents are one constant |
| memory private to the indices of axes, each | is one for all of them                                              |
| element of which one index touches          |                                                                     |
| other private memory                        | is allocated in the loops over the axes, new for each index         |

The order of rounds is exact where no two threads touch the same element of what they write, but of shared memory
(`rewrite.schedule.accesses`). A function in which that is not seen is left as it is, and so is one with views, calls
that have effects, early ends, barriers in the text, or reductions across threads.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeGuard

from refmlc.lang.dtypes import INT32
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.scopes import axes_of, is_thread
from refmlc.lang.ir.statements import statements
from refmlc.lang.ir.threads import Threads
from refmlc.lang.ir.visit import substitute, walk
from refmlc.rewrite.schedule.accesses import accesses, problem, separates
from refmlc.rewrite.schedule.places import allocated, integer, is_root, top, with_top


class _Left(Exception):
    """The function is left as it is."""


def in_turns(func: tir.PrimFunc) -> tir.PrimFunc:
    """The function with serial loops in the place of its threads; itself, where that is not seen to be the same."""
    if not any(isinstance(node, tir.ThreadVar) for node in walk(func.body)):
        return func
    try:
        return _Turns(replace(func, body=_without_inner_axes(func.body, {}))).function()
    except _Left:
        return func


class _Turns:
    """The rewriting of one function."""

    def __init__(self, func: tir.PrimFunc) -> None:
        self.func = func
        self.threads = Threads(func)
        self.private = {buffer for buffer in allocated(func) if axes_of(buffer.scope)}

    def function(self) -> tir.PrimFunc:
        """The function in turns. Raises `_Left`."""
        self._check()
        kernels = [stmt for stmt in top(self.func) if any(_is_axis(node) for node in walk(stmt))]
        moved: set[tir.Buffer] = set()
        for buffer in self.private:
            users = [stmt for stmt in top(self.func) if buffer in _touched(stmt)]
            if any(stmt in kernels for stmt in users):
                if len(users) > 1:
                    raise _Left  # it is written in one kernel or outside, and read elsewhere
                axes = [node for node in walk(users[0]) if _is_private(node, buffer) and buffer in _touched(node)]
                if any(buffer in _touched(_without(users[0], axis)) for axis in axes):
                    raise _Left
                if not _is_apart(users[0], buffer, axes):
                    moved.add(buffer)
        parts = [self._kernel(stmt, moved & _touched(stmt)) if stmt in kernels else stmt for stmt in top(self.func)]
        return with_top(self.func, parts, dropped=[*moved])

    def _check(self) -> None:
        """Nothing but loops, blocks and stores; meetings that are implied."""
        body = self.func.body
        odd = any(
            (isinstance(node, tir.For) and node.thread is not None and is_thread(node.tag) and not _is_axis(node))
            or (isinstance(node, tir.SBlock)
                and any(axes_of(buffer.scope) and buffer not in self.private for buffer in node.alloc_buffers))
            or (isinstance(node, tir.AllocBuffer) and axes_of(node.buffer.scope) and node.buffer not in self.private)
            for node in walk(body)
        )  # fmt: skip
        meets = self.threads.lowered or any(self.threads.touches(stmt).meets for stmt in statements(body))
        folds = any(self.threads.folds(stmt) for stmt in statements(body))
        if odd or meets or folds or problem(self.func, body) is not None:
            raise _Left

    def _kernel(self, stmt: tir.Stmt, moved: set[tir.Buffer]) -> tir.Stmt:
        """A statement at the root that has threads: loops over blocks, then the threads of a block, then what they do.

        `moved` are the buffers that are allocated inside.
        """
        if not isinstance(stmt, tir.For) or not _is_axis(stmt):
            raise _Left  # loops around a kernel: each launch has memory of its own
        return self._blocks(stmt, frozenset(), sorted(moved, key=lambda buffer: buffer.name))

    def _blocks(self, loop: tir.For, tags: frozenset[str], moved: Sequence[tir.Buffer]) -> tir.Stmt:
        if loop.tag.startswith("threadIdx"):
            shared = [buffer for buffer in moved if buffer.scope.startswith("shared")]
            return _with_memory(self._group(loop, [buffer for buffer in moved if buffer not in shared]), shared)
        body = loop.body
        if loop.tag in tags:
            raise _Left
        if isinstance(body, tir.For) and _is_axis(body):
            return replace(_serial(loop), body=self._blocks(body, tags | {loop.tag}, moved))
        if any(_is_axis(node) for node in walk(body)):
            raise _Left
        return replace(_serial(loop), body=_with_memory(body, moved))

    def _group(self, first: tir.For, moved: Sequence[tir.Buffer]) -> tir.Stmt:
        """The threads of a block: a round for each statement between two meetings."""
        axes: list[tir.For] = []
        body: tir.Stmt = first
        while isinstance(body, tir.For) and _is_axis(body) and body.tag not in {axis.tag for axis in axes}:
            if not body.tag.startswith("threadIdx"):
                raise _Left
            axes.append(body)
            body = body.body
        if any(_is_axis(node) for node in walk(body)):
            raise _Left  # some threads of a block would do what others do not
        group = _nest(axes, body)
        threads = Threads(replace(self.func, body=group))
        if not threads.meets(body):
            return _round(_with_memory(body, moved), axes)
        written = [buffer for buffer in accesses(group).written if not buffer.scope.startswith("shared")]
        if moved or not all(_is_apart(group, buffer, axes) for buffer in written):
            raise _Left
        return self._rounds(body, axes, threads)

    def _rounds(self, stmt: tir.Stmt, axes: Sequence[tir.For], threads: Threads) -> tir.Stmt:
        if not threads.meets(stmt):
            return _round(stmt, axes)
        match stmt:
            case tir.SeqStmt(seq) if not any(isinstance(part, tir.Bind | tir.AllocBuffer) for part in seq):
                return replace(stmt, seq=tuple(self._rounds(part, axes, threads) for part in seq))
            case tir.For() if threads.is_uniform(stmt.min) and threads.is_uniform(stmt.extent) and stmt.step is None:
                if stmt.kind not in (ForKind.SERIAL, ForKind.UNROLLED):
                    raise _Left
                return replace(stmt, body=self._rounds(stmt.body, axes, threads))
            case _:
                raise _Left


def _is_axis(node: Node) -> bool:
    """Whether a statement is a loop over a thread axis, from 0 to a positive constant."""
    return (
        isinstance(node, tir.For)
        and is_thread(node.tag)
        and node.thread is not None
        and node.thread.var is None
        and node.step is None
        and isinstance(node.min, tir.IntImm)
        and node.min.value == 0
        and isinstance(node.extent, tir.IntImm)
        and node.extent.value > 0
    )


def _is_private(loop: Node, buffer: tir.Buffer) -> TypeGuard[tir.For]:
    """Whether a statement is a loop over an axis, each index of which has memory of its own for `buffer`."""
    return isinstance(loop, tir.For) and any(loop.tag.startswith(axis) for axis in axes_of(buffer.scope))


def _without(stmt: tir.Stmt, part: tir.Stmt) -> tir.Stmt:
    """The statement with nothing in the place of a part."""
    return substitute(stmt, {part: tir.Evaluate(integer(0, INT32))})


def _is_apart(stmt: tir.Stmt, buffer: tir.Buffer, axes: Sequence[tir.For]) -> bool:
    """Whether what differs in an index of `axes`, loops at and in `stmt`, touches different elements of `buffer`."""
    uses = accesses(stmt)
    left = {axis.loop_var for axis in axes if not _is_single(axis)}
    agreed: set[tir.Var] = set()
    while left:
        var = next((var for var in left if separates(var, uses, buffer, agreed)), None)
        if var is None:
            return False
        agreed.add(var)
        left.discard(var)
    return True


def _is_single(loop: tir.For) -> bool:
    return isinstance(loop.extent, tir.IntImm) and loop.extent.value == 1


def _touched(stmt: Node) -> set[tir.Buffer]:
    return {node.buffer for node in walk(stmt) if isinstance(node, tir.BufferLoad | tir.BufferStore)}


def _serial(loop: tir.For) -> tir.For:
    return replace(loop, kind=ForKind.SERIAL, thread=None)


def _with_memory(stmt: tir.Stmt, buffers: Sequence[tir.Buffer]) -> tir.Stmt:
    """The statement with memory that is new each time."""
    return tir.SeqStmt((*(tir.AllocBuffer(buffer) for buffer in buffers), stmt)) if buffers else stmt


def _without_inner_axes(stmt: tir.Stmt, around: Mapping[str, tir.For]) -> tir.Stmt:
    """The statement with the index of the thread in the place of loops over axes that are around."""
    match stmt:
        case tir.For() if stmt.tag in around:
            axis = around[stmt.tag]
            if not _is_axis(stmt) or not _same_extent(stmt, axis) or stmt.loop_var.dtype != axis.loop_var.dtype:
                raise _Left
            return _without_inner_axes(substitute(stmt.body, {stmt.loop_var: axis.loop_var}), around)
        case tir.For():
            inner = {**around, stmt.tag: stmt} if _is_axis(stmt) else around
            return replace(stmt, body=_without_inner_axes(stmt.body, inner))
        case tir.SeqStmt(seq):
            return replace(stmt, seq=tuple(_without_inner_axes(part, around) for part in seq))
        case tir.SBlockRealize(block=block) if is_root(stmt):
            return replace(stmt, block=replace(block, body=_without_inner_axes(block.body, around)))
        case _:
            if any(_is_axis(node) for node in walk(stmt)):
                raise _Left
            return stmt


def _same_extent(a: tir.For, b: tir.For) -> bool:
    return isinstance(a.extent, tir.IntImm) and isinstance(b.extent, tir.IntImm) and a.extent.value == b.extent.value


def _nest(axes: Sequence[tir.For], body: tir.Stmt) -> tir.Stmt:
    for axis in reversed(axes):
        body = replace(axis, body=body)
    return body


def _round(stmt: tir.Stmt, axes: Sequence[tir.For]) -> tir.Stmt:
    """The statement for every thread, one after the other, by variables of its own."""
    table: dict[Node, Node] = {axis.loop_var: replace(axis.loop_var) for axis in axes}
    return substitute(_nest([_serial(axis) for axis in axes], stmt), table)
