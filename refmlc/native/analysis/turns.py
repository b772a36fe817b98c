"""Threads as a program without threads: the rounds in which they take turns (TIR-227), written as loops.

The interpreter runs the threads of a block one after the other from one meeting to the next. Loops do the same: a loop
over blocks, in it the statements around the meetings, once for all threads, and a loop over the threads around what
stands between two meetings (`rounds`).

    for t in threads:                          for k in 4:
        for k in 4:                                for t in threads: S[…] = A[…]
            S[…] = A[…]     (shared)     →         for t in threads: X[…] = X[…] + S[…]
            X[…] = X[…] + S[…]

| what                                          | becomes                                                             |
|-----------------------------------------------|---------------------------------------------------------------------|
| `T.device_entry()`, scope ids below it        | loops over thread axes (`refmlc.rewrite.launches`), then            |
| `launch_thread`, a loop over a thread axis    | a serial loop                                                       |
| a loop over the axis of a loop around it      | its body, for the index of that loop; both extents are one constant |
| memory private to a block, allocated outside  | is allocated in the loops over the blocks                           |
| memory private to a thread, allocated outside | is an array there, with a part for each thread                      |

A function is left as it is, with the reason, where this is not certainly the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import cast, get_args

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import INT32
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.scopes import axes_of, is_thread
from refmlc.lang.ir.subtree import nodes_of
from refmlc.lang.ir.threads import Threads, meets_in_part, tag_of
from refmlc.lang.ir.tirx import KERNEL
from refmlc.lang.ir.visit import rewrite, substitute, walk
from refmlc.native.analysis.rounds import Rounds
from refmlc.native.analysis.thread_loops import Left, part_for_each, serial
from refmlc.rewrite.launches.entries import has_entry, with_loops
from refmlc.rewrite.schedule.places import allocated, sequence, top, with_top

LAUNCHES = ("thread_extent", "virtual_thread")


def in_turns(func: tir.PrimFunc) -> tir.PrimFunc:
    """The function with serial loops in the place of its threads; itself, where that is not seen to be the same."""
    return turns(func)[0]


def turns(func: tir.PrimFunc) -> tuple[tir.PrimFunc, str]:
    """`in_turns`, and why the function is left as it is; else empty."""
    entry = has_entry(func)
    if not entry and not nodes_of(func.body, tir.ThreadVar):
        return func, ""
    try:
        body = _launched(func) if entry else func.body
        body = _in_order(body) if meets_in_part(body) else body
        loops = replace(func, body=_without_inner_axes(_as_loops(body), {}))
        return _Turns(loops).function(), ""
    except Left as reason:
        return func, str(reason)


def _launched(func: tir.PrimFunc) -> tir.Stmt:
    """The body with loops over thread axes in the place of `T.device_entry()`. Raises `Left`."""
    try:
        body = with_loops(func).body
    except RefmlcError as failure:
        raise Left(f"the launch fails with {failure.code.id}") from None
    if any(isinstance(node, tir.AttrStmt) and node.key == KERNEL and node.value for node in walk(body)):
        raise Left("blocks of a cluster need each other")
    return rewrite(body, _flat)


def _flat(node: Node) -> Node:
    """A sequence without others in it: what one binds is known to what follows."""
    return sequence(node.seq) if isinstance(node, tir.SeqStmt) else node


class _Turns:
    """The rewriting of one function, whose threads are loops."""

    def __init__(self, func: tir.PrimFunc) -> None:
        self.func = func
        self.threads = Threads(func)

    def function(self) -> tir.PrimFunc:
        """The function in turns. Raises `Left`."""
        statements = top(self.func)
        kernels = [stmt for stmt in statements if _has_axis(stmt)]
        moved: dict[tir.Stmt, list[tir.Buffer]] = {stmt: [] for stmt in kernels}
        for buffer in allocated(self.func):
            if not self._is_private(buffer):
                continue
            users = [stmt for stmt in statements if buffer in self._touched(stmt)]
            if any(stmt in kernels for stmt in users):
                if len(users) > 1:
                    raise Left(f"`{buffer.name}` is touched in one kernel and elsewhere")
                moved[users[0]].append(buffer)
        parts = [self._kernel(stmt, moved[stmt], frozenset()) if stmt in kernels else stmt for stmt in statements]
        return with_top(self.func, parts, dropped=[buffer for buffers in moved.values() for buffer in buffers])

    def _is_private(self, buffer: tir.Buffer) -> bool:
        return bool(axes_of(buffer.scope))

    def _is_of_thread(self, buffer: tir.Buffer) -> bool:
        return "threadIdx" in axes_of(buffer.scope) and not self.threads.is_folded(buffer)

    def _touched(self, stmt: Node) -> set[tir.Buffer]:
        kinds = tir.BufferLoad | tir.BufferStore | tir.BufferData
        named = {node.buffer for node in walk(stmt) if isinstance(node, kinds)}
        named |= {node.source.buffer for node in walk(stmt) if isinstance(node, tir.MatchBufferRegion)}
        return named | {self.threads.root(buffer) for buffer in named}

    def _kernel(self, stmt: tir.Stmt, moved: Sequence[tir.Buffer], tags: frozenset[str]) -> tir.Stmt:
        """The loops over blocks, and in them what one block of threads does. `moved` is allocated there."""
        match stmt:
            case tir.For() if is_axis(stmt) and not stmt.tag.startswith("threadIdx"):
                if stmt.tag in tags:
                    raise Left(f"`{stmt.tag}` is launched twice")
                return replace(serial(stmt), body=self._kernel(stmt.body, moved, tags | {stmt.tag}))
            case tir.AttrStmt():
                return replace(stmt, body=self._kernel(stmt.body, moved, tags))
            case tir.SeqStmt(seq) if _has_axis(stmt, "blockIdx"):
                allocations = [part.buffer for part in seq if isinstance(part, tir.AllocBuffer)]
                rest = [part for part in seq if not isinstance(part, tir.AllocBuffer)]
                if len(rest) != 1 or not all(self._is_private(buffer) for buffer in allocations):
                    raise Left("a block does more than to launch its threads")
                return self._kernel(rest[0], [*moved, *allocations], tags)
            case _ if _has_axis(stmt, "blockIdx") or not (tags or is_axis(stmt)):
                raise Left("a loop launches a kernel more than once")
            case _:
                return self._block(stmt, moved)

    def _block(self, stmt: tir.Stmt, moved: Sequence[tir.Buffer]) -> tir.Stmt:
        """What one block of threads does, with memory that is new each time."""
        groups = list(_groups(stmt))
        inner = {buffer for group in groups for node in walk(group) for buffer in _allocated_at(node)}
        here = {buffer for node in walk(stmt) for buffer in _allocated_at(node)} - inner
        parts: dict[tir.Buffer, tir.Buffer] = {}
        for buffer in [*moved, *sorted(here, key=lambda each: each.name)]:
            if self._is_of_thread(buffer):
                parts[buffer] = self._parts_of(buffer, groups)
        body = self._outside(stmt, parts)
        memory = [tir.AllocBuffer(parts.get(buffer, buffer)) for buffer in moved]
        return sequence([*memory, body])

    def _parts_of(self, buffer: tir.Buffer, groups: Sequence[tir.For]) -> tir.Buffer:
        launches = [axes_at(group)[0] for group in groups if buffer in self._touched(group)]
        users = [sorted(axes, key=lambda axis: axis.tag) for axes in launches]
        if len({tuple(axis.tag for axis in axes) for axes in users}) > 1:
            raise Left(f"`{buffer.name}` is private to threads of different axes")
        if not users:
            return buffer
        extents = [max((axis.extent for axis in column), key=_constant) for column in zip(*users, strict=True)]
        return part_for_each(buffer, extents)

    def _outside(self, stmt: tir.Stmt, parts: Mapping[tir.Buffer, tir.Buffer]) -> tir.Stmt:
        """A statement of a block of threads, around its threads or beside them."""
        match stmt:
            case tir.For() if is_axis(stmt):
                axes, body = axes_at(stmt)
                return Rounds(axes, self.threads, parts).group(body)
            case tir.AllocBuffer(buffer=buffer):
                return tir.AllocBuffer(parts.get(buffer, buffer), stmt.annotations, span=stmt.span)
            case tir.For():
                return replace(serial(stmt), body=self._outside(stmt.body, parts))
            case tir.AttrStmt():
                return replace(stmt, body=self._outside(stmt.body, parts))
            case tir.SeqStmt(seq):
                return sequence([self._outside(part, parts) for part in seq])
            case tir.IfThenElse(condition, then_case, else_case) if _has_axis(stmt):
                other = None if else_case is None else self._outside(else_case, parts)
                self._check_outside(tir.Evaluate(condition), parts)
                return replace(stmt, then_case=self._outside(then_case, parts), else_case=other)
            case tir.SBlockRealize(block=block) if _has_axis(stmt):
                if block.init is not None or block.match_buffers:
                    raise Left(f"threads are launched in block `{block.name}`, with an init or a view")
                buffers = tuple(parts.get(buffer, buffer) for buffer in block.alloc_buffers)
                block = replace(
                    block, body=self._outside(block.body, parts), alloc_buffers=buffers, reads=None, writes=None
                )
                return replace(stmt, block=block)
            case _:
                if _has_axis(stmt):
                    raise Left("threads are launched in a statement of another kind")
                self._check_outside(stmt, parts)
                return stmt

    def _check_outside(self, stmt: tir.Stmt, parts: Mapping[tir.Buffer, tir.Buffer]) -> None:
        if not self._touched(stmt).isdisjoint(parts):
            raise Left("memory private to threads is touched outside of them")


def is_axis(node: Node) -> bool:
    """Whether a statement is a loop over a thread axis, from 0; of threads of a block to a positive constant."""
    return (
        isinstance(node, tir.For)
        and is_thread(node.tag)
        and node.thread is not None
        and node.step is None
        and isinstance(node.min, tir.IntImm)
        and node.min.value == 0
        and (node.tag.startswith("blockIdx") or (isinstance(node.extent, tir.IntImm) and node.extent.value > 0))
    )


def axes_at(loop: tir.For) -> tuple[list[tir.For], tir.Stmt]:
    """The loops over the threads of a block, outermost first, and what each thread does. Raises `Left`."""
    axes: list[tir.For] = []
    body: tir.Stmt = loop
    while isinstance(body, tir.For) and is_axis(body):
        if not body.tag.startswith("threadIdx") or body.tag in {axis.tag for axis in axes}:
            raise Left("a thread launches others")
        axes.append(body)
        body = body.body
    if _has_axis(body):
        raise Left("some threads of a block do what others do not")
    return axes, body


def _has_axis(stmt: Node, beginning: str = "") -> bool:
    return any(
        isinstance(node, tir.For) and node.thread is not None and is_thread(node.tag) and node.tag.startswith(beginning)
        for node in walk(stmt)
    )


def _groups(stmt: tir.Stmt) -> list[tir.For]:
    """The outermost loops over threads of a block."""
    groups: list[tir.For] = []
    inner: set[Node] = set()
    for node in walk(stmt):
        if isinstance(node, tir.For) and node.tag.startswith("threadIdx") and node not in inner:
            if not is_axis(node):
                raise Left("the number of threads is not a constant")
            groups.append(node)
            inner.update(walk(node))
    return groups


def _allocated_at(node: Node) -> tuple[tir.Buffer, ...]:
    match node:
        case tir.AllocBuffer(buffer=buffer):
            return (buffer,)
        case tir.SBlock(alloc_buffers=buffers):
            return buffers
        case _:
            return ()


def _constant(value: tir.Expr) -> int:
    return value.value if isinstance(value, tir.IntImm) else 0


def _in_order(stmt: tir.Stmt) -> tir.Stmt:
    """The statement with its launches in the order in which threads that form warps take turns, x fastest.

    Raises `Left` where the threads of a warp are those of several loops, or of launches that are not together.
    """
    launches = [node for node in walk(stmt) if tag_of(node)]
    tags = [tag_of(node) for node in launches]
    if len(set(tags)) < len(tags) or not all(tag.startswith(("blockIdx.", "threadIdx.")) for tag in tags):
        raise Left("threads of a warp are launched in a way of their own")
    if sum(tag.startswith("threadIdx.") for tag in tags) == 1 and "threadIdx.x" not in tags:
        return stmt
    chain = [node for node in launches if isinstance(node, tir.AttrStmt)]
    variables = {node.node.var for node in chain if isinstance(node.node, tir.ThreadVar)}
    together = all(outer.body is inner for outer, inner in pairwise(chain))
    if any(part in variables for node in chain for part in _parts_of_extent(node)):
        raise Left("the extent of a launch depends on another one")
    if len(chain) == len(launches) and together and "threadIdx.x" in tags:
        body = chain[-1].body
        for node in sorted(chain, key=lambda node: (tag_of(node).startswith("blockIdx."), tag_of(node)[-1])):
            body = replace(node, body=body)
        return substitute(stmt, {chain[0]: body})
    if sum(tag.startswith("threadIdx.") for tag in tags) > 1:
        raise Left("threads of a warp are those of several loops")
    return stmt


def _parts_of_extent(node: tir.AttrStmt) -> Iterator[Node]:
    return walk(node.value) if isinstance(node.value, get_args(tir.Expr)) else iter(())


def _as_loops(stmt: tir.Stmt) -> tir.Stmt:
    """The statement with loops in the place of `launch_thread`, each by one variable."""
    match stmt:
        case tir.AttrStmt(node=tir.ThreadVar() as thread, key=key, value=extent) if key in LAUNCHES:
            if not isinstance(extent, int | tir.IntImm) and not isinstance(extent, get_args(tir.Expr)):
                raise Left("threads are launched in a way of their own")
            size = tir.IntImm(INT32, extent) if isinstance(extent, int) else cast("tir.Expr", extent)
            var = tir.Var(thread.tag, size.dtype) if thread.var is None else thread.var
            body = _as_loops(stmt.body)
            zero = tir.IntImm(INT32, 0)
            return tir.For(var, zero, size, ForKind.THREAD_BINDING, body, replace(thread, var=None), span=stmt.span)
        case tir.For(thread=tir.ThreadVar(var=tir.Var() as var) as thread):
            body = substitute(_as_loops(stmt.body), {var: stmt.loop_var})
            return replace(stmt, thread=replace(thread, var=None), body=body)
        case tir.For() | tir.While() | tir.AttrStmt():
            return replace(stmt, body=_as_loops(stmt.body))
        case tir.SeqStmt(seq):
            return replace(stmt, seq=tuple(_as_loops(part) for part in seq))
        case tir.IfThenElse():
            other = None if stmt.else_case is None else _as_loops(stmt.else_case)
            return replace(stmt, then_case=_as_loops(stmt.then_case), else_case=other)
        case tir.SBlockRealize(block=block):
            return replace(stmt, block=replace(block, body=_as_loops(block.body)))
        case _:
            return stmt


def _without_inner_axes(stmt: tir.Stmt, around: Mapping[str, tir.For]) -> tir.Stmt:
    """The statement with the index of the thread in the place of loops over axes that are around."""
    match stmt:
        case tir.For() if stmt.tag in around:
            axis = around[stmt.tag]
            if not is_axis(stmt) or not _same_extent(stmt, axis) or stmt.loop_var.dtype != axis.loop_var.dtype:
                raise Left(f"`{stmt.tag}` is bound again in another way")
            return _without_inner_axes(substitute(stmt.body, {stmt.loop_var: axis.loop_var}), around)
        case tir.For():
            inner = {**around, stmt.tag: stmt} if is_axis(stmt) else around
            return replace(stmt, body=_without_inner_axes(stmt.body, inner))
        case tir.While() | tir.AttrStmt():
            return replace(stmt, body=_without_inner_axes(stmt.body, around))
        case tir.SeqStmt(seq):
            return replace(stmt, seq=tuple(_without_inner_axes(part, around) for part in seq))
        case tir.IfThenElse(then_case=then_case, else_case=else_case):
            other = None if else_case is None else _without_inner_axes(else_case, around)
            return replace(stmt, then_case=_without_inner_axes(then_case, around), else_case=other)
        case tir.SBlockRealize(block=block):
            if block.init is not None and _has_axis(block.init):
                raise Left("an init launches threads")
            return replace(stmt, block=replace(block, body=_without_inner_axes(block.body, around)))
        case _:
            return stmt


def _same_extent(a: tir.For, b: tir.For) -> bool:
    return isinstance(a.extent, tir.IntImm) and isinstance(b.extent, tir.IntImm) and a.extent.value == b.extent.value
