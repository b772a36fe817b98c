"""Stages that compute each element separately: in a block, in bare loops, by an `if`, in a block within a block."""

from collections.abc import Iterable, Sequence

from refmlc.lang.dtypes import BOOL, DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.strategies.nests import Axis, Nests
from refmlc.strategies.ranges import RangedBuffer, RangedExpr, number


def volume(shape: Iterable[int]) -> int:
    """The number of elements of a shape."""
    product = 1
    for extent in shape:
        product *= extent
    return product


def rows(statements: Sequence[tir.Stmt]) -> tir.Stmt:
    """Statements in order, as one flat sequence: TVMScript has no nested ones."""
    flat: list[tir.Stmt] = []
    for statement in statements:
        flat += statement.seq if isinstance(statement, tir.SeqStmt) else (statement,)
    return flat[0] if len(flat) == 1 else tir.SeqStmt(tuple(flat))


class Mapped(Nests):
    """`depth`: the depth of their expressions."""

    depth = 2

    def extent(self) -> int:
        """A constant extent."""
        raise NotImplementedError

    def fresh(self, dtype: DType, shape: tuple[int, ...], *, ready: bool = True) -> RangedBuffer:
        """A temporary buffer, allocated at the root."""
        raise NotImplementedError

    def stage(self, target: RangedBuffer) -> list[tir.Stmt]:
        """Statements that write all of `held`."""
        raise NotImplementedError

    def store(self, target: RangedBuffer, value: RangedExpr, indices: Sequence[tir.Expr]) -> tir.BufferStore:
        """The store; the buffer's range grows by the value's."""
        target.low, target.high = min(target.low, value.low), max(target.high, value.high)
        if self.spoil("RM304", 15) and indices:
            indices = [*indices[:-1], self._out_of_bounds(indices[-1], target.shape[-1])]
        return tir.BufferStore(target.buffer, value.expr, tuple(indices))

    def axis_vars(self, count: int) -> list[tir.Expr]:
        """The last `count` variables in scope: the axes of the block around."""
        return [expr.expr for expr in self.numbers[len(self.numbers) - count :]]

    def map_stage(self, target: RangedBuffer, *, again: bool = False) -> list[tir.Stmt]:
        """Every element from an expression, in a block; `again`: the expression may read the element."""
        axes = self.axes_of(target)
        if axes and self.spoil("RM305", 30):
            last = axes[-1]
            axes[-1] = Axis(max(last.extent - 1, 0), number(last.size.dtype, max(last.extent - 1, 0)))

        def body() -> tir.Stmt:
            at = self.axis_vars(len(axes))
            previous = [RangedExpr(tir.BufferLoad(target.buffer, tuple(at)), target.low, target.high)] * again
            with self.scope(*previous):
                value = self.value(target.buffer.dtype, self.depth)
            return self.store(target, value, at)

        return [self.block("map", axes, body)]

    def bare_loops(self, target: RangedBuffer) -> list[tir.Stmt]:

        def body(indices: list[tir.Expr]) -> tir.Stmt:
            if not self.choices.chance(30):
                return self.store(target, self.value(target.buffer.dtype, self.depth), indices)
            value = self.value(self.choices.pick(self.palette), self.depth - 1)
            var = tir.Var("y", value.dtype)
            with self.scope(RangedExpr(var, value.low, value.high)):
                store = self.store(target, self.value(target.buffer.dtype, self.depth), indices)
            return rows([tir.Bind(var, value.expr), store])

        return [self.grid(target, body)]

    def conditional_stage(self, target: RangedBuffer) -> list[tir.Stmt]:
        """One of two values, by an `if` around the stores."""

        def body() -> tir.Stmt:
            indices = self.axis_vars(len(target.shape))
            condition = self.condition(BOOL, 1).expr
            first = self.store(target, self.value(target.buffer.dtype, self.depth), indices)
            if self.spoil("RM305", 50):
                return tir.IfThenElse(condition, first)
            second = self.store(target, self.value(target.buffer.dtype, self.depth - 1), indices)
            return tir.IfThenElse(condition, first, second)

        return [self.block("choose", self.axes_of(target), body)]

    def nested_blocks(self, target: RangedBuffer) -> list[tir.Stmt]:
        """An opaque block over the first axis, around a block over the others."""
        if not target.shape:
            return self.map_stage(target)
        first, *inner_axes = self.axes_of(target)

        def body() -> tir.Stmt:
            outer = self.axis_vars(1)

            def inner() -> tir.Stmt:
                value = self.value(target.buffer.dtype, self.depth)
                return self.store(target, value, [*outer, *self.axis_vars(len(inner_axes))])

            return self.block("inner", inner_axes, inner)

        return [self.block("outer", [Axis(first.extent, first.size, IterKind.OPAQUE)], body)]
