"""Stages that write several lanes at a time, and the remaining elements one by one."""

from refmlc.lang.dtypes import BOOL, INT32, DType
from refmlc.lang.ir import tir
from refmlc.strategies.mapped import Mapped
from refmlc.strategies.nests import Axis
from refmlc.strategies.ranges import RangedBuffer, limits, number


class Vectors(Mapped):
    """Makes such stages."""

    def vectors(self, held: RangedBuffer) -> list[tir.Stmt]:
        """Several lanes at a time; the remaining elements one by one."""
        *outer, last = self.axes_of(held)
        lanes = self.choices.pick([count for count in (2, 4, 8) if count <= last.extent] or (1,))
        if lanes == 1:
            return self.mapped(held)
        word = last.size.dtype
        groups = last.extent // lanes

        def ramp(at: tir.Expr) -> tir.Expr:
            kind = at.dtype
            base = tir.Apply("mul", (at, number(kind, lanes)), kind)
            return tir.Ramp(base, number(kind, 1), tir.IntImm(INT32, lanes), kind.with_lanes(lanes))

        def body() -> tir.Stmt:
            *before, at = self.axis_vars(len(outer) + 1)
            value = self.lanes_of(held.buffer.dtype, lanes, self.depth)
            held.low, held.high = limits(held.buffer.dtype)
            return tir.BufferStore(held.buffer, value, (*before, ramp(at)))

        nest = self.block("vector", [*outer, Axis(groups, number(word, groups))], body)
        rest = Axis(last.extent - groups * lanes, number(word, last.extent - groups * lanes))
        if rest.extent == 0:
            return [nest]

        def tail() -> tir.Stmt:
            *before, at = self.axis_vars(len(outer) + 1)
            place = tir.Apply("add", (at, number(at.dtype, groups * lanes)), at.dtype)
            return self.stored(held, self.value(held.buffer.dtype, 1), (*before, place))

        return [nest, self.block("rest", [*outer, rest], tail)]

    def lanes_of(self, kind: DType, lanes: int, depth: int) -> tir.Expr:
        """An expression of `lanes` lanes. Only what cannot be undefined: floats, narrow integers, bits."""
        wide, count = kind.with_lanes(lanes), tir.IntImm(INT32, lanes)
        loads = [one for one in self.held if one.buffer.dtype == kind and one.shape and one.shape[-1] >= lanes]
        forms = [
            "broadcast",
            *["load"] * 3 * bool(loads),
            *["apply", "apply", "select", "shuffle", "cast"] * (depth > 0),
        ]
        match self.choices.pick(forms):
            case "load":
                held = self.choices.pick(loads)
                *first, _ = self.indices(held)
                start = self.choices.below(held.shape[-1] - lanes + 1)
                ramp = tir.Ramp(number(self.word, start), number(self.word, 1), count, self.word.with_lanes(lanes))
                return tir.BufferLoad(held.buffer, (*first, ramp))
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
                other = self.choices.pick([one for one in self.palette if one.is_integer and one.bits < 32] or (kind,))
                value = self.lanes_of(other, lanes, depth - 1)
                return value if other == kind else tir.Cast(wide, value)
            case _:
                return tir.Broadcast(self.value(kind, 1).expr, count, wide)
