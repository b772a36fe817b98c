"""Operators with other operand or result dtypes, fused operators, hints to a compiler."""

from refmlc.lang.dtypes import BOOL, INT32, INT64, SCALARS, DType
from refmlc.lang.ir import tir
from refmlc.strategies.ranges import KINDS, RangedExpr, limits, number, with_range
from refmlc.strategies.values import Values


class Special(Values):
    """Expressions of special operators."""

    def special(self, kind: DType, depth: int) -> RangedExpr:
        forms = [self.reinterpret, self.hint]
        if kind.is_float and kind.format.has_nan:
            forms += [self.ldexp, self.fma]
        if kind == INT32:
            forms += [self.clz, self.fixed_point, self.fixed_point_per_axis]
        return self.choices.pick(forms)(kind, depth)

    def reinterpret(self, kind: DType, depth: int) -> RangedExpr:
        """The bits of a value of another dtype of the same width."""
        dtypes = [
            dtype
            for dtype in KINDS
            if dtype.bits == kind.bits and dtype != kind and "bool" not in (dtype.kind, kind.kind)
        ]
        if not dtypes:
            return self.leaf(kind)
        expr = tir.Apply("reinterpret", (self.value(self.choices.pick(dtypes), depth).expr,), kind)
        return RangedExpr(expr, *limits(kind))

    def hint(self, kind: DType, depth: int) -> RangedExpr:
        a = self.value(kind, depth)
        name = self.choices.pick(("tvm_thread_invariant", "ignore_loop_partition"))
        return RangedExpr(tir.Call(name, (a.expr,), kind), a.low, a.high)

    def ldexp(self, kind: DType, depth: int) -> RangedExpr:
        """A value times a power of two."""
        power = self.value(self.choices.pick((INT32, INT64, SCALARS["int8"])), depth)
        return RangedExpr(tir.Apply("ldexp", (self.value(kind, depth).expr, power.expr), kind))

    def fma(self, kind: DType, depth: int) -> RangedExpr:
        """A product and a sum, rounded once."""
        return RangedExpr(tir.Call("fma", tuple(self.value(kind, depth).expr for _ in range(3)), kind))

    def clz(self, kind: DType, depth: int) -> RangedExpr:
        """The number of leading zero bits; undefined for 0."""
        source = self.choices.pick([SCALARS[name] for name in ("int32", "int64", "uint32", "uint64")])
        a = self.value(source, depth)
        if a.low <= 0 <= a.high and not self.spoil("RM311"):
            a = RangedExpr(tir.Apply("max", (a.expr, number(source, 1)), source), 1, max(a.high, 1))
        return RangedExpr(tir.Apply("clz", (a.expr,), kind), 0, source.bits - 1)

    def fixed_point(self, kind: DType, depth: int) -> RangedExpr:
        """A product of fixed-point numbers."""
        shift = self.choices.pick((0, -1, -5, 1))
        x = self.value(kind, depth)
        if shift > 0 and not self.spoil("RM306"):
            x = self.small(x)
        y = self.choices.pick(((1 << 30), (1 << 31) - 1, 1395864371))
        digits = self.choices.pick((0, 64, -1)) if self.spoil("RM311") else 31
        args = (x.expr, number(kind, y), number(kind, digits), number(kind, shift))
        most = max(abs(x.low), abs(x.high)) * (2 if shift > 0 else 1)
        return with_range(kind, tir.Apply("q_multiply_shift", args, kind), -most, most)

    def fixed_point_per_axis(self, kind: DType, depth: int) -> RangedExpr:
        """A product of fixed-point numbers with a shift for each channel."""
        x, y = self.value(kind, depth), self.choices.pick((1 << 30, (1 << 31) - 1))
        x = x if self.spoil("RM306") else self.small(x)
        left, right = self.choices.pick((0, 1, 3)), self.choices.pick((0, 1, 7))
        if self.spoil("RM311"):
            right = self.choices.pick((-1, 40, 64))
        flags = tuple(tir.IntImm(BOOL, self.choices.below(2)) for _ in range(2))
        args = (x.expr, number(kind, y), number(kind, left), number(kind, right), number(kind, 31), *flags)
        return with_range(kind, tir.Apply("q_multiply_shift_per_axis", args, kind), -97 * 8, 97 * 8)
