"""Stages whose iterations depend on each other: the previous element, a counter in memory, break and continue."""

from refmlc.lang.dtypes import BOOL, INT32
from refmlc.lang.ir import tir
from refmlc.strategies.mapped import Mapped
from refmlc.strategies.nests import Loop
from refmlc.strategies.ranges import RangedBuffer, RangedExpr, limits, number


class Scans(Mapped):
    """`scan`, `while_loop` and `early_exit` of the stages."""

    def scan(self, target: RangedBuffer) -> list[tir.Stmt]:
        kind = target.buffer.dtype
        size, zero = target.buffer.shape[0], number(target.buffer.shape[0].dtype, 0)
        var = tir.Var("i", size.dtype)
        first = self.store(target, self.value(kind, 1), [zero])
        begin = 0 if self.spoil("RM304", 40) else 1
        back = tir.Apply("sub", (var, number(size.dtype, 1)), size.dtype)
        previous = RangedExpr(tir.BufferLoad(target.buffer, (back,)), *limits(kind))
        with self.scope(RangedExpr(var, begin, max(target.shape[0] - 1, begin))):
            if kind.is_integer:
                value = self.integer(
                    self.choices.pick(("max", "bitwise_xor", "add")), kind, previous, self.value(kind, 1)
                )
            else:
                op = self.choices.pick(("bitwise_or",) if kind.kind == "bool" else ("add", "mul", "max"))
                value = RangedExpr(tir.Apply(op, (previous.expr, self.value(kind, 1).expr), kind), *limits(kind))
            store = self.store(target, value, [var])
        count = tir.Apply("sub", (size, number(size.dtype, begin)), size.dtype)
        loop = self.wrap([Loop(var, number(size.dtype, begin), count, free=False)], store)
        return [loop] if self.spoil("RM305", 40) else [first, loop]

    def while_loop(self, target: RangedBuffer) -> list[tir.Stmt]:
        size = target.shape[0]
        counter = self.fresh(INT32, (1,), ready=False)
        place = (number(INT32, 0),)
        index = RangedExpr(tir.BufferLoad(counter.buffer, place), 0, size - 1)
        condition = tir.Apply("lt", (index.expr, number(INT32, size)), BOOL)
        with self.scope(RangedExpr(index.expr, 0, size - 1)):
            store = self.store(target, self.value(target.buffer.dtype, self.depth), [index.expr])
        increment = tir.Apply("add", (index.expr, number(INT32, 1)), INT32)
        body = tir.SeqStmt((store, tir.BufferStore(counter.buffer, increment, place)))
        start = tir.BufferStore(counter.buffer, number(INT32, 0), place)
        return [*([] if self.spoil("RM305", 40) else [start]), tir.While(condition, body)]

    def early_exit(self, target: RangedBuffer) -> list[tir.Stmt]:
        size = target.buffer.shape[0]
        var = tir.Var("i", size.dtype)
        with self.scope(RangedExpr(var, 0, target.shape[0] - 1)):
            first = self.store(target, self.value(target.buffer.dtype, 1), [var])
            condition = self.condition(BOOL, 1).expr
            ends: tuple[tir.Stmt, ...] = (tir.Break(), tir.Continue())
            exit_ = tir.IfThenElse(condition, self.choices.pick(ends))
            rewrite = self.store(target, self.value(target.buffer.dtype, 1), [var])
        zero = number(size.dtype, 0)
        step = number(size.dtype, 2) if self.choices.chance(30) else None
        return [
            self.wrap([Loop(var, zero, size)], first),
            self.wrap([Loop(var, zero, size, step=step, free=False)], tir.SeqStmt((exit_, rewrite))),
        ]
