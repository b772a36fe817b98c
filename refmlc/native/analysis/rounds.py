"""The threads of one block in rounds (TIR-227), as loops: around what they do from one meeting to the next.

| statement around a meeting              | becomes                                                                   |
|-----------------------------------------|---------------------------------------------------------------------------|
| sequence                                | what stands between two meetings, in one loop over the threads            |
| `for`, `while`, `if`                    | itself, once for all threads; each thread evaluates bounds and conditions |
|                                         | where they may differ, and they are asserted to be the same               |
| `for`, whose end and next begin touch   | itself, turned: the end of an iteration and the begin of the next one are |
| the same memory without a meeting       | in one loop over the threads                                              |
| `if` of some threads of the first warp, | itself, around what each of them does from one meeting of the warp to the |
| in which only they meet                 | next; the others continue, and touch nothing that these touch             |
| block                                   | its body; its axes are asserted to be in their domains                    |
| `Bind` of a value that reads memory     | an array with an element for each thread                                  |
| allocation, not of scope `shared`       | an array with a part for each thread                                      |
| barrier                                 | the end of the loop over the threads                                      |
| shuffle, or what else lanes do together | an array of what the threads bring, the end of the loop over the threads, |
| (`lanes`)                               | and an array of what they get                                             |
| reduction over threads                  | loops that fold an array of the values in the order of the indices        |

Where control flow needs the threads to be brought to one place and there is no meeting, the loop over the threads ends
too. That is exact if no thread touches after it what another one wrote before it in the same round, or wrote after it
what another one touched before it; a group in which this is not seen is refused (`Left`).

Assertions that are put in stop the call in C, and the interpreter executes it again: its verdict is the verdict.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import cast, get_args

from refmlc.lang.dtypes import BOOL, INT32, DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.attrs import CommReducer
from refmlc.lang.ir.kinds import ForKind
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.threads import is_collective, meets_in_part
from refmlc.lang.ir.visit import substitute, walk
from refmlc.native.analysis import lanes
from refmlc.native.analysis.pieces import Conflict, ThreadPieces
from refmlc.native.analysis.thread_loops import (
    Left,
    N,
    Values,
    check_jumps,
    check_piece,
    fresh,
    in_turn,
    substituted,
)
from refmlc.rewrite.schedule.places import integer, sequence


class Rounds(ThreadPieces):
    """Rewrites the threads of one block."""

    _reducer: CommReducer | None = None

    def group(self, body: tir.Stmt) -> tir.Stmt:
        """The loops in the place of the threads that execute `body`. Raises `Left`."""
        self._visit(body, {})
        self._flush()
        return sequence([*(tir.AllocBuffer(array) for array in self._arrays.values()), *self._lines])

    # ------------------------------------------------------------------------------------------- statements

    def _visit(self, node: tir.Stmt, values: Values) -> None:
        threads = self._threads
        if not threads.meets(node) or not threads.is_open(node):
            self._piece(node, values)
            return
        match node:
            case tir.SeqStmt(seq):
                self._sequence(seq, dict(values))
            case tir.For():
                self._for(node, values)
            case tir.While():
                self._while(node, values)
            case tir.IfThenElse():
                self._if(node, values)
            case tir.SBlockRealize():
                self._block(node, dict(values))
            case tir.AttrStmt():
                self._attribute(node, values)
            case tir.Evaluate(tir.Call() as call) if is_collective(node) and not lanes.is_barrier_of_warp(call):
                self._collective(call, values)
            case tir.Evaluate() | tir.BufferStore():
                self._piece(self._after_calls(node, values), values)
            case _:
                raise Left("they meet in a statement of another kind")

    def _piece(self, node: tir.Stmt, values: Values) -> None:
        """A statement that runs in one piece."""
        if self._threads.is_touching(node):
            self._meet()
        if isinstance(node, tir.AllocBuffer):
            self._allocate(node.buffer)
            return
        check_piece(node)
        self._waiting += (self._closed(node, values),)

    def _sequence(self, seq: Sequence[tir.Stmt], values: Values) -> None:
        for part in seq:
            if isinstance(part, tir.Bind):
                if self._threads.is_touching(part):
                    self._meet()
                self._bind(part.var, part.value, values)
            else:
                self._visit(part, values)

    def _bind(self, var: tir.Var, value: tir.Expr, values: Values) -> None:
        if var.dtype.is_vector or var.dtype.kind in ("handle", "void"):
            raise Left(f"`{var.name}` is a {var.dtype}")
        value = self._after_calls(value, values)
        check_piece(tir.Evaluate(value))
        if any(isinstance(node, tir.BufferLoad | tir.Call) for node in walk(value)):
            values[var] = self._kept(var, _as(var.dtype, value), values)
        else:
            self._waiting += (self._closed(tir.Evaluate(value), values),)  # it may be undefined
            values[var] = _as(var.dtype, value)

    def _block(self, node: tir.SBlockRealize, values: Values) -> None:
        block = node.block
        if not _is_true(node.predicate) or block.init is not None or block.match_buffers:
            raise Left(f"they meet in block `{block.name}`, with a predicate, an init or a view")
        for axis, value in zip(block.iter_vars, node.iter_values, strict=True):
            self._bind(axis.var, value, values)
            low, extent = axis.dom.min, axis.dom.extent
            distance = tir.Apply("sub", (axis.var, _as(axis.var.dtype, low)), axis.var.dtype)
            inside = tir.And(
                tir.Apply("ge", (axis.var, _as(axis.var.dtype, low)), BOOL),
                tir.Apply("lt", (distance, _as(axis.var.dtype, extent)), BOOL),
            )
            self._waiting += (self._closed(tir.AssertStmt(inside, ("the axis is in its domain",)), values),)
        for buffer in block.alloc_buffers:
            self._allocate(buffer)
        self._visit(block.body, values)

    def _attribute(self, node: tir.AttrStmt, values: Values) -> None:
        outer = self._reducer
        if node.key == "reduce_scope":
            self._reducer = node.node if isinstance(node.node, CommReducer) else None
        self._visit(node.body, values)
        self._reducer = outer

    # ------------------------------------------------------------------------------------------- control flow

    def _if(self, node: tir.IfThenElse, values: Values) -> None:
        if not self._threads.is_uniform(node.condition) and meets_in_part(node):
            self._if_of_some(node, values)
            return
        condition = self._uniform(node.condition, values, (node,))
        self._flush()
        before, lines = self._round, self._lines
        branches: list[tir.Stmt] = []
        after: tuple[tir.Stmt, ...] = ()
        for branch in (node.then_case, node.else_case):
            self._round, self._lines = before, ()
            if branch is not None:
                self._visit(branch, values)
                self._flush()
            branches.append(_lines(self._lines))
            after = _joined(after, self._round)
        self._round, self._lines = after, lines
        self._lines += (tir.IfThenElse(condition, branches[0], None if node.else_case is None else branches[1]),)

    def _if_of_some(self, node: tir.IfThenElse, values: Values) -> None:
        """A branch that some threads of the first warp take, and in which they meet."""
        branch = self._lane.branch(node.condition, self._by_tag[0].loop_var)
        if branch is None or self._branch is not None or node.else_case is not None:
            raise Left("some threads take a branch in which they meet")
        if any(self._is_around_meeting(part) for part in walk(node.then_case)):
            raise Left("some threads take a branch in which they meet in a loop, or with the others")
        self._flush()
        before, self._branch, self._branched = self._round, branch, ()
        self._visit(node.then_case, values)
        self._flush()
        self._round, self._branch = _joined(_joined(before, self._branched), self._round), None

    def _is_around_meeting(self, node: Node) -> bool:
        """Whether threads meet in a loop, a branch or a block, or all of them do."""
        inner = isinstance(node, tir.For | tir.While | tir.IfThenElse | tir.SBlockRealize | tir.AttrStmt)
        call = node.value if isinstance(node, tir.Evaluate) and isinstance(node.value, tir.Call) else None
        of_all = call is not None and is_collective(cast("tir.Stmt", node)) and not lanes.is_barrier_of_warp(call)
        return of_all or (inner and self._threads.meets(node))

    def _meet_in_part(self, *, whole: bool) -> None:
        """The lanes of each warp meet; `whole`: all of them have to."""
        if self._branch is None:
            self._meet()
            return
        if whole and self._branch.threads < lanes.WARP:
            raise Left("lanes of a warp meet in a branch that the others do not take")
        self._flush()
        self._branched, self._round = _joined(self._branched, self._round), ()

    def _while(self, node: tir.While, values: Values) -> None:
        check_jumps(node.body)
        condition = self._array("condition", node.condition.dtype, node)

        def evaluate() -> None:
            self._store(condition, node.condition, values)
            self._flush()
            self._lines += (self._same(condition),)

        evaluate()
        before, lines = self._round, self._lines
        for _ in range(2):  # the second time with what an iteration leaves in the round
            entry, self._lines = self._round, ()
            self._visit(node.body, values)
            evaluate()
            self._round = _joined(entry, self._round)
        body, self._lines = _lines(self._lines), lines
        self._round = _joined(before, self._round)
        self._lines += (tir.While(self._of_first(condition), body),)

    def _for(self, node: tir.For, values: Values) -> None:
        if node.kind not in (ForKind.SERIAL, ForKind.UNROLLED) or node.step is not None:
            raise Left(f"they meet in loop `{node.loop_var.name}`, which is {node.kind.value}")
        check_jumps(node.body)
        first = self._uniform(node.min, values, (node, "min"))
        extent = self._uniform(node.extent, values, (node, "extent"))
        state = (self._lines, self._waiting, self._round, self._meetings, self._parts)
        try:
            self._plain_for(node, first, extent, values)
        except Conflict:
            self._lines, self._waiting, self._round, self._meetings, self._parts = state
            self._turned_for(node, first, extent, values)

    def _plain_for(self, node: tir.For, first: tir.Expr, extent: tir.Expr, values: Values) -> None:
        self._flush()
        before, outer = self._round, self._lines
        for _ in range(2):  # the second time with what an iteration leaves in the round
            entry, self._lines, var = self._round, (), replace(node.loop_var)
            self._visit(node.body, {**values, node.loop_var: var})
            self._flush()
            self._round = _joined(entry, _renamed(self._round, {var: replace(var)}))
        self._round = _joined(before, self._round)
        self._lines = (*outer, tir.For(var, first, extent, ForKind.SERIAL, _lines(self._lines)))

    def _turned_for(self, node: tir.For, first: tir.Expr, extent: tir.Expr, values: Values) -> None:
        """A loop in which the end of an iteration is done together with the begin of the next one."""
        start, before, outer = self._waiting, self._round, self._lines
        tail, done, var = self._tail_of(node, values)
        done = _renamed(done, {var: replace(var)})
        again = replace(node.loop_var)
        one = integer(1, again.dtype)
        end = fresh(substitute(tail, {var: tir.Apply("sub", (again, one), again.dtype)}))
        is_first = tir.Apply("eq", (again, first), BOOL)
        self._round, self._lines = _joined(before, done), ()
        self._waiting = (tir.IfThenElse(is_first, _lines(start), end),)
        self._visit(node.body, {**values, node.loop_var: again})
        self._lines = (*outer, tir.For(again, first, extent, ForKind.SERIAL, _lines(self._lines)))
        last = tir.Apply("sub", (tir.Apply("add", (first, extent), again.dtype), one), again.dtype)
        any_iteration = tir.Apply("gt", (extent, integer(0, extent.dtype)), BOOL)
        end = fresh(substitute(tail, {var: last}))
        self._waiting = (tir.IfThenElse(any_iteration, end, sequence(start) if start else None),)
        self._round = _joined(before, done)

    def _tail_of(self, node: tir.For, values: Values) -> tuple[tir.Stmt, tuple[tir.Stmt, ...], tir.Var]:
        """What waits at the end of an iteration, what is done then since its last meeting, and the variable."""
        marker = _nothing()
        var, parts = replace(node.loop_var), self._parts
        self._lines, self._waiting, self._round = (), (marker,), ()
        self._visit(node.body, {**values, node.loop_var: var})
        left = any(part is marker for stmt in (*self._waiting, *self._round) for part in walk(stmt))
        if left or self._parts is not parts or not self._waiting:
            raise Left(f"loop `{node.loop_var.name}` begins again without a meeting")
        own = [part.buffer for part in walk(sequence(self._lines)) if isinstance(part, tir.AllocBuffer)]
        for buffer in own:
            if any(part is buffer for stmt in (*self._waiting, *self._round) for part in walk(stmt)):
                raise Left(f"`{buffer.name}` of one iteration is read together with the next one")
        return sequence(self._waiting), self._round, var

    def _uniform(self, value: tir.Expr, values: Values, key: tuple[object, ...]) -> tir.Expr:
        """A value that all threads have, as seen outside of them."""
        if self._threads.is_uniform(value):
            closed = substituted(value, values)
            if not any(isinstance(node, tir.BufferLoad | tir.Call) for node in walk(closed)):
                return closed
        array = self._array("uniform", value.dtype, *key)
        self._store(array, value, values)
        self._flush()
        self._lines += (self._same(array),)
        return self._of_first(array)

    # ------------------------------------------------------------------------------------------- meetings

    def _collective(self, call: tir.Call, values: Values) -> None:
        if call.callee == "tvm_thread_allreduce":
            self._reduce(call, values)
            return
        scope = call.args[0] if call.args else ""
        text = scope.value if isinstance(scope, tir.StringImm) else str(scope)
        if not text.startswith("shared"):
            raise Left(f"they meet at a barrier of scope {text}")
        self._meet()

    def _after_calls(self, node: N, values: Values) -> N:
        """The node with what a thread gets in the place of the calls that lanes execute together."""
        table: dict[Node, Node] = {}
        for call in lanes.calls_of(node):
            if lanes.is_barrier_of_warp(call) or lanes.is_active_mask(call):
                self._meet_in_part(whole=call.callee != "tvm_storage_sync")
                table[call] = self._lane.active(call.dtype) if lanes.is_active_mask(call) else integer(0, INT32)
            elif call.callee == "cuda.cta_sync" and self._branch is None:
                self._meet()
                table[call] = integer(0, INT32)
            elif lanes.is_shuffle(call):
                table[call] = self._shuffle(lanes.shuffle(substitute(call, table)), values)
            else:
                raise Left(f"they execute `T.{call.callee}` together")
        return substitute(node, table) if table else node

    def _shuffle(self, asked: lanes.LaneShuffle, values: Values) -> tir.Expr:
        """The value that a thread gets, in a register of its own."""
        first = (integer(0, INT32),)
        brought = tir.Buffer("brought", asked.value.dtype, (integer(1, INT32),), scope="local")
        given, source = replace(brought, name="given"), replace(brought, name="source", dtype=INT32)
        flags = self._registers.flags
        for buffer in (brought, flags(brought), given, flags(given), source):
            self._lines += (tir.AllocBuffer(self._part(buffer)),)
        brings: list[tir.Stmt] = [
            *(tir.AssertStmt(check, ("the lanes of the warp meet",)) for check in self._lane.checks(asked)),
            tir.BufferStore(brought, asked.value, first),
            tir.BufferStore(source, self._lane.source(asked), first),
        ]
        self._waiting += tuple(self._closed(stmt, values) for stmt in brings)
        self._meet_in_part(whole=True)
        place = tir.BufferLoad(source, first)
        there = self._lane.is_there(place)
        at = [*self._lane.place_of(tir.IfThenElseExpr(there, place, self._lane.number)), *first]
        has = tir.And(there, tir.BufferLoad(self._parts[flags(brought)], tuple(at)))
        take = tir.BufferStore(given, tir.BufferLoad(self._parts[brought], tuple(at)), first)
        self._waiting += (
            self._closed(take, values),
            self._closed(tir.BufferStore(flags(given), has, first), values),
        )
        self._flush()  # all have what they get before any brings something else
        return tir.BufferLoad(given, first)

    @cached_property
    def _lane(self) -> lanes.Lane:
        """The number of a thread in its block."""
        return lanes.lane_of(self._by_tag)

    def _reduce(self, call: tir.Call, values: Values) -> None:
        """The values of all threads, folded in the order of the indices; then each thread stores the result."""
        operands, condition, loads, over = self._operands(call)
        reducer = self._reducer
        if reducer is None or len(reducer.result) != len(operands):
            raise Left("they reduce in a way of their own")
        inputs = [self._array("value", value.dtype, call, "value", at) for at, value in enumerate(operands)]
        counts = self._array("counts", BOOL, call, "counts")
        for array, value in zip([*inputs, counts], [*operands, _as(BOOL, condition)], strict=True):
            self._store(array, value, values)
        self._meet()
        outer = [axis for axis in self._axes if axis.loop_var not in over]
        results = [self._array("total", value.dtype, call, "total", at) for at, value in enumerate(operands)]
        self._lines += (self._fold(reducer, (inputs, counts, results), outer),)
        inner_zero: dict[Node, Node] = {
            axis.loop_var: integer(0, axis.loop_var.dtype) for axis in self._axes if axis not in outer
        }
        for load, total in zip(loads, results, strict=True):
            value = substitute(self._of_thread(total), inner_zero)
            self._waiting += (self._closed(tir.BufferStore(load.buffer, value, load.indices), values),)

    def _operands(self, call: tir.Call) -> tuple[list[tir.Expr], tir.Expr, list[tir.BufferLoad], set[tir.Var]]:
        match call.args:
            case (tir.IntImm(value=count), *operands) if count > 0 and len(operands) > 2 * count:
                loads = [load for load in operands[count + 1 : 2 * count + 1] if isinstance(load, tir.BufferLoad)]
                over = {var for var in operands[2 * count + 1 :] if isinstance(var, tir.Var)}
                own = {axis.loop_var for axis in self._axes}
                plain = all(isinstance(operand, get_args(tir.Expr)) for operand in operands[: count + 1])
                if plain and len(loads) == count and over <= own and len(over) == len(operands) - 2 * count - 1:
                    for operand in operands[: count + 1]:
                        check_piece(tir.Evaluate(cast("tir.Expr", operand)))
                    return (
                        cast("list[tir.Expr]", operands[:count]),
                        cast("tir.Expr", operands[count]),
                        loads,
                        over,
                    )
        raise Left("they reduce in a way of their own")

    def _fold(
        self,
        reducer: CommReducer,
        arrays: tuple[list[tir.Buffer], tir.Buffer, list[tir.Buffer]],
        outer: Sequence[tir.For],
    ) -> tir.Stmt:
        """Loops that fold the inputs into the element of the results at index 0 of the axes that are reduced."""
        inputs, counts, results = arrays
        inner = [axis for axis in self._axes if axis not in outer]
        zero: dict[Node, Node] = {axis.loop_var: integer(0, axis.loop_var.dtype) for axis in inner}
        totals = [substitute(self._of_thread(result), zero) for result in results]
        parts = (*reducer.result, *reducer.identity)
        named = {node for value in parts for node in walk(value) if isinstance(node, tir.Var)}
        if named - {*reducer.lhs, *reducer.rhs} or any(
            isinstance(node, tir.BufferLoad | tir.Call) for value in reducer.identity for node in walk(value)
        ):
            raise Left("their reducer depends on more than its operands")
        counted = self._of_thread(counts)
        values = [
            tir.IfThenElseExpr(counted, self._of_thread(array), identity)
            for array, identity in zip(inputs, reducer.identity, strict=True)
        ]
        pairs = zip(totals, values, strict=True)
        start = sequence([tir.BufferStore(load.buffer, value, load.indices) for load, value in pairs])
        binds: list[tir.Stmt] = [tir.Bind(var, total) for var, total in zip(reducer.lhs, totals, strict=True)]
        binds += [tir.Bind(var, value) for var, value in zip(reducer.rhs, values, strict=True)]
        folded = [tir.Var(f"folded_{number}", value.dtype) for number, value in enumerate(reducer.result)]
        binds += [tir.Bind(var, value) for var, value in zip(folded, reducer.result, strict=True)]
        stores = [tir.BufferStore(load.buffer, var, load.indices) for load, var in zip(totals, folded, strict=True)]
        first: tir.Expr = tir.IntImm(BOOL, 1)
        for axis in inner:
            at_zero = tir.Apply("eq", (axis.loop_var, integer(0, axis.loop_var.dtype)), BOOL)
            first = at_zero if axis is inner[0] else tir.And(first, at_zero)
        step = tir.IfThenElse(first, start, sequence([*binds, *stores]))
        return in_turn([*outer, *inner], step)


def _is_true(node: tir.Expr) -> bool:
    return isinstance(node, tir.IntImm) and bool(node.value)


def _nothing() -> tir.Stmt:
    return tir.Evaluate(integer(0, INT32))


def _lines(stmts: Sequence[tir.Stmt]) -> tir.Stmt:
    return sequence(stmts) if stmts else _nothing()


def _as(dtype: DType, value: tir.Expr) -> tir.Expr:
    return value if value.dtype == dtype else tir.Cast(dtype, value)


def _renamed(stmts: Iterable[tir.Stmt], table: Mapping[Node, Node]) -> tuple[tir.Stmt, ...]:
    return tuple(substitute(stmt, table) for stmt in stmts)


def _joined(some: tuple[tir.Stmt, ...], others: tuple[tir.Stmt, ...]) -> tuple[tir.Stmt, ...]:
    return (*some, *(stmt for stmt in others if stmt not in some))
