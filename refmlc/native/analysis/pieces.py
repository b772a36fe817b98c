"""What the threads of one block do in pieces, and the memory that stands for theirs: below `rounds`.

A piece is executed by all threads, one after the other, in a loop; what waits is the piece that is being put together.
Where a piece touches what others of its round touch, the order of the threads would change: `Conflict`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from refmlc.lang.dtypes import BOOL, DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.threads import Threads
from refmlc.lang.ir.visit import substitute, walk
from refmlc.native.analysis import lanes
from refmlc.native.analysis.registers import Registers, without_values
from refmlc.native.analysis.thread_loops import (
    Left,
    N,
    Values,
    check_piece,
    free,
    in_parts,
    in_turn,
    is_apart,
    nest,
    part_for_each,
)
from refmlc.rewrite.schedule.accesses import accesses
from refmlc.rewrite.schedule.places import integer, sequence


class Conflict(Left):
    """The order of a round would change."""


class ThreadPieces:
    """The threads of one block. `parts`: arrays in the place of the buffers of which each thread has one."""

    def __init__(self, axes: Sequence[tir.For], threads: Threads, parts: Mapping[tir.Buffer, tir.Buffer]) -> None:
        self._axes = axes
        self._threads = threads
        self._parts = parts
        self._own = set(parts.values())  # memory of which each thread has a part
        self._by_tag = tuple(sorted(axes, key=lambda axis: axis.tag))
        self._arrays: dict[tuple[object, ...], tir.Buffer] = {}
        self._lines: tuple[tir.Stmt, ...] = ()
        self._waiting: tuple[tir.Stmt, ...] = ()  # what each thread does before anything else
        self._round: tuple[tir.Stmt, ...] = ()  # what the threads have done since the last meeting
        self._meetings = 0
        self._registers = Registers()
        self._branch: lanes.WarpBranch | None = None  # around what waits; only the first threads take it
        self._branched: tuple[tir.Stmt, ...] = ()  # what they have done there before their last meeting

    def _meet(self) -> None:
        self._flush()
        self._round = ()
        self._meetings += 1

    def _flush(self) -> None:
        """Let all threads do what waits."""
        if not self._waiting:
            return
        stmt = sequence(self._waiting)
        if self._branch is not None:
            stmt = tir.IfThenElse(self._branch.condition, stmt, None)
        self._compare(stmt)
        self._lines += (in_turn(self._axes, stmt),)
        self._round += (stmt,)
        self._waiting = ()

    def _compare(self, stmt: tir.Stmt) -> None:
        """Raises `Conflict` if what `stmt` touches depends on what other threads did in this round."""
        if not self._round:
            return
        before = sequence(self._round)
        reads, writes = self._touched(before)
        new_reads, new_writes = self._touched(stmt)
        shared = (writes & (new_reads | new_writes)) | (new_writes & reads)
        if not shared:
            return
        both = nest(self._axes, sequence([before, stmt]))
        uses = accesses(both)
        for root in shared:
            views = {buffer for buffer in uses.indices if self._threads.root(buffer) is root}
            if views != {root} or not is_apart(both, root, self._axes):
                raise Conflict(f"`{root.name}` is touched by several of them between two meetings")

    def _touched(self, stmt: tir.Stmt) -> tuple[set[tir.Buffer], set[tir.Buffer]]:
        """The buffers that `stmt` reads and writes and that more than one thread sees."""
        reads: set[tir.Buffer] = set()
        writes: set[tir.Buffer] = set()
        inner: set[tir.Buffer] = set()
        for node in walk(stmt):
            match node:
                case tir.BufferLoad(buffer=buffer):
                    reads.add(self._threads.root(buffer))
                case tir.BufferStore(buffer=buffer):
                    writes.add(self._threads.root(buffer))
                case tir.AllocBuffer(buffer=buffer):
                    inner.add(buffer)
                case tir.SBlock(alloc_buffers=buffers):
                    inner.update(buffers)
                case _:
                    pass
        return reads - inner - self._own, writes - inner - self._own

    def _allocate(self, buffer: tir.Buffer) -> None:
        """Memory that all threads of the block reach together: one for all of them, or a part for each."""
        if buffer.scope.startswith("shared"):
            self._lines += (tir.AllocBuffer(buffer),)
            return
        if self._threads.is_folded(buffer):
            raise Left(f"they reduce into `{buffer.name}`, of which each has its own")
        if self._threads.is_exchanged(buffer):
            self._allocate_register(buffer)
            return
        self._lines += (tir.AllocBuffer(self._part(buffer)),)

    def _allocate_register(self, buffer: tir.Buffer) -> None:
        """A register of shuffles, of each thread, with its flags; none has a value."""
        parts = [self._part(each) for each in (buffer, self._registers.flags(buffer))]
        self._lines += (*(tir.AllocBuffer(part) for part in parts), without_values(parts))

    def _part(self, buffer: tir.Buffer) -> tir.Buffer:
        """The array that stands for a buffer of each thread from now on."""
        parts = part_for_each(buffer, [axis.extent for axis in self._by_tag])
        self._parts = {**self._parts, buffer: parts}
        self._own.add(parts)
        return parts

    def _closed(self, stmt: tir.Stmt, values: Values) -> tir.Stmt:
        """The statement with the values of its variables bound before it, and with its parts of memory."""
        stmt = self._in_parts(self._registers.checked(stmt))
        needed = free(stmt, values)
        table: dict[Node, Node] = {}
        binds: list[tir.Stmt] = []
        for var, value in values.items():
            if var not in needed:
                continue
            here = substitute(self._in_parts(value), table)
            if isinstance(here, tir.Var | tir.IntImm):
                table[var] = here
            else:
                table[var] = copy = replace(var)
                binds.append(tir.Bind(copy, here))
        stmt = substitute(stmt, table) if table else stmt
        return sequence([*binds, stmt]) if binds else stmt

    def _in_parts(self, node: N) -> N:
        """The node with the part of the thread in the place of memory of which each has its own."""
        return in_parts(node, self._parts, [axis.loop_var for axis in self._by_tag])

    def _array(self, name: str, dtype: DType, *key: object) -> tir.Buffer:
        """An array with an element for each thread, one for all visits of what `key` names."""
        if key not in self._arrays:
            self._arrays[key] = tir.Buffer(name, dtype, tuple(axis.extent for axis in self._by_tag))
            self._own.add(self._arrays[key])
        return self._arrays[key]

    def _of_thread(self, array: tir.Buffer) -> tir.BufferLoad:
        return tir.BufferLoad(array, tuple(axis.loop_var for axis in self._by_tag))

    def _of_first(self, array: tir.Buffer) -> tir.BufferLoad:
        return tir.BufferLoad(array, tuple(integer(0, axis.loop_var.dtype) for axis in self._by_tag))

    def _store(self, array: tir.Buffer, value: tir.Expr, values: Values) -> None:
        check_piece(tir.Evaluate(value))
        self._waiting += (self._closed(tir.BufferStore(array, value, self._of_thread(array).indices), values),)

    def _kept(self, var: tir.Var, value: tir.Expr, values: Values) -> tir.Expr:
        """The value of each thread, in an array."""
        array = self._array(var.name, value.dtype, var)
        self._store(array, value, values)
        return self._of_thread(array)

    def _same(self, array: tir.Buffer) -> tir.Stmt:
        """All threads have the same value."""
        a, b = self._of_thread(array), self._of_first(array)
        if array.dtype.kind == "bool":
            same: tir.Expr = tir.Or(tir.And(a, b), tir.Apply("not", (tir.Or(a, b),), BOOL))
        else:
            same = tir.Apply("eq", (a, b), BOOL)
        return in_turn(self._axes, tir.AssertStmt(same, ("all threads have one value",)))
