"""Expressions of generated programs, of every dtype, with ranges of integers.

The range shows where arithmetic could be undefined. There the generator puts a guard (a clamped divisor, a masked
shift, a smaller operand); a program that aims at that code leaves most guards out.

| code  | guard                                                                           |
|-------|---------------------------------------------------------------------------------|
| RM306 | operands of wide integers are reduced modulo a small number                     |
| RM307 | a divisor that may be 0 is `max(b, 1)`                                          |
| RM308 | a shift count is masked                                                         |
| RM309 | a float is converted to an integer if it is in range, else the result is 0      |
| RM311 | `clz(max(a, 1))`; no operator with NaN among its results in float6 and float4   |
"""

from collections.abc import Callable
from math import isnan
from typing import TypeAlias

from refmlc.lang.dtypes import BOOL, INT32, SCALARS, DType
from refmlc.lang.dtypes.rounding import rounder
from refmlc.lang.ir import tir
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.strategies.choices import Choices
from refmlc.strategies.ranges import (
    FLOATS,
    KINDS,
    RangedBuffer,
    RangedExpr,
    exact,
    fits,
    integer_range,
    limits,
    number,
    operators,
    with_range,
)

PLAIN = (SCALARS["float32"], SCALARS["int32"], SCALARS["int64"], SCALARS["int8"], SCALARS["float64"])
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
DIVISIONS = ("floordiv", "floormod", "truncdiv", "truncmod", "div", "ceildiv")
SHIFTS = ("shift_left", "shift_right")
CONSTANTS = (1.0, 0.0, 2.0, -1.0, 0.5, -0.0, 3.5, -2.25, 1e-3, 100.0, 1e30, -1e-40, float("inf"), float("nan"))
WIDE = 32
Form: TypeAlias = Callable[[DType, int], "RangedExpr"]
WANTED = {"RM306": ("add", "sub", "mul", "abs"), "RM307": DIVISIONS, "RM308": SHIFTS}


