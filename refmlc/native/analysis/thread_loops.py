"""Loops in the place of threads: memory with a part for each thread, and what stays within one thread."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import TypeVar

from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.threads import MEETINGS
from refmlc.lang.ir.visit import rewrite, substitute, walk
from refmlc.lang.ops.intrinsics import Effect, intrinsic
from refmlc.rewrite.schedule.accesses import accesses, separates

N = TypeVar("N", bound=Node)
Values = dict[tir.Var, tir.Expr]


class Left(Exception):
    """The function is left as it is. The reason is a clause after "its threads wait for each other, and"."""


def part_for_each(buffer: tir.Buffer, extents: Sequence[tir.Expr]) -> tir.Buffer:
    """The array that holds the buffer of each thread. Raises `Left`."""
    strides = [stride.value if isinstance(stride, tir.IntImm) else None for stride in buffer.strides]
    sizes = [size.value if isinstance(size, tir.IntImm) else 0 for size in buffer.shape]
    compact = [prod(sizes[at + 1 :]) for at in range(len(sizes))]
    starts = buffer.elem_offset is None or (isinstance(buffer.elem_offset, tir.IntImm) and not buffer.elem_offset.value)
    if strides not in ([], compact) or not starts:
        raise Left(f"`{buffer.name}` has strides or an offset")
    return tir.Buffer(buffer.name, buffer.dtype, (*extents, *buffer.shape), span=buffer.span)


def in_parts(node: N, parts: Mapping[tir.Buffer, tir.Buffer], thread: Sequence[tir.Expr]) -> N:
    """The node with the part of a thread in the place of each buffer in `parts`. Raises `Left` for views of such."""
    if not parts:
        return node
    prefix = tuple(thread)

    def change(part: Node) -> Node:
        match part:
            case tir.BufferLoad(buffer=buffer) if buffer in parts:
                return replace(part, buffer=parts[buffer], indices=(*prefix, *part.indices))
            case tir.BufferStore(buffer=buffer) if buffer in parts:
                return replace(part, buffer=parts[buffer], indices=(*prefix, *part.indices))
            case tir.BufferData(buffer=buffer) if buffer in parts:
                raise Left(f"`{buffer.name}` is reached by its address")
            case tir.SBlock():
                for match in part.match_buffers:
                    if match.source.buffer in parts:
                        raise Left(f"`{match.buffer.name}` is a view of memory of one thread")
                return replace(part, reads=None, writes=None)
            case _:
                return part

    return rewrite(node, change)


def in_turn(axes: Sequence[tir.For], stmt: tir.Stmt) -> tir.Stmt:
    """The statement for every thread, one after the other, by variables of its own."""
    return fresh(nest([serial(axis) for axis in axes], stmt))


def serial(loop: tir.For) -> tir.For:
    """A loop over threads as a plain one."""
    return replace(loop, kind=ForKind.SERIAL, thread=None)


def nest(axes: Sequence[tir.For], body: tir.Stmt) -> tir.Stmt:
    """The loops around `body`."""
    for axis in reversed(axes):
        body = replace(axis, body=body)
    return body


def is_apart(stmt: tir.Stmt, buffer: tir.Buffer, axes: Sequence[tir.For]) -> bool:
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


def fresh(stmt: tir.Stmt) -> tir.Stmt:
    """The statement with variables and memory of its own in the place of those that it declares."""
    table: dict[Node, Node] = {}
    for node in walk(stmt):
        match node:
            case tir.For(loop_var=var) | tir.Bind(var=var) | tir.Let(var=var) | tir.IterVar(var=var):
                table.setdefault(var, replace(var))
            case tir.AllocBuffer(buffer=buffer):
                table.setdefault(buffer, replace(buffer))
            case tir.SBlock(alloc_buffers=buffers):
                for buffer in buffers:
                    table.setdefault(buffer, replace(buffer))
            case _:
                pass
    return substitute(stmt, table)


def check_piece(stmt: tir.Stmt) -> None:
    """Raises `Left` for what is not known to stay in its thread."""
    check_jumps(stmt)
    for node in walk(stmt):
        match node:
            case tir.Return() | tir.DeclBuffer() | tir.BufferData():
                raise Left("one of them ends early, or reaches memory by its address")
            case tir.Call(callee=callee) if not _is_quiet(callee):
                raise Left(f"one of them calls `{callee if isinstance(callee, str) else callee.name}`")
            case tir.AllocBuffer(buffer=buffer) if buffer.scope.startswith("shared"):
                raise Left(f"`{buffer.name}` is allocated where not all of them pass")
            case tir.SBlock(alloc_buffers=buffers) if any(each.scope.startswith("shared") for each in buffers):
                raise Left("shared memory is allocated where not all of them pass")
            case _:
                pass


def _is_quiet(callee: object) -> bool:
    row = intrinsic(callee) if isinstance(callee, str) and callee not in MEETINGS else None
    return row is not None and row.effect is Effect.PURE


def check_jumps(stmt: tir.Stmt) -> None:
    """Raises `Left` for a `break` or `continue` of a loop around `stmt`, or of any other."""
    if any(isinstance(node, tir.Break | tir.Continue) for node in walk(stmt)):
        raise Left("a loop is left early")


def free(stmt: Node, values: Values) -> set[tir.Var]:
    """The variables of `values` that `stmt` needs, also by way of other values."""
    needed = {node for node in walk(stmt) if isinstance(node, tir.Var) and node in values}
    waiting = list(needed)
    while waiting:
        for node in walk(values[waiting.pop()]):
            if isinstance(node, tir.Var) and node in values and node not in needed:
                needed.add(node)
                waiting.append(node)
    return needed


def substituted(value: tir.Expr, values: Values) -> tir.Expr:
    """The expression with the values of its variables in their place."""
    table: dict[Node, Node] = {}
    for var, meaning in values.items():
        table[var] = substitute(meaning, table)
    return substitute(value, table)
