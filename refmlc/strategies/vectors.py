"""Stages that write several lanes at a time, and the remaining elements one by one."""

from refmlc.lang.dtypes import BOOL, INT32, DType
from refmlc.lang.ir import tir
from refmlc.strategies.mapped import Mapped
from refmlc.strategies.nests import Axis
from refmlc.strategies.ranges import RangedBuffer, limits, number


class Vectors(Mapped):
    """`vectors` of the stages."""

    def vectors(self, target: RangedBuffer) -> list[tir.Stmt]:
        *outer, last = self.axes_of(target)
        lanes = self.choices.pick([count for count in (2, 4, 8) if count <= last.extent] or (1,))
        if lanes == 1:
            return self.map_stage(target)
        word = last.size.dtype
        groups = last.extent // lanes

        def ramp(at: tir.Expr) -> tir.Expr:
            kind = at.dtype
            base = tir.Apply("mul", (at, number(kind, lanes)), kind)
            return tir.Ramp(base, number(kind, 1), tir.IntImm(INT32, lanes), kind.with_lanes(lanes))

        def body() -> tir.Stmt:
            *outer_vars, at = self.axis_vars(len(outer) + 1)
            value = self.lanes_of(target.buffer.dtype, lanes, self.depth)
            target.low, target.high = limits(target.buffer.dtype)
            return tir.BufferStore(target.buffer, value, (*outer_vars, ramp(at)))

        nest = self.block("vector", [*outer, Axis(groups, number(word, groups))], body)
        tail_axis = Axis(last.extent - groups * lanes, number(word, last.extent - groups * lanes))
        if tail_axis.extent == 0:
            return [nest]

        def tail() -> tir.Stmt:
            *outer_vars, at = self.axis_vars(len(outer) + 1)
            place = tir.Apply("add", (at, number(at.dtype, groups * lanes)), at.dtype)
            return self.store(target, self.value(target.buffer.dtype, 1), (*outer_vars, place))

        return [nest, self.block("rest", [*outer, tail_axis], tail)]

    def lanes_of(self, kind: DType, lanes: int, depth: int) -> tir.Expr:
        """An expression of `lanes` lanes, without undefined operators: floats, narrow integers, bits."""
        wide, count = kind.with_lanes(lanes), tir.IntImm(INT32, lanes)
        loads = [
            source
            for source in self.readable
            if source.buffer.dtype == kind and source.shape and source.shape[-1] >= lanes
        ]
        forms = [
            "broadcast",
            *["load"] * 3 * bool(loads),
            *["apply", "apply", "select", "shuffle", "cast"] * (depth > 0),
        ]
        match self.choices.pick(forms):
            case "load":
                buffer = self.choices.pick(loads)
                *first, _ = self.indices(buffer)
                start = self.choices.below(buffer.shape[-1] - lanes + 1)
                ramp = tir.Ramp(number(self.word, start), number(self.word, 1), count, self.word.with_lanes(lanes))
                return tir.BufferLoad(buffer.buffer, (*first, ramp))
            case "apply":
                safe = ("max", "min", "bitwise_xor", "bitwise_and") if kind.is_integer else ("add", "mul", "max", "sub")
                narrow = ("add", "mul", "sub") if kind.is_integer and kind.bits < 32 else ()
                op = self.choices.pick((*safe, *narrow))
                return tir.Apply(op, tuple(self.lanes_of(kind, lanes, depth - 1) for _ in range(2)), wide)
            case "select":
                condition = tir.Broadcast(self.condition(BOOL, 1).expr, count, BOOL.with_lanes(lanes))
                return tir.Select(condition, *(self.lanes_of(kind, lanes, depth - 1) for _ in range(2)))
            case "shuffle":
                order = tuple(tir.IntImm(INT32, self.choices.below(lanes)) for _ in range(lanes))
                return tir.Shuffle((self.lanes_of(kind, lanes, depth - 1),), order, wide)
            case "cast":
                other = self.choices.pick(
                    [source for source in self.palette if source.is_integer and source.bits < 32] or (kind,)
                )
                value = self.lanes_of(other, lanes, depth - 1)
                return value if other == kind else tir.Cast(wide, value)
            case _:
                return tir.Broadcast(self.value(kind, 1).expr, count, wide)