class Values:
    """Expressions over the scope: `numbers` are variables, `readable` are buffers.

    `aim`: the code of the program's fault, or empty; `word`: the dtype of indices; `palette`: the usual dtypes.
    """

    def __init__(self, choices: Choices, aim: str = "") -> None:
        self.choices = choices
        self.aim = aim
        self.word = INT32
        self.numbers: list[RangedExpr] = []
        self.readable: list[RangedBuffer] = []
        self.palette: tuple[DType, ...] = PLAIN

    def spoil(self, code: str, percent: int = 85) -> bool:
        """True if the guard against `code` is left out here."""
        return self.aim == code and self.choices.chance(percent)

    def indices(self, buffer: RangedBuffer) -> tuple[tir.Expr, ...]:
        """Indices of an element of a buffer."""
        raise NotImplementedError

    # ------------------------------------------------------------------------------------------- leaves

    def constant(self, kind: DType, _depth: int = 0) -> RangedExpr:
        return exact(self.literal(kind))

    def literal(self, kind: DType) -> tir.IntImm | tir.FloatImm:
        """A constant node."""
        if kind.is_float:
            real = rounder(kind)(self.choices.pick(CONSTANTS))
            return tir.FloatImm(kind, 1.0 if isnan(real) and not kind.format.has_nan else real)
        least, most = limits(kind)
        near = (1, 0, 2, 3, 7, -1, -2, 100)
        value = self.choices.pick((most, least) if self.choices.chance(10) else near)
        return tir.IntImm(kind, min(max(value, least), most))

    def leaf(self, kind: DType, _depth: int = 0) -> RangedExpr:
        forms: list[Form] = [self.constant]
        if any(expr.dtype == kind for expr in self.numbers):
            forms += [self.variable] * 2
        if any(expr.buffer.dtype == kind for expr in self.readable):
            forms += [self.load] * 9
        elif self.readable:
            forms += [self.convert_load] * 7
        if self.numbers:
            forms += [self.convert_variable]
        return self.choices.pick(forms)(kind, 0)

    def variable(self, kind: DType, _depth: int = 0) -> RangedExpr:
        return self.choices.pick([expr for expr in self.numbers if expr.dtype == kind])

    def convert_variable(self, kind: DType, _depth: int = 0) -> RangedExpr:
        return self.convert(self.choices.pick(self.numbers), kind)

    def load(self, kind: DType, _depth: int = 0) -> RangedExpr:
        return self.element(self.choices.pick([buffer for buffer in self.readable if buffer.buffer.dtype == kind]))

    def convert_load(self, kind: DType, _depth: int = 0) -> RangedExpr:
        return self.convert(self.element(self.choices.pick(self.readable)), kind)

    def element(self, buffer: RangedBuffer) -> RangedExpr:
        """An element of a buffer."""
        return RangedExpr(tir.BufferLoad(buffer.buffer, self.indices(buffer)), buffer.low, buffer.high)

    # ----------------------------------------------------------------------------------- inner expressions

    def value(self, kind: DType, depth: int) -> RangedExpr:
        """An expression of the scalar dtype `kind`."""
        if depth <= 0:
            return self.leaf(kind)
        forms: list[Form] = [self.leaf] * 4 + [self.select, self.choice, self.let, self.cast, self.cast]
        forms += [self.operation] * 20 * (self.aim in WANTED and kind.is_integer)
        forms += [self.cast] * 20 * (self.aim == "RM309" and kind.is_integer)
        forms += [self.special] * 20 * (self.aim in ("RM311", "RM306") and kind == INT32)
        if kind.kind == "bool":
            forms += [self.condition] * 6 + [self.operation] * 2
        else:
            forms += [self.operation] * 14 + [self.special] * 3
        form = self.choices.pick(forms)
        return self.choices.group(lambda: form(kind, depth - 1))

    def cast(self, kind: DType, depth: int) -> RangedExpr:
        if self.aim == "RM309" and self.choices.chance(60):
            return self.convert(self.value(self.choices.pick(FLOATS), depth), kind)
        other = self.choices.pick(KINDS if self.choices.chance(20) else self.palette)
        return self.convert(self.value(other, depth), kind)

    def select(self, kind: DType, depth: int) -> RangedExpr:
        return self._conditional(tir.Select, kind, depth)

    def choice(self, kind: DType, depth: int) -> RangedExpr:
        return self._conditional(tir.IfThenElseExpr, kind, depth)

    def _conditional(
        self, node: Callable[[tir.Expr, tir.Expr, tir.Expr], tir.Expr], kind: DType, depth: int
    ) -> RangedExpr:
        a, b = self.value(kind, depth), self.value(kind, depth)
        expr: tir.Expr = node(self.condition(BOOL, depth).expr, a.expr, b.expr)
        return RangedExpr(expr, min(a.low, b.low), max(a.high, b.high))

    def let(self, kind: DType, depth: int) -> RangedExpr:
        value = self.value(self.choices.pick((kind, kind, *self.palette)), depth)
        var = tir.Var("x", value.dtype)
        self.numbers.append(RangedExpr(var, value.low, value.high))
        body = self.value(kind, depth)
        self.numbers.pop()
        return RangedExpr(tir.Let(var, value.expr, body.expr), body.low, body.high)

    def condition(self, _kind: DType, depth: int) -> RangedExpr:
        """A bool: mostly a comparison."""
        if depth > 0 and self.choices.chance(25):
            nodes: tuple[Callable[[tir.Expr, tir.Expr], tir.Expr], ...] = (tir.And, tir.Or)
            node = self.choices.pick(nodes)
            return RangedExpr(node(self.condition(BOOL, depth - 1).expr, self.condition(BOOL, depth - 1).expr), 0, 1)
        if self.choices.chance(15):
            name = self.choices.pick(("not", "not", "likely"))
            return RangedExpr(tir.Apply(name, (self.condition(BOOL, depth - 1).expr,), BOOL), 0, 1)
        if self.choices.chance(15):
            kind = self.choices.pick([dtype for dtype in self.palette if dtype.is_float] or FLOATS)
            name = self.choices.pick(("isnan", "isinf", "isfinite"))
            return RangedExpr(tir.Apply(name, (self.value(kind, depth - 1).expr,), BOOL), 0, 1)
        kind = self.choices.pick((self.word, *self.palette))
        pair = (self.value(kind, depth - 1).expr, self.value(kind, depth - 1).expr)
        return RangedExpr(tir.Apply(self.choices.pick(COMPARISONS), pair, BOOL), 0, 1)

    def operation(self, kind: DType, depth: int) -> RangedExpr:
        """A scalar operator of one or two operands."""
        op = self.choices.pick(operators(kind))
        if self.aim in WANTED and self.choices.chance(60):
            op = self.choices.pick([operand for operand in operators(kind) if operand in WANTED[self.aim]] or [op])
        operands = [self.value(kind, depth) for _ in range(SCALAR_OPS[op].contract.arity)]
        if not kind.is_integer:
            return RangedExpr(tir.Apply(op, tuple(operand.expr for operand in operands), kind), *limits(kind))
        return self.integer(op, kind, *operands)

    def integer(self, op: str, kind: DType, a: RangedExpr, b: RangedExpr | None = None) -> RangedExpr:
        """An operator on integers with the guards of the table; `b` None: it has one operand."""
        b = a if b is None else b
        if op in DIVISIONS and not self.spoil("RM307"):
            if b.low <= 0 <= b.high and kind.maximum < 1:
                return a
            b = self.divisor(kind, a, b)
        if op in SHIFTS and not (b.low >= 0 and b.high < kind.bits) and not self.spoil("RM308"):
            b = RangedExpr(tir.Apply("bitwise_and", (b.expr, number(kind, kind.bits - 1)), kind), 0, kind.bits - 1)
        a, b = self._shrink_operands(op, kind, a, b) if kind.bits >= WIDE else (a, b)
        args = (a.expr, b.expr)[: SCALAR_OPS[op].contract.arity]
        range_ = integer_range(op, kind, a, b)
        return with_range(kind, tir.Apply(op, args, kind), *(range_ or limits(kind)))

    def divisor(self, kind: DType, a: RangedExpr, b: RangedExpr) -> RangedExpr:
        """`b`, or a divisor that is never 0, nor -1 if that overflows."""
        if b.low > 0 or (b.high < 0 and (b.high < -1 or a.low > kind.minimum)):
            return b
        if kind.kind == "int" and kind.minimum <= -3 and self.choices.chance(25):
            return exact(number(kind, -3))
        return RangedExpr(tir.Apply("max", (b.expr, number(kind, 1)), kind), 1, max(b.high, 1))

    def _shrink_operands(self, op: str, kind: DType, a: RangedExpr, b: RangedExpr) -> tuple[RangedExpr, RangedExpr]:
        """The operands, reduced if the result could overflow."""
        for modulus in (97, 5):
            range_ = integer_range(op, kind, a, b)
            if op == "ceildiv":
                range_ = a.low + b.low - 1, a.high + b.high
            if range_ is None or fits(kind, *range_) or self.spoil("RM306"):
                return a, b
            a = self.small(a, modulus)
            if op == "ceildiv":
                b = exact(number(kind, 3))
            elif op not in DIVISIONS:  # the remainder of a divisor may be 0
                b = self.small(b, modulus)
        bigger = RangedExpr(tir.Apply("max", (a.expr, b.expr), kind), max(a.low, b.low), max(a.high, b.high))
        return (bigger, b) if op == "sub" and kind.kind == "uint" else (a, b)

    def small(self, a: RangedExpr, modulus: int = 97) -> RangedExpr:
        """`a`, or its remainder if it may be large."""
        if -modulus < a.low and a.high < modulus:
            return a
        return RangedExpr(tir.Apply("floormod", (a.expr, number(a.dtype, modulus)), a.dtype), 0, modulus - 1)

    # ------------------------------------------------------------------------------------------ conversions

    def convert(self, a: RangedExpr, kind: DType) -> RangedExpr:
        """`a` in the dtype `kind`."""
        source = a.dtype
        if source == kind:
            return a
        if source.is_float and kind.is_integer and not self.spoil("RM309"):
            return self._in_range(a, kind)
        expr: tir.Expr = tir.Cast(kind, a.expr)
        if kind.is_float and not kind.format.has_nan and source.is_float and source.format.has_nan:
            if not self.spoil("RM311"):
                expr = tir.IfThenElseExpr(tir.Apply("isnan", (a.expr,), BOOL), number(kind, 1), expr)
            return RangedExpr(expr)
        if source.is_float or kind.is_float or kind.kind == "bool":
            return RangedExpr(expr, *limits(kind))
        return with_range(kind, expr, a.low, a.high)

    def _in_range(self, a: RangedExpr, kind: DType) -> RangedExpr:
        """A float converted to an integer if it is in range, else 0."""
        source, round_ = a.dtype, rounder(a.dtype)
        var = tir.Var("f", source)
        operand = a.expr if isinstance(a.expr, tir.Var | tir.FloatImm) else var
        ends = [bound for bound in (100, 64, 16, 4, 1) if bound <= kind.maximum and round_(bound) == bound]
        most = max(ends, default=0)
        least = -max([bound for bound in ends if -bound >= kind.minimum and round_(-bound) == -bound], default=0)
        in_range: tir.Expr = tir.Apply("le", (operand, number(source, most)), BOOL)
        if round_(least) == least:
            in_range = tir.And(tir.Apply("ge", (operand, number(source, least)), BOOL), in_range)
        else:
            least = 0
        expr: tir.Expr = tir.IfThenElseExpr(in_range, tir.Cast(kind, operand), number(kind, 0))
        return RangedExpr(expr if operand is a.expr else tir.Let(var, a.expr, expr), least, most)

    def special(self, kind: DType, depth: int) -> RangedExpr:
        """An expression of a special operator."""
        raise NotImplementedError
