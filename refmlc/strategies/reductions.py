"""Stages that accumulate: sums, products, extremes and bits over further axes; matrix products, convolutions.

Sums of wide integers do not overflow: terms are small if their number requires it.
"""

from collections.abc import Sequence

from refmlc.lang.dtypes import SCALARS, DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.strategies.mapped import Mapped, volume
from refmlc.strategies.nests import Axis
from refmlc.strategies.ranges import RangedBuffer, RangedExpr, exact, fits, limits, number, operators
from refmlc.strategies.values import WIDE

REDUCE = IterKind.REDUCE
MOST = 1200  # instances of a stage
MATRIX = 2  # the rank
BITS = ("bitwise_or", "bitwise_and", "bitwise_xor")


class Reductions(Mapped):
    """`reduction` and `product` of the stages."""

    def reduction(self, target: RangedBuffer) -> list[tir.Stmt]:
        kind, room = target.buffer.dtype, max(MOST // max(volume(target.shape), 1), 1)
        extents: list[int] = []
        for _ in range(1 + self.choices.chance(20)):
            extents.append(min(self.extent(), max(room // max(volume(extents), 1), 1)))
        conflicts = self.spoil("RM319", 50)
        kind_of_axis = IterKind.SPATIAL if conflicts else REDUCE
        further = [Axis(extent, number(self.word, extent), kind_of_axis) for extent in extents]
        op = self.accumulator(kind)
        neutral = self.neutral(op, kind)
        start = exact(neutral)
        if self.choices.chance(15):
            start = self.value(kind, 0)
            wide = op == "add" and kind.is_integer and kind.bits >= WIDE
            start = self.small(start) if wide else start
        rank, steps = len(target.shape), volume(extents)
        no_init = self.spoil("RM305", 40) or self.spoil("RM326", 70)
        init_in_block = not (no_init or conflicts or self.choices.chance(20))

        def init() -> tir.Stmt:
            return self.store(target, start, self.axis_vars(rank + len(further))[:rank])

        def body() -> tir.Stmt:
            indices = self.axis_vars(rank + len(further))[:rank]
            term = self.safe_term(op, kind, self.term(kind), start, steps)
            place = tir.BufferLoad(target.buffer, tuple(indices))
            operands = (place, term.expr) if op[0] == "m" or not self.choices.chance(20) else (term.expr, place)
            low, high = self.accumulated_range(op, kind, start, term, steps)
            return self.store(target, RangedExpr(tir.Apply(op, operands, kind), low, high), indices)

        axes = [*self.axes_of(target), *further]
        nest = self.block("reduce", axes, body, init=init if init_in_block else None)
        if init_in_block or no_init:
            return [nest]
        return [self.grid(target, lambda indices: self.store(target, start, indices)), nest]

    def accumulator(self, kind: DType) -> str:
        """The operator of a reduction."""
        if kind.kind == "bool":
            return self.choices.pick(BITS)
        names: list[str] = ["add", "add", "max", "min", "mul", *(BITS if kind.is_integer else ())]
        if kind.is_integer and kind.bits >= 32:
            names.remove("mul")
        return self.choices.pick([name for name in names if name in operators(kind)])

    def neutral(self, op: str, kind: DType) -> tir.IntImm | tir.FloatImm:
        """The initial value of a reduction by `op`."""
        low, high = limits(kind)
        if kind.is_float:
            ends = {"max": float("-inf"), "min": float("inf"), "mul": 1.0}
            constant = number(kind, ends.get(op, self.choices.pick((0.0, -0.0))))
            return constant if constant.value == constant.value or kind.format.has_nan else number(kind, 1)
        return number(kind, {"max": low, "min": high, "mul": min(1, high), "bitwise_and": high}.get(op, 0))

    def term(self, kind: DType) -> RangedExpr:
        """A term: often a product of two elements."""
        if kind.kind == "bool" or not self.readable or self.choices.chance(45):
            return self.value(kind, self.depth - 1)
        a, b = (self.convert(self.element(self.choices.pick(self.readable)), kind) for _ in range(2))
        return self.multiply(kind, a, b)

    def safe_term(self, op: str, kind: DType, term: RangedExpr, start: RangedExpr, steps: int) -> RangedExpr:
        """The term, reduced if the sum could overflow."""
        if op != "add" or not kind.is_integer or kind.bits < 32:
            return term
        if fits(kind, *self.accumulated_range(op, kind, start, term, steps)) or self.spoil("RM306"):
            return term
        return self.small(term)

    def accumulated_range(
        self, op: str, kind: DType, start: RangedExpr, term: RangedExpr, steps: int
    ) -> tuple[int, int]:
        """The range of all partial results; all values of the dtype for other operators."""
        match op:
            case "add":
                return start.low + min(term.low, 0) * steps, start.high + max(term.high, 0) * steps
            case "max" | "min":
                return min(start.low, term.low), max(start.high, term.high)
            case _:
                return limits(kind)

    def product(self, target: RangedBuffer) -> list[tir.Stmt]:
        """Sums of products along the axes of two buffers, which schedules can tile."""
        kind = target.buffer.dtype
        rank, last = len(target.shape), target.shape[-1]
        room = max(8 * MOST // max(volume(target.shape), 1), 1)
        depth = max(min(self.extent(), room), 1)
        left, right = (self.operand(kind) for _ in range(2))
        window = self.choices.chance(30)
        shapes: tuple[tuple[int, ...], tuple[int, ...]] = ((depth,), (last, depth))
        if rank == MATRIX:
            shapes = ((target.shape[0], depth), (depth, last))
        if window:
            shapes = ((*target.shape[:-1], last + depth - 1), (depth,))
        a, b = (self.fresh(dtype, shape) for dtype, shape in zip((left, right), shapes, strict=True))
        statements = [part for factor in (a, b) for part in self.map_stage(factor)]
        axes = [*self.axes_of(target), Axis(depth, number(self.word, depth), REDUCE)]

        def init() -> tir.Stmt:
            return self.store(target, RangedExpr(number(kind, 0)), self.axis_vars(rank + 1)[:rank])

        def body() -> tir.Stmt:
            *outer, inner, k = self.axis_vars(rank + 1)
            places = self._places(outer, inner, k, window=window)
            x, y = (self._factor(factor, at, kind) for factor, at in zip((a, b), places, strict=True))
            return self._add_term(target, (*outer, inner), self.multiply(kind, x, y), depth)

        return [*statements, self.block("product", axes, body, init=init)]

    def _places(
        self, outer: Sequence[tir.Expr], inner: tir.Expr, k: tir.Expr, *, window: bool
    ) -> tuple[tuple[tir.Expr, ...], tuple[tir.Expr, ...]]:
        """The indices of the two factors of a term."""
        if window:
            same = inner.dtype == k.dtype
            return (*outer, tir.Apply("add", (inner, k), inner.dtype) if same else inner), (k,)
        return ((*outer, k), (k, inner)) if outer else ((k,), (inner, k))

    def _factor(self, factor: RangedBuffer, indices: tuple[tir.Expr, ...], kind: DType) -> RangedExpr:
        return self.convert(RangedExpr(tir.BufferLoad(factor.buffer, indices), factor.low, factor.high), kind)

    def multiply(self, kind: DType, a: RangedExpr, b: RangedExpr) -> RangedExpr:
        if kind.is_integer:
            return self.integer("mul", kind, a, b)
        return RangedExpr(tir.Apply("mul", (a.expr, b.expr), kind))

    def _add_term(self, target: RangedBuffer, at: tuple[tir.Expr, ...], term: RangedExpr, steps: int) -> tir.Stmt:
        """One more term of a sum that begins at 0."""
        kind, start = target.buffer.dtype, RangedExpr(number(target.buffer.dtype, 0))
        term = self.safe_term("add", kind, term, start, steps)
        low, high = self.accumulated_range("add", kind, start, term, steps)
        value = tir.Apply("add", (tir.BufferLoad(target.buffer, at), term.expr), kind)
        return self.store(target, RangedExpr(value, low, high), at)

    def operand(self, kind: DType) -> DType:
        """The dtype of a factor: that of the sum, or a narrower one."""
        narrower = {"int32": "int8", "float32": "float16", "float64": "float32", "float16": "bfloat16"}
        if self.choices.chance(40) and kind.element in narrower:
            return SCALARS[narrower[kind.element]]
        return kind
